"""Whittle indices by looking at every policy, in 50-digit arithmetic.

An arm is passive in the states of a set B and active elsewhere: 2^M policies. Under subsidy m for passivity
the value of the policy is affine in m, V(m) = v + m w, from one linear system with two right-hand sides,

    (I − γ P_B) v = r_B,      (I − γ P_B) w = 1_B.

So is the advantage of acting, Adv_s(m) = r(s,1) − r(s,0) − m + γ (P(s,1,·) − P(s,0,·)) V(m) = α_s − β_s m.
The policy is optimal where Adv_s ≤ 0 in all states of B and Adv_s ≥ 0 in all others: M inequalities, each a
half-line, together an interval of subsidies. The ends of these intervals are the breakpoints. Between two
neighbouring breakpoints nothing changes, so the passive set there is read off at the midpoint.

* index: the subsidy at which a state is first passive; last: the subsidy from which it remains passive.
* The arm is indexable if no state that was passive on one interval is active on a later one.

At discount 1 (average reward, one recurrent class under every policy) V becomes the bias h with h_0 = 0, and
the gain is one more unknown. Nothing else changes.

Derivatives along a direction are central differences of the whole enumeration with step 10⁻¹⁵, which is exact
to about 30 digits as long as the arm has no ties; an arm with breakpoints closer than 10⁻⁹ gets none.
"""

import itertools

import numpy as np
from mpmath import inf, lu_solve, matrix, mp, mpf

import golden_file

mp.dps = 50
SAME = mpf(10) ** -40  # breakpoints closer than this are one
APART = mpf(10) ** -9  # arms with breakpoints closer than this are not differentiated
STEP = mpf(10) ** -15


class Plateau(Exception):
    """A state is indifferent on a whole interval: what its index should be is a matter of taste."""


def value(p, r, discount, passive):
    """`v, w` with V(m) = v + m w for the policy that rests in `passive`."""
    m = len(r)
    action = [0 if s in passive else 1 for s in range(m)]
    system = matrix(m, m)
    for s in range(m):
        for t in range(m):
            system[s, t] = (1 if s == t else 0) - discount * p[s][action[s]][t]
    if discount == 1:
        # The unknown h_0 = 0 makes room for the gain, which appears once in every equation.
        for s in range(m):
            system[s, 0] = 1
    reward = matrix([r[s][action[s]] for s in range(m)])
    subsidised = matrix([mpf(1 - action[s]) for s in range(m)])
    v, w = list(lu_solve(system, reward)), list(lu_solve(system, subsidised))
    if discount == 1:
        v[0] = w[0] = mpf(0)
    return v, w


def advantage(p, r, discount, passive):
    """`[(α_s, β_s)]` with Adv_s(m) = α_s − β_s m."""
    v, w = value(p, r, discount, passive)
    lines = []
    for s in range(len(r)):
        gain = [p[s][1][t] - p[s][0][t] for t in range(len(r))]
        alpha = r[s][1] - r[s][0] + discount * sum(d * x for d, x in zip(gain, v))
        beta = 1 - discount * sum(d * x for d, x in zip(gain, w))
        lines.append((alpha, beta))
    return lines


def interval(lines, passive):
    """Where the policy is optimal: the subsidies from low to high, none if low > high."""
    low, high = -inf, inf
    for s, (alpha, beta) in enumerate(lines):
        sign = 1 if s in passive else -1  # want sign·(α − β m) ≤ 0
        alpha, beta = sign * alpha, sign * beta
        if abs(beta) < SAME:
            if alpha > SAME:
                return inf, -inf
        elif beta > 0:
            low = max(low, alpha / beta)
        else:
            high = min(high, alpha / beta)
    return low, high


