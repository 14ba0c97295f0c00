"""Values by importance sampling on the device, ready for their pullback: what `restive.torch.cwpdis` asks of `cwpdis`.

A kernel judges one target by one log. Problems with axes in front are judged one after the other; where they share a log it is laid out on
the device once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import cwpdis, raised


class Judgement:
    """The value of a target [], and what its pullback needs."""

    def __init__(self, pull: Tensor, log: cwpdis.Logged, discount: float, previous_step: bool, log_odds: bool) -> None:
        self.pull, self.log, self.discount = pull, log, discount
        self.previous_step, self.log_odds = previous_step, log_odds
        self.solved = cwpdis.solve(pull, log, discount, previous_step, log_odds)
        self.value, self.sizes = self.solved.value, self.solved.sizes
        is_wrong, has_certain = raised(self.solved.seen)
        self.is_wrong = bool(is_wrong)
        """whether some pulls are no pulls"""
        self.has_certain = bool(has_certain)
        """whether some are exactly 0 or 1"""

    def pullback(self, d_value: Tensor) -> Tensor:
        """What a cotangent of the value becomes on pulls, or on log-odds where those were given."""
        how = (self.discount, self.previous_step, self.log_odds, self.has_certain)
        return cwpdis.pullback(self.pull, self.log, self.solved, *how, d_value)


class Judgements:
    """The values of the targets of many problems [...]; one at least."""

    def __init__(self, each: Sequence[Judgement], axes: torch.Size) -> None:
        self.each = each
        self.value = torch.stack([one.value for one in each]).reshape(axes)
        self.sizes = torch.stack([one.sizes for one in each]).reshape(*axes, 2)
        self.has_certain = any(one.has_certain for one in each)

    def pullback(self, d_value: Tensor) -> Tensor:
        """What cotangents of the values [...] become on the pulls [...,J,H,N]."""
        d = torch.stack([one.pullback(d) for one, d in zip(self.each, d_value.flatten().unbind())])
        return d.reshape(*d_value.shape, *d.shape[1:])


def judge(pull: Tensor, asked: dict[str, Any], kept: dict[Any, Any]) -> Judgement | None:
    """The judgement of pulls [J,H,N], or None where something is wrong. `kept` keeps the log on a device from call to call."""
    asked = dict(asked)
    discount, up_to = asked.pop("discount", 0.99), asked.pop("ratio_up_to", "this-step")
    log_odds = asked.pop("log_odds", False)
    is_plain = isinstance(discount, (int, float)) and 0.0 <= discount <= 1.0 and up_to in ("this-step", "previous-step")
    if not is_plain or set(asked) - {"state", "action", "rewards", "budget", "propensity"}:
        return None
    at = (pull.device, tuple(pull.shape))
    log = kept.get(at)
    if log is None:
        log = cwpdis.logged(pull.shape, pull.device, **asked)
        if log is None:
            return None
        kept[at] = log
    judged = Judgement(pull.detach().contiguous(), log, float(discount), up_to == "previous-step", bool(log_odds))
    return None if judged.is_wrong else judged


__all__ = ["Judgement", "Judgements", "judge"]
