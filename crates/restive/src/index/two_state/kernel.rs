//! The closed form of one two-state arm, and the loops over contiguous arms that processors vectorise.
//!
//! Formulas and letters are those of the parent module.

use crate::simd::for_cpu;
use ndarray::ArrayView2;

/// Arms computed side by side in one vector.
const LANES: usize = 8;
/// Arms for which a small buffer on the stack is used: shared cotangents before they are summed, and arms of the full
/// layout, which are packed there so that the compact loop can take over.
pub(super) const TILE: usize = 8 * LANES;

/// The numbers that all arms of a batch share.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    discount: f64,
    /// R(1,a) − R(0,a), passive and active
    rise: [f64; 2],
    /// R(s,1) − R(s,0) in the two states
    gain: [f64; 2],
}

impl Shared {
    pub(super) fn new(reward: ArrayView2<'_, f64>, discount: f64) -> Self {
        assert_eq!(reward.shape(), [2, 2], "reward: [M,2] with M = 2");
        let r = |s, a| reward[[s, a]];
        Self::of([r(0, 0), r(0, 1), r(1, 0), r(1, 1)], discount)
    }

    /// From R(0,0), R(0,1), R(1,0), R(1,1).
    #[inline(always)]
    pub(super) fn of(r: [f64; 4], discount: f64) -> Self {
        Self { discount, rise: [r[2] - r[0], r[3] - r[1]], gain: [r[1] - r[0], r[3] - r[2]] }
    }
}

/// One arm solved: what the indices and the pullback need.
struct Solved {
    /// by how much a pull raises the probability of state 1, in the two states
    delta: [f64; 2],
    /// 1/d₀ and 1/d₁
    inverse: [f64; 2],
    /// the value differences x₀ and x₁, and γ times them
    x: [f64; 2],
    discounted: [f64; 2],
    is_zero_lower: bool,
    /// d₀ and d₁ are above 0: always below γ = 1
    is_determined: bool,
}

/// Two numbers in the order lower, upper.
#[inline(always)]
fn by_rank(of_state: [f64; 2], is_zero_lower: bool) -> [f64; 2] {
    if is_zero_lower { of_state } else { [of_state[1], of_state[0]] }
}

#[inline(always)]
fn solve(p: [f64; 4], shared: Shared) -> Solved {
    let g = shared.discount;
    let delta = [p[1] - p[0], p[3] - p[2]];
    let d = [1.0 - g * (p[2] - p[0]), 1.0 - g * (p[3] - p[1])];
    let is_determined = d[0] > 0.0 && d[1] > 0.0;
    let inverse = if is_determined { [1.0 / d[0], 1.0 / d[1]] } else { [0.0; 2] };
    let x = [shared.rise[0] * inverse[0], shared.rise[1] * inverse[1]];
    let discounted = [g * x[0], g * x[1]];
    let is_zero_lower =
        shared.gain[0] + delta[0] * discounted[1] <= shared.gain[1] + delta[1] * discounted[1];
    Solved { delta, inverse, x, discounted, is_zero_lower, is_determined }
}

#[inline(always)]
pub(super) fn index_of(p: [f64; 4], shared: Shared) -> [f64; 2] {
    let Solved { delta, discounted: [passive, active], is_zero_lower, is_determined, .. } = solve(p, shared);
    let in_force = by_rank([active, passive], is_zero_lower);
    let index = [shared.gain[0] + delta[0] * in_force[0], shared.gain[1] + delta[1] * in_force[1]];
    if is_determined { index } else { [f64::NAN; 2] }
}

