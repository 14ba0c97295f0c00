"""Whittle indices of arrays: two states in closed form, as JAX's own operations; more states by the native kernel.

The closed form is that of `restive._device.two_state`. Its gradient by full arms is taken along the simplex: of a row (q, p) it is that of
p moved by (p - q)/2, so that rows of it sum to zero. An arm with rows that are no distributions, or with settings out of their range, is
NaN where numbers are not known (under `jit`), and an error where they are.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import restive

from ._border import checked, constant, is_traced, layer, setting


def whittle_index(P: Any, rewards: Any = None, discount: Any = 0.99, **settings: Any) -> jax.Array:
    """Whittle indices of N arms.

    Parameters
    ----------
    P : array, [...,N,M,2,M] or compact [...,N,4]
    rewards : [M] or [M,2] for all arms; or, two states, [...,N,M] or [...,N,M,2]; optional
    discount : a number; or, two states, [...,N]
        Of two states with full observation, both may be traced and have gradients; otherwise they are constants.
    settings
        layout, observation, chain, algorithm, beliefs: those of `restive.whittle_index`. Constants.

    Returns
    -------
    array, [...,N,M] (collapsing: [...,N, M*T])

    Examples
    --------
    >>> import jax, restive.jax
    >>> arm = jax.numpy.array([[0.2, 0.8, 0.5, 0.5]])
    >>> slope = jax.grad(lambda g: restive.jax.whittle_index(arm, discount=g)[0, 0])(0.5)
    >>> round(float(slope), 4)  # (0.6/0.85)/0.85
    0.8304
    """
    if "out" in settings:
        raise ValueError("out: found an array, expected none: JAX's arrays cannot be written to")
    P = checked("P", P)
    settings = {name: constant(name, value) for name, value in settings.items()}
    layout, shape = settings.get("layout", "nsas"), P.shape
    states = shape[-3:-1] if layout == "nsas" else shape[-3:-1][::-1]
    is_full = len(shape) >= 4 and states == (shape[-1], 2)
    axes = shape[:-3] if is_full else shape[:-1] if len(shape) >= 2 and shape[-1] == 4 else shape[:1]
    is_plain = settings.get("observation", "full") == "full" and settings.get("algorithm", "auto") in ("auto", "two-state")
    is_closed = is_plain and (shape[-1] == 2 if is_full else shape[len(axes) :] == (4,))
    if not is_closed:
        rewards, discount = constant("rewards", rewards), constant("discount", discount)
        settings = {"rewards": rewards, "discount": discount, **settings}
    # no arms at all: checks settings and shape, and says how many indices an arm has
    none = restive.whittle_index(np.zeros((0, *shape[len(axes) :]) if P.ndim else ()), **settings)
    if not is_closed:
        return _native(P, axes, none.index.shape[1], settings)
    rewards = _rewards(jnp.array([0.0, 1.0]) if rewards is None else rewards, axes, P)
    discount = setting("discount", discount, P)
    if discount.shape not in ((), axes):
        raise ValueError(f"discount: found shape {list(discount.shape)}, expected a number, or {list(axes)}, one for each arm")
    p = _compact(P, layout) if is_full else P
    index = _two_state(p, rewards, discount)
    if not is_traced(P, rewards, discount):
        _say_what_is_wrong(P, rewards, discount, index, settings)
    return index


def _native(P: jax.Array, axes: tuple[int, ...], labels: int, settings: dict[str, Any]) -> jax.Array:
    own = P.shape[len(axes) :]

    def forward(P: np.ndarray) -> np.ndarray:
        return restive.whittle_index(P.reshape(-1, *own), **settings).index.reshape(*P.shape[: -len(own)], labels)

    def backward(d_index: np.ndarray, P: np.ndarray) -> np.ndarray:
        solved = restive.whittle_index(P.reshape(-1, *own), **settings, differentiable=True)
        return solved.pullback(d_index.reshape(-1, labels)).reshape(P.shape)

    return layer(forward, backward, (*axes, labels), P)(P)


def _rewards(rewards: Any, axes: tuple[int, ...], P: jax.Array) -> jax.Array:
    """Rewards [...,2,2], R(s,a), of all arms or of each."""
    rewards = setting("rewards", rewards, P)
    if len(axes) == 1 and rewards.shape == (2, 2) and axes[0] == 2:
        raise ValueError(
            "rewards: found shape [2, 2] for two arms of two states, expected [2] or [2, 2, 2], because it could be R(s,a) of all arms or R(s) "
            "of each: expand it to [N,M,2]"
        )
    if rewards.shape in ((2, 2), (*axes, 2, 2)):
        return rewards
    if rewards.shape in ((2,), (*axes, 2)):
        return jnp.stack([rewards, rewards], -1)
    raise ValueError(f"rewards: found shape {list(rewards.shape)}, expected [2] or [2, 2] for all arms, or with {list(axes)} in front for each")


def _compact(P: jax.Array, layout: str) -> jax.Array:
    """[...,N,4] of full arms [...,N,2,2,2]: chances of moving to state 1; NaN where a row is no distribution."""
    P = jnp.swapaxes(P, -3, -2) if layout == "nass" else P
    q, p = P[..., 0], P[..., 1]
    total = q + p
    miss = jnp.abs(total - 1.0)
    is_fit = (q >= 0.0) & (p >= 0.0) & (miss <= 1e-6)
    scaled = jnp.where(miss > 2 * jnp.finfo(P.dtype).eps, p / total, p)
    along = 0.5 * (p - q)
    value = along + jax.lax.stop_gradient(jnp.where(is_fit, scaled, jnp.nan) - along)
    return value.reshape(*P.shape[:-3], 4)


@jax.jit
def _two_state(p: jax.Array, rewards: jax.Array, discount: jax.Array) -> jax.Array:
    """Indices [...,N,2] of compact arms [...,N,4]."""
    is_fit = ((p >= 0.0) & (p <= 1.0 + 1e-6)).all(-1)
    p = p + jax.lax.stop_gradient(jnp.minimum(p, 1.0) - p)
    p0, p1, p2, p3 = (p[..., k] for k in range(4))
    below_0, below_1 = 1.0 - discount * (p2 - p0), 1.0 - discount * (p3 - p1)
    is_fit &= jnp.isfinite(rewards).all((-1, -2)) & (discount >= 0.0) & (discount <= 1.0)
    has_index = is_fit & (below_0 > 0.0) & (below_1 > 0.0)
    gain = rewards[..., 1] - rewards[..., 0]
    rise = rewards[..., 1, :] - rewards[..., 0, :]
    passive = discount * rise[..., 0] / jnp.where(has_index, below_0, 1.0)
    active = discount * rise[..., 1] / jnp.where(has_index, below_1, 1.0)
    delta_0, delta_1 = p1 - p0, p3 - p2
    is_zero_lower = gain[..., 0] + delta_0 * active <= gain[..., 1] + delta_1 * active
    index_0 = gain[..., 0] + delta_0 * jnp.where(is_zero_lower, active, passive)
    index_1 = gain[..., 1] + delta_1 * jnp.where(is_zero_lower, passive, active)
    return jnp.where(has_index[..., None], jnp.stack([index_0, index_1], -1), jnp.nan)


def _say_what_is_wrong(P: Any, rewards: Any, discount: Any, index: Any, settings: dict[str, Any]) -> None:
    """An index that is NaN has a reason, which the native module says; none where the arm has no average reward."""
    is_nan = np.isnan(np.asarray(index)).any(-1)
    if not is_nan.any():
        return
    arms, n = np.asarray(P, dtype=np.float64).reshape(is_nan.size, *P.shape[is_nan.ndim :]), is_nan.size
    r, g = np.broadcast_to(rewards, (*is_nan.shape, 2, 2)).reshape(n, 2, 2), np.broadcast_to(discount, is_nan.shape).reshape(n)
    if rewards.ndim == 2 and discount.ndim == 0:
        restive.whittle_index(arms, r[0], float(g[0]), **settings)
    for k in np.flatnonzero(is_nan):
        restive.whittle_index(arms[k : k + 1], r[k], float(g[k]), **settings)
