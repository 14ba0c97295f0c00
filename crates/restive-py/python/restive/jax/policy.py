"""Soft policies of arrays, as JAX's own operations: scores, budget, temperature, costs and mask may all be traced.

    pull_i = σ((x_i/c_i - τ)/e)        Σ_i c_i pull_i = K

Costs c of 1 give the soft top-k, others the soft knapsack, in which arms compete by their score per cost. To the threshold τ an arm is a score y = x/c that
stands for a mass, c, and one that is absent stands for none: that problem, and its slopes, are those of `_threshold`. The slope by a cost has two parts, one
through the score per cost and one through what it takes from the budget. A problem with what is wrong has a budget of NaN, and so is its answer.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import restive
from restive._deprecated import renamed

from . import _threshold
from ._border import checked, entered, is_traced, setting, stand_in


@renamed(k="budget")
def soft_top_k(
    scores: Any, budget: Any, temperature: Any, *, costs: Any = None, mask: Any = None, log_odds: bool = False
) -> jax.Array:
    """Pulls the arms with the highest scores, as many as the budget, softly.

    Parameters
    ----------
    scores : array, [...,N]
    budget : a number, or [...], one for each problem
        From 0 to N; with costs any number of at least 0. Where it pays for more than there is, everybody is pulled.
    temperature : a number, or [...], one for each problem
        At least 0, in the unit of the scores (with costs, of scores per cost).
    costs : array, [...,N] or [N], optional
        What a pull of each arm costs, above 0: arms compete by score per cost, and what is spent is the budget.
        Gradients go through all four.
    mask : bool array, [...,N] or [N], optional
        Whether each arm is there. One that is not has pull 0, log-odds -inf and no gradient, whatever its score, and the others are pulled as
        if it did not exist.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : array, [...,N], summing to the budget over the arms (with costs, what they cost does); or their log-odds

    Notes
    -----
    Under `jit` a problem with what is wrong (scores that are not finite, a budget that is not from 0 to N, a negative temperature, a cost that is not
    above 0) is NaN.

    Examples
    --------
    >>> import jax, restive.jax
    >>> scores = jax.numpy.array([0.9, 0.1, 0.4])
    >>> slope = jax.grad(lambda k: restive.jax.soft_top_k(scores, k, 0.1).sum())(1.5)
    >>> round(float(slope), 5)  # one more place is one more pull
    1.0
    >>> costs = jax.numpy.array([1.0, 3.0, 2.0])
    >>> def first(costs):
    ...     return restive.jax.soft_top_k(scores, 2.0, 0.1, costs=costs)[0]
    >>> bool(jax.jit(jax.grad(first))(costs)[0] < 0)  # what costs more is pulled less
    True
    >>> mask = jax.numpy.array([False, True, True])
    >>> jax.jit(restive.jax.soft_top_k)(scores, 2.0, 0.1, mask=mask).tolist()  # two places for the two that are there
    [0.0, 1.0, 1.0]
    """
    given = {"scores": scores, "budget": budget, "temperature": temperature, "costs": costs, "mask": mask}
    scores = checked("scores", scores)
    if not scores.ndim:
        _refuse(given)
    axes = scores.shape[:-1]
    budget, temperature = (setting(name, given[name], scores) for name in ("budget", "temperature"))
    if not {budget.shape, temperature.shape} <= {(), axes}:
        _refuse(given)
    for name in ("costs", "mask"):
        if given[name] is not None and entered(name, given[name]).shape not in (scores.shape, scores.shape[-1:]):
            _refuse(given)
    costs = None if costs is None else setting("costs", costs, scores)
    mask = None if mask is None else jnp.asarray(mask)
    if mask is not None and mask.dtype != bool:
        _refuse(given)
    answer = _problems(scores, budget, temperature, costs, mask, bool(log_odds))
    if not is_traced(scores, budget, temperature, costs, mask) and (not answer.size or np.isnan(np.asarray(answer)).any()):
        _refuse(given)
    return answer


def _refuse(given: dict[str, Any]) -> None:
    """Has the native module say what is wrong, of what is known."""
    kinds = {"scores": 0.0, "budget": 0.0, "temperature": 1.0, "costs": 1.0, "mask": False}
    restive.soft_top_k(**{name: stand_in(value, kinds[name]) for name, value in given.items()})


@functools.partial(jax.jit, static_argnums=5)
def _problems(
    scores: jax.Array, budget: jax.Array, temperature: jax.Array, costs: jax.Array | None, mask: jax.Array | None, log_odds: bool
) -> jax.Array:
    *axes, n = scores.shape
    if scores.size == 0:
        return jnp.zeros_like(scores)
    y = scores if mask is None else jnp.where(mask, scores, 0.0)
    is_fit = jnp.isfinite(y).all(-1) & (budget >= 0.0) & (temperature >= 0.0)
    if costs is None:
        is_fit &= budget <= n
        mass = None if mask is None else mask.astype(scores.dtype)
    else:
        is_cost = (costs > 0.0) & (costs < jnp.inf)
        is_fit &= is_cost.all(-1) & (budget < jnp.inf)
        costs = jnp.where(is_cost, costs, 1.0)
        y = jnp.where(jnp.isfinite(y), y, 0.0) / costs
        mass = costs if mask is None else jnp.where(mask, costs, 0.0)
    budget = jnp.where(is_fit, budget, jnp.nan)
    rows = (
        y.reshape(-1, n),
        None if mass is None else jnp.broadcast_to(mass, scores.shape).reshape(-1, n),
        *(jnp.broadcast_to(x, axes).reshape(-1) for x in (budget, temperature)),
    )
    answer = jax.vmap(_threshold.log_odds if log_odds else _threshold.pull)(*rows).reshape(scores.shape)
    if mask is None:
        return answer
    return jnp.where(mask, answer, jnp.where(is_fit[..., None], -jnp.inf if log_odds else 0.0, jnp.nan))
