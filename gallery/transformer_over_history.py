"""A transformer over people's own histories.

Nothing is known of anybody but what she did in past weeks: in or out, called or not. People come in four kinds that nobody has named. A small
transformer reads a history and says where she will go next with a call and without; it learns from other people's histories by plain likelihood.
Its predictions become Whittle indices, and the strict plan is rolled out on the truth, for people whom it has never seen, after more and more
weeks on record. It gets about as far as counting does (each one's own weeks, and two weeks of what the people in training did). Somebody who
knew the four kinds would get further: a history says more than this reader has learnt from 2,000 people.
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive
import torch
from torch import nn

torch.manual_seed(0)
people, weeks, budget = 400, 24, 80
rng = np.random.default_rng(4)


# chances of being in next week: (out, left alone), (out, called), (in, left alone), (in, called)
KINDS = np.array([[0.1, 0.7, 0.5, 0.9], [0.5, 0.6, 0.85, 0.9], [0.1, 0.15, 0.4, 0.5], [0.2, 0.3, 0.5, 0.95]])


def programme(people):
    """Arms of the four kinds and a little of their own, [N,4], and a log of random calls: states [T+1,N], calls [T,N]."""
    P = np.clip(KINDS[rng.integers(4, size=people)] + rng.normal(0, 0.04, (people, 4)), 0.02, 0.98)
    state, call = np.zeros((weeks + 1, people), int), rng.random((weeks, people)) < 0.3
    for t in range(weeks):
        state[t + 1] = rng.random(people) < P[np.arange(people), 2 * state[t] + call[t]]
    return P, torch.tensor(state), torch.tensor(call).long()


class Reader(nn.Module):
    """Chances of being in next week, [N,T+1,4], from the weeks before."""

    def __init__(self, width=32):
        super().__init__()
        self.token = nn.Embedding(9, width)  # state, call, next state; and the beginning
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(width, 4)

    def forward(self, state, call):
        moved = (4 * state[:-1] + 2 * call + state[1:]).T
        tokens = torch.cat([torch.full_like(moved[:, :1], 8), moved], 1)
        # no position: what counts is how often, and the mask says what came before
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.body(self.token(tokens), mask, is_causal=True)).sigmoid()


_, state, call = programme(2000)
typical = [state[1:][2 * state[:-1] + call == row].double().mean().item() for row in range(4)]  # what a planner knows of anybody
reader = Reader()
adam = torch.optim.Adam(reader.parameters(), lr=3e-3)
row, came = 2 * state[:-1].T + call.T, state[1:].T.float()
for step in range(300):
    chosen = torch.randint(len(row), (200,))
    chance = reader(state[:, chosen], call[:, chosen])[:, :-1].gather(2, row[chosen][..., None])[..., 0]
    loss = nn.functional.binary_cross_entropy(chance, came[chosen])
    adam.zero_grad()
    loss.backward()
    adam.step()

P, state, call = programme(people)
with torch.no_grad():
    read = reader(state, call).double().numpy()


def counted(t):
    """How often each was seen to go where by week t, [N,4,2]: to out, to in."""
    seen = np.zeros((people, 4, 2))
    np.add.at(seen, (np.arange(people)[None], (2 * state[:t] + call[:t]).numpy(), state[1 : t + 1].numpy()), 1)
    return seen


def own_shares(t):
    """Everybody's own counts, and two weeks of what the people in training did."""
    seen = counted(t)
    return (seen[..., 1] + 2 * np.array(typical)) / (seen.sum(-1) + 2)


def by_kinds(t):
    """What somebody would say who knows the four kinds: the mean over those that a history may come from."""
    logs = np.einsum("nri,kri->nk", counted(t), np.log(np.stack([1 - KINDS, KINDS], -1)))
    odds = np.exp(logs - logs.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True) @ KINDS


def worth(index):
    run = restive.simulate(P, budget, "strict", index, horizon=12, rollouts=200, initial=state[-1].numpy(), seed=1)
    return run.values.mean()


chance = restive.simulate(P, budget, "random", horizon=12, rollouts=200, initial=state[-1].numpy(), seed=1).values.mean()
best = worth(restive.whittle_index(P).index)
share = lambda chances: 100 * (worth(restive.whittle_index(chances).index) - chance) / (best - chance)
times = [1, 2, 4, 8, 12, 18, 24]
ways = {"transformer": lambda t: read[:, t], "each one's own counts": own_shares, "somebody who knows the four kinds": by_kinds}
shares = {name: [share(chances(t)) for t in times] for name, chances in ways.items()}

figure, axes = plt.subplots()
for name, line in shares.items():
    axes.plot(times, line, marker="o", markersize=3, label=name)
axes.axhline(100, color="black", linewidth=0.8)
axes.text(1, 101, "a plan that knows everybody's true chances", va="bottom")
axes.set(xlabel="weeks on record", ylabel="% of the way from random calls", title="Plans from people's own histories alone", ylim=(0, 112))
axes.legend(loc="lower right")
look.save(figure)
for k in (2, -1):
    print(f"after {times[k]} weeks: " + ", ".join(f"{name} {line[k]:.0f} %" for name, line in shares.items()))
