"""The whole chain of decision-focused training, from the definition, in 50-digit arithmetic.

Parameters → transitions (softmax) → Whittle indices (every policy is looked at: `whittle.py`) → temperature → soft
policy (the threshold by bisection) → value → objective, one arm and one step at a time, with no formula shared
with the library:

* is: plain products of ratios, a weighted mean over the trajectories for every arm and step;
* segmented: one trajectory, ratios of single steps, normalised over the steps of an arm;
* fluid: distributions moved forward step by step, the threshold of each step by bisection;
* decomposed: λ and μ from a fluid run on the believed transitions with their own indices; then each arm's value
  by the linear system V = r + γPV itself, J = (1 − γ)·μ⁰·V, and λK given back.

The gradient of the objective along one direction of the parameters is a central difference with step 10⁻¹².
"""

import numpy as np
from mpmath import exp, log, lu_solve, matrix, mpf, sqrt

import golden_file
import whittle

STEP = mpf(10) ** -12


def softmax(logits):
    weights = [exp(z) for z in logits]
    return [w / sum(weights) for w in weights]


def take(params, shape):
    """The next block of parameters, as nested lists."""
    if len(shape) == 1:
        return [next(params) for _ in range(shape[0])]
    return [take(params, shape[1:]) for _ in range(shape[0])]


def predict(kind, params, x, m):
    """`[M][2][M]` of one arm with features x."""
    f, stream = len(x), iter(params)
    if kind == "effect":
        passive, bias = take(stream, [m, f, m - 1]), take(stream, [m, m - 1])
        level, shift = take(stream, [m, m - 1]), take(stream, [f, m - 1])

        def row(s, a):
            logits = [mpf(0)]
            for k in range(m - 1):
                z = bias[s][k] + sum(x[i] * passive[s][i][k] for i in range(f))
                logits.append(z + a * (level[s][k] + sum(x[i] * shift[i][k] for i in range(f))))
            return softmax(logits)

        return [[row(s, a) for a in (0, 1)] for s in range(m)]
    here = x
    if kind == "network":
        weight, bias = take(stream, [f, 3]), take(stream, [3])
        here = [max(mpf(0), bias[k] + sum(x[i] * weight[i][k] for i in range(f))) for k in range(3)]
    weight, bias = take(stream, [len(here), 2 * m * m]), take(stream, [2 * m * m])
    z = [bias[k] + sum(h * weight[i][k] for i, h in enumerate(here)) for k in range(2 * m * m)]
    return [[softmax(z[(2 * s + a) * m : (2 * s + a + 1) * m]) for a in (0, 1)] for s in range(m)]


def parameters(kind, f, m):
    if kind == "effect":
        return m * f * (m - 1) + 2 * m * (m - 1) + f * (m - 1)
    width = 3 if kind == "network" else f
    return (f * 3 + 3 if kind == "network" else 0) + width * 2 * m * m + 2 * m * m


def sigmoid(z):
    return 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))


def threshold(scores, masses, k, e):
    """τ with Σ mass·sigmoid((score − τ)/e) = K, by bisection."""
    low, high = min(scores) - 200 * e, max(scores) + 200 * e
    for _ in range(160):
        middle = (low + high) / 2
        spent = sum(mass * sigmoid((w - middle) / e) for w, mass in zip(scores, masses))
        low, high = (middle, high) if spent > k else (low, middle)
    return (low + high) / 2


def resolve(temperature, table):
    """The temperature for a table `[N][M]` of indices."""
    name, x = temperature
    numbers = [w for row in table for w in row]
    if name == "absolute":
        return x
    if name == "published":
        return x / 2 * max(max(w * w, (w + 1) ** 2) for w in numbers)
    mean = sum(numbers) / len(numbers)
    return x * sqrt(sum((w - mean) ** 2 for w in numbers) / len(numbers))