/// The indices; cotangents of p (4 numbers); and γ δ_l c_l/d₁, γ δ_u c_u/d₀, the cotangent of the discount and c, to be summed.
#[inline(always)]
pub(super) fn pull_back(p: [f64; 4], c: [f64; 2], shared: Shared) -> ([f64; 2], [f64; 4], [f64; 5]) {
    let Solved { delta, inverse, x, discounted: [passive, active], is_zero_lower, is_determined } =
        solve(p, shared);
    let c = if is_determined { c } else { [0.0; 2] }; // no indices, no gradient
    let [lower, upper] = by_rank([c[0] * delta[0], c[1] * delta[1]], is_zero_lower);
    let (lower, upper) = (lower * inverse[1], upper * inverse[0]);
    let (k_lower, k_upper) = (shared.discount * lower, shared.discount * upper);
    let in_force = by_rank([active, passive], is_zero_lower);
    let index = [shared.gain[0] + delta[0] * in_force[0], shared.gain[1] + delta[1] * in_force[1]];
    let index = if is_determined { index } else { [f64::NAN; 2] };
    let t = [c[0] * in_force[0], c[1] * in_force[1]];
    let (a, b) = (k_lower * active, k_upper * passive);
    let d = [-t[0] - b, t[0] - a, b - t[1], t[1] + a];
    (index, d, [k_lower, k_upper, lower * x[1] + upper * x[0], c[0], c[1]])
}

#[inline(always)]
fn index_loop(p: &[f64], shared: Shared, index: &mut [f64]) {
    for (p, w) in p.chunks_exact(4).zip(index.chunks_exact_mut(2)) {
        w.copy_from_slice(&index_of([p[0], p[1], p[2], p[3]], shared));
    }
}

/// Returns the cotangents of the four rewards and of the discount, summed over the arms.
#[inline(always)]
fn pullback_loop(p: &[f64], shared: Shared, d_index: &[f64], d_p: &mut [f64]) -> [f64; 5] {
    // What each arm adds to the shared cotangents is kept for a tile of arms and then summed, one running sum per lane: a
    // loop that also carries sums would not be vectorised.
    let (mut kept, mut sums) = ([[0.0; TILE]; 5], [[0.0; LANES]; 5]);
    let tiles = p.chunks(4 * TILE).zip(d_index.chunks(2 * TILE)).zip(d_p.chunks_mut(4 * TILE));
    for ((p, c), d) in tiles {
        let arms = p.len() / 4;
        let [k0, k1, k2, k3, k4] = &mut kept;
        let kept_lanes = k0.iter_mut().zip(k1).zip(k2).zip(k3).zip(k4);
        let arms_in = p.chunks_exact(4).zip(c.chunks_exact(2)).zip(d.chunks_exact_mut(4));
        for (((p, c), d), ((((k0, k1), k2), k3), k4)) in arms_in.zip(kept_lanes) {
            let (_, d_arm, d_shared) = pull_back([p[0], p[1], p[2], p[3]], [c[0], c[1]], shared);
            d.copy_from_slice(&d_arm);
            [*k0, *k1, *k2, *k3, *k4] = d_shared;
        }
        for (kept, sums) in kept.iter_mut().zip(&mut sums) {
            kept[arms..].fill(0.0);
            add_lanes(kept, sums);
        }
    }
    shared_cotangents(&sums)
}

/// Adds consecutive numbers to one running sum per lane.
#[inline(always)]
fn add_lanes(numbers: &[f64], sums: &mut [f64; LANES]) {
    let blocks = numbers.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
        }
    }
    sums.iter_mut().zip(rest).for_each(|(sum, x)| *sum += x);
}

#[inline(always)]
fn index_loop_tiled(full: &[f64], shared: Shared, index: &mut [f64]) {
    let mut p = [0.0; 4 * TILE];
    for (full, w) in full.chunks(8 * TILE).zip(index.chunks_mut(2 * TILE)) {
        let p = &mut p[..full.len() / 2];
        pack(full, p);
        index_loop(p, shared, w);
    }
}

