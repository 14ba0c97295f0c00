"""Whittle indices of arms that are seen only when pulled, in 50-digit arithmetic.

A pull finds the arm in state s, and then the arm moves by the active rows: what is believed of it in the next step
is b(s,0) = P₁[s]. Every step without a pull moves the belief by the passive rows, b(s,h+1) = b(s,h) P₀. Chains have T
beliefs, and the last one stays as it is. This is an arm whose states are the M·T beliefs (s,h), in this order:

    passive: (s,h) → (s,h+1), the last to itself     active: (s,h) → (s′,0) with probability b(s,h)[s′]
    reward: b(s,h)·R under either action

It is written out and handed to the enumeration of all policies of whittle.py, which knows nothing of beliefs.
Derivatives are central differences of the whole, as there.
"""

import numpy as np
from mpmath import mpf

import golden_file
from whittle import APART, Plateau, STEP, exactly, moved, nearest, solve


def beliefs(p, chain):
    """`[M][T][M]`"""
    m = len(p)
    out = []
    for s in range(m):
        b = [p[s][1][k] for k in range(m)]
        row = []
        for _ in range(chain):
            row.append(b)
            b = [sum(b[j] * p[j][0][k] for j in range(m)) for k in range(m)]
        out.append(row)
    return out


def process(p, r, chain):
    """The arm over beliefs: p `[M·T][2][M·T]`, r `[M·T][2]`."""
    m = len(p)
    b, zero = beliefs(p, chain), mpf(0)
    transition, reward = [], []
    for s in range(m):
        for h in range(chain):
            passive, active = [zero] * (m * chain), [zero] * (m * chain)
            passive[s * chain + min(h + 1, chain - 1)] = mpf(1)
            for k in range(m):
                active[k * chain] = b[s][h][k]
            transition.append([passive, active])
            expected = sum(b[s][h][k] * r[k] for k in range(m))
            reward.append([expected, expected])
    return transition, reward


def case(rng, family, p, r, discount, chain):
    """One arm with all its answers, or None if it has a plateau."""
    exact, reward, g = exactly(p), exactly(r), exactly(discount)
    try:
        index, last, is_indexable, breakpoints = solve(*process(exact, reward, chain), g)
    except Plateau:
        return None
    arm = {
        "family": family, "m": len(r), "chain": chain, "discount": discount, "p": p.tolist(), "reward": r.tolist(),
        "index": [nearest(x) for x in index], "last": [nearest(x) for x in last], "is_indexable": is_indexable,
        "direction": None, "derivative": None,
    }
    gaps = [y - x for x, y in zip(breakpoints, breakpoints[1:])]
    if len(breakpoints) >= len(index) and all(gap > APART for gap in gaps):
        there = golden_file.draw_transition(rng, len(r), 1.0)
        direction = there - p
        arm["direction"] = direction.tolist()

        def at(step):
            return solve(*process(moved(exact, exactly(direction), step), reward, chain), g)[0]

        arm["derivative"] = [nearest((x - y) / (2 * STEP)) for x, y in zip(at(STEP), at(-STEP))]
    return arm


def natural(rng):
    """Two states that persist; a pull never harms."""
    up = np.sort(rng.random(4))
    rows = [[up[0], up[1]], [up[2], up[3]]]  # state, action
    return np.array([[golden_file.on_simplex([1 - x, x]) for x in row] for row in rows])


def main():
    rng = np.random.default_rng(20240608)
    cases = []

    def add(family, p, r, discount, chain):
        arm = case(rng, family, p, np.asarray(r, dtype=float), discount, chain)
        if arm is not None:
            cases.append(arm)
        return arm is not None

    for chain in (1, 2, 3):
        for discount in (0.5, 0.9, 0.99):
            for family, p in [("natural", natural(rng)), ("Dirichlet(1)", golden_file.draw_transition(rng, 2, 1.0))]:
                assert add(family, p, [0, 1], discount, chain)
    for discount in (0.9, 0.99):
        assert add("Dirichlet(0.1)", golden_file.draw_transition(rng, 2, 0.1), [0, 1], discount, 3)
        assert add("Dirichlet(1)", golden_file.draw_transition(rng, 3, 1.0), [0, 0.25, 1], discount, 2)
    found = 0
    while found < 4:  # freezing the last belief makes some arms that are not indexable
        arm = case(rng, "natural, non-indexable", natural(rng), np.array([0.0, 1.0]), 0.99, 3)
        if arm is not None and not arm["is_indexable"]:
            cases.append(arm)
            found += 1
    golden_file.write(
        "collapsing",
        "enumeration of all policies over beliefs in 50-digit arithmetic (reference/collapsing.py)",
        {
            "seed": 20240608,
            "p": "[M][2][M]: observed state, action, next state; rows sum to 1 exactly",
            "reward": "[M]",
            "index": "[M·T]: of belief (s, h) at s·T + h, the subsidy at which it is first passive",
            "last": "[M·T]: the subsidy from which it remains passive",
            "direction": "a tangent of p (rows sum to 0); null where breakpoints tie",
            "derivative": "[M·T]: of index along the direction",
        },
        cases,
    )


if __name__ == "__main__":
    main()
