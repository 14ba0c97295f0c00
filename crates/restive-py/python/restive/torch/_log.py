"""Logs as the operators of importance sampling take them: tensors, of every problem or of all, and how a target is judged by them.

Pulls are [...,J,H,N]. Every part of a log has the same axes in front, of every problem its own, or none, shared by all; a table of rewards is
always shared. The native module judges all problems in one call. On a device every problem is one call of a kernel, which knows no
absent arms: a log with a mask goes through the CPU.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import torch
from torch import Tensor

import restive
from restive import _device

from ._border import array, booleans, constant, plain, setting, whole

SCHEMA = "Tensor state, Tensor action, Tensor rewards, Tensor? propensity, Tensor discount, Tensor? budget, Tensor? mask"
#: axes that each of them has beside those of the problems, but for the mask; of rewards, where they are no table
TAILS = (3, 3, 3, 3, 0, 0)


class Log(NamedTuple):
    """A log and how targets are judged by it."""

    state: Tensor
    action: Tensor
    rewards: Tensor
    propensity: Tensor | None
    discount: Tensor
    budget: Tensor | None
    mask: Tensor | None
    ratio_up_to: str
    log_odds: bool

    def judge(self, pull: Tensor) -> restive.Cwpdis:
        """By the native module."""
        propensity = None if self.propensity is None else array(self.propensity)
        log = (plain(self.state), plain(self.action), array(self.rewards))
        budget, discount = self.budget, self.discount
        if budget is not None:
            budget = plain(budget) if budget.dim() else budget.item()
        how: dict[str, Any] = {"ratio_up_to": self.ratio_up_to, "log_odds": self.log_odds}
        if self.mask is not None:
            how["mask"] = plain(self.mask)
        return restive.cwpdis(array(pull), *log, budget, propensity, array(discount) if discount.dim() else float(discount), **how)

    def judge_on_device(self, pull: Tensor, kept: dict[Any, Any]) -> Any:
        """By the kernels of the device; None where something is wrong, or there are none. `kept` keeps the log there from call to call."""
        if self.mask is not None or not _device.takes(pull):
            return None
        from restive._device import evaluation as kernel

        if pull.dim() == 3:
            return kernel.judge(pull, self._asked(), kept)
        problems = self.problems(pull)
        if not problems:
            return None
        is_shared = all(x is None or x.dim() <= tail for x, tail in zip((*self[:4], self.budget), (3, 3, 3, 3, 0)))
        each = []
        for k, (target, one) in enumerate(problems):
            each.append(kernel.judge(target, one._asked(), kept if is_shared else kept.setdefault(k, {})))
            if each[-1] is None:
                return None
        return kernel.Judgements(each, pull.shape[:-3])

    def slopes_on_device(self, d_value: Tensor, pull: Tensor) -> tuple[Tensor, Tensor]:
        """What cotangents of the values [...] become on the rewards and on the discount, in their shapes, for a log that was judged there."""
        from restive._device import earned

        if pull.dim() == 3:
            return earned.slopes(d_value, pull, self)
        problems = self.problems(pull) or []
        each = [earned.slopes(d, target, one) for d, (target, one) in zip(d_value.flatten().unbind(), problems)]
        d_rewards, d_discount = (torch.stack(d) for d in zip(*each))
        d_rewards = d_rewards.reshape(self.rewards.shape) if self.rewards.dim() > 3 else d_rewards.sum(0)
        return d_rewards, d_discount.reshape(self.discount.shape) if self.discount.dim() else d_discount.sum()

    def problems(self, pull: Tensor) -> list[tuple[Tensor, Log]] | None:
        """Every problem alone, its target and its log; None where their axes do not fit."""
        axes = pull.shape[:-3]
        parts = []
        for x, tail in zip(self[:6], TAILS):
            if x is None or x.dim() <= tail:
                parts.append([x] * axes.numel())
            elif x.shape[: x.dim() - tail] == axes:
                parts.append(list(x.flatten(0, len(axes) - 1).unbind()))
            else:
                return None
        targets = pull.flatten(0, len(axes) - 1).unbind()
        return [(target, Log(*part, None, *self[7:])) for target, *part in zip(targets, *parts)]

    def _asked(self) -> dict[str, Any]:
        """As the device takes what is asked of one problem."""
        budget = None if self.budget is None else self.budget.tolist()
        asked = {**self._asdict(), "discount": self.discount.tolist(), "budget": budget}
        del asked["mask"]
        return asked


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
    mask: Any = None,
) -> Log:
    """A log as the operators take it, or what is wrong with it."""
    discount = setting("discount", discount)
    if not isinstance(ratio_up_to, str):
        raise TypeError(f"ratio_up_to: found {type(ratio_up_to).__name__}, expected str")
    return Log(
        whole("state", state),
        whole("action", action),
        setting("rewards", rewards),
        None if propensity is None else setting("propensity", constant("propensity", propensity)),
        discount.reshape(()) if discount.dim() and discount.numel() == 1 else discount,
        None if budget is None else _places(budget),
        None if mask is None else booleans("mask", mask),
        ratio_up_to,
        bool(log_odds),
    )


def _places(budget: Any) -> Tensor:
    """Places of all problems [], or of each; whether those are whole numbers the native module says."""
    if isinstance(budget, Tensor):
        if budget.dim() or not (budget.is_floating_point() or budget.is_complex()):
            return constant("budget", budget)
    elif isinstance(budget, (list, tuple)) or getattr(budget, "ndim", 0):
        return setting("budget", budget)
    elif hasattr(budget, "__index__"):
        places = max(min(operator.index(budget), 2**63 - 1), -(2**63))
        return torch.as_tensor(places) if torch.compiler.is_compiling() else torch.scalar_tensor(places, dtype=torch.int64)
    raise TypeError(f"budget: found {type(budget).__name__}, expected a whole number")


__all__ = ["Log", "SCHEMA", "TAILS", "log_of"]
