//! Consistent weighted per-decision importance sampling, arm by arm (CWPDIS).
//!
//! # What it is
//! What would a target policy have earned, judged from the log of a behaviour policy? With the ratio of a decision
//! f_tij = target/behaviour probability of the logged action, and ρ_tij = Π_{t′≤t} f_t′ij,
//!
//! ```text
//! value = Σ_t γ^t Σ_i  Σ_j ρ_tij r_tij / Σ_j ρ_tij
//! ```
//!
//! The reward r_t = R(s_t) is earned before the action of step t has any effect, so a ratio up to the *previous* step says the
//! same with less noise ([`RatioUpTo::PreviousStep`]; only for rewards that do not depend on the action). The published
//! estimator includes the step's own action, and so does the default here.
//!
//! # What it cannot see
//! Ratios are the arm's own. The other arms' states in the log are those that the *behaviour* policy led to, so the
//! competition for the budget never adapts to the target: for policies that choose among arms the estimate is biased
//! however many trajectories there are. On the published two-state domain (100 arms, 20 pulls, 9 steps) the soft policy on the
//! true indices is worth 377; the estimate is 352 from 100 trajectories, 358 from 1,000 and 355 from 10,000, while random
//! pulls are worth 325 (`examples/coverage.rs`, docs/MEASUREMENTS.md). The interval does not know this. It is
//! consistent where every arm's pull probability depends on its own past only. And ratios multiply: with 10 trajectories
//! and 10 steps the effective sample size of a random target is about 2.
//!
//! # How it is computed
//! Ratios are kept at mean 1 over the trajectories, ρ̂_t = ρ̂_{t−1} f_t/κ_t with κ_t = mean_j ρ̂_{t−1} f_t. The scale cancels
//! in the estimate, so nothing overflows; no logarithm and no division by a target probability, so zeros are exact.
//! O(JHN). Where all ratios of an arm are 0 (the target never does what was logged) or no reward is known, the term is
//! **dropped**: it adds nothing to the value, and it is counted. The effective sample size is J²/Σ_j ρ̂².
//!
//! # Its pullback
//! Each average is unchanged when all its ratios are scaled, so κ counts as a constant. With R̄ the average of step t and W
//! its total ratio, backwards in t:
//!
//! ```text
//! η_t = γ^t (r_t − R̄_t)/W_t + η_{t+1} f_{t+1}/κ_{t+1}      d f_t = η_t ρ̂_{t−1}/κ_t      d pull = ± d f/propensity
//! ```
//!
//! # An example
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Behaviour, Decisions, Propensity, RatioUpTo, cwpdis, known_states, target_pull};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 50, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let log = instance.trajectories();
//! let decisions = Decisions::new(log, instance.reward(), &Propensity::new(log, Behaviour::Logged, 2)?);
//! let pull = target_pull(known_states(log, instance.observation()).view(), &Policy::NoAction, 2);
//! let passive = cwpdis(&decisions, pull.view(), 0.99, RatioUpTo::ThisStep);
//! assert!(passive.effective_sample_size < 20.0); // 50 trajectories, of which few left an arm alone throughout
//! let gradient = passive.pullback(1.0).d_pull; // [J,H,N]
//! assert!(gradient.sum() > 0.0); // here a pull always pays
//! # Ok::<(), restive::Error>(())
//! ```

use super::ratios::{Block, row};
use super::{Decisions, PullCotangent};
use crate::simd::for_cpu;
use ndarray::{Array1, Array2, Array3, ArrayView3, ArrayViewMut3, Axis, s};
use rayon::prelude::*;

/// Arms computed by one thread at a time; sums are taken in the order of the arms.
const CHUNK: usize = 128;

/// Which decisions enter the ratio of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RatioUpTo {
    /// all up to and including the step's own, as published
    #[default]
    ThisStep,
    /// all before the step: less noise, and enough where the reward does not depend on the action
    PreviousStep,
}

