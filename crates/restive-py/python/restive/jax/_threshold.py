"""The threshold of a soft policy, and the slopes that go through it: scores y that stand for masses μ, at a temperature e.

    pull_i = σ((y_i - τ)/e)        Σ_i μ_i pull_i = K

Without costs and with everybody there each mass is 1 and is left out; else the mass is what a pull costs, and 0 for an arm that is absent.

With I the best arms whose masses together are at most K, r = K - Σ_{i∈I} μ_i what is left of it, and z = (y - ref)/e with ref an actual score at the
threshold, the sum is the same as E = F with E = Σ_{i∉I} μ_i σ(z_i - θ) and F = r + Σ_{i∈I} μ_i σ(θ - z_i). Nothing cancels in either; Newton's
method on ln E - ln F = 0, held in a bracket, needs a handful of steps, in float32 as in float64.

Derivatives are those of the answer, whatever was iterated: with s = pull (1 - pull), S = Σ μ s, w = μ s/S, u = (dy - z de)/e and the budget that is
left when masses grow, dB = dK - Σ pull dμ,

    d log-odds = u - Σ w u + dB/S        d pull = s (u - Σ w u + dB/S)

so that forward and reverse mode, and derivatives of derivatives, are there. Slopes come from the log-odds: nothing is lost however strict the policy.
Where pulls are fixed (a budget of 0 or of all masses, temperature 0 or infinite) nothing moves with the scores.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


@jax.custom_jvp
def log_odds(y: jax.Array, mass: jax.Array | None, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    """ln pull/(1 - pull) [N] of one problem; NaN where its budget is."""
    return _solved(y, mass, budget, temperature)


@jax.custom_jvp
def pull(y: jax.Array, mass: jax.Array | None, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    """The pulls [N] of one problem; NaN where its budget is."""
    return _share(_solved(y, mass, budget, temperature))


@log_odds.defjvp
def _log_odds_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    z = log_odds(*primals)
    moved, _, _, log_total, d_budget = _moves(z, primals, tangents)
    # 1/S, which may be larger than any number: held among them, so that nothing times it is nothing
    most = jnp.log(jnp.finfo(z.dtype).max) - 1.0
    d = moved + d_budget * jnp.where(log_total > -jnp.inf, jnp.exp(jnp.minimum(-log_total, most)), 0.0)
    return z, jnp.where(jnp.isfinite(z), d, 0.0)


@pull.defjvp
def _pull_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    z = log_odds(*primals)
    moved, slope, part, _, d_budget = _moves(z, primals, tangents)
    return _share(z), slope * moved + part * d_budget


def _share(z: jax.Array) -> jax.Array:
    """σ(z), to full precision at either end."""
    small = jnp.exp(-jnp.abs(z))
    return jnp.where(z >= 0.0, 1.0, small) / (1.0 + small)


def _moves(z: jax.Array, primals: Any, tangents: Any) -> tuple[jax.Array, ...]:
    """u - Σ w u, s, s/S, ln S and dB."""
    (y, mass, budget, temperature), (d_y, d_mass, d_budget, d_temperature) = primals, tangents
    is_finite = jnp.isfinite(z) if mass is None else jnp.isfinite(z) & (mass > 0.0)
    far = jnp.abs(jnp.where(is_finite, z, 0.0))
    log_slopes = jnp.where(is_finite, -far - 2.0 * jnp.log1p(jnp.exp(-far)), -jnp.inf)
    top = jax.lax.stop_gradient(jnp.max(log_slopes))
    top = jnp.where(top > -jnp.inf, top, 0.0)
    relative = jnp.where(is_finite, jnp.exp(log_slopes - top), 0.0)
    total = (relative if mass is None else mass * relative).sum()
    safe = jnp.where(total > 0.0, total, 1.0)
    part = relative / safe
    is_smooth = jax.lax.stop_gradient(_is_smooth(y, mass, budget, temperature))
    e = jnp.where(is_smooth, temperature, 1.0)
    u = jnp.where(is_smooth & is_finite, (d_y - jnp.where(is_finite, z, 0.0) * d_temperature) / e, 0.0)
    moved = u - ((part if mass is None else mass * part) * u).sum()
    if mass is not None:
        d_budget = d_budget - (_share(jnp.where(jnp.isnan(z), 0.0, z)) * d_mass).sum()
    return moved, jnp.exp(log_slopes), part, jnp.where(total > 0.0, top + jnp.log(safe), -jnp.inf), d_budget


def _is_smooth(y: jax.Array, mass: jax.Array | None, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    """Whether the pulls move with the scores: not where they are fixed by budget or temperature."""
    if mass is None:
        total, spread = y.shape[0], y.max() - y.min()
    else:
        total, spread = mass.sum(), jnp.where(mass > 0.0, y, -jnp.inf).max() - jnp.where(mass > 0.0, y, jnp.inf).min()
    spread = spread / jnp.where(temperature > 0.0, temperature, 1.0)
    is_usual = (temperature >= jnp.finfo(y.dtype).tiny) & (temperature < jnp.inf) & jnp.isfinite(spread)
    return is_usual & (budget > 0.0) & (budget < total)


def _solved(y: jax.Array, mass: jax.Array | None, budget: jax.Array, temperature: jax.Array) -> jax.Array:
    """The log-odds [N] of one problem."""
    n, eps = y.shape[0], jnp.finfo(y.dtype).eps
    is_smooth = _is_smooth(y, mass, budget, temperature)
    if mass is None:
        order, last, total, log_mass = -jnp.sort(-y), n - 1, n, 0.0
        place = jnp.floor(budget)
        rest = part = budget - place
        pad = 64 * eps
    else:
        # absent arms come last
        order, sorted_mass = jax.lax.sort((jnp.where(mass > 0.0, -y, jnp.inf), mass), num_keys=1)
        order, last, total, log_mass = -order, (mass > 0.0).sum() - 1, mass.sum(), jnp.log(sorted_mass)
        place = jnp.minimum((jnp.cumsum(sorted_mass) <= budget).sum(), last)
        rest = jnp.maximum(budget - jnp.where(jnp.arange(n) < place, sorted_mass, 0.0).sum(), 0.0)
        part = jnp.minimum(rest / sorted_mass[place], 1.0 - eps)
        pad = 1.0  # masses add up to their total but for rounding, which is felt where the budget is nearly all of it
    is_certain = jnp.arange(n) < place
    marginal = jnp.clip(place.astype(int), 0, last)
    reference = order[jnp.where(rest > 0.0, marginal, jnp.maximum(marginal - 1, 0))]
    z = (order - reference) / temperature
    logit = jnp.log(budget) - jnp.log(total - budget)
    low, high = z[last] - logit, z[0] - logit
    low, high = low - pad * (1.0 + jnp.abs(low)), high + pad * (1.0 + jnp.abs(high))
    start = jnp.where(rest > 0.0, jnp.log1p(-part) - jnp.log(part), 0.5 * z[marginal])

    def excess_of(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        log = jax.nn.log_sigmoid(jnp.where(is_certain, theta - z, z - theta))
        gone, log = -jnp.expm1(log), log + log_mass
        log_e, slope_e = _log_sum(jnp.where(is_certain, -jnp.inf, log), gone, -jnp.inf)
        log_f, slope_f = _log_sum(jnp.where(is_certain, log, -jnp.inf), gone, jnp.log(rest))
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

    first = (jnp.clip(start, low, high), low, high, ~is_smooth, 0)
    theta, *_ = jax.lax.while_loop(lambda state: ~state[3] & (state[4] < 200), step, first)
    smooth = (y - reference) / temperature - theta
    # the strict limit: those at the threshold share what is left of the budget
    at, one = order[marginal], jnp.ones_like(budget) if mass is None else mass
    tied = (budget - jnp.where(y > at, one, 0.0).sum()) / jnp.where(y == at, one, 0.0).sum()
    strict = jnp.where(y > at, jnp.inf, jnp.where(y < at, -jnp.inf, _logit(jnp.clip(tied, 0.0, 1.0))))
    fixed = jnp.where(temperature == jnp.inf, _logit(budget / total), strict)
    fixed = jnp.where(budget <= 0.0, -jnp.inf, jnp.where(budget >= total, jnp.inf, fixed))
    return jnp.where(jnp.isnan(budget), jnp.nan, jnp.where(is_smooth, smooth, fixed))


def _logit(p: jax.Array) -> jax.Array:
    return jnp.log(p) - jnp.log1p(-p)


def _log_sum(log: jax.Array, gone: jax.Array, log_extra: Any) -> tuple[jax.Array, jax.Array]:
    """ln(extra + Σ μ σ(d)) of the logarithms of μ σ(d), over those that count, and its derivative when every d grows alike."""
    top = jnp.maximum(log.max(), log_extra)
    weight = jnp.exp(log - top)
    total = weight.sum() + jnp.exp(log_extra - top)
    return top + jnp.log(total), (weight * gone).sum() / total


__all__ = ["log_odds", "pull"]
