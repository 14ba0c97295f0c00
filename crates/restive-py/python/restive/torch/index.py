"""Whittle indices of tensors: `restive::whittle_index`, and its pullback to transitions, rewards and discount.

Inside, arms have one axis [N]: leading axes and those of `vmap` are more arms. Rewards are [M] or [M,2] for all of them or [N,M,2] of
each, the discount is one number or [N].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import restive
from restive import _device

from ._border import array, checked, copied, distributions, setting, tensor
from ._operator import Operator, batched, blank_tape, forget, refuse, solved_on, tape_of

_SETTINGS = "str layout, str observation, str chain, int? beliefs, str algorithm"


class _Asked(NamedTuple):
    """What is asked of arms, beside rewards and discount, as the operators take it."""

    layout: str
    observation: str
    chain: str
    """a number, 'infinite', or '' for none"""
    beliefs: int | None
    algorithm: str

    def settings(self) -> dict[str, Any]:
        """As the native module takes it."""
        chain: Any = int(self.chain) if self.chain.lstrip("-").isdigit() else self.chain or None
        return {**self._asdict(), "chain": chain}

    def labels(self, P: Tensor) -> int:
        """How many indices an arm has."""
        states = 2 if P.dim() == 2 else P.shape[-1]
        if self.observation != "collapsing":
            return states
        if self.chain == "infinite":
            return states * (10 if self.beliefs is None else self.beliefs)
        return states * int(self.chain or 0)


def _arms(P: Tensor, rewards: Tensor | None, discount: Tensor, asked: _Asked) -> Any:
    """Arms for the kernels of the device, or why there are none for them."""
    if not _device.takes(P):
        return f"tensors on {P.device.type}"
    from restive._device import index

    return index.arms(P, rewards, discount, **asked.settings())


def _native(P: Tensor, rewards: Tensor | None, discount: Tensor, asked: _Asked, differentiable: bool) -> Any:
    table = None if rewards is None else array(rewards)
    if table is not None and table.shape == (2, 2) and P.shape[0] == 2:  # which could be R(s) of each of two arms
        table = np.broadcast_to(table, (2, 2, 2))
    g = array(discount) if discount.dim() else float(discount)
    return restive.whittle_index(array(P), table, g, **asked.settings(), differentiable=differentiable)


# ---- the operators --------------------------------------------------------------------------------------------------------------------


def _index(P: Tensor, rewards: Tensor | None, discount: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    *asked, differentiable = rest
    asked = _Asked(*asked)
    arms = _arms(P, rewards, discount, asked)
    if not isinstance(arms, str):
        index = arms.solve(differentiable)
        if index is not None:
            return index, tape_of(arms, P, rewards, discount)
    solved = _native(P, rewards, discount, asked, differentiable)
    copied("whittle_index", P, arms if isinstance(arms, str) else "such arms")
    return tensor(solved.index, P), tape_of(solved, P, rewards, discount)


def _index_fake(P: Tensor, rewards: Tensor | None, discount: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return P.new_empty(P.shape[0], _Asked(*rest[:-1]).labels(P)), blank_tape(P)


def _index_vmap(call: Any, size: int, dims: Any, P: Tensor, rewards: Tensor | None, discount: Tensor, *rest: Any) -> Any:
    n = P.shape[0] if dims[0] is None else P.movedim(dims[0], 0).shape[1]
    P, rewards, discount = _flat(size, n, dims, P, rewards, discount, of_each=False)
    index, tape = call(P, rewards, discount, *rest)
    return (index.unflatten(0, (size, n)), tape), (0, None)


def _flat(
    size: int, n: int, dims: Any, P: Tensor, rewards: Tensor | None, discount: Tensor, of_each: bool
) -> tuple[Tensor, Tensor | None, Tensor]:
    """A batch of arms as more arms; settings that differ between batches, or all of them (`of_each`), as those of each arm."""
    P = batched(P, dims[0], size).flatten(0, 1)
    if rewards is not None and (of_each or dims[1] is not None or rewards.dim() == 3):
        rewards = batched(rewards, dims[1], size)
        states = rewards.shape[-1] if rewards.dim() == 2 else rewards.shape[-2]
        rewards = rewards[..., None] if rewards.dim() == 2 else rewards  # [B,M] -> [B,M,1]
        rewards = rewards[:, None] if rewards.dim() == 3 else rewards
        rewards = rewards.expand(size, n, states, 2).flatten(0, 1)
    if of_each or dims[2] is not None or discount.dim() == 1:
        discount = batched(discount, dims[2], size)
        discount = (discount[:, None] if discount.dim() == 1 else discount).expand(size, n).flatten()
    return P, rewards, discount


def _index_remember(ctx: Any, inputs: Any, output: Any) -> None:
    P, rewards, discount, *rest = inputs
    _, tape = output
    ctx.save_for_backward(P, rewards, discount, tape)  # P, so that autograd notices if it is overwritten meanwhile
    ctx.asked = rest[:-1]
    ctx.mark_non_differentiable(tape)


def _index_backward(ctx: Any, d_index: Tensor, _: Any) -> tuple[Any, ...]:
    wants = list(ctx.needs_input_grad[:3])
    found = _whittle_index_pullback.on_the_way_back(d_index, *ctx.saved_tensors, *ctx.asked, wants)
    return (*(d if wanted else None for d, wanted in zip(found, wants)), *[None] * 6)


def _pullback(
    d_index: Tensor, P: Tensor, rewards: Tensor | None, discount: Tensor, tape: Tensor, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    *asked, wants = rest
    asked = _Asked(*asked)
    solved = solved_on(tape, P, rewards, discount)
    if solved is None:
        solved = _arms(P, rewards, discount, asked)
        if isinstance(solved, str) or solved.solve(True) is None:
            solved = _native(P, rewards, discount, asked, True)
    none = P.new_empty(0)
    d_rewards, d_discount = none, none.clone()
    if isinstance(solved, restive.Indices):
        if any(wants[1:]):
            found = solved.pullback_all(array(d_index))
            d_P, by_rewards, by_discount = (torch.as_tensor(d, dtype=torch.float64) for d in found)
            if rewards is not None and by_rewards.dim() > rewards.dim():
                by_rewards = by_rewards.sum(0)
        else:
            d_P = solved.pullback(array(d_index))
        d_P = tensor(d_P, P)
    else:
        if solved.is_general and solved.tape is None:
            solved.solve(True)
        d_P = solved.pullback(d_index)
        if any(wants[1:]):
            by_rewards, by_discount = solved.pullback_settings(d_index)
            by_rewards = by_rewards if rewards is None else _gathered(by_rewards, rewards)
            by_discount = by_discount if discount.dim() else by_discount.sum()
    if wants[1] and rewards is not None:
        d_rewards = by_rewards.to(rewards)
    if wants[2]:
        d_discount = by_discount.to(discount)
    return d_P, d_rewards, d_discount


def _gathered(d_rewards: Tensor, rewards: Tensor) -> Tensor:
    """The cotangent of each arm's rewards, [N,M,2], in the shape of the rewards that were given."""
    d_rewards = d_rewards if rewards.dim() == 3 else d_rewards.sum(0)
    return d_rewards.sum(-1) if rewards.dim() == 1 else d_rewards