/// The value of a target policy, by importance sampling.
pub struct Cwpdis<'a> {
    /// the value over all arms and steps
    pub value: f64,
    /// `[N]`: each arm's part of it
    pub arm_value: Array1<f64>,
    /// `[H,N]`: how many equally weighted trajectories the ratios are worth; 0 where they are all 0
    pub effective_sample_sizes: Array2<f64>,
    /// their mean over the arms at the last step
    pub effective_sample_size: f64,
    /// how many of the H·N terms were dropped
    pub dropped: usize,
    /// Σ γ^t over the terms dropped: times a reward, what they might have added
    pub dropped_discount: f64,
    decisions: &'a Decisions,
    pull: ArrayView3<'a, f64>,
    discount: f64,
    ratio_up_to: RatioUpTo,
    blocks: Vec<Block>,
}

/// The value of a target with these pull probabilities (`[J,H,N]`, row-major) in the logged states.
pub fn cwpdis<'a>(
    decisions: &'a Decisions,
    pull: ArrayView3<'a, f64>,
    discount: f64,
    ratio_up_to: RatioUpTo,
) -> Cwpdis<'a> {
    let (j, h, n) = decisions.dim();
    assert_eq!(pull.dim(), (j, h, n), "pull: [J,H,N]");
    assert!(pull.is_standard_layout(), "pull: row-major");
    let blocks: Vec<Block> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|k| Block::new(decisions, pull, ratio_up_to, k * CHUNK, CHUNK.min(n - k * CHUNK)))
        .collect();
    let mut arm_value = Array1::zeros(n);
    let mut effective_sample_sizes = Array2::zeros((h, n));
    let (mut dropped, mut dropped_discount) = (0, 0.0);
    let mut weight = 1.0;
    for t in 0..h {
        for block in &blocks {
            for k in 0..block.width {
                let at = t * block.width + k;
                let i = block.start + k;
                if block.total[at] > 0.0 {
                    arm_value[i] += weight * block.mean[at];
                } else {
                    dropped += 1;
                    dropped_discount += weight;
                }
                if block.squares[at] > 0.0 {
                    effective_sample_sizes[[t, i]] = (j * j) as f64 / block.squares[at];
                }
            }
        }
        weight *= discount;
    }
    let effective_sample_size = if h == 0 { 0.0 } else { effective_sample_sizes.row(h - 1).sum() / n as f64 };
    Cwpdis {
        value: arm_value.sum(),
        arm_value,
        effective_sample_sizes,
        effective_sample_size,
        dropped,
        dropped_discount,
        decisions,
        pull,
        discount,
        ratio_up_to,
        blocks,
    }
}

impl RatioUpTo {
    /// The decision that enters the ratio at step t.
    pub(super) fn decision(self, t: usize) -> Option<usize> {
        match self {
            RatioUpTo::ThisStep => Some(t),
            RatioUpTo::PreviousStep => t.checked_sub(1),
        }
    }
}

