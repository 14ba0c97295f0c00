"""Thompson sampling of people whom nobody knows yet.

Every week K of N people are called, and what they do is counted. Who is called next: those whose index is highest by the mean of what is
known, or by a draw from it, which looks at people of whom little is known? Whittle indices of all programmes at once are one batched call
a week. Where a call reaches few of many, looking costs more than it brings.
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive

programmes, people, budget, weeks = 24, 100, 10, 40
rng = np.random.default_rng(11)
alone = rng.beta(2, 3, (programmes, people, 2)) * [0.6, 0.6] + [0.0, 0.3]
helped = alone + rng.beta(1, 2, (programmes, people, 2)) * (1 - alone)
P = np.stack([alone[..., 0], helped[..., 0], alone[..., 1], helped[..., 1]], -1)  # [B,N,4]
luck = rng.random((weeks, programmes, people))
prior = np.stack([P.mean((0, 1)), 1 - P.mean((0, 1))], -1) * 4  # what is known of anybody, worth four weeks


def live(chances):
    """People in the programme each week, [B,T], where indices of `chances(seen)` decide."""
    seen, state = np.tile(prior, (programmes, people, 1, 1)), np.zeros((programmes, people), int)
    engaged = np.zeros((programmes, weeks))
    at = np.indices(state.shape)
    for t in range(weeks):
        believed = chances(seen)
        if believed is None:
            score = rng.random(state.shape)
        else:
            index = restive.whittle_index(believed.reshape(-1, 4), discount=0.95).index.reshape(programmes, people, 2)
            score = np.take_along_axis(index, state[..., None], -1)[..., 0]
        row = 2 * state + restive.strict_top_k(score, budget, seed=t).pull
        state = (luck[t] < P[at[0], at[1], row]).astype(int)
        np.add.at(seen, (at[0], at[1], row, 1 - state), 1)
        engaged[:, t] = state.sum(1)
    return engaged


ways = {
    "truth": lambda seen: P,
    "mean of what is known": lambda seen: seen[..., 0] / seen.sum(-1),
    "a draw (Thompson)": lambda seen: rng.beta(seen[..., 0], seen[..., 1]),
    "random": lambda seen: None,
}
lived = {name: live(chances) for name, chances in ways.items()}
figure, axes = plt.subplots()
for name in list(ways)[:3]:
    more = (lived[name] - lived["random"]).cumsum(1)
    mean, error = more.mean(0), 1.96 * more.std(0, ddof=1) / np.sqrt(programmes)
    axes.plot(range(1, weeks + 1), mean, label=name)
    axes.fill_between(range(1, weeks + 1), mean - error, mean + error, alpha=0.15, linewidth=0)
    print(f"{name}: {mean[-1]:+.0f} engaged weeks over random calls (± {error[-1]:.0f})")
axes.set(xlabel="week", ylabel="more engaged weeks than by random calls", title=f"{budget} calls a week for {people} people, mean of {programmes} programmes and 95 %")
axes.legend()
look.save(figure)
