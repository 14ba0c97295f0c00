//! The cumulative ratios of some neighbouring arms, at mean 1 over the trajectories, and what they make of the rewards.
//!
//! The forward pass of [`cwpdis`](super::cwpdis()): one pass over `[J,H,width]`, arms innermost so that every loop runs over
//! contiguous numbers.

use super::decisions::factor;
use super::{Decisions, RatioUpTo};
use crate::simd::for_cpu;
use ndarray::ArrayView3;

/// Some neighbouring arms.
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) width: usize,
    /// ρ̂ of each step, `[H,J,width]`
    pub(super) ratio: Vec<f64>,
    /// 1/κ, 0 where it is infinite: `[H,width]`
    pub(super) scale: Vec<f64>,
    /// Σ_j ρ̂ over known rewards, and R̄: `[H,width]`
    pub(super) total: Vec<f64>,
    pub(super) mean: Vec<f64>,
    /// Σ_j ρ̂², `[H,width]`
    pub(super) squares: Vec<f64>,
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
        pull: ArrayView3<'_, f64>,
        up_to: RatioUpTo,
        start: usize,
        width: usize,
    ) -> Self {
        let (j, h, _) = d.dim();
        let mut block = Block {
            start,
            width,
            ratio: vec![0.0; h * j * width],
            scale: vec![1.0; h * width],
            total: vec![0.0; h * width],
            mean: vec![0.0; h * width],
            squares: vec![0.0; h * width],
        };
        let (sign, propensity) = (d.sign.view(), d.propensity.view());
        let (reward, known) = (d.reward.view(), d.known.as_ref().map(|known| known.view()));
        let (mut kappa, ones) = (vec![0.0; width], vec![1.0; width]);
        for t in 0..h {
            let at = t * width..(t + 1) * width;
            let (before, rest) = block.ratio.split_at_mut(t * j * width);
            let before = (t > 0).then(|| &before[(t - 1) * j * width..]);
            let ratio = &mut rest[..j * width];
            if let Some(u) = up_to.decision(t) {
                kappa.fill(0.0);
                let kappa = &mut kappa[..width];
                for (j, ratio) in ratio.chunks_exact_mut(width).enumerate() {
                    let logged = [&sign, &pull, &propensity].map(|array| row(array, j, u, start, width));
                    let before = before.map_or(&ones[..], |before| &before[j * width..][..width]);
                    multiply(logged, before, ratio, kappa);
                }
                for (scale, kappa) in block.scale[at.clone()].iter_mut().zip(kappa) {
                    *scale = if *kappa > 0.0 { j as f64 / *kappa } else { 0.0 };
                }
            } else {
                ratio.fill(1.0); // no decision has been made yet
            }
            let scale = &block.scale[at.clone()];
            let (total, mean) = (&mut block.total[at.clone()], &mut block.mean[at.clone()]);
            let squares = &mut block.squares[at];
            for (j, ratio) in ratio.chunks_exact_mut(width).enumerate() {
                normalise(row(&reward, j, t, start, width), scale, ratio, squares, mean);
                match &known {
                    None => total.iter_mut().zip(&*ratio).for_each(|(total, ratio)| *total += ratio),
                    Some(known) => {
                        let known = row(known, j, t, start, width);
                        (0..width).for_each(|k| total[k] += ratio[k] * known[k]);
                    }
                }
            }
            for (mean, total) in mean.iter_mut().zip(&*total) {
                *mean = if *total > 0.0 { *mean / total } else { 0.0 };
            }
        }
        block
    }
}

for_cpu!(fn multiply(logged: [&[f64]; 3], before: &[f64], ratio: &mut [f64], kappa: &mut [f64]) = multiply_loop);
for_cpu!(fn normalise(reward: &[f64], scale: &[f64], ratio: &mut [f64], squares: &mut [f64], mean: &mut [f64])
    = normalise_loop);

/// ρ = ρ̂ f, and its sum
#[inline(always)]
fn multiply_loop(logged: [&[f64]; 3], before: &[f64], ratio: &mut [f64], kappa: &mut [f64]) {
    let n = ratio.len();
    let [sign, pull, propensity] = logged.map(|row| &row[..n]);
    let (before, kappa) = (&before[..n], &mut kappa[..n]);
    for k in 0..n {
        ratio[k] = before[k] * factor(sign[k], pull[k], propensity[k]);
        kappa[k] += ratio[k];
    }
}

/// ρ̂ = ρ/κ, and the sums of its squares and of what it earned
#[inline(always)]
fn normalise_loop(reward: &[f64], scale: &[f64], ratio: &mut [f64], squares: &mut [f64], mean: &mut [f64]) {
    let n = ratio.len();
    let (reward, scale) = (&reward[..n], &scale[..n]);
    let (squares, mean) = (&mut squares[..n], &mut mean[..n]);
    for k in 0..n {
        let scaled = ratio[k] * scale[k];
        ratio[k] = scaled;
        squares[k] += scaled * scaled;
        mean[k] += scaled * reward[k];
    }
}
