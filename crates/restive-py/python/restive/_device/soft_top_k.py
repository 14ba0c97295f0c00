"""Soft top-k: the threshold by reductions, then pulls or log-odds, and the way back.

# What it is
For each row of scores x, [B,N], at temperature e: pull_i = σ(z_i), z_i = (x_i − ref)/e − θ, with the one θ at which Σ pull = K, the
budget. `ref` is a score near the threshold, so that differences are exact.

# How it is computed
Halley's method on f(θ) = Σ σ((x − ref)/e − θ) − K needs the three sums Σp, Σpq and Σpq(q − p), q = 1 − p, at every θ: one pass over
the scores. A first kernel, one program a row, solves the problem of a sample of at most 1,024 scores; that is the answer where there
are no more, and a start that leaves three passes where there are. In a pass, programs share a row, each leaves its sums, and *every*
program of the next pass adds them up in the same order and takes the same step: no atomics, no waiting for the host, the same bits
every time. Passes are launched eight at a time; those that come after the last step return at once. Then one flag is read.

Rows that are nearly strict (Σpq below K/1000), where Σ pull no longer fixes θ to full precision, go to `log_balance`.

# Its pullback
With s = pq, w = s/Σs, for a cotangent c of the pulls, or of the log-odds z:

    d_score_i = s_i (c_i − w·c)/e        d_score_i = (c_i − w_i Σc)/e        d_temperature = −Σ_i d_score_i z_i

Slopes are taken relative to the largest, s_i ∝ exp(nearest − |z_i|)/(1 + exp(−|z_i|))² with `nearest` the least |z|: nothing is lost
however strict the policy. Two passes. Where pulls are fixed (budget 0 or N, temperature 0 or infinite) nothing moves with the scores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from . import constants, flags, raised
from . import log_balance
from .log_balance import EVEN, SMOOTH, STRICT

#: scores that a program takes at a time, its warps, and how many programs share a row at most
CHUNK, WARPS, PROGRAMS = 1024, 4, 1056
#: scores of the first problem
SAMPLE = 1024
#: passes launched before a flag is read, and how often
PASSES, ROUNDS = 8, 4

# what is known of a row: still running, solved, left to log_balance, not a row of numbers
_RUNNING, _SOLVED, _LEFT, _FAULTY = (tl.constexpr(k) for k in range(4))
_SATURATED, _FARTHEST, _STEP = tl.constexpr(1e-3), tl.constexpr(600.0), tl.constexpr(1e-5)


@triton.jit
def _chances(distance):
    """σ(d) and 1 − σ(d), both to full precision."""
    small = tl.exp(-tl.abs(distance))
    large = 1.0 / (1.0 + small)
    small = small * large
    is_up = distance >= 0.0
    return tl.where(is_up, large, small), tl.where(is_up, small, large)


@triton.jit
def _step(theta, low, high, status, total, slope, curve, budget):
    """One step of Halley's method in a bracket, from the sums at θ."""
    excess = total - budget
    low = tl.where(excess > 0.0, theta, low)
    high = tl.where(excess > 0.0, high, theta)
    newton = excess / slope
    damping = 1.0 - 0.5 * newton * curve / slope
    step = tl.where(damping > 0.5, newton / damping, newton)
    is_last = tl.abs(step) <= _STEP  # the error left is below step³
    held = tl.minimum(tl.maximum(step, -4.0), 4.0)
    following = tl.where(is_last, theta + step, theta + held)
    is_bracketed = (low > -float("inf")) & (high < float("inf"))
    is_outside = (following < low) | (following > high)
    following = tl.where(is_bracketed & is_outside & (is_last == 0), 0.5 * (low + high), following)
    is_determined = (slope > _SATURATED * budget) & (tl.abs(following) < _FARTHEST)
    after = tl.where(is_determined, tl.where(is_last, _SOLVED, _RUNNING), _LEFT)
    return following, low, high, after.to(tl.int32)


