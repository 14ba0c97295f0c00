"""Soft policies of tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import restive
from restive import _device
from restive._deprecated import renamed

from ._border import Once, array, checked, copied, number, tensor


class _SoftTopK(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: Tensor, budget: float, log_odds: bool) -> Tensor:
        ctx.save_for_backward(scores, temperature)
        ctx.log_odds, ctx.rows = log_odds, None
        if _device.takes(scores) and scores.dim() and isinstance(budget, (int, float)) and 0 <= budget <= scores.shape[-1]:
            from restive._device import soft_top_k as kernel

            rows = scores.detach().reshape(-1, scores.shape[-1]).contiguous() if scores.numel() else scores.detach().reshape(0, 1)
            roots, is_wrong = kernel.solve(rows, float(budget), kernel.temperature_on(scores.device, temperature))
            if not is_wrong:
                ctx.rows, ctx.roots = rows, roots
                return kernel.pulls(rows, roots, log_odds).reshape(scores.shape)
        ctx.soft = restive.soft_top_k(array(scores), budget, float(temperature))
        copied("soft_top_k", scores, "such scores")
        return tensor(ctx.soft.log_odds if log_odds else ctx.soft.pull, scores)

    @staticmethod
    def backward(ctx: Any, d_pull: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        scores, temperature = ctx.saved_tensors
        if ctx.rows is None:
            d_scores, d_temperature = ctx.soft.pullback(array(d_pull), log_odds=ctx.log_odds)
            d_scores = tensor(d_scores, scores)
        else:
            from restive._device import soft_top_k as kernel

            d_scores, d_temperature = kernel.pullback(ctx.rows, ctx.roots, d_pull.reshape(ctx.rows.shape), ctx.log_odds)
            d_scores = d_scores.reshape(scores.shape)
        d_temperature = tensor(d_temperature, temperature).reshape(temperature.shape)
        causes = (d_pull, scores, temperature)
        wants_scores, wants_temperature, *_ = ctx.needs_input_grad
        return (
            Once.apply(d_scores, *causes) if wants_scores else None,
            Once.apply(d_temperature, *causes) if wants_temperature else None,
            None,
            None,
        )


@renamed(k="budget")
def soft_top_k(scores: Tensor, budget: float, temperature: float | Tensor, *, log_odds: bool = False) -> Tensor:
    """Pulls the arms with the highest scores, as many as the budget, softly.

    Parameters
    ----------
    scores : tensor, [...,N]
    budget : float
    temperature : float, or a tensor with one number
        A gradient goes through the tensor.
    log_odds : bool
        Whether to answer with ln pull/(1 - pull) instead of pull: what `cwpdis` should be given.

    Returns
    -------
    pull : tensor, [...,N], summing to the budget over the arms; or their log-odds
    """
    scores, budget = checked("scores", scores), number("budget", budget)
    if not isinstance(temperature, Tensor):
        temperature = torch.tensor(temperature, dtype=torch.float64)
    if temperature.numel() != 1:
        raise ValueError(f"temperature: expected a single number, got shape {list(temperature.shape)}")
    return _SoftTopK.apply(scores, checked("temperature", temperature), budget, log_odds)