def solve(p, r, discount):
    """`index, last, is_indexable, breakpoints` of one arm; p `[M][2][M]`, r `[M][2]`, all mpf."""
    m = len(r)
    optimal = []  # (low, high, lines) of every policy that is optimal somewhere
    for size in range(m + 1):
        for passive in itertools.combinations(range(m), size):
            lines = advantage(p, r, discount, passive)
            low, high = interval(lines, passive)
            if high - low > SAME:
                optimal.append((low, high, lines))
    breakpoints = []
    for x in sorted(x for low, high, _ in optimal for x in (low, high) if abs(x) != inf):
        if not breakpoints or x - breakpoints[-1] > SAME:
            breakpoints.append(x)
    # One subsidy inside every interval between breakpoints, and the passive set there.
    inside = [breakpoints[0] - 1]
    inside += [(x + y) / 2 for x, y in zip(breakpoints, breakpoints[1:])]
    inside += [breakpoints[-1] + 1]
    sets = []
    for subsidy in inside:
        lines = next(lines for low, high, lines in optimal if low < subsidy < high)
        advantages = [alpha - beta * subsidy for alpha, beta in lines]
        if min(map(abs, advantages)) < mpf(10) ** -30:
            raise Plateau
        sets.append({s for s in range(m) if advantages[s] < 0})
    assert sets[0] == set() and sets[-1] == set(range(m))
    index = [next(x for x, after in zip(breakpoints, sets[1:]) if s in after) for s in range(m)]
    last = [next(x for x, before in zip(breakpoints[::-1], sets[-2::-1]) if s not in before) for s in range(m)]
    is_indexable = all(before <= after for before, after in zip(sets, sets[1:]))
    return index, last, is_indexable, breakpoints


def nearest(x):
    """The nearest double; rounding noise around a true zero is zero."""
    return 0.0 if abs(x) < mpf(10) ** -25 else float(x)


def exactly(array):
    """Nested lists of the same doubles, as mpf."""
    return [exactly(x) for x in array] if np.ndim(array) else mpf(float(array))


def moved(x, direction, step):
    if isinstance(x, list):
        return [moved(a, b, step) for a, b in zip(x, direction)]
    return x + step * direction


def derivatives(p, r, discount, d_p, d_r, d_discount):
    """Of every index along the three directions, one at a time."""
    p, r, discount, d_p, d_r, d_discount = map(exactly, (p, r, discount, d_p, d_r, d_discount))

    def difference(at):
        up, down = solve(*at(STEP))[0], solve(*at(-STEP))[0]
        return [nearest((a - b) / (2 * STEP)) for a, b in zip(up, down)]

    return {
        "transition": difference(lambda h: (moved(p, d_p, h), r, discount)),
        "reward": difference(lambda h: (p, moved(r, d_r, h), discount)),
        "discount": difference(lambda h: (p, r, moved(discount, d_discount, h))),
    }


def draw_direction(rng, p):
    """Towards another point of every row's simplex; any direction for the rewards and the discount."""
    m = len(p)
    here = np.array([golden_file.on_simplex(row) for row in p.reshape(-1, m)]).reshape(p.shape)
    there = golden_file.draw_transition(rng, m, 1.0)
    return there - here, rng.standard_normal((m, 2)), float(rng.standard_normal())


def case(rng, family, p, r, discount):
    """One arm with all its answers, or None if it has a plateau."""
    try:
        index, last, is_indexable, breakpoints = solve(exactly(p), exactly(r), exactly(discount))
    except Plateau:
        return None
    arm = {
        "family": family, "m": len(r), "discount": discount, "p": p.tolist(), "reward": r.tolist(),
        "index": [nearest(x) for x in index], "last": [nearest(x) for x in last], "is_indexable": is_indexable,
        "direction": None, "derivative": None,
    }
    gaps = [y - x for x, y in zip(breakpoints, breakpoints[1:])]
    if len(breakpoints) >= len(r) and all(gap > APART for gap in gaps):
        d_p, d_r, d_discount = draw_direction(rng, p)
        arm["direction"] = {"p": d_p.tolist(), "reward": d_r.tolist(), "discount": d_discount}
        arm["derivative"] = derivatives(p, r, discount, d_p, d_r, d_discount)
    return arm


