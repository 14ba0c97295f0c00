"""Soft top-k of a crowd: the threshold where scores stand for masses instead of single arms.

# What it is
Each entry of a table of scores x, [N,M], carries a mass μ (the share of an arm in a state), and the threshold solves
Σ μ pull = K with pull = σ(z), z = (x − ref)/e − θ. It is `soft_top_k` with weights, for one row.

# How it is computed
By the same steps of Halley's method on the sums Σμp, Σμpq and Σμpq(q − p), a pass over the table each: programs share the table, and
every program of the next pass adds up what they left and takes the same step. One program begins, with a sample of the arms; a table
that fits into a sample is solved there. Nothing waits for the host.

What is nearly strict, and what has not ended after these passes, is *left*: `settle` solves it by the balance of logarithms
(`log_balance`, each term multiplied by its mass), in plain PyTorch on the device. Temperature 0 is the strict limit, where the tied
share what is left of the budget.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from .log_balance import SMOOTH, STRICT
from .soft_top_k import CHUNK, PROGRAMS, SAMPLE, WARPS, _RUNNING, _SOLVED, _chances, _folded, _kept, _step

#: passes over a table that does not fit into a sample
PASSES = 8
#: what a threshold is kept as: reference, θ, nearest |z|, share of the tied, regime (`SMOOTH`, `STRICT`, below 0 where it was left)
ROOT = 5


@triton.jit
def _start(x_ptr, mass_ptr, numbers_ptr, state_ptr, status_ptr, n, stride, count, M: tl.constexpr, SAMPLE: tl.constexpr):
    """Solves a sample of `count` arms, every `stride`-th: the answer where these are all, a start where they are not."""
    budget = tl.load(numbers_ptr)
    temperature = tl.load(numbers_ptr + 1)
    k = tl.arange(0, SAMPLE)
    is_there = k < count * M
    at = (k // M).to(tl.int64) * stride * M + k % M
    x = tl.load(x_ptr + at, mask=is_there, other=0.0).to(tl.float64)
    mass = tl.load(mass_ptr + at, mask=is_there, other=0.0)
    if count < n:
        sampled = tl.sum(mass, 0)
        budget = tl.minimum(budget / n * sampled, 0.999 * sampled)

    # a score near the threshold: about as much of the mass lies above it as the budget has places
    below = tl.min(tl.where(is_there, x, float("inf")), 0)
    above = tl.max(tl.where(is_there, x, -float("inf")), 0)
    for _ in range(48):
        middle = below + 0.5 * (above - below)
        is_low = tl.sum(tl.where(x > middle, mass, 0.0), 0) > budget
        below = tl.where(is_low, middle, below)
        above = tl.where(is_low, above, middle)
    reference = tl.max(tl.where(is_there & (x <= above), x, -float("inf")), 0)

    z = (x - reference) / temperature
    theta = tl.full([], 0.0, tl.float64)
    low = tl.full([], -float("inf"), tl.float64)
    high = tl.full([], float("inf"), tl.float64)
    status = tl.full([], _RUNNING, tl.int32)
    passes = 0
    while (status == _RUNNING) & (passes < 30):
        p, q = _chances(z - theta)
        p = mass * p
        sums = (tl.sum(p, 0), tl.sum(p * q, 0), tl.sum(p * q * (2.0 * q - 1.0), 0))
        theta, low, high, status = _step(theta, low, high, status, sums[0], sums[1], sums[2], budget)
        passes += 1
    if count < n:  # only a start
        status = tl.where(status == _SOLVED, _RUNNING, status).to(tl.int32)
    _kept(state_ptr, status_ptr, reference, theta, -float("inf"), float("inf"), status, 0, 1, True)


@triton.jit
def _sums(
    x_ptr, mass_ptr, numbers_ptr, before_ptr, before_status_ptr, before_part_ptr, after_ptr, after_status_ptr, after_part_ptr,
    size, programs, FOLD: tl.constexpr, CHUNK: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """One pass: takes the step of the last one, then leaves the sums at the new θ."""
    part = tl.program_id(0)
    reference = tl.load(before_ptr)
    theta, low, high, status = _folded(numbers_ptr, before_ptr, before_status_ptr, before_part_ptr, 0, 1, programs, PROGRAMS, FOLD)
    _kept(after_ptr, after_status_ptr, reference, theta, low, high, status, 0, 1, part == 0)
    if status == _RUNNING:
        temperature = tl.load(numbers_ptr + 1)
        total = tl.zeros([CHUNK], tl.float64)
        slope = tl.zeros([CHUNK], tl.float64)
        curve = tl.zeros([CHUNK], tl.float64)
        for first in range(part * CHUNK, size, programs * CHUNK):
            at = first + tl.arange(0, CHUNK)
            is_there = at < size
            x = tl.load(x_ptr + at, mask=is_there, other=0.0).to(tl.float64)
            mass = tl.load(mass_ptr + at, mask=is_there, other=0.0)
            p, q = _chances((x - reference) / temperature - theta)
            total += mass * p
            slope += mass * p * q
            curve += mass * p * q * (q - p)
        tl.store(after_part_ptr + part, tl.sum(total, 0))
        tl.store(after_part_ptr + programs + part, tl.sum(slope, 0))
        tl.store(after_part_ptr + 2 * programs + part, tl.sum(curve, 0))


@triton.jit
def _rooted(numbers_ptr, before_ptr, before_status_ptr, part_ptr, programs, PROGRAMS: tl.constexpr, FOLD: tl.constexpr):
    """Reference and θ after the last step, and whether that solved it."""
    theta, _, _, status = _folded(numbers_ptr, before_ptr, before_status_ptr, part_ptr, 0, 1, programs, PROGRAMS, FOLD)
    return tl.load(before_ptr), theta, status == _SOLVED


@triton.jit
def _pulls(x, temperature, reference, theta, share, regime):
    """Log-odds z, pull and 1 − pull of scores; NaN where the threshold was left."""
    z = (x - reference) / temperature - theta
    p, q = _chances(z)
    strict = tl.where(x > reference, 1.0, tl.where(x < reference, 0.0, share))
    is_smooth, is_strict = regime == 0.0, regime == 1.0
    p = tl.where(is_smooth, p, tl.where(is_strict, strict, float("nan")))
    return z, p, tl.where(is_smooth, q, 1.0 - p)


class Passes(NamedTuple):
    """What the passes over one table hand to each other."""

    states: list[Tensor]
    statuses: list[Tensor]
    parts: list[Tensor]
    programs: int
    size: dict[str, int]


def passes(n: int, m: int, device: torch.device) -> Passes:
    """Room for the passes over tables [N,M]."""
    programs = max(1, min(triton.cdiv(n * m, CHUNK), PROGRAMS))
    return Passes(
        [torch.empty(4, dtype=torch.float64, device=device) for _ in range(2)],
        [torch.empty(1, dtype=torch.int32, device=device) for _ in range(2)],
        [torch.empty(3, programs, dtype=torch.float64, device=device) for _ in range(2)],
        programs,
        {"PROGRAMS": triton.next_power_of_2(programs), "num_warps": WARPS},
    )


def approach(x: Tensor, mass: Tensor, numbers: Tensor, room: Passes) -> tuple[int, bool]:
    """All passes but the last step, which `_rooted` takes: which of the two states holds, and whether sums wait to be folded."""
    n, m = x.shape
    stride = triton.cdiv(n, max(1, SAMPLE // m))
    count = triton.cdiv(n, stride)
    _start[(1,)](
        x, mass, numbers, room.states[0], room.statuses[0], n, stride, count,
        M=m, SAMPLE=triton.next_power_of_2(count * m), num_warps=WARPS,
    )  # fmt: skip
    if count == n:
        return 0, False
    now = 0
    for k in range(PASSES):
        old, now = now, 1 - now
        _sums[(room.programs,)](
            x, mass, numbers, room.states[old], room.statuses[old], room.parts[old],
            room.states[now], room.statuses[now], room.parts[now], n * m, room.programs,
            FOLD=k > 0, CHUNK=CHUNK, **room.size,
        )  # fmt: skip
    return now, True


def settle(x: Tensor, order: Tensor, mass: Tensor, budget: float, temperature: float) -> list[float]:
    """The threshold of any problem, as a `ROOT`: scores and masses [N·M] in float64, and the order of the scores, highest first."""
    total = float(mass.sum())
    if budget <= 0.0 or budget >= total:
        return [math.inf if budget <= 0.0 else -math.inf, 0.0, 0.0, 0.0, STRICT]
    ordered, weight = x[order], mass[order]
    upto = weight.cumsum(0)
    place = int((upto <= budget).sum())
    if place == len(order):  # the budget is below the total, but by less than rounding: the last mass is the marginal one
        place = int((weight > 0.0).nonzero()[-1])
    reference, above = float(ordered[place]), float(upto[place] - weight[place])
    z = (ordered - reference) / temperature if temperature >= sys.float_info.min else None
    if z is None or not bool(torch.isfinite(z[0]) & torch.isfinite(z[-1])):
        tied = x == reference
        share = (budget - float(mass[x > reference].sum())) / float(mass[tied].sum())
        return [reference, 0.0, 0.0, min(max(share, 0.0), 1.0), STRICT]
    theta = _balanced(z, weight.log(), place, max(budget - above, 0.0), budget / total)
    return [reference, theta, float((z - theta).abs()[weight > 0.0].amin()), 0.0, SMOOTH]


def _balanced(z: Tensor, log_mass: Tensor, place: int, fraction: float, share: float) -> float:
    """θ, from the balance of what is pulled from `place` on with what is missing before it."""
    logit = math.log(share / (1.0 - share))
    low, high = float(z[-1]) - logit - 1.0, float(z[0]) - logit + 1.0
    before = (log_mass[:place] > -math.inf).nonzero()
    if fraction == 0.0 and len(before):
        theta = 0.5 * float(z[before[-1]])
    else:
        part = min(max(fraction / math.exp(float(log_mass[place])), 1e-15), 1.0 - 1e-15)
        theta = -math.log(part / (1.0 - part))
    theta = min(max(theta, low), high)
    for _ in range(200):
        log_e, slope_e = _log_sum(log_mass[place:], z[place:] - theta, 0.0)
        log_f, slope_f = _log_sum(log_mass[:place], theta - z[:place], fraction)
        excess, slope = torch.stack([log_e - log_f, slope_e + slope_f]).tolist()
        low, high = (theta, high) if excess > 0.0 else (low, theta)
        following = theta + excess / slope
        following = following if low < following < high else 0.5 * (low + high)
        if abs(excess) <= max(1e-14, 2e-16 * abs(theta)) or following == theta:
            break
        theta = following
    return theta


def _log_sum(log_mass: Tensor, distance: Tensor, extra: float) -> tuple[Tensor, Tensor]:
    """ln(extra + Σ μ σ(d)), and its derivative when every d grows alike."""
    log = torch.nn.functional.logsigmoid(distance)
    log_extra = distance.new_full((1,), extra).log()
    terms = torch.cat([log_mass + log, log_extra])
    top = terms.amax()
    weight = (terms - top).exp()
    total = weight.sum()
    return top + total.log(), (weight[:-1] * -torch.expm1(log)).sum() / total
