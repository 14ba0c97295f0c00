"""Whittle indices of arms with H decisions before them, and thresholds of arms with several actions, in 50-digit arithmetic.

Horizon: the advantage of a pull at a step, under a subsidy for every passive step until the end, by backward recursion; its first zero
by bisection on [−50, 50]. Only arms are kept of which a grid of subsidies shows one change of sign at every step and in every state.

Actions: at a price m the best policy of an arm that earns R(s, a) − m c_a, by policy iteration in 50 digits. The threshold of action k in
state s is the price at which the best action of s falls below k, by bisection; again for arms of which a grid shows one fall.

Derivatives along a direction are central differences with step 10⁻¹⁵.
"""

import numpy as np
from mpmath import lu_solve, matrix, mp, mpf

import golden_file
from whittle import draw_reward, exactly, moved, nearest

mp.dps = 50
STEP = mpf(10) ** -15


def root(is_below, low, high):
    """Where a condition that holds at `low` ceases to hold."""
    low, high = mpf(low), mpf(high)
    for _ in range(175):  # 100/2¹⁷⁵ is 2·10⁻⁵¹
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def advantages(p, r, discount, decisions, ending, subsidy):
    """At every step, [H][M]."""
    m = len(r)
    value = [r[s][0] if ending == "state" else mpf(0) for s in range(m)]
    steps = []
    for _ in range(decisions):
        q = [[r[s][a] + subsidy * (1 - a) + discount * sum(p[s][a][t] * value[t] for t in range(m)) for a in (0, 1)] for s in range(m)]
        steps.insert(0, [active - passive for passive, active in q])
        value = [max(row) for row in q]
    return steps


def horizon_indices(p, r, discount, decisions, ending):
    def at(t, s):
        return root(lambda x: advantages(p, r, discount, decisions, ending, x)[t][s] > 0, -50, 50)

    return [[at(t, s) for s in range(len(r))] for t in range(decisions)]


def is_plain(signs):
    """Whether each of some columns changes once, from true to false."""
    return all(sum(a != b for a, b in zip(column, column[1:])) == 1 for column in zip(*signs))


def best_actions(p, r, costs, discount, price):
    m, a = len(r), len(costs)
    earned = [[r[s][b] - price * costs[b] for b in range(a)] for s in range(m)]
    policy = [0] * m
    while True:
        system = matrix(m, m)
        for s in range(m):
            for t in range(m):
                system[s, t] = (1 if s == t else 0) - discount * p[s][policy[s]][t]
        value = lu_solve(system, matrix([earned[s][policy[s]] for s in range(m)]))
        q = [[earned[s][b] + discount * sum(p[s][b][t] * value[t] for t in range(m)) for b in range(a)] for s in range(m)]
        better = [max(range(a), key=lambda b: q[s][b]) for s in range(m)]
        better = [b if q[s][b] - q[s][policy[s]] > mpf(10) ** -40 else policy[s] for s, b in enumerate(better)]
        if better == policy:
            return policy
        policy = better


def thresholds(p, r, costs, discount):
    def at(s, k):
        return root(lambda price: best_actions(p, r, costs, discount, price)[s] >= k, -50, 50)

    return [[at(s, k) for k in range(1, len(costs))] for s in range(len(r))]


def differences(f, given, directions):
    """Of f, nested lists, along each direction apart."""

    def along(name):
        up, down = (f(**{**given, name: moved(given[name], directions[name], step)}) for step in (STEP, -STEP))
        return [[nearest((a - b) / (2 * STEP)) for a, b in zip(x, y)] for x, y in zip(up, down)]

    return {name: along(name) for name in directions}


def rows(rng, m, a):
    return np.array([golden_file.on_simplex(row) for row in rng.dirichlet(np.ones(m), size=m * a)]).reshape(m, a, m)


def case(f, given, directions, **more):
    given, exact = {**given}, {name: exactly(x) for name, x in given.items()}
    answer = [[nearest(x) for x in row] for row in f(**exact)]
    along = differences(f, exact, {name: exactly(x) for name, x in directions.items()})
    listed = lambda x: x.tolist() if isinstance(x, np.ndarray) else x  # noqa: E731
    return {
        "m": len(given["r"]), **more, **{name: listed(x) for name, x in given.items()}, "answer": answer,
        "direction": {name: listed(x) for name, x in directions.items()}, "derivative": along,
    }


def main():
    rng = np.random.default_rng(20261118)
    grid = [mpf(x) / 100 for x in range(-400, 401, 3)]
    cases = []
    for m, decisions, discount, ending in [(2, 1, 0.9, "state"), (2, 5, 1.0, "state"), (2, 8, 0.95, "nothing"), (3, 4, 0.9, "state"), (4, 3, 1.0, "nothing")]:
        while True:
            given = {"p": rows(rng, m, 2), "r": draw_reward(rng, m, True), "discount": discount}
            exact = {name: exactly(x) for name, x in given.items()}
            f = lambda p, r, discount: horizon_indices(p, r, discount, decisions, ending)  # noqa: E731, B023
            signs = [[x > 0 for row in advantages(**exact, decisions=decisions, ending=ending, subsidy=x) for x in row] for x in grid]
            if is_plain(signs):
                break
        directions = {"p": rows(rng, m, 2) - given["p"], "r": rng.standard_normal((m, 2)), "discount": -float(rng.random())}
        cases.append(case(f, given, directions, decisions=decisions, ending=ending))
    golden_file.write(
        "horizon",
        "bisection over backward recursion in 50-digit arithmetic (reference/horizon.py)",
        {"seed": 20261118, "answer": "[H][M]: the index of each state at each step", "derivative": "[H][M] each: along the directions separately"},
        cases,
    )
    cases = []
    for m, a, discount in [(2, 3, 0.9), (3, 3, 0.5), (3, 4, 0.95), (4, 2, 0.99)]:
        costs = np.concatenate([[0.0], np.cumsum(0.5 + rng.random(a - 1))])
        while True:
            given = {"p": rows(rng, m, a), "r": rng.random((m, a)), "costs": costs, "discount": discount}
            exact = {name: exactly(x) for name, x in given.items()}
            signs = [[b >= k for b in best_actions(**exact, price=x) for k in range(1, a)] for x in grid]
            if is_plain(signs):
                break
        by_costs = np.concatenate([[0.0], rng.standard_normal(a - 1)])
        directions = {"p": rows(rng, m, a) - given["p"], "r": rng.standard_normal((m, a)), "costs": by_costs, "discount": -float(rng.random())}
        cases.append(case(thresholds, given, directions, a=a))
    golden_file.write(
        "actions",
        "bisection over policy iteration in 50-digit arithmetic (reference/horizon.py)",
        {"seed": 20261118, "answer": "[M][A − 1]: the price at which the best action falls below k", "derivative": "[M][A − 1] each: along the directions separately"},
        cases,
    )


if __name__ == "__main__":
    main()
