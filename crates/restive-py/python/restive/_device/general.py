"""Whittle indices of arms with up to 16 states, exactly: the sweep over subsidies, several arms side by side.

# What it is
Let D = P₁ − P₀ and Δ = R(·,1) − R(·,0), and let the subsidy m grow from −∞ to ∞. At first every state is active, at last every state
is passive; the first m at which a state joins the *passive set* B is its index. With U_B = γ D (I − γP^B)⁻¹ the advantage of acting
is α − m β. The next event is the least m ahead at which an active state's advantage falls to 0 or a passive one's rises to it, and
moving that state j is one principal pivot of the tableau:

    f = −1/(1 + U_jj) when j enters, 1/(1 − U_jj) when it leaves      U += f U[:,j] U[j,:]      α += f α_j U[:,j]      β += f β_j U[:,j]

I − γP is shifted by γ 1 pᵀ, p the mean row, which changes nothing in U because D 1 = 0 and removes the eigenvalue 1/(1 − γ): γ = 1
is the same computation, as long as every passive set on the way has one recurrent class.

Ties, verdicts, drift and NaN are those of the native sweep: events within 1e-12 of each other are one, least state first; an arm is
indexable when no state that was passive before such a group is active after it; after a bad pivot, and where the arm's own equations
are violated at the end, the tableau is made anew, and an arm whose updates had drifted is solved again with fresh tableaux every four
pivots. An arm that cannot be followed to the end is NaN.

# How it is computed
A tile [A,M,M] holds the tableaux of A arms in the registers of one warp; rows and columns are picked by masked sums, the inverse is
that of Gauss and Jordan with partial pivoting. Arms of a tile wait for its slowest.

# Its pullback
With λ = U[u,:], the slope β_u and the values h_u (up to a constant) at m = W_u and passive set B_u,

    dW_u/dP_a(s,s') = γ ν_a(s) h_u(s')      ν_a(s) = [λ(s) 1{a is the action of s} ± 1{s = u}]/β_u      (+ for a = 1)

The sweep keeps λ/β, 1/β, B and h of every u; the pullback is one product of [2M,M] and [M,M] per arm.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from . import constants, flags

_TIE, _BAD_PIVOT, _NO_PIVOT, _SUSPICIOUS = (tl.constexpr(x) for x in (1e-12, 1e-2, 1e-12, 1e-11))
_CAREFUL, _PROBE, _NEVER = tl.constexpr(4), tl.constexpr(32), tl.constexpr(-1)
_EPSILON = tl.constexpr(2.220446049250313e-16)


class Tape(NamedTuple):
    """What the pullback needs."""

    adjoint: Tensor
    """λ_u/β_u, [N,M,M]"""
    values: Tensor
    """h_u, centred, [N,M,M]"""
    inverse_slope: Tensor
    """1/β_u, [N,M]"""
    passive: Tensor
    """int8: whether s is in B_u, [N,M,M]"""


class Solved(NamedTuple):
    """The indices of N arms."""

    index: Tensor
    """[N,M], of the type of the arms; NaN where they are undetermined"""
    last: Tensor
    """[N,M]: the subsidy from which each state stays passive"""
    is_indexable: Tensor
    """int8 [N]"""
    residual: Tensor
    """float64 [N]; NaN where the arm is undetermined"""
    tape: Tape | None
    flag: Tensor
    """[1]: raised where a row is no distribution"""


@triton.jit
def _rows(p_ptr, base, in_row, m, ACTION: tl.constexpr):
    """P_a of the arms, [A,M,M], rows summing to 1; 0 beyond the states. And whether every row is a distribution, [A]."""
    p = tl.load(p_ptr + base + ACTION * m, mask=in_row, other=0.0).to(tl.float64)
    total = tl.sum(p, 2)
    miss = tl.abs(total - 1.0)
    has_row = tl.max(in_row.to(tl.int32), 2) > 0
    entries = tl.min(((p >= 0.0) & (p <= 1.0 + 1e-6)).to(tl.int32), 2) > 0
    is_fit = tl.min(((has_row == 0) | (entries & (miss <= 1e-6))).to(tl.int32), 1) > 0
    is_off = has_row & (miss > m * _EPSILON)
    return tl.where(is_off[:, :, None], p / tl.where(is_off, total, 1.0)[:, :, None], p), is_fit


@triton.jit
def _column(x, is_j):
    """Column j of every tile, [A,M]; `is_j` is [A,M] over columns."""
    return tl.sum(tl.where(is_j[:, None, :], x, 0.0), 2)


@triton.jit
def _row(x, is_j):
    """Row j of every tile, [A,M]."""
    return tl.sum(tl.where(is_j[:, :, None], x, 0.0), 1)


@triton.jit
def _inverse(matrix, eye, m, A: tl.constexpr, M: tl.constexpr):
    """The inverse by Gauss and Jordan with partial pivoting, and whether no pivot was rounding, [A]."""
    s = tl.arange(0, M)[None, :]
    other = eye
    is_open = (s < m) & (tl.zeros([A, M], tl.int32) == 0)
    is_regular = tl.zeros([A], tl.int32) == 0
    order = tl.zeros([A, M, M], tl.float64)
    for k in range(0, m):
        is_k = (s == k) & (tl.zeros([A, M], tl.int32) == 0)
        column = _column(matrix, is_k)
        size = tl.where(is_open, tl.abs(column), -1.0)
        best = tl.max(size, 1)
        chosen = tl.min(tl.where(size == best[:, None], s, M), 1)
        is_chosen = s == chosen[:, None]
        is_regular = is_regular & (best > m * _EPSILON)
        is_open = is_open & (is_chosen == 0)
        pivot = tl.sum(tl.where(is_chosen, column, 0.0), 1)
        inverse = 1.0 / tl.where(best > 0.0, pivot, 1.0)
        row = _row(matrix, is_chosen) * inverse[:, None]
        other_row = _row(other, is_chosen) * inverse[:, None]
        keeps = tl.where(is_chosen, 0.0, column)[:, :, None]
        matrix = tl.where(is_chosen[:, :, None], row[:, None, :], matrix - keeps * row[:, None, :])
        other = tl.where(is_chosen[:, :, None], other_row[:, None, :], other - keeps * other_row[:, None, :])
        # row `chosen` is that of unknown k
        order = tl.where(is_k[:, :, None] & is_chosen[:, None, :], 1.0, order)
    return _product(order, other, m, A, M), is_regular


@triton.jit
def _product(left, right, m, A: tl.constexpr, M: tl.constexpr):
    s = tl.arange(0, M)[None, :]
    total = tl.zeros([A, M, M], tl.float64)
    for k in range(0, m):
        is_k = (s == k) & (tl.zeros([A, M], tl.int32) == 0)
        total += _column(left, is_k)[:, :, None] * _row(right, is_k)[:, None, :]
    return total


@triton.jit
def _shifted(p, eye, is_state, g, m):
    """I − γP + γ 1 pᵀ with p the mean row; the identity beyond the states."""
    mean = tl.sum(p, 1)
    return tl.where(is_state[:, :, None], (g / m) * mean[:, None, :] - g * p, 0.0) + eye


@triton.jit
def _has_one_class(p, eye, m, A: tl.constexpr, M: tl.constexpr):
    """Whether some state can be reached from every state, [A]."""
    s = tl.arange(0, M)[None, :]
    reach = (tl.where(p > 0.0, 1.0, 0.0) + eye).to(tl.float64)
    for _ in range(4):  # paths of 1, 2, 4, 8, 16 steps
        reach = tl.where(_product(reach, reach, m, A, M) > 0.0, 1.0, 0.0).to(tl.float64)
    is_real = s < m
    is_goal = tl.min(tl.where(is_real[:, :, None], reach, 1.0), 1) > 0.0
    return tl.max((is_goal & is_real).to(tl.int32), 1) > 0


@triton.jit
def _residual(alpha, beta, passive, subsidy, base, difference, reward_1, gain, is_state, g):
    """The largest violation of Adv = Δ − m + γ D h, and the span of the values h; each [A]."""
    right = tl.where(is_state, reward_1, 0.0) + tl.where(passive, subsidy[:, None] * beta - alpha, 0.0)
    h = tl.sum(base * right[:, None, :], 2)
    again = gain - subsidy[:, None] + g * tl.sum(difference * h[:, None, :], 2)
    gap = tl.abs(again - (alpha - subsidy[:, None] * beta))
    worst = tl.max(tl.where(is_state, gap, 0.0), 1)
    return worst, tl.max(tl.where(is_state, h, -float("inf")), 1) - tl.min(tl.where(is_state, h, float("inf")), 1)


@triton.jit
def _sweep(
    p_ptr, settings_ptr, index_ptr, last_ptr, indexable_ptr, residual_ptr,
    adjoint_ptr, values_ptr, slope_ptr, passive_ptr, flag_ptr, n, m,
    TAPE: tl.constexpr, AVERAGE: tl.constexpr, A: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    arm = tl.program_id(0).to(tl.int64) * A + tl.arange(0, A)
    s = tl.arange(0, M)[None, :]
    is_arm = arm < n
    is_state = (s < m) & (tl.zeros([A, M], tl.int32) == 0)
    inside = is_arm[:, None] & is_state
    is_entry = is_state[:, :, None] & is_state[:, None, :]
    in_row = is_entry & is_arm[:, None, None]
    line, place = tl.arange(0, M)[None, :, None], tl.arange(0, M)[None, None, :]
    base_at = arm[:, None, None] * (2 * m * m) + line * (2 * m) + place
    eye = tl.where((line == place) & (tl.zeros([A, M, M], tl.int32) == 0), 1.0, 0.0).to(tl.float64)

    g = tl.load(settings_ptr)
    span = tl.load(settings_ptr + 1)
    reward_0 = tl.load(settings_ptr + 2 + s, mask=s < m, other=0.0)
    reward_1 = tl.load(settings_ptr + 2 + m + s, mask=s < m, other=0.0)
    gain = tl.load(settings_ptr + 2 + 2 * m + s, mask=s < m, other=0.0)

    p_0, fit_0 = _rows(p_ptr, base_at, in_row, m, 0)
    p_1, fit_1 = _rows(p_ptr, base_at, in_row, m, 1)
    is_fit = fit_0 & fit_1
    tl.store(flag_ptr, 1, mask=tl.max((is_arm & (is_fit == 0)).to(tl.int32), 0) > 0)
    difference = p_1 - p_0
    difference -= eye * tl.sum(difference, 2)[:, :, None]
    base, is_regular = _inverse(_shifted(p_1, eye, is_state, g, m), eye, m, A, M)
    is_regular = is_regular & is_fit & is_arm
    if AVERAGE:
        is_regular = is_regular & _has_one_class(p_1, eye, m, A, M)
    first_tableau = g * _product(difference, base, m, A, M)

    infinite = float("inf")
    todo = is_arm
    for attempt in range(2):
        is_running = todo & is_regular
        is_lost = todo & (is_regular == 0)
        tableau = first_tableau
        alpha = gain + tl.sum(tableau * reward_1[:, None, :], 2)
        beta = tl.full([A, M], 1.0, tl.float64)
        sizes = tl.maximum(tl.sum(tl.abs(tableau * reward_1[:, None, :]), 2), tl.maximum(tl.abs(alpha), tl.abs(gain)))
        scale = tl.max(tl.where(is_state, sizes, 0.0), 1)
        passive = tl.zeros([A, M], tl.int32) > 0
        before = tl.zeros([A, M], tl.int32) > 0
        recorded = tl.full([A, M], _NEVER, tl.int32)
        index = tl.full([A, M], float("nan"), tl.float64)
        last = tl.full([A, M], float("nan"), tl.float64)
        inverse_slope = tl.zeros([A, M], tl.float64)
        right = tl.zeros([A, M, M], tl.float64)  # [state, u]
        subsidy = tl.full([A], -infinite, tl.float64)
        group = tl.full([A], -infinite, tl.float64)
        groups = tl.zeros([A], tl.int32)
        pivots = tl.zeros([A], tl.int32)
        grew = tl.zeros([A], tl.int32) == 0
        drifted = tl.zeros([A], tl.int32) > 0
        amplification = tl.zeros([A], tl.float64)
        violation, spread = _residual(
            alpha, beta, passive, tl.zeros([A], tl.float64), base, difference, reward_1, gain, is_state, g
        )
        while tl.max(is_running.to(tl.int32), 0) > 0:
            # the next event
            slope = tl.where(passive, -beta, beta)
            zero = _TIE * tl.maximum(tl.abs(subsidy), scale)
            is_flat = (tl.abs(slope) <= _TIE) & (tl.abs(alpha - subsidy[:, None] * beta) <= zero[:, None]) & (passive == 0)
            meets = tl.maximum(alpha / tl.where(slope > _TIE, beta, 1.0), subsidy[:, None])
            candidate = tl.where(slope > _TIE, meets, tl.where(is_flat, subsidy[:, None], infinite))
            candidate = tl.where(is_state, candidate, infinite)
            following = tl.min(candidate, 1)
            fails = (following < infinite) == 0
            fails = fails | (pivots > 50 * m + 100)
            is_lost = is_lost | (is_running & fails)
            is_running = is_running & (fails == 0)
            slack = _TIE * tl.maximum(tl.abs(following), scale)
            opens = is_running & (following > group + slack)
            joined = passive & (before == 0)
            last = tl.where(opens[:, None] & joined, group[:, None], last)
            grew = grew & ((opens == 0) | (tl.max((before & (passive == 0)).to(tl.int32), 1) == 0))
            before = tl.where(opens[:, None], passive.to(tl.int32), before.to(tl.int32)) > 0
            group = tl.where(opens, following, group)
            groups = tl.where(opens, groups + 1, groups)
            j = tl.min(tl.where(candidate <= (following + slack)[:, None], s, M), 1)
            is_j = s == j[:, None]
            subsidy = tl.where(is_running, following, subsidy)

            leaves = tl.max((is_j & passive).to(tl.int32), 1) > 0
            direction = tl.where(leaves, -1.0, 1.0).to(tl.float64)
            column = _column(tableau, is_j)
            row = _row(tableau, is_j)
            pivot = 1.0 + direction * tl.sum(tl.where(is_j, column, 0.0), 1)
            fails = (pivot > _NO_PIVOT) == 0
            is_lost = is_lost | (is_running & fails)
            is_running = is_running & (fails == 0)
            alpha_j = tl.sum(tl.where(is_j, alpha, 0.0), 1)
            beta_j = tl.sum(tl.where(is_j, beta, 0.0), 1)

            # the index, where it is the first time
            known = tl.sum(tl.where(is_j, recorded, 0), 1)
            forgets = is_running & leaves & (known == groups)
            records = is_running & (leaves == 0) & (known == _NEVER)
            recorded = tl.where(is_j & forgets[:, None], _NEVER, tl.where(is_j & records[:, None], groups[:, None], recorded))
            index = tl.where(is_j & records[:, None], subsidy[:, None], index)
            is_steep = beta_j > _TIE
            one_over = tl.where(is_steep, 1.0 / tl.where(is_steep, beta_j, 1.0), 0.0)
            strength = (tl.sum(tl.abs(row), 1) + 2.0) * one_over
            amplification = tl.where(records & is_steep, tl.maximum(amplification, strength), amplification)
            if TAPE:
                inverse_slope = tl.where(is_j & records[:, None], one_over[:, None], inverse_slope)
                at = (arm * m + j)[:, None] * m + s
                tl.store(adjoint_ptr + at, row * one_over[:, None], mask=inside & records[:, None])
                tl.store(passive_ptr + at, passive.to(tl.int8), mask=inside & records[:, None])
                loss = tl.where(passive, tl.maximum(subsidy[:, None] * beta - alpha, 0.0), 0.0)
                side = tl.where(is_state, reward_1 + loss, 0.0)
                right = tl.where(is_j[:, None, :] & records[:, None, None], side[:, :, None], right)

            # the pivot
            factor = -direction / tl.where(is_running, pivot, 1.0)
            moved = tl.where(is_running[:, None], column * factor[:, None], 0.0)
            alpha += moved * alpha_j[:, None]
            beta += moved * beta_j[:, None]
            tableau += moved[:, :, None] * row[:, None, :]
            passive = (passive.to(tl.int32) ^ (is_j & is_running[:, None]).to(tl.int32)) > 0
            pivots = tl.where(is_running, pivots + 1, pivots)
            is_over = tl.sum((passive & is_state).to(tl.int32), 1) == m

            if AVERAGE:
                mixed = tl.where(passive[:, :, None], p_0, p_1)
                has_one = _has_one_class(mixed, eye, m, A, M)
                is_lost = is_lost | (is_running & (has_one == 0))
                is_running = is_running & has_one
            # a fresh tableau after a bad pivot, or where the equations are violated
            is_bad = (pivot < _BAD_PIVOT) | (pivot > 1.0 / _BAD_PIVOT)
            renews = is_running & (is_bad | ((attempt == 1) & (pivots % _CAREFUL == 0)))
            probes = is_running & ((pivots % _PROBE == 0) | is_over)
            seen = tl.zeros([A], tl.float64)
            looks = 0
            while looks < 2:
                if tl.max(renews.to(tl.int32), 0) > 0:
                    mixed = tl.where(passive[:, :, None], p_0, p_1)
                    fresh, is_good = _inverse(_shifted(mixed, eye, is_state, g, m), eye, m, A, M)
                    again = g * _product(difference, fresh, m, A, M)
                    in_force = tl.where(passive, reward_0, reward_1)
                    tableau = tl.where(renews[:, None, None], again, tableau)
                    new_alpha = gain + tl.sum(again * in_force[:, None, :], 2)
                    new_beta = 1.0 - tl.sum(tl.where(passive[:, None, :], again, 0.0), 2)
                    alpha = tl.where(renews[:, None], new_alpha, alpha)
                    beta = tl.where(renews[:, None], new_beta, beta)
                    is_lost = is_lost | (renews & (is_good == 0))
                    is_running = is_running & ((renews & (is_good == 0)) == 0)
                probes = probes & is_running
                looks += 1
                if tl.max(probes.to(tl.int32), 0) > 0:
                    worst, wide = _residual(alpha, beta, passive, subsidy, base, difference, reward_1, gain, is_state, g)
                    if looks == 1:
                        renews = probes & (worst > _SUSPICIOUS * tl.maximum(span, tl.abs(subsidy)))
                        seen = worst
                        settled = probes & (renews == 0)
                    else:
                        drifted = drifted | (renews & (seen > 4.0 * worst))
                        settled = renews & probes
                    violation = tl.where(settled, tl.maximum(violation, worst), violation)
                    spread = tl.where(settled, tl.maximum(spread, wide), spread)
                    if tl.max(renews.to(tl.int32), 0) == 0:
                        looks = 2
                else:
                    looks = 2
            is_running = is_running & (is_over == 0)

        is_lost = is_lost & todo
        last = tl.where(passive & (before == 0), group[:, None], last)
        grew = grew & (tl.max((before & (passive == 0)).to(tl.int32), 1) == 0) & (is_lost == 0)
        index = tl.where(is_lost[:, None], float("nan"), index)
        last = tl.where(is_lost[:, None], float("nan"), last)
        error = tl.maximum(violation, _EPSILON * amplification * spread)
        size = tl.maximum(span, tl.max(tl.where(is_state, tl.abs(index), 0.0), 1))
        residual = tl.where(is_lost, float("nan"), tl.where(error == 0.0, 0.0, error / tl.where(error == 0.0, 1.0, size)))
        writes = inside & todo[:, None]
        at = arm[:, None] * m + s
        tl.store(index_ptr + at, index.to(index_ptr.dtype.element_ty), mask=writes)
        tl.store(last_ptr + at, last.to(last_ptr.dtype.element_ty), mask=writes)
        tl.store(indexable_ptr + arm, grew.to(tl.int8), mask=todo)
        tl.store(residual_ptr + arm, residual, mask=todo)
        if TAPE:
            tl.store(slope_ptr + at, tl.where(is_lost[:, None], 0.0, inverse_slope), mask=writes)
            h = _product(base, right, m, A, M)  # [state, u]
            h = tl.where(is_entry, h - (tl.sum(h, 1) / m)[:, None, :], 0.0)
            h = tl.where(is_lost[:, None, None], 0.0, h)
            square = arm[:, None, None] * (m * m)
            tl.store(values_ptr + square + place * m + line, h, mask=in_row & todo[:, None, None])
            tl.debug_barrier()
            tl.store(adjoint_ptr + square + line * m + place, tl.zeros([A, M, M], tl.float64), mask=in_row & is_lost[:, None, None])
        todo = todo & drifted & (is_lost == 0)


def settings_of(device: torch.device, rewards: list[list[float]], discount: float) -> Tensor:
    """γ, the largest difference between rewards, R(·,0) and R(·,1) less their mid-range, and R(·,1) − R(·,0)."""
    entries = [r for pair in rewards for r in pair]
    low, high = min(entries), max(entries)
    middle = low + 0.5 * (high - low)
    columns = ([r[a] - middle for r in rewards] for a in (0, 1))
    return constants(device, discount, high - low, *next(columns), *next(columns), *(r[1] - r[0] for r in rewards))


def solve(P: Tensor, rewards: list[list[float]], discount: float, is_differentiable: bool) -> Solved:
    """Of contiguous arms [N,M,2,M], M at most 16."""
    n, m, device = P.shape[0], P.shape[1], P.device
    index, last = P.new_empty(n, m), P.new_empty(n, m)
    is_indexable, residual = torch.empty(n, dtype=torch.int8, device=device), torch.empty(n, dtype=torch.float64, device=device)
    numbers, flag = {"dtype": torch.float64, "device": device}, flags(device, 1)
    tape = None
    if is_differentiable:
        tape = Tape(
            torch.zeros(n, m, m, **numbers),
            torch.zeros(n, m, m, **numbers),
            torch.zeros(n, m, **numbers),
            torch.zeros(n, m, m, dtype=torch.int8, device=device),
        )
    padded = max(2, triton.next_power_of_2(m))
    side_by_side = max(1, min(16, 256 // (padded * padded)))
    if n:
        _sweep[(triton.cdiv(n, side_by_side),)](
            P, settings_of(device, rewards, discount), index, last, is_indexable, residual,
            *(tape or (residual, residual, residual, is_indexable)), flag, n, m,
            TAPE=is_differentiable, AVERAGE=discount == 1.0, A=side_by_side, M=padded, num_warps=1,
        )  # fmt: skip
    return Solved(index, last, is_indexable, residual, tape, flag)


def pullback(P: Tensor, tape: Tape, discount: float, d_index: Tensor) -> tuple[Tensor, Tensor]:
    """What a cotangent of the indices [N,M] becomes on the arms [N,M,2,M], rows of which sum to zero, and on the rewards [N,M,2]."""
    n, m = d_index.shape
    c = d_index.to(torch.float64)
    adjoint = (tape.adjoint * c[:, :, None]).transpose(1, 2)  # [N,s,u]
    own = torch.diag_embed(tape.inverse_slope * c)
    passive = tape.passive.transpose(1, 2) != 0
    nu = torch.stack([torch.where(passive, adjoint, 0.0) - own, torch.where(passive, 0.0, adjoint) + own], 2)  # [N,s,a,u]
    d_P = (discount * torch.bmm(nu.reshape(n, 2 * m, m), tape.values)).reshape(P.shape).to(P.dtype)
    return d_P, nu.sum(-1)
