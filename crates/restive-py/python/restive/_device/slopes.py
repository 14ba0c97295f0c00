"""What a cotangent of Whittle indices becomes on rewards and discount, arm by arm, in plain PyTorch on whatever device.

**Two states.** With the names of `two_state`, c the cotangent, l the lower and u the upper state:

    d Δ_s = c_s        d (R(1,1) − R(0,1)) = γ c_l δ_l/d_1        d (R(1,0) − R(0,0)) = γ c_u δ_u/d_0
    d γ = c_l δ_l (R(1,1) − R(0,1))/d_1² + c_u δ_u (R(1,0) − R(0,0))/d_0²

**More states.** dW_u/dR(s,a) = ν_a(s), of which the gradient by transitions is made too (`general`); and as an index depends on γ P alone,
d γ = Σ P dP/γ. At γ = 0, where that says nothing, W_u = Δ_u, and its slope is what the next step brings, Σ D(u,s') max(R(s',1), R(s',0) + Δ_u).
"""

from __future__ import annotations

import torch
from torch import Tensor


def two_state(p: Tensor, rewards: Tensor, discount: Tensor, d_index: Tensor) -> tuple[Tensor, Tensor]:
    """On rewards [N,2,2] and discount [N], of compact arms [N,4]; rewards [2,2] or [N,2,2], discount [] or [N], all in float64."""
    p0, p1, p2, p3 = p.unbind(-1)
    rise_0, rise_1 = rewards[..., 1, 0] - rewards[..., 0, 0], rewards[..., 1, 1] - rewards[..., 0, 1]
    gain_0, gain_1 = rewards[..., 0, 1] - rewards[..., 0, 0], rewards[..., 1, 1] - rewards[..., 1, 0]
    delta_0, delta_1 = p1 - p0, p3 - p2
    below_0, below_1 = 1.0 - discount * (p2 - p0), 1.0 - discount * (p3 - p1)
    has_index = (below_0 > 0.0) & (below_1 > 0.0)
    inverse_0, inverse_1 = (torch.where(has_index, 1.0 / x, 0.0) for x in (below_0, below_1))
    active = discount * rise_1 * inverse_1
    is_zero_lower = gain_0 + delta_0 * active <= gain_1 + delta_1 * active
    c_0, c_1 = torch.where(has_index[:, None], d_index, 0.0).unbind(-1)
    lower = torch.where(is_zero_lower, c_0 * delta_0, c_1 * delta_1) * inverse_1
    upper = torch.where(is_zero_lower, c_1 * delta_1, c_0 * delta_0) * inverse_0
    passive_rise, active_rise = discount * upper, discount * lower
    d_rewards = torch.stack([-c_0 - passive_rise, c_0 - active_rise, passive_rise - c_1, active_rise + c_1], -1)
    return d_rewards.unflatten(-1, (2, 2)), lower * inverse_1 * rise_1 + upper * inverse_0 * rise_0


def discount_of(P: Tensor, d_P: Tensor, rewards: Tensor, discount: Tensor, d_index: Tensor) -> Tensor:
    """On the discount, [N], of arms [N,M,2,M]; rewards [M,2] or [N,M,2], discount [] or [N], all in float64."""
    by_rows = (P * d_P).sum((-1, -2, -3)) / torch.where(discount > 0.0, discount, 1.0)
    gain = rewards[..., 1] - rewards[..., 0]
    following = torch.maximum(rewards[..., None, :, 1], rewards[..., None, :, 0] + gain[..., None])  # [u, s']
    gained = ((P[:, :, 1] - P[:, :, 0]) * following).sum(-1)
    return torch.where(discount > 0.0, by_rows, (gained * d_index).sum(-1))


__all__ = ["discount_of", "two_state"]
