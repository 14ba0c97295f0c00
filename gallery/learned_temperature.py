"""A temperature that is learnt, and where it runs to.

How soft should the choice of K be while something is trained through it? `soft_top_k` has a gradient by its temperature, so let the value of
the plan by importance sampling decide, here for scores that are the true indices but for noise. It settles at a third of a deviation
where the scores are good. Where they are mostly noise it runs off to a strict policy, whose value rests on a handful of trajectories: the
effective sample size says so, and is what to look at.
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive
import restive.torch
import torch

torch.set_default_dtype(torch.float64)
one = restive.generate("two-state", seed=6, instances=1, trajectories=200)[0]
index = restive.whittle_index(one.P).index
value_of = restive.torch.Cwpdis(one.state, one.action, one.rewards, budget=one.budget, log_odds=True, full=True)
arms, states = np.arange(len(index)), one.state[:, :-1]

figure, (left, right) = plt.subplots(1, 2)
for noise in (0.0, 0.5, 2.0):
    blurred = index + noise * index.std() * np.random.default_rng(1).standard_normal((len(index), 1))
    scores = torch.tensor(blurred[arms, states])
    log_temperature = torch.tensor(np.log(index.std()), requires_grad=True)
    adam, path, sizes = torch.optim.Adam([log_temperature], lr=0.1), [], []
    for _ in range(60):
        value, size, _ = value_of(restive.torch.soft_top_k(scores, one.budget, log_temperature.exp(), log_odds=True))
        path.append(log_temperature.exp().item() / index.std())
        sizes.append(size)
        adam.zero_grad()
        (-value).backward()
        adam.step()
    left.plot(path, label=f"noise {noise:g}")
    right.plot(sizes, label=f"noise {noise:g}")
    print(f"noise {noise:g}: temperature {path[-1]:.2f} standard deviations of the index, value {value.item():.0f} from {sizes[-1]:.0f} of {len(states)} trajectories")
left.set(xlabel="step", ylabel="temperature, in deviations of the index", yscale="log", title="What the value asks for")
right.set(xlabel="step", ylabel="trajectories", title="Effective sample size at the last step")
left.legend()
look.save(figure)
