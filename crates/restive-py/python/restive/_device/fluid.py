"""The fluid (mean-field) value on the device, and the way back.

# What it is
Every arm is a distribution μ over its states. At each step the threshold of `crowd` makes Σ μ p = K with p = σ((W − τ)/e), then

    value += γ^t Σ μ (p R₁ + q R₀)      μ ← (μ p) P₁ + (μ q) P₀      q = 1 − p

# How it is computed
A step is the passes of `crowd`, then one pass over the arms: it takes the last step of the root, pulls, earns and moves. Tiles hold
some arms times the states they go to; the states they come from are a loop. No step waits for the host: after the last one it is read
which threshold was left, and from there on each is settled by `crowd.settle` before its masses move. Masses [H,N,M] and thresholds are
kept for the way back; pulls are computed again. The forward pass is read twice, before and after, and no CUDA graph can be captured of
it; the way back is never waited for.

# Its pullback
Backwards in t, with L the cotangent of the next μ, q_a = P_a L + γ^t R_a, Δ = q₁ − q₀, s = p(1 − p) and g = Σ μ s Δ/Σ μ s, the
price of a pull:

    d W += s μ (Δ − g)/e     d P_a += (μ p_a) ⊗ L     d R_a += γ^t μ p_a
    d K += g     d e −= Σ s μ (Δ − g) z/e     d γ += t γ^(t−1) (earned at t)
    L ← p q₁ + (1 − p) q₀ − p g

Two passes a step, because g is a sum over all arms. Slopes are taken relative to the largest, as in `soft_top_k`. Where pulls are
fixed nothing moves with the scores, and g is what a larger budget buys the tied. Rows of d P sum to zero. No atomics: the same bits
every time.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from . import crowd
from .crowd import ROOT, _pulls, _rooted
from .soft_top_k import PROGRAMS, WARPS

#: the most states that an arm may have here, and how many numbers a tile holds
MOST_STATES, TILE = 64, 512
#: initial masses sum to one but for so much
_ROUNDED = 1e-6


@triton.jit
def _row(p_ptr, arm, s, a: tl.constexpr, to, is_there, COMPACT: tl.constexpr, M: tl.constexpr):
    """Where action a leads from state s, [arms, states]; sums to one."""
    if COMPACT:
        up = tl.load(p_ptr + arm * 4 + 2 * s + a).to(tl.float64)[:, None]
        return tl.where(is_there, tl.where(to[None, :] == 1, up, 1.0 - up), 0.0)
    at = ((arm * M + s) * 2 + a)[:, None] * M + to[None, :]
    row = tl.load(p_ptr + at, mask=is_there, other=0.0).to(tl.float64)
    total = tl.sum(row, 1)
    return row / tl.where(total > 0.0, total, 1.0)[:, None]


@triton.jit
def _move(
    p_ptr, x_ptr, mass_ptr, reward_ptr, numbers_ptr, before_ptr, before_status_ptr, sums_ptr, root_ptr,
    next_ptr, earned_ptr, n, sharing, programs, by_arm, by_state, by_action,
    GIVEN: tl.constexpr, FOLD: tl.constexpr, LAST: tl.constexpr, COMPACT: tl.constexpr,
    M: tl.constexpr, WIDTH: tl.constexpr, ARMS: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """Takes the last step of the root (or finds it given), pulls, earns and moves."""
    part = tl.program_id(0)
    if GIVEN:
        reference = tl.load(root_ptr)
        theta = tl.load(root_ptr + 1)
        share = tl.load(root_ptr + 3)
        regime = tl.load(root_ptr + 4)
    else:
        reference, theta, is_solved = _rooted(numbers_ptr, before_ptr, before_status_ptr, sums_ptr, sharing, PROGRAMS, FOLD)
        share = tl.full([], 0.0, tl.float64)
        regime = tl.where(is_solved, 0.0, -1.0).to(tl.float64)
        tl.store(root_ptr, reference, mask=part == 0)
        tl.store(root_ptr + 1, theta, mask=part == 0)
        tl.store(root_ptr + 2, share, mask=part == 0)
        tl.store(root_ptr + 3, share, mask=part == 0)
        tl.store(root_ptr + 4, regime, mask=part == 0)
    temperature = tl.load(numbers_ptr + 1)
    to = tl.arange(0, WIDTH)
    earned = tl.zeros([ARMS], tl.float64)
    for first in range(part * ARMS, n, programs * ARMS):
        arm = (first + tl.arange(0, ARMS)).to(tl.int64)
        is_arm = arm < n
        is_there = is_arm[:, None] & (to < M)[None, :]
        arm = tl.where(is_arm, arm, 0)
        moved = tl.zeros([ARMS, WIDTH], tl.float64)
        for s in range(M):
            x = tl.load(x_ptr + arm * M + s).to(tl.float64)
            mass = tl.where(is_arm, tl.load(mass_ptr + arm * M + s), 0.0)
            _, p, q = _pulls(x, temperature, reference, theta, share, regime)
            active, passive = mass * p, mass * q
            reward = reward_ptr + arm * by_arm + s * by_state
            earned += active * tl.load(reward + by_action) + passive * tl.load(reward)
            if not LAST:
                moved += passive[:, None] * _row(p_ptr, arm, s, 0, to, is_there, COMPACT, M)
                moved += active[:, None] * _row(p_ptr, arm, s, 1, to, is_there, COMPACT, M)
        if not LAST:
            tl.store(next_ptr + arm[:, None] * M + to[None, :], moved, mask=is_there)
    tl.store(earned_ptr + part, tl.sum(earned, 0))


@triton.jit
def _slope(z, p, nearest, regime):
    """p(1 − p) over exp(−nearest); of fixed pulls, whether they are shared."""
    other = 1.0 + tl.exp(-tl.abs(z))
    smooth = tl.exp(nearest - tl.abs(z)) / (other * other)
    return tl.where(regime == 0.0, smooth, ((p > 0.0) & (p < 1.0)).to(tl.float64))


@triton.jit
def _gather(
    p_ptr, x_ptr, mass_ptr, reward_ptr, numbers_ptr, weight_ptr, root_ptr, next_ptr, here_ptr, gap_ptr, d_p_ptr, d_reward_ptr,
    part_ptr, n, programs, by_arm, by_state, by_action,
    COMPACT: tl.constexpr, M: tl.constexpr, WIDTH: tl.constexpr, ARMS: tl.constexpr,
):  # fmt: skip
    """From L: p q₁ + (1 − p) q₀ and Δ of each state, what is added to d P and d R, and the sums of g."""
    part = tl.program_id(0)
    reference = tl.load(root_ptr)
    theta = tl.load(root_ptr + 1)
    nearest = tl.load(root_ptr + 2)
    share = tl.load(root_ptr + 3)
    regime = tl.load(root_ptr + 4)
    temperature = tl.load(numbers_ptr + 1)
    weight = tl.load(weight_ptr)
    to = tl.arange(0, WIDTH)
    slopes = tl.zeros([ARMS], tl.float64)
    gains = tl.zeros([ARMS], tl.float64)
    for first in range(part * ARMS, n, programs * ARMS):
        arm = (first + tl.arange(0, ARMS)).to(tl.int64)
        is_arm = arm < n
        is_there = is_arm[:, None] & (to < M)[None, :]
        arm = tl.where(is_arm, arm, 0)
        later = tl.load(next_ptr + arm[:, None] * M + to[None, :], mask=is_there, other=0.0)
        centred = later - (tl.sum(later, 1) / M)[:, None]
        for s in range(M):
            x = tl.load(x_ptr + arm * M + s).to(tl.float64)
            mass = tl.where(is_arm, tl.load(mass_ptr + arm * M + s), 0.0)
            z, p, q = _pulls(x, temperature, reference, theta, share, regime)
            active, passive = mass * p, mass * q
            reward = reward_ptr + arm * by_arm + s * by_state
            low = weight * tl.load(reward) + tl.sum(_row(p_ptr, arm, s, 0, to, is_there, COMPACT, M) * later, 1)
            high = weight * tl.load(reward + by_action) + tl.sum(_row(p_ptr, arm, s, 1, to, is_there, COMPACT, M) * later, 1)
            tl.store(here_ptr + arm * M + s, p * high + q * low, mask=is_arm)
            tl.store(gap_ptr + arm * M + s, high - low, mask=is_arm)
            slope = tl.where(mass > 0.0, mass * _slope(z, p, nearest, regime), 0.0)
            slopes += slope
            gains += slope * (high - low)
            d_reward = d_reward_ptr + (arm * M + s) * 2
            tl.store(d_reward, tl.load(d_reward) + weight * passive, mask=is_arm)
            tl.store(d_reward + 1, tl.load(d_reward + 1) + weight * active, mask=is_arm)
            if COMPACT:  # of the chance of state 1, the other being what is left
                rise = tl.sum(tl.where(to[None, :] == 1, later, -later), 1)
                d_p = d_p_ptr + arm * 4 + 2 * s
                tl.store(d_p, tl.load(d_p) + passive * rise, mask=is_arm)
                tl.store(d_p + 1, tl.load(d_p + 1) + active * rise, mask=is_arm)
            else:
                d_p = d_p_ptr + ((arm * M + s) * 2 * M)[:, None] + to[None, :]
                tl.store(d_p, tl.load(d_p, mask=is_there, other=0.0) + passive[:, None] * centred, mask=is_there)
                tl.store(d_p + M, tl.load(d_p + M, mask=is_there, other=0.0) + active[:, None] * centred, mask=is_there)
    tl.store(part_ptr + part, tl.sum(slopes, 0))
    tl.store(part_ptr + programs + part, tl.sum(gains, 0))


@triton.jit
def _charge(
    x_ptr, mass_ptr, numbers_ptr, root_ptr, here_ptr, gap_ptr, part_ptr, d_x_ptr, price_ptr, product_ptr, size, programs, sharing,
    CHUNK: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """g from its sums, then d W, its part of Σ d W z, and L less p g."""
    part = tl.program_id(0)
    reference = tl.load(root_ptr)
    theta = tl.load(root_ptr + 1)
    nearest = tl.load(root_ptr + 2)
    share = tl.load(root_ptr + 3)
    regime = tl.load(root_ptr + 4)
    temperature = tl.load(numbers_ptr + 1)
    k = tl.arange(0, PROGRAMS)
    slopes = tl.sum(tl.load(part_ptr + k, mask=k < sharing, other=0.0), 0)
    gains = tl.sum(tl.load(part_ptr + sharing + k, mask=k < sharing, other=0.0), 0)
    price = tl.where(slopes > 0.0, gains / tl.where(slopes > 0.0, slopes, 1.0), 0.0)
    tl.store(price_ptr, price, mask=part == 0)
    scale = tl.exp(-nearest)
    product = tl.zeros([CHUNK], tl.float64)
    for first in range(part * CHUNK, size, programs * CHUNK):
        at = first + tl.arange(0, CHUNK)
        is_there = at < size
        x = tl.load(x_ptr + at, mask=is_there, other=0.0).to(tl.float64)
        mass = tl.load(mass_ptr + at, mask=is_there, other=0.0)
        z, p, _ = _pulls(x, temperature, reference, theta, share, regime)
        moves = is_there & (tl.where(regime == 0.0, mass, 0.0) > 0.0)
        gap = tl.load(gap_ptr + at, mask=is_there, other=0.0)
        d = tl.where(moves, _slope(z, p, nearest, regime) * scale * mass * (gap - price) / temperature, 0.0)
        product += tl.where(moves, d * z, 0.0)
        tl.store(d_x_ptr + at, tl.load(d_x_ptr + at, mask=is_there, other=0.0) + d, mask=is_there)
        tl.store(here_ptr + at, tl.load(here_ptr + at, mask=is_there, other=0.0) - p * price, mask=is_there)
    tl.store(product_ptr + part, tl.sum(product, 0))


class Flow(NamedTuple):
    """A value [], and what its pullback needs beside the inputs."""

    value: Tensor
    mass: Tensor
    """float64 [H,N,M]"""
    root: Tensor
    """float64 [H,6]: `ROOT`, and what was earned"""


class World(NamedTuple):
    """Inputs as the kernels read them."""

    P: Tensor
    index: Tensor
    """[S,N,M]"""
    rewards: Tensor
    """float64 [N,M,2], expanded"""
    numbers: Tensor
    """float64 [3]: budget, temperature, discount"""
    n: int
    m: int
    is_compact: bool

    def table(self, t: int) -> Tensor:
        return self.index[min(t, len(self.index) - 1)]

    def sizes(self) -> dict[str, int]:
        width = triton.next_power_of_2(max(self.m, 2))
        arms = max(1, min(TILE // width, triton.next_power_of_2(self.n)))
        return {"COMPACT": self.is_compact, "M": self.m, "WIDTH": width, "ARMS": arms, "num_warps": WARPS}

    def programs(self) -> int:
        return min(triton.cdiv(self.n, self.sizes()["ARMS"]), PROGRAMS)


def covers(P: Tensor, index: Tensor, initial: Tensor, budget: Tensor, temperature: Tensor, rewards: Tensor, discount: Tensor) -> bool:
    """Whether there is a kernel for inputs of these shapes, all of them where P is. What is wrong with shapes is the native module's to say."""
    is_compact = P.ndim == 2 and P.shape[1] == 4
    if not (is_compact or P.ndim == 4) or P.shape[0] == 0:
        return False
    n, m = P.shape[0], 2 if is_compact else P.shape[1]
    kinds = [(m,), (m, 2), (n, m), (n, m, 2)]
    is_shaped = (
        (is_compact or P.shape[2:] == (2, m))
        and 0 < m <= MOST_STATES
        and index.ndim in (2, 3)
        and index.shape[-2:] == (n, m)
        and index.shape[0] > 0
        and initial.shape == (n, m)
        and kinds.count(tuple(rewards.shape)) == 1
    )
    others = (index, initial, budget, temperature, rewards, discount)
    return is_shaped and all(x.numel() == 1 for x in (budget, temperature, discount)) and all(x.device == P.device for x in others)


