"""Values of policies by importance sampling, as JAX's own operations: pulls, log, rewards, budget, discount and mask may all be traced.

    value = Σ_t γ^t Σ_i Σ_j share_tij r_tij

with the shares of `_shares`. Pulls are [...,J,H,N]; axes in front are problems of their own, and whatever else a log has comes with the same axes or without
them, shared by all, so that its cotangent is the sum of theirs. An arm that is absent from a decision is one of which nothing is recorded there: it did
not act, what it earned is not known, and K arms at random are K of those that were there. A term of whom nothing is left is dropped.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import restive
from restive._deprecated import renamed

from . import _shares
from ._border import checked, is_traced, setting, stand_in


class Judged(NamedTuple):
    """A value by importance sampling, and how much it rests on."""

    value: jax.Array
    """Without axes, or [...]; NaN where every term was dropped, because then nothing is known."""
    effective_sample_size: jax.Array
    """How many equally weighted trajectories the ratios are worth at the last step, on average over the arms that are there."""
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
    mask: Any = None,
    full: bool = False,
) -> jax.Array | Judged:
    """What a target policy would have earned, judged from a log: consistent weighted per-decision importance sampling.

    Parameters
    ----------
    pull : array, [...,J,H,N]
        Probabilities with which the target pulls each arm in the logged states, or (`log_odds=True`) their log-odds. Axes in front are problems of
        their own; a log without them is shared by all, as when many targets are judged by one log.
    state : [...,J,H+1,N] or [...,J,H,N]
    action : [...,J,H,N] or [...,J,H+1,N]
    rewards : [M], [M,2] or [...,J,H,N]
    budget : a whole number, or [...], one for each problem
        A number with a fraction's type (1.0) is refused where it is known. Traced it may have any type, and what is not whole is NaN.
    propensity : [...,J,H,N]
    discount : a number, or [...], one for each problem
    ratio_up_to, log_odds
        Those of `restive.cwpdis`.
    mask : bool array, [N] or what broadcasts to the shape of pull, optional
        Whether each arm is there. One that is not adds nothing and gets no gradient, whatever its entries say, and the others are judged as if it did
        not exist; a budget is then that of the arms that are there.
    full : bool
        Whether to answer with effective sample size and dropped terms too, through which no gradient goes.

    Returns
    -------
    value : array without axes, or [...]; or `Judged`

    Notes
    -----
    Gradients go through pulls, rewards, propensity and discount, summed over the problems that share them. What is known when the function is traced is
    checked then; of what is traced, the shapes, and a problem with what is wrong in its numbers is NaN.

    Examples
    --------
    >>> import jax, restive.jax
    >>> state = jax.numpy.array([[[0, 1], [1, 1]], [[1, 0], [0, 0]]])  # two trajectories, two steps, two arms
    >>> action = jax.numpy.array([[[1, 0]], [[0, 1]]])
    >>> pull = jax.numpy.full((2, 2, 1, 2), 0.5).at[1].set(0.9)  # two targets, one log
    >>> def values(rewards):
    ...     return restive.jax.cwpdis(pull, state, action, rewards, budget=1)
    >>> [round(float(value), 5) for value in values(jax.numpy.array([0.0, 1.0]))]
    [1.0, 0.2]
    >>> [round(float(slope), 5) for slope in jax.jacobian(values)(jax.numpy.array([0.0, 1.0]))[1]]  # of the second
    [1.8, 0.2]
    """
    pull = checked("pull", pull)
    given = {"state": state, "action": action, "rewards": rewards, "budget": budget, "propensity": propensity, "discount": discount, "mask": mask}
    rate = setting("discount", discount, pull)
    if budget is not None and setting("budget", budget, pull).ndim == 0 and not is_traced(budget):
        _check_whole(budget)
    traced = frozenset(name for name, value in (("pull", pull), *given.items()) if is_traced(value))
    _check(pull, given, traced, ratio_up_to=ratio_up_to, log_odds=log_odds)
    # a log that is known is laid out when the function is traced, and not again whenever it runs
    with contextlib.nullcontext() if traced - {"pull", "discount"} else jax.ensure_compile_time_eval():
        there = None if mask is None else jnp.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), pull.shape[-3:]))
        log = _laid(
            *(_whole(x) for x in (state, action)),
            *(None if given[name] is None else setting(name, given[name], pull) for name in ("rewards", "budget", "propensity")),
            there,
            pull.shape[-2],
            traced,
        )
    found = Judged(*_judged(pull, rate, log, there, ratio_up_to == "previous-step", bool(log_odds), traced))
    return found._replace(effective_sample_size=jax.lax.stop_gradient(found.effective_sample_size)) if full else found.value


def _check(pull: jax.Array, given: dict[str, Any], traced: frozenset[str], **options: Any) -> None:
    """Has the native module check what is known. Without an action nothing is asked of propensity or budget, nor of arms that are absent."""
    kinds = {"state": -1, "action": -1, "rewards": 0.0, "budget": 0, "propensity": 0.5, "discount": 0.5, "mask": False}
    known = {name: stand_in(value, kinds[name]) for name, value in given.items()}
    if "budget" in traced:
        known["budget"] = np.zeros(np.shape(given["budget"]), int)[()]
        known["action"] = np.full(np.shape(given["action"]), -1)
    restive.cwpdis(stand_in(pull, 0.5), **known, **options)


def _check_whole(budget: Any) -> None:
    try:
        operator.index(budget)
    except TypeError:
        raise TypeError(f"budget: found {budget}, expected a whole number") from None


def _whole(values: Any) -> jax.Array:
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(np.int64).filled(-1)
    return jnp.asarray(values).astype(jnp.int32)


class _Log(NamedTuple):
    """A log as the ratios want it, [J,H,N] each or with axes in front."""

    action: jax.Array
    """-1 where there was none, or the arm absent"""
    chance: jax.Array
    """of the action, under the policy that logged it"""
    earned: jax.Array
    """0 where it is not known"""
    is_known: jax.Array
    is_fit: jax.Array
    """Whether the numbers of each problem are what the native module takes, as far as it could not look at them; [] or [...]"""


@functools.partial(jax.jit, static_argnums=(6, 7))
def _laid(
    state: jax.Array,
    action: jax.Array,
    rewards: jax.Array,
    budget: jax.Array | None,
    propensity: jax.Array | None,
    there: jax.Array | None,
    h: int,
    traced: frozenset[str],
) -> _Log:
    """The log, whatever the target."""
    n, is_fit = action.shape[-1], jnp.asarray(True)
    if traced & {"state", "mask"}:
        states = rewards.shape[0] if rewards.ndim <= 2 else 2**16 - 1
        is_fit &= _holds((state >= -1) & (state < states), there)
    if traced & {"action", "mask", "budget"}:
        is_fit &= _holds((action >= -1) & (action <= 1), there)
    if "budget" in traced:
        is_fit &= (budget >= 0.0) & (budget <= n) & (budget == jnp.floor(budget))
    if "rewards" in traced and rewards.ndim <= 2:
        is_fit &= (jnp.abs(rewards) <= min(1e100, float(jnp.finfo(rewards.dtype).max))).all()
    state, action = state[..., :h, :], action[..., :h, :]
    chance = propensity if budget is None else _at_random(budget[..., None, None, None], action, there)
    if there is not None:
        state, action = jnp.where(there, state, -1), jnp.where(there, action, -1)
    if traced & {"action", "mask", "budget", "propensity"}:
        is_fit &= ((action < 0) | ((chance > 0.0) & (chance <= 1.0))).all((-3, -2, -1))
    earned, is_known = _earned(rewards, state, action)
    if there is not None:
        is_known = is_known & there
    return _Log(action, chance, jnp.where(is_known, earned, 0.0), is_known, is_fit)


@functools.partial(jax.jit, static_argnums=(4, 5, 6))
def _judged(
    pull: jax.Array,
    discount: jax.Array,
    log: _Log,
    there: jax.Array | None,
    previous: bool,
    log_odds: bool,
    traced: frozenset[str],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The value [...], the effective sample size at the last step, and how many terms were dropped."""
    h, is_fit = pull.shape[-2], log.is_fit
    if there is not None:
        pull = jnp.where(there, pull, 0.5)
    if traced & {"pull", "mask"}:
        least, most = (bound(jax.lax.stop_gradient(pull), axis=(-3, -2, -1)) for bound in (jnp.min, jnp.max))
        is_fit &= ~jnp.isnan(most) if log_odds else (least >= 0.0) & (most <= 1.0)
    if "discount" in traced:
        is_fit &= (discount >= 0.0) & (discount <= 1.0)
    share = (_shares.of_log_odds if log_odds else _shares.of_pulls)(pull, log.action, log.chance, log.is_known, previous)
    squares = (share * share).sum(-3)  # [...,H,N]
    has_term = squares > 0.0
    sizes = jnp.where(has_term, 1.0 / jnp.where(has_term, squares, 1.0), 0.0)[..., -1, :]
    gamma = jnp.broadcast_to(discount[..., None], (*discount.shape, h - 1))
    weight = jnp.cumprod(jnp.concatenate([jnp.ones_like(discount)[..., None], gamma], -1), -1)
    value = ((share * log.earned).sum((-3, -1)) * weight).sum(-1)
    is_any = has_term.any((-2, -1))
    if there is None:
        size, is_dropped = sizes.mean(-1), ~has_term
    else:
        # an arm that is never there at a step has no term that could be dropped
        has_arm = there.any(-3)
        is_any |= ~has_arm.any((-2, -1))
        size, is_dropped = sizes.sum(-1) / jnp.maximum(has_arm[..., -1, :].sum(-1), 1), has_arm & ~has_term
    dropped = is_dropped.sum((-2, -1)).astype(jnp.int32)
    return jnp.where(is_any & is_fit, value, jnp.nan), jnp.where(is_fit, size, jnp.nan), dropped


