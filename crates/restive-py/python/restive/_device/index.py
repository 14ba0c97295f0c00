"""Which kernel answers for arms on the device, and how: the closed form for two states, the sweep for up to 16.

What is asked is what `restive.whittle_index` takes. What has no kernel (beliefs, bisection, more states, settings that are wrong) is
named, and goes to the native module.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch import Tensor

from . import raised

#: the most states that the sweep has a kernel for
MOST_STATES = 16


class Arms:
    """Arms [N,4] or [N,M,2,M], contiguous, their shared settings, and what a solve left for the way back."""

    def __init__(self, P: Tensor, rewards: list[list[float]], discount: float, is_general: bool, is_transposed: bool) -> None:
        self.P = (P.detach().transpose(1, 2) if is_transposed else P.detach()).contiguous()
        self.rewards, self.discount = rewards, discount
        self.is_general, self.is_transposed = is_general, is_transposed
        self.tape: Any = None

    def solve(self, is_differentiable: bool) -> Tensor | None:
        """Indices [N,M]; None where something is wrong with the arms."""
        if self.is_general:
            from . import general

            solved = general.solve(self.P, self.rewards, self.discount, is_differentiable)
            self.tape = solved.tape
            index, flag = solved.index, solved.flag
        else:
            from . import two_state

            index, flag = two_state.index(self.P, self.rewards, self.discount)
        return None if raised(flag)[0] else index

    def pullback(self, d_index: Tensor) -> Tensor:
        """What a cotangent of the indices becomes on the arms, in the layout in which they came."""
        if self.is_general:
            from . import general

            d_P = general.pullback(self.P, self.tape, self.discount, d_index)
        else:
            from . import two_state

            d_P = two_state.pullback(self.P, self.rewards, self.discount, d_index)
        return d_P.transpose(1, 2) if self.is_transposed else d_P

    def solve_and_pull_back(self, d_index: Tensor) -> tuple[Tensor, Tensor] | None:
        """Both: in one pass over memory for two states."""
        if not self.is_general:
            from . import two_state

            index, d_P, flag = two_state.index_and_pullback(self.P, self.rewards, self.discount, d_index)
            return None if raised(flag)[0] else (index, d_P.transpose(1, 2) if self.is_transposed else d_P)
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
    table = _table(rewards, states)
    discount = _number(discount)
    if table is None or discount is None or not 0.0 <= discount <= 1.0:
        return "these rewards and discount"
    return Arms(P, table, discount, is_general, is_transposed)


def _number(value: Any) -> float | None:
    value = np.asarray(value)
    return float(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "fiu" else None


def _table(rewards: Any, states: int) -> list[list[float]] | None:
    """R(s,a), [M,2]: by default linear, s/(M − 1)."""
    if rewards is None:
        return [[s / (states - 1.0)] * 2 if states > 1 else [0.0] * 2 for s in range(states)]
    found = np.asarray(rewards)
    if found.dtype.kind not in "fiub" or found.shape not in ((states,), (states, 2)) or isinstance(rewards, np.ma.MaskedArray):
        return None
    found = found.astype(np.float64)
    if not all(math.isfinite(r) for r in found.reshape(-1)):
        return None
    return (found if found.ndim == 2 else np.repeat(found[:, None], 2, axis=1)).tolist()


__all__ = ["MOST_STATES", "Arms", "arms"]