def _world(P: Tensor, index: Tensor, budget: Tensor, temperature: Tensor, rewards: Tensor, discount: Tensor) -> World:
    is_compact = P.ndim == 2
    n, m = index.shape[-2:]
    numbers = torch.cat([x.detach().reshape(1).to(torch.float64) for x in (budget, temperature, discount)])
    index = index.detach().contiguous().reshape(-1, n, m)
    rewards = rewards.detach().to(torch.float64)
    rewards = rewards if _is_by_action(rewards.shape, n, m) else rewards[..., None]
    return World(P.detach().contiguous(), index, rewards.expand(n, m, 2), numbers, n, m, is_compact)


def _is_by_action(shape: torch.Size, n: int, m: int) -> bool:
    return tuple(shape) in ((m, 2), (n, m, 2)) and len(shape) > 1


def faulty(P: Tensor, index: Tensor, initial: Tensor, budget: Tensor, temperature: Tensor, rewards: Tensor, discount: Tensor) -> list[float]:
    """Whether something is wrong with the numbers (0 or 1), budget and temperature: read in one go."""
    is_compact = P.ndim == 2
    P, k, e, g = P.detach(), budget.detach().double(), temperature.detach().double(), discount.detach().double()
    rows = (P <= 1.0) if is_compact else (P.sum(-1, dtype=torch.float64) - 1.0).abs() <= _ROUNDED
    is_fit = [
        (P >= 0.0).all() & rows.all(),
        (initial >= 0.0).all() & ((initial.detach().sum(-1, dtype=torch.float64) - 1.0).abs() <= _ROUNDED).all(),
        index.isfinite().all() & (rewards.detach().double().abs() <= 1e100).all(),
        ((k >= 0.0) & k.isfinite() & (e >= 0.0) & e.isfinite() & (g >= 0.0) & (g <= 1.0)).reshape(()),
    ]
    return torch.stack([1.0 - torch.stack(is_fit).all().double(), k.reshape(()), e.reshape(())]).tolist()


