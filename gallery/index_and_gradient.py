"""The index of an arm, and which way it grows.

Somebody is out of the programme in state 0 and in it in state 1. How much is a call worth to her while she is out, for every chance of
coming back by herself and after a call? All 2,601 arms are solved in one call; the arrows are the exact gradient, by `pullback`.
Below the dashed diagonal, where a call does harm, it is worth less than nothing.
"""

import look
import matplotlib.pyplot as plt
import numpy as np
import restive

chances = np.linspace(0.02, 0.98, 51)
alone, called = np.meshgrid(chances, chances)
P = np.stack([alone, called, np.full_like(alone, 0.6), np.full_like(alone, 0.8)], -1).reshape(-1, 4)
indices = restive.whittle_index(P, discount=0.9)
index = indices.index[:, 0].reshape(alone.shape)
d_P = indices.pullback(np.tile([1.0, 0.0], (len(P), 1))).reshape(*alone.shape, 4)

figure, axes = plt.subplots(figsize=(6.4, 4.8))
lines = axes.contourf(alone, called, index, levels=17, cmap="PuOr_r", vmin=-abs(index).max(), vmax=abs(index).max())
axes.contour(alone, called, index, levels=[0.0], colors="black", linewidths=1.2, linestyles="--")
few = np.s_[5::7, 8:48:7]
arrows = axes.quiver(alone[few], called[few], d_P[few][..., 0], d_P[few][..., 1], angles="xy", width=0.004, pivot="mid")
axes.quiverkey(arrows, 0.8, 1.03, 3.0, "gradient of 3", labelpos="E")
axes.text(0.5, 0.5, "a call changes nothing: index 0", rotation=45, rotation_mode="anchor", transform_rotates_text=True, ha="center", va="center", backgroundcolor="#fafafa", fontsize="small")
axes.set(xlabel="chance to come back, left alone", ylabel="chance to come back, called", title="What a call is worth, and how it grows")
figure.colorbar(lines, label="Whittle index while out")
look.save(figure)

steepest = np.hypot(d_P[..., 0], d_P[..., 1])
print(f"index from {index.min():.3f} to {index.max():.3f}; largest slope {steepest.max():.2f}")
