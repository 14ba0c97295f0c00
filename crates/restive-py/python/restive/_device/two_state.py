"""Whittle indices of two-state arms and their pullback, in closed form, at the speed of memory.

# What it is
Write p_a(s) for the chance of moving to state 1, δ_s = p_1(s) − p_0(s), Δ_s = R(s,1) − R(s,0), and for all states passive (0) or
all active (1) the difference in value x_a = (R(1,a) − R(0,a))/d_a with d_a = 1 − γ(p_a(1) − p_a(0)). The state with the smaller
Δ_s + γ δ_s x_1 is the *lower* one, l, the other the *upper* one, u, and

    W_l = Δ_l + γ δ_l x_1        W_u = Δ_u + γ δ_u x_0

An arm with d_0 or d_1 not above 0 (γ = 1, both states absorbing) has no indices: NaN, and no gradient.

# Its pullback
With c the cotangent of W, T_s = c_s γ x (x of that state's line), A = c_l (γ δ_l/d_1) γ x_1 and B = c_u (γ δ_u/d_0) γ x_0:

    d p_0(0) = −T_0 − B     d p_1(0) = T_0 − A     d p_0(1) = −T_1 + B     d p_1(1) = T_1 + A

and a row of the full layout gets (−d/2, d/2). Nothing is kept between the passes: solving an arm again is cheaper than reading.

# How it is computed
A program takes some arms, reads them as one contiguous tile and writes one, so that every byte moves once: 96 bytes an arm for both
passes at once of `[N,4]` in float64 (`index_and_pullback`, where the cotangent is known), 48 for the indices alone and 80 for the
pullback alone. Operations stand in the order of the native kernel and are not contracted: the answers are the same to the bit.

Rows are checked where they are read: entries from 0 to 1, rows that sum to 1, both within 1e-6; rows off by more than rounding are
divided by their sum, entries above 1 are rounded to it. An arm with other rows is NaN and raises the flag.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from . import constants, flags

#: arms per program, and its warps
ARMS, WARPS = 64, 2


@triton.jit
def _checked(p, is_fit):
    """A compact entry as a chance, and whether all entries of the arm so far are."""
    is_fit = is_fit & (p >= 0.0) & (p <= 1.0 + 1e-6)
    return tl.minimum(p, 1.0), is_fit


@triton.jit
def _scaled(q, p, is_fit):
    """The second entry of a row (q, p) that sums to 1, and whether all rows of the arm so far are distributions."""
    total = q + p
    miss = tl.abs(total - 1.0)
    is_fit = is_fit & (q >= 0.0) & (p >= 0.0) & (q <= 1.0 + 1e-6) & (p <= 1.0 + 1e-6) & (miss <= 1e-6)
    return tl.where(miss > 4.440892098500626e-16, p / total, p), is_fit


@triton.jit
def _arms(
    p_ptr,
    c_ptr,
    settings_ptr,
    w_ptr,
    d_ptr,
    flag_ptr,
    n,
    FULL: tl.constexpr,
    INDEX: tl.constexpr,
    PULLBACK: tl.constexpr,
    PER_ARM: tl.constexpr,
    ARMS: tl.constexpr,
):
    first = tl.program_id(0).to(tl.int64) * ARMS
    left = n - first
    arm = tl.arange(0, ARMS)
    is_there = arm < left
    if PER_ARM:
        count = left + first
        own = settings_ptr + first + arm
        g = tl.load(own, mask=is_there, other=0.0)
        rise_0 = tl.load(own + count, mask=is_there, other=0.0)
        rise_1 = tl.load(own + 2 * count, mask=is_there, other=0.0)
        gain_0 = tl.load(own + 3 * count, mask=is_there, other=0.0)
        gain_1 = tl.load(own + 4 * count, mask=is_there, other=0.0)
    else:
        g = tl.load(settings_ptr)
        rise_0 = tl.load(settings_ptr + 1)
        rise_1 = tl.load(settings_ptr + 2)
        gain_0 = tl.load(settings_ptr + 3)
        gain_1 = tl.load(settings_ptr + 4)
    is_fit = is_there | True
    if FULL:
        entry = tl.arange(0, 8 * ARMS)
        tile = tl.load(p_ptr + first * 8 + entry, mask=entry < left * 8, other=0.5).to(tl.float64)
        rest, next_1 = tl.split(tl.reshape(tile, [4 * ARMS, 2]))
        rest_0, rest_1 = tl.split(tl.reshape(rest, [2 * ARMS, 2]))
        next_0, next_1 = tl.split(tl.reshape(next_1, [2 * ARMS, 2]))
        q0, q2 = tl.split(tl.reshape(rest_0, [ARMS, 2]))
        q1, q3 = tl.split(tl.reshape(rest_1, [ARMS, 2]))
        p0, p2 = tl.split(tl.reshape(next_0, [ARMS, 2]))
        p1, p3 = tl.split(tl.reshape(next_1, [ARMS, 2]))
        p0, is_fit = _scaled(q0, p0, is_fit)
        p1, is_fit = _scaled(q1, p1, is_fit)
        p2, is_fit = _scaled(q2, p2, is_fit)
        p3, is_fit = _scaled(q3, p3, is_fit)
    else:
        entry = tl.arange(0, 4 * ARMS)
        tile = tl.load(p_ptr + first * 4 + entry, mask=entry < left * 4, other=0.5).to(tl.float64)
        even, odd = tl.split(tl.reshape(tile, [2 * ARMS, 2]))
        p0, p2 = tl.split(tl.reshape(even, [ARMS, 2]))
        p1, p3 = tl.split(tl.reshape(odd, [ARMS, 2]))
        p0, is_fit = _checked(p0, is_fit)
        p1, is_fit = _checked(p1, is_fit)
        p2, is_fit = _checked(p2, is_fit)
        p3, is_fit = _checked(p3, is_fit)

    delta_0 = p1 - p0
    delta_1 = p3 - p2
    d_0 = 1.0 - g * (p2 - p0)
    d_1 = 1.0 - g * (p3 - p1)
    has_index = (d_0 > 0.0) & (d_1 > 0.0) & is_fit
    inverse_0 = tl.where(has_index, 1.0 / d_0, 0.0)
    inverse_1 = tl.where(has_index, 1.0 / d_1, 0.0)
    passive = g * (rise_0 * inverse_0)
    active = g * (rise_1 * inverse_1)
    is_zero_lower = gain_0 + delta_0 * active <= gain_1 + delta_1 * active
    in_force_0 = tl.where(is_zero_lower, active, passive)
    in_force_1 = tl.where(is_zero_lower, passive, active)

    pair = tl.arange(0, 2 * ARMS)
    if INDEX:
        nan = float("nan")
        w_0 = tl.where(has_index, gain_0 + delta_0 * in_force_0, nan)
        w_1 = tl.where(has_index, gain_1 + delta_1 * in_force_1, nan)
        w = tl.reshape(tl.join(w_0, w_1), [2 * ARMS])
        tl.store(w_ptr + first * 2 + pair, w.to(w_ptr.dtype.element_ty), mask=pair < left * 2)
        faults = tl.sum((is_there & (is_fit == 0)).to(tl.int32), 0)
        tl.store(flag_ptr, 1, mask=faults > 0)
    if PULLBACK:
        c = tl.load(c_ptr + first * 2 + pair, mask=pair < left * 2, other=0.0).to(tl.float64)
        c_0, c_1 = tl.split(tl.reshape(c, [ARMS, 2]))
        c_0 = tl.where(has_index, c_0, 0.0)
        c_1 = tl.where(has_index, c_1, 0.0)
        gained_0 = c_0 * delta_0
        gained_1 = c_1 * delta_1
        lower = tl.where(is_zero_lower, gained_0, gained_1) * inverse_1
        upper = tl.where(is_zero_lower, gained_1, gained_0) * inverse_0
        a = (g * lower) * active
        b = (g * upper) * passive
        t_0 = c_0 * in_force_0
        t_1 = c_1 * in_force_1
        d = tl.join(tl.join(-t_0 - b, b - t_1), tl.join(t_0 - a, t_1 + a))  # [arm, state, action]
        if FULL:
            half = 0.5 * d
            whole = tl.reshape(tl.join(-half, half), [8 * ARMS])
            out = tl.arange(0, 8 * ARMS)
            tl.store(d_ptr + first * 8 + out, whole.to(d_ptr.dtype.element_ty), mask=out < left * 8)
        else:
            whole = tl.reshape(d, [4 * ARMS])
            out = tl.arange(0, 4 * ARMS)
            tl.store(d_ptr + first * 4 + out, whole.to(d_ptr.dtype.element_ty), mask=out < left * 4)


def _launch(P: Tensor, settings: Tensor, index: Tensor | None, d_index: Tensor | None, d_P: Tensor | None, flag: Tensor) -> None:
    n, absent = P.shape[0], P
    if n == 0:
        return
    _arms[(triton.cdiv(n, ARMS),)](
        P,
        absent if d_index is None else d_index,
        settings,
        absent if index is None else index,
        absent if d_P is None else d_P,
        flag,
        n,
        FULL=P.dim() == 4,
        INDEX=index is not None,
        PULLBACK=d_P is not None,
        PER_ARM=settings.dim() == 2,
        ARMS=ARMS,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )


def settings_of(device: torch.device, rewards: list[list[float]], discount: float) -> Tensor:
    """γ, R(1,a) − R(0,a) and R(s,1) − R(s,0), of rewards [2,2] that all arms share: [5]."""
    (r00, r01), (r10, r11) = rewards
    return constants(device, discount, r10 - r00, r11 - r01, r01 - r00, r11 - r10)


def settings_of_each(rewards: Tensor, discount: Tensor, n: int) -> Tensor:
    """The same of each arm, [5,N]; rewards [2,2] or [N,2,2], discount [] or [N], in float64 on the device."""
    r = rewards.expand(n, 2, 2)
    rises, gains = (r[:, 1] - r[:, 0]).T, (r[:, :, 1] - r[:, :, 0]).T
    return torch.cat([discount.expand(1, n), rises, gains])


def index(P: Tensor, settings: Tensor) -> tuple[Tensor, Tensor]:
    """Indices [N,2] of contiguous arms [N,4] or [N,2,2,2], and the flag [1] that is raised where a row is no distribution."""
    w, flag = P.new_empty(P.shape[0], 2), flags(P.device, 1)
    _launch(P, settings, w, None, None, flag)
    return w, flag


def pullback(P: Tensor, settings: Tensor, d_index: Tensor) -> Tensor:
    """What a cotangent of the indices [N,2] becomes on the arms."""
    d_P = torch.empty_like(P)
    _launch(P, settings, None, d_index.contiguous(), d_P, d_P)
    return d_P


def index_and_pullback(P: Tensor, settings: Tensor, d_index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Both in one pass over memory: indices, the cotangent of the arms, and the flag."""
    w, d_P, flag = P.new_empty(P.shape[0], 2), torch.empty_like(P), flags(P.device, 1)
    _launch(P, settings, w, d_index.contiguous(), d_P, flag)
    return w, d_P, flag
