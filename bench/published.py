"""Whittle indices of one arm from markovianbandit-pkg, the package of Gast, Gaujal and Khun.

It computes all M indices and an indexability verdict, in numba and LAPACK, without gradient: its opponent in
the table is the forward pass of our general kernel, which gives the same. Conventions, verified on a
two-state arm whose indices are known in closed form (6/17 and 0): action 1 is the pull, and the index is the
subsidy for passivity.
"""

import markovianbandit
import numpy as np

np.seterr(divide="warn", invalid="warn")  # the package makes numpy raise, for every other module too


def solve(p, r, discount):
    """Indices `[M]` of transitions `[M,2,M]` and reward R(s) `[M]`."""
    # A new object each time, because it remembers its answer.
    arm = markovianbandit.restless_bandit_from_P0P1_R0R1(p[:, 0], p[:, 1], r, r)
    return arm.whittle_indices(check_indexability=True, discount=discount)


def check():
    p = np.array([[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]])
    assert np.abs(solve(p, np.array([0.0, 1.0]), 0.5) - [6 / 17, 0]).max() < 1e-15