def _pullback_fake(
    d_index: Tensor, P: Tensor, rewards: Tensor | None, discount: Tensor, tape: Tensor, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    _, wants_rewards, wants_discount = rest[-1]
    return (
        torch.empty_like(P, memory_format=torch.contiguous_format),
        torch.empty_like(rewards) if wants_rewards and rewards is not None else P.new_empty(0),
        torch.empty_like(discount) if wants_discount else P.new_empty(0),
    )


def _pullback_vmap(
    call: Any, size: int, dims: Any, d_index: Tensor, P: Tensor, rewards: Tensor | None, discount: Tensor, tape: Tensor, *rest: Any
) -> Any:
    wants = rest[-1]
    d_index = batched(d_index, dims[0], size)
    n, shared = d_index.shape[1], (rewards, discount)
    flat = _flat(size, n, dims[1:], P, rewards, discount, of_each=any(wants[1:]))
    d_P, d_rewards, d_discount = call(d_index.flatten(0, 1), *flat, tape, *rest)
    d_P = d_P.unflatten(0, (size, n))
    rewards, discount = shared
    if wants[1] and rewards is not None:
        axes = rewards.dim() - (dims[2] is not None)
        d_rewards = d_rewards.unflatten(0, (size, n))
        d_rewards = d_rewards if axes == 3 else d_rewards.sum(1)
        d_rewards = d_rewards.sum(-1) if axes == 1 else d_rewards
    if wants[2]:
        axes = discount.dim() - (dims[3] is not None)
        d_discount = d_discount.unflatten(0, (size, n))
        d_discount = d_discount if axes else d_discount.sum(1)
    return (d_P, d_rewards, d_discount), (0, 0 if wants[1] and rewards is not None else None, 0 if wants[2] else None)


_whittle_index_pullback = Operator(
    f"whittle_index_pullback(Tensor d_index, Tensor P, Tensor? rewards, Tensor discount, Tensor tape, {_SETTINGS}, bool[3] wants)"
    " -> (Tensor, Tensor, Tensor)",
    _pullback,
    fake=_pullback_fake,
    vmap=_pullback_vmap,
    remember=forget,
    backward=refuse,
)
_whittle_index = Operator(
    f"whittle_index(Tensor P, Tensor? rewards, Tensor discount, {_SETTINGS}, bool differentiable) -> (Tensor, Tensor)",
    _index,
    fake=_index_fake,
    vmap=_index_vmap,
    remember=_index_remember,
    backward=_index_backward,
)


# ---- the functions --------------------------------------------------------------------------------------------------------------------


class _Problem(NamedTuple):
    """Arms and what is asked of them, as the operators take them, and the axes of the arms as they came."""

    P: Tensor
    rewards: Tensor | None
    discount: Tensor
    asked: _Asked
    axes: tuple[int, ...]


def _problem(
    P: Any,
    rewards: Any = None,
    discount: Any = 0.99,
    layout: str = "nsas",
    observation: str = "full",
    chain: Any = None,
    algorithm: str = "auto",
    *,
    beliefs: Any = None,
    horizon: None = None,
    **other: Any,
) -> _Problem:
    if "out" in other:
        raise ValueError("out: found an array, expected none for tensors: autograd keeps what is returned")
    if other:
        raise TypeError(f"whittle_index() got an unexpected keyword argument {next(iter(other))!r}")
    given, P = P, checked("P", P)
    is_full, axes = _axes(P, layout)
    if P is not given and is_full:
        P = distributions(P, given.dtype)
    if len(axes) != 1:
        P = P.reshape(-1, *P.shape[len(axes) :])
    rewards = None if rewards is None else _rewards(setting("rewards", rewards), axes, P.shape[-1] if is_full else 2)
    discount = setting("discount", discount)
    if discount.dim():
        if discount.shape == axes:
            discount = discount.reshape(-1)
        elif discount.numel() == 1:
            discount = discount.reshape(())
        else:
            raise ValueError(f"discount: found shape {list(discount.shape)}, expected a number, or {list(axes)}, one for each arm")
    names = {"layout": layout, "observation": observation, "algorithm": algorithm}
    for name, value in names.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: found {type(value).__name__}, expected str")
    if isinstance(chain, float) or isinstance(beliefs, float):
        name, value = ("chain", chain) if isinstance(chain, float) else ("beliefs", beliefs)
        raise TypeError(f"{name}: found {value}, expected a whole number")
    asked = _Asked(layout, observation, "" if chain is None else str(chain), beliefs, algorithm)
    return _Problem(P, rewards, discount, asked, axes)


def _axes(P: Tensor, layout: str) -> tuple[bool, tuple[int, ...]]:
    """Whether arms come in full, [...,N,M,2,M], and the axes of the arms; what is neither that nor compact has one, and is refused later."""
    shape = tuple(P.shape)
    states = shape[-3:-1] if layout == "nsas" else shape[-3:-1][::-1]
    if len(shape) >= 4 and states == (shape[-1], 2):
        return True, shape[:-3]
    return False, shape[:-1] if len(shape) >= 2 and shape[-1] == 4 else shape[:1]


def _rewards(rewards: Tensor, axes: tuple[int, ...], m: int) -> Tensor:
    """Rewards as the operators take them: [M] or [M,2] of all arms, or [N,M,2] of each."""
    shape = tuple(rewards.shape)
    if len(axes) == 1 and shape == (2, 2) == (axes[0], m):
        raise ValueError(
            "rewards: found shape [2, 2] for two arms of two states, expected [2] or [2, 2, 2], because it could be R(s,a) of all arms or R(s) "
            "of each: expand it to [N,M,2]"
        )
    if shape in ((m,), (m, 2)):
        return rewards
    if shape in ((*axes, m), (*axes, m, 2)):
        rewards = rewards[..., None].expand(*shape, 2) if len(shape) == len(axes) + 1 else rewards
        return rewards.reshape(-1, m, 2)
    raise ValueError(f"rewards: found shape {list(shape)}, expected [{m}] or [{m}, 2] for all arms, or with {list(axes)} in front for each")


def whittle_index(P: Tensor, rewards: Any = None, discount: Any = 0.99, **settings: Any) -> Tensor:
    """Whittle indices of N arms.

    Parameters
    ----------
    P : tensor, [...,N,M,2,M] or compact [...,N,4]
    rewards : [M] or [M,2] for all arms, or [...,N,M] or [...,N,M,2], optional
    discount : a number, or [...,N]
        Where P, rewards or discount are tensors that require it, a gradient goes through them.
    settings
        layout, observation, chain, algorithm, beliefs: those of `restive.whittle_index`. With `horizon` and `ending` the answer is that of
        `horizon_index`.

    Returns
    -------
    tensor, [...,N,M] (collapsing: [...,N, M*T])
        For verdict and residual see `restive.whittle_index`.
    """
    if settings.get("horizon") is not None:
        return _with_horizon(P, rewards, discount, **settings)
    problem = _problem(P, rewards, discount, **settings)
    inputs = (problem.P, problem.rewards, problem.discount)
    differentiable = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs)
    index, _ = _whittle_index(*inputs, *problem.asked, differentiable)
    return index if len(problem.axes) == 1 else index.unflatten(0, problem.axes)


