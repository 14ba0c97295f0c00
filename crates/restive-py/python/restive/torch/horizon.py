"""Whittle indices of arms that end, of tensors: `restive::horizon_index`, and its pullback to transitions, rewards and discount.

Batches of transitions alone are leading axes of one call; every other batch is a loop (`_solver.batches_of_arms`).
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

import restive

from ._border import array, copied, setting
from ._solver import Solver, arms, axes_and_states, batches_of_arms, decisions, rewards_of


def _solve(P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str) -> restive.HorizonIndices:
    copied("horizon_index", P, "horizons")
    return restive.horizon_index(array(P), horizon, array(rewards), array(discount) if discount.dim() else float(discount), ending)


def _shapes(P: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str) -> list[list[int]]:
    axes, m = axes_and_states(P)
    return [[horizon, *axes, m]]


def _is_one_call(P: Tensor, rewards: Tensor, discount: Tensor) -> bool:
    """Whether arms [B,...,N] share rewards and discount, and mean the same with a batch in front as without."""
    axes, m = axes_and_states(P[0])
    is_shared = tuple(rewards.shape) in ((m,), (m, 2)) and tuple(rewards.shape) != (*axes, m) and not discount.dim()
    return is_shared and axes_and_states(P) == ((len(P), *axes), m)


_horizon_index = Solver(
    "horizon_index",
    "P rewards discount",
    "int horizon, str ending",
    "index",
    solve=_solve,
    read=lambda solved: (solved.index,),
    shapes=_shapes,
    pull_back=lambda solved, d_index: solved.pullback_all(array(d_index)),
    **batches_of_arms(3, 1, _is_one_call),
)


def horizon_index(P: Tensor, horizon: int, rewards: Any = None, discount: Any = 0.99, ending: str = "nothing") -> Tensor:
    """Whittle indices of arms with H decisions before them, [H,...,N,M]: `restive.horizon_index` with a gradient by P, rewards and discount.

    >>> import torch, restive.torch
    >>> arm = torch.tensor([[0.2, 0.8, 0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    >>> restive.torch.horizon_index(arm, 3, discount=0.5)[1, 0, 0].backward()
    >>> arm.grad
    tensor([[-0.5000,  0.5000,  0.0000,  0.0000]], dtype=torch.float64)
    """
    P = arms(P)
    (index,) = _horizon_index(P, rewards_of(P, rewards), setting("discount", discount), *decisions(horizon, ending))
    return index
