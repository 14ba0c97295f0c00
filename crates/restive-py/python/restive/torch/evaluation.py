"""Values of policies by importance sampling, of tensors: `restive::cwpdis`, and its pullback to pulls, rewards and discount.

The value is linear in the rewards, Σ_t γ^t Σ_i Σ_j w_tij r_tij with the shares w of the trajectories, so that its slopes by rewards and
discount are those shares and averages again. They are computed in plain PyTorch on whatever device, where they are asked for; the pulls'
are the kernel's.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any, NamedTuple

import torch
from torch import Tensor

import restive
from restive import _device
from restive._deprecated import renamed

from ._border import array, checked, constant, copied, setting, tensor, whole
from ._operator import Operator, blank_tape, forget, refuse, solved_on, tape_of

_LOG = "Tensor state, Tensor action, Tensor rewards, Tensor? propensity, Tensor discount"
_SETTINGS = "int? budget, str ratio_up_to, bool log_odds"


class _Log(NamedTuple):
    """A log and how it is judged, as the operators take it."""

    state: Tensor
    action: Tensor
    rewards: Tensor
    propensity: Tensor | None
    discount: Tensor
    budget: int | None
    ratio_up_to: str
    log_odds: bool

    def judge(self, pull: Tensor) -> Any:
        """By the native module."""
        propensity = None if self.propensity is None else array(self.propensity)
        log = (self.state.cpu().numpy(), self.action.cpu().numpy(), array(self.rewards))
        how = {"discount": float(self.discount), "ratio_up_to": self.ratio_up_to, "log_odds": self.log_odds}
        return restive.cwpdis(array(pull), *log, self.budget, propensity, **how)

    def judge_on_device(self, pull: Tensor, kept: dict[Any, Any]) -> Any:
        """By the kernels of the device; None where something is wrong."""
        if not _device.takes(pull):
            return None
        from restive._device import evaluation as kernel

        return kernel.judge(pull, {**self._asdict(), "discount": float(self.discount)}, kept)


def _shares(pull: Tensor, log: _Log) -> tuple[Tensor, Tensor]:
    """Of every decision [J,H,N]: its share w of the average, and what was earned."""
    (_, h, n), numbers = pull.shape, {"device": pull.device, "dtype": torch.float64}
    state, action = (x[:, :h].to(pull.device).long() for x in (log.state, log.action))
    rewards, z = log.rewards.to(**numbers), pull.to(torch.float64) if log.log_odds else pull.to(torch.float64).logit()
    if log.propensity is None:
        pulled = torch.full((), (log.budget or 0) / n, **numbers)
        chance = torch.where(action == 1, pulled, 1.0 - pulled)
    else:
        chance = log.propensity.to(**numbers)
    factor = torch.nn.functional.logsigmoid(torch.where(action == 1, z, -z)) - chance.log()
    factor = torch.where(action < 0, 0.0, factor)
    if log.ratio_up_to == "previous-step":
        factor = torch.nn.functional.pad(factor[:, :-1], (0, 0, 1, 0))
    if rewards.dim() == 3:
        earned, is_known = rewards, torch.isfinite(rewards)
    else:
        table = rewards if rewards.dim() == 2 else rewards[:, None].expand(-1, 2)
        earned = table[state.clamp_min(0), action.clamp_min(0)]
        is_known = (state >= 0) & ((action >= 0) | (table[:, 0] == table[:, 1])[state.clamp_min(0)])
    ratio = torch.where(is_known, factor.cumsum(1), -torch.inf)
    return torch.nan_to_num(ratio.softmax(0)), torch.where(is_known, earned, 0.0)


def _slopes(d_value: Tensor, pull: Tensor, log: _Log) -> tuple[Tensor, Tensor]:
    """What a cotangent of the value becomes on the rewards, in their shape, and on the discount."""
    share, earned = _shares(pull, log)
    h, discount = pull.shape[1], log.discount.to(share)
    step = torch.arange(h, device=pull.device, dtype=torch.float64)
    means = (share * earned).sum((0, 2))
    d_discount = (means[1:] * step[1:] * discount ** (step[1:] - 1.0)).sum() * d_value
    by_decision = d_value * share * (discount**step)[:, None]
    if log.rewards.dim() == 3:
        return by_decision, d_discount
    state, action = (x[:, :h].to(pull.device).long() for x in (log.state, log.action))
    table = by_decision.new_zeros(log.rewards.shape[0], 2)
    for a in (0, 1):  # where no action was logged both rewards are the same, and have half of it each
        part = torch.where(action < 0, 0.5 * by_decision, torch.where(action == a, by_decision, 0.0))
        table[:, a].index_add_(0, state.clamp_min(0).flatten(), torch.where(state >= 0, part, 0.0).flatten())
    return table if log.rewards.dim() == 2 else table.sum(1), d_discount


# ---- the operators --------------------------------------------------------------------------------------------------------------------


def _value(pull: Tensor, kept: Tensor | None, *log: Any) -> tuple[Tensor, Tensor, Tensor]:
    asked = _Log(*log)
    found = asked.judge_on_device(pull, getattr(kept, "restive", {}))
    if found is not None:
        value, sizes = found.value.to(pull.dtype), found.sizes
    else:
        found = asked.judge(pull)
        copied("cwpdis", pull, "such a log")
        value = tensor(found.value, pull)
        sizes = torch.tensor([found.effective_sample_size, found.dropped], dtype=torch.float64, device=pull.device)
    return value, sizes, tape_of(found, pull, *log[:5])


def _value_fake(pull: Tensor, kept: Tensor | None, *log: Any) -> tuple[Tensor, Tensor, Tensor]:
    return pull.new_empty(()), pull.new_empty(2, dtype=torch.float64), blank_tape(pull)


def _each(size: int, dims: Any, inputs: Any) -> list[Any]:
    """The inputs of every batch."""
    has_batch = [isinstance(dim, int) for dim in dims]
    moved = [x.movedim(dim, 0) if has else x for x, dim, has in zip(inputs, dims, has_batch)]
    return [[x[k] if has else x for x, has in zip(moved, has_batch)] for k in range(size)]


def _value_vmap(call: Any, size: int, dims: Any, *inputs: Any) -> Any:
    found = [call(*one)[:2] for one in _each(size, dims, inputs)]
    value, sizes = (torch.stack(x) for x in zip(*found))
    return (value, sizes, blank_tape(value)), (0, 0, None)


def _value_remember(ctx: Any, inputs: Any, output: Any) -> None:
    pull, _, *log = inputs
    _, sizes, tape = output
    ctx.save_for_backward(pull, *log[:5], tape)
    ctx.settings = log[5:]
    ctx.mark_non_differentiable(sizes, tape)


def _value_backward(ctx: Any, d_value: Tensor, *_: Any) -> tuple[Any, ...]:
    wants = [ctx.needs_input_grad[k] for k in (0, 4, 6)]
    pull, *log, tape = ctx.saved_tensors
    found = _cwpdis_pullback.on_the_way_back(d_value, pull, *log, tape, *ctx.settings, wants)
    d_pull, d_rewards, d_discount = (d if wanted else None for d, wanted in zip(found, wants))
    return d_pull, None, None, None, d_rewards, None, d_discount, None, None, None


def _pullback(d_value: Tensor, pull: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    *log, tape, budget, ratio_up_to, log_odds, wants = rest
    asked, none = _Log(*log, budget, ratio_up_to, log_odds), pull.new_empty(0)
    d_pull, d_rewards, d_discount = none, none.clone(), none.clone()
    if wants[0]:
        found = solved_on(tape, pull, *log)
        if found is None:
            found = asked.judge_on_device(pull, {}) or asked.judge(pull)
        if isinstance(found, restive.Cwpdis):
            d_pull = tensor(found.pullback(float(d_value)), pull)
        else:
            d_pull = found.pullback(d_value)
    if wants[1] or wants[2]:
        by_rewards, by_discount = _slopes(d_value.to(torch.float64), pull, asked)
        d_rewards = by_rewards.to(asked.rewards) if wants[1] else d_rewards
        d_discount = by_discount.to(asked.discount) if wants[2] else d_discount
    return d_pull, d_rewards, d_discount


def _pullback_fake(d_value: Tensor, pull: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    rewards, discount, wants = rest[2], rest[4], rest[-1]
    inputs = ((pull, wants[0]), (rewards, wants[1]), (discount, wants[2]))
    return tuple(
        torch.empty_like(x, memory_format=torch.contiguous_format) if wanted else pull.new_empty(0) for x, wanted in inputs
    )


def _pullback_vmap(call: Any, size: int, dims: Any, d_value: Tensor, *rest: Any) -> Any:
    if not any(isinstance(dim, int) for dim in dims[1:7]):  # linear in the cotangent: pulled back once
        found = call(d_value.new_ones(()), *rest)
        found = tuple(d_value.reshape(size, *[1] * d.dim()) * d for d in found)
    else:
        each = [call(*one) for one in _each(size, (*dims[:7], None, *dims[8:]), (d_value, *rest))]
        found = tuple(torch.stack(x) for x in zip(*each))
    return found, (0, 0, 0)


_cwpdis_pullback = Operator(
    f"cwpdis_pullback(Tensor d_value, Tensor pull, {_LOG}, Tensor tape, {_SETTINGS}, bool[3] wants) -> (Tensor, Tensor, Tensor)",
    _pullback,
    fake=_pullback_fake,
    vmap=_pullback_vmap,
    remember=forget,
    backward=refuse,
)
_cwpdis = Operator(
    f"cwpdis(Tensor pull, Tensor? kept, {_LOG}, {_SETTINGS}) -> (Tensor, Tensor, Tensor)",
    _value,
    fake=_value_fake,
    vmap=_value_vmap,
    remember=_value_remember,
    backward=_value_backward,
)


# ---- the function ---------------------------------------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """A value by importance sampling, and how much it rests on."""

    value: Tensor
    """Without axes; NaN where every term was dropped, because then nothing is known."""
    effective_sample_size: float | Tensor
    """How many equally weighted trajectories the ratios are worth at the last step, on average over the arms; a tensor without axes in
    compiled functions and under transforms."""
    dropped: int | Tensor
    """How many of the terms, one for each arm and step, were dropped; likewise."""


@renamed(k="budget", reward="rewards")
def cwpdis(
    pull: Tensor, state: Any, action: Any, rewards: Any, *, full: bool = False, **settings: Any
) -> Tensor | Judged:
    """What a target policy would have earned, judged from a log: consistent weighted per-decision importance sampling.

    Parameters
    ----------
    pull : tensor, [J,H,N]
        Probabilities with which the target pulls each arm in the logged states, or (`log_odds=True`) their log-odds.
    state : [J,H+1,N] or [J,H,N]
    action : [J,H,N] or [J,H+1,N]
    rewards : [M], [M,2] or [J,H,N]
    full : bool
        Whether to answer with effective sample size and dropped terms too.
    settings
        budget or propensity, discount, ratio_up_to, log_odds: those of `restive.cwpdis`.

    Returns
    -------
    value : tensor without axes, or `Judged`

    Notes
    -----
    A gradient goes through pulls, rewards and discount, where they are tensors that require it.
    """
    return judge(checked("pull", pull), log_of(state, action, rewards, **settings), full, None)


def log_of(
    state: Any,
    action: Any,
    rewards: Any,
    budget: Any = None,
    propensity: Any = None,
    discount: Any = 0.99,
    *,
    ratio_up_to: str = "this-step",
    log_odds: bool = False,
) -> _Log:
    """A log as the operators take it, or what is wrong with it."""
    discount = setting("discount", discount)
    if discount.numel() != 1:
        raise ValueError(f"discount: found shape {list(discount.shape)}, expected a number")
    if not isinstance(ratio_up_to, str):
        raise TypeError(f"ratio_up_to: found {type(ratio_up_to).__name__}, expected str")
    if isinstance(budget, Tensor):
        budget = constant("budget", budget).item()
    if budget is not None:
        if not hasattr(budget, "__index__"):
            raise TypeError(f"budget: found {type(budget).__name__}, expected a whole number")
        budget = max(min(operator.index(budget), 2**63 - 1), -(2**63))
    return _Log(
        whole("state", state),
        whole("action", action),
        setting("rewards", rewards),
        None if propensity is None else setting("propensity", constant("propensity", propensity)),
        discount.reshape(()),
        budget,
        ratio_up_to,
        bool(log_odds),
    )


def judge(pull: Tensor, log: _Log, full: bool, kept: Tensor | None) -> Tensor | Judged:
    """`cwpdis` of a log, with a tensor that can carry it on a device."""
    value, sizes, tape = _cwpdis(pull, kept, *log)
    is_transformed = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    if not is_transformed and pull.requires_grad and not log.log_odds:
        _, found = getattr(tape, "restive", ((), None))
        has_certain = getattr(found, "has_certain", None)
        has_certain = bool(((pull == 0) | (pull == 1)).any()) if has_certain is None else has_certain
        if has_certain:
            warnings.warn(
                "cwpdis: some pulls are 0 or 1 to the last digit and have no gradient; hand on log-odds instead "
                "(soft_top_k(..., log_odds=True) and cwpdis(..., log_odds=True))",
                stacklevel=4,
            )
    if not full:
        return value
    if is_transformed:
        size, dropped = sizes.unbind(-1)
        return Judged(value, size, dropped)
    size, dropped = sizes.tolist()
    return Judged(value, size, int(dropped))
