"""Whittle indices from markovianbandit-pkg, at discount 1 (average reward) and at 0.99.

The package of Gast, Gaujal and Khun is the one published implementation that goes up to discount 1. It takes
transition matrices P0, P1 (passive, active) and rewards R0, R1; its index is the subsidy for passivity, as
ours: the two-state arm with indices 6/17 and 0 says so below. Where it finds an arm not indexable it gives no
indices to rely on, so the file then holds the verdict alone.

Arms with up to five states are also solved by our own enumeration (whittle.py), and the two must agree to
1e-9.
"""

import contextlib
import io
from importlib.metadata import version

import markovianbandit
import numpy as np

import golden_file
import whittle

np.seterr(divide="warn", invalid="warn")  # the package makes numpy raise, for everybody


def package(p, r, discount):
    """`index, is_indexable` of transitions `[M,2,M]` and rewards `[M,2]`."""
    arm = markovianbandit.restless_bandit_from_P0P1_R0R1(p[:, 0], p[:, 1], r[:, 0], r[:, 1])
    with contextlib.redirect_stdout(io.StringIO()):  # it announces its verdict
        is_indexable = arm.is_indexable(discount=discount)
        return arm.whittle_indices(discount=discount), is_indexable


def case(rng, m, concentration, by_action, discount):
    p, r = golden_file.draw_transition(rng, m, concentration), whittle.draw_reward(rng, m, by_action)
    index, is_indexable = package(p, r, discount)
    if m <= 5:
        exact, _, verdict, _ = whittle.solve(whittle.exactly(p), whittle.exactly(r), whittle.exactly(discount))
        assert verdict == is_indexable
        assert not verdict or max(abs(index - np.array(exact, dtype=float))) < 1e-9
    return {
        "family": f"Dirichlet({concentration:g})", "m": m, "discount": discount, "p": p.tolist(),
        "reward": r.tolist(), "index": index.tolist() if is_indexable else None, "is_indexable": is_indexable,
    }


def main():
    example = np.array([[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]])
    index, _ = package(example, np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5)
    assert np.abs(index - [6 / 17, 0]).max() < 1e-15
    seed = 31415
    rng = np.random.default_rng(seed)
    cases = []
    for discount, arms in ((1.0, 20), (0.99, 7)):
        for m in (3, 5, 8):
            for number in range(arms if (m, arms) != (8, 7) else 6):
                concentration = 0.5 if number % 4 == 3 else 1.0
                cases.append(case(rng, m, concentration, number % 2 == 0, discount))
    while sum(not arm["is_indexable"] for arm in cases) < 2:  # two that are not, at discount 1
        arm = case(rng, 3, 0.5, True, 1.0)
        if not arm["is_indexable"]:
            cases.append(arm)
    golden_file.write(
        "average_reward",
        f"markovianbandit-pkg {version('markovianbandit-pkg')}; arms with M ≤ 5 also agree with reference/whittle.py",
        {
            "seed": seed,
            "discount": "1 means average reward",
            "p": "[M][2][M]: state, action, next state; rows sum to 1 exactly",
            "reward": "[M][2]: state, action",
            "index": "[M] in double precision, as the package returned it; null where it says not indexable",
        },
        cases,
    )


if __name__ == "__main__":
    main()
