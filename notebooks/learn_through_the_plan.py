# %% [markdown]
# # The paper's method with a PyTorch network of your own
#
# We know features of people and have logs of the past, in which K of N were called at random. *Two-stage* learning fits
# the transitions by their likelihood and plans afterwards. *Decision-focused* learning trains through the plan: features
# → your network → transitions → Whittle indices → soft choice of K → value by importance sampling on the log, and back.
# The three layers after the network are `restive.torch`'s; everything else is ordinary PyTorch.

# %%
import restive
import restive.torch
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
instances = restive.generate("two-state", seed=1)  # 10 instances of 100 people, 20 calls at each of 9 steps
train, test = instances[:7], instances[8:]


class Lesson:
    """An instance as tensors: features [N,F], states [J,H+1,N], and how often each transition was seen [N,2,2,2]."""

    def __init__(self, instance):
        self.features, self.state = torch.tensor(instance.features), torch.tensor(instance.state)
        self.arms, self.budget = torch.arange(len(self.features)), instance.budget
        action = torch.tensor(instance.action).long()
        self.seen = torch.zeros(len(self.arms), 2, 2, 2)
        self.seen.index_put_((self.arms.expand_as(action), self.state[:, :-1], action, self.state[:, 1:]), torch.ones(()), True)
        self.value_of = restive.torch.Cwpdis(self.state, action, instance.rewards, budget=instance.budget, log_odds=True)


def judge(lesson, network):
    """The value of the soft plan, and the predictive loss per trajectory."""
    P = network(lesson.features).unflatten(-1, (2, 2, 2)).softmax(-1)
    index = restive.torch.whittle_index(P)
    temperature = 0.05 * torch.maximum(index**2, (index + 1) ** 2).max()  # the published one
    scores = index[lesson.arms, lesson.state[:, :-1]]
    log_odds = restive.torch.soft_top_k(scores, lesson.budget, temperature, log_odds=True)  # of a pull; no digit is lost
    return lesson.value_of(log_odds), -(lesson.seen * P.log()).sum() / len(lesson.state)


def learn(value_weight, loss_weight, lessons, epochs=20):
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
    adam = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(epochs):
        for lesson in lessons:
            value, loss = judge(lesson, network)
            adam.zero_grad()
            ((loss_weight * loss - value_weight * value) / len(lesson.arms)).backward()
            adam.step()
    return network


lessons = [Lesson(instance) for instance in train]
two_stage, decision_focused = learn(0.0, 1.0, lessons), learn(0.9, 0.1, lessons)

# %% [markdown]
# By the published metric, the value of the soft plan by importance sampling, decision-focused learning is ahead on people
# it has not seen. What a programme would do, though, is call the K with the highest index, strictly; and as the truth of
# synthetic people is known, we can let the same noise happen to either plan.

# %%
names = {"two-stage": two_stage, "decision-focused": decision_focused}
with torch.no_grad():
    for name, network in names.items():
        metric, loss = torch.tensor([judge(Lesson(instance), network) for instance in test]).mean(0)
        deployed = []
        for instance in test:
            P = network(torch.tensor(instance.features)).unflatten(-1, (2, 2, 2)).softmax(-1)
            index = restive.whittle_index(P.numpy()).index
            run = restive.simulate(instance.P, instance.budget, "strict", index, horizon=9, rollouts=1000)
            deployed.append(run.values.mean())
        strict = sum(deployed) / len(deployed)
        print(f"{name:17} loss {loss:5.0f}   soft, by importance sampling {metric:5.0f}   strict, on the truth {strict:5.0f}")

# %% [markdown]
# Two test instances are few: over the runs of `restive demo` the strict plans of the two are not distinguishable, while
# decision-focused learning wins the metric by 11. The temperature decides what there is to learn. With the published one a
# network climbs the metric by spreading its indices, which ranks nobody better; one that is relative to their spread cannot
# be won that way. But a policy that is nearly strict leaves importance sampling with a handful of trajectories to learn from.
# Over the seeds 1 to 20 of this page (strict plans on the truth, ± 95 %, paired):
#
# | temperature | strict | more than two-stage |
# |---|---|---|
# | `0.1 * index.std()` | 345.0 | −23.0 ± 4.1 |
# | `0.3 * index.std()` | 369.4 | 1.4 ± 1.5 |
# | `1.0 * index.std()` | 369.8 | 1.8 ± 1.7 |
# | `3.0 * index.std()` | 371.6 | 3.6 ± 1.6 |
# | `10 * index.std()` | 371.1 | 3.1 ± 1.5 |
# | as published | 369.4 | 1.5 ± 1.9 |
#
# Two-stage learning has 368.0, calls at random 322.0, and whoever knows everyone's true probabilities 373.7. So take
# `3 * index.std()`, and let the gradient go through it; without the predictive loss (`learn(1.0, 0.0, lessons)`) it has 372.4.