def importance(log_, table, k, e, discount, reward):
    """CWPDIS, or the segmented variant of a single trajectory."""
    states, actions, propensities = log_
    trajectories, steps, arms = len(states), len(actions[0]), len(table)
    f = [[[None] * arms for _ in range(steps)] for _ in range(trajectories)]
    for j in range(trajectories):
        for t in range(steps):
            scores = [table[i][states[j][t][i]] for i in range(arms)]
            tau = threshold(scores, [mpf(1)] * arms, k, e)
            for i in range(arms):
                pull = sigmoid((scores[i] - tau) / e)
                f[j][t][i] = (pull if actions[j][t][i] == 1 else 1 - pull) / propensities[j][t][i]
    earned = lambda j, t, i: reward[states[j][t][i]]
    value = mpf(0)
    for i in range(arms):
        if trajectories == 1:
            mean = sum(f[0][t][i] for t in range(steps)) / steps
            value += sum(discount**t * f[0][t][i] / mean * earned(0, t, i) for t in range(steps))
            continue
        for t in range(steps):
            ratio = []
            for j in range(trajectories):
                product = mpf(1)
                for u in range(t + 1):
                    product *= f[j][u][i]
                ratio.append(product)
            mean = sum(r * earned(j, t, i) for j, r in enumerate(ratio)) / sum(ratio)
            value += discount**t * mean
    return value


def fluid(p, table, initial, k, e, discount, horizon, reward):
    """The value, the thresholds and the mean occupancy."""
    arms, m = len(p), len(reward)
    mass = [list(row) for row in initial]
    value, thresholds, occupancy = mpf(0), [], [[mpf(0)] * m for _ in range(arms)]
    for t in range(horizon):
        flat = [(table[i][s], mass[i][s]) for i in range(arms) for s in range(m)]
        tau = threshold([w for w, _ in flat], [x for _, x in flat], k, e)
        thresholds.append(tau)
        after = [[mpf(0)] * m for _ in range(arms)]
        for i in range(arms):
            for s in range(m):
                occupancy[i][s] += mass[i][s] / horizon
                value += discount**t * mass[i][s] * reward[s]
                pull = sigmoid((table[i][s] - tau) / e)
                for to in range(m):
                    after[i][to] += mass[i][s] * ((1 - pull) * p[i][s][0][to] + pull * p[i][s][1][to])
        mass = after
    return value, thresholds, occupancy


def indices(p, reward, discount):
    r = [[x, x] for x in reward]
    return [whittle.solve(arm, r, discount)[0] for arm in p]


def decomposed(believed, table, initial, k, e, own_temperature, setting, reward):
    discount, index_discount, horizon = setting
    arms, m = len(believed), len(reward)
    own = indices(believed, reward, index_discount)
    own_e = resolve(own_temperature, own)
    _, thresholds, mass = fluid(believed, own, initial, k, own_e, discount, horizon, reward)
    charge = sum(thresholds) / horizon
    tau = threshold([w for row in table for w in row], [x for row in mass for x in row], k, e)
    value = charge * k
    for i in range(arms):
        system, right = matrix(m, m), matrix(m, 1)
        for s in range(m):
            pull = sigmoid((table[i][s] - tau) / e)
            right[s] = reward[s] - charge * pull
            for to in range(m):
                moved = (1 - pull) * believed[i][s][0][to] + pull * believed[i][s][1][to]
                system[s, to] = (1 if s == to else 0) - index_discount * moved
        v = lu_solve(system, right)
        value += (1 - index_discount) * sum(initial[i][s] * v[s] for s in range(m))
    return horizon * value


def objective(problem, params):
    """`objective, value, loss`"""
    m, arms, k = problem["m"], problem["n"], problem["budget"]
    kind, counts = problem["predictor"], problem["counts"]
    reward = [mpf(s) / (m - 1) for s in range(m)]
    features = whittle.exactly(problem["features"])
    p = [predict(kind, params, x, m) for x in features]
    discount, index_discount = mpf(problem["discount"]), mpf(problem["index_discount"])
    setting = (discount, index_discount, problem["horizon"])
    table = indices(p, reward, index_discount)
    temperature = (problem["temperature"][0], mpf(problem["temperature"][1]))
    e = resolve(temperature, table)
    states, actions, trajectories = problem["states"], problem["actions"], len(problem["states"])
    initial = [[mpf(sum(row[0][i] == s for row in states)) / trajectories for s in range(m)] for i in range(arms)]
    if problem["prior"] is None:
        prior = None
        believed = [[[[mpf(int(n)) / int(sum(row)) for n in row] if sum(row) else [mpf(1) / m] * m
                      for row in state] for state in arm] for arm in counts]
    else:
        prior = [predict(kind, whittle.exactly(problem["prior"]), x, m) for x in features]
        strength = [mpf(x) for x in problem["strength"]]
        believed = [[[[(int(counts[i][s][a][to]) + strength[a] * prior[i][s][a][to]) / (int(sum(counts[i][s][a])) + strength[a])
                       for to in range(m)] for a in (0, 1)] for s in range(m)] for i in range(arms)]
    if problem["value_name"] == "is":
        value = importance((states, actions, whittle.exactly(problem["propensities"])), table, k, e, discount, reward)
    elif problem["value_name"] == "fluid":
        value = fluid(believed, table, initial, k, e, discount, problem["horizon"], reward)[0]
    else:
        value = decomposed(believed, table, initial, k, e, temperature, setting, reward)
    loss = mpf(0)
    for i in range(arms):
        for s in range(m):
            for a in (0, 1):
                for to in range(m):
                    n = int(counts[i][s][a][to]) if prior is None else int(sum(counts[i][s][a])) * prior[i][s][a][to]
                    loss -= n * log(p[i][s][a][to]) / trajectories
    value_weight, loss_weight = (mpf(x) for x in problem["weights"])
    return (value_weight * value - loss_weight * loss) / arms, value, loss