@triton.jit
def _start(
    x_ptr, budget_ptr, temperature_ptr, budget_step, temperature_step, state_ptr, status_ptr, flag_ptr, rows, n, stride, count,
    SAMPLE: tl.constexpr,
):  # fmt: skip
    """Solves a sample of each row: the start of the whole one."""
    row = tl.program_id(0).to(tl.int64)
    whole = tl.load(budget_ptr + row * budget_step)
    budget = whole * count / n
    temperature = tl.load(temperature_ptr + row * temperature_step)
    at = tl.arange(0, SAMPLE)
    is_there = at < count
    x = tl.load(x_ptr + row * n + at.to(tl.int64) * stride, mask=is_there, other=0.0).to(tl.float64)
    is_faulty = tl.sum((is_there & ((x - x == 0.0) == 0)).to(tl.int32), 0) > 0
    is_wrong = ((temperature >= 0.0) == 0) | ((whole >= 0.0) == 0) | ((whole <= n) == 0) | is_faulty
    tl.store(flag_ptr, 1, mask=is_wrong)

    # a score near the threshold: about as many of the sample lie above it as the budget has places
    below = tl.min(tl.where(is_there, x, float("inf")), 0)
    above = tl.max(tl.where(is_there, x, -float("inf")), 0)
    for _ in range(48):
        middle = below + 0.5 * (above - below)
        higher = tl.sum((is_there & (x > middle)).to(tl.float64), 0)
        is_low = higher > budget
        below = tl.where(is_low, middle, below)
        above = tl.where(is_low, above, middle)
    reference = tl.max(tl.where(is_there & (x <= above), x, -float("inf")), 0)

    z = (x - reference) / temperature
    theta = tl.full([], 0.0, tl.float64)
    low = tl.full([], -float("inf"), tl.float64)
    high = tl.full([], float("inf"), tl.float64)
    is_usual = (temperature >= 2.2250738585072014e-308) & (temperature < float("inf")) & (whole > 0.0) & (whole < n)
    status = tl.where(is_wrong, _FAULTY, tl.where(is_usual, _RUNNING, _LEFT)).to(tl.int32)
    passes = 0
    while (status == _RUNNING) & (passes < 30):
        p, q = _chances(z - theta)
        p = tl.where(is_there, p, 0.0)
        theta, low, high, status = _step(
            theta, low, high, status, tl.sum(p, 0), tl.sum(p * q, 0), tl.sum(p * q * (q - p), 0), budget
        )
        passes += 1
    if count < n:  # only a start: the bracket is that of the sample
        status = tl.where(status == _SOLVED, _RUNNING, status).to(tl.int32)
    tl.store(state_ptr + row, reference)
    tl.store(state_ptr + rows + row, theta)
    tl.store(state_ptr + 2 * rows + row, -float("inf"))
    tl.store(state_ptr + 3 * rows + row, float("inf"))
    tl.store(status_ptr + row, status)


@triton.jit
def _folded(budget_ptr, state_ptr, status_ptr, part_ptr, row, rows, programs, PROGRAMS: tl.constexpr, FOLD: tl.constexpr):
    """The state of a row after the step that the sums of the last pass ask for."""
    theta = tl.load(state_ptr + rows + row)
    low = tl.load(state_ptr + 2 * rows + row)
    high = tl.load(state_ptr + 3 * rows + row)
    status = tl.load(status_ptr + row)
    if FOLD:
        if status == _RUNNING:
            k = tl.arange(0, PROGRAMS)
            part = part_ptr + row * 3 * programs + k
            total = tl.sum(tl.load(part, mask=k < programs, other=0.0), 0)
            slope = tl.sum(tl.load(part + programs, mask=k < programs, other=0.0), 0)
            curve = tl.sum(tl.load(part + 2 * programs, mask=k < programs, other=0.0), 0)
            theta, low, high, status = _step(theta, low, high, status, total, slope, curve, tl.load(budget_ptr))
    return theta, low, high, status


@triton.jit
def _kept(state_ptr, status_ptr, reference, theta, low, high, status, row, rows, is_first):
    tl.store(state_ptr + row, reference, mask=is_first)
    tl.store(state_ptr + rows + row, theta, mask=is_first)
    tl.store(state_ptr + 2 * rows + row, low, mask=is_first)
    tl.store(state_ptr + 3 * rows + row, high, mask=is_first)
    tl.store(status_ptr + row, status, mask=is_first)


