"""What a cotangent of a value by importance sampling becomes on rewards and discount, in plain PyTorch on the device of the pulls.

The value is linear in the rewards, Σ_t γ^t Σ_i Σ_j w_tij r_tij with the shares w of the trajectories, so that its slopes by rewards and
discount are those shares and averages again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def _shares(pull: Tensor, log: Any) -> tuple[Tensor, Tensor]:
    """Of every decision [J,H,N]: its share w of the average, and what was earned."""
    (_, h, n), numbers = pull.shape, {"device": pull.device, "dtype": torch.float64}
    state, action = (x[:, :h].to(pull.device).long() for x in (log.state, log.action))
    rewards, z = log.rewards.to(**numbers), pull.to(torch.float64) if log.log_odds else pull.to(torch.float64).logit()
    if log.propensity is None:
        pulled = torch.full((), int(log.budget) / n, **numbers)
        chance = torch.where(action == 1, pulled, 1.0 - pulled)
    else:
        chance = log.propensity.to(**numbers)
    factor = torch.nn.functional.logsigmoid(torch.where(action == 1, z, -z)) - chance.log()
    factor = torch.where(action < 0, 0.0, factor)
    if log.ratio_up_to == "previous-step":
        factor = torch.nn.functional.pad(factor[:, :-1], (0, 0, 1, 0))
    if rewards.dim() == 3:
        earned, is_known = rewards, torch.isfinite(rewards)
    else:
        table = rewards if rewards.dim() == 2 else rewards[:, None].expand(-1, 2)
        earned = table[state.clamp_min(0), action.clamp_min(0)]
        is_known = (state >= 0) & ((action >= 0) | (table[:, 0] == table[:, 1])[state.clamp_min(0)])
    ratio = torch.where(is_known, factor.cumsum(1), -torch.inf)
    return torch.nan_to_num(ratio.softmax(0)), torch.where(is_known, earned, 0.0)


def slopes(d_value: Tensor, pull: Tensor, log: Any) -> tuple[Tensor, Tensor]:
    """Of one problem [J,H,N]: what a cotangent of its value [] becomes on the rewards, in their shape, and on the discount."""
    share, earned = _shares(pull, log)
    h, discount, d_value = pull.shape[1], log.discount.to(share), d_value.to(torch.float64)
    step = torch.arange(h, device=pull.device, dtype=torch.float64)
    means = (share * earned).sum((0, 2))
    d_discount = (means[1:] * step[1:] * discount ** (step[1:] - 1.0)).sum() * d_value
    by_decision = d_value * share * (discount**step)[:, None]
    if log.rewards.dim() == 3:
        return by_decision, d_discount
    state, action = (x[:, :h].to(pull.device).long() for x in (log.state, log.action))
    table = by_decision.new_zeros(log.rewards.shape[0], 2)
    for a in (0, 1):  # where no action was logged both rewards are the same, and have half of it each
        part = torch.where(action < 0, 0.5 * by_decision, torch.where(action == a, by_decision, 0.0))
        table[:, a].index_add_(0, state.clamp_min(0).flatten(), torch.where(state >= 0, part, 0.0).flatten())
    return table if log.rewards.dim() == 2 else table.sum(1), d_discount


__all__ = ["slopes"]
