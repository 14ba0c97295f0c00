"""Consistent weighted per-decision importance sampling, arm by arm, and its pullback.

# What it is
With the ratio of a decision f = π(logged action)/propensity and ρ_tij = Π_{t'≤t} f_t'ij, over trajectories j, steps t and arms i,

    value = Σ_t γ^t Σ_i R̄_ti        R̄_ti = Σ_j w_tij r_tij        w_tij = ρ_tij/Σ_j' ρ_tij'

A trajectory whose reward is not known takes no part in the average; without an action the ratio is 1. Where all ratios of an arm and
step are 0, or no reward is known, the term is *dropped*: it adds nothing and is counted; if all are, the value is NaN.

# How it is computed
A target comes as log-odds z (or pulls, of which they are taken), from which ln π = ln σ(±z) follows to full precision. A program
takes some arms and goes through the steps: ln ρ of all its trajectories grows by ln f, the largest is taken from all of them, and
shares are exponentials of what is left. Up to 256 trajectories stay in registers; more go through memory in chunks. Tiles are small, so that
nothing spills and other programs work while one waits for memory; those of the way back, in which nothing is summed over trajectories, are larger. Whether the pulls are fit to be judged is seen on the way; what programs
add to the answers is added up in their order by a last one.

# Its pullback
d R̄/d ln ρ_j = w_j (r_j − R̄), and a decision enters the ratios of all later steps: a sum from the last step to the first,

    d ln π_t = Σ_{u≥t} γ^u w_u (r_u − R̄_u)      d log-odds = ± (1 − π) d ln π      d pull = ± d ln π/π

A logged action that the target cannot take (a pull of exactly 0 or 1) ends the ratios: the slope by its own chance is what the
averages would gain, were it not for this decision (`_impossible`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from . import constants, raised

#: trajectories that are held in registers; arms a program takes at most
HELD, ARMS = 256, 64
#: numbers in a tile and warps of a program: of the averages, whose trajectories wait for each other, and of the way back, where none does
AVERAGES, SLOPES = (512, 4), (2048, 16)


class Logged(NamedTuple):
    """A log on the device, laid out for importance sampling; each [J,H,N]."""

    sign: Tensor
    """int8: 1 for a pull, −1 for passive, 0 for no action"""
    log_propensity: Tensor
    """float64, 0 where there is no action"""
    reward: Tensor
    """float64, NaN where it is not known"""


class Solved(NamedTuple):
    """What the averages are made of."""

    share: Tensor
    """[H,J,N]: ρ over the largest"""
    scale: Tensor
    """[H,N]: what a share is multiplied by to become w; 0 where the term is dropped"""
    mean: Tensor
    """[H,N]: R̄"""
    squares: Tensor
    """[H,N]: Σ w²"""
    log_total: Tensor
    """[H,N]: ln Σ ρ"""
    value: Tensor
    """[]"""
    sizes: Tensor
    """[2]: effective sample size at the last step, and dropped terms"""
    seen: Tensor
    """int32 [2]: whether some pulls are no pulls (NaN, or not from 0 to 1), and whether some are exactly 0 or 1"""


def logged(
    shape: torch.Size, device: torch.device, state: Any, action: Any, rewards: Any, budget: Any = None, propensity: Any = None
) -> Logged | None:
    """The log of decisions [J,H,N] on the device; None where something is wrong with it, which the native module says better."""
    state, action = _whole(state, device), _whole(action, device)
    rewards = _real(rewards, device)
    if state is None or action is None or rewards is None or len(shape) != 3 or 0 in shape or (budget is None) == (propensity is None):
        return None
    j, h, n = shape
    steps = ((j, h, n), (j, h + 1, n))
    if tuple(state.shape) not in steps or tuple(action.shape) not in steps:
        return None
    is_log = rewards.dim() == 3
    states = 65_535 if is_log else rewards.shape[0] if rewards.dim() else 0
    if (is_log and rewards.shape != shape) or states == 0 or rewards.dim() not in (1, 2, 3) or (rewards.dim() == 2 and rewards.shape[1] != 2):
        return None
    is_wrong = ((state < -1) | (state >= states)).any() | ((action < -1) | (action > 1)).any()
    if not is_log:
        is_wrong = is_wrong | ~torch.isfinite(rewards).all()
    state, action = state[:, :h], action[:, :h]
    sign = torch.where(action == 1, 1, torch.where(action == 0, -1, 0)).to(torch.int8)
    if propensity is None:
        try:
            places = int(budget)
        except (TypeError, ValueError):
            return None
        if places != budget or not 0 <= places <= n:
            return None
        pulled = torch.full((), places / n, dtype=torch.float64, device=device)
        chance = torch.where(sign > 0, pulled, 1.0 - pulled)
    else:
        chance = _real(propensity, device)
        if chance is None or chance.shape != shape:
            return None
    is_wrong = is_wrong | ((sign != 0) & ~((chance > 0.0) & (chance <= 1.0))).any()
    if raised(is_wrong.to(torch.int32).reshape(1))[0]:
        return None
    log_propensity = torch.where(sign == 0, 0.0, chance.log())
    if is_log:
        reward = torch.where(torch.isfinite(rewards), rewards, torch.nan)
    else:
        table = rewards if rewards.dim() == 2 else rewards[:, None].expand(-1, 2)
        earned = table[state.clamp_min(0), action.clamp_min(0)]
        is_either = (table[:, 0] == table[:, 1])[state.clamp_min(0)]
        reward = torch.where((state >= 0) & ((action >= 0) | is_either), earned, torch.nan)
    return Logged(sign.contiguous(), log_propensity.contiguous(), reward.contiguous())


def _whole(values: Any, device: torch.device) -> Tensor | None:
    """Whole numbers on the device, −1 where they are masked."""
    if not isinstance(values, Tensor):
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "iub":
            values = values.astype(np.int64).filled(-1)
        values = np.asarray(values)
        if values.dtype.kind not in "iub":
            return None
        values = torch.as_tensor(values.astype(np.int64))
    if values.is_floating_point() or values.is_complex() or values.dim() != 3:
        return None
    return values.to(device=device, dtype=torch.int64)


def _real(values: Any, device: torch.device) -> Tensor | None:
    """Real numbers on the device."""
    if not isinstance(values, Tensor):
        if isinstance(values, np.ma.MaskedArray):
            return None
        values = np.asarray(values)
        if values.dtype.kind not in "fiub":
            return None
        values = torch.as_tensor(values.astype(np.float64))
    return None if values.is_complex() else values.detach().to(device=device, dtype=torch.float64)


@triton.jit
def _log_sigmoid(v):
    """ln σ(v), however small."""
    small = tl.exp(-tl.abs(v))
    above = 1.0 + small
    # ln(1 + x) = ln(u)·x/(u − 1) for u = 1 + x as it was rounded
    log = tl.where(above == 1.0, small, tl.log(above) * (small / tl.where(above == 1.0, 1.0, above - 1.0)))
    return tl.minimum(v, 0.0) - log


@triton.jit
def _odds(pull, LOG_ODDS: tl.constexpr):
    if LOG_ODDS:
        odds = pull
    else:
        odds = tl.log(pull / (1.0 - pull))
    return odds


@triton.jit
def _log_factor(pull_ptr, sign_ptr, propensity_ptr, at, is_there, LOG_ODDS: tl.constexpr):
    """ln f of decisions."""
    sign = tl.load(sign_ptr + at, mask=is_there, other=0).to(tl.float64)
    odds = _odds(tl.load(pull_ptr + at, mask=is_there, other=0.5).to(tl.float64), LOG_ODDS)
    propensity = tl.load(propensity_ptr + at, mask=is_there, other=0.0)
    acts = sign != 0.0
    return tl.where(acts, _log_sigmoid(tl.where(acts, sign * odds, 0.0)) - propensity, 0.0)


@triton.jit
def _look(pull_ptr, at, is_there, is_wrong, is_certain, LOG_ODDS: tl.constexpr):
    """Which places had a pull that is none, and which one of exactly 0 or 1, with those at `at`."""
    pull = tl.load(pull_ptr + at, mask=is_there, other=0.5)
    if LOG_ODDS:
        is_wrong = is_wrong | (pull != pull)
    else:
        is_wrong = is_wrong | ~((pull >= 0.0) & (pull <= 1.0))
        is_certain = is_certain | (pull == 0.0) | (pull == 1.0)
    return is_wrong, is_certain


@triton.jit
def _averages(
    pull_ptr, sign_ptr, propensity_ptr, reward_ptr, share_ptr, scale_ptr, mean_ptr, squares_ptr, log_total_ptr, weight_ptr, part_ptr, ratio_ptr,
    trajectories, steps, n,
    PREVIOUS: tl.constexpr, LOG_ODDS: tl.constexpr, IS_HELD: tl.constexpr, HELD: tl.constexpr, ARMS: tl.constexpr,
):  # fmt: skip
    i = (tl.program_id(0) * ARMS + tl.arange(0, ARMS)).to(tl.int64)[None, :]
    j = tl.arange(0, HELD).to(tl.int64)[:, None]
    nothing = -float("inf")
    taken = tl.zeros([1, ARMS], tl.float64)
    ratio = tl.zeros([HELD, ARMS], tl.float64)
    is_wrong = tl.zeros([HELD, ARMS], tl.int1)
    is_certain = tl.zeros([HELD, ARMS], tl.int1)
    value = tl.zeros([1, ARMS], tl.float64)
    size = tl.zeros([1, ARMS], tl.float64)
    dropped = tl.zeros([1, ARMS], tl.float64)
    arm = (tl.program_id(0) * ARMS + tl.arange(0, ARMS)).to(tl.int64)[None, :]
    for t in range(0, steps):
        u = t - 1 if PREVIOUS else t
        top = tl.full([1, ARMS], nothing, tl.float64)
        for first in range(0, trajectories, HELD):
            is_there = (j + first < trajectories) & (i < n)
            at = ((j + first) * steps + t) * n + i
            is_wrong, is_certain = _look(pull_ptr, at, is_there, is_wrong, is_certain, LOG_ODDS)
            if IS_HELD == 0:
                ratio = tl.load(ratio_ptr + (j + first) * n + i, mask=is_there, other=0.0)
            if u >= 0:
                ratio += _log_factor(pull_ptr, sign_ptr, propensity_ptr, at + (u - t) * n, is_there, LOG_ODDS)
            if IS_HELD == 0:
                tl.store(ratio_ptr + (j + first) * n + i, ratio, mask=is_there)
            reward = tl.load(reward_ptr + at, mask=is_there, other=float("nan"))
            counted = tl.where(is_there & (reward == reward), ratio, nothing)
            top = tl.maximum(top, tl.max(counted, 0)[None, :])
        top = tl.where(top > nothing, top, 0.0)
        total = tl.zeros([1, ARMS], tl.float64)
        squares = tl.zeros([1, ARMS], tl.float64)
        earned = tl.zeros([1, ARMS], tl.float64)
        if IS_HELD == 0:
            tl.debug_barrier()
        for first in range(0, trajectories, HELD):
            is_there = (j + first < trajectories) & (i < n)
            at = ((j + first) * steps + t) * n + i
            if IS_HELD == 0:
                ratio = tl.load(ratio_ptr + (j + first) * n + i, mask=is_there, other=0.0)
            ratio -= top
            if IS_HELD == 0:
                tl.store(ratio_ptr + (j + first) * n + i, ratio, mask=is_there)
            reward = tl.load(reward_ptr + at, mask=is_there, other=float("nan"))
            counts = is_there & (reward == reward) & (ratio > -700.0)
            share = tl.where(counts, tl.exp(ratio), 0.0)
            tl.store(share_ptr + (t * trajectories + j + first) * n + i, share, mask=is_there)
            total += tl.sum(share, 0)[None, :]
            squares += tl.sum(share * share, 0)[None, :]
            earned += tl.sum(tl.where(counts, share * reward, 0.0), 0)[None, :]
        if IS_HELD == 0:
            tl.debug_barrier()
        taken += top
        scale = tl.where(total > 0.0, 1.0 / total, 0.0)
        squares = squares * scale * scale
        size = tl.where(squares > 0.0, 1.0 / squares, 0.0)
        dropped += ((total > 0.0) == 0).to(tl.float64)
        value += tl.load(weight_ptr + t) * (earned * scale)
        out = t * n + arm
        tl.store(scale_ptr + out, scale, mask=arm < n)
        tl.store(mean_ptr + out, earned * scale, mask=arm < n)
        tl.store(squares_ptr + out, squares, mask=arm < n)
        tl.store(log_total_ptr + out, taken + tl.log(total), mask=arm < n)
    part = part_ptr + tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(part, tl.sum(tl.sum(tl.where(arm < n, value, 0.0), 1), 0))
    tl.store(part + programs, tl.sum(tl.sum(tl.where(arm < n, size, 0.0), 1), 0))
    tl.store(part + 2 * programs, tl.sum(tl.sum(tl.where(arm < n, dropped, 0.0), 1), 0))
    tl.store(part + 3 * programs, tl.max(tl.max(is_wrong.to(tl.float64), 1), 0))
    tl.store(part + 4 * programs, tl.max(tl.max(is_certain.to(tl.float64), 1), 0))


@triton.jit
def _settle(part_ptr, value_ptr, sizes_ptr, seen_ptr, programs, terms, n, BLOCK: tl.constexpr):
    """The answers of what the programs add to them; the value is NaN where every term was dropped or a pull is none."""
    at = tl.arange(0, BLOCK)
    value = tl.zeros([BLOCK], tl.float64)
    size = tl.zeros([BLOCK], tl.float64)
    dropped = tl.zeros([BLOCK], tl.float64)
    wrong = tl.zeros([BLOCK], tl.float64)
    certain = tl.zeros([BLOCK], tl.float64)
    for first in range(0, programs, BLOCK):
        part, is_there = part_ptr + first + at, first + at < programs
        value += tl.load(part, mask=is_there, other=0.0)
        size += tl.load(part + programs, mask=is_there, other=0.0)
        dropped += tl.load(part + 2 * programs, mask=is_there, other=0.0)
        wrong = tl.maximum(wrong, tl.load(part + 3 * programs, mask=is_there, other=0.0))
        certain = tl.maximum(certain, tl.load(part + 4 * programs, mask=is_there, other=0.0))
    lost = tl.sum(dropped, 0)
    is_wrong = tl.max(wrong, 0)
    is_judged = (lost < terms) & (is_wrong == 0.0)
    tl.store(value_ptr, tl.where(is_judged, tl.sum(value, 0), float("nan")))
    tl.store(sizes_ptr, tl.sum(size, 0) / n)
    tl.store(sizes_ptr + 1, lost)
    tl.store(seen_ptr, is_wrong.to(tl.int32))
    tl.store(seen_ptr + 1, tl.max(certain, 0).to(tl.int32))


@triton.jit
def _slopes(
    pull_ptr, sign_ptr, reward_ptr, share_ptr, scale_ptr, mean_ptr, weight_ptr, d_value_ptr, d_ptr, trajectories, steps, n,
    PREVIOUS: tl.constexpr, LOG_ODDS: tl.constexpr, HELD: tl.constexpr, ARMS: tl.constexpr,
):  # fmt: skip
    i = (tl.program_id(0) * ARMS + tl.arange(0, ARMS)).to(tl.int64)[None, :]
    j = (tl.program_id(1) * HELD + tl.arange(0, HELD)).to(tl.int64)[:, None]
    is_there = (j < trajectories) & (i < n)
    d_value = tl.load(d_value_ptr).to(tl.float64)
    total = tl.zeros([HELD, ARMS], tl.float64)
    for k in range(0, steps):
        t = steps - 1 - k
        at = (j * steps + t) * n + i
        weight = d_value * tl.load(weight_ptr + t)
        share = tl.load(share_ptr + (t * trajectories + j) * n + i, mask=is_there, other=0.0)
        scale = tl.load(scale_ptr + t * n + i, mask=i < n, other=0.0)
        mean = tl.load(mean_ptr + t * n + i, mask=i < n, other=0.0)
        reward = tl.load(reward_ptr + at, mask=is_there, other=0.0)
        total += tl.where(share > 0.0, (reward - mean) * (share * scale) * weight, 0.0)
        u = t - 1 if PREVIOUS else t
        if u >= 0:
            at += (u - t) * n
            sign = tl.load(sign_ptr + at, mask=is_there, other=0).to(tl.float64)
            odds = _odds(tl.load(pull_ptr + at, mask=is_there, other=0.5).to(tl.float64), LOG_ODDS)
            acts = sign != 0.0
            toward = tl.where(acts, sign * odds, 0.0)
            if LOG_ODDS:
                d = sign * total / (1.0 + tl.exp(toward))
            else:
                # 1/π = 1 + e^−z, and nothing here where the target cannot act so
                d = sign * total * tl.where(toward == -float("inf"), 0.0, 1.0 + tl.exp(-toward))
            tl.store(d_ptr + at, tl.where(acts, d, 0.0).to(d_ptr.dtype.element_ty), mask=is_there)


def _tile(numbers: int, trajectories: int, arms: int) -> tuple[int, int]:
    """Trajectories and arms that a program takes at a time: few arms where there are few, for more programs."""
    held = min(triton.next_power_of_2(trajectories), HELD)
    return held, min(max(numbers // held, 4), ARMS, max(4, triton.next_power_of_2(arms) // 128))


def solve(pull: Tensor, log: Logged, discount: float, previous_step: bool, log_odds: bool) -> Solved:
    """The averages of every arm and step, and the answers; `pull` is [J,H,N] and contiguous."""
    j, h, n = pull.shape
    numbers = {"dtype": torch.float64, "device": pull.device}
    share, per_term = torch.empty(h, j, n, **numbers), torch.empty(4, h, n, **numbers).unbind()
    tile, warps = AVERAGES
    held, arms = _tile(tile, j, n)
    is_held, programs = j <= held, triton.cdiv(n, arms)
    ratio = share if is_held else torch.zeros(j, n, **numbers)
    part = torch.empty(5, programs, **numbers)
    answers = (torch.empty((), **numbers), torch.empty(2, **numbers), torch.empty(2, dtype=torch.int32, device=pull.device))
    _averages[(programs,)](
        pull, *log, share, *per_term, _powers(pull.device, discount, h), part, ratio, j, h, n,
        PREVIOUS=previous_step, LOG_ODDS=log_odds, IS_HELD=is_held, HELD=held, ARMS=arms, num_warps=warps,
    )  # fmt: skip
    _settle[(1,)](part, *answers, programs, h * n, n, BLOCK=1024, num_warps=8)
    return Solved(share, *per_term, *answers)


def _powers(device: torch.device, discount: float, steps: int) -> Tensor:
    """γ^t, [H]."""
    return constants(device, *(discount**t for t in range(steps)))


def pullback(
    pull: Tensor, log: Logged, solved: Solved, discount: float, previous_step: bool, log_odds: bool, has_certain: bool, d_value: Tensor
) -> Tensor:
    """What a cotangent of the value [] becomes on pulls, or on their log-odds; `has_certain`: some pulls are exactly 0 or 1."""
    j, h, n = pull.shape
    tile, warps = SLOPES
    held, arms = _tile(tile, j, n)
    d, weights = torch.empty_like(pull), _powers(pull.device, discount, h)
    if previous_step:
        d[:, -1] = 0.0  # the last decision is in no ratio
    _slopes[(triton.cdiv(n, arms), triton.cdiv(j, held))](
        pull, log.sign, log.reward, solved.share, solved.scale, solved.mean, weights, d_value.reshape(1), d, j, h, n,
        PREVIOUS=previous_step, LOG_ODDS=log_odds, HELD=held, ARMS=arms, num_warps=warps,
    )  # fmt: skip
    return _impossible(pull, log, solved, weights, previous_step, d_value, d) if has_certain and not log_odds else d


def _impossible(
    pull: Tensor, log: Logged, solved: Solved, weights: Tensor, previous_step: bool, d_value: Tensor, d: Tensor
) -> Tensor:
    """The slope by the first decision of each trajectory and arm that the target cannot have made, [J,H,N], in plain PyTorch."""
    sign, p = log.sign, pull.to(torch.float64)
    log_chance = torch.where(sign > 0, p.log(), torch.log1p(-p))
    factor = torch.where(sign == 0, 0.0, log_chance - log.log_propensity)
    is_impossible = (sign != 0) & (log_chance == -torch.inf)
    is_first = is_impossible & (is_impossible.cumsum(1) == 1)
    factor = torch.where(is_first, -log.log_propensity, factor)
    has_passed = is_first.cumsum(1) > 0
    if previous_step:  # the ratio of a step is that of the decision before it
        factor = torch.nn.functional.pad(factor[:, :-1], (0, 0, 1, 0))
        has_passed = torch.nn.functional.pad(has_passed[:, :-1], (0, 0, 1, 0))
    counts = has_passed & (solved.squares > 0.0) & ~log.reward.isnan()
    share = (factor.cumsum(1) - solved.log_total).exp() * weights[:, None]
    slope = torch.where(counts, share * (log.reward - solved.mean), 0.0).sum(1, keepdim=True)
    return torch.where(is_first, (d_value * sign * slope).to(d.dtype), d)
