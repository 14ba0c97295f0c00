"""Arms with more than two actions, of tensors: `restive::action_index` and `restive::lagrangian_policy`, with pullbacks to everything.

Thresholds move with transitions, costs, rewards and discount. The Lagrangian policy goes back at a held price: its bound is smallest there, so
that the price moves nothing in it; advantages feel the price, which is left out of their gradient, and so does what arms spend, which has
none.

Batches of transitions alone are leading axes of one call of `action_index`; every other batch is a loop (`_solver.batches_of_arms`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

import restive

from ._border import array, checked, copied, distributions, setting
from ._solver import Solver, batches_of_arms, linear, number, start, told


def _discount(discount: Tensor) -> Any:
    return array(discount) if discount.dim() else float(discount)


def _thresholds(P: Tensor, costs: Tensor, rewards: Tensor, discount: Tensor) -> restive.ActionIndices:
    copied("action_index", P, "more than two actions")
    return restive.action_index(array(P), array(costs), array(rewards), _discount(discount))


def _is_one_call(P: Tensor, costs: Tensor, rewards: Tensor, discount: Tensor) -> bool:
    """Whether arms [B,...,N] share rewards and discount, with a batch in front as without."""
    (*axes, m, a, _), shape = P.shape[1:], tuple(rewards.shape)
    return shape in ((m,), (m, a)) and shape != (*axes, m) and not discount.dim()


_action_index = Solver(
    "action_index",
    "P costs rewards discount",
    "",
    "threshold",
    solve=_thresholds,
    read=lambda solved: (solved.threshold,),
    shapes=lambda P, *_: [[*P.shape[:-2], P.shape[-2] - 1]],
    pull_back=lambda solved, d_threshold: solved.pullback_all(array(d_threshold)),
    **batches_of_arms(4, 0, _is_one_call),
)


def _priced(
    P: Tensor, costs: Tensor, initial: Tensor, budget: Tensor, rewards: Tensor, discount: Tensor
) -> restive.LagrangianPolicy:
    copied("lagrangian_policy", P, "more than two actions")
    return restive.lagrangian_policy(array(P), array(costs), told(initial), float(budget), array(rewards), _discount(discount))


_lagrangian_policy = Solver(
    "lagrangian_policy",
    "P costs initial budget rewards discount",
    "",
    "price bound spent advantage",
    held="price spent",
    solve=_priced,
    read=lambda solved: (solved.price, solved.bound, solved.spent, solved.advantage),
    shapes=lambda P, *_: [[], [], P.shape[:-3], P.shape[:-1]],
    pull_back=lambda solved, _, d_bound, __, d_advantage: solved.pullback(float(d_bound), array(d_advantage))[:6],
)


def _arms(P: Any) -> Tensor:
    """Transitions, [...,N,M,A,M]; rows that came in half precision are scaled to sum to 1."""
    given, P = P, checked("P", P)
    if P.dim() < 4 or P.shape[-1] != P.shape[-3] or not P.shape[-1] or P.shape[-2] < 2:
        expected = "[..., N, M, A, M] (arms, state, action, next state), with two actions at least"
        raise ValueError(f"P: found shape {list(P.shape)}, expected {expected}")
    return P if P is given else distributions(P, given.dtype)


def _rewards(P: Tensor, rewards: Any) -> Tensor:
    return linear(P.shape[-1]) if rewards is None else setting("rewards", rewards)


def action_index(P: Tensor, costs: Any, rewards: Any = None, discount: Any = 0.99) -> Tensor:
    """The prices at which a state's best action changes, [...,N,M,A-1]: `restive.action_index` with a gradient by everything.

    Parameters
    ----------
    P : tensor, [...,N,M,A,M]
    costs : [A]
        0, and then more and more. The first is 0 and stays so: its gradient means nothing.
    rewards : [M], [M,A], [...,N,M] or [...,N,M,A], optional
    discount : a number, or [...,N]

    Returns
    -------
    threshold : tensor, [...,N,M,A-1]

    Examples
    --------
    >>> import torch, restive.torch
    >>> P = torch.tensor([[[[0.9, 0.1], [0.7, 0.3], [0.3, 0.7]],     # in state 0: nothing, a message, a visit
    ...                    [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]]], dtype=torch.float64)
    >>> costs = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64, requires_grad=True)
    >>> threshold = restive.torch.action_index(P, costs, discount=0.9)
    >>> threshold[0, 0].tolist() == restive.action_index(P.numpy(), [0.0, 1.0, 4.0], discount=0.9).threshold[0, 0].tolist()
    True
    >>> threshold[0, 0, 1].backward()
    >>> bool(costs.grad[2] < 0)  # the dearer a visit, the lower the price up to which it is made
    True
    """
    P = _arms(P)
    (threshold,) = _action_index(P, setting("costs", costs), _rewards(P, rewards), setting("discount", discount))
    return threshold


class LagrangianPolicy(NamedTuple):
    """One price for all arms, and what every action is worth at it."""

    price: Tensor
    """Of a unit of cost; held: no gradient goes through it."""
    bound: Tensor
    """Per step, what no policy within the budget exceeds; its gradient is that of the smallest bound, up to the arms at the margin."""
    spent: Tensor
    """[N]: what each arm is expected to cost per step just above the price; without a gradient."""
    advantage: Tensor
    """[N,M,A]: Q(s, a) - Q(s, 0) at the price, costs included; its gradient holds the price."""


def lagrangian_policy(
    P: Tensor, costs: Any, initial: Any, budget: Any, rewards: Any = None, discount: Any = 0.99
) -> LagrangianPolicy:
    """The price at which what all arms cost equals the budget: `restive.lagrangian_policy` with a gradient by everything, at a held price.

    Parameters
    ----------
    P : tensor, [N,M,A,M]
    costs : [A]
    initial : states [N], or distributions [N,M]
    budget : a number
        Cost per step, at least 0.
    rewards, discount : as for `action_index`

    Returns
    -------
    LagrangianPolicy
        Of tensors: price [], bound [], spent [N], advantage [N,M,A].

    Examples
    --------
    >>> import torch, restive.torch
    >>> arm = [[[0.9, 0.1], [0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]]
    >>> P, budget = torch.tensor([arm] * 8, dtype=torch.float64), torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
    >>> found = restive.torch.lagrangian_policy(P, [0.0, 1.0, 4.0], [0] * 8, budget, discount=0.9)
    >>> found.bound.backward()
    >>> bool(torch.isclose(budget.grad, found.price))  # one more unit of cost per step is worth its price
    True
    """
    P = _arms(P)
    settings = (number("budget", budget), _rewards(P, rewards), setting("discount", discount))
    return LagrangianPolicy(*_lagrangian_policy(P, setting("costs", costs), start(initial), *settings))
