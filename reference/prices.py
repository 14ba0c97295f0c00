"""Prices of a programme that ends, every maximum softened at a temperature e, in 50-digit arithmetic.

    V_H = 0 or R(s, passive)    A_t(s) = Q_t(s, 1) − Q_t(s, 0)    V_t = Q_t(s, 0) + e ln(1 + exp((A_t(s) − λ_t)/e))
    D(λ) = Σ_i ⟨μ_i, V_i⟩ + K Σ_t γ^t λ_t

The prices minimise D over λ ≥ 0. The pulls that the softened policy is expected to make at step t are followed forwards; a price above 0
spends its budget, and one at 0 need not. Found step by step by bisection of the pulls until the prices stand still in double precision, then by
Newton's method on those above 0, with slopes from differences, until 45 digits stand. Advantages are those of the same recursion.

Derivatives along a direction are central differences of all of it with step 10⁻¹⁵.
"""

import math

import numpy as np
from mpmath import lu_solve, matrix, mp, mpf

import golden_file
from horizon import differences, rows
from whittle import draw_reward, exactly, nearest

mp.dps = 50


class Numbers:
    """Arithmetic in double precision or in 50 digits."""

    def __init__(self, exp, log):
        self.exp, self.log = exp, log


DOUBLE, EXACT = Numbers(math.exp, math.log), Numbers(mp.exp, mp.log)


def walk(p, r, initial, discount, temperature, price, ending, by):
    """What the arms are worth, the pulls of every step, and the advantages [H][N][M]."""
    decisions, states = len(price), range(len(r[0]))
    worth, pulls, advantage = 0, [0] * decisions, [[] for _ in price]
    for arm, reward, start in zip(p, r, initial):
        value = [reward[s][0] if ending == "state" else 0 for s in states]
        chance = [None] * decisions
        for t in reversed(range(decisions)):
            q = [[reward[s][a] + discount * sum(arm[s][a][u] * value[u] for u in states) for a in (0, 1)] for s in states]
            gain = [q[s][1] - q[s][0] for s in states]
            advantage[t].append(gain)
            z = [(gain[s] - price[t]) / temperature for s in states]
            tail = [by.exp(-abs(x)) for x in z]
            chance[t] = [(1 if z[s] > 0 else tail[s]) / (1 + tail[s]) for s in states]
            value = [q[s][0] + max(z[s], 0) * temperature + temperature * by.log(1 + tail[s]) for s in states]
        worth += sum(start[s] * value[s] for s in states)
        mass = list(start)
        for t in range(decisions):
            active = [mass[s] * chance[t][s] for s in states]
            pulls[t] += sum(active)
            mass = [sum((mass[s] - active[s]) * arm[s][0][u] + active[s] * arm[s][1][u] for s in states) for u in states]
    return worth, pulls, advantage


def settled(given, budget, decisions, ending):
    """Nearly the prices, in double precision: one step after the other."""
    price = [0.0] * decisions
    for _ in range(300):
        before = list(price)
        for t in range(decisions):
            def is_overspent(x):
                return walk(**given, price=[*price[:t], x, *price[t + 1 :]], ending=ending, by=DOUBLE)[1][t] > budget  # noqa: B023

            low, high = 0.0, 100.0
            if is_overspent(0.0):
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (middle, high) if is_overspent(middle) else (low, middle)
                price[t] = (low + high) / 2
            else:
                price[t] = 0.0
        if max(abs(a - b) for a, b in zip(price, before)) < 1e-13:
            break
    return price


def solved(p, r, initial, budget, discount, temperature, decisions, ending):
    """Prices, bound and advantages, as one list of lists."""
    given = {"p": p, "r": r, "initial": initial, "discount": discount, "temperature": temperature}
    double = lambda x: [double(y) for y in x] if isinstance(x, list) else float(x)  # noqa: E731
    price = [mpf(x) for x in settled({name: double(x) for name, x in given.items()}, float(budget), decisions, ending)]
    free, step = [t for t in range(decisions) if price[t] > 0], mpf(10) ** -20

    def overspent(price):
        pulls = walk(**given, price=price, ending=ending, by=EXACT)[1]
        return [pulls[t] - budget for t in range(decisions)]

    while True:
        here = overspent(price)
        slope = matrix(len(free), len(free))
        for column, t in enumerate(free):
            there = overspent([*price[:t], price[t] + step, *price[t + 1 :]])
            for row, u in enumerate(free):
                slope[row, column] = (there[u] - here[u]) / step
        move = lu_solve(slope, matrix([-here[t] for t in free])) if free else []
        for t, x in zip(free, move):
            price[t] += x
        if all(abs(x) < mpf(10) ** -45 for x in move):
            break
    assert all(abs(here[t]) < mpf(10) ** -25 and price[t] > 0 for t in free)
    assert all(here[t] < -mpf(10) ** -6 for t in range(decisions) if t not in free), "a price about to leave 0"
    worth, _, advantage = walk(**given, price=price, ending=ending, by=EXACT)
    bound = worth + budget * sum(discount**t * price[t] for t in range(decisions))
    return [price, [bound], [x for step in advantage for arm in step for x in arm]]


def main():
    rng, cases = np.random.default_rng(20261119), []
    for n, m, decisions, discount, budget, temperature, ending in [
        (3, 2, 3, 1.0, 1.25, 0.1, "state"), (4, 2, 4, 0.9, 1.0, 0.02, "nothing"), (3, 3, 3, 0.95, 0.75, 0.3, "state"),
        (5, 2, 2, 1.0, 2.0, 0.01, "state"), (2, 4, 3, 0.8, 0.5, 0.05, "nothing"),
    ]:  # fmt: skip
        given = {
            "p": np.array([rows(rng, m, 2) for _ in range(n)]), "r": np.array([draw_reward(rng, m, True) for _ in range(n)]),
            "initial": np.array([golden_file.on_simplex(row) for row in rng.dirichlet(np.ones(m), size=n)]),
            "budget": budget, "discount": discount, "temperature": temperature,
        }  # fmt: skip
        exact = {name: exactly(x) for name, x in given.items()}
        f = lambda decisions=decisions, ending=ending, **given: solved(**given, decisions=decisions, ending=ending)  # noqa: E731
        directions = {
            "p": np.array([rows(rng, m, 2) for _ in range(n)]) - given["p"], "r": rng.standard_normal((n, m, 2)),
            "initial": rng.standard_normal((n, m)), "budget": 1.0, "discount": -1.0, "temperature": 1.0,
        }  # fmt: skip
        along = differences(f, exact, {name: exactly(x) for name, x in directions.items()})
        listed = lambda x: x.tolist() if isinstance(x, np.ndarray) else x  # noqa: E731
        price, bound, advantage = [[nearest(x) for x in part] for part in f(**exact)]
        cases.append({
            "n": n, "m": m, "decisions": decisions, "ending": ending, **{name: listed(x) for name, x in given.items()},
            "price": price, "bound": bound[0], "advantage": advantage,
            "direction": {name: listed(x) for name, x in directions.items()}, "derivative": along,
        })  # fmt: skip
    golden_file.write(
        "prices",
        "bisection and Newton's method on the pulls of a softened policy in 50-digit arithmetic (reference/prices.py)",
        {"seed": 20261119, "advantage": "[H][N][M] in a row", "derivative": "of [price, [bound], advantage], along the directions separately"},
        cases,
    )


if __name__ == "__main__":
    main()
