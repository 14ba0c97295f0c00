"""The threshold of nearly strict and of strict policies: the rows that Halley's method leaves, in plain PyTorch on their device.

Let I be the k largest scores, k the whole number next to K, and z = (x − ref)/e with ref an actual score next to the threshold. Σ pull = K is the
same as E = F with

    E = max(k − K, 0) + Σ_{i∉I} σ(z_i − θ)      F = max(K − k, 0) + Σ_{i∈I} σ(θ − z_i)

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


def solve(x: Tensor, budget: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
    """Of rows [B,N] in float64, budgets [B] between 0 and N and temperatures [B]: [4,B] (reference or threshold, θ, nearest |z|, share) and
    regimes [B]."""
    rows, n = x.shape
    root = torch.zeros(4, rows, dtype=torch.float64, device=x.device)
    ordered = x.sort(dim=-1, descending=True).values
    threshold = ordered.gather(1, (budget.ceil().long() - 1)[:, None])
    tied, above = (x == threshold).sum(-1), (x > threshold).sum(-1)
    is_even = temperature == math.inf
    reference, theta, nearest, is_finite = _balanced(ordered, budget, torch.where(is_even, 1.0, temperature))
    is_smooth = is_finite & ~is_even & (temperature >= sys.float_info.min)
    root[0] = torch.where(is_smooth, reference, threshold[:, 0])
    root[1], root[2] = torch.where(is_smooth, theta, 0.0), torch.where(is_smooth, nearest, 0.0)
    root[3] = torch.where(is_even, budget / n, ((budget - above) / tied).clamp(0.0, 1.0))
    return root, torch.where(is_smooth, SMOOTH, torch.where(is_even, EVEN, STRICT)).to(torch.int32)


def _balanced(ordered: Tensor, budget: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Reference, θ and least |z − θ| of rows in descending order, and which of them are finite over the temperature; each [B]."""
    n, floor = ordered.shape[1], budget.floor()
    fraction, rest = budget - floor, floor + 1.0 - budget
    is_up = fraction > rest
    is_certain = torch.arange(n, device=ordered.device) < (floor + is_up)[:, None]
    reference = ordered.gather(1, torch.where(fraction > 0.0, floor, floor - 1).long()[:, None])
    z = (ordered - reference) / temperature[:, None]
    is_finite = torch.isfinite(z[:, 0]) & torch.isfinite(z[:, -1])
    z = torch.where(is_finite[:, None], z, 0.0)
    logit = budget.log() - (n - budget).log()  # a quotient may be too small to be written
    low, high = z[:, -1] - logit, z[:, 0] - logit
    low, high = low - 1e-10 * (1.0 + low.abs()), high + 1e-10 * (1.0 + high.abs())
    start = torch.where(fraction > 0.0, -(fraction / rest).log(), 0.5 * z.gather(1, floor.long()[:, None])[:, 0])
    extra = (torch.where(is_up, rest, 0.0), torch.where(is_up, 0.0, fraction))
    theta = torch.minimum(torch.maximum(start, low), high)
    is_done = ~is_finite
    for _ in range(200):
        distance = torch.where(is_certain, theta[:, None] - z, z - theta[:, None])
        log_e, slope_e = _log_sum(distance, ~is_certain, extra[0])
        log_f, slope_f = _log_sum(distance, is_certain, extra[1])
        excess = log_e - log_f
        low, high = torch.where(excess > 0.0, theta, low), torch.where(excess > 0.0, high, theta)
        is_done = is_done | (excess.abs() <= (2e-16 * theta.abs()).clamp_min(1e-14))
        following = theta + excess / (slope_e + slope_f)
        following = torch.where((following > low) & (following < high), following, 0.5 * (low + high))
        is_done = is_done | (following == theta)
        if bool(is_done.all()):
            break
        theta = torch.where(is_done, theta, following)
    return reference[:, 0], theta, (z - theta[:, None]).abs().amin(-1), is_finite


def _log_sum(distance: Tensor, counts: Tensor, extra: Tensor) -> tuple[Tensor, Tensor]:
    """ln(extra + Σ σ(d)) over those that count, and its derivative when every d grows alike."""
    log = torch.nn.functional.logsigmoid(distance)
    log = torch.where(counts, log, -torch.inf)
    top = torch.maximum(log.amax(-1), extra.log())
    weight = (log - top[:, None]).exp()
    total = weight.sum(-1) + (extra.log() - top).exp()
    return top + total.log(), (weight * -torch.expm1(log)).sum(-1) / total
