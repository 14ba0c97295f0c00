# %% [markdown]
# # Off-policy evaluation of your own table
#
# You have a table of people and a table of past decisions: who was in which state when, and who was called. What would another
# way of choosing have brought? Here the tables are made up, so that we can compare with the truth; yours would come from
# `pandas.read_csv`.

# %%
import restive

made_up = restive.generate("two-state", seed=4, instances=1, arms=100, budget=20, horizon=6, trajectories=20)
arms, log, truth = made_up.to_study().to_pandas()
print(log[["trajectory", "t", "arm", "state", "action"]].iloc[[0, 1, 2, 100]].to_string(index=False))

# %% [markdown]
# A study is these tables with what decides: the budget, how long a deployment is, and how people were chosen so far (20 of 100
# at random here). The state of a row is known *before* the action of that row. A model learns from most of the people; the
# others are kept for the judge.

# %%
settings = {"states": 2, "discount": 0.99, "budget": 20, "horizon": 6, "behaviour": "uniform"}
study = restive.Study(arms, log, **settings)
model = restive.TwoStage(predictor="linear", epochs=300).fit(study)

# %% [markdown]
# `evaluate` answers two questions first, by what calls did in the log and never by what the model believes: does the ranking find
# those for whom a call makes a difference, and how much more than random calls would its plan bring? Nobody is judged by a model
# that learnt from them: the recipe is trained anew without each of five folds of people.

# %%
evaluation = model.evaluate(study)
found = evaluation.evidence
gain = found["gain"]
print(f"p = {found['p']:.3f}; {gain['value']:+.1f} [{gain['low']:.1f}, {gain['high']:.1f}] per 100 people, {found['horizon']} steps")
for k in (0, 1, 8, 9):
    effect = found["deciles"][k]["ranked"]
    print(f"tenth {k + 1:2}: a call adds {effect['value']:+.2f} [{effect['low']:+.2f}, {effect['high']:+.2f}] to the next reward")

# %% [markdown]
# A number without what it rests on is half the answer. Where it would not be to be believed there is none: `refused` says why, and
# `what_to_do` what helps.

# %%
print(f"{found['people']} people, {found['calls']} calls, {found['design']}; taken for granted: {found['assumptions'][0]}")

# %% [markdown]
# As the people are made up, the truth is known: `true` are rollouts on the true transitions, of all 100 people.

# %%
known = restive.Study(arms, log, truth, **settings)
for policy, judged in model.evaluate(known).policies.items():
    if "gain_over_random" in judged["true"]:
        gain = judged["true"]["gain_over_random"]
        print(f"{policy:14} {gain['value']:6.1f} [{gain['low']:6.1f}, {gain['high']:6.1f}]")

# %% [markdown]
# A ranking that comes from elsewhere is judged as well, by a number for every person and state; no model of restive is needed.
# Here whoever comes first in the table is called first: that finds nobody.

# %%
import numpy as np

by_place = -np.arange(100.0)
judged = restive.evidence(by_place, study)
print({key: round(judged[key], 2) for key in ("p", "statistic", "detectable")})

# %% [markdown]
# The estimators of the paper are there by name. They need several trajectories, or say nothing of people.

# %%
published = model.evaluate(study, estimators="published").to_pandas()
gains = published[(published["quantity"] == "gain_over_random") & published["policy"].isin(["no-action", "myopic", "model-strict"])]
print(gains[["policy", "estimator", "value", "low", "high"]].round(1).to_string(index=False))

# %% [markdown]
# A choice that comes from elsewhere is judged by its probabilities alone: importance sampling weighs trajectories by how likely
# that choice would have made them. Here whoever is disengaged is called, as far as the budget goes.

# %%
(instance,) = made_up
choice = restive.soft_top_k((instance.state[:, :-1] == 0).astype(float), 20, 0.1)
# log-odds, because a pull near 1 has lost the chance of none
judged = restive.cwpdis(choice.log_odds, instance.state, instance.action, instance.rewards, budget=20, log_odds=True)
print(f"{judged.value:.1f}, from {judged.effective_sample_size:.1f} of {instance.state.shape[0]} trajectories")

# %% [markdown]
# Many choices are judged by one log in one call: pulls `[C,J,H,N]` give `judged.value` `[C]`. Logs of several groups come as `[G,J,H,N]`, with `mask`
# where some groups have fewer arms; `judged.pullback_all()` says how the value moves with pulls, rewards and discount.
