"""The exact kernels as differentiable functions for JAX: under `grad`, `jit` and `vmap`.

    logits -> softmax -> whittle_index -> soft_top_k(log_odds=True) -> cwpdis(log_odds=True) -> grad

Between a soft policy and importance sampling stand log-odds: a pull near 1 has lost the chance of not being pulled, by which
importance sampling divides.

Where there is a closed form the functions are JAX's own operations, on whatever device, and nothing calls back to the host: Whittle indices of
two states, `soft_top_k` with its costs and masks, and `cwpdis`, of many problems at once. They work in the type of their argument: float64 where
`jax_enable_x64` is set, where they agree with the native module to rounding, and else float32. Everything may be traced, and derivatives have derivatives.

Whittle indices of more states, of beliefs and by bisection are a `custom_vjp` over a `pure_callback`: XLA calls the native kernel on the CPU,
in float64, once for a whole batch of `vmap`. Reverse mode, first derivatives only. Rewards and discount may be traced and have
gradients there too.

Shapes and settings that are known are checked when a function is traced, with `ValueError`s. What is wrong with numbers is said where they
are known, by the same errors; under `jit` it is NaN (two states, `soft_top_k`, `cwpdis`), or shows when it runs, as JAX's own runtime error with the same
message inside (native kernels, under `vmap` too). The gradient by transitions lives on the simplex: its rows sum to zero.

>>> import jax, restive.jax
>>> logits = jax.numpy.zeros((3, 2, 2, 2)).at[:, :, 1, 1].set(jax.numpy.array([[1.0], [2.0], [3.0]]))
>>> def chance(logits):
...     index = restive.jax.whittle_index(jax.nn.softmax(logits))
...     return restive.jax.soft_top_k(index[:, 0], 1, 0.05)[2]
>>> jax.jit(jax.grad(chance))(logits).shape
(3, 2, 2, 2)
"""

from restive._extras import need

need("jax", "restive.jax")

from .evaluation import Judged, cwpdis  # noqa: E402
from .index import whittle_index  # noqa: E402
from .policy import soft_top_k  # noqa: E402

__all__ = ["Judged", "cwpdis", "soft_top_k", "whittle_index"]
