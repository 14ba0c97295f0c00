"""Soft policies of tensors: `restive::soft_top_k`, and its pullback to scores, budget and temperature.

Inside, scores are rows [B,N], each a problem of its own; budget and temperature are one number for all or [B].

With z the log-odds, s = pull (1 - pull) and w = s/Σs, a cotangent c of the pulls becomes Σ w c on the budget, one of the log-odds Σc/Σs.
On a device both are taken from z, where nothing is lost however strict the policy.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import restive
from restive import _device
from restive._deprecated import renamed

from ._border import array, checked, copied, setting, tensor
from ._operator import Operator, batched, blank_tape, forget, refuse, solved_on, tape_of

# ---- the operators --------------------------------------------------------------------------------------------------------------------


def _on_device(scores: Tensor, budget: Tensor, temperature: Tensor) -> Any:
    """Rows and their thresholds on the device, or None where something is wrong or there is no kernel."""
    if not _device.takes(scores):
        return None
    from restive._device import soft_top_k as kernel

    rows = scores.contiguous()
    roots, is_wrong = kernel.solve(rows, budget, temperature)
    return None if is_wrong else (rows, roots)


def _native(scores: Tensor, budget: Tensor, temperature: Tensor) -> Any:
    settings = (array(x) if x.dim() else float(x) for x in (budget, temperature))
    return restive.soft_top_k(array(scores), *settings)


def _pull(scores: Tensor, budget: Tensor, temperature: Tensor, log_odds: bool) -> tuple[Tensor, Tensor]:
    solved = _on_device(scores, budget, temperature)
    if solved is not None:
        from restive._device import soft_top_k as kernel

        return kernel.pulls(*solved, log_odds), tape_of(solved, scores, budget, temperature)
    solved = _native(scores, budget, temperature)
    copied("soft_top_k", scores, "such scores")
    return tensor(solved.log_odds if log_odds else solved.pull, scores), tape_of(solved, scores, budget, temperature)


def _pull_fake(scores: Tensor, budget: Tensor, temperature: Tensor, log_odds: bool) -> tuple[Tensor, Tensor]:
    return torch.empty_like(scores, memory_format=torch.contiguous_format), blank_tape(scores)


def _flat(
    size: int, dims: Any, scores: Tensor, budget: Tensor, temperature: Tensor, of_each: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Batches of rows as more rows; settings that differ between batches, or all of them (`of_each`), as those of each row."""
    scores = batched(scores, dims[0], size)
    rows = scores.shape[1]
    settings = []
    for value, dim in ((budget, dims[1]), (temperature, dims[2])):
        axes = value.dim() - (dim is not None)
        if of_each or axes or dim is not None:
            value = batched(value, dim, size)
            value = (value if axes else value[:, None]).expand(size, rows).flatten()
        settings.append(value)
    return scores.flatten(0, 1), *settings


def _pull_vmap(call: Any, size: int, dims: Any, scores: Tensor, budget: Tensor, temperature: Tensor, log_odds: bool) -> Any:
    flat = _flat(size, dims, scores, budget, temperature, of_each=False)
    pull, tape = call(*flat, log_odds)
    return (pull.unflatten(0, (size, -1 if size else 0)), tape), (0, None)


