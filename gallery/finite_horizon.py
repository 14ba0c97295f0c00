"""A programme that ends, and what nobody can exceed.

A call in the last weeks has little time to pay, which a Whittle index, made for programmes without an end, does not know. Prices for the
calls of each step do, and come with a bound on every plan whatsoever. How far do plans get from no calls to that bound?
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive

one = restive.generate("two-state", seed=9, instances=1)[0]
P, budget = one.P, one.budget
initial = np.arange(len(P)) % 2
horizons = [2, 3, 4, 6, 9, 14, 20]
shares = {"prices of each step": [], "Whittle index": [], "random calls": []}
for horizon in horizons:
    plan = restive.plan_prices(P, initial, budget, horizon)
    live = lambda policy, index=None: restive.simulate(
        P, budget, policy, index, discount=1.0, horizon=horizon, rollouts=20_000, initial=initial, seed=1
    ).values.mean()
    alone = live("no-action")
    whittle = restive.whittle_index(P).index
    for name, value in [("prices of each step", live("strict", plan.advantage)), ("Whittle index", live("strict", whittle)), ("random calls", live("random"))]:
        shares[name].append(100 * (value - alone) / (plan.bound - alone))

figure, axes = plt.subplots()
markers = ["^", "s", "o"]
for name, line in shares.items():
    axes.plot(horizons, line, marker=markers.pop(), markersize=5, label=name)
axes.axhline(100, color="black", linewidth=0.8, zorder=1)
axes.text(20, 101.5, "the bound: nobody can do better", va="bottom", ha="right")
axes.set(xlabel="weeks until the programme ends", ylabel="% of the way from no calls to the bound", ylim=(50, 107), title="Plans against what no plan exceeds", xticks=horizons)
axes.legend(loc="center right")
look.save(figure)
print(", ".join(f"{name} {line[2]:.1f} %" for name, line in shares.items()), f"of the way in {horizons[2]} weeks")
