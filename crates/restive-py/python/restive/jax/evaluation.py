"""Values of policies by importance sampling, as JAX's own operations: pulls, log, rewards and discount may all be traced.

    value = Σ_t γ^t Σ_i Σ_j w_tij r_tij        w_tij = ρ_tij/Σ_j' ρ_tij'        ρ_tij = Π_{t'≤t} π(logged action)/propensity

Of log-odds the logarithms of the ratios are added up, so that no chance is too small, in float32 either. Of pulls the ratios are multiplied and scaled to
mean 1 at every step, without logarithms, so that the slope by a pull of exactly 0 or 1 is right too. A trajectory whose reward is not known takes no part
in the average, and where nothing is left the term is dropped.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import restive
from restive._deprecated import renamed

from ._border import checked, constant, setting, stand_in


class Judged(NamedTuple):
    """A value by importance sampling, and how much it rests on."""

    value: jax.Array
    """Without axes; NaN where every term was dropped, because then nothing is known."""
    effective_sample_size: jax.Array
    """How many equally weighted trajectories the ratios are worth at the last step, on average over the arms."""
    dropped: jax.Array
    """How many of the terms, one for each arm and step, were dropped."""


@renamed(k="budget", reward="rewards")
def cwpdis(
    pull: Any,
    state: Any,
    action: Any,
    rewards: Any,
    budget: Any = None,
    propensity: Any = None,
    discount: Any = 0.99,
    *,
    ratio_up_to: str = "this-step",
    log_odds: bool = False,
    full: bool = False,
) -> jax.Array | Judged:
    """What a target policy would have earned, judged from a log: consistent weighted per-decision importance sampling.

    Parameters
    ----------
    pull : array, [J,H,N]
        Probabilities with which the target pulls each arm in the logged states, or (`log_odds=True`) their log-odds.
    state : [J,H+1,N] or [J,H,N]
    action : [J,H,N] or [J,H+1,N]
    rewards : [M], [M,2] or [J,H,N]
    budget, propensity, discount, ratio_up_to, log_odds
        Those of `restive.cwpdis`.
    full : bool
        Whether to answer with effective sample size and dropped terms too, through which no gradient goes.

    Returns
    -------
    value : array without axes, or `Judged`

    Notes
    -----
    Gradients go through pulls, rewards, propensity and discount. What is known when the function is traced is checked then; of what is traced, the shapes.
    """
    pull, budget = checked("pull", pull), constant("budget", budget)
    known = {
        "state": stand_in(state, 0),
        "action": stand_in(action, 0),
        "rewards": stand_in(rewards, 0.0),
        "budget": budget,
        "propensity": stand_in(propensity, 0.5),
        "discount": stand_in(discount, 0.5),
    }
    restive.cwpdis(stand_in(pull, 0.5), **known, ratio_up_to=ratio_up_to, log_odds=log_odds)  # checks what can be
    h, n = pull.shape[1:]
    state, action = (_whole(x)[:, :h] for x in (state, action))
    rewards = setting("rewards", rewards, pull)
    if propensity is None:
        chance = jnp.where(action == 1, jnp.asarray(budget / n, pull.dtype), jnp.asarray(1.0 - budget / n, pull.dtype))
    else:
        chance = setting("propensity", propensity, pull)
    if rewards.ndim == 3:
        is_known, earned = jnp.isfinite(rewards), rewards
    else:
        table = rewards if rewards.ndim == 2 else jnp.stack([rewards, rewards], -1)
        is_either = (table[:, 0] == table[:, 1])[jnp.maximum(state, 0)]
        is_known = (state >= 0) & ((action >= 0) | is_either)
        by_action = table[jnp.maximum(state, 0)]
        earned = jnp.where(action == 1, by_action[..., 1], jnp.where(action == 0, by_action[..., 0], by_action.mean(-1)))
    earned = jnp.where(is_known, earned, 0.0)
    discount = setting("discount", discount, pull)
    value, sizes, dropped = _judged(pull, action, chance, earned, is_known, discount, ratio_up_to == "previous-step", log_odds)
    if not full:
        return value
    return Judged(value, jax.lax.stop_gradient(sizes), dropped)


@functools.partial(jax.jit, static_argnums=(6, 7))
def _judged(
    pull: jax.Array,
    action: jax.Array,
    chance: jax.Array,
    earned: jax.Array,
    is_known: jax.Array,
    discount: jax.Array,
    previous: bool,
    log_odds: bool,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The value [], the effective sample size at the last step, and how many terms were dropped."""
    share = (_of_log_odds if log_odds else _of_pulls)(pull, action, chance, is_known, previous)  # [J,H,N]
    squares = (share * share).sum(0)
    has_term = squares > 0.0
    weight = jnp.cumprod(jnp.concatenate([jnp.ones(1, pull.dtype), jnp.broadcast_to(discount, (pull.shape[1] - 1,))]))
    value = jnp.where(has_term.any(), ((share * earned).sum((0, 2)) * weight).sum(), jnp.nan)
    sizes = jnp.where(has_term[-1], 1.0 / jnp.where(has_term[-1], squares[-1], 1.0), 0.0).mean()
    return value, sizes, (~has_term).sum().astype(jnp.int32)


def _whole(values: Any) -> jax.Array:
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(np.int64).filled(-1)
    return jnp.asarray(values).astype(jnp.int32)


def _later(factor: jax.Array, nothing: float, previous: bool) -> jax.Array:
    """The factor of each step, or that of the decision before it."""
    return jnp.concatenate([jnp.full_like(factor[:, :1], nothing), factor[:, :-1]], 1) if previous else factor


def _of_log_odds(z: jax.Array, action: jax.Array, chance: jax.Array, is_known: jax.Array, previous: bool) -> jax.Array:
    """Shares [J,H,N] of targets that come as log-odds."""
    acts = action >= 0
    log = jax.nn.log_sigmoid(jnp.where(action == 1, z, -z)) - jnp.log(jnp.where(acts, chance, 1.0))
    ratio = jnp.cumsum(_later(jnp.where(acts, log, 0.0), 0.0, previous), 1)
    counts = is_known & (ratio > -jnp.inf)
    top = jax.lax.stop_gradient(jnp.where(counts, ratio, -jnp.inf).max(0))
    height = jnp.where(counts, ratio - jnp.where(top > -jnp.inf, top, 0.0), 0.0)
    weight = jnp.where(counts, jnp.exp(height), 0.0)
    return _shares(weight)


def _of_pulls(pull: jax.Array, action: jax.Array, chance: jax.Array, is_known: jax.Array, previous: bool) -> jax.Array:
    """Shares [J,H,N] of targets that come as pulls."""
    acts = action >= 0
    factor = jnp.where(acts, jnp.where(action == 1, pull, 1.0 - pull) / jnp.where(acts, chance, 1.0), 1.0)

    def step(ratio: jax.Array, factor: jax.Array) -> tuple[jax.Array, jax.Array]:
        ratio = ratio * factor
        mean = ratio.mean(0)
        scale = jax.lax.stop_gradient(jnp.where(mean > 0.0, mean, 1.0))
        return ratio / scale, ratio / scale

    factors = jnp.swapaxes(_later(factor, 1.0, previous), 0, 1)
    _, ratios = jax.lax.scan(step, jnp.ones_like(factors[0]), factors)
    return _shares(jnp.where(is_known, jnp.swapaxes(ratios, 0, 1), 0.0))


def _shares(weight: jax.Array) -> jax.Array:
    total = weight.sum(0)
    return jnp.where(total > 0.0, weight / jnp.where(total > 0.0, total, 1.0), 0.0)
