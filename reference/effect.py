"""The effect model fitted in 40-digit arithmetic, from the definition, one observed row at a time.

Left alone, an arm with features x goes from s to s′ with probability proportional to exp(z(s′)), z(0) = 0 and
z(k) = b_sk + x·B_sk. When it is pulled, δ_sk + x·c_k is added. The parameters minimise

    −Σ n(i, s, a, s′)·ln P(i, s, a, s′) + ½·Σ precision·(2/M)·Σ_{k<l} (u_k − u_l)²

where u runs over the vectors (0, B_sf·), (0, b_s·), (0, δ_s·), (0, c_f·), with precisions 1e-3, 1e-6, 1e-6 and
the model's own. Every number of the model is a linear function of the vector of parameters, and is kept as such:
the logits of a row are J·θ with an explicit matrix J, the penalised differences likewise. Newton's method on
that; then the gradient is computed once more by differences of the objective alone and must vanish.
"""

import numpy as np
from mpmath import exp, log, lu_solve, matrix, mp, mpf

import golden_file

mp.dps = 40
STEP = mpf(10) ** -12


class Model:
    """Positions of the parameters: B[s,f,k], b[s,k], δ[s,k], c[f,k], in that order; k counts from 1."""

    def __init__(self, features, states):
        self.f, self.m = features, states
        names = [("B", s, f, k) for s in range(states) for f in range(features) for k in range(1, states)]
        names += [("b", s, k) for s in range(states) for k in range(1, states)]
        names += [("d", s, k) for s in range(states) for k in range(1, states)]
        names += [("c", f, k) for f in range(features) for k in range(1, states)]
        self.at = {name: position for position, name in enumerate(names)}

    def logit(self, x, s, a, k):
        """The logit of next state k as a list of (parameter, coefficient)."""
        if k == 0:
            return []
        terms = [(self.at["b", s, k], mpf(1))] + [(self.at["B", s, f, k], x[f]) for f in range(self.f)]
        if a == 1:
            terms += [(self.at["d", s, k], mpf(1))] + [(self.at["c", f, k], x[f]) for f in range(self.f)]
        return terms

    def differences(self, precision):
        """All penalised differences u_k − u_l: (weight, list of (parameter, coefficient))."""
        vectors = [(mpf("0.001"), ("B", s, f)) for s in range(self.m) for f in range(self.f)]
        vectors += [(mpf("0.000001"), (name, s)) for name in "bd" for s in range(self.m)]
        vectors += [(precision, ("c", f)) for f in range(self.f)]
        for rho, name in vectors:
            for k in range(self.m):
                for l in range(k):
                    terms = [(self.at[*name, k], mpf(1))]
                    terms += [(self.at[*name, l], mpf(-1))] if l > 0 else []
                    yield rho * 2 / self.m, terms


def observed(model, features, counts):
    """The rows that were observed: the logits of each next state, and how often it was reached."""
    rows = []
    for x, arm in zip(features, counts):
        for s in range(model.m):
            for a in (0, 1):
                if sum(arm[s][a]) > 0:
                    rows.append(([model.logit(x, s, a, k) for k in range(model.m)], arm[s][a]))
    return rows


def inner(terms, theta):
    return sum((theta[p] * c for p, c in terms), mpf(0))


def probabilities(logits, theta):
    weights = [exp(inner(terms, theta)) for terms in logits]
    total = sum(weights)
    return [w / total for w in weights]


def objective(rows, penalties, theta):
    value = sum((w / 2 * inner(terms, theta) ** 2 for w, terms in penalties), mpf(0))
    for logits, n in rows:
        p = probabilities(logits, theta)
        value -= sum(n[k] * log(p[k]) for k in range(len(n)) if n[k] > 0)
    return value


