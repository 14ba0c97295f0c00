# %% [markdown]
# # The index of an arm
#
# A person is in one of M states and keeps moving, whether or not we act. The *Whittle index* of a state is what a pull is
# worth there: the subsidy for leaving the person alone at which we would not mind either way. Whoever has the highest
# index is pulled.

# %% [markdown]
# Transitions are an array `[N,M,2,M]`: arm, state, action (1 is a pull), next state. For two states there is a short form
# `[N,4]`: the probabilities of moving to state 1 from (0, passive), (0, pulled), (1, passive), (1, pulled). Here are
# three people; state 1 is the good one.

# %%
import numpy as np
import restive

P = np.array([
    [0.2, 0.8, 0.5, 0.5],  # a call helps her when she is out, and does nothing when she is in
    [0.3, 0.4, 0.6, 0.9],  # a call keeps him in
    [0.1, 0.1, 0.9, 0.9],  # a call changes nothing
])
indices = restive.whittle_index(P, discount=0.9)
print(indices.index.round(4))
print(indices.is_indexable, indices.residual.max() < 1e-12)

# %% [markdown]
# Rows are people, columns states. Indices are exact, `is_indexable` says whether each arm has a proper index at all, and
# `residual` estimates the rounding error. With a budget of one, and everybody out:

# %%
plan = restive.strict_top_k(indices.index[:, 0], budget=1)
print(plan.pull)

# %% [markdown]
# How would the index of the first person in state 0 change with her transitions? `pullback` answers for any weighing of
# the indices: a better reaction to a call raises the index, a better prospect without one lowers it.

# %%
weighing = np.zeros((3, 2))
weighing[0, 0] = 1.0
print(indices.pullback(weighing)[0].round(4))

# %% [markdown]
# More states need the full form. Rewards are linear unless given, `R(s)` or `R(s, a)`; a pull may cost something.

# %%
rng = np.random.default_rng(1)
five = rng.dirichlet(np.ones(5), size=(1000, 5, 2))  # [1000,5,2,5]
rewards = np.stack([np.linspace(0, 1, 5), np.linspace(0, 1, 5) - 0.1], axis=1)  # [5,2]
costly = restive.whittle_index(five, rewards)
print(costly.index.shape, f"{costly.is_indexable.mean():.1%} indexable")
print(f"{(costly.index > 0).mean():.0%} of pulls are worth their price")

# %% [markdown]
# Where a state is seen at a pull only, what counts is the last state seen and the steps since: `index[:, s*chain + h]`.

# %%
unseen = restive.whittle_index(P, discount=0.9, observation="collapsing", chain=6)
print(unseen.index[0].reshape(2, 6).round(3))
