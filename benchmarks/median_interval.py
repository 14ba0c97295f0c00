"""Median of paired ratios, its 95 % interval and the verdict.

The interval is the one of order statistics: it reaches from the k-th smallest to the k-th largest of n ratios, with the largest k for which
the binomial distribution (n, 1/2) gives at least 95 %. It is exact for independent pairs of any continuous distribution, has no random
numbers, and needs at least six pairs. With 15 pairs it reaches from the 4th to the 12th ratio and covers the median with 96.5 %.
"""
import math
import statistics

LEVEL = 0.95
LEAST_PAIRS = 6
# limits of the median ratio of seconds, after divided by before
LIMITS = {"kernel": 1.03, "program": 1.05}


def rank(n):
    """Returns k and the coverage of the interval from the k-th smallest to the k-th largest of n numbers."""
    k, outside, coverage = 0, 0.0, 1.0
    while k < (n + 1) // 2:
        # probability that more than n - k - 1 or fewer than k + 1 of n numbers lie below the median
        outside += 2 * math.comb(n, k) / 2**n
        if 1 - outside < LEVEL:
            break
        k, coverage = k + 1, 1 - outside
    if k == 0:
        raise ValueError(f"found {n} pairs, expected at least {LEAST_PAIRS} for an interval of 95 %")
    return k, coverage


def interval(ratios):
    """Returns the median and the ends of its 95 % interval."""
    ordered = sorted(ratios)
    k, _ = rank(len(ordered))
    return statistics.median(ordered), ordered[k - 1], ordered[-k]


def verdict(low, high, kind):
    """Verdict on an interval of the ratio: `slower`, `faster`, `not slower`, or `undecided` if the limit lies inside."""
    limit = LIMITS[kind]
    if low > limit:
        return "slower"
    if high < 1:
        return "faster"
    return "not slower" if high <= limit else "undecided"
