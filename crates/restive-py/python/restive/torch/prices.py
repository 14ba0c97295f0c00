"""Prices of the pulls of a programme that ends, of tensors: `restive::plan_prices`, and its pullback to everything at held prices."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

import restive

from ._border import array, copied
from ._solver import Solver, arms, axes_and_states, decisions, number, rewards_of, start, told


def _solve(
    P: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor, horizon: int, ending: str
) -> restive.PlanPrices:
    copied("plan_prices", P, "prices")
    return restive.plan_prices(array(P), told(initial), float(budget), horizon, array(rewards), float(discount), ending)


def _shapes(P: Tensor, *rest: Any) -> list[list[int]]:
    (*_, horizon, _), (axes, m) = rest, axes_and_states(P)
    return [[horizon], [], [horizon, *axes, m]]


_plan_prices = Solver(
    "plan_prices",
    "P initial budget rewards discount",
    "int horizon, str ending",
    "price bound advantage",
    held="price",
    solve=_solve,
    read=lambda solved: (solved.price, solved.bound, solved.advantage),
    shapes=_shapes,
    pull_back=lambda solved, d_price, d_bound, d_advantage: solved.pullback(float(d_bound), array(d_advantage))[:5],
)


class PlanPrices(NamedTuple):
    """Prices of the pulls of a programme that ends."""

    price: Tensor
    """[H]; held: no gradient goes through it."""
    bound: Tensor
    """What no policy within the budget exceeds; its gradient is that of the smallest bound, up to the arms at the margin."""
    advantage: Tensor
    """[H,N,M]: the scores of a plan; their gradient holds the prices."""


def plan_prices(
    P: Tensor,
    initial: Any,
    budget: Any,
    horizon: int,
    rewards: Any = None,
    discount: Any = 1.0,
    ending: str = "nothing",
) -> PlanPrices:
    """Prices, bound and advantages of a programme of H decisions: `restive.plan_prices` with a gradient by everything, at held prices.

    >>> import torch, restive.torch
    >>> P = torch.tensor([[0.2, 0.8, 0.5, 0.9]] * 10, dtype=torch.float64)
    >>> budget = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    >>> plan = restive.torch.plan_prices(P, [0] * 10, budget, 5)
    >>> plan.bound.backward()
    >>> bool(torch.isclose(budget.grad, plan.price.sum()))  # one more pull at every step is worth its price
    True
    """
    P = arms(P)
    numbers = (number("budget", budget), rewards_of(P, rewards), number("discount", discount))
    return PlanPrices(*_plan_prices(P, start(initial), *numbers, *decisions(horizon, ending)))
