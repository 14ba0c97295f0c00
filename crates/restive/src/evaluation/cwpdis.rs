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
//! A target is given by the [log-odds](crate::policy::log_odds) of its pulls, from which the chance of either action follows to
//! full relative precision. Ratios are summed as logarithms and averaged relative to the largest: with the *share*
//! w_tij = ρ_tij/Σ_j′ ρ_tij′ of a trajectory, R̄_ti = Σ_j w_tij r_tij. Nothing overflows or underflows however strict the target, and
//! chances of 0 are exact. O(JHN). Where all ratios of an arm are 0 (the target never does what was logged) or no reward is
//! known, the term is **dropped**: it adds nothing to the value, and it is counted. The effective sample size is 1/Σ_j w².
//!
//! # Its pullback
//! Each average moves by the logarithms of its ratios: d R̄/d ln ρ_j = w_j (r_j − R̄). A decision enters the ratios of all later
//! steps, so with π its chance under the target and ± for a pull or none,
//!
//! ```text
//! d ln π_t = Σ_{u≥t} γ^u w_u (r_u − R̄_u)      d log-odds = ± (1 − π) d ln π      d pull = ± d ln π/π
//! ```
//!
//! Rewards enter linearly, the discount by its powers: d r_tij = γ^t w_tij and d γ = Σ_t t γ^(t−1) Σ_i R̄_ti.
//!
//! The first is of the size of the rewards. The last is what it is divided by: with pulls of 10⁻⁶⁰ it is 10⁶⁰, and right.
//!
//! # An example
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Behaviour, Decisions, Propensity, RatioUpTo, cwpdis, known_states, target_log_odds};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 50, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let log = instance.trajectories();
//! let decisions = Decisions::new(log, instance.reward(), &Propensity::new(log, Behaviour::Logged, 2)?);
//! let log_odds = target_log_odds(known_states(log, instance.observation()).view(), &Policy::NoAction, 2);
//! let passive = cwpdis(&decisions, log_odds.view(), 0.99, RatioUpTo::ThisStep);
//! assert!(passive.effective_sample_size < 20.0); // 50 trajectories, of which few left an arm alone throughout
//! let gradient = passive.pullback_pull(1.0).d_pull; // [J,H,N]
//! assert!(gradient.sum() > 0.0); // here a pull always pays
//! # Ok::<(), restive::Error>(())
//! ```

use super::ratios::{Block, log_factor, row};
use super::{Decisions, LogOddsCotangent, PullCotangent};
use crate::policy::odds::log_sigmoid;
use crate::simd::{exp, for_cpu};
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
    /// the value over all arms and steps; NaN where every term was dropped, because then nothing is known
    pub value: f64,
    /// `[N]`: each arm's part of it
    pub arm_value: Array1<f64>,
    /// `[H,N]`: how many equally weighted trajectories with known rewards the ratios are worth; 0 where the term was dropped
    pub effective_sample_sizes: Array2<f64>,
    /// their mean over the arms at the last step
    pub effective_sample_size: f64,
    /// how many of the H·N terms were dropped
    pub dropped: usize,
    /// Σ γ^t over the terms dropped: times a reward, what they might have added
    pub dropped_discount: f64,
    decisions: &'a Decisions,
    log_odds: ArrayView3<'a, f64>,
    discount: f64,
    ratio_up_to: RatioUpTo,
    blocks: Vec<Block>,
}

/// What a cotangent of the value becomes on what was earned and on the discount.
#[derive(Debug, Clone, PartialEq)]
pub struct EarnedCotangent {
    /// `[J,H,N]`, 0 where the reward is not known; for a table R(s, a) add those of each state and action
    pub d_reward: Array3<f64>,
    /// by γ
    pub d_discount: f64,
}