def newton(rows, penalties, size):
    theta = [mpf(0)] * size
    for _ in range(60):
        g, h = matrix(size, 1), matrix(size, size)
        for w, terms in penalties:
            value = inner(terms, theta)
            for p, c in terms:
                g[p] += w * c * value
                for q, d in terms:
                    h[p, q] += w * c * d
        for logits, n in rows:
            prob, total = probabilities(logits, theta), sum(n)
            for k, terms in enumerate(logits):
                for p, c in terms:
                    g[p] += (total * prob[k] - n[k]) * c
                    for l, others in enumerate(logits):
                        w = total * prob[k] * ((1 if k == l else 0) - prob[l])
                        for q, d in others:
                            h[p, q] += w * c * d
        step = lu_solve(h, g)
        value, share = objective(rows, penalties, theta), mpf(1)
        while objective(rows, penalties, [t - share * step[i] for i, t in enumerate(theta)]) > value:
            share /= 2
            if share < mpf(10) ** -6:  # stands still
                break
        theta = [t - share * step[i] for i, t in enumerate(theta)]
        if max(abs(x) for x in step) < mpf(10) ** -18:
            return theta
    raise RuntimeError("Newton did not converge")


def case(rng, family, n, f, m, passive, active, precision):
    features = rng.standard_normal((n, f))
    counts = np.zeros((n, m, 2, m))
    for i in range(n):
        for s in range(m):
            for a, steps in enumerate((passive, active)):
                if family == "a state never pulled" and (s, a) == (0, 1):
                    continue
                tilt = np.arange(m) * (0.4 * features[i, 0] + 0.5 * a * (1 + 0.3 * features[i, -1]))
                p = np.exp(tilt) / np.exp(tilt).sum()
                counts[i, s, a] = rng.multinomial(rng.poisson(steps), p)
                if family == "an outcome never seen" and (s, a) == (1, 1):
                    counts[i, s, a, 0] = 0
    model = Model(f, m)
    rows = observed(model, [[mpf(float(v)) for v in x] for x in features], [[[[int(v) for v in r] for r in a] for a in s] for s in counts])
    penalties = list(model.differences(mpf(precision)))
    theta = newton(rows, penalties, len(model.at))
    for p in range(len(theta)):
        ahead, behind = ([t + (h if q == p else 0) for q, t in enumerate(theta)] for h in (STEP, -STEP))
        slope = (objective(rows, penalties, ahead) - objective(rows, penalties, behind)) / (2 * STEP)
        assert abs(slope) < mpf(10) ** -17, slope
    return {
        "family": family, "n": n, "f": f, "m": m, "precision": precision, "features": features.tolist(),
        "counts": counts.astype(int).tolist(), "objective": float(objective(rows, penalties, theta)),
        "params": [float(t) for t in theta],
    }


def main():
    seed = 1618
    rng = np.random.default_rng(seed)
    problems = [  # family, N, F, M, passive and active steps per arm and state, precision
        ("dense", 12, 2, 2, 10, 3, 1), ("dense", 12, 3, 2, 4, 1, 100), ("sparse pulls", 30, 2, 2, 3, 0.3, 100),
        ("dense", 10, 1, 3, 9, 4, 10), ("sparse pulls", 16, 2, 3, 6, 1, 100), ("dense", 8, 1, 4, 10, 4, 30),
        ("an outcome never seen", 12, 1, 2, 5, 2, 100), ("a state never pulled", 12, 1, 3, 5, 2, 100),
    ]
    golden_file.write(
        "effect",
        "penalised likelihood by Newton's method in 40 digits, gradient confirmed by differences (reference/effect.py)",
        {
            "seed": seed,
            "features": "[N,F]",
            "counts": "[N,M,2,M]",
            "params": "B [M,F,M-1], b [M,M-1], δ [M,M-1], c [F,M-1] in a row",
            "objective": "negative log-likelihood and penalty at the minimum",
        },
        [case(rng, *problem) for problem in problems],
    )


if __name__ == "__main__":
    main()
