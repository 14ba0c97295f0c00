"""Soft policies of tensors: `restive::soft_top_k`, and its pullback to scores, budget, temperature and costs.

Scores are [...,N], each row a problem of its own. Budget and temperature are one number for all or [...], costs and masks [N] for all or
[...,N]; a batch of `vmap` is one more axis in front.

With z the log-odds, s = pull (1 - pull) and w = s/Σs, a cotangent c of the pulls becomes Σ w c on the budget, one of the log-odds Σc/Σs.
On a device both are taken from z, where nothing is lost however strict the policy. Costs have no kernel there: they go through the CPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import restive
from restive import _device
from restive._deprecated import renamed

from ._border import array, booleans, checked, copied, plain, setting, tensor
from ._operator import Operator, batched, blank_tape, forget, of_each, refuse, solved_on, summed, tape_of

#: axes that budget, temperature, costs and mask have beside those of the problems
_TAILS = (0, 0, 1, 1)
_BESIDE = "Tensor budget, Tensor temperature, Tensor? costs, Tensor? mask"

# ---- the operators --------------------------------------------------------------------------------------------------------------------


def _on_device(scores: Tensor, budget: Tensor, temperature: Tensor, costs: Tensor | None, mask: Tensor | None) -> Any:
    """Rows and their thresholds on the device, or None where something is wrong or there is no kernel."""
    if costs is not None or not _device.takes(scores):
        return None
    from restive._device import rows

    return rows.solve(scores, budget, temperature, mask)


def _native(scores: Tensor, budget: Tensor, temperature: Tensor, costs: Tensor | None, mask: Tensor | None) -> Any:
    settings = (array(x) if x.dim() else float(x) for x in (budget, temperature))
    if costs is None and mask is None:
        return restive.soft_top_k(array(scores), *settings)
    beside = {"costs": None if costs is None else array(costs), "mask": None if mask is None else plain(mask)}
    return restive.soft_top_k(array(scores), *settings, **beside)


def _pull(scores: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    *beside, log_odds = rest
    solved = _on_device(scores, *beside)
    if solved is not None:
        return solved.pulls(log_odds).to(scores.dtype), tape_of(solved, scores, *beside)
    solved = _native(scores, *beside)
    copied("soft_top_k", scores, "such scores" if beside[2] is None else "costs")
    return tensor(solved.log_odds if log_odds else solved.pull, scores), tape_of(solved, scores, *beside)


def _pull_fake(scores: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(scores, memory_format=torch.contiguous_format), blank_tape(scores)


def _in_front(size: int, dims: Any, scores: Tensor, beside: Any, always: bool) -> tuple[Any, ...]:
    """A batch of problems as an axis in front of theirs."""
    scores = batched(scores, dims[0], size)
    axes = scores.shape[1:-1]
    return scores, *(of_each(x, dim, size, axes, tail, always) for x, dim, tail in zip(beside, dims[1:], _TAILS))


def _pull_vmap(call: Any, size: int, dims: Any, scores: Tensor, *rest: Any) -> Any:
    *beside, log_odds = rest
    return call(*_in_front(size, dims, scores, beside, always=False), log_odds), (0, None)


def _pull_remember(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, ctx.log_odds = inputs
    _, tape = output
    ctx.save_for_backward(*tensors, tape)
    ctx.mark_non_differentiable(tape)


def _pull_backward(ctx: Any, d_pull: Tensor, _: Any) -> tuple[Any, ...]:
    wants = list(ctx.needs_input_grad[:4])
    found = _soft_top_k_pullback.on_the_way_back(d_pull, *ctx.saved_tensors, ctx.log_odds, wants)
    return (*(d if wanted else None for d, wanted in zip(found, wants)), None, None)


def _pullback(d_pull: Tensor, scores: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    *beside, tape, log_odds, wants = rest
    solved = solved_on(tape, scores, *beside)
    if solved is None:
        solved = _on_device(scores, *beside) or _native(scores, *beside)
    found: Any
    if not isinstance(solved, restive.SoftTopK):
        d_scores, d_temperature = solved.pullback(d_pull, log_odds)
        d_budget = _by_budget(solved.log_odds(), d_pull.to(torch.float64), log_odds) if wants[1] else d_temperature
        each = ((d_budget, beside[0]), (d_temperature, beside[1]))
        found = (d_scores, *(d.reshape(x.shape) if x.dim() else d.sum() for d, x in each), None)
    elif wants[1] or wants[3]:
        found = solved.pullback_all(array(d_pull), log_odds=log_odds)
    else:
        d_scores, d_temperature = solved.pullback(array(d_pull), log_odds=log_odds)
        found = (d_scores, None, d_temperature, None)
    asked = zip(found, (scores, *beside), (True, *wants[1:]))
    return tuple(tensor(d, x) if wanted else scores.new_empty(0) for d, x, wanted in asked)


def _by_budget(z: Tensor, c: Tensor, log_odds: bool) -> Tensor:
    """What a cotangent of each row becomes on its budget; 0 where every pull is 0 or 1."""
    log_slope = torch.nn.functional.logsigmoid(z) + torch.nn.functional.logsigmoid(-z)
    if log_odds:
        is_free = log_slope > -torch.inf
        d = torch.where(is_free, c, 0.0).sum(-1) * torch.exp(-log_slope.logsumexp(-1))
        return torch.where(is_free.any(-1), d, 0.0)
    return torch.where(torch.isfinite(log_slope).any(-1, keepdim=True), log_slope.softmax(-1) * c, 0.0).sum(-1)


def _pullback_fake(d_pull: Tensor, scores: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    *beside, _, _, wants = rest
    d_scores = torch.empty_like(scores, memory_format=torch.contiguous_format)
    return d_scores, *(x.new_empty(x.shape) if wanted else scores.new_empty(0) for x, wanted in zip(beside, wants[1:]))


def _pullback_vmap(call: Any, size: int, dims: Any, d_pull: Tensor, scores: Tensor, *rest: Any) -> Any:
    *beside, tape, log_odds, wants = rest
    in_front = _in_front(size, dims[1:6], scores, beside, always=any(wants[1:]))
    axes = in_front[0].shape[1:-1]
    d_scores, *found = call(batched(d_pull, dims[0], size), *in_front, tape, log_odds, wants)
    each = zip(found, beside, dims[2:5], _TAILS, wants[1:])
    found = [summed(d, x, dim, axes, tail) if wanted else d for d, x, dim, tail, wanted in each]
    return (d_scores, *found), (0, *(0 if wanted else None for wanted in wants[1:]))


_soft_top_k_pullback = Operator(
    f"soft_top_k_pullback(Tensor d_pull, Tensor scores, {_BESIDE}, Tensor tape, bool log_odds, bool[4] wants)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
    _pullback,
    fake=_pullback_fake,
    vmap=_pullback_vmap,
    remember=forget,
    backward=refuse,
)
_soft_top_k = Operator(
    f"soft_top_k(Tensor scores, {_BESIDE}, bool log_odds) -> (Tensor, Tensor)",
    _pull,
    fake=_pull_fake,
    vmap=_pull_vmap,
    remember=_pull_remember,
    backward=_pull_backward,
)


# ---- the function ---------------------------------------------------------------------------------------------------------------------


@renamed(k="budget")
def soft_top_k(
    scores: Tensor,
    budget: float | Tensor,
    temperature: float | Tensor,
    *,
    costs: Any = None,
    mask: Any = None,
    log_odds: bool = False,
) -> Tensor:
    """Pulls the arms with the highest scores, as many as the budget pays for, softly.

    Parameters
    ----------
    scores : tensor, [...,N]
    budget : a number, or [...], one for each problem
        From 0 to N; with costs any number of at least 0. Where it pays for more than there is, everybody is pulled.
    temperature : a number, or [...], one for each problem
        In the unit of the scores; with costs, of scores per cost.
    costs : [N] or [...,N], optional
        What a pull of each arm costs, above 0: arms compete by score per cost, and what they cost sums to the budget.
    mask : booleans, [N] or [...,N], optional
        Whether each arm is there. One that is not has pull 0, log-odds -inf and no gradient, and the others are pulled as if it did not
        exist.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : tensor, [...,N], summing to the budget over the arms, or their costs doing so; or their log-odds

    Notes
    -----
    A gradient goes through scores, and through budget, temperature and costs where they are tensors.

    Examples
    --------
    >>> import torch, restive.torch
    >>> scores = torch.tensor([[0.9, 0.1, 0.4], [0.2, 0.8, 0.7]], dtype=torch.float64)
    >>> budget = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> pull = restive.torch.soft_top_k(scores, budget, 0.1)
    >>> pull.sum(-1).round(decimals=12).tolist()
    [1.0, 2.0]
    >>> pull.sum().backward()
    >>> budget.grad.round(decimals=12).tolist()  # one more place is one more pull
    [1.0, 1.0]
    >>> costs = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    >>> pull = restive.torch.soft_top_k(scores, 2.0, 0.1, costs=costs, mask=[True, True, False])
    >>> (pull @ costs).round(decimals=12).tolist()  # what each problem spends; the third arm is not there
    [2.0, 2.0]
    >>> pull[0, 0].backward()
    >>> (costs.grad < 0).tolist()  # the first is pulled less if any of the two costs more
    [True, True, False]
    """
    scores = checked("scores", scores)
    if not scores.dim():
        raise ValueError("scores: found shape [], expected [..., N]")
    axes = scores.shape[:-1]
    budget, temperature = _of_problems("budget", budget, axes), _of_problems("temperature", temperature, axes)
    if costs is not None:
        costs = _of_arms("costs", setting("costs", costs), scores.shape)
    if mask is not None:
        mask = _of_arms("mask", booleans("mask", mask), scores.shape)
    pull, _ = _soft_top_k(scores, budget, temperature, costs, mask, bool(log_odds))
    return pull


def _of_problems(name: str, value: Any, axes: torch.Size) -> Tensor:
    """A setting of all problems [] or of each [...]."""
    value = setting(name, value)
    if value.dim() == 0 or value.shape == axes:
        return value
    if value.numel() == 1:
        return value.reshape(())
    raise ValueError(f"{name}: found shape {list(value.shape)}, expected a number, or {list(axes)}, one for each problem")


def _of_arms(name: str, value: Tensor, shape: torch.Size) -> Tensor:
    """What arms have in all problems, [N], or in each, [...,N]."""
    if value.shape in (shape, shape[-1:]):
        return value
    own = f"shape {list(shape)}, that of the scores"
    expected = own if len(shape) == 1 else f"{own}, or {list(shape[-1:])}"
    raise ValueError(f"{name}: found shape {list(value.shape)}, expected {expected}")
