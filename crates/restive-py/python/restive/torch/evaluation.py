"""Values of policies by importance sampling, of tensors: `restive::cwpdis`, and its pullback to pulls, rewards and discount.

Problems have axes in front, and all of them are one call of the native module. A batch of `vmap`, be it of pulls, logs, logged rewards
or discounts, is one more such axis, there and back; tables of rewards are shared by all problems of a call, so that batches of tables are a
loop. What is linear is not computed twice: cotangents of one judgement are pulled back once.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import restive
from restive._deprecated import renamed

from ._border import array, checked, copied, tensor
from ._log import SCHEMA, TAILS, Log, log_of
from ._operator import Operator, batched, blank_tape, forget, of_each, refuse, solved_on, summed, tape_of
from ._solver import looped

_SETTINGS = "str ratio_up_to, bool log_odds"

# ---- the operators --------------------------------------------------------------------------------------------------------------------


def _value(pull: Tensor, kept: Tensor | None, *log: Any) -> tuple[Tensor, Tensor, Tensor]:
    asked = Log(*log)
    found = asked.judge_on_device(pull, getattr(kept, "restive", {}))
    if found is not None:
        value, sizes = found.value.to(pull.dtype), found.sizes
    else:
        found = asked.judge(pull)
        copied("cwpdis", pull, "such a log" if asked.mask is None else "masks")
        value = tensor(found.value, pull)
        counted = (found.effective_sample_size, found.dropped)
        sizes = torch.from_numpy(np.array(counted) if pull.dim() == 3 else np.stack(counted, -1)).to(pull.device)
    return value, sizes, tape_of(found, pull, *log[:7])


def _value_fake(pull: Tensor, kept: Tensor | None, *log: Any) -> tuple[Tensor, Tensor, Tensor]:
    axes = pull.shape[:-3]
    return pull.new_empty(axes), pull.new_empty((*axes, 2), dtype=torch.float64), blank_tape(pull)


def _without(x: Tensor, dim: int | None) -> torch.Size:
    """The shape of a problem's tensor, without that of the batch."""
    return x.shape if dim is None else x.movedim(dim, 0).shape[1:]


def _in_front(size: int, dims: Any, pull: Tensor, log: Any, wants: Any) -> list[Any] | None:
    """Problems with a batch as an axis in front of theirs, and what is wanted (rewards, discount) of each; None where they have to be
    judged one by one."""
    axes = _without(pull, dims[0])[:-3]
    shapes = [None if x is None else _without(x, dim) for x, dim in zip(log, dims[1:])]
    if any(shape is not None and len(shape) > tail and shape[:-tail or None] != axes for shape, tail in zip(shapes, TAILS)):
        return None  # the native module says what does not fit
    is_table = len(shapes[2]) < 3
    if is_table and (wants[0] or dims[3] is not None):
        return None
    *parts, mask = log
    always = [False, False, wants[0], False, wants[1], False]
    found = [
        x if k == 2 and is_table else of_each(x, dims[k + 1], size, axes, TAILS[k], always[k]) for k, x in enumerate(parts)
    ]
    if mask is not None and dims[7] is not None:  # broadcast from the right
        mask = batched(mask, dims[7], size)
        mask = mask.reshape(size, *[1] * (len(axes) + 4 - mask.dim()), *mask.shape[1:])
    return [batched(pull, dims[0], size), *found, mask]


def _value_vmap(call: Any, size: int, dims: Any, pull: Tensor, kept: Tensor | None, *rest: Any) -> Any:
    *log, up_to, log_odds = rest
    in_front = _in_front(size, (dims[0], *dims[2:]), pull, log, (False, False))
    if in_front is not None:
        # what is kept of a log is that of this very log
        kept = None if any(isinstance(dim, int) for dim in dims[2:]) else kept
        return call(in_front[0], kept, *in_front[1:], up_to, log_odds), (0, 0, None)
    value, sizes, _ = looped(call, size, dims, (pull, None, *rest))
    return (value, sizes, blank_tape(value)), (0, 0, None)


