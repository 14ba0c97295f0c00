"""Soft knapsack in 60-digit arithmetic, and its gradients by differences.

pull_i = sigmoid((x_i/c_i − τ)/e), with the threshold τ at which Σ c_i pull_i = K: by bisection to 55 digits. The gradients belong to the
numbers Σ v_i pull_i and Σ v_i z_i (z the log-odds of the pulls) for a random cotangent v: central differences with step 10⁻¹⁵ by each
score and each cost, by K and by the temperature.
"""

import numpy as np
from mpmath import exp, mp, mpf

import golden_file

mp.dps = 60
STEP = mpf(10) ** -15


def log_odds(x, c, k, temperature):
    """z `[N]`, by bisection."""
    ratio = [a / b for a, b in zip(x, c)]
    reach = 200 * temperature
    low, high = min(ratio) - reach, max(ratio) + reach
    for _ in range(260):
        middle = (low + high) / 2
        spent = sum(b / (1 + exp(-(r - middle) / temperature)) for r, b in zip(ratio, c))
        low, high = (middle, high) if spent > k else (low, middle)
    return [(r - (low + high) / 2) / temperature for r in ratio]


def pulls(z):
    return [1 / (1 + exp(-a)) for a in z]


def gradients(x, c, k, temperature, v):
    """By scores, costs, budget and temperature, of Σ v·pull and of Σ v·z."""

    def values(x, c, k, temperature):
        z = log_odds(x, c, k, temperature)
        return [sum(a * b for a, b in zip(v, pulls(z))), sum(a * b for a, b in zip(v, z))]

    def difference(at):
        return [float((up - down) / (2 * STEP)) for up, down in zip(values(*at(STEP)), values(*at(-STEP)))]

    def moved(list_, i, h):
        return [a + h if j == i else a for j, a in enumerate(list_)]

    by_score = [difference(lambda h, i=i: (moved(x, i, h), c, k, temperature)) for i in range(len(x))]
    by_cost = [difference(lambda h, i=i: (x, moved(c, i, h), k, temperature)) for i in range(len(x))]
    by_budget = difference(lambda h: (x, c, k + h, temperature))
    by_temperature = difference(lambda h: (x, c, k, temperature + h))
    return [
        {
            "d_scores": [d[which] for d in by_score], "d_costs": [d[which] for d in by_cost],
            "d_budget": by_budget[which], "d_temperature": by_temperature[which],
        }
        for which in (0, 1)
    ]


def main():
    rng = np.random.default_rng(20250612)
    cases = []
    for n, share, temperature in [(2, 0.5, 1.0), (5, 0.3, 0.3), (5, 0.3, 0.02), (8, 0.6, 0.1), (12, 0.25, 0.05), (12, 0.9, 2.0)]:
        scores, costs, v = rng.standard_normal(n), rng.uniform(0.2, 3.0, n), rng.standard_normal(n)
        budget = float(share * costs.sum())
        x, c, w = ([mpf(float(a)) for a in row] for row in (scores, costs, v))
        z = log_odds(x, c, mpf(budget), mpf(temperature))
        by_pull, by_log_odds = gradients(x, c, mpf(budget), mpf(temperature), w)
        cases.append({
            "scores": scores.tolist(), "costs": costs.tolist(), "budget": budget, "temperature": temperature,
            "pull": [float(a) for a in pulls(z)], "log_odds": [float(a) for a in z],
            "cotangent": v.tolist(), "of_pull": by_pull, "of_log_odds": by_log_odds,
        })
    golden_file.write(
        "soft_knapsack",
        "bisection and differences in 60-digit arithmetic (reference/soft_knapsack.py)",
        {
            "seed": 20250612,
            "pull": "[N]: sigmoid((score/cost - threshold)/temperature), with sum of cost*pull the budget",
            "log_odds": "[N]: of the pulls",
            "of_pull": "gradients of the pulls' inner product with the cotangent",
            "of_log_odds": "gradients of the log-odds' inner product with the cotangent",
        },
        cases,
    )


if __name__ == "__main__":
    main()
