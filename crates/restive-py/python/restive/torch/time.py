"""Programmes that end, and values of policies in a world that is given, of tensors.

Each function is a PyTorch operator of its own (`torch.ops.restive.*`) with a pullback that is one too, so that graphs are captured whole. The
pullback solves again: nothing but the inputs is kept. They run on the CPU; tensors elsewhere are copied, and a warning says so once. But
`fluid_value` has kernels for CUDA tensors (`restive._device.fluid`), which stay where they are, and whose masses are kept for the way back.
Numbers through which a gradient shall go (budget, temperature, discount, charge) may be tensors without axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

import restive
from restive import _device

from ._border import array, checked, copied, tensor


def _given(value: Any, like: Tensor) -> Tensor:
    """Rewards or a number as a tensor that stands beside `like`."""
    if isinstance(value, Tensor):
        return value.to(like) if value.dtype.is_floating_point else value
    return torch.as_tensor(value, dtype=like.dtype, device=like.device)


def _states(P: Tensor) -> int:
    return P.shape[-1] if P.ndim > 3 and P.shape[-2] == 2 and P.shape[-1] == P.shape[-3] else 2


def _axes(P: Tensor) -> list[int]:
    """Those of the arms."""
    return list(P.shape[:-3] if P.ndim > 3 and P.shape[-2] == 2 and P.shape[-1] == P.shape[-3] else P.shape[:-1])


def _rewards(P: Tensor, rewards: Any) -> Tensor:
    """As they are, or linear ones."""
    if rewards is not None:
        return _given(rewards, P)
    m = _states(P)
    return torch.arange(m, dtype=P.dtype, device=P.device) / max(m - 1, 1)


def _number(x: Tensor) -> float:
    return float(x.detach())


def _discount(x: Tensor) -> Any:
    return array(x) if x.ndim else _number(x)


def _start(x: Tensor) -> Any:
    return x.detach().cpu().numpy() if not x.dtype.is_floating_point else array(x)


def _like(values: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
    return tuple(tensor(value, x) for value, x in zip(values, inputs, strict=True))


@torch.library.custom_op("restive::horizon_index", mutates_args=())
def _horizon_index(P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str) -> Tensor:
    copied("horizon_index", P, "horizons")
    return tensor(restive.horizon_index(array(P), horizon, array(rewards), _discount(discount), ending).index, P)


@_horizon_index.register_fake
def _(P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str) -> Tensor:
    return P.new_empty([horizon, *_axes(P), _states(P)])


@torch.library.custom_op("restive::horizon_index_pullback", mutates_args=())
def _horizon_index_pullback(
    d_index: Tensor, P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str
) -> tuple[Tensor, Tensor, Tensor]:
    solved = restive.horizon_index(array(P), horizon, array(rewards), _discount(discount), ending)
    return _like(solved.pullback_all(array(d_index)), P, rewards, discount)


@_horizon_index_pullback.register_fake
def _(d_index: Tensor, P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(P), torch.empty_like(rewards), torch.empty_like(discount)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.settings = [x for x in inputs if not isinstance(x, Tensor)]
    ctx.save_for_backward(*(x for x in inputs if isinstance(x, Tensor)))


def _horizon_index_back(ctx: Any, d_index: Tensor) -> tuple[Tensor | None, ...]:
    return *_horizon_index_pullback(d_index, *ctx.saved_tensors, *ctx.settings), None, None


_horizon_index.register_autograd(_horizon_index_back, setup_context=_keep)


def horizon_index(P: Tensor, horizon: int, rewards: Any = None, discount: Any = 0.99, ending: str = "nothing") -> Tensor:
    """Whittle indices of arms with H decisions before them, [H,...,N,M]: `restive.horizon_index` with a gradient by P, rewards and discount.

    >>> import torch, restive.torch
    >>> arm = torch.tensor([[0.2, 0.8, 0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    >>> restive.torch.horizon_index(arm, 3, discount=0.5)[1, 0, 0].backward()
    >>> arm.grad
    tensor([[-0.5000,  0.5000,  0.0000,  0.0000]], dtype=torch.float64)
    """
    P = checked("P", P)
    return _horizon_index(P, _rewards(P, rewards), _given(discount, P), horizon, ending)


@torch.library.custom_op("restive::plan_prices", mutates_args=())
def _plan_prices(
    P: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str
) -> tuple[Tensor, Tensor, Tensor]:
    copied("plan_prices", P, "prices")
    found = _plan(P, initial, budget, rewards, discount, horizon, ending)
    return _like((found.price, found.bound, found.advantage), P, P, P)


def _plan(
    P: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str
) -> restive.PlanPrices:
    numbers = (_number(budget), horizon, array(rewards), _number(discount), ending)
    return restive.plan_prices(array(P), _start(initial), *numbers)


@_plan_prices.register_fake
def _(
    P: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str
) -> tuple[Tensor, Tensor, Tensor]:
    return P.new_empty([horizon]), P.new_empty([]), P.new_empty([horizon, P.shape[0], _states(P)])


@torch.library.custom_op("restive::plan_prices_pullback", mutates_args=())
def _plan_prices_pullback(
    d_bound: Tensor,
    d_advantage: Tensor,
    P: Tensor,
    initial: Tensor,
    budget: Tensor,
    rewards: Tensor,
    discount: Tensor,
    horizon: int,
    ending: str,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    found = _plan(P, initial, budget, rewards, discount, horizon, ending)
    back = found.pullback(_number(d_bound), array(d_advantage))
    start = initial if initial.dtype.is_floating_point else P
    return _like(back[:5], P, start, budget, rewards, discount)


@_plan_prices_pullback.register_fake
def _(
    d_bound: Tensor,
    d_advantage: Tensor,
    P: Tensor,
    initial: Tensor,
    budget: Tensor,
    rewards: Tensor,
    discount: Tensor,
    horizon: int,
    ending: str,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    start = (initial if initial.dtype.is_floating_point else P).new_empty([P.shape[0], _states(P)])
    return torch.empty_like(P), start, torch.empty_like(budget), torch.empty_like(rewards), torch.empty_like(discount)


def _plan_prices_back(ctx: Any, _: Tensor, d_bound: Tensor, d_advantage: Tensor) -> tuple[Tensor | None, ...]:
    P, initial, *_rest = ctx.saved_tensors
    d_P, d_initial, *others = _plan_prices_pullback(d_bound, d_advantage, *ctx.saved_tensors, *ctx.settings)
    return d_P, d_initial if initial.dtype.is_floating_point else None, *others, None, None


_plan_prices.register_autograd(_plan_prices_back, setup_context=_keep)


class PlanPrices(NamedTuple):
    """Prices of the pulls of a programme that ends."""

    price: Tensor
    """[H]; held: no gradient goes through it."""
    bound: Tensor
    """What no policy within the budget exceeds; its gradient is that of the smallest bound, up to the arms at the margin."""
    advantage: Tensor
    """[H,N,M]: the scores of a plan; their gradient holds the prices."""


def plan_prices(
    P: Tensor,
    initial: Any,
    budget: Any,
    horizon: int,
    rewards: Any = None,
    discount: Any = 1.0,
    ending: str = "nothing",
) -> PlanPrices:
    """Prices, bound and advantages of a programme of H decisions: `restive.plan_prices` with a gradient by everything, at held prices."""
    P = checked("P", P)
    initial = initial if isinstance(initial, Tensor) else torch.as_tensor(initial)
    numbers = (_given(budget, P), _rewards(P, rewards), _given(discount, P))
    price, bound, advantage = _plan_prices(P, initial, *numbers, horizon, ending)
    return PlanPrices(price.detach(), bound, advantage)


def _fluid(
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    rewards: Tensor,
    discount: Tensor,
    horizon: int,
) -> restive.FluidValue:
    numbers = (_number(budget), _number(temperature), horizon, array(rewards), _number(discount))
    return restive.fluid_value(array(P), array(index), array(initial), *numbers)


def _flows(P: Tensor, *others: Tensor) -> bool:
    """Whether masses flow on a graphics processor."""
    if not _device.takes(P):
        return False
    from restive._device import fluid as kernel

    return kernel.covers(P, *others)


@torch.library.custom_op("restive::fluid_value", mutates_args=())
def _fluid_value(
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    rewards: Tensor,
    discount: Tensor,
    horizon: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The value, and of a device the masses and thresholds that its pullback needs."""
    inputs = (P, index, initial, budget, temperature, rewards, discount)
    if horizon > 0 and _flows(*inputs):
        from restive._device import fluid as kernel

        is_wrong, *numbers = kernel.faulty(*inputs)
        if is_wrong:
            _fluid(*inputs, horizon)  # says what is wrong
        value, mass, root = kernel.solve(*inputs, horizon, *numbers)
        return value.to(P.dtype), mass, root
    value = tensor(_fluid(*inputs, horizon).value, P)
    copied("fluid_value", P, "arms of so many states")
    return value, *_untaped(P)


def _untaped(P: Tensor) -> tuple[Tensor, Tensor]:
    return P.new_empty([0], dtype=torch.float64), P.new_empty([0], dtype=torch.float64)


@_fluid_value.register_fake
def _(P: Tensor, *others: Any) -> tuple[Tensor, Tensor, Tensor]:
    *others, horizon = others
    if horizon > 0 and _flows(P, *others):
        mass = P.new_empty([horizon, P.shape[0], _states(P)], dtype=torch.float64)
        return P.new_empty([]), mass, P.new_empty([horizon, 6], dtype=torch.float64)
    return P.new_empty([]), *_untaped(P)


@torch.library.custom_op("restive::fluid_value_pullback", mutates_args=())
def _fluid_value_pullback(
    d_value: Tensor,
    mass: Tensor,
    root: Tensor,
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    rewards: Tensor,
    discount: Tensor,
    horizon: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    inputs = (P, index, initial, budget, temperature, rewards, discount)
    if mass.numel():
        from restive._device import fluid as kernel

        return kernel.pullback(d_value, mass, root, *inputs)
    return _like(_fluid(*inputs, horizon).pullback(_number(d_value)), *inputs)


@_fluid_value_pullback.register_fake
def _(
    d_value: Tensor, mass: Tensor, root: Tensor, *inputs: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return tuple(torch.empty_like(x) for x in inputs[:7])


def _keep_flow(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    *tensors, ctx.horizon = inputs
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*output[1:], *tensors)


def _fluid_value_back(ctx: Any, d_value: Tensor | None, *_: None) -> tuple[Tensor | None, ...]:
    if d_value is None:
        return (None,) * 8
    return *_fluid_value_pullback(d_value, *ctx.saved_tensors, ctx.horizon), None


_fluid_value.register_autograd(_fluid_value_back, setup_context=_keep_flow)


def _mass(initial: Any, P: Tensor) -> Tensor:
    """Where arms start, [N,M]: as it is given, or of states [N]."""
    initial = initial if isinstance(initial, Tensor) else torch.as_tensor(initial)
    if initial.ndim == 1 and not initial.dtype.is_floating_point:
        return torch.nn.functional.one_hot(initial.long(), _states(P)).to(P)
    return initial.to(P)


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
    """The value of soft top-k on indices [N,M] or [H,N,M] in the limit of many arms: `restive.fluid_value` with a gradient by everything."""
    P, index = checked("P", P), checked("index", index)
    numbers = [_given(budget, P), _given(temperature, P), _rewards(P, rewards)]
    return _fluid_value(P, index, _mass(initial, P), *numbers, _given(discount, P), horizon)[0]


def _decomposed(
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    charge: Tensor,
    occupancy: Tensor,
    rewards: Tensor,
    discount: Tensor,
) -> restive.DecomposedValue:
    numbers = (_number(budget), _number(temperature), _number(charge))
    world = (array(P), array(index), array(initial))
    return restive.decomposed_value(*world, *numbers, array(occupancy), array(rewards), _number(discount))


@torch.library.custom_op("restive::decomposed_value", mutates_args=())
def _decomposed_value(
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    charge: Tensor,
    occupancy: Tensor,
    rewards: Tensor,
    discount: Tensor,
) -> Tensor:
    copied("decomposed_value", P, "decomposed values")
    solved = _decomposed(P, index, initial, budget, temperature, charge, occupancy, rewards, discount)
    return tensor(solved.value, P)


@_decomposed_value.register_fake
def _(P: Tensor, *others: Any) -> Tensor:
    return P.new_empty([])


@torch.library.custom_op("restive::decomposed_value_pullback", mutates_args=())
def _decomposed_value_pullback(
    d_value: Tensor,
    P: Tensor,
    index: Tensor,
    initial: Tensor,
    budget: Tensor,
    temperature: Tensor,
    charge: Tensor,
    occupancy: Tensor,
    rewards: Tensor,
    discount: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    inputs = (P, index, initial, budget, temperature, charge, occupancy, rewards, discount)
    return _like(_decomposed(*inputs).pullback(_number(d_value)), *inputs)


@_decomposed_value_pullback.register_fake
def _(
    d_value: Tensor, *inputs: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    return tuple(torch.empty_like(x) for x in inputs)


def _decomposed_value_back(ctx: Any, d_value: Tensor) -> tuple[Tensor | None, ...]:
    return _decomposed_value_pullback(d_value, *ctx.saved_tensors)


_decomposed_value.register_autograd(_decomposed_value_back, setup_context=_keep)


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
    P, index = checked("P", P), checked("index", index)
    numbers = [_given(value, P) for value in (budget, temperature, charge, occupancy)]
    return _decomposed_value(P, index, _mass(initial, P), *numbers, _rewards(P, rewards), _given(discount, P))
