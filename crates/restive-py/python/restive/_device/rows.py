"""Rows of soft top-k on the device, ready for their pullback, with arms that may be absent: what `restive.torch.soft_top_k` asks for.

The kernels know of no absent arms. Those get a score so far below all others that their pull, and its slope, are 0 to the last bit:
a threshold is at most some 750 temperatures below the lowest score, where exp underflows, and they are 4,000 below it. So the sums
that a threshold is found by are those of the arms that are there. What such scores do not say is said beside them: a budget that pays for
everybody who is there pulls them all; at an infinite temperature those who are there share the budget; cotangents of absent arms
do not count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from . import soft_top_k as kernel

#: temperatures between the lowest score and those of absent arms; and at least this part of the largest score, for that not to be rounded away
FAR, APART = 4000.0, 1e-9


class Rows(NamedTuple):
    """Problems that are solved."""

    shape: torch.Size
    """that of the scores, [...,N]"""
    x: Tensor
    """[B,N]: scores, those of absent arms far below the others"""
    roots: kernel.Roots
    mask: Tensor | None
    """[B,N]: whether each arm is there; None where all are"""

    def pulls(self, log_odds: bool) -> Tensor:
        """Pulls [...,N], or their log-odds."""
        return self._shown(kernel.pulls(self.x, self.roots, log_odds), -math.inf if log_odds else 0.0)

    def log_odds(self) -> Tensor:
        """Log-odds [...,N] in float64."""
        return self._shown(kernel.pulls(self.x.to(torch.float64), self.roots, True), -math.inf)

    def pullback(self, d_pull: Tensor, log_odds: bool) -> tuple[Tensor, Tensor]:
        """What a cotangent of pulls or log-odds [...,N] becomes on the scores [...,N] and on the temperature of each problem [B]."""
        c = d_pull.reshape(self.x.shape)
        c = c if self.mask is None else torch.where(self.mask, c, 0.0)
        d_scores, d_temperature = kernel.pullback(self.x, self.roots, c, log_odds)
        return self._shown(d_scores, 0.0), d_temperature

    def _shown(self, numbers: Tensor, absent: float) -> Tensor:
        return (numbers if self.mask is None else torch.where(self.mask, numbers, absent)).reshape(self.shape)


def solve(scores: Tensor, budget: Tensor, temperature: Tensor, mask: Tensor | None) -> Rows | None:
    """Problems [...,N], or None where something is wrong with them, budget or temperature, each [] or [...]; a mask is [N] or [...,N]."""
    n = scores.shape[-1]
    x = scores.reshape(scores.shape[:-1].numel(), n).contiguous()
    budget, temperature = (v.reshape(-1) if v.dim() else v for v in (budget, temperature))
    if mask is None or not x.numel():
        roots, is_wrong = kernel.solve(x, budget, temperature)
        return None if is_wrong else Rows(scores.shape, x, roots, None)
    mask = mask.to(x.device).expand(scores.shape).reshape(x.shape)
    settings = (kernel.on(x.device, v).expand(len(x)) for v in (budget, temperature))
    x, roots, is_wrong = _solve(x.to(torch.float64), *settings, mask)
    return None if is_wrong else Rows(scores.shape, x, roots, mask)


def _solve(x: Tensor, budget: Tensor, temperature: Tensor, mask: Tensor) -> tuple[Tensor, kernel.Roots, bool]:
    """Scores as the kernels take them, and the thresholds, of rows [B,N] of which some arms are absent."""
    there = mask.sum(-1)
    least = torch.where(mask, x, math.inf).amin(-1)
    largest = torch.where(mask, x, 0.0).abs().amax(-1)
    gap = torch.where(temperature == math.inf, 0.0, FAR * temperature)
    gap = torch.maximum(gap, APART * largest).clamp_min(1e-290)
    below = torch.where(there == 0, 0.0, least - gap)
    x = torch.where(mask, x, below[:, None])
    # who is paid for anyhow needs no threshold; more places than arms are a fault of the caller's
    is_enough = (budget >= there) & (budget <= x.shape[1])
    roots, is_wrong = kernel.solve(x, torch.where(is_enough, 0.0, budget), temperature)
    roots.root[0] = torch.where(is_enough, -math.inf, roots.root[0])
    roots.root[3] = torch.where(roots.regime == kernel.EVEN, budget / there, roots.root[3])
    return x, roots, is_wrong


__all__ = ["Rows", "solve"]
