"""Prices of the pulls of a programme that ends, of tensors: `restive::plan_prices`, and its pullback to everything at held prices; and at a
temperature `restive::smooth_plan_prices`, whose pullback holds nothing.
"""

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
    return [[horizon], [], [horizon, *axes, m], []]


def _read(solved: restive.PlanPrices) -> tuple[Any, ...]:
    return solved.price, solved.bound, solved.advantage, float(solved.is_converged)


_plan_prices = Solver(
    "plan_prices",
    "P initial budget rewards discount",
    "int horizon, str ending",
    "price bound advantage is_converged",
    held="price is_converged",
    solve=_solve,
    read=_read,
    shapes=_shapes,
    pull_back=lambda solved, d_price, d_bound, d_advantage, _: solved.pullback(float(d_bound), array(d_advantage))[:5],
)


def _solve_smooth(
    P: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor, temperature: Tensor, horizon: int, ending: str
) -> restive.PlanPrices:
    copied("plan_prices", P, "prices")
    numbers = (array(rewards), float(discount), ending)
    return restive.plan_prices(array(P), told(initial), float(budget), horizon, *numbers, temperature=float(temperature))


def _pull_back_smooth(solved: restive.PlanPrices, d_price: Tensor, d_bound: Tensor, d_advantage: Tensor, _: Tensor) -> tuple[Any, ...]:
    *back, _, d_temperature = solved.pullback(float(d_bound), array(d_advantage), array(d_price))
    return *back, d_temperature


_smooth_plan_prices = Solver(
    "smooth_plan_prices",
    "P initial budget rewards discount temperature",
    "int horizon, str ending",
    "price bound advantage is_converged",
    held="is_converged",
    solve=_solve_smooth,
    read=_read,
    shapes=_shapes,
    pull_back=_pull_back_smooth,
)


class PlanPrices(NamedTuple):
    """Prices of the pulls of a programme that ends."""

    price: Tensor
    """[H]; without a temperature held: no gradient goes through it."""
    bound: Tensor
    """What no policy within the budget exceeds; without a temperature its gradient is that of the smallest bound, up to the arms at the margin."""
    advantage: Tensor
    """[H,N,M]: the scores of a plan; without a temperature their gradient holds the prices."""
    is_converged: Tensor
    """Without axes, boolean: whether the search for prices ended by itself; at a temperature also whether they have a derivative."""


def plan_prices(
    P: Tensor,
    initial: Any,
    budget: Any,
    horizon: int,
    rewards: Any = None,
    discount: Any = 1.0,
    ending: str = "nothing",
    *,
    temperature: Any = None,
) -> PlanPrices:
    """Prices, bound and advantages of a programme of H decisions: `restive.plan_prices` with a gradient by everything.

    Without a temperature the gradient holds the prices. With one, a number or a tensor above 0, every choice is softened and the gradient is
    the whole one, through the prices too. Where no arm is near a price (`is_converged` is false) there is none but the bound's, and a backward
    pass through prices or advantages says so.

    >>> import torch, restive.torch
    >>> P = torch.tensor([[0.2, 0.8, 0.5, 0.9]] * 10, dtype=torch.float64)
    >>> budget = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    >>> plan = restive.torch.plan_prices(P, [0] * 10, budget, 5)
    >>> plan.bound.backward()
    >>> bool(torch.isclose(budget.grad, plan.price.sum()))  # one more pull at every step is worth its price
    True
    >>> smooth = restive.torch.plan_prices(P, [0] * 10, budget, 5, temperature=0.01)
    >>> bool(torch.autograd.grad(smooth.price[0], budget)[0] < 0)  # and makes a pull cheaper
    True
    """
    P = arms(P)
    given = (P, start(initial), number("budget", budget), rewards_of(P, rewards), number("discount", discount))
    if temperature is None:
        *plan, is_converged = _plan_prices(*given, *decisions(horizon, ending))
    else:
        *plan, is_converged = _smooth_plan_prices(*given, number("temperature", temperature), *decisions(horizon, ending))
    return PlanPrices(*plan, is_converged.bool())