@triton.jit
def _sums(
    x_ptr,
    budget_ptr,
    temperature_ptr,
    budget_step,
    temperature_step,
    before_ptr,
    before_status_ptr,
    before_part_ptr,
    after_ptr,
    after_status_ptr,
    after_part_ptr,
    flag_ptr,
    rows,
    n,
    programs,
    FOLD: tl.constexpr,
    CHUNK: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """One pass: takes the step of the last one, then leaves the sums at the new θ."""
    row = tl.program_id(0).to(tl.int64) // programs
    part = tl.program_id(0) % programs
    reference = tl.load(before_ptr + row)
    theta, low, high, status = _folded(
        budget_ptr + row * budget_step, before_ptr, before_status_ptr, before_part_ptr, row, rows, programs, PROGRAMS, FOLD
    )
    _kept(after_ptr, after_status_ptr, reference, theta, low, high, status, row, rows, part == 0)
    if status == _RUNNING:
        temperature = tl.load(temperature_ptr + row * temperature_step)
        total = tl.zeros([CHUNK], tl.float64)
        slope = tl.zeros([CHUNK], tl.float64)
        curve = tl.zeros([CHUNK], tl.float64)
        faults = tl.zeros([CHUNK], tl.int32)
        for first in range(part * CHUNK, n, programs * CHUNK):
            at = first + tl.arange(0, CHUNK)
            is_there = at < n
            x = tl.load(x_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
            p, q = _chances((x - reference) / temperature - theta)
            p = tl.where(is_there, p, 0.0)
            total += p
            slope += p * q
            curve += p * q * (q - p)
            faults |= ((x - x == 0.0) == 0).to(tl.int32)
        out = after_part_ptr + row * 3 * programs + part
        tl.store(out, tl.sum(total, 0))
        tl.store(out + programs, tl.sum(slope, 0))
        tl.store(out + 2 * programs, tl.sum(curve, 0))
        tl.store(flag_ptr, 1, mask=tl.sum(faults, 0) > 0)


@triton.jit
def _state(
    budget_ptr, budget_step, before_ptr, before_status_ptr, part_ptr, root_ptr, after_status_ptr, flag_ptr, rows, programs,
    PROGRAMS: tl.constexpr, FOLD: tl.constexpr,
):  # fmt: skip
    """Takes the last step of each row, and says which rows are not solved."""
    row = tl.program_id(0).to(tl.int64)
    theta, low, high, status = _folded(
        budget_ptr + row * budget_step, before_ptr, before_status_ptr, part_ptr, row, rows, programs, PROGRAMS, FOLD
    )
    _kept(root_ptr, after_status_ptr, tl.load(before_ptr + row), theta, low, high, status, row, rows, True)
    tl.store(flag_ptr + 1, 1, mask=status == _RUNNING)
    tl.store(flag_ptr + 2, 1, mask=status == _LEFT)


@triton.jit
def _pulls(
    x_ptr, temperature_ptr, temperature_step, root_ptr, regime_ptr, out_ptr, rows, n, programs,
    LOG_ODDS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Pulls or log-odds of solved rows."""
    row = tl.program_id(0).to(tl.int64) // programs
    part = tl.program_id(0) % programs
    reference = tl.load(root_ptr + row)
    theta = tl.load(root_ptr + rows + row)
    share = tl.load(root_ptr + 3 * rows + row)
    regime = tl.load(regime_ptr + row)
    temperature = tl.load(temperature_ptr + row * temperature_step)
    if LOG_ODDS:
        tied, top, bottom = tl.log(share / (1.0 - share)), float("inf"), -float("inf")
    else:
        tied, top, bottom = share, 1.0, 0.0
    for first in range(part * CHUNK, n, programs * CHUNK):
        at = first + tl.arange(0, CHUNK)
        is_there = at < n
        x = tl.load(x_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
        z = (x - reference) / temperature - theta
        if LOG_ODDS:
            smooth = z
        else:
            smooth = 1.0 / (1.0 + tl.exp(-z))
        strict = tl.where(x > reference, top, tl.where(x < reference, bottom, tied))
        answer = tl.where(regime == 0, smooth, tl.where(regime == 1, strict, tl.where(regime == 2, tied, float("nan"))))
        tl.store(out_ptr + row * n + at, answer.to(out_ptr.dtype.element_ty), mask=is_there)


@triton.jit
def _slope(x, reference, theta, temperature, nearest):
    """The log-odds, and the slope over exp(−nearest)."""
    z = (x - reference) / temperature - theta
    far = tl.abs(z)
    other = 1.0 + tl.exp(-far)
    return z, tl.exp(nearest - far) / (other * other)


@triton.jit
def _moments(
    x_ptr, c_ptr, temperature_ptr, temperature_step, root_ptr, regime_ptr, part_ptr, rows, n, programs,
    LOG_ODDS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Σs, and Σ s c or Σc: what the pullback of a row needs to know of the whole row."""
    row = tl.program_id(0).to(tl.int64) // programs
    part = tl.program_id(0) % programs
    reference = tl.load(root_ptr + row)
    theta = tl.load(root_ptr + rows + row)
    nearest = tl.load(root_ptr + 2 * rows + row)
    temperature = tl.load(temperature_ptr + row * temperature_step)
    slopes = tl.zeros([CHUNK], tl.float64)
    gains = tl.zeros([CHUNK], tl.float64)
    if tl.load(regime_ptr + row) == 0:
        for first in range(part * CHUNK, n, programs * CHUNK):
            at = first + tl.arange(0, CHUNK)
            is_there = at < n
            x = tl.load(x_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
            c = tl.load(c_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
            _, slope = _slope(x, reference, theta, temperature, nearest)
            slope = tl.where(is_there, slope, 0.0)
            slopes += slope
            if LOG_ODDS:
                gains += c
            else:
                gains += slope * c
    out = part_ptr + row * 2 * programs + part
    tl.store(out, tl.sum(slopes, 0))
    tl.store(out + programs, tl.sum(gains, 0))


@triton.jit
def _cotangents(
    x_ptr, c_ptr, temperature_ptr, temperature_step, root_ptr, regime_ptr, part_ptr, d_ptr, product_ptr, rows, n, programs,
    LOG_ODDS: tl.constexpr, CHUNK: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """d_score, and for each program its part of Σ d_score z."""
    row = tl.program_id(0).to(tl.int64) // programs
    part = tl.program_id(0) % programs
    reference = tl.load(root_ptr + row)
    theta = tl.load(root_ptr + rows + row)
    nearest = tl.load(root_ptr + 2 * rows + row)
    temperature = tl.load(temperature_ptr + row * temperature_step)
    is_smooth = tl.load(regime_ptr + row) == 0
    k = tl.arange(0, PROGRAMS)
    sums = part_ptr + row * 2 * programs + k
    slopes = tl.sum(tl.load(sums, mask=k < programs, other=0.0), 0)
    gains = tl.sum(tl.load(sums + programs, mask=k < programs, other=0.0), 0)
    price = gains / slopes
    scale = tl.exp(-nearest)
    product = tl.zeros([CHUNK], tl.float64)
    for first in range(part * CHUNK, n, programs * CHUNK):
        at = first + tl.arange(0, CHUNK)
        is_there = at < n
        x = tl.load(x_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
        c = tl.load(c_ptr + row * n + at, mask=is_there, other=0.0).to(tl.float64)
        z, slope = _slope(x, reference, theta, temperature, nearest)
        if LOG_ODDS:
            d = (c - slope * price) / temperature
        else:
            d = (slope * scale) * (c - price) / temperature
        d = tl.where(is_smooth & is_there, d, 0.0)
        product += tl.where(is_smooth & is_there, d * z, 0.0)
        tl.store(d_ptr + row * n + at, d.to(d_ptr.dtype.element_ty), mask=is_there)
    tl.store(product_ptr + row * programs + part, tl.sum(product, 0))


class Roots(NamedTuple):
    """The thresholds of B rows: what the pullback needs beside the scores."""

    root: Tensor
    """[4,B]: reference, θ, nearest |z|, share of a fixed pull"""
    regime: Tensor
    """[B]: `SMOOTH`, `STRICT` or `EVEN`"""
    temperature: Tensor
    """float64 [1] or [B], on the device"""


def _shared(rows: int, n: int) -> int:
    """How many programs share a row."""
    return max(1, min(triton.cdiv(n, CHUNK), PROGRAMS // min(rows, PROGRAMS)))


def on(device: torch.device, setting: Tensor) -> Tensor:
    """A setting as float64 [1] or [B] where the scores are; one that is there already is not waited for."""
    if setting.device == device:
        return setting.detach().reshape(-1).to(torch.float64).contiguous()
    return setting.detach().to(device, torch.float64) if setting.dim() else constants(device, float(setting))


def _step_of(setting: Tensor) -> int:
    """From one row's setting to the next's."""
    return int(setting.numel() > 1)


def solve(x: Tensor, budget: Tensor, temperature: Tensor) -> tuple[Roots, bool]:
    """The thresholds of contiguous scores [B,N], and whether something is wrong with them, budget or temperature, each [] or [B]."""
    (rows, n), device = x.shape, x.device
    budget, temperature = on(device, budget), on(device, temperature)
    root = torch.zeros(4, rows, dtype=torch.float64, device=device)
    flag = flags(device, 3)
    if rows == 0 or n == 0:
        is_fit = torch.cat([(budget >= 0.0) & (budget <= n), temperature >= 0.0]).all()
        regime = torch.full((rows,), STRICT, dtype=torch.int32, device=device)
        return Roots(root, regime, temperature), bool(raised((~is_fit).to(torch.int32).reshape(1))[0])
    programs = _shared(rows, n)
    steps = (_step_of(budget), _step_of(temperature))
    states = [torch.empty(4, rows, dtype=torch.float64, device=device) for _ in range(2)]
    statuses = [torch.empty(rows, dtype=torch.int32, device=device) for _ in range(2)]
    parts = [torch.empty(rows, 3, programs, dtype=torch.float64, device=device) for _ in range(2)]
    size = {"PROGRAMS": triton.next_power_of_2(programs), "num_warps": WARPS}
    stride = triton.cdiv(n, SAMPLE)
    count = triton.cdiv(n, stride)
    _start[(rows,)](
        x, budget, temperature, *steps, states[0], statuses[0], flag, rows, n, stride, count,
        SAMPLE=triton.next_power_of_2(min(n, SAMPLE)), num_warps=WARPS,
    )  # fmt: skip
    now, folds = 0, False
    for _ in range(ROUNDS):
        for _ in range(PASSES if count < n else 0):
            old, now = now, 1 - now
            _sums[(rows * programs,)](
                x, budget, temperature, *steps, states[old], statuses[old], parts[old], states[now], statuses[now], parts[now],
                flag, rows, n, programs, FOLD=folds, CHUNK=CHUNK, **size,
            )  # fmt: skip
            folds = True
        flag[1:] = 0
        old, now = now, 1 - now
        _state[(rows,)](
            budget, steps[0], states[old], statuses[old], parts[old], states[now], statuses[now], flag, rows, programs,
            FOLD=folds, **size,
        )  # fmt: skip
        folds = False
        is_wrong, is_running, is_left = raised(flag)
        if is_wrong or not is_running or count == n:
            break
    is_end = ((budget <= 0.0) | (budget >= n)).expand(rows)
    root[0] = torch.where(is_end, torch.where(budget <= 0.0, math.inf, -math.inf), states[now][0])
    root[1] = states[now][1]
    regime = torch.where(is_end, STRICT, torch.where(statuses[now] == _SOLVED.value, SMOOTH, -1)).to(torch.int32)
    if (is_left or is_running) and not is_wrong:
        left = (statuses[now] != _SOLVED.value).nonzero()[:, 0]
        is_wrong = not bool(torch.isfinite(x[left]).all())
        left = (regime == -1).nonzero()[:, 0]
        if not is_wrong and left.numel():
            settings = (v[left] if v.numel() > 1 else v.expand(left.numel()) for v in (budget, temperature))
            root[:, left], regime[left] = log_balance.solve(x[left].to(torch.float64), *settings)
    return Roots(root, regime, temperature), bool(is_wrong)


def pulls(x: Tensor, roots: Roots, log_odds: bool) -> Tensor:
    """Pulls [B,N], or their log-odds."""
    (rows, n), out = x.shape, torch.empty_like(x)
    if out.numel():
        programs = max(1, min(triton.cdiv(n, CHUNK), 8 * PROGRAMS // min(rows, PROGRAMS)))
        _pulls[(rows * programs,)](
            x, roots.temperature, _step_of(roots.temperature), roots.root, roots.regime, out, rows, n, programs,
            LOG_ODDS=log_odds, CHUNK=CHUNK, num_warps=WARPS,
        )  # fmt: skip
    return out


def pullback(x: Tensor, roots: Roots, d_pull: Tensor, log_odds: bool) -> tuple[Tensor, Tensor]:
    """What a cotangent of pulls or log-odds [B,N] becomes on the scores [B,N] and on the temperature of each row [B]."""
    (rows, n), d_score = x.shape, torch.empty_like(x)
    if d_score.numel() == 0:
        return d_score, torch.zeros(rows, dtype=torch.float64, device=x.device)
    programs, c = _shared(rows, n), d_pull.contiguous()
    part = torch.empty(rows, 2, programs, dtype=torch.float64, device=x.device)
    product = torch.empty(rows, programs, dtype=torch.float64, device=x.device)
    shared = (x, c, roots.temperature, _step_of(roots.temperature), roots.root, roots.regime, part)
    options = {"LOG_ODDS": log_odds, "CHUNK": CHUNK, "num_warps": WARPS}
    _moments[(rows * programs,)](*shared, rows, n, programs, **options)
    _cotangents[(rows * programs,)](
        *shared, d_score, product, rows, n, programs, PROGRAMS=triton.next_power_of_2(programs), **options
    )
    return d_score, -product.sum(-1)


__all__ = ["EVEN", "Roots", "SMOOTH", "STRICT", "on", "pullback", "pulls", "solve"]
