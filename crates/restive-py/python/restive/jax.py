"""The exact kernels as differentiable functions for JAX: under `grad`, `jit` and `vmap`.

    logits -> softmax -> whittle_index -> soft_top_k(log_odds=True) -> cwpdis(log_odds=True) -> grad

Between a soft policy and importance sampling stand log-odds: a pull near 1 has lost the chance of not being pulled, by which
importance sampling divides.

Each function is a `custom_vjp` over a `pure_callback`: XLA calls the native kernel on the CPU, in float64, and gets an answer
with the type of its argument (float32, or float64 where `jax_enable_x64` is set). JAX hands nothing but arrays from the forward
to the backward pass, so the backward pass computes the forward one again.

Shapes and settings are checked when a function is traced, with `ValueError`s; what is wrong with numbers shows when it runs,
as JAX's own runtime error with the same message inside. The gradient by transitions lives on the simplex: its rows sum to zero.
Reverse mode, first derivatives only.

>>> import jax, restive.jax
>>> logits = jax.numpy.zeros((3, 2, 2, 2)).at[:, :, 1, 1].set(jax.numpy.array([[1.0], [2.0], [3.0]]))
>>> def chance(logits):
...     index = restive.jax.whittle_index(jax.nn.softmax(logits))
...     return restive.jax.soft_top_k(index[:, 0], 1, 0.05)[2]
>>> jax.jit(jax.grad(chance))(logits).shape
(3, 2, 2, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import restive
from restive._deprecated import renamed
from restive._extras import need

need("jax", "restive.jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["Judged", "cwpdis", "soft_top_k", "whittle_index"]


def _checked(name: str, value: Any) -> jax.Array:
    """An array of real floating-point numbers, or what is wrong with it."""
    array = jnp.asarray(value)
    if array.dtype not in (jnp.float32, jnp.float64):
        raise ValueError(f"{name}: expected float32 or float64, got {array.dtype}")
    return array


def _constant(name: str, value: Any) -> Any:
    """A setting or a logged array, which has to be known when the function is traced."""
    if isinstance(value, jax.core.Tracer):
        raise ValueError(f"{name}: must be a constant; close over it instead of passing it through jit or grad")
    return np.asarray(value) if isinstance(value, jax.Array) else value


def _layer(
    forward: Callable[..., Any], backward: Callable[..., Any], shape: tuple[int, ...], dtype: Any
) -> Callable[..., jax.Array]:
    """A differentiable function from NumPy's `forward(*arguments)` and `backward(d_answer, *arguments)`, which returns one
    cotangent per argument."""

    def call(function: Callable[..., Any], answers: Any, *arguments: jax.Array) -> Any:
        def native(*arguments: Any) -> Any:
            found = function(*(np.asarray(argument, dtype=np.float64) for argument in arguments))
            return jax.tree.map(lambda value, answer: np.asarray(value, dtype=answer.dtype), found, answers)

        return jax.pure_callback(native, answers, *arguments, vmap_method="sequential")

    @jax.custom_vjp
    def layer(*arguments: jax.Array) -> jax.Array:
        return call(forward, jax.ShapeDtypeStruct(shape, dtype), *arguments)

    def there(*arguments: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        return layer(*arguments), arguments

    def back(arguments: tuple[jax.Array, ...], d_answer: jax.Array) -> tuple[jax.Array, ...]:
        answers = tuple(jax.ShapeDtypeStruct(argument.shape, argument.dtype) for argument in arguments)
        return call(backward, answers, d_answer, *arguments)

    layer.defvjp(there, back)
    return layer


def whittle_index(P: Any, rewards: Any = None, **settings: Any) -> jax.Array:
    """Whittle indices of N arms.

    Parameters
    ----------
    P : array, [N,M,2,M] or compact [N,4]
    rewards : [M] or [M,2], optional
    settings
        discount, layout, observation, chain, algorithm, beliefs: those of `restive.whittle_index`. Constants.

    Returns
    -------
    array, [N,M] (collapsing: [N, M*T])
    """
    if "out" in settings:
        raise ValueError("out: JAX's arrays cannot be written to")
    P = _checked("P", P)
    settings = {name: _constant(name, value) for name, value in {"rewards": rewards, **settings}.items()}
    # no arms at all: checks settings and shape, and says how many indices an arm has
    none = restive.whittle_index(np.zeros((0, *P.shape[1:]) if P.ndim else ()), **settings)

    def forward(P: np.ndarray) -> np.ndarray:
        return restive.whittle_index(P, **settings).index

    def backward(d_index: np.ndarray, P: np.ndarray) -> tuple[np.ndarray]:
        return (restive.whittle_index(P, **settings, differentiable=True).pullback(d_index),)

    return _layer(forward, backward, (P.shape[0], none.index.shape[1]), P.dtype)(P)


@renamed(k="budget")
def soft_top_k(scores: Any, budget: float, temperature: Any, *, log_odds: bool = False) -> jax.Array:
    """Pulls the arms with the highest scores, as many as the budget, softly.

    Parameters
    ----------
    scores : array, [...,N]
    budget : float
        A constant.
    temperature : a number
        A gradient goes through it.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : array, [...,N], summing to the budget over the arms; or their log-odds
    """
    scores, budget = _checked("scores", scores), _constant("budget", budget)
    temperature = _checked("temperature", jnp.asarray(temperature, dtype=float))
    if temperature.size != 1:
        raise ValueError(f"temperature: expected a single number, got shape {list(temperature.shape)}")
    restive.soft_top_k(np.zeros((0, *scores.shape[-1:]) if scores.ndim else ()), budget, 1.0)  # checks shape and budget

    def forward(scores: np.ndarray, temperature: np.ndarray) -> np.ndarray:
        soft = restive.soft_top_k(scores, budget, temperature.item())
        return soft.log_odds if log_odds else soft.pull

    def backward(d_pull: np.ndarray, scores: np.ndarray, temperature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        soft = restive.soft_top_k(scores, budget, temperature.item())
        d_scores, d_temperature = soft.pullback(d_pull, log_odds=log_odds)
        return d_scores, np.reshape(d_temperature, temperature.shape)

    return _layer(forward, backward, scores.shape, scores.dtype)(scores, temperature)


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
    pull: Any, state: Any, action: Any, rewards: Any, *, full: bool = False, **settings: Any
) -> jax.Array | Judged:
    """What a target policy would have earned, judged from a log: consistent weighted per-decision importance sampling.

    Parameters
    ----------
    pull : array, [J,H,N]
        Probabilities with which the target pulls each arm in the logged states, or (`log_odds=True`) their log-odds.
    state : [J,H+1,N] or [J,H,N]
    action : [J,H,N] or [J,H+1,N]
    rewards : [M], [M,2] or [J,H,N]
    full : bool
        Whether to answer with effective sample size and dropped terms too, through which no gradient goes.
    settings
        budget or propensity, discount, ratio_up_to, log_odds: those of `restive.cwpdis`. All but the pulls are constants.

    Returns
    -------
    value : array without axes, or `Judged`
    """
    pull = _checked("pull", pull)
    log = {"state": state, "action": action, "rewards": rewards, **settings}
    log = {name: _constant(name, value) for name, value in log.items()}
    restive.cwpdis(np.full(pull.shape, 0.5), **log)  # checks shapes and settings

    def forward(pull: np.ndarray) -> float:
        return restive.cwpdis(pull, **log).value

    def backward(d_value: np.ndarray, pull: np.ndarray) -> tuple[np.ndarray]:
        return (restive.cwpdis(pull, **log).pullback(d_value.item()),)

    value = _layer(forward, backward, (), pull.dtype)(pull)
    if not full:
        return value

    def sizes(pull: Any) -> tuple[np.ndarray, np.ndarray]:
        judged = restive.cwpdis(np.asarray(pull, dtype=np.float64), **log)
        return np.asarray(judged.effective_sample_size, dtype=pull.dtype), np.asarray(judged.dropped, dtype=np.int32)

    answers = (jax.ShapeDtypeStruct((), pull.dtype), jax.ShapeDtypeStruct((), jnp.int32))
    return Judged(value, *jax.pure_callback(sizes, answers, jax.lax.stop_gradient(pull), vmap_method="sequential"))