def _with_horizon(P: Tensor, rewards: Any, discount: Any, horizon: Any, ending: Any = None, **other: Any) -> Tensor:
    from .horizon import horizon_index  # which needs the axes of this module

    if other:
        raise ValueError(f"{next(iter(other))}: found a setting, expected none beside a horizon")
    return horizon_index(P, horizon, rewards, discount, "nothing" if ending is None else ending)


def whittle_index_and_pullback(
    P: Tensor, d_index: Tensor, rewards: Any = None, discount: Any = 0.99, *, validate: bool = True, **settings: Any
) -> tuple[Tensor, Tensor]:
    """Whittle indices, and what a cotangent of them that is known beforehand becomes on P: both passes in one, without autograd, transforms and compilers.

    Two states are a race for memory, which on a graphics processor this wins: 96 bytes an arm in compact float64 instead of the
    128 of a forward and a backward pass.

    Parameters
    ----------
    P : tensor, [...,N,M,2,M] or compact [...,N,4]
    d_index : tensor, [...,N,M], of the type and on the device of P
    rewards, discount, settings
        Those of `whittle_index`.
    validate : bool
        Whether to wait for the device, to learn if the arms are distributions. Without, indices of two-state arms that are none are NaN there.

    Returns
    -------
    index : tensor, [...,N,M]
    d_P : tensor of the shape of P
    """
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        raise RuntimeError("whittle_index_and_pullback: no operator, neither compiled nor transformed; use whittle_index and its gradient there")
    P, d_index = checked("P", P).detach(), checked("d_index", d_index).detach()
    problem = _problem(P, rewards, discount, **settings)
    count = problem.asked.labels(problem.P)
    if tuple(d_index.shape) != (*problem.axes, count):
        raise ValueError(f"d_index: found shape {list(d_index.shape)}, expected {[*problem.axes, count]}")
    is_flat = len(problem.axes) == 1
    cotangent = d_index if is_flat else d_index.reshape(-1, count)
    arms = _arms(problem.P, problem.rewards, problem.discount, problem.asked)
    both = None
    if not isinstance(arms, str) and d_index.device == P.device:
        both = arms.solve_and_pull_back(cotangent, validate)
    if both is None:
        solved = _native(*problem[:4], True)
        both = tensor(solved.index, P), tensor(solved.pullback(array(cotangent)), P)
        copied("whittle_index_and_pullback", P, arms if isinstance(arms, str) else "such arms")
    index, d_P = both
    return (index, d_P) if is_flat else (index.reshape(d_index.shape), d_P.reshape(P.shape))
