"""Values of policies in a world that is given, of tensors: `restive::fluid_value` and `restive::decomposed_value`, with pullbacks to everything.

`fluid_value` has kernels for CUDA tensors (`restive._device.fluid`), which stay where they are, and whose masses are kept for the way
back; what it is given beside P goes where P is. `decomposed_value` runs on the CPU: tensors elsewhere are copied, and a warning says so once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

import restive
from restive import _device

from ._border import array, checked, copied
from ._solver import Solver, arms, decisions, masses, number, rewards_of, start, told


class _Flow(NamedTuple):
    """A fluid value on a device, and what the way back needs."""

    value: Tensor
    mass: Tensor
    root: Tensor
    inputs: tuple[Tensor, ...]

    def pullback(self, d_value: Tensor) -> tuple[Tensor, ...]:
        from restive._device import fluid as kernel

        return kernel.pullback(d_value, self.mass, self.root, *self.inputs)


def _flow(P: Tensor, index: Tensor, initial: Tensor, *rest: Any) -> _Flow | None:
    """By the kernels of the device; None where there are none, or something is wrong."""
    *settings, horizon = rest
    if horizon <= 0 or not _device.takes(P):
        return None
    from restive._device import fluid as kernel

    if initial.ndim == 1 and not initial.is_floating_point():  # states
        initial = (initial[:, None] == torch.arange(index.shape[-1], device=initial.device)).to(torch.float64)
    inputs = (P, index, initial, *settings)
    if not kernel.covers(*inputs):
        return None
    is_wrong, *numbers = kernel.faulty(*inputs)
    return None if is_wrong else _Flow(*kernel.solve(*inputs, horizon, *numbers), inputs)


def _fluid(P: Tensor, index: Tensor, initial: Tensor, *rest: Any) -> _Flow | restive.FluidValue:
    flow = _flow(P, index, initial, *rest)
    if flow is not None:
        return flow
    budget, temperature, rewards, discount, horizon = rest
    numbers = (float(budget), float(temperature), horizon, array(rewards), float(discount))
    solved = restive.fluid_value(array(P), array(index), told(initial), *numbers)
    copied("fluid_value", P, "arms of so many states")
    return solved


_fluid_value = Solver(
    "fluid_value",
    "P index initial budget temperature rewards discount",
    "int horizon",
    "value",
    solve=_fluid,
    read=lambda solved: (solved.value,),
    shapes=lambda *_: [[]],
    pull_back=lambda solved, d_value: solved.pullback(d_value if isinstance(solved, _Flow) else float(d_value)),
)


def fluid_value(
    P: Tensor,
    index: Tensor,
    initial: Any,
    budget: Any,
    temperature: Any,
    horizon: int,
    rewards: Any = None,
    discount: Any = 0.99,
) -> Tensor:
    """The value of soft top-k on indices [N,M] or [H,N,M] in the limit of many arms: `restive.fluid_value` with a gradient by everything.

    >>> import torch, restive.torch
    >>> P = torch.tensor([[0.2, 0.3, 0.5, 0.6], [0.2, 0.8, 0.5, 0.9]], dtype=torch.float64)  # a pull helps the second arm more
    >>> index = torch.tensor([[0.0, 0.0], [0.1, 0.1]], dtype=torch.float64, requires_grad=True)
    >>> restive.torch.fluid_value(P, index, [0, 0], 1, 0.1, 9).backward()
    >>> (index.grad.sum(1) > 0).tolist()
    [False, True]
    """
    P, index = arms(P), checked("index", index)
    settings = (number("budget", budget), number("temperature", temperature), rewards_of(P, rewards), number("discount", discount))
    (value,) = _fluid_value(P, *(x.to(P.device) for x in (index, start(initial), *settings)), decisions(horizon)[0])
    return value


def _decomposed(P: Tensor, index: Tensor, initial: Tensor, *rest: Tensor) -> restive.DecomposedValue:
    budget, temperature, charge, occupancy, rewards, discount = rest
    copied("decomposed_value", P, "decomposed values")
    numbers = (float(budget), float(temperature), float(charge))
    return restive.decomposed_value(
        array(P), array(index), told(initial), *numbers, array(occupancy), array(rewards), float(discount)
    )


_decomposed_value = Solver(
    "decomposed_value",
    "P index initial budget temperature charge occupancy rewards discount",
    "",
    "value",
    solve=_decomposed,
    read=lambda solved: (solved.value,),
    shapes=lambda *_: [[]],
    pull_back=lambda solved, d_value: solved.pullback(float(d_value)),
)


def decomposed_value(
    P: Tensor,
    index: Tensor,
    initial: Any,
    budget: Any,
    temperature: Any,
    charge: Any,
    occupancy: Any,
    rewards: Any = None,
    discount: Any = 0.99,
) -> Tensor:
    """What a soft policy on indices [N,M] earns per step where arms are apart and pay: `restive.decomposed_value` with a gradient by everything."""
    P, index = arms(P), checked("index", index)
    numbers = (number("budget", budget), number("temperature", temperature), number("charge", charge))
    settings = (masses("occupancy", occupancy), rewards_of(P, rewards), number("discount", discount))
    (value,) = _decomposed_value(P, index, start(initial), *numbers, *settings)
    return value