def _pull_remember(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, ctx.log_odds = inputs
    _, tape = output
    ctx.save_for_backward(*tensors, tape)
    ctx.mark_non_differentiable(tape)


def _pull_backward(ctx: Any, d_pull: Tensor, _: Any) -> tuple[Any, ...]:
    wants = list(ctx.needs_input_grad[:3])
    found = _soft_top_k_pullback.on_the_way_back(d_pull, *ctx.saved_tensors, ctx.log_odds, wants)
    return (*(d if wanted else None for d, wanted in zip(found, wants)), None)


def _pullback(
    d_pull: Tensor, scores: Tensor, budget: Tensor, temperature: Tensor, tape: Tensor, log_odds: bool, wants: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    solved = solved_on(tape, scores, budget, temperature)
    if solved is None:
        solved = _on_device(scores, budget, temperature) or _native(scores, budget, temperature)
    if isinstance(solved, restive.SoftTopK):
        if wants[1]:
            d_scores, d_budget, d_temperature, _ = solved.pullback_all(array(d_pull), log_odds=log_odds)
        else:
            d_scores, d_temperature = solved.pullback(array(d_pull), log_odds=log_odds)
            d_budget = 0.0
        found = [torch.as_tensor(d, dtype=torch.float64) for d in (d_scores, d_budget, d_temperature)]
    else:
        from restive._device import soft_top_k as kernel

        rows, roots = solved
        d_scores, d_temperature = kernel.pullback(rows, roots, d_pull, log_odds)
        z = kernel.pulls(rows.to(torch.float64), roots, True) if wants[1] else None
        d_budget = _by_budget(z, d_pull.to(torch.float64), log_odds) if wants[1] else d_temperature
        found = [d_scores, *(d if x.dim() else d.sum() for d, x in ((d_budget, budget), (d_temperature, temperature)))]
    none = scores.new_empty(0)
    return found[0].to(scores), found[1].to(budget) if wants[1] else none, found[2].to(temperature) if wants[2] else none.clone()


def _by_budget(z: Tensor, c: Tensor, log_odds: bool) -> Tensor:
    """What a cotangent of each row becomes on its budget; 0 where every pull is 0 or 1."""
    log_slope = torch.nn.functional.logsigmoid(z) + torch.nn.functional.logsigmoid(-z)
    if log_odds:
        is_free = log_slope > -torch.inf
        d = torch.where(is_free, c, 0.0).sum(-1) * torch.exp(-log_slope.logsumexp(-1))
        return torch.where(is_free.any(-1), d, 0.0)
    return torch.where(torch.isfinite(log_slope).any(-1, keepdim=True), log_slope.softmax(-1) * c, 0.0).sum(-1)


def _pullback_fake(
    d_pull: Tensor, scores: Tensor, budget: Tensor, temperature: Tensor, tape: Tensor, log_odds: bool, wants: list[bool]
) -> tuple[Tensor, Tensor, Tensor]:
    d_scores = torch.empty_like(scores, memory_format=torch.contiguous_format)
    found = (torch.empty_like(x) if wanted else scores.new_empty(0) for x, wanted in zip((budget, temperature), wants[1:]))
    return d_scores, *found


def _pullback_vmap(
    call: Any, size: int, dims: Any, d_pull: Tensor, scores: Tensor, budget: Tensor, temperature: Tensor, tape: Tensor, *rest: Any
) -> Any:
    log_odds, wants = rest
    axes = [x.dim() - (dim is not None) for x, dim in zip((budget, temperature), dims[2:4])]
    d_pull = batched(d_pull, dims[0], size)
    flat = _flat(size, dims[1:4], scores, budget, temperature, of_each=any(wants[1:]))
    d_scores, *found = call(d_pull.flatten(0, 1), *flat, tape, log_odds, wants)
    for k, wanted in enumerate(wants[1:]):
        if wanted:
            d = found[k].reshape(size, -1) if found[k].numel() else found[k].new_zeros(size, 1)
            found[k] = d if axes[k] else d.sum(1)
    return (d_scores.reshape(d_pull.shape), *found), (0, *(0 if wanted else None for wanted in wants[1:]))


_soft_top_k_pullback = Operator(
    "soft_top_k_pullback(Tensor d_pull, Tensor scores, Tensor budget, Tensor temperature, Tensor tape, bool log_odds, bool[3] wants)"
    " -> (Tensor, Tensor, Tensor)",
    _pullback,
    fake=_pullback_fake,
    vmap=_pullback_vmap,
    remember=forget,
    backward=refuse,
)
_soft_top_k = Operator(
    "soft_top_k(Tensor scores, Tensor budget, Tensor temperature, bool log_odds) -> (Tensor, Tensor)",
    _pull,
    fake=_pull_fake,
    vmap=_pull_vmap,
    remember=_pull_remember,
    backward=_pull_backward,
)


# ---- the function ---------------------------------------------------------------------------------------------------------------------


@renamed(k="budget")
def soft_top_k(
    scores: Tensor, budget: float | Tensor, temperature: float | Tensor, *, log_odds: bool = False
) -> Tensor:
    """Pulls the arms with the highest scores, as many as the budget, softly.

    Parameters
    ----------
    scores : tensor, [...,N]
    budget : a number, or [...], one for each problem
    temperature : a number, or [...], one for each problem
        Through tensors goes a gradient.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : tensor, [...,N], summing to the budget over the arms; or their log-odds

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
    """
    scores = checked("scores", scores)
    if not scores.dim():
        raise ValueError("scores: found shape [], expected [..., N]")
    axes = scores.shape[:-1]
    budget, temperature = _of_problems("budget", budget, axes), _of_problems("temperature", temperature, axes)
    if len(axes) != 1:
        rows = axes.numel()
        scores = scores.reshape(rows, scores.shape[-1])
    pull, _ = _soft_top_k(scores, budget, temperature, bool(log_odds))
    return pull if len(axes) == 1 else pull.reshape(*axes, pull.shape[-1])


def _of_problems(name: str, value: Any, axes: torch.Size) -> Tensor:
    """A setting of all problems [] or of each [B]."""
    value = setting(name, value)
    if value.dim() == 0:
        return value
    if value.shape == axes:
        return value.reshape(-1)
    if value.numel() == 1:
        return value.reshape(())
    raise ValueError(f"{name}: found shape {list(value.shape)}, expected a number, or {list(axes)}, one for each problem")