#[inline(always)]
fn pullback_loop_tiled(full: &[f64], shared: Shared, d_index: &[f64], d_full: &mut [f64]) -> [f64; 5] {
    let (mut p, mut w, mut d) = ([0.0; 4 * TILE], [0.0; 2 * TILE], [0.0; 4 * TILE]);
    let (mut kept, mut sums) = ([[0.0; TILE]; 5], [[0.0; LANES]; 5]);
    let tiles = full.chunks(8 * TILE).zip(d_index.chunks(2 * TILE)).zip(d_full.chunks_mut(8 * TILE));
    for ((full, c), d_full) in tiles {
        pack(full, &mut p);
        both_tile(&p[..full.len() / 2], shared, c, &mut w, &mut d, &mut kept, &mut sums);
        unpack(&d, d_full);
    }
    shared_cotangents(&sums)
}

/// Keeps the probability of state 1 of every row.
#[inline(always)]
pub(super) fn pack(full: &[f64], p: &mut [f64]) {
    for (row, p) in full.chunks_exact(2).zip(p) {
        *p = row[1];
    }
}

/// Gradients on the simplex of plain derivatives.
#[inline(always)]
fn unpack(d: &[f64], d_full: &mut [f64]) {
    for (d, row) in d.iter().zip(d_full.chunks_exact_mut(2)) {
        row[0] = -0.5 * d;
        row[1] = 0.5 * d;
    }
}

for_cpu!(pub(super) fn index_compact_arms(p: &[f64], shared: Shared, index: &mut [f64]) = index_loop);
for_cpu!(pub(super) fn index_full_arms(p: &[f64], shared: Shared, index: &mut [f64]) = index_loop_tiled);
for_cpu!(pub(super) fn pull_back_compact_arms(p: &[f64], shared: Shared, c: &[f64], d: &mut [f64]) -> [f64; 5] = pullback_loop);
for_cpu!(pub(super) fn pull_back_full_arms(p: &[f64], shared: Shared, c: &[f64], d: &mut [f64]) -> [f64; 5] = pullback_loop_tiled);

/// Indices and cotangents of compact arms in one pass, with each arm solved once. Answers are made in a tile and then copied, past
/// the caches where the caller says that they do not fit there.
#[inline(always)]
fn both_loop(
    p: &[f64],
    shared: Shared,
    d_index: &[f64],
    index: &mut [f64],
    d_p: &mut [f64],
    is_streamed: bool,
) -> [f64; 5] {
    let (mut w_tile, mut d_tile) = ([0.0; 2 * TILE], [0.0; 4 * TILE]);
    let (mut kept, mut sums) = ([[0.0; TILE]; 5], [[0.0; LANES]; 5]);
    let tiles = p.chunks(4 * TILE).zip(d_index.chunks(2 * TILE));
    let tiles = tiles.zip(index.chunks_mut(2 * TILE).zip(d_p.chunks_mut(4 * TILE)));
    for ((p, c), (w, d)) in tiles {
        both_tile(p, shared, c, &mut w_tile, &mut d_tile, &mut kept, &mut sums);
        hand_over(&w_tile[..w.len()], w, is_streamed);
        hand_over(&d_tile[..d.len()], d, is_streamed);
    }
    shared_cotangents(&sums)
}

#[inline(always)]
fn both_loop_full(
    full: &[f64],
    shared: Shared,
    d_index: &[f64],
    index: &mut [f64],
    d_full: &mut [f64],
    is_streamed: bool,
) -> [f64; 5] {
    let (mut p, mut rows_tile) = ([0.0; 4 * TILE], [0.0; 8 * TILE]);
    let (mut w_tile, mut d_tile) = ([0.0; 2 * TILE], [0.0; 4 * TILE]);
    let (mut kept, mut sums) = ([[0.0; TILE]; 5], [[0.0; LANES]; 5]);
    let tiles = full.chunks(8 * TILE).zip(d_index.chunks(2 * TILE));
    let tiles = tiles.zip(index.chunks_mut(2 * TILE).zip(d_full.chunks_mut(8 * TILE)));
    for (t, ((tile, c), (w, d_full))) in tiles.enumerate() {
        // the next tile comes while this one is computed
        ask_for(full, 8 * TILE * (t + 1), 8 * TILE);
        pack(tile, &mut p);
        both_tile(&p[..tile.len() / 2], shared, c, &mut w_tile, &mut d_tile, &mut kept, &mut sums);
        unpack(&d_tile, &mut rows_tile);
        hand_over(&w_tile[..w.len()], w, is_streamed);
        hand_over(&rows_tile[..d_full.len()], d_full, is_streamed);
    }
    shared_cotangents(&sums)
}