def solve(
    P: Tensor, index: Tensor, initial: Tensor, budget: Tensor, temperature: Tensor, rewards: Tensor, discount: Tensor,
    horizon: int, k: float, e: float,
) -> Flow:  # fmt: skip
    """The value of H steps; budget and temperature as the host knows them too."""
    world = _world(P, index, budget, temperature, rewards, discount)
    n, m, device = world.n, world.m, P.device
    mass = torch.empty(horizon, n, m, dtype=torch.float64, device=device)
    mass[0] = initial.detach()
    root = torch.zeros(horizon, ROOT + 1, dtype=torch.float64, device=device)
    room, sizes, programs = crowd.passes(n, m, device), world.sizes(), world.programs()
    earned = torch.zeros(horizon, programs, dtype=torch.float64, device=device)

    def move(t: int, now: int, given: bool, folds: bool) -> None:
        _move[(programs,)](
            world.P, world.table(t), mass[t], world.rewards, world.numbers,
            room.states[now], room.statuses[now], room.parts[now], root[t],
            mass[min(t + 1, horizon - 1)], earned[t], n, room.programs, programs, *world.rewards.stride(),
            GIVEN=given, FOLD=folds, LAST=t == horizon - 1, PROGRAMS=room.size["PROGRAMS"], **sizes,
        )  # fmt: skip

    # thresholds that do not exist or are far away are not looked for by Halley's method
    is_usual = 0.0 < k < n * (1.0 - 2.0 * _ROUNDED) and e >= sys.float_info.min
    first = 0
    if is_usual:
        for t in range(horizon):
            now, folds = crowd.approach(world.table(t), mass[t], world.numbers, room)
            move(t, now, False, folds)
        left = [t for t, regime in enumerate(root[:, 4].tolist()) if regime != 0.0]
        first = left[0] if left else horizon
    for t in range(first, horizon):
        if t == first or t < len(world.index):
            x = world.table(t).reshape(-1).to(torch.float64)
            order = x.argsort(descending=True, stable=True)
        settled = crowd.settle(x, order, mass[t].reshape(-1), k, e)
        root[t, :ROOT] = torch.tensor(settled, dtype=torch.float64, device=device)
        move(t, 0, True, False)
    root[:, ROOT] = earned.sum(1)
    steps = torch.arange(horizon, dtype=torch.float64, device=device)
    return Flow((world.numbers[2] ** steps * root[:, ROOT]).sum(), mass, root)