/// The value of a target with these pull probabilities (`[J,H,N]`, row-major) in the logged states.
pub fn cwpdis<'a>(
    decisions: &'a Decisions,
    log_odds: ArrayView3<'a, f64>,
    discount: f64,
    ratio_up_to: RatioUpTo,
) -> Cwpdis<'a> {
    let (j, h, n) = decisions.dim();
    assert_eq!(log_odds.dim(), (j, h, n), "log_odds: [J,H,N]");
    assert!(log_odds.is_standard_layout(), "log_odds: row-major");
    let blocks: Vec<Block> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|k| Block::new(decisions, log_odds, ratio_up_to, k * CHUNK, CHUNK.min(n - k * CHUNK)))
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
                if block.squares[at] > 0.0 {
                    arm_value[i] += weight * block.mean[at];
                    effective_sample_sizes[[t, i]] = 1.0 / block.squares[at];
                } else {
                    dropped += 1;
                    dropped_discount += weight;
                }
            }
        }
        weight *= discount;
    }
    let effective_sample_size = if h == 0 { 0.0 } else { effective_sample_sizes.row(h - 1).sum() / n as f64 };
    let is_known = dropped < h * n || h * n == 0;
    Cwpdis {
        value: if is_known { arm_value.sum() } else { f64::NAN },
        arm_value,
        effective_sample_sizes,
        effective_sample_size,
        dropped,
        dropped_discount,
        decisions,
        log_odds,
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
    /// A term whose trajectories with any share are all left out keeps its average over the full log.
    pub fn resampled(&self, times: &[f64]) -> f64 {
        let (j, h, _) = self.decisions.dim();
        assert_eq!(times.len(), j, "times: [J]");
        let reward = self.decisions.reward.view();
        let mut value = 0.0;
        for block in &self.blocks {
            let width = block.width;
            let (mut sum, mut total) = (vec![0.0; width], vec![0.0; width]);
            let mut weight = 1.0;
            for t in 0..h {
                sum.fill(0.0);
                total.fill(0.0);
                let shares = block.share[t * j * width..(t + 1) * j * width].chunks_exact(width);
                for (j, share) in shares.enumerate().filter(|(j, _)| times[*j] > 0.0) {
                    let reward = &row(&reward, j, t, block.start, width)[..width];
                    let (sum, total) = (&mut sum[..width], &mut total[..width]);
                    for k in 0..width {
                        let share = times[j] * share[k];
                        sum[k] += share * reward[k];
                        total[k] += share;
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

    /// What a cotangent of the value becomes on the log-odds of the pulls.
    pub fn pullback(&self, d_value: f64) -> LogOddsCotangent {
        let mut d_log_odds = self.d_log_probability(d_value);
        let arms = (d_log_odds.as_slice_mut().expect("standard layout").par_chunks_mut(CHUNK))
            .zip(self.decisions.sign.as_slice().expect("row-major").par_chunks(CHUNK))
            .zip(self.log_odds.to_slice().expect("row-major").par_chunks(CHUNK));
        arms.for_each(|((d, sign), log_odds)| turn(sign, log_odds, d));
        LogOddsCotangent { d_log_odds }
    }

    /// What a cotangent of the value becomes on the pulls themselves, for targets that are given by them.
    pub fn pullback_pull(&self, d_value: f64) -> PullCotangent {
        let mut d_pull = self.d_log_probability(d_value);
        let (j, h, n) = self.decisions.dim();
        let chance = |at: [usize; 3]| log_sigmoid(self.decisions.sign[at] * self.log_odds[at]);
        for at in ndarray::indices((j, h, n)) {
            let at = [at.0, at.1, at.2];
            let sign = self.decisions.sign[at];
            // a decision that the target cannot make ends the ratios: their slope by its own chance is left to `impossible`
            let inverse =
                if sign == 0.0 || chance(at) == f64::NEG_INFINITY { 0.0 } else { (-chance(at)).exp() };
            d_pull[at] *= sign * inverse;
        }
        for (j, i) in (0..j).flat_map(|j| (0..n).map(move |i| (j, i))) {
            let is_impossible =
                |t: &usize| self.decisions.sign[[j, *t, i]] != 0.0 && chance([j, *t, i]) == f64::NEG_INFINITY;
            if let Some(t) = (0..h).find(is_impossible) {
                d_pull[[j, t, i]] = d_value * self.impossible(j, t, i);
            }
        }
        PullCotangent { d_pull }
    }

    /// What a cotangent of the value becomes on the reward of every decision and on the discount.
    pub fn pullback_earned(&self, d_value: f64) -> EarnedCotangent {
        let (trajectories, h, _) = self.decisions.dim();
        let (mut d_reward, mut d_discount) = (Array3::zeros(self.decisions.dim()), 0.0);
        for block in &self.blocks {
            let width = block.width;
            for t in 0..h {
                let weight = d_value * self.discount.powi(t as i32);
                let shares = block.share[t * trajectories * width..].chunks_exact(width);
                for (j, share) in shares.take(trajectories).enumerate() {
                    let arms = s![j, t, block.start..block.start + width];
                    d_reward.slice_mut(arms).iter_mut().zip(share).for_each(|(d, share)| *d = weight * share);
                }
                if t > 0 {
                    let terms = t * width..(t + 1) * width;
                    let known = block.mean[terms.clone()].iter().zip(&block.squares[terms]);
                    let sum: f64 = known.filter(|(_, squares)| **squares > 0.0).map(|(mean, _)| mean).sum();
                    d_discount += d_value * t as f64 * self.discount.powi(t as i32 - 1) * sum;
                }
            }
        }
        EarnedCotangent { d_reward, d_discount }
    }

    /// The derivative of the value by the pull at the first decision of an arm that the target cannot have made, where all ratios
    /// from there on are 0: what the averages would gain, were it not for this decision.
    fn impossible(&self, j: usize, first: usize, i: usize) -> f64 {
        let d = self.decisions;
        let factor = |t: usize| match t == first {
            true => -d.log_propensity[[j, t, i]],
            false => log_factor(d.sign[[j, t, i]], self.log_odds[[j, t, i]], d.log_propensity[[j, t, i]]),
        };
        let block = &self.blocks[i / CHUNK];
        let (mut log_ratio, mut slope) = (0.0, 0.0);
        for t in 0..d.dim().1 {
            let Some(u) = self.ratio_up_to.decision(t) else { continue };
            log_ratio += factor(u);
            let at = t * block.width + i - block.start;
            if u >= first && block.squares[at] > 0.0 && d.is_known(j, t, i) {
                let weight = self.discount.powi(t as i32) * (log_ratio - block.log_total[at]).exp();
                slope += weight * (d.reward[[j, t, i]] - block.mean[at]);
            }
        }
        d.sign[[j, first, i]] * slope
    }

    /// The cotangents of ln π of the logged actions, `[J,H,N]`.
    fn d_log_probability(&self, d_value: f64) -> Array3<f64> {
        let mut d_log = Array3::zeros(self.decisions.dim());
        let arms: Vec<_> = d_log.axis_chunks_iter_mut(Axis(2), CHUNK).zip(&self.blocks).collect();
        arms.into_par_iter().for_each(|(d_log, block)| self.pull_back_block(block, d_value, d_log));
        d_log
    }

    /// Writes `[J,H,width]`.
    fn pull_back_block(&self, block: &Block, d_value: f64, mut d_log: ArrayViewMut3<'_, f64>) {
        let ((trajectories, h, _), width) = (self.decisions.dim(), block.width);
        let reward = self.decisions.reward.view();
        let mut sum = vec![0.0; trajectories * width];
        for t in (0..h).rev() {
            let weight = d_value * self.discount.powi(t as i32);
            let mean = &block.mean[t * width..(t + 1) * width];
            let shares = block.share[t * trajectories * width..].chunks_exact(width);
            for (j, (sum, share)) in sum.chunks_exact_mut(width).zip(shares).enumerate() {
                earn(row(&reward, j, t, block.start, width), mean, share, weight, sum);
                if let Some(u) = self.ratio_up_to.decision(t) {
                    let mut out = d_log.slice_mut(s![j, u, ..]);
                    out.as_slice_mut().expect("arms are contiguous").copy_from_slice(sum);
                }
            }
        }
    }
}

for_cpu!(fn earn(reward: &[f64], mean: &[f64], share: &[f64], weight: f64, sum: &mut [f64]) = earn_loop);
for_cpu!(fn turn(sign: &[f64], log_odds: &[f64], d: &mut [f64]) = turn_loop);

/// d ln π += γ^t w (r − R̄)
#[inline(always)]
fn earn_loop(reward: &[f64], mean: &[f64], share: &[f64], weight: f64, sum: &mut [f64]) {
    let n = sum.len();
    let (reward, mean, share) = (&reward[..n], &mean[..n], &share[..n]);
    for k in 0..n {
        sum[k] += (reward[k] - mean[k]) * share[k] * weight;
    }
}

/// d ln π becomes ± (1 − π) d ln π; nothing where there is no action.
#[inline(always)]
fn turn_loop(sign: &[f64], log_odds: &[f64], d: &mut [f64]) {
    let n = d.len();
    let (sign, log_odds) = (&sign[..n], &log_odds[..n]);
    for k in 0..n {
        d[k] = if sign[k] == 0.0 { 0.0 } else { sign[k] * d[k] / (1.0 + exp(sign[k] * log_odds[k])) };
    }
}
