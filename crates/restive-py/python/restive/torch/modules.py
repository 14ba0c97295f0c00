"""The functions as modules, with their settings kept."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from restive._deprecated import renamed

from ._border import checked
from ._log import log_of
from .evaluation import Judged, judge
from .index import whittle_index
from .policy import soft_top_k


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
    def __init__(
        self, budget: float, temperature: float | Tensor, *, costs: Any = None, mask: Any = None, log_odds: bool = False
    ) -> None:
        super().__init__()
        self.budget, self.temperature, self.log_odds = budget, temperature, log_odds
        self.costs, self.mask = costs, mask

    def forward(self, scores: Tensor) -> Tensor:
        beside = {"costs": self.costs, "mask": self.mask}
        return soft_top_k(scores, self.budget, self.temperature, **beside, log_odds=self.log_odds)

    def extra_repr(self) -> str:
        settings = {"budget": self.budget, "temperature": self.temperature, "costs": self.costs, "mask": self.mask}
        return _said({**settings, "log_odds": self.log_odds or None})


class Cwpdis(nn.Module):
    """`cwpdis` with a copy of its log kept: pull [...,J,H,N], or log-odds with `log_odds=True`, -> value [...], or `Judged` with `full=True`.

    A tensor of rewards or a discount that requires a gradient is not copied, so that it can be learnt.
    """

    @renamed(k="budget", reward="rewards")
    def __init__(self, state: Any, action: Any, rewards: Any, *, full: bool = False, **settings: Any) -> None:
        super().__init__()
        log = log_of(state, action, rewards, **settings)
        own = {name: _own(value) for name, value in log._asdict().items()}
        for name in ("rewards", "discount"):
            if isinstance(own[name], nn.Parameter):
                self.register_parameter(name, own[name])
        self.log, self.full = type(log)(**own), full
        self._kept = _notes()

    def forward(self, pull: Tensor) -> Tensor | Judged:
        # rewards that are learnt are others at every call
        return judge(checked("pull", pull), self.log, self.full, None if self.log.rewards.requires_grad else self._kept)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_kept": _notes()})

    def extra_repr(self) -> str:
        settings = {name: getattr(self.log, name) for name in ("budget", "ratio_up_to", "log_odds", "discount")}
        settings = {name: x.tolist() if isinstance(x, Tensor) else x for name, x in settings.items()}
        return _said({**settings, "full": self.full or None})


def _own(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) and not value.requires_grad else value


def _notes() -> Tensor:
    """An empty tensor that carries the log on each device that it was asked on."""
    notes = torch.empty(0, dtype=torch.uint8)
    notes.restive = {}  # type: ignore[attr-defined]
    return notes


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)
