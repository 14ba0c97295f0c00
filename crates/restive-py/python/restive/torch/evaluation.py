"""Values of policies by importance sampling, of tensors."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import torch
from torch import Tensor

import restive
from restive import _device
from restive._deprecated import renamed

from ._border import Once, array, checked, constant, copied, tensor


class _Cwpdis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pull: Tensor, log: dict[str, Any], sizes: list[Any], kept: dict[Any, Any]) -> Tensor:
        ctx.save_for_backward(pull)
        ctx.on_device = None
        if _device.takes(pull):
            from restive._device import evaluation as kernel

            ctx.on_device = kernel.judge(pull, log, kept)
            if ctx.on_device is not None:
                sizes += [ctx.on_device.sizes, ctx.on_device.has_certain]
                return ctx.on_device.value.to(pull.dtype)
        ctx.judged = restive.cwpdis(array(pull), **{name: constant(name, value) for name, value in log.items()})
        copied("cwpdis", pull, "such a log")
        sizes += [(ctx.judged.effective_sample_size, ctx.judged.dropped), None]
        return tensor(ctx.judged.value, pull)

    @staticmethod
    def backward(ctx: Any, d_value: Tensor) -> tuple[Tensor | None, None, None, None]:
        (pull,) = ctx.saved_tensors
        if ctx.on_device is None:
            d_pull = tensor(ctx.judged.pullback(float(d_value)), pull)
        else:
            d_pull = ctx.on_device.pullback(d_value)
        return Once.apply(d_pull, d_value, pull), None, None, None


class Judged(NamedTuple):
    """A value by importance sampling, and how much it rests on."""

    value: Tensor
    """Without axes; NaN where every term was dropped, because then nothing is known."""
    effective_sample_size: float
    """How many equally weighted trajectories the ratios are worth at the last step, on average over the arms."""
    dropped: int
    """How many of the terms, one for each arm and step, were dropped."""


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
    """
    log = {"state": state, "action": action, "rewards": rewards, **settings}
    return judge(checked("pull", pull), log, full, {})


def judge(pull: Tensor, log: dict[str, Any], full: bool, kept: dict[Any, Any]) -> Tensor | Judged:
    """`cwpdis` with a place to keep the log on a device."""
    for name, value in log.items():
        if isinstance(value, Tensor) and value.requires_grad:
            raise ValueError(f"{name}: no gradient goes through it; detach it first")
    found: list[Any] = []
    value = _Cwpdis.apply(pull, log, found, kept)
    sizes, has_certain = found
    if pull.requires_grad and not log.get("log_odds"):
        has_certain = bool(((pull == 0) | (pull == 1)).any()) if has_certain is None else has_certain
        if has_certain:
            warnings.warn(
                "cwpdis: some pulls are 0 or 1 to the last digit and have no gradient; hand on log-odds instead "
                "(soft_top_k(..., log_odds=True) and cwpdis(..., log_odds=True))",
                stacklevel=4,
            )
    if not full:
        return value
    size, dropped = sizes.tolist() if isinstance(sizes, Tensor) else sizes
    return Judged(value, size, int(dropped))
