"""The exact kernels as layers for PyTorch: put them behind a network of your own and differentiate through the decision.

    logits -> softmax -> whittle_index -> soft_top_k(log_odds=True) -> cwpdis(log_odds=True) -> backward()

Between a soft policy and importance sampling stand log-odds. A pull near 1 has lost the chance of not being pulled, by which
importance sampling divides: in float32 from 1 - 1e-7 on, and with it the value and its gradient.

Each function calls the native forward pass and hands autograd the native pullback; the modules are the same with their
settings kept. Work is done in float64: a contiguous float64 tensor is read where it lies, float32 is converted and answered in
float32.

Tensors on a CUDA device stay there, with the same answers: `whittle_index` for up to 16 states, `soft_top_k` and `cwpdis` have kernels of
their own (`restive._device`, compiled by Triton on first use). What has none, beliefs for one, goes through the CPU, and a warning says
so once for each function. A forward pass waits for the device once, to learn whether its input was valid (`soft_top_k` of a nearly
strict policy a few times more, `cwpdis` once for the log and once for the pulls; `Cwpdis` looks at its log once); a backward pass does
not wait. While a CUDA graph is captured nothing is waited for, and what is wrong becomes NaN. Settings (rewards, discount, budget) are
read on the host: hand them over as numbers or CPU arrays.

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
from restive import _device
from restive._deprecated import renamed, renamed_attribute

__all__ = [
    "Cwpdis",
    "Judged",
    "SoftTopK",
    "WhittleIndex",
    "cwpdis",
    "soft_top_k",
    "whittle_index",
    "whittle_index_and_pullback",
]


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


def _copied(function: str, tensor: Tensor, reason: str) -> None:
    """Says, once for each function, that a tensor that is not on the CPU went through it."""
    if tensor.device.type != "cpu":
        _device.say_copy(f"restive.torch.{function}", reason if _device.has_triton() else "any of them without Triton")


def _arms(P: Tensor, settings: dict[str, Any]) -> Any:
    """Arms for the kernels of the device, or why there are none for them."""
    if not _device.takes(P):
        return f"tensors on {P.device.type}"
    from restive._device import index

    return index.arms(P, **settings)


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
        ctx.save_for_backward(P)  # so that autograd notices if P is overwritten meanwhile
        ctx.arms = _arms(P, settings)
        if not isinstance(ctx.arms, str):
            index = ctx.arms.solve(ctx.needs_input_grad[0])
            if index is not None:
                return index
        ctx.indices = restive.whittle_index(_array(P), **settings, differentiable=ctx.needs_input_grad[0])
        _copied("whittle_index", P, ctx.arms if isinstance(ctx.arms, str) else "such arms")
        ctx.arms = ""
        return _tensor(ctx.indices.index, P)

    @staticmethod
    def backward(ctx: Any, d_index: Tensor) -> tuple[Tensor | None, None]:
        (P,) = ctx.saved_tensors
        if isinstance(ctx.arms, str):
            d_P = _tensor(ctx.indices.pullback(_array(d_index)), P)
        else:
            d_P = ctx.arms.pullback(d_index)
        return _Once.apply(d_P, d_index, P), None


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
        ctx.soft = restive.soft_top_k(_array(scores), budget, float(temperature))
        _copied("soft_top_k", scores, "such scores")
        return _tensor(ctx.soft.log_odds if log_odds else ctx.soft.pull, scores)

    @staticmethod
    def backward(ctx: Any, d_pull: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        scores, temperature = ctx.saved_tensors
        if ctx.rows is None:
            d_scores, d_temperature = ctx.soft.pullback(_array(d_pull), log_odds=ctx.log_odds)
            d_scores = _tensor(d_scores, scores)
        else:
            from restive._device import soft_top_k as kernel

            d_scores, d_temperature = kernel.pullback(ctx.rows, ctx.roots, d_pull.reshape(ctx.rows.shape), ctx.log_odds)
            d_scores = d_scores.reshape(scores.shape)
        d_temperature = _tensor(d_temperature, temperature).reshape(temperature.shape)
        causes = (d_pull, scores, temperature)
        wants_scores, wants_temperature, *_ = ctx.needs_input_grad
        return (
            _Once.apply(d_scores, *causes) if wants_scores else None,
            _Once.apply(d_temperature, *causes) if wants_temperature else None,
            None,
            None,
        )


class _Cwpdis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pull: Tensor, log: dict[str, Any], sizes: list[Any], kept: dict[Any, Any]) -> Tensor:
        ctx.save_for_backward(pull)
        ctx.on_device = None
        if _device.takes(pull):
            from restive._device import evaluation

            ctx.on_device = evaluation.judge(pull, log, kept)
            if ctx.on_device is not None:
                sizes += [ctx.on_device.sizes, ctx.on_device.has_certain]
                return ctx.on_device.value.to(pull.dtype)
        ctx.judged = restive.cwpdis(_array(pull), **{name: _constant(name, value) for name, value in log.items()})
        _copied("cwpdis", pull, "such a log")
        sizes += [(ctx.judged.effective_sample_size, ctx.judged.dropped), None]
        return _tensor(ctx.judged.value, pull)

    @staticmethod
    def backward(ctx: Any, d_value: Tensor) -> tuple[Tensor | None, None, None, None]:
        (pull,) = ctx.saved_tensors
        if ctx.on_device is None:
            d_pull = _tensor(ctx.judged.pullback(float(d_value)), pull)
        else:
            d_pull = ctx.on_device.pullback(d_value)
        return _Once.apply(d_pull, d_value, pull), None, None, None


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


def whittle_index_and_pullback(P: Tensor, d_index: Tensor, rewards: Any = None, **settings: Any) -> tuple[Tensor, Tensor]:
    """Whittle indices, and what a cotangent of them that is known beforehand becomes on P: both passes in one, without autograd.

    Two states are a race for memory, which on a graphics processor this wins: 96 bytes an arm in compact float64 instead of the
    128 of a forward and a backward pass.

    Parameters
    ----------
    P : tensor, [N,M,2,M] or compact [N,4]
    d_index : tensor, [N,M], of the type and on the device of P
    rewards, settings
        Those of `whittle_index`.

    Returns
    -------
    index : tensor, [N,M]
    d_P : tensor of the shape of P
    """
    P, d_index = _checked("P", P).detach(), _checked("d_index", d_index).detach()
    settings = {name: _constant(name, value) for name, value in {"rewards": rewards, **settings}.items()}
    arms = _arms(P, settings)
    if not isinstance(arms, str) and d_index.device == P.device and list(d_index.shape) == [P.shape[0], len(arms.rewards)]:
        both = arms.solve_and_pull_back(d_index)
        if both is not None:
            return both
    indices = restive.whittle_index(_array(P), **settings, differentiable=True)
    d_P = indices.pullback(_array(d_index))
    _copied("whittle_index_and_pullback", P, arms if isinstance(arms, str) else "such arms")
    return _tensor(indices.index, P), _tensor(d_P, P)


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
    return _judge(_checked("pull", pull), log, full, {})


def _judge(pull: Tensor, log: dict[str, Any], full: bool, kept: dict[Any, Any]) -> Tensor | Judged:
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
        self._kept: dict[Any, Any] = {}  # the log on each device that it was asked on

    def forward(self, pull: Tensor) -> Tensor | Judged:
        log = dict(self.log)
        return _judge(_checked("pull", pull), log, log.pop("full", False), self._kept)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def extra_repr(self) -> str:
        return _said({name: value for name, value in self.log.items() if np.ndim(value) == 0})


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)


__getattr__ = renamed_attribute(__name__, CWPDIS="Cwpdis")