impl Cwpdis<'_> {
    /// The value when trajectory j counts `times[j]` times: a bootstrap sample. O(JHN), without the ratios being made anew.
    ///
    /// A term whose trajectories with any ratio are all left out keeps its average over the full log.
    pub fn resampled(&self, times: &[f64]) -> f64 {
        let (j, h, _) = self.decisions.dim();
        assert_eq!(times.len(), j, "times: [J]");
        let (reward, known) = (self.decisions.reward.view(), self.decisions.known.as_ref().map(|k| k.view()));
        let mut value = 0.0;
        for block in &self.blocks {
            let width = block.width;
            let (mut sum, mut total) = (vec![0.0; width], vec![0.0; width]);
            let mut weight = 1.0;
            for t in 0..h {
                sum.fill(0.0);
                total.fill(0.0);
                let ratios = block.ratio[t * j * width..(t + 1) * j * width].chunks_exact(width);
                for (j, ratio) in ratios.enumerate().filter(|(j, _)| times[*j] > 0.0) {
                    let reward = &row(&reward, j, t, block.start, width)[..width];
                    let (sum, total) = (&mut sum[..width], &mut total[..width]);
                    let known = known.as_ref().map(|known| row(known, j, t, block.start, width));
                    for k in 0..width {
                        let ratio = times[j] * ratio[k];
                        sum[k] += ratio * reward[k];
                        total[k] += ratio * known.map_or(1.0, |known| known[k]);
                    }
                }
                for k in 0..width {
                    let mean = if total[k] > 0.0 { sum[k] / total[k] } else { block.mean[t * width + k] };
                    value += weight * mean;
                }
                weight *= self.discount;
            }
        }
        value
    }

    /// What a cotangent of the value becomes on the pulls.
    pub fn pullback(&self, d_value: f64) -> PullCotangent {
        let mut d_pull = Array3::zeros(self.decisions.dim());
        let arms: Vec<_> = d_pull.axis_chunks_iter_mut(Axis(2), CHUNK).zip(&self.blocks).collect();
        arms.into_par_iter().for_each(|(d_pull, block)| self.pull_back_block(block, d_value, d_pull));
        PullCotangent { d_pull }
    }

    /// Writes `[J,H,width]`.
    fn pull_back_block(&self, block: &Block, d_value: f64, mut d_pull: ArrayViewMut3<'_, f64>) {
        let d = self.decisions;
        let ((j, h, _), width) = (d.dim(), block.width);
        let (reward, sign, propensity) = (d.reward.view(), d.sign.view(), d.propensity.view());
        let known = d.known.as_ref().map(|known| known.view());
        let (mut eta, mut share, ones) = (vec![0.0; j * width], vec![0.0; width], vec![1.0; width]);
        for t in (0..h).rev() {
            let weight = d_value * self.discount.powi(t as i32);
            let step = t * width..(t + 1) * width;
            for (share, total) in share.iter_mut().zip(&block.total[step.clone()]) {
                *share = if *total > 0.0 { weight / total } else { 0.0 };
            }
            let (mean, scale) = (&block.mean[step.clone()], &block.scale[step]);
            for (j, eta) in eta.chunks_exact_mut(width).enumerate() {
                let known = known.as_ref().map_or(&ones[..], |known| row(known, j, t, block.start, width));
                earn(row(&reward, j, t, block.start, width), mean, &share, known, eta);
            }
            let Some(u) = self.ratio_up_to.decision(t) else { continue };
            for (j_, eta) in eta.chunks_exact_mut(width).enumerate() {
                let before =
                    if t == 0 { &ones[..] } else { &block.ratio[((t - 1) * j + j_) * width..][..width] };
                let mut out = d_pull.slice_mut(s![j_, u, ..]);
                let out = out.as_slice_mut().expect("arms are contiguous");
                let logged =
                    [&sign, &propensity, &self.pull].map(|array| row(array, j_, u, block.start, width));
                carry(logged, scale, before, eta, out);
            }
        }
    }
}

for_cpu!(fn earn(reward: &[f64], mean: &[f64], share: &[f64], known: &[f64], eta: &mut [f64]) = earn_loop);
for_cpu!(fn carry(logged: [&[f64]; 3], scale: &[f64], before: &[f64], eta: &mut [f64], d_pull: &mut [f64]) = carry_loop);

/// η += (r − R̄)/W where the reward is known
#[inline(always)]
fn earn_loop(reward: &[f64], mean: &[f64], share: &[f64], known: &[f64], eta: &mut [f64]) {
    let n = eta.len();
    let (reward, mean, share, known) = (&reward[..n], &mean[..n], &share[..n], &known[..n]);
    for k in 0..n {
        eta[k] += (reward[k] - mean[k]) * share[k] * known[k];
    }
}

/// d pull = ± η ρ̂/(κ propensity), then η ← η f/κ
#[inline(always)]
fn carry_loop(logged: [&[f64]; 3], scale: &[f64], before: &[f64], eta: &mut [f64], d_pull: &mut [f64]) {
    let n = eta.len();
    let [sign, propensity, pull] = logged.map(|row| &row[..n]);
    let (scale, before, d_pull) = (&scale[..n], &before[..n], &mut d_pull[..n]);
    for k in 0..n {
        let through = eta[k] * scale[k] / propensity[k];
        let base = if sign[k] > 0.0 { 0.0 } else { 1.0 };
        d_pull[k] = through * before[k] * sign[k];
        eta[k] = through * (base + sign[k] * pull[k]);
    }
}
