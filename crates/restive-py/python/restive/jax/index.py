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

from ._border import checked, constant, is_traced, layer, setting, stand_in


def whittle_index(P: Any, rewards: Any = None, discount: Any = 0.99, **settings: Any) -> jax.Array:
    """Whittle indices of N arms.

    Parameters
    ----------
    P : array, [...,N,M,2,M] or compact [...,N,4]
    rewards : [M] or [M,2] for all arms, or [...,N,M] or [...,N,M,2], optional
    discount : a number, or [...,N]
        Gradients go through both.
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
    if settings.get("horizon") is not None:
        raise ValueError(f"horizon: found {settings['horizon']}, expected None: indices of a horizon are those of restive.horizon_index")
    given = (P, rewards, discount)
    P = checked("P", P)
    settings = {name: constant(name, value) for name, value in settings.items()}
    layout, shape = settings.get("layout", "nsas"), P.shape
    states = shape[-3:-1] if layout == "nsas" else shape[-3:-1][::-1]
    is_full = len(shape) >= 4 and states == (shape[-1], 2)
    axes = shape[:-3] if is_full else shape[:-1] if len(shape) >= 2 and shape[-1] == 4 else shape[:1]
    is_plain = settings.get("observation", "full") == "full" and settings.get("algorithm", "auto") in ("auto", "two-state")
    is_closed = is_plain and (shape[-1] == 2 if is_full else shape[len(axes) :] == (4,))
    rate = setting("discount", discount, P)
    # no arms at all: checks settings and shape, and says how many indices an arm has; a shape that does not fit is shown as it is
    fits = is_full or (len(shape) >= 2 and shape[-1] == 4)
    known = {"discount": float(discount)} if rate.ndim == 0 and not is_traced(rate) else {}
    none = restive.whittle_index(np.zeros((0, *shape[len(axes) :]) if fits else shape), **known, **settings)
    states = 2 if not is_full else shape[-1]
    rewards = _rewards(np.arange(states) / max(states - 1, 1) if rewards is None else rewards, axes, states, P)
    if rewards is None:
        _refuse(*given, states, settings)
    discount = rate
    if discount.shape not in ((), axes):
        _refuse(*given, states, settings)
    if not is_closed and not is_traced(P, rewards, discount):
        _, rewards, discount = (stand_in(value, 0.0) for value in given)  # as they came, for what is said of them
        return jnp.asarray(restive.whittle_index(np.asarray(P), rewards, discount, **settings).index, dtype=P.dtype)
    if not is_closed:
        return _native(P, rewards, discount, axes, none.index.shape[1], settings)
    p = _compact(P, layout) if is_full else P
    index = _two_state(p, rewards, discount)
    if not is_traced(P, rewards, discount) and np.isnan(np.asarray(index)).any():
        _refuse(*given, states, settings)  # unless the arm has no average reward
    return index


def _native(
    P: jax.Array, rewards: jax.Array, discount: jax.Array, axes: tuple[int, ...], labels: int, settings: dict[str, Any]
) -> jax.Array:
    """By the native module. Settings that all arms share stay shared, unless a batch of `vmap` has its own."""
    own, table = P.shape[len(axes) :], rewards.shape[-2:]
    shared = (rewards.ndim == 2, discount.ndim == 0)

    def solve(P: np.ndarray, rewards: np.ndarray, discount: np.ndarray, **how: Any) -> Any:
        batch = P.shape[: -len(own) - len(axes)]
        arms = (*batch, *axes)
        r = rewards.reshape(*batch, *([1] * len(axes) if shared[0] else axes), *table)
        g = discount.reshape(*batch, *([1] * len(axes) if shared[1] else axes))
        r, g = np.broadcast_to(r, (*arms, *table)).reshape(-1, *table), np.broadcast_to(g, arms).reshape(-1)
        if not batch and shared[0] and len(r) != 2:
            r = rewards
        if not batch and shared[1]:
            g = float(discount)
        return restive.whittle_index(P.reshape(-1, *own), r, g, **settings, **how), batch

    def forward(*arguments: np.ndarray) -> np.ndarray:
        solved, batch = solve(*arguments)
        return solved.index.reshape(*batch, *axes, labels)

    def backward(d_index: np.ndarray, *arguments: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        solved, batch = solve(*arguments, differentiable=True)
        d_P, d_rewards, d_discount = solved.pullback_all(d_index.reshape(-1, labels))
        if np.ndim(d_rewards) == 3:
            d_rewards = d_rewards.reshape(*batch, -1, *table)
            d_rewards = d_rewards.sum(len(batch)) if shared[0] else d_rewards
        if np.ndim(d_discount) == 1:
            d_discount = d_discount.reshape(*batch, -1)
            d_discount = d_discount.sum(-1) if shared[1] else d_discount
        return tuple(np.reshape(d, x.shape) for d, x in zip((d_P, d_rewards, d_discount), arguments))

    return layer(forward, backward, (*axes, labels), P)(P, rewards, discount)


def _rewards(rewards: Any, axes: tuple[int, ...], m: int, P: jax.Array) -> jax.Array | None:
    """Rewards [...,M,2], R(s,a), of all arms or of each; none where they do not fit."""
    rewards = setting("rewards", rewards, P)
    if len(axes) == 1 and rewards.shape == (2, 2) == (axes[0], m):
        raise ValueError(
            "rewards: found shape [2, 2] for two arms of two states, expected [2] or [2, 2, 2], because it could be R(s,a) of all arms or R(s) "
            "of each: expand it to [N,M,2]"
        )
    if rewards.shape in ((m, 2), (*axes, m, 2)):
        return rewards
    if rewards.shape in ((m,), (*axes, m)):
        return jnp.stack([rewards, rewards], -1)
    return None


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
    # the largest reward that the native module takes, where the type has it
    largest = min(1e100, float(jnp.finfo(p.dtype).max))
    is_fit &= (jnp.abs(rewards) <= largest).all((-1, -2)) & (discount >= 0.0) & (discount <= 1.0)
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


def _refuse(P: Any, rewards: Any, discount: Any, m: int, settings: dict[str, Any]) -> None:
    """Has the native module say what is wrong, of what is known."""
    restive.whittle_index(stand_in(P, 1.0 / m), stand_in(rewards, 0.0), stand_in(discount, 0.5), **settings)
