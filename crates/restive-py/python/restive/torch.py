"""The exact kernels as layers for PyTorch: put them behind a network of your own and differentiate through the decision.

    logits -> softmax -> whittle_index -> soft_top_k(log_odds=True) -> cwpdis(log_odds=True) -> backward()

Between a soft policy and importance sampling stand log-odds. A pull near 1 has lost the chance of not being pulled, by which
importance sampling divides: in float32 from 1 - 1e-7 on, and with it the value and its gradient.

Each function calls the native forward pass and hands autograd the native pullback; the modules are the same with their
settings kept. Work is done in float64 on the CPU: a contiguous float64 tensor is read where it lies, float32 is converted and
answered in float32, and a tensor on another device is moved and its answer returned there.

The gradient by transitions lives on the simplex: its rows sum to zero, because only directions that keep row sums at 1 mean
anything. Behind a softmax that is the whole gradient. (Compact arms [N,4] have no such rows; theirs is the plain derivative.)
First derivatives only: a second backward raises an error.

>>> import torch, restive.torch
>>> logits = torch.zeros(3, 2, 2, 2, dtype=torch.float64)
>>> logits[:, :, 1, 1] = torch.tensor([1.0, 2.0, 3.0])[:, None]  # a pull helps, the third arm most
>>> logits.requires_grad_()  # doctest: +ELLIPSIS
tensor(...)
>>> index = restive.torch.whittle_index(logits.softmax(-1))
>>> pull = restive.torch.soft_top_k(index[:, 0], budget=1, temperature=0.05)
>>> pull[2].backward()
>>> logits.grad.shape
torch.Size([3, 2, 2, 2])
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import restive
from restive._deprecated import renamed, renamed_attribute

__all__ = ["Cwpdis", "Judged", "SoftTopK", "WhittleIndex", "cwpdis", "soft_top_k", "whittle_index"]


def _checked(name: str, tensor: Any) -> Tensor:
    """A tensor of real floating-point numbers, or what is wrong with it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name}: expected float32 or float64, got {str(tensor.dtype).removeprefix('torch.')}")
    if tensor.layout != torch.strided:
        raise ValueError(f"{name}: expected a dense tensor, got {tensor.layout}")
    return tensor


def _constant(name: str, value: Any) -> Any:
    """A setting or a logged array, through which no gradient goes."""
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad:
        raise ValueError(f"{name}: no gradient goes through it; detach it first")
    return value.cpu().numpy()


