"""Which kernel answers for arms on the device, and how: the closed form for two states, the sweep for up to 16.

What is asked is what `restive.whittle_index` takes. What has no kernel (beliefs, bisection, more states, settings that are wrong) is
named, and goes to the native module. Settings that all arms share are read on the host; those of each arm (two states) stay where they
are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import raised, slopes

#: the most states that the sweep has a kernel for
MOST_STATES = 16


class Arms:
    """Arms [N,4] or [N,M,2,M], contiguous, their settings, and what a solve left for the way back."""

    def __init__(self, P: Tensor, rewards: Any, discount: Any, is_general: bool, is_transposed: bool) -> None:
        self.P = (P.detach().transpose(1, 2) if is_transposed else P.detach()).contiguous()
        self.rewards, self.discount = rewards, discount
        """a list [M][2] and a number; or, of each arm, float64 tensors of which one has an axis for the arms"""
        self.is_general, self.is_transposed = is_general, is_transposed
        self.tape: Any = None

    @property
    def is_shared(self) -> bool:
        """Whether all arms have the same settings."""
        return not isinstance(self.rewards, Tensor)

    def _settings(self) -> Tensor:
        from . import two_state

        if self.is_shared:
            return two_state.settings_of(self.P.device, self.rewards, self.discount)
        return two_state.settings_of_each(self.rewards, self.discount, self.P.shape[0])

    def _is_wrong(self, flag: Tensor) -> bool:
        if not self.is_shared:
            is_fit = torch.isfinite(self.rewards).all() & (self.discount >= 0.0).all() & (self.discount <= 1.0).all()
            flag = flag | ~is_fit
        return bool(raised(flag)[0])

    def solve(self, is_differentiable: bool) -> Tensor | None:
        """Indices [N,M]; None where something is wrong with the arms."""
        if self.is_general:
            from . import general

            solved = general.solve(self.P, self.rewards, self.discount, is_differentiable)
            self.tape = solved.tape
            index, flag = solved.index, solved.flag
        else:
            from . import two_state

            index, flag = two_state.index(self.P, self._settings())
        return None if self._is_wrong(flag) else index

    def pullback(self, d_index: Tensor) -> Tensor:
        """What a cotangent of the indices becomes on the arms, in the layout in which they came."""
        if self.is_general:
            from . import general

            d_P, _ = general.pullback(self.P, self.tape, self.discount, d_index)
        else:
            from . import two_state

            d_P = two_state.pullback(self.P, self._settings(), d_index)
        return d_P.transpose(1, 2) if self.is_transposed else d_P

    def pullback_settings(self, d_index: Tensor) -> tuple[Tensor, Tensor]:
        """What it becomes on the rewards and on the discount of each arm, [N,M,2] and [N], in float64."""
        numbers = {"dtype": torch.float64, "device": self.P.device}
        rewards, discount = (torch.as_tensor(x, **numbers) for x in (self.rewards, self.discount))
        P, c = self.P.to(torch.float64), d_index.to(torch.float64)
        if self.is_general:
            from . import general

            d_P, d_rewards = general.pullback(P, self.tape, self.discount, c)
            return d_rewards, slopes.discount_of(P, d_P, rewards, discount, c)
        return slopes.two_state(P if P.dim() == 2 else P[..., 1].flatten(1), rewards, discount, c)

    def solve_and_pull_back(self, d_index: Tensor, validate: bool) -> tuple[Tensor, Tensor] | None:
        """Both: in one pass over memory for two states, which need not be waited for."""
        if not self.is_general:
            from . import two_state

            index, d_P, flag = two_state.index_and_pullback(self.P, self._settings(), d_index)
            return None if validate and self._is_wrong(flag) else (index, d_P.transpose(1, 2) if self.is_transposed else d_P)
        index = self.solve(is_differentiable=True)
        return None if index is None else (index, self.pullback(d_index))


def arms(
    P: Tensor,
    rewards: Any = None,
    discount: Any = 0.99,
    layout: Any = "nsas",
    observation: Any = "full",
    chain: Any = None,
    algorithm: Any = "auto",
    *,
    beliefs: Any = None,
    **other: Any,
) -> Arms | str:
    """The arms ready to be solved, or what there is no kernel for."""
    if other:
        return "these settings"
    if observation != "full" or chain is not None or beliefs is not None:
        return "collapsing observation"
    if algorithm not in ("auto", "two-state", "general"):
        return f"algorithm={algorithm!r}"
    shape, is_transposed = tuple(P.shape), layout == "nass" and P.dim() == 4
    if is_transposed:
        shape = (shape[0], shape[2], shape[1], shape[3])
    is_compact = len(shape) == 2 and shape[1] == 4
    states = 2 if is_compact else shape[1] if len(shape) == 4 else 0
    is_general = algorithm == "general" or (algorithm == "auto" and states != 2)
    if layout not in ("nsas", "nass") or not (is_compact or (states > 0 and shape[1:] == (states, 2, states))):
        return "arms of this shape"
    if not is_general and states != 2:
        return "the closed form of other than two states"
    if is_general and (is_compact or states > MOST_STATES):
        return f"the sweep of {states} states" + (" in compact form" if is_compact else f", more than {MOST_STATES}")
    if isinstance(rewards, Tensor) and rewards.dim() == 3 or isinstance(discount, Tensor) and discount.dim() == 1:
        if is_general:
            return "the sweep with rewards or discounts of each arm"
        default = [[0.0, 0.0], [1.0, 1.0]]
        table, discount = (
            torch.as_tensor(x).detach().to(P.device, torch.float64) for x in (default if rewards is None else rewards, discount)
        )
        table = table[:, None].expand(2, 2) if table.dim() == 1 else table
        if table.shape not in ((2, 2), (shape[0], 2, 2)) or discount.shape not in ((), (shape[0],)):
            return "these rewards and discount"
        return Arms(P, table, discount, is_general, is_transposed)
    table, discount = _table(rewards, states), _number(discount)
    if table is None or discount is None or not 0.0 <= discount <= 1.0:
        return "these rewards and discount"
    return Arms(P, table, discount, is_general, is_transposed)


def _number(value: Any) -> float | None:
    if isinstance(value, Tensor) and value.is_cpu and value.numel() == 1 and not value.is_complex():
        return float(value.item())
    value = np.asarray(value.detach().cpu() if isinstance(value, Tensor) else value)
    return float(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "fiu" else None


def _table(rewards: Any, states: int) -> list[list[float]] | None:
    """R(s,a), [M,2]: by default linear, s/(M − 1)."""
    if rewards is None:
        return [[s / (states - 1.0)] * 2 if states > 1 else [0.0] * 2 for s in range(states)]
    found = np.asarray(rewards.detach().cpu() if isinstance(rewards, Tensor) else rewards)
    if found.dtype.kind not in "fiub" or found.shape not in ((states,), (states, 2)) or isinstance(rewards, np.ma.MaskedArray):
        return None
    found = found.astype(np.float64)
    if not all(math.isfinite(r) for r in found.reshape(-1)):
        return None
    return (found if found.ndim == 2 else np.repeat(found[:, None], 2, axis=1)).tolist()


__all__ = ["MOST_STATES", "Arms", "arms"]