def _at_random(budget: jax.Array, action: jax.Array, there: jax.Array | None) -> jax.Array:
    """The chance of every action where K of the arms that were there are pulled at random, or all of them if they are fewer."""
    if there is None:
        share = budget / action.shape[-1]
    else:
        count = there.sum(-1, keepdims=True).astype(budget.dtype)
        share = jnp.minimum(budget, count) / jnp.maximum(count, 1.0)
    return jnp.where(action == 1, share, 1.0 - share)


def _earned(rewards: jax.Array, state: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What was earned at each decision and whether it is known. Without an action it is where both earn the same, and each has half of its cotangent."""
    if rewards.ndim > 2:
        return rewards, jnp.isfinite(rewards)
    table = rewards if rewards.ndim == 2 else jnp.stack([rewards, rewards], -1)
    seen = jnp.maximum(state, 0)
    is_known = (state >= 0) & ((action >= 0) | (table[:, 0] == table[:, 1])[seen])
    by_action = table[seen]
    return jnp.where(action == 1, by_action[..., 1], jnp.where(action == 0, by_action[..., 0], by_action.mean(-1))), is_known


def _holds(is_right: jax.Array, there: jax.Array | None) -> jax.Array:
    """Whether what is asked of every step holds for the arms that are there; after the last decision, for those that were there at it."""
    if there is not None:
        after = is_right.shape[-2] - there.shape[-2]
        is_right |= ~(jnp.concatenate([there, there[..., -1:, :]], -2) if after else there)
    return is_right.all((-3, -2, -1))