def _value_remember(ctx: Any, inputs: Any, output: Any) -> None:
    pull, _, *log = inputs
    _, sizes, tape = output
    ctx.save_for_backward(pull, *log[:7], tape)
    ctx.settings = log[7:]
    ctx.mark_non_differentiable(sizes, tape)


def _value_backward(ctx: Any, d_value: Tensor, *_: Any) -> tuple[Any, ...]:
    wants = [ctx.needs_input_grad[k] for k in (0, 4, 6)]
    found = _cwpdis_pullback.on_the_way_back(d_value, *ctx.saved_tensors, *ctx.settings, wants)
    d_pull, d_rewards, d_discount = (d if wanted else None for d, wanted in zip(found, wants))
    return d_pull, None, None, None, d_rewards, None, d_discount, None, None, None, None


def _pullback(d_value: Tensor, pull: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    *log, tape, ratio_up_to, log_odds, wants = rest
    asked = Log(*log, ratio_up_to, log_odds)
    found, by_earned = solved_on(tape, pull, *log), wants[1] or wants[2]
    if found is None:
        found = asked.judge_on_device(pull, {}) or asked.judge(pull)
    back: Any
    if isinstance(found, restive.Cwpdis):
        d = array(d_value) if d_value.dim() else float(d_value)
        back = found.pullback_all(d) if by_earned else (found.pullback(d), None, None)
    else:
        d_pull = found.pullback(d_value) if wants[0] else None
        back = (d_pull, *(asked.slopes_on_device(d_value, pull) if by_earned else (None, None)))
    each = zip(back, (pull, asked.rewards, asked.discount), wants)
    return tuple(tensor(d, x) if wanted else pull.new_empty(0) for d, x, wanted in each)


def _pullback_fake(d_value: Tensor, pull: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    each = zip((pull, rest[2], rest[4]), rest[-1])
    return tuple(
        torch.empty_like(x, memory_format=torch.contiguous_format) if wanted else pull.new_empty(0) for x, wanted in each
    )


def _pullback_vmap(call: Any, size: int, dims: Any, d_value: Tensor, pull: Tensor, *rest: Any) -> Any:
    *log, tape, up_to, log_odds, wants = rest
    inputs, at, tails = (pull, log[2], log[4]), (dims[1], dims[4], dims[6]), (3, 3, 0)
    axes = _without(pull, dims[1])[:-3]
    is_apart = all(x.dim() > tail or not axes for x, tail, wanted in zip(inputs, tails, wants) if wanted)
    out = tuple(0 if wanted else None for wanted in wants)
    if is_apart and not any(isinstance(dim, int) for dim in dims[1:9]):  # linear in the cotangents: pulled back once
        d_value = batched(d_value, dims[0], size)
        found = call(d_value.new_ones(axes), pull, *rest)
        each = zip(found, wants)
        scaled = (d_value.reshape(size, *axes, *[1] * (d.dim() - len(axes))) * d if wanted else d for d, wanted in each)
        return tuple(x.to(d) for x, d in zip(scaled, found)), out
    in_front = _in_front(size, dims[1:9], pull, log, wants[1:])
    if in_front is None:
        return looped(call, size, (*dims[:9], None, *dims[10:]), (d_value, pull, *rest)), (0, 0, 0)
    found = call(batched(d_value, dims[0], size), *in_front, tape, up_to, log_odds, wants)
    each = zip(found, inputs, at, tails, wants)
    return tuple(summed(d, x, dim, axes, tail) if wanted else d for d, x, dim, tail, wanted in each), out


_cwpdis_pullback = Operator(
    f"cwpdis_pullback(Tensor d_value, Tensor pull, {SCHEMA}, Tensor tape, {_SETTINGS}, bool[3] wants) -> (Tensor, Tensor, Tensor)",
    _pullback,
    fake=_pullback_fake,
    vmap=_pullback_vmap,
    remember=forget,
    backward=refuse,
)
_cwpdis = Operator(
    f"cwpdis(Tensor pull, Tensor? kept, {SCHEMA}, {_SETTINGS}) -> (Tensor, Tensor, Tensor)",
    _value,
    fake=_value_fake,
    vmap=_value_vmap,
    remember=_value_remember,
    backward=_value_backward,
)


# ---- the function ---------------------------------------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """Values by importance sampling, and how much they rest on."""

    value: Tensor
    """[...], the axes of the problems; NaN where every term was dropped, because then nothing is known."""
    effective_sample_size: float | Tensor
    """How many equally weighted trajectories the ratios are worth at the last step, on average over the arms; a tensor in the shape of the
    value where that has axes, in compiled functions and under transforms."""
    dropped: int | Tensor
    """How many of the terms, one for each arm and step, were dropped; likewise."""


@renamed(k="budget", reward="rewards")
def cwpdis(
    pull: Tensor, state: Any, action: Any, rewards: Any, *, full: bool = False, **settings: Any
) -> Tensor | Judged:
    """What a target policy would have earned, judged from a log: consistent weighted per-decision importance sampling.

    Parameters
    ----------
    pull : tensor, [...,J,H,N]
        Probabilities with which the target pulls each arm in the logged states, or (`log_odds=True`) their log-odds. Axes in front
        are problems of their own; what the log has without them is shared by all, as when many targets are judged by one log.
    state : [...,J,H+1,N] or [...,J,H,N]
    action : [...,J,H,N] or [...,J,H+1,N]
    rewards : [M], [M,2] or [...,J,H,N]
    full : bool
        Whether to answer with effective sample size and dropped terms too.
    settings
        budget (whole numbers, one or [...]) or propensity ([...,J,H,N]), discount (one or [...]), ratio_up_to, log_odds, mask (booleans,
        what broadcasts to the pulls): those of `restive.cwpdis`.

    Returns
    -------
    value : tensor, [...], or `Judged`

    Notes
    -----
    A gradient goes through pulls, rewards and discount, where they are tensors that require it, summed over the problems that share them.

    Examples
    --------
    >>> import torch, restive.torch
    >>> state, action = [[[0, 1], [1, 1]], [[1, 0], [0, 0]]], [[[1, 0]], [[0, 1]]]  # two trajectories, one decision, two arms
    >>> pull = torch.tensor([0.5, 0.9], dtype=torch.float64).reshape(2, 1, 1, 1).expand(2, 2, 1, 2)  # two targets, one log
    >>> rewards = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    >>> value = restive.torch.cwpdis(pull, state, action, rewards, budget=1)
    >>> [round(x, 6) for x in value.tolist()]
    [1.0, 0.2]
    >>> value[1].backward()
    >>> [round(x, 6) for x in rewards.grad.tolist()]
    [1.8, 0.2]
    """
    return judge(checked("pull", pull), log_of(state, action, rewards, **settings), full, None)


def judge(pull: Tensor, log: Log, full: bool, kept: Tensor | None) -> Tensor | Judged:
    """`cwpdis` of a log, with a tensor that can carry it on a device."""
    value, sizes, tape = _cwpdis(pull, kept, *log)
    is_transformed = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    if not is_transformed and pull.requires_grad and not log.log_odds:
        _, found = getattr(tape, "restive", ((), None))
        has_certain = getattr(found, "has_certain", None)
        if _has_certain(pull, log) if has_certain is None else has_certain:
            warnings.warn(
                "cwpdis: some pulls are 0 or 1 to the last digit and have no gradient; hand on log-odds instead "
                "(soft_top_k(..., log_odds=True) and cwpdis(..., log_odds=True))",
                stacklevel=4,
            )
    if not full:
        return value
    if is_transformed or value.dim():
        size, dropped = sizes.unbind(-1)
        return Judged(value, size, dropped.long())
    size, dropped = sizes.tolist()
    return Judged(value, size, int(dropped))


def _has_certain(pull: Tensor, log: Log) -> bool:
    """Whether an arm that is there is pulled for certain, or for certain not."""
    is_certain = (pull == 0) | (pull == 1)
    return bool((is_certain if log.mask is None else is_certain & log.mask.to(pull.device)).any())
