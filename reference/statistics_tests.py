"""Tests of tables from their definitions, in 40-digit arithmetic: golden/statistics.json.

Tails are incomplete beta and gamma functions (mpmath), quantiles their roots, Wilcoxon's exact p a count of all sign patterns in
whole numbers (by a dictionary of sums, up to 50 pairs). Data are doubles, taken as they are; ties and zeros are made on purpose.
"""

import numpy as np
from mpmath import betainc, erfc, findroot, gammainc, inf, mp, mpf, sqrt

import golden_file

mp.dps = 40
SEED = 20


def t_tail(t, freedom):
    return betainc(freedom / 2, mpf(1) / 2, 0, freedom / (freedom + t * t), regularized=True)


def t_95(freedom):
    low = mpf(1)
    high = mpf(2)
    while t_tail(high, freedom) > mpf("0.05"):
        low, high = high, 2 * high
    return findroot(lambda t: t_tail(t, freedom) - mpf("0.05"), (low, high), solver="anderson", tol=1e-60)


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((x - mean) ** 2 for x in values) / (len(values) - 1)


def answer(difference, error, freedom):
    t, reach = difference / error, t_95(freedom) * error
    numbers = [difference, error, difference - reach, difference + reach, t, freedom, t_tail(t, freedom)]
    return [float(x) for x in numbers]


def wilcoxon(differences):
    kept = sorted((d for d in differences if d != 0), key=abs)
    n = len(kept)
    sizes = [abs(d) for d in kept]
    rank = [mpf(sum(1 for y in sizes if y < x)) + mpf(sizes.count(x) + 1) / 2 for x in sizes]
    positive = sum((r for r, d in zip(rank, kept) if d > 0), mpf(0))
    negative = sum((r for r, d in zip(rank, kept) if d < 0), mpf(0))
    smaller = min(positive, negative)
    is_exact = n <= 50 and len(set(sizes)) == n == len(differences)
    if is_exact:
        sums = {0: 1}
        for k in range(1, n + 1):
            for s, count in list(sorted(sums.items(), reverse=True)):
                sums[s + k] = sums.get(s + k, 0) + count
        assert sum(sums.values()) == 2**n
        p = min(mpf(1), 2 * mpf(sum(c for s, c in sums.items() if s <= smaller)) / 2**n)
    else:
        ties = sum(sizes.count(x) ** 3 - sizes.count(x) for x in set(sizes))
        variance = mpf(n * (n + 1) * (2 * n + 1)) / 24 - mpf(ties) / 48
        distance = max(mpf(0), mpf(n * (n + 1)) / 4 - smaller - mpf(1) / 2)
        p = erfc(distance / sqrt(variance) / sqrt(mpf(2)))
    return {"positive": float(positive), "negative": float(negative), "is_exact": is_exact, "p": float(p)}


def pairs(rng, n, shift, digits):
    """Two samples whose differences are exact: multiples of 2⁻²⁰, or of 2⁻`digits` where ties are wanted."""
    grid = 2.0 ** (digits or 20)
    first, second = (np.round(rng.normal(s, 1, n) * grid) / grid for s in (shift, 0))
    return first.tolist(), second.tolist()


def main():
    rng = np.random.default_rng(SEED)
    cases = []
    for n, shift, digits in [(2, 0, 0), (3, 1, 0), (6, 0.5, 0), (12, 0.3, 0), (12, 3, 0), (30, 0.4, 0), (50, 0.2, 0),
                             (50, 2, 0), (51, 0.2, 0), (200, 0.1, 0), (15, 0.5, 1), (40, 0.2, 2), (80, 0.2, 1)]:
        first, second = pairs(rng, n, shift, digits)
        d = [mpf(a) - mpf(b) for a, b in zip(first, second)]
        mean, variance = moments(d)
        a, b = [mpf(x) for x in first], [mpf(x) for x in second[: max(2, n // 2)]]
        (x, s), (y, z) = moments(a), moments(b)
        u, v = s / len(a), z / len(b)
        freedom = (u + v) ** 2 / (u**2 / (len(a) - 1) + v**2 / (len(b) - 1))
        cases.append({"kind": "pairs", "first": first, "second": second, "wilcoxon": wilcoxon(d),
                      "paired": answer(mean, sqrt(variance / n), mpf(n - 1)),
                      "welch_second": [float(y) for y in b], "welch": answer(x - y, sqrt(u + v), freedom)})
    for rows, columns, scale in [(2, 2, 10), (2, 3, 40), (3, 4, 5), (2, 7, 300), (4, 9, 100), (2, 5, 3), (12, 40, 6)]:
        counts = rng.poisson(scale, (rows, columns))
        counts[0, 0] += scale
        if columns == 5:
            counts[:, 2] = 0
        kept = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
        n, r, c = int(kept.sum()), kept.sum(1), kept.sum(0)
        expected = [[mpf(int(r[i]) * int(c[j])) / n for j in range(len(c))] for i in range(len(r))]
        chi = sum((int(kept[i, j]) - expected[i][j]) ** 2 / expected[i][j] for i in range(len(r)) for j in range(len(c)))
        freedom = (len(r) - 1) * (len(c) - 1)
        p = gammainc(mpf(freedom) / 2, chi / 2, inf, regularized=True)
        cases.append({"kind": "counts", "counts": counts.tolist(), "statistic": float(chi), "freedom": freedom,
                      "smallest_expected": float(min(map(min, expected))), "p": float(p)})
    golden_file.write(
        "statistics",
        "reference/statistics_tests.py: definitions in 40-digit arithmetic (mpmath), whole numbers for sign patterns",
        {"seed": SEED, "digits": 40, "paired and welch": "difference, standard error, low, high, t, freedom, p",
         "wilcoxon": "zeros dropped; exact up to 50 pairs without ties or zeros, else normal with both corrections"},
        cases)


main()
