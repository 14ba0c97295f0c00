"""Soft policies of arrays, as JAX's own operations: scores, budget and temperature may all be traced.

With k the whole part of the budget K and I the k best of the scores x, z = (x - ref)/e with ref an actual score at the threshold, Σ pull = K is the
same as E = F with E = Σ_{i∉I} σ(z_i - θ) and F = (K - k) + Σ_{i∈I} σ(θ - z_i). Nothing cancels in either; Newton's method on ln E - ln F = 0,
held in a bracket, needs a handful of steps, in float32 as in float64.

Derivatives are those of the answer, whatever was iterated: with s = pull (1 - pull), w = s/Σs and u = (dx - z de)/e,

    d log-odds = u - Σ w u + dK/Σs        d pull = s (u - Σ w u) + w dK

so that forward and reverse mode, and derivatives of derivatives, are there. Slopes come from the log-odds: nothing is lost however strict the policy.
Where pulls are fixed (budget 0 or N, temperature 0 or infinite) nothing moves with the scores.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import restive
from restive._deprecated import renamed

from ._border import checked, is_traced, setting


@renamed(k="budget")
def soft_top_k(scores: Any, budget: Any, temperature: Any, *, log_odds: bool = False) -> jax.Array:
    """Pulls the arms with the highest scores, as many as the budget, softly.

    Parameters
    ----------
    scores : array, [...,N]
    budget : a number, or [...], one for each problem
    temperature : a number, or [...], one for each problem
        Gradients go through all three.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : array, [...,N], summing to the budget over the arms; or their log-odds

    Notes
    -----
    Under `jit` a problem with what is wrong (scores that are not finite, a budget that is not from 0 to N, a negative temperature) is NaN.

    Examples
    --------
    >>> import jax, restive.jax
    >>> scores = jax.numpy.array([0.9, 0.1, 0.4])
    >>> slope = jax.grad(lambda k: restive.jax.soft_top_k(scores, k, 0.1).sum())(1.5)
    >>> round(float(slope), 5)  # one more place is one more pull
    1.0
    """
    scores = checked("scores", scores)
    if not scores.ndim:
        raise ValueError("scores: found shape [], expected [..., N]")
    axes = scores.shape[:-1]
    budget, temperature = (
        _of_problems(name, value, axes, scores) for name, value in (("budget", budget), ("temperature", temperature))
    )
    answer = _problems(scores, budget, temperature, bool(log_odds))
    if not is_traced(scores, budget, temperature):
        _say_what_is_wrong(scores, budget, temperature, answer)
    return answer


def _of_problems(name: str, value: Any, axes: tuple[int, ...], scores: jax.Array) -> jax.Array:
    value = setting(name, value, scores)
    if value.shape not in ((), axes):
        if value.size != 1:
            raise ValueError(f"{name}: found shape {list(value.shape)}, expected a number, or {list(axes)}, one for each problem")
        value = value.reshape(())
    return value


@functools.partial(jax.jit, static_argnums=3)
def _problems(scores: jax.Array, budget: jax.Array, temperature: jax.Array, log_odds: bool) -> jax.Array:
    if scores.size == 0:
        return jnp.zeros_like(scores)
    axes = scores.shape[:-1]
    flat = (scores.reshape(-1, scores.shape[-1]), *(jnp.broadcast_to(x, axes).reshape(-1) for x in (budget, temperature)))
    function = _log_odds if log_odds else _pull
    return jax.vmap(function)(*flat).reshape(scores.shape)


def _say_what_is_wrong(scores: Any, budget: Any, temperature: Any, answer: Any) -> None:
    """A problem whose answer is NaN is told by the native module; so is a wrong setting where there are no scores."""
    axes = scores.shape[:-1]
    is_nan = np.isnan(np.asarray(answer)).any(-1).reshape(-1)
    k, e = (np.asarray(jnp.broadcast_to(x, axes), dtype=np.float64).reshape(-1) for x in (budget, temperature))
    for row in np.flatnonzero(is_nan) if scores.size else range(min(len(k), 1)):
        restive.soft_top_k(np.asarray(scores).reshape(-1, scores.shape[-1])[row], k[row], e[row])
    if not len(k):
        restive.soft_top_k(np.zeros(scores.shape[-1:]), float(np.max(budget)), float(np.max(temperature)))


@jax.custom_jvp
def _log_odds(x: jax.Array, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    return _solved(x, budget, temperature)[0]


@jax.custom_jvp
def _pull(x: jax.Array, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    return _share(_solved(x, budget, temperature)[0])


@_log_odds.defjvp
def _log_odds_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    z = _log_odds(*primals)
    u, w, log_slopes, d_budget = _moves(z, primals, tangents)
    total = jax.nn.logsumexp(log_slopes)
    free = total > -jnp.inf
    by_budget = d_budget * jnp.exp(-jnp.where(free, total, 0.0))
    d = u - (w * u).sum() + jnp.where(free, by_budget, 0.0)
    return z, jnp.where(jnp.isfinite(z), d, 0.0)


@_pull.defjvp
def _pull_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    z = _log_odds(*primals)
    u, w, log_slopes, d_budget = _moves(z, primals, tangents)
    return _share(z), jnp.exp(log_slopes) * (u - (w * u).sum()) + w * d_budget


def _share(z: jax.Array) -> jax.Array:
    """σ(z), to full precision at either end."""
    small = jnp.exp(-jnp.abs(z))
    return jnp.where(z >= 0.0, 1.0, small) / (1.0 + small)


def _moves(z: jax.Array, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """u, w, ln s and dK."""
    (x, budget, temperature), (d_x, d_budget, d_temperature) = primals, tangents
    is_finite = jnp.isfinite(z)
    far = jnp.abs(jnp.where(is_finite, z, 0.0))
    log_slopes = jnp.where(is_finite, -far - 2.0 * jnp.log1p(jnp.exp(-far)), -jnp.inf)
    top = jnp.max(log_slopes)
    weight = jnp.where(is_finite, jnp.exp(log_slopes - jnp.where(top > -jnp.inf, top, 0.0)), 0.0)
    w = weight / jnp.maximum(weight.sum(), jnp.finfo(z.dtype).tiny)
    is_smooth = jax.lax.stop_gradient(_is_smooth(x, budget, temperature))
    e = jnp.where(is_smooth, temperature, 1.0)
    u = jnp.where(is_smooth & is_finite, (d_x - jnp.where(is_finite, z, 0.0) * d_temperature) / e, 0.0)
    return u, w, log_slopes, d_budget


def _is_smooth(x: jax.Array, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    """Whether the pulls move with the scores: not where they are fixed by budget or temperature."""
    spread = (x.max() - x.min()) / jnp.where(temperature > 0.0, temperature, 1.0)
    is_usual = (temperature >= jnp.finfo(x.dtype).tiny) & (temperature < jnp.inf) & jnp.isfinite(spread)
    return is_usual & (budget > 0.0) & (budget < x.shape[0])


def _solved(x: jax.Array, budget: jax.Array, temperature: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The log-odds [N] of one problem, and its threshold over the temperature."""
    n, dtype = x.shape[0], x.dtype
    is_smooth = _is_smooth(x, budget, temperature)
    K = jnp.where(is_smooth, budget, 0.5 * n)
    e = jnp.where(is_smooth, temperature, 1.0)
    order = -jnp.sort(-x)
    k = jnp.floor(K)
    fraction = K - k
    is_certain = jnp.arange(n) < k
    reference = order[jnp.where(fraction > 0.0, k, k - 1.0).astype(int)]
    y = jnp.where(is_smooth, (order - reference) / e, 0.0)
    share = K / n
    logit = jnp.log(share) - jnp.log1p(-share)
    low, high = y[-1] - logit, y[0] - logit
    pad = 64 * jnp.finfo(dtype).eps
    low, high = low - pad * (1.0 + jnp.abs(low)), high + pad * (1.0 + jnp.abs(high))
    safe = jnp.where(fraction > 0.0, fraction, 0.5)
    start = jnp.where(fraction > 0.0, jnp.log1p(-safe) - jnp.log(safe), 0.5 * y[jnp.minimum(k, n - 1.0).astype(int)])
    eps = jnp.finfo(dtype).eps

    def excess_of(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        log = jax.nn.log_sigmoid(jnp.where(is_certain, theta - y, y - theta))
        gone = -jnp.expm1(log)
        log_extra = jnp.where(fraction > 0.0, jnp.log(safe), -jnp.inf)
        log_e, slope_e = _log_sum(jnp.where(is_certain, -jnp.inf, log), gone, -jnp.inf)
        log_f, slope_f = _log_sum(jnp.where(is_certain, log, -jnp.inf), gone, log_extra)
        return log_e - log_f, slope_e + slope_f

    def step(state: Any) -> Any:
        theta, low, high, _, count = state
        excess, slope = excess_of(theta)
        low, high = jnp.where(excess > 0.0, theta, low), jnp.where(excess > 0.0, high, theta)
        is_done = jnp.abs(excess) <= jnp.maximum(32 * eps, eps * jnp.abs(theta))
        following = theta + excess / slope
        # a step that rounds to nothing leaves the bracket's open end: at the root that is no reason to halve it
        otherwise = jnp.where(is_done, theta, 0.5 * (low + high))
        following = jnp.where((following > low) & (following < high), following, otherwise)
        is_done |= following == theta
        return jnp.where(jnp.abs(excess) <= eps, theta, following), low, high, is_done, count + 1

    first = (jnp.clip(start, low, high), low, high, jnp.asarray(False), 0)
    theta, *_ = jax.lax.while_loop(lambda state: ~state[3] & (state[4] < 200), step, first)
    smooth = (x - reference) / e - theta
    # the strict limit: those at the threshold share what is left of the budget
    place = jnp.clip(jnp.ceil(budget) - 1.0, 0.0, n - 1.0)
    at = order[jnp.where(place >= 0.0, place, 0.0).astype(int)]
    tied = jnp.clip((budget - (x > at).sum()) / (x == at).sum(), 0.0, 1.0)
    strict = jnp.where(x > at, jnp.inf, jnp.where(x < at, -jnp.inf, jnp.log(tied) - jnp.log1p(-tied)))
    even = jnp.log(budget / n) - jnp.log1p(-budget / n)
    fixed = jnp.where(temperature == jnp.inf, even, strict)
    fixed = jnp.where(budget <= 0.0, -jnp.inf, jnp.where(budget >= n, jnp.inf, fixed))
    z = jnp.where(is_smooth, smooth, fixed)
    is_fit = jnp.isfinite(x).all() & (budget >= 0.0) & (budget <= n) & (temperature >= 0.0)
    return jnp.where(is_fit, z, jnp.nan), theta


def _log_sum(log: jax.Array, gone: jax.Array, log_extra: Any) -> tuple[jax.Array, jax.Array]:
    """ln(extra + Σ σ(d)) over those that count, and its derivative when every d grows alike."""
    top = jnp.maximum(log.max(), log_extra)
    weight = jnp.exp(log - top)
    total = weight.sum() + jnp.exp(log_extra - top)
    return top + jnp.log(total), (weight * gone).sum() / total