def draw(rng, m, trajectories, kind, value, temperature, has_prior):
    n, f, steps, k = 5, 2, 4, 2
    params = rng.normal(size=parameters(kind, f, m)) * 0.7
    states = np.zeros((trajectories, steps + 1, n), dtype=int)
    actions = np.zeros((trajectories, steps, n), dtype=int)
    truth = rng.dirichlet(np.ones(m), size=(n, m, 2))
    counts = np.zeros((n, m, 2, m), dtype=int)
    for j in range(trajectories):
        states[j, 0] = rng.integers(m, size=n)
        for t in range(steps):
            actions[j, t, rng.choice(n, k, replace=False)] = 1
            for i in range(n):
                s, a = states[j, t, i], actions[j, t, i]
                states[j, t + 1, i] = rng.choice(m, p=truth[i, s, a])
                counts[i, s, a, states[j, t + 1, i]] += 1
    propensities = np.where(actions == 1, 0.4, 0.6)
    problem = {
        "n": n, "f": f, "m": m, "budget": k, "horizon": 6, "discount": 0.99, "index_discount": 0.875,
        "predictor": kind, "value_name": value, "temperature": temperature, "weights": [0.9, 0.1],
        "features": rng.normal(size=(n, f)).tolist(), "states": states.tolist(), "actions": actions.tolist(),
        "propensities": propensities.tolist(), "counts": counts.tolist(), "params": params.tolist(),
        "prior": (params + 0.3 * rng.normal(size=len(params))).tolist() if has_prior else None,
        "strength": [4.0, 2.0] if has_prior else None,
        "direction": rng.normal(size=len(params)).tolist(),
    }
    here, direction = whittle.exactly(params), whittle.exactly(problem["direction"])
    answer = objective(problem, here)
    ahead, behind = (objective(problem, [x + h * d for x, d in zip(here, direction)])[0] for h in (STEP, -STEP))
    del problem["counts"]
    names = ("objective", "value", "loss")
    problem |= {name: float(x) for name, x in zip(names, answer)}
    return problem | {"derivative": float((ahead - behind) / (2 * STEP))}


def main():
    seed = 2718
    rng = np.random.default_rng(seed)
    spread, published, absolute = ["spread", 0.1], ["published", 0.1], ["absolute", 0.25]
    problems = [  # M, trajectories, predictor, value, temperature, with a prior
        (2, 3, "network", "is", published, False), (2, 1, "linear", "is", spread, False),
        (3, 2, "effect", "is", absolute, True), (3, 4, "linear", "is", spread, True),
        (2, 2, "network", "fluid", spread, True), (3, 1, "effect", "fluid", spread, False),
        (2, 3, "linear", "fluid", published, True), (3, 2, "network", "fluid", absolute, True),
        (2, 2, "network", "decomposed", spread, True), (2, 1, "effect", "decomposed", spread, True),
        (3, 3, "linear", "decomposed", absolute, True), (3, 2, "network", "decomposed", spread, True),
    ]
    golden_file.write(
        "decision_focused",
        "the chain rule's forward pass in 50 digits, its derivative by differences (reference/decision_focused.py)",
        {
            "seed": seed,
            "features": "[N,F]",
            "states": "[J,T,N], T one more than the actions and propensities",
            "params, prior": "network and linear: weight [from,to] and bias of each layer; effect: B, b, δ, c; in a row",
            "strength": "of the prior, passive and active",
            "weights": "of the value and of the loss",
            "derivative": "of the objective by the parameters along the direction",
        },
        [draw(rng, *problem) for problem in problems],
    )


if __name__ == "__main__":
    main()
