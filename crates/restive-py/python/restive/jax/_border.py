"""Arrays in and out of JAX: what may enter, what is known when a function is traced, and a native kernel as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def checked(name: str, value: Any) -> jax.Array:
    """An array of real floating-point numbers, or what is wrong with it."""
    if value is None:
        raise TypeError(f"{name}: found NoneType, expected an array")
    try:
        array = jnp.asarray(value)
    except TypeError as error:
        raise TypeError(f"{name}: found {type(value).__name__}, expected an array ({error})") from None
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name}: found what cannot become one ({error}), expected an array") from None
    if array.dtype not in (jnp.float32, jnp.float64):
        raise ValueError(f"{name}: found {array.dtype}, expected float32 or float64")
    return array


def entered(name: str, value: Any) -> Any:
    """An array of JAX as it is, and NumPy's of anything else."""
    try:
        return value if isinstance(value, jax.Array) else np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name}: found what cannot become one ({error}), expected an array") from None


def setting(name: str, value: Any, like: jax.Array) -> jax.Array:
    """Real numbers of a setting, traced or not, with the type of `like`."""
    if not isinstance(value, jax.Array):
        found = entered(name, value)
        if found.dtype.kind not in "fiub":
            if found.ndim == 0:
                raise TypeError(f"{name}: found {type(value).__name__}, expected real numbers")
            raise ValueError(f"{name}: found {found.dtype}, expected real numbers")
        value = found
    if jnp.iscomplexobj(value):
        raise ValueError(f"{name}: found {value.dtype}, expected real numbers")
    return jnp.asarray(value, dtype=like.dtype)


def is_traced(*values: Any) -> bool:
    return any(isinstance(value, jax.core.Tracer) for value in values)


def constant(name: str, value: Any) -> Any:
    """A setting that has to be known when the function is traced."""
    if is_traced(value):
        raise ValueError(f"{name}: found a traced array, expected a constant; close over it instead of passing it through jit or grad")
    return np.asarray(value) if isinstance(value, jax.Array) else value


def stand_in(value: Any, filled: bool | int | float) -> Any:
    """A value that native checks can look at: itself, or one of its shape where it is traced, filled if its type is fit for that."""
    if is_traced(value):
        fits = value.dtype.kind in {bool: "b", int: "biu", float: "biuf"}[type(filled)]
        found = np.full(value.shape, filled) if fits else np.zeros(value.shape, value.dtype)
        return found if value.ndim else found[()]
    return np.asarray(value)[()] if isinstance(value, jax.Array) else value


def layer(
    forward: Callable[..., Any], backward: Callable[..., Any], shape: tuple[int, ...], like: jax.Array
) -> Callable[..., jax.Array]:
    """A differentiable function from NumPy's `forward(*arguments)` and `backward(d_answer, *arguments)`, which returns one cotangent per
    argument.

    JAX hands nothing but arrays from the forward to the backward pass, so the backward pass computes the forward one again. Under `vmap`
    both get the axes of the batch in front, all of them at once. Where the numbers are there (nothing is traced, or by `grad` alone) they are
    called directly, and what is wrong with a number is said by their own errors.
    """

    def call(function: Callable[..., Any], answers: Any, *arguments: jax.Array) -> Any:
        def native(*arguments: Any) -> Any:
            found = function(*(np.asarray(argument, dtype=np.float64) for argument in arguments))
            return jax.tree.map(lambda value, answer: np.asarray(value, dtype=answer.dtype), found, answers)

        if not is_traced(*arguments):
            return jax.tree.map(jnp.asarray, native(*arguments))
        return jax.pure_callback(native, answers, *arguments, vmap_method="broadcast_all")

    @jax.custom_vjp
    def answered(*arguments: jax.Array) -> jax.Array:
        return call(forward, jax.ShapeDtypeStruct(shape, like.dtype), *arguments)

    def there(*arguments: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        return answered(*arguments), arguments

    def back(arguments: tuple[jax.Array, ...], d_answer: jax.Array) -> tuple[jax.Array, ...]:
        answers = tuple(jax.ShapeDtypeStruct(argument.shape, argument.dtype) for argument in arguments)
        return call(backward, answers, d_answer, *arguments)

    answered.defvjp(there, back)
    return answered


__all__ = ["checked", "constant", "entered", "is_traced", "layer", "setting", "stand_in"]
