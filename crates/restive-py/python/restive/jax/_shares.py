"""What each trajectory contributes to the averages of importance sampling, of one problem or of many: shares [...,J,H,N].

    share_tij = ρ_tij/Σ_j' ρ_tij'        ρ_tij = Π_{t'≤t} π(logged action)/propensity

Of log-odds the logarithms of the ratios are added up, so that no chance is too small, in float32 either. Of pulls the ratios are multiplied and scaled to
mean 1 at every step, without logarithms, so that the slope by a pull of exactly 0 or 1 is right too. A trajectory whose reward is not known takes no part
in the average, and where nothing is left the shares are all 0.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def of_log_odds(z: jax.Array, action: jax.Array, chance: jax.Array, is_known: jax.Array, previous: bool) -> jax.Array:
    """Shares of targets that come as log-odds."""
    acts = action >= 0
    log = jax.nn.log_sigmoid(jnp.where(action == 1, z, -z)) - jnp.log(jnp.where(acts, chance, 1.0))
    ratio = jnp.cumsum(_later(jnp.where(acts, log, 0.0), 0.0, previous), -2)
    counts = is_known & (ratio > -jnp.inf)
    top = jax.lax.stop_gradient(jnp.where(counts, ratio, -jnp.inf).max(-3, keepdims=True))
    height = jnp.where(counts, ratio - jnp.where(top > -jnp.inf, top, 0.0), 0.0)
    return _shares(jnp.where(counts, jnp.exp(height), 0.0))


def of_pulls(pull: jax.Array, action: jax.Array, chance: jax.Array, is_known: jax.Array, previous: bool) -> jax.Array:
    """Shares of targets that come as pulls."""
    acts = action >= 0
    factor = jnp.where(acts, jnp.where(action == 1, pull, 1.0 - pull) / jnp.where(acts, chance, 1.0), 1.0)

    def step(ratio: jax.Array, factor: jax.Array) -> tuple[jax.Array, jax.Array]:
        ratio = ratio * factor
        mean = ratio.mean(-2, keepdims=True)
        scale = jax.lax.stop_gradient(jnp.where(mean > 0.0, mean, 1.0))
        return ratio / scale, ratio / scale

    factors = jnp.moveaxis(_later(factor, 1.0, previous), -2, 0)  # [H,...,J,N]
    _, ratios = jax.lax.scan(step, jnp.ones_like(factors[0]), factors)
    return _shares(jnp.where(is_known, jnp.moveaxis(ratios, 0, -2), 0.0))


def _later(factor: jax.Array, nothing: float, previous: bool) -> jax.Array:
    """The factor of each step, or that of the decision before it."""
    if not previous:
        return factor
    return jnp.concatenate([jnp.full_like(factor[..., :1, :], nothing), factor[..., :-1, :]], -2)


def _shares(weight: jax.Array) -> jax.Array:
    total = weight.sum(-3, keepdims=True)
    return jnp.where(total > 0.0, weight / jnp.where(total > 0.0, total, 1.0), 0.0)


__all__ = ["of_log_odds", "of_pulls"]
