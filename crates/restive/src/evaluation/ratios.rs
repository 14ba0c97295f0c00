//! The cumulative ratios of some neighbouring arms, and what they make of the rewards.
//!
//! The forward pass of [`cwpdis`](super::cwpdis()): one pass over `[J,H,width]`, arms innermost so that every loop runs over
//! contiguous numbers. Ratios are summed as logarithms, which lose nothing however unlikely the logged actions are, and only their
//! *shares* in the average of a step are ever exponentiated, relative to the largest.

use super::{Decisions, RatioUpTo};
use crate::interrupt;
use crate::simd::{exp, for_cpu, log_sigmoid};
use ndarray::ArrayView3;

/// e to less than this counts as 0 against 1.
const NEGLIGIBLE: f64 = -700.0;

/// Some neighbouring arms.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) width: usize,
    /// `[H,J,width]`: what each trajectory contributes to the average of a step: they sum to 1, or are all 0 where it is dropped
    pub(super) share: Vec<f64>,
    /// `[H,width]`: R̄
    pub(super) mean: Vec<f64>,
    /// `[H,width]`: Σ_j share², 0 where the term is dropped
    pub(super) squares: Vec<f64>,
    /// `[H,width]`: ln Σ_j ρ over the known rewards, −∞ where the term is dropped
    pub(super) log_total: Vec<f64>,
}

/// Entries (j, t) of some arms of a row-major `[J,H,N]`.
#[inline(always)]
pub(super) fn row<'a>(
    array: &ArrayView3<'a, f64>,
    j: usize,
    t: usize,
    start: usize,
    width: usize,
) -> &'a [f64] {
    let (_, h, n) = array.dim();
    let numbers = array.to_slice().expect("row-major");
    &numbers[(j * h + t) * n + start..][..width]
}

impl Block {
    pub(super) fn new(
        d: &Decisions,
        log_odds: ArrayView3<'_, f64>,
        up_to: RatioUpTo,
        start: usize,
        width: usize,
    ) -> Self {
        let (trajectories, h, _) = d.dim();
        let mut block = Block {
            start,
            width,
            share: vec![0.0; h * trajectories * width],
            mean: vec![0.0; h * width],
            squares: vec![0.0; h * width],
            log_total: vec![0.0; h * width],
        };
        let (sign, log_propensity) = (d.sign.view(), d.log_propensity.view());
        let (reward, known) = (d.reward.view(), d.known.as_ref().map(|known| known.view()));
        let ones = vec![1.0; width];
        // ln ρ of each trajectory, less what was taken from all of them: [J,width], [width]
        let (mut log_ratio, mut taken) = (vec![0.0; trajectories * width], vec![0.0; width]);
        let (mut top, mut total) = (vec![0.0; width], vec![0.0; width]);
        for t in 0..h {
            interrupt::check();
            if let Some(u) = up_to.decision(t) {
                for (j, log_ratio) in log_ratio.chunks_exact_mut(width).enumerate() {
                    let logged =
                        [&sign, &log_odds, &log_propensity].map(|array| row(array, j, u, start, width));
                    advance(logged, log_ratio);
                }
            }
            let known = |j: usize| known.as_ref().map_or(&ones[..], |known| row(known, j, t, start, width));
            top.fill(f64::NEG_INFINITY);
            for (j, log_ratio) in log_ratio.chunks_exact(width).enumerate() {
                highest(log_ratio, known(j), &mut top);
            }
            top.iter_mut().filter(|top| !top.is_finite()).for_each(|top| *top = 0.0);
            total.fill(0.0);
            let share = &mut block.share[t * trajectories * width..][..trajectories * width];
            let ratios = log_ratio.chunks_exact_mut(width).zip(share.chunks_exact_mut(width));
            for (j, (log_ratio, share)) in ratios.enumerate() {
                weigh(&top, known(j), log_ratio, share, &mut total);
            }
            let at = t * width..(t + 1) * width;
            for (k, log_total) in block.log_total[at.clone()].iter_mut().enumerate() {
                taken[k] += top[k];
                *log_total = taken[k] + total[k].ln();
                total[k] = if total[k] > 0.0 { 1.0 / total[k] } else { 0.0 };
            }
            let (mean, squares) = (&mut block.mean[at.clone()], &mut block.squares[at]);
            for (j, share) in share.chunks_exact_mut(width).enumerate() {
                average(row(&reward, j, t, start, width), &total, share, squares, mean);
            }
        }
        block
    }
}

for_cpu!(fn advance(logged: [&[f64]; 3], log_ratio: &mut [f64]) = advance_loop);
for_cpu!(fn highest(log_ratio: &[f64], known: &[f64], top: &mut [f64]) = highest_loop);
for_cpu!(fn weigh(top: &[f64], known: &[f64], log_ratio: &mut [f64], share: &mut [f64], total: &mut [f64]) = weigh_loop);
for_cpu!(fn average(reward: &[f64], scale: &[f64], share: &mut [f64], squares: &mut [f64], mean: &mut [f64])
    = average_loop);

/// ln ρ += ln f
#[inline(always)]
fn advance_loop(logged: [&[f64]; 3], log_ratio: &mut [f64]) {
    let n = log_ratio.len();
    let [sign, log_odds, log_propensity] = logged.map(|row| &row[..n]);
    for k in 0..n {
        log_ratio[k] += log_factor(sign[k], log_odds[k], log_propensity[k]);
    }
}

/// The logarithm of the ratio of one decision: that of the logged action's chance under the target over its propensity.
#[inline(always)]
pub(super) fn log_factor(sign: f64, log_odds: f64, log_propensity: f64) -> f64 {
    if sign == 0.0 { 0.0 } else { log_sigmoid(sign * log_odds) - log_propensity }
}

/// The largest ln ρ of a known reward so far.
#[inline(always)]
fn highest_loop(log_ratio: &[f64], known: &[f64], top: &mut [f64]) {
    let n = top.len();
    let (log_ratio, known) = (&log_ratio[..n], &known[..n]);
    for k in 0..n {
        let is_higher = known[k] > 0.0 && log_ratio[k] > top[k];
        top[k] = if is_higher { log_ratio[k] } else { top[k] };
    }
}

/// Takes the largest from ln ρ, and adds up ρ of known rewards relative to it.
#[inline(always)]
fn weigh_loop(top: &[f64], known: &[f64], log_ratio: &mut [f64], share: &mut [f64], total: &mut [f64]) {
    let n = total.len();
    let (top, known) = (&top[..n], &known[..n]);
    let (log_ratio, share) = (&mut log_ratio[..n], &mut share[..n]);
    for k in 0..n {
        log_ratio[k] -= top[k];
        let counts = known[k] > 0.0 && log_ratio[k] > NEGLIGIBLE;
        share[k] = if counts { exp(log_ratio[k]) } else { 0.0 };
        total[k] += share[k];
    }
}

/// ρ/Σρ, and the sums of its squares and of what it earned
#[inline(always)]
fn average_loop(reward: &[f64], scale: &[f64], share: &mut [f64], squares: &mut [f64], mean: &mut [f64]) {
    let n = share.len();
    let (reward, scale) = (&reward[..n], &scale[..n]);
    let (squares, mean) = (&mut squares[..n], &mut mean[..n]);
    for k in 0..n {
        let scaled = share[k] * scale[k];
        share[k] = scaled;
        squares[k] += scaled * scaled;
        mean[k] += scaled * reward[k];
    }
}
