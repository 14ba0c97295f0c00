"""Off-policy evaluation of your own table, beside OBP.

A log of random calls; what would other policies have brought? OBP (the Open Bandit Pipeline) judges every decision by what comes next, as a
bandit; `restive.cwpdis` weighs whole trajectories and sees what a call does in later weeks, at the price of resting on fewer and fewer of
them. People who are brought back mostly stay here, so most of what a call does comes later. They are made up, so the truth is known.
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive
from obp.ope import SelfNormalizedInverseProbabilityWeighting
from restive import convert

rng, people, budget, weeks = np.random.default_rng(2), 100, 20, 6
# chances of being in next week: (out, left alone), (out, called), (in, left alone), (in, called)
P = np.stack([np.full(people, 0.05), rng.uniform(0.05, 0.9, people), np.full(people, 0.93), np.full(people, 0.95)], 1)
start = rng.integers(2, size=people)
log = restive.simulate(P, budget, "random", horizon=weeks, rollouts=400, keep_trajectories=True, initial=start, seed=3)
one = restive.Instance(
    features=np.zeros((people, 0)), state=log.state, action=log.action, propensity=log.propensity, rewards=np.array([[0.0, 0.0], [1.0, 1.0]]), budget=budget, discount=1.0
)
index = restive.whittle_index(P, discount=0.9).index
rounds = convert.to_obp(one)
whose = rounds["restive"]
came = whose["after"][:, 1]  # in the programme the week after


def by_obp(pull):
    chances = pull[whose["trajectory"], whose["step"], whose["arm"]]
    policy = np.stack([1 - chances, chances], 1)[:, :, None]
    estimator = SelfNormalizedInverseProbabilityWeighting()
    return estimator.estimate_policy_value(reward=came, action=rounds["action"], pscore=rounds["pscore"], action_dist=policy, position=np.zeros(len(came), int))


def by_cwpdis(soft):
    judged = restive.cwpdis(soft.log_odds, one.state, one.action, [0.0, 1.0], budget=budget, discount=1.0, log_odds=True)
    return judged.value / (people * (weeks - 1)), judged.effective_sample_size  # the first week is as it was


def truth(temperature):
    run = restive.simulate(P, budget, "soft", index, temperature=temperature, discount=1.0, horizon=weeks, rollouts=4000, initial=start)
    return run.values.mean() / (people * (weeks - 1))


temperatures = index.std() * np.array([1e3, 3.0, 1.5, 0.8, 0.5])  # from random to sharper and sharper
scores = index[np.arange(people), one.state[:, :-1]]
soft = [restive.soft_top_k(scores, budget, e) for e in temperatures]
whole, sizes = zip(*(by_cwpdis(one) for one in soft))
values = {
    "truth": [truth(e) for e in temperatures],
    "restive.cwpdis, whole trajectories": whole,
    "OBP, the next week alone": [by_obp(one.pull) for one in soft],
}
gains = {name: 100 * (np.array(line) - line[0]) for name, line in values.items()}

figure, axes = plt.subplots(figsize=(6.4, 4.2))
axes.margins(x=0.07)
axes.plot(gains["truth"], gains["truth"], color="black", linewidth=0.8, linestyle="-", label="right")
for marker, name in zip("os", list(values)[1:]):
    axes.plot(gains["truth"], gains[name], marker=marker, markersize=5, label=name)
for x, y, size in zip(gains["truth"], gains["restive.cwpdis, whole trajectories"], sizes):
    axes.annotate(f"{size:.0f}", (x, y), (4, -11), textcoords="offset points")
axes.set(xlabel="true gain over random calls, % of person-weeks", ylabel="estimated gain, % of person-weeks", title="Sharper and sharper policies, judged from a log of random calls")
axes.legend(title="numbers: of 400 trajectories, how many the estimate is worth", title_fontsize="small", alignment="left")
look.save(figure)
print("gain of the sharpest: " + ", ".join(f"{name} {line[-1]:.1f}" for name, line in gains.items()) + " % of person-weeks")
print("effective sample sizes, from random to sharpest: " + ", ".join(f"{size:.0f}" for size in sizes) + " of 400 trajectories")
