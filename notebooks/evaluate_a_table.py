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
# `evaluate` judges its plan beside others, by every estimator that applies, with intervals, on people who were not learnt from.

# %%
evaluation = model.evaluate(study)
frame = evaluation.to_pandas()
gains = frame[(frame["quantity"] == "gain_over_random") & frame["policy"].isin(["no-action", "myopic", "model-strict"])]
print(gains[["policy", "estimator", "value", "low", "high"]].round(1).to_string(index=False))

# %% [markdown]
# A number without what it rests on is half the answer: `about` says it, and what each estimator cannot see.

# %%
about = evaluation.about
print(about["arms"], "people,", about["budget"][0], "calls a step;", about["propensities"])
for name, rests_on in about["estimators"].items():
    print(f"{name:10} {rests_on['judges_by']}")

# %% [markdown]
# As the people are made up, the truth is known: `true` are rollouts on the true transitions.

# %%
known = restive.Study(arms, log, truth, **settings)
for policy, judged in model.evaluate(known).policies.items():
    if "gain_over_random" in judged["true"]:
        gain = judged["true"]["gain_over_random"]
        print(f"{policy:14} {gain['value']:6.1f} [{gain['low']:6.1f}, {gain['high']:6.1f}]")

# %% [markdown]
# A choice that comes from elsewhere is judged by its probabilities alone: importance sampling weighs trajectories by how likely
# that choice would have made them. Here whoever is disengaged is called, as far as the budget goes.

# %%
(instance,) = made_up
choice = restive.soft_top_k((instance.state[:, :-1] == 0).astype(float), 20, 0.1)
# log-odds, because a pull near 1 has lost the chance of none
judged = restive.cwpdis(choice.log_odds, instance.state, instance.action, instance.rewards, budget=20, log_odds=True)
print(f"{judged.value:.1f}, from {judged.effective_sample_size:.1f} of {instance.state.shape[0]} trajectories")
