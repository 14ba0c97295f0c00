"""A network of your own, trained through the decision.

features -> your network -> transitions -> Whittle indices -> soft choice of K -> value by importance sampling, and back. Every epoch
the strict plan of the network is rolled out on the true transitions, which a synthetic programme has.
"""

import look
import matplotlib.pyplot as plt
import restive
import restive.torch
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
instances = restive.generate("two-state", seed=3, instances=6, features_kept=6, trajectories=40)
train, test = instances[:5], instances[5]
rolled = {"horizon": 9, "rollouts": 400, "seed": 5}


def predict(network, instance):
    return network(torch.tensor(instance.features)).unflatten(-1, (2, 2, 2)).softmax(-1)


def seen(instance):
    """How often each transition was seen, [N,2,2,2]."""
    state, action = torch.tensor(instance.state), torch.tensor(instance.action).long()
    arm = torch.arange(state.shape[-1]).expand_as(action)
    return torch.zeros(state.shape[-1], 2, 2, 2).index_put_((arm, state[:, :-1], action, state[:, 1:]), torch.ones(()), True)


def learn(through_the_plan, epochs=30):
    torch.manual_seed(2)
    network = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8))
    adam, curve = torch.optim.Adam(network.parameters(), lr=0.02), []
    lessons = [(one, seen(one), restive.torch.Cwpdis(one.state, one.action, one.rewards, budget=one.budget, log_odds=True)) for one in train]
    for _ in range(epochs):
        index = restive.whittle_index(predict(network, test).detach().numpy()).index
        curve.append(restive.simulate(test.P, test.budget, "strict", index, **rolled).values.mean())
        for one, counts, value_of in lessons:
            P = predict(network, one)
            loss = -(counts * P.log()).sum() / len(one.state)
            if through_the_plan:
                index = restive.torch.whittle_index(P)
                scores = index[torch.arange(len(index)), torch.tensor(one.state)[:, :-1]]
                log_odds = restive.torch.soft_top_k(scores, one.budget, 3 * index.std(), log_odds=True)
                loss = 0.1 * loss - 0.9 * value_of(log_odds)
            adam.zero_grad()
            loss.backward()
            adam.step()
    return curve


curves = {"decision-focused": learn(True), "two-stage": learn(False)}
chance = restive.simulate(test.P, test.budget, "random", **rolled).values.mean()
best = restive.simulate(test.P, test.budget, "strict", restive.whittle_index(test.P).index, **rolled).values.mean()

figure, axes = plt.subplots()
for name, curve in curves.items():
    axes.plot([100 * (value - chance) / (best - chance) for value in curve], label=name)
axes.axhline(100, color="black", linewidth=0.8)
axes.text(0, 101, "a plan that knows everybody's true chances", va="bottom")
axes.set(xlabel="epoch", ylabel="% of the way from random calls", title="Strict plans on the truth, for people not seen in training", ylim=(None, 112))
axes.legend(loc="lower right")
look.save(figure)
print(", ".join(f"{name} {100 * (curve[-1] - chance) / (best - chance):.0f} %" for name, curve in curves.items()), "of the way")