def draw_reward(rng, m, by_action):
    """`[M,2]`: R(s,a), or R(s) written twice."""
    return rng.random((m, 2)) if by_action else np.repeat(rng.random((m, 1)), 2, axis=1)


def worked_example(rng):
    """Two states, discount 1/2: 6/17 and 0. The only rows that sum to 1 merely to rounding."""
    p = np.array([[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]])
    arm = case(rng, "worked example: 6/17 and 0", p, np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5)
    assert abs(arm["index"][0] - 6 / 17) < 1e-16 and abs(arm["index"][1]) < 1e-16
    return arm


def near_equal(rng, m, distance):
    """The pull moves every row a little way towards another distribution."""
    p = golden_file.draw_transition(rng, m, 1.0)
    other = golden_file.draw_transition(rng, m, 1.0)
    p[:, 1] = [golden_file.on_simplex((1 - distance) * p[s, 0] + distance * other[s, 1]) for s in range(m)]
    return p


def is_non_indexable(p, r, discount):
    try:
        return not solve(exactly(p), exactly(r), exactly(discount))[2]
    except Plateau:
        return False


def main():
    rng = np.random.default_rng(20240607)
    discounts = [0.0, 0.5, 0.9, 0.99, 0.999]
    cases = [worked_example(rng)]

    def add(family, p, r, discount):
        arm = case(rng, family, p, r, discount)
        if arm is not None:
            cases.append(arm)
        return arm is not None

    for number in range(15):  # dense: every discount with M = 2, 3, 4
        m, discount = 2 + number // 5, discounts[number % 5]
        by_action = discount == 0.0 or number % 2 == 0
        assert add("Dirichlet(1)", golden_file.draw_transition(rng, m, 1.0), draw_reward(rng, m, by_action), discount)
    sparse = [(2, 0.9, False), (2, 0.999, True), (3, 0.9, True), (3, 0.99, False), (4, 0.99, True), (4, 0.999, False)]
    for m, discount, by_action in sparse:
        p, r = golden_file.draw_transition(rng, m, 0.1), draw_reward(rng, m, by_action)
        assert add("Dirichlet(0.1)", p, r, discount)
    for m, discount in [(2, 0.5), (3, 0.9), (3, 0.99), (4, 0.9), (4, 0.999)]:
        while not add("deterministic", golden_file.draw_transition(rng, m, 0), draw_reward(rng, m, True), discount):
            pass  # draw again: a plateau
    for m, discount, distance in [(2, 0.9, 1e-3), (3, 0.99, 1e-3), (4, 0.5, 1e-6), (4, 0.999, 1e-2)]:
        assert add("near-equal actions", near_equal(rng, m, distance), draw_reward(rng, m, False), discount)
    for m in (2, 4):  # a pull that changes nothing, and a reward that distinguishes nothing: all indices tie at 0
        p = golden_file.draw_transition(rng, m, 1.0)
        assert add("constant reward", p, np.full((m, 2), 0.7), 0.9)
        p = p.copy()
        p[:, 1] = p[:, 0]
        assert add("inert action", p, draw_reward(rng, m, False), 0.9)
    for m in (3, 3, 4, 4, 4):
        while True:
            p, r = golden_file.draw_transition(rng, m, 0.1), draw_reward(rng, m, True)
            if is_non_indexable(p, r, 0.99) and add("non-indexable, Dirichlet(0.1)", p, r, 0.99):
                break
    golden_file.write(
        "whittle_small",
        "enumeration of all policies in 50-digit arithmetic (reference/whittle.py)",
        {
            "seed": 20240607,
            "p": "[M][2][M]: state, action, next state; rows sum to 1 exactly",
            "reward": "[M][2]: state, action",
            "index": "[M]: the subsidy at which the state is first passive",
            "last": "[M]: the subsidy from which it remains passive",
            "direction": "a tangent of p (rows sum to 0), of reward and of discount; null where breakpoints tie",
            "derivative": "[M] each: of index along the three directions separately; add them for a joint move",
        },
        cases,
    )


if __name__ == "__main__":
    main()
