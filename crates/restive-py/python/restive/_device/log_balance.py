"""The threshold of nearly strict and of strict policies: the rows that Halley's method leaves, in plain PyTorch on their device.

Let I be the k = ⌊K⌋ largest scores and z = (x − ref)/e with ref an actual score next to the threshold. Σ pull = K is the same as
E = F with

    E = Σ_{i∉I} σ(z_i − θ)      F = (K − k) + Σ_{i∈I} σ(θ − z_i)

Nothing cancels in either, and Newton's method on ln E − ln F = 0, held in a bracket, needs a handful of steps, because both logarithms
are nearly linear in θ where they are small. Rows are sorted once and solved side by side; every step reads from the device whether
any is left.

Where scores over the temperature overflow, and at temperature 0, the pulls are those of the strict limit: 1 above the threshold, 0
below, and those at it share what is left of the budget. At an infinite temperature all are pulled alike.
"""

from __future__ import annotations

import math
import sys

import torch
from torch import Tensor

#: how the pulls of a row are to be computed: σ(z); 1, a share and 0; one share for all
SMOOTH, STRICT, EVEN = 0, 1, 2


def solve(x: Tensor, budget: float, temperature: float) -> tuple[Tensor, Tensor]:
    """Of rows [B,N] in float64 with 0 < budget < N: [4,B] (reference or threshold, θ, nearest |z|, share) and regimes [B]."""
    rows, n = x.shape
    root = torch.zeros(4, rows, dtype=torch.float64, device=x.device)
    if temperature == math.inf:
        root[3] = budget / n
        return root, torch.full((rows,), EVEN, dtype=torch.int32, device=x.device)
    ordered = x.sort(dim=-1, descending=True).values
    threshold = ordered[:, math.ceil(budget) - 1]
    tied = (x == threshold[:, None]).sum(-1)
    share = ((budget - (x > threshold[:, None]).sum(-1)) / tied).clamp(0.0, 1.0)
    root[0], root[3] = threshold, share
    regime = torch.full((rows,), STRICT, dtype=torch.int32, device=x.device)
    if temperature < sys.float_info.min:
        return root, regime
    reference, theta, nearest, is_finite = _balanced(ordered, budget, temperature)
    root[0] = torch.where(is_finite, reference, root[0])
    root[1] = torch.where(is_finite, theta, 0.0)
    root[2] = torch.where(is_finite, nearest, 0.0)
    return root, torch.where(is_finite, SMOOTH, STRICT).to(torch.int32)


def _balanced(ordered: Tensor, budget: float, temperature: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Reference, θ and least |z − θ| of rows in descending order, and which of them are finite over the temperature; each [B]."""
    n, k = ordered.shape[1], math.floor(budget)
    fraction = budget - k
    reference = ordered[:, k if fraction > 0.0 else k - 1]
    z = (ordered - reference[:, None]) / temperature
    is_finite = torch.isfinite(z[:, 0]) & torch.isfinite(z[:, -1])
    z = torch.where(is_finite[:, None], z, 0.0)
    logit = math.log(budget / n / (1.0 - budget / n))
    low, high = z[:, -1] - logit, z[:, 0] - logit
    low, high = low - 1e-10 * (1.0 + low.abs()), high + 1e-10 * (1.0 + high.abs())
    start = 0.5 * z[:, k] if fraction == 0.0 else torch.full_like(low, -math.log(fraction / (1.0 - fraction)))
    theta = torch.minimum(torch.maximum(start, low), high)
    is_done = ~is_finite
    for _ in range(200):
        log_e, slope_e = _log_sum(z[:, k:] - theta[:, None], 0.0)
        log_f, slope_f = _log_sum(theta[:, None] - z[:, :k], fraction)
        excess = log_e - log_f
        low, high = torch.where(excess > 0.0, theta, low), torch.where(excess > 0.0, high, theta)
        is_done = is_done | (excess.abs() <= (2e-16 * theta.abs()).clamp_min(1e-14))
        following = theta + excess / (slope_e + slope_f)
        following = torch.where((following > low) & (following < high), following, 0.5 * (low + high))
        is_done = is_done | (following == theta)
        if bool(is_done.all()):
            break
        theta = torch.where(is_done, theta, following)
    return reference, theta, (z - theta[:, None]).abs().amin(-1), is_finite


def _log_sum(distance: Tensor, extra: float) -> tuple[Tensor, Tensor]:
    """ln(extra + Σ σ(d)) over the last axis, and its derivative when every d grows alike."""
    log = torch.nn.functional.logsigmoid(distance)
    log_extra = torch.full_like(log[:, :1], math.log(extra) if extra > 0.0 else -math.inf) if log.shape[1] else None
    if log_extra is None:  # nobody is certain: only the fraction
        rows = distance.new_zeros(distance.shape[0])
        return rows + math.log(extra), rows
    top = torch.maximum(log.amax(-1, keepdim=True), log_extra)
    weight = (log - top).exp()
    total = weight.sum(-1) + (log_extra - top).exp()[:, 0]
    return top[:, 0] + total.log(), (weight * -torch.expm1(log)).sum(-1) / total
