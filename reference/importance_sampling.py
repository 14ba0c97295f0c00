"""From indices to an off-policy value: soft top-k, then importance sampling, at temperatures from nearly strict to nearly even.

A table of indices about 1 apart, a short log with propensities, and two estimators: consistent weighted per-decision
importance sampling (ratios up to this step or the previous one) and the single-trajectory variant that normalises over time. At a
temperature of 10⁻³ the chance that the policy does what was logged is e^−1000 and less, which no double holds; the value is an
ordinary number all the same, because such chances cancel.

Everything is plain arithmetic with so many digits that nothing cancels: p and 1 − p are both written out, thresholds are found by
bisection and then Newton's method, gradients are central differences with step 10⁻⁴⁰.
"""

import numpy as np
from mpmath import exp, mp, mpf

import golden_file
from soft_top_k import threshold

STEP = mpf(10) ** -40
DISCOUNT = 0.9


def chances(problem, index, temperature, starts=None):
    """The chance of the logged action at every decision, `[J][H][N]`, and the thresholds."""
    state, action = problem["state"], problem["action"]
    found, taus = [], []
    for j in range(len(state)):
        steps = []
        for t in range(len(state[0])):
            scores = [index[i][s] for i, s in enumerate(state[j][t])]
            start = None if starts is None else starts[len(taus)]
            tau = threshold(scores, problem["k"], temperature, start)
            taus.append(tau)
            odds = [exp((x - tau) / temperature) for x in scores]
            steps.append([o / (1 + o) if a == 1 else 1 / (1 + o) for o, a in zip(odds, action[j][t])])
        found.append(steps)
    return found, taus


def ratios(problem, chance):
    propensity = problem["propensity"]
    return [[[c / mpf(p) for c, p in zip(cs, ps)] for cs, ps in zip(ct, pt)] for ct, pt in zip(chance, propensity)]


def cwpdis(problem, ratio, last):
    """Σ γ^t Σ_i weighted mean of the known rewards, by products of ratios up to step t − 1 + last."""
    reward = problem["reward"]
    trajectories, steps, arms = len(ratio), len(ratio[0]), len(ratio[0][0])
    value = mpf(0)
    for t in range(steps):
        for i in range(arms):
            over = under = mpf(0)
            for j in range(trajectories):
                if reward[j][t][i] is None:
                    continue
                rho = mpf(1)
                for u in range(t + last):
                    rho *= ratio[j][u][i]
                over, under = over + rho * mpf(reward[j][t][i]), under + rho
            if under > 0:
                value += mpf(DISCOUNT) ** t * over / under
    return value


def segmented(problem, ratio):
    """Each arm of each trajectory: all its weight times the weighted mean of its known rewards."""
    reward = problem["reward"]
    trajectories, steps, arms = len(ratio), len(ratio[0]), len(ratio[0][0])
    value = mpf(0)
    for j in range(trajectories):
        for i in range(arms):
            mean_ratio = sum(ratio[j][t][i] for t in range(steps)) / steps
            weight = [mpf(DISCOUNT) ** t * ratio[j][t][i] / mean_ratio for t in range(steps)]
            known = [t for t in range(steps) if reward[j][t][i] is not None]
            if known:
                mean = sum(weight[t] * mpf(reward[j][t][i]) for t in known) / sum(weight[t] for t in known)
                value += sum(weight) * mean / trajectories
    return value


def values(problem, index, temperature, starts=None):
    chance, taus = chances(problem, index, temperature, starts)
    ratio = ratios(problem, chance)
    return [cwpdis(problem, ratio, 1), cwpdis(problem, ratio, 0), segmented(problem, ratio)], taus


def case(problem, temperature):
    index = [[mpf(x) for x in row] for row in problem["index"]]
    e = mpf(temperature)
    spread = max(map(max, index)) - min(map(min, index))
    mp.dps = 150 + int(spread / e * 0.44)
    value, taus = values(problem, index, e)

    def difference(moved):
        up, down = (values(problem, *moved(h), taus)[0] for h in (STEP, -STEP))
        return [(a - b) / (2 * STEP) for a, b in zip(up, down)]

    def by_entry(i, s):
        def moved(h):
            table = [list(row) for row in index]
            table[i][s] += h
            return table, e

        return difference(moved)

    d_index = [[by_entry(i, s) for s in range(len(row))] for i, row in enumerate(index)]
    d_temperature = difference(lambda h: (index, e + h))
    answer = {}
    for k, name in enumerate(["this_step", "previous_step", "segmented"]):
        answer[name] = {
            "value": float(value[k]),
            "d_index": [[float(d[k]) for d in row] for row in d_index],
            "d_temperature": float(d_temperature[k]),
        }
    return {**problem, "temperature": temperature, **answer}


def draw(rng, k, has_holes):
    """Three trajectories of three decisions over five arms with two states."""
    j, h, n, m = 3, 3, 5, 2
    index = np.arange(n * m, dtype=float).reshape(n, m) / 2 + np.round(rng.uniform(-0.2, 0.2, (n, m)), 3)
    state = rng.integers(m, size=(j, h, n))
    # pulls at random, so that the log does what a strict policy would not
    action = np.array([[rng.permutation([1, 1, 0, 0, 0]) for _ in range(h)] for _ in range(j)])
    propensity = np.round(rng.uniform(0.2, 0.8, (j, h, n)), 3)
    reward = np.round(rng.uniform(-1.0, 1.0, (j, h, n)), 3).tolist()
    if has_holes:
        for trajectory in reward:
            for step in trajectory:
                for i in range(n):
                    step[i] = None if rng.random() < 0.2 else step[i]
    return {
        "index": index.tolist(), "k": k, "state": state.tolist(), "action": action.tolist(),
        "propensity": propensity.tolist(), "reward": reward,
    }


def main():
    seed = 1414
    rng = np.random.default_rng(seed)
    cases = []
    for k, has_holes, temperatures in [
        (2.0, False, [1e-3, 0.01, 0.014, 0.03, 0.1, 0.3, 1.0, 10.0]),
        (2.0, True, [0.003, 0.03, 0.3]),
        (2.5, False, [0.002, 0.05, 1.0]),
    ]:
        problem = draw(rng, k, has_holes)
        cases += [case(problem, temperature) for temperature in temperatures]
    golden_file.write(
        "importance_sampling",
        "soft top-k and importance sampling with 150 and more digits, so many that the chances of both actions are written out; "
        "gradients by central differences with step 1e-40 (reference/importance_sampling.py)",
        {
            "seed": seed,
            "discount": DISCOUNT,
            "index": "[N,M]: the score of each arm in each state",
            "reward": "[J,H,N]: what was earned, null where that is not known",
            "this_step, previous_step": "CWPDIS with ratios up to and including, or before, the step's own decision",
            "segmented": "the single-trajectory variant, averaged over the trajectories",
            "d_index, d_temperature": "the gradient of the value",
        },
        cases,
    )


if __name__ == "__main__":
    main()
