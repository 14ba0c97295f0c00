# %% [markdown]
# # Off-policy evaluation of your own table
#
# You have a table of past decisions: who was in which state when, and who was called. What would another way of choosing
# have brought? Here the table is made up, so that we can compare with the truth; yours would come from `pandas.read_csv`.

# %%
import numpy as np
import pandas as pd
import restive

(programme,) = restive.generate("two-state", seed=4, instances=1, arms=40, budget=8, horizon=6, trajectories=200)
place = np.moveaxis(np.indices(programme.action.shape), 0, -1).reshape(-1, 3)
log = pd.DataFrame(place, columns=["trajectory", "t", "arm"]).assign(
    state=programme.state[:, :-1].ravel(),
    action=programme.action.ravel(),
    next_state=programme.state[:, 1:].ravel(),
)
print(log.sample(4, random_state=0).sort_index().to_string(index=False))

# %% [markdown]
# Functions want arrays with the axes trajectory, step, arm, so the table is sorted and reshaped. A table with gaps is
# reindexed first, and what is missing becomes -1.

# %%
shape = log["trajectory"].nunique(), log["t"].nunique(), log["arm"].nunique()
log = log.sort_values(["trajectory", "t", "arm"])
state, action, after = (log[column].to_numpy().reshape(shape) for column in ["state", "action", "next_state"])
state = np.concatenate([state, after[:, -1:]], axis=1)  # [J,H+1,N]
budget, rewards = 8, [0.0, 1.0]

# %% [markdown]
# The candidate: transitions counted in the first half of the log, one added everywhere, and the Whittle indices of those.
# Whoever learns from a trajectory must not be judged by it, so the second half is kept for the judge.

# %%
half = shape[0] // 2
seen = np.ones((shape[2], 2, 2, 2))
arm = np.broadcast_to(np.arange(shape[2]), action[:half].shape)
np.add.at(seen, (arm, state[:half, :-1], action[:half], state[:half, 1:]), 1)
index = restive.whittle_index(seen / seen.sum(-1, keepdims=True)).index
scores = index[np.arange(shape[2]), state[half:, :-1]]  # [J,H,N]

# %% [markdown]
# Importance sampling weighs the trajectories by how likely the candidate would have made them. It needs a probability for
# every pull, which a soft choice has; and the probability with which the log pulled, which is K of N at random here
# (otherwise `propensity=`). Intervals come from drawing trajectories again.

# %%
rng = np.random.default_rng(0)
candidates = {
    "as logged": np.full(scores.shape, budget / shape[2]),
    "soft index": restive.soft_top_k(scores, budget, 0.5 * index.std()).pull,
    "nobody": np.zeros(scores.shape),
}
for name, pull in candidates.items():
    judged = restive.cwpdis(pull, state[half:], action[half:], rewards, k=budget)
    again = []
    for _ in range(200):
        draw = rng.integers(0, half, half)
        again.append(restive.cwpdis(pull[draw], state[half:][draw], action[half:][draw], rewards, k=budget).value)
    low, high = np.quantile(again, [0.025, 0.975])
    worth = judged.effective_sample_size
    print(f"{name:10}  {judged.value:5.1f} [{low:5.1f}, {high:5.1f}]   worth {worth:3.0f} of {half} trajectories")

# %% [markdown]
# As the people are made up, the truth is known. Importance sampling keeps the competition for the budget as it was in the
# log, and its ratios wear out over the steps: it is a check, not an oracle.

# %%
for policy in ["random", "soft", "strict", "no-action"]:
    settings = {"index": index} if policy in ("soft", "strict") else {}
    settings |= {"temperature": 0.5 * index.std()} if policy == "soft" else {}
    values = restive.simulate(programme.P, budget, policy, **settings, horizon=6, rollouts=2000).values
    print(f"{policy:10}  {values.mean():5.1f} ± {1.96 * values.std() / 2000**0.5:.1f}")