def _number(name: str, value: Any) -> Any:
    """A setting that may come as a tensor with one number."""
    value = _constant(name, value)
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _array(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor as float64: where they lie if they can be read there."""
    return tensor.detach().to("cpu", torch.float64).contiguous().numpy()


def _tensor(array: Any, like: Tensor) -> Tensor:
    """An answer with the type and on the device of `like`."""
    return torch.as_tensor(array, dtype=torch.float64).to(like)


class _Once(torch.autograd.Function):
    """A first derivative that refuses to be differentiated again. (PyTorch's own `once_differentiable` lets a second derivative
    by saved inputs pass as zero.)"""

    @staticmethod
    def forward(ctx: Any, derivative: Tensor, *causes: Tensor) -> Tensor:
        return derivative

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Any:
        raise RuntimeError("restive.torch: first derivatives only, a second backward is not available")


class _WhittleIndex(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, P: Tensor, settings: dict[str, Any]) -> Tensor:
        ctx.indices = restive.whittle_index(_array(P), **settings, differentiable=ctx.needs_input_grad[0])
        ctx.save_for_backward(P)  # so that autograd notices if P is overwritten meanwhile
        return _tensor(ctx.indices.index, P)

    @staticmethod
    def backward(ctx: Any, d_index: Tensor) -> tuple[Tensor | None, None]:
        (P,) = ctx.saved_tensors
        return _Once.apply(_tensor(ctx.indices.pullback(_array(d_index)), P), d_index, P), None


class _SoftTopK(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: Tensor, budget: float, log_odds: bool) -> Tensor:
        ctx.soft, ctx.log_odds = restive.soft_top_k(_array(scores), budget, float(temperature)), log_odds
        ctx.save_for_backward(scores, temperature)
        return _tensor(ctx.soft.log_odds if log_odds else ctx.soft.pull, scores)

    @staticmethod
    def backward(ctx: Any, d_pull: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        scores, temperature = ctx.saved_tensors
        d_scores, d_temperature = ctx.soft.pullback(_array(d_pull), log_odds=ctx.log_odds)
        d_temperature = _tensor(d_temperature, temperature).reshape(temperature.shape)
        causes = (d_pull, scores, temperature)
        wants_scores, wants_temperature, *_ = ctx.needs_input_grad
        return (
            _Once.apply(_tensor(d_scores, scores), *causes) if wants_scores else None,
            _Once.apply(d_temperature, *causes) if wants_temperature else None,
            None,
            None,
        )


class _Cwpdis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pull: Tensor, log: dict[str, Any], sizes: list[Any]) -> Tensor:
        ctx.judged = restive.cwpdis(_array(pull), **log)
        ctx.save_for_backward(pull)
        sizes += [ctx.judged.effective_sample_size, ctx.judged.dropped]
        return _tensor(ctx.judged.value, pull)

    @staticmethod
    def backward(ctx: Any, d_value: Tensor) -> tuple[Tensor | None, None, None]:
        (pull,) = ctx.saved_tensors
        return _Once.apply(_tensor(ctx.judged.pullback(float(d_value)), pull), d_value, pull), None, None


def whittle_index(P: Tensor, rewards: Any = None, **settings: Any) -> Tensor:
    """Whittle indices of N arms.

    Parameters
    ----------
    P : tensor, [N,M,2,M] or compact [N,4]
    rewards : [M] or [M,2], optional
    settings
        discount, layout, observation, chain, algorithm, beliefs: those of `restive.whittle_index`.

    Returns
    -------
    tensor, [N,M] (collapsing: [N, M*T])
        For verdict and residual see `restive.whittle_index`.
    """
    if "out" in settings:
        raise ValueError("out: not for tensors, autograd keeps what is returned")
    settings = {"rewards": rewards, **settings}
    return _WhittleIndex.apply(_checked("P", P), {name: _constant(name, value) for name, value in settings.items()})


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
    scores, budget = _checked("scores", scores), _number("budget", budget)
    if not isinstance(temperature, Tensor):
        temperature = torch.tensor(temperature, dtype=torch.float64)
    if temperature.numel() != 1:
        raise ValueError(f"temperature: expected a single number, got shape {list(temperature.shape)}")
    return _SoftTopK.apply(scores, _checked("temperature", temperature), budget, log_odds)


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
    pull = _checked("pull", pull)
    if pull.requires_grad and not settings.get("log_odds") and bool(((pull == 0) | (pull == 1)).any()):
        warnings.warn(
            "cwpdis: some pulls are 0 or 1 to the last digit and have no gradient; hand on log-odds instead "
            "(soft_top_k(..., log_odds=True) and cwpdis(..., log_odds=True))",
            stacklevel=3,
        )
    sizes: list[Any] = []
    value = _Cwpdis.apply(pull, {name: _constant(name, value) for name, value in log.items()}, sizes)
    return Judged(value, *sizes) if full else value


class WhittleIndex(nn.Module):
    """`whittle_index` with its settings kept: P [N,M,2,M] or [N,4] -> index [N,M].

    >>> layer = WhittleIndex(discount=0.5)
    >>> layer(torch.tensor([[0.2, 0.8, 0.5, 0.5]], dtype=torch.float64))
    tensor([[0.3529, 0.0000]], dtype=torch.float64)
    """

    def __init__(self, rewards: Any = None, **settings: Any) -> None:
        super().__init__()
        self.settings = {"rewards": rewards, **settings}

    def forward(self, P: Tensor) -> Tensor:
        return whittle_index(P, **self.settings)

    def extra_repr(self) -> str:
        return _said(self.settings)


class SoftTopK(nn.Module):
    """`soft_top_k` with its settings kept: scores [...,N] -> pull [...,N].

    >>> SoftTopK(budget=1, temperature=0.1)(torch.tensor([1.0, 1.0, -1.0]))
    tensor([5.0000e-01, 5.0000e-01, 2.0612e-09])
    """

    @renamed(k="budget")
    def __init__(self, budget: float, temperature: float | Tensor, *, log_odds: bool = False) -> None:
        super().__init__()
        self.budget, self.temperature, self.log_odds = budget, temperature, log_odds

    def forward(self, scores: Tensor) -> Tensor:
        return soft_top_k(scores, self.budget, self.temperature, log_odds=self.log_odds)

    def extra_repr(self) -> str:
        settings = {"budget": self.budget, "temperature": self.temperature, "log_odds": self.log_odds or None}
        return _said(settings)


class Cwpdis(nn.Module):
    """`cwpdis` with a copy of its log kept: pull [J,H,N], or log-odds with `log_odds=True`, -> value, or `Judged` with `full=True`."""

    @renamed(k="budget", reward="rewards")
    def __init__(self, state: Any, action: Any, rewards: Any, **settings: Any) -> None:
        super().__init__()
        log = {"state": state, "action": action, "rewards": rewards, **settings}
        self.log = {name: copy.copy(_constant(name, value)) for name, value in log.items()}

    def forward(self, pull: Tensor) -> Tensor | Judged:
        return cwpdis(pull, **self.log)

    def extra_repr(self) -> str:
        return _said({name: value for name, value in self.log.items() if np.ndim(value) == 0})


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)


__getattr__ = renamed_attribute(__name__, CWPDIS="Cwpdis")