def pullback(
    d_value: Tensor, mass: Tensor, root: Tensor,
    P: Tensor, index: Tensor, initial: Tensor, budget: Tensor, temperature: Tensor, rewards: Tensor, discount: Tensor,
) -> tuple[Tensor, ...]:  # fmt: skip
    """What a cotangent of the value becomes on the seven inputs, in their shapes and types."""
    world = _world(P, index, budget, temperature, rewards, discount)
    n, m, device, horizon = world.n, world.m, P.device, len(mass)
    sizes, programs = world.sizes(), world.programs()
    steps = torch.arange(horizon, dtype=torch.float64, device=device)
    d_value, gamma = d_value.detach().to(torch.float64), world.numbers[2]
    weight = d_value * gamma**steps
    zeros = lambda *shape: torch.zeros(*shape, dtype=torch.float64, device=device)  # noqa: E731
    d_P, d_index, d_rewards = zeros(*P.shape), zeros(*world.index.shape), zeros(n, m, 2)
    later, here, gap = zeros(n, m), zeros(n, m), zeros(n, m)
    chunks = max(1, min(triton.cdiv(n * m, crowd.CHUNK), PROGRAMS))
    part, price, product = zeros(2, programs), zeros(horizon), zeros(horizon, chunks)
    for t in reversed(range(horizon)):
        x, d_x = world.table(t), d_index[min(t, len(d_index) - 1)]
        _gather[(programs,)](
            world.P, x, mass[t], world.rewards, world.numbers, weight[t:], root[t], later, here, gap, d_P, d_rewards,
            part, n, programs, *world.rewards.stride(), **sizes,
        )  # fmt: skip
        _charge[(chunks,)](
            x, mass[t], world.numbers, root[t], here, gap, part, d_x, price[t:], product[t], n * m, chunks, programs,
            CHUNK=crowd.CHUNK, PROGRAMS=triton.next_power_of_2(programs), num_warps=WARPS,
        )  # fmt: skip
        later, here = here, later
    grown = steps * gamma ** (steps - 1.0).clamp_min(0.0)
    d_rewards = d_rewards if _is_by_action(rewards.shape, n, m) else d_rewards.sum(-1)
    d_rewards = d_rewards if d_rewards.shape == rewards.shape else d_rewards.sum(0)
    found = (d_P, d_index, later, price.sum(), -product.sum(), d_rewards, d_value * (grown * root[:, ROOT]).sum())
    inputs = (P, index, initial, budget, temperature, rewards, discount)
    return tuple(d.reshape(x.shape).to(x.dtype) for d, x in zip(found, inputs, strict=True))
