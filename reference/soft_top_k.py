"""Soft top-k by the Sinkhorn iteration, in 80-digit arithmetic, and its gradient by differences.

Xie et al. (2020) transport N points x_i of mass 1/N to the anchors 0 and 1 of masses (N−K)/N and K/N, at cost
C_ij = (x_i − y_j)² and with entropy weight ε. The plan is G_ij = exp((f_i + g_j − C_ij)/ε), and the iteration
sets f and g in turn so that one marginal holds. The pull of i is N·G_i1. We run it until the potentials stand
still.

Claimed by our library: pull_i = sigmoid((x_i − τ)/e) with temperature e = ε/2, τ the threshold at which the
pulls sum to K. Here τ is found by bisection, then Newton, to 50 digits and more, and must reproduce the
Sinkhorn pulls to 1e-12.

The gradient belongs to the number L = Σ c_i pull_i for a random cotangent c: central differences with step
10⁻¹⁵ by each score, by the temperature and by K.
"""

import numpy as np
from mpmath import exp, log, mp, mpf

import golden_file

mp.dps = 80
STEP = mpf(10) ** -15


def sinkhorn(x, k, temperature, most=20_000):
    """The pulls `[N]`, by the iteration in the log domain."""
    n, eps = len(x), 2 * temperature
    cost = [((a - 0) ** 2, (a - 1) ** 2) for a in x]
    mass = ((n - k) / n, k / n)
    g = [mpf(0), mpf(0)]
    for _ in range(most):
        # Row marginals: log Σ_j exp((g_j − C_ij)/ε), the larger term taken out.
        f = []
        for c in cost:
            top = max(g[0] - c[0], g[1] - c[1])
            f.append(eps * log(mpf(1) / n) - top - eps * log(sum(exp((g[j] - c[j] - top) / eps) for j in (0, 1))))
        # Column marginals.
        old, g = g, []
        for j in (0, 1):
            top = max(f[i] - cost[i][j] for i in range(n))
            total = sum(exp((f[i] - cost[i][j] - top) / eps) for i in range(n))
            g.append(eps * log(mass[j]) - top - eps * log(total))
        if abs((g[1] - g[0]) - (old[1] - old[0])) < mpf(10) ** -20 * eps:
            break
    else:
        raise RuntimeError("Sinkhorn did not converge")
    return [n * exp((f[i] + g[1] - cost[i][1]) / eps) for i in range(n)]


def sigmoid(z):
    return 1 / (1 + exp(-z))


def threshold(x, k, temperature, start=None):
    """τ with Σ sigmoid((x − τ)/e) = K: bisection until Newton is safe, then Newton to the last digit."""
    def excess(tau):
        pulls = [sigmoid((a - tau) / temperature) for a in x]
        return sum(pulls) - k, sum(p * (1 - p) for p in pulls) / temperature

    if start is None:
        # τ lies where all scores equal to the smallest, or all equal to the largest, would put it.
        logit = log(k / (len(x) - k))
        low, high = min(x) - temperature * logit, max(x) - temperature * logit
        while high - low > temperature / 1000:
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle)[0] > 0 else (low, middle)
        start = (low + high) / 2
    tau = start
    for _ in range(50):
        value, slope = excess(tau)
        tau += value / slope
        if abs(value / slope) < mpf(10) ** -50 * temperature:
            return tau
    raise RuntimeError("Newton did not converge")


def pull(x, k, temperature, start=None):
    tau = threshold(x, k, temperature, start)
    return [sigmoid((a - tau) / temperature) for a in x], tau


def gradient(x, k, temperature, c, tau):
    """d_scores `[N]`, d_temperature, d_k of Σ c·pull."""
    def loss(x, k, temperature):
        return sum(a * b for a, b in zip(c, pull(x, k, temperature, start=tau)[0]))

    def difference(at):
        return (loss(*at(STEP)) - loss(*at(-STEP))) / (2 * STEP)

    def with_score(i, h):
        return x[:i] + [x[i] + h] + x[i + 1 :]

    d_scores = [difference(lambda h, i=i: (with_score(i, h), k, temperature)) for i in range(len(x))]
    d_temperature = difference(lambda h: (x, k, temperature + h))
    d_k = difference(lambda h: (x, k + h, temperature))
    return d_scores, d_temperature, d_k


def nearest(x):
    """The nearest double; rounding noise around a true zero is zero."""
    return 0.0 if abs(x) < mpf(10) ** -35 else float(x)


def case(rng, family, scores, k, temperature):
    cotangent = rng.standard_normal(len(scores))
    x, c = [mpf(float(a)) for a in scores], [mpf(float(a)) for a in cotangent]
    exact_k, e = mpf(float(k)), mpf(float(temperature))
    pulls, tau = pull(x, exact_k, e)
    assert max(abs(a - b) for a, b in zip(pulls, sinkhorn(x, exact_k, e))) < 1e-12
    d_scores, d_temperature, d_k = gradient(x, exact_k, e, c, tau)
    return {
        "family": family, "n": len(x), "k": float(k), "temperature": float(temperature), "scores": scores.tolist(),
        "pull": [float(p) for p in pulls], "threshold": float(tau), "cotangent": cotangent.tolist(),
        "d_scores": [nearest(d) for d in d_scores], "d_temperature": nearest(d_temperature), "d_k": nearest(d_k),
    }


def main():
    seed = 2718
    rng = np.random.default_rng(seed)
    problems = [  # family, N, K, temperature relative to the deviation of the scores
        ("normal", 2, 1, 0.3), ("normal", 2, 0.5, 1.0), ("normal", 2, 1.7, 10.0),
        ("normal", 3, 1, 0.1), ("normal", 3, 2, 2.0), ("normal", 5, 2, 0.05),
        ("normal", 5, 4.5, 0.2), ("normal", 10, 3, 0.1), ("normal", 10, 0.25, 0.5),
        ("normal", 10, 9, 0.05), ("normal", 20, 5, 0.05), ("normal", 20, 7.3, 0.1),
        ("normal", 50, 10, 0.1), ("normal", 50, 10, 10.0), ("normal", 50, 49, 1.0),
        ("lognormal", 20, 4, 0.1), ("lognormal", 50, 12.5, 0.3), ("Cauchy", 20, 6, 0.1),
        ("two values", 10, 4, 0.2), ("all equal", 6, 2, 1.0), ("offset 1e6", 20, 5, 0.1),
    ]
    cases = []
    for family, n, k, softness in problems:
        scores = {
            "normal": lambda: rng.standard_normal(n),
            "lognormal": lambda: rng.lognormal(0.0, 1.5, n),
            "Cauchy": lambda: rng.standard_cauchy(n),
            "two values": lambda: rng.permutation(np.repeat([0.25, 0.75], n // 2)),
            "all equal": lambda: np.full(n, 0.3),
            "offset 1e6": lambda: 1e6 + rng.standard_normal(n),
        }[family]()
        deviation = scores.std() or 1.0
        cases.append(case(rng, family, scores, k, softness * deviation))
    golden_file.write(
        "soft_top_k",
        "log-domain Sinkhorn of Xie et al. with ε = 2·temperature and a root found to 50 digits, which agree to 1e-12; "
        "differences in 80-digit arithmetic (reference/soft_top_k.py)",
        {
            "seed": seed,
            "pull": "[N]: probability of a pull; sums to k",
            "threshold": "the score at which the pull is 1/2",
            "d_scores, d_temperature, d_k": "gradient of the sum of cotangent times pull",
        },
        cases,
    )


if __name__ == "__main__":
    main()
