"""Evidence for a ranking from one log, in plain NumPy: the judge by direct maximisation, slopes by least squares with dummies.

Nothing here is arranged as in the library. The judge's penalised likelihood, with the own part of a person summed over nine
nodes, is handed to BFGS as it stands; the library takes steps of expectation and Newton in turn. Slopes come from a regression
on dummy variables of cells, their standard errors from its cluster-robust covariance with people as clusters; the library
centres and sums influences.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtri

import golden_file

NODES = np.linspace(-2.8, 2.8, 9)
PRIOR = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()


def log_shares(alpha, scale, eta):
    """`[..., M]`: alpha `[M-1]` of a row, eta any shape"""
    logits = np.concatenate([[0.0], alpha]) + np.asarray(eta)[..., None] * scale
    return logits - logsumexp(logits, axis=-1, keepdims=True)


def unpack(theta, m, f):
    cut = np.cumsum([(m + 1) * (m - 1), m, 2, f, f])
    alpha, delta, sigma, beta, gamma, first = np.split(theta, cut)
    return alpha.reshape(m + 1, m - 1), delta, sigma, beta, gamma, first


def fit(x, state, action, scale):
    (n, steps), m, f = state.shape, len(scale), x.shape[1]
    penalty = np.concatenate(
        [np.full((m + 1) * (m - 1), 1e-3 if m == 2 else 0.05), np.full(m, 0.5), np.full(2, 1e-3), np.full(3 * f, 3.0)]
    )

    def loss(theta):
        alpha, delta, sigma, beta, gamma, first = unpack(theta, m, f)
        everyone = np.arange(n)
        own = log_shares(alpha[m], scale, (x @ first)[:, None] + sigma[1] * NODES)[everyone, :, state[:, 0]]
        for t in range(steps - 1):
            now, a = state[:, t], action[:, t]
            eta = delta[now] * a + x @ beta + scale[now] * (x @ gamma)
            eta = eta[:, None] + sigma[0] * NODES
            logits = np.concatenate([np.zeros((n, 1)), alpha[now]], axis=1)[:, None, :] + eta[..., None] * scale
            own = own + (logits - logsumexp(logits, axis=-1, keepdims=True))[everyone, :, state[:, t + 1]]
        total = logsumexp(own + np.log(PRIOR), axis=1).sum()
        return -total + 0.5 * penalty @ theta**2

    start = np.zeros(len(penalty))
    start[(m + 1) * (m - 1) + m :][:2] = [0.7, 1.0]
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-4, "maxiter": 2000})
    # differences end BFGS early; Newton's method on differences of the gradient finishes
    theta = found.x
    for _ in range(4):
        g, h = derivatives(loss, theta)
        theta = theta - np.linalg.solve(h, g)
    assert np.abs(derivatives(loss, theta)[0]).max() < 1e-5
    return theta


def derivatives(f, x, step=1e-3):
    n = len(x)
    unit = np.eye(n) * step
    g = np.array([(8 * (f(x + u) - f(x - u)) - (f(x + 2 * u) - f(x - 2 * u))) / (12 * step) for u in unit])
    centre = f(x)
    h = np.zeros((n, n))
    forward = [f(x + u) for u in unit]
    backward = [f(x - u) for u in unit]
    for i in range(n):
        h[i, i] = (forward[i] - 2 * centre + backward[i]) / step**2
        for j in range(i):
            both = f(x + unit[i] + unit[j]) - forward[i] - forward[j] + 2 * centre
            both += f(x - unit[i] - unit[j]) - backward[i] - backward[j]
            h[i, j] = h[j, i] = both / (2 * step**2)
    return g, h


def expected(theta, x, state, scale, reward, horizon, discount, rate, is_ending_counted):
    """before every decision: worth alone and called, worth of what came; `[n,H]` each"""
    (n, steps), m, f = state.shape, len(scale), x.shape[1]
    alpha, delta, sigma, beta, gamma, first = unpack(theta, m, f)
    out = np.zeros((3, n, steps - 1))
    for i in range(n):
        moves = np.zeros((9, m, 2, m))
        for s in range(m):
            for a in range(2):
                eta = delta[s] * a + x[i] @ beta + scale[s] * (x[i] @ gamma) + sigma[0] * NODES
                moves[:, s, a] = np.exp(log_shares(alpha[s], scale, eta))
        value = np.zeros((9, m))
        for k in range(9):
            p = (1 - rate) * moves[k, :, 0] + rate * moves[k, :, 1]
            for t in range(horizon):  # a state at t + 1, and what follows until the last that counts
                last = horizon if is_ending_counted else horizon - 1
                ahead, v = np.eye(m), np.zeros(m)
                for later in range(t + 1, last + 1):
                    v += discount**later * ahead @ reward
                    ahead = ahead @ p
                value[k] += v / horizon
        w = PRIOR * np.exp(log_shares(alpha[m], scale, x[i] @ first + sigma[1] * NODES)[:, state[i, 0]])
        for t in range(steps - 1):
            w = w / w.sum()
            s, v = state[i, t], w @ value
            out[0, i, t] = (w @ moves[:, s, 0]) @ v
            out[1, i, t] = (w @ moves[:, s, 1]) @ v
            out[2, i, t] = v[state[i, t + 1]]
            w = w * moves[:, s, 0, state[i, t + 1]]
    return out


def regress(y, x, cells, people):
    """slope and cluster-robust standard error of a least-squares fit with a dummy for every cell"""
    names = sorted(set(cells))
    dummies = np.eye(len(names))[[names.index(cell) for cell in cells]]
    design = np.column_stack([x, dummies])
    bread = np.linalg.pinv(design.T @ design)
    b = bread @ design.T @ y
    residual = y - design @ b
    n = max(people) + 1
    meat = np.zeros((design.shape[1],) * 2)
    for person in range(n):
        mine = np.array(people) == person
        score = design[mine].T @ residual[mine]
        meat += np.outer(score, score)
    return b[0], np.sqrt((bread @ meat @ bread)[0, 0] * n / (n - 1))


def case(rng, m, is_ending_counted):
    n, steps, budget, groups, f = 36, 5, 4, 2, 2
    reward = np.array([0.0, 1.0]) if m == 2 else np.array([0.2, 0.0, 1.0])
    scale = (reward - reward.min()) / (reward.max() - reward.min())
    draw = lambda: golden_file.draw_transition(rng, m, 1.0)
    x = rng.normal(size=(2 * n * groups, f))
    group = np.repeat(np.arange(2 * groups), n)
    p = [draw() for _ in range(len(x))]
    state = np.zeros((len(x), steps), int)
    action = np.zeros((len(x), steps - 1), int)
    state[:, 0] = rng.integers(0, m, len(x))
    for t in range(steps - 1):
        for g in range(2 * groups):
            action[rng.choice(np.flatnonzero(group == g), budget, replace=False), t] = 1
        for i in range(len(x)):
            state[i, t + 1] = rng.choice(m, p=p[i][state[i, t], action[i, t]])
    judged = group >= groups
    mean, sd = x[~judged].mean(0), x[~judged].std(0)
    theta = fit((x[~judged] - mean) / sd, state[~judged], action[~judged], scale)
    horizon, discount = 6, 0.95
    alone, called, came = expected(
        theta, ((x - mean) / sd)[judged], state[judged], scale, reward, horizon, discount, budget / n, is_ending_counted
    )
    s, a, g = state[judged], action[judged], group[judged] - groups
    table = rng.normal(size=(len(s), m))
    z = np.zeros_like(table)
    for q in range(groups):
        mine = np.flatnonzero(g == q)
        for c in range(m):
            order = mine[np.argsort(-table[mine, c])]
            z[order, c] = -ndtri((np.arange(n) + 0.5) / n)
    e = budget / n
    score = called - alone + a / e * (came - called) - (1 - a) / (1 - e) * (came - alone)
    rows = [(i, t) for i in range(len(s)) for t in range(steps - 1)]
    cells = [(g[i], t, s[i, t]) for i, t in rows]
    ranks = np.array([z[i, s[i, t]] for i, t in rows])
    worth = np.array([score[i, t] for i, t in rows])
    slope, error = regress(worth, ranks, cells, [i for i, _ in rows])
    top = set()
    for q in range(groups):
        for t in range(steps - 1):
            mine = np.flatnonzero(g == q)
            top |= {(i, t) for i in mine[np.argsort(-table[mine, s[mine, t]])][:budget]}
    cell_mean = lambda v: np.array([np.mean([v[r] for r in range(len(rows)) if cells[r] == c]) for c in cells])
    is_top = np.array([row in top for row in rows])
    calls = horizon * budget * groups
    reach = calls * (ranks - cell_mean(ranks))[is_top].mean()
    return {
        "states": m,
        "reward": reward.tolist(),
        "discount": discount,
        "horizon": horizon,
        "is_ending_counted": bool(is_ending_counted),
        "budget": budget,
        "people": n,
        "features": x.tolist(),
        "state": state.tolist(),
        "action": action.tolist(),
        "table": table.tolist(),
        "slope_over_error": slope / error,
        "gain": slope * reach,
        "gain_error": abs(error * reach),
        "top": calls * (worth - cell_mean(worth))[is_top].mean(),
        "random": calls * worth.mean(),
    }


def main():
    rng = np.random.default_rng(16)
    cases = [case(rng, m, counted) for m, counted in [(2, False), (2, True), (3, True)]]
    source = "plain NumPy: the judge's likelihood by BFGS, slopes by least squares with dummies, cluster-robust errors"
    configuration = "four groups of `people`: the judge is fitted to the first two, the others are judged; calls by lot"
    golden_file.write("evidence", source, configuration, cases)


if __name__ == "__main__":
    main()
