"""What a quota costs.

Calls do less for people of group B, who are further away; a plan by rank hardly ever reaches them. Places can be kept for them: of each
week's list a share is filled from B by rank, the rest from everybody. How much of the programme's result does a share cost, and how often
is somebody of B called?
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive

people, budget, weeks, runs = 300, 30, 12, 60
rng = np.random.default_rng(8)
is_b = np.arange(people) % 3 == 0
alone = rng.beta(2, 3, (people, 2)) * 0.6 + [0.0, 0.3]
helped = alone + rng.beta(1, 2, (people, 2)) * (1 - alone) * np.where(is_b, 0.45, 1.0)[:, None]
P = np.stack([alone[:, 0], helped[:, 0], alone[:, 1], helped[:, 1]], 1)
index = restive.whittle_index(P, discount=0.95).index
luck = rng.random((weeks, runs, people))


def live(places_of_b):
    """Engaged weeks of each run, and the share of calls to B, where so many places are kept for B."""
    state, engaged, to_b = np.zeros((runs, people), int), np.zeros(runs), 0.0
    for t in range(weeks):
        score = index[np.arange(people), state]
        kept = restive.strict_top_k(np.where(is_b, score, -np.inf), places_of_b, seed=t).pull if places_of_b else np.zeros_like(state, bool)
        rest = restive.strict_top_k(np.where(kept, -np.inf, score), budget - places_of_b, seed=t).pull
        call = kept | rest
        state = (luck[t] < P[np.arange(people), 2 * state + call]).astype(int)
        engaged += state.sum(1)
        to_b += call[:, is_b].sum() / (runs * weeks * budget)
    return engaged, to_b


places = range(0, budget + 1, 3)
found = [live(k) for k in places]
shares = [100 * to_b for _, to_b in found]
cost = np.array([engaged - found[0][0] for engaged, _ in found])  # the same luck: runs are paired
mean, error = cost.mean(1), 1.96 * cost.std(1, ddof=1) / np.sqrt(runs)

figure, (left, right) = plt.subplots(1, 2)
left.plot(places, shares, marker="o", markersize=3)
left.axhline(100 * is_b.mean(), color="black", linewidth=0.8)
left.text(30, 100 * is_b.mean() - 1, "their share of the people", va="top", ha="right")
left.set(xlabel=f"places of {budget} kept for B", ylabel="% of calls to B", title="Whom the list reaches", ylim=(0, 105))
right.errorbar(places, mean, error, marker="o", markersize=3, capsize=2)
right.set(xlabel=f"places of {budget} kept for B", ylabel="change in engaged weeks", title="What it costs (95 %)")
look.save(figure)
fair = next(k for k, share in enumerate(shares) if share >= 100 * is_b.mean())
print(f"without a quota {shares[0]:.0f} % of calls go to B, who are {100 * is_b.mean():.0f} % of the people; {places[fair]} places for them "
      f"make it {shares[fair]:.0f} % and cost {-mean[fair]:.0f} ± {error[fair]:.0f} of {found[0][0].mean():.0f} engaged weeks")  # fmt: skip