/// Adds one tile of arms to the sums, and leaves its answers in `w` and `d`.
#[inline(always)]
fn both_tile(
    p: &[f64],
    shared: Shared,
    d_index: &[f64],
    w: &mut [f64; 2 * TILE],
    d: &mut [f64; 4 * TILE],
    kept: &mut [[f64; TILE]; 5],
    sums: &mut [[f64; LANES]; 5],
) {
    let arms = p.len() / 4;
    let [k0, k1, k2, k3, k4] = &mut *kept;
    let kept_lanes = k0.iter_mut().zip(k1).zip(k2).zip(k3).zip(k4);
    let arms_in = p.chunks_exact(4).zip(d_index.chunks_exact(2));
    let arms_out = w.chunks_exact_mut(2).zip(d.chunks_exact_mut(4));
    for (((p, c), (w, d)), ((((k0, k1), k2), k3), k4)) in arms_in.zip(arms_out).zip(kept_lanes) {
        let (index, d_arm, d_shared) = pull_back([p[0], p[1], p[2], p[3]], [c[0], c[1]], shared);
        w.copy_from_slice(&index);
        d.copy_from_slice(&d_arm);
        [*k0, *k1, *k2, *k3, *k4] = d_shared;
    }
    for (kept, sums) in kept.iter_mut().zip(sums) {
        kept[arms..].fill(0.0);
        add_lanes(kept, sums);
    }
}

/// Asks memory for numbers that will be wanted next.
#[inline(always)]
fn ask_for(numbers: &[f64], from: usize, count: usize) {
    for line in numbers.get(from..).unwrap_or_default().chunks(8).take(count / 8) {
        crate::simd::prefetch(line);
    }
}

/// Copies a tile to where it belongs.
#[inline(always)]
fn hand_over(tile: &[f64], out: &mut [f64], is_streamed: bool) {
    if is_streamed {
        crate::simd::stream(tile, out);
    } else {
        out.copy_from_slice(tile);
    }
}

/// The cotangents of the four rewards and of the discount, of what was summed over the arms.
#[inline(always)]
fn shared_cotangents(sums: &[[f64; LANES]; 5]) -> [f64; 5] {
    let [lower, upper, d_discount, c0, c1] = sums.map(|lanes| lanes.iter().sum::<f64>());
    [-c0 - upper, c0 - lower, upper - c1, c1 + lower, d_discount]
}

for_cpu!(pub(super) fn both_of_compact_arms(p: &[f64], shared: Shared, c: &[f64], w: &mut [f64], d: &mut [f64], is_streamed: bool) -> [f64; 5] = both_loop);
for_cpu!(pub(super) fn both_of_full_arms(p: &[f64], shared: Shared, c: &[f64], w: &mut [f64], d: &mut [f64], is_streamed: bool) -> [f64; 5] = both_loop_full);

/// Whether every number is a probability, not NaN.
#[inline(always)]
fn probabilities_loop(p: &[f64]) -> bool {
    p.iter().fold(true, |all, p| all & (*p >= 0.0) & (*p <= 1.0))
}

/// Whether every pair of numbers is a distribution but for rounding.
#[inline(always)]
fn pairs_loop(rows: &[f64]) -> bool {
    rows.chunks_exact(2).fold(true, |all, row| {
        let miss = row[0] + row[1] - 1.0;
        all & (row[0] >= 0.0) & (row[1] >= 0.0) & (miss.abs() <= 2.0 * f64::EPSILON)
    })
}

for_cpu!(pub(super) fn are_probabilities(p: &[f64]) -> bool = probabilities_loop);
for_cpu!(pub(super) fn are_pairs(rows: &[f64]) -> bool = pairs_loop);
