//! The paper's estimator for a single trajectory: every step is a trajectory of its own.
//!
//! # What it is
//! With one trajectory the ratios of [`cwpdis`](super::cwpdis()) cancel, and every target has the same value. The appendix of
//! the paper cuts the trajectory into segments of one step and normalises over *time* instead: with the ratio of a
//! decision f_ti = target/behaviour probability of the logged action, H decisions and B_i = Σ_t f_ti / H,
//!
//! ```text
//! value = Σ_i Σ_t γ^t r_ti f_ti / B_i
//! ```
//!
//! **Missing steps.** A step whose reward is not known was not worth 0. As in CWPDIS its ratio still counts and its reward is
//! taken to be as the known ones: with w_ti = γ^t f_ti/B_i, an arm is worth all its weight times the mean of the rewards that
//! are known,
//!
//! ```text
//! E_i = W_i R̄_i,     W_i = Σ_t w_ti,     R̄_i = Σ_known w_ti r_ti / Σ_known w_ti
//! ```
//!
//! which is the sum above where nothing is missing, and does not depend on what is missing where the reward is constant.
//! Several trajectories are averaged. It rests on states whose distribution does not drift over time
//! ([`drift`](super::drift())) and on actions without a lasting effect.
//!
//! # The paper's metric, not evidence
//! It can be won without knowing anyone. Ratios are normalised over time within an arm: an arm that is never pulled in the log
//! and that the target would pull exactly in its bad steps loses those steps from its average. In a synthetic programme,
//! pulling arbitrary arms only when they are in the bad state "gains" more than any trained model, and the indices of a
//! model dealt to the wrong arms keep most of their "gain", while both are worth no more than random pulls. Show it
//! beside what it hides; never as proof.
//!
//! # How it is computed
//! Ratios come from the [log-odds](crate::policy::log_odds) of the target's pulls, relative to the largest of the arm: f̂ over all
//! steps and f̃ over those with a known reward. Their scales cancel, so nothing underflows however strict the target.
//!
//! # Its pullback
//! With D_i = Σ_known γ^t f_ti, and the second term only where the reward is known,
//!
//! ```text
//! d ln f_ti = R̄_i (γ^t − W_i/H) f_ti/B_i + W_i γ^t (r_ti − R̄_i) f_ti/D_i
//! d log-odds = ± (1 − π) d ln f      d pull = ± d ln f/π      π the chance of the logged action under the target
//! ```
//!
//! By rewards and discount, with ′ the derivative of γ^t by γ,
//!
//! ```text
//! d r_ti = W_i γ^t f_ti/D_i      dγ = Σ_i R̄_i W_i′ + W_i Σ_known (γ^t)′ (r_ti − R̄_i) f_ti/D_i
//! ```
//!
//! An arm is dropped and counted where D_i is 0: the target never does what was logged at a step with a known reward, or there is no
//! such step.
//!
//! # An example
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Behaviour, Decisions, Propensity, known_states, segmented, target_log_odds};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 1, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let log = instance.trajectories();
//! let decisions = Decisions::new(log, instance.reward(), &Propensity::new(log, Behaviour::Logged, 2)?);
//! // the target is the behaviour: what was earned
//! let log_odds = target_log_odds(known_states(log, instance.observation()).view(), &Policy::Random, 2);
//! let value = segmented(&decisions, log_odds.view(), 1.0).value;
//! let earned: u16 = log.state().slice(ndarray::s![0, ..9, ..]).sum(); // R(s) = s
//! assert!((value - f64::from(earned)).abs() < 1e-12);
//! # Ok::<(), restive::Error>(())
//! ```

use super::ratios::log_factor;
use super::{Decisions, EarnedCotangent, LogOddsCotangent, PullCotangent};
use crate::interrupt;
use crate::policy::odds::sigmoid;
use ndarray::{Array2, Array3, ArrayView3};

/// The value of a target policy, each step weighted on its own.
pub struct Segmented<'a> {
    /// the value, averaged over trajectories and summed over arms; NaN where every arm was dropped, because then nothing is known
    pub value: f64,
    /// `[J,N]`: each arm's value in each trajectory; 0 where it was dropped
    pub arm_value: Array2<f64>,
    /// how many equally weighted steps an arm's ratios are worth, on average; at most H
    pub effective_sample_size: f64,
    /// how many arms (in how many trajectories) were dropped
    pub dropped: usize,
    decisions: &'a Decisions,
    log_odds: ArrayView3<'a, f64>,
    discount: f64,
    arms: Array2<Arm>,
}

/// What the ratios of an arm in a trajectory come to; `top` and `known_top` are the logarithms of the largest ones.
#[derive(Debug, Clone, Copy)]
struct Arm {
    top: f64,
    known_top: f64,
    /// Σ f̂
    ratios: f64,
    /// Σ γ^t f̂, then W
    weight: f64,
    /// Σ γ^t f̃ over known rewards
    known: f64,
    /// Σ γ^t f̃ r over known rewards, then R̄
    mean: f64,
    /// Σ f̃, Σ f̃² over known rewards
    sum: f64,
    squares: f64,
}

impl Arm {
    const NEW: Self = Self {
        top: f64::NEG_INFINITY,
        known_top: f64::NEG_INFINITY,
        ratios: 0.0,
        weight: 0.0,
        known: 0.0,
        mean: 0.0,
        sum: 0.0,
        squares: 0.0,
    };

    /// Whether the target never does what was logged at a step with a known reward.
    fn is_dropped(&self) -> bool {
        self.known_top == f64::NEG_INFINITY
    }

    /// d value/d ln f of a step, for a ratio with the logarithm `log_ratio`.
    fn slope(&self, log_ratio: f64, gamma: f64, steps: f64, reward: Option<f64>) -> f64 {
        let all =
            self.mean * (gamma - self.weight / steps) * (log_ratio - self.top).exp() * steps / self.ratios;
        let own =
            |r: f64| self.weight * gamma * (r - self.mean) * (log_ratio - self.known_top).exp() / self.known;
        all + reward.map_or(0.0, own)
    }
}

/// The value of a target with these log-odds of pulls (`[J,H,N]`, not NaN) in the logged states.
pub fn segmented<'a>(
    decisions: &'a Decisions,
    log_odds: ArrayView3<'a, f64>,
    discount: f64,
) -> Segmented<'a> {
    let (trajectories, h, n) = decisions.dim();
    assert_eq!(log_odds.dim(), (trajectories, h, n), "log_odds: [J,H,N]");
    let mut arms = Array2::from_elem((trajectories, n), Arm::NEW);
    let steps = || ndarray::indices((trajectories, h, n)).into_iter();
    for (j, t, i) in steps() {
        interrupt::check();
        let (log_ratio, arm) = (decisions.log_ratio([j, t, i], log_odds), &mut arms[[j, i]]);
        arm.top = arm.top.max(log_ratio);
        if decisions.is_known(j, t, i) {
            arm.known_top = arm.known_top.max(log_ratio);
        }
    }
    for (j, t, i) in steps() {
        interrupt::check();
        let (log_ratio, arm) = (decisions.log_ratio([j, t, i], log_odds), &mut arms[[j, i]]);
        if arm.is_dropped() {
            continue;
        }
        let gamma = discount.powi(t as i32);
        let ratio = (log_ratio - arm.top).exp();
        arm.ratios += ratio;
        arm.weight += gamma * ratio;
        if decisions.is_known(j, t, i) {
            let ratio = (log_ratio - arm.known_top).exp();
            arm.known += gamma * ratio;
            arm.mean += gamma * ratio * decisions.reward[[j, t, i]];
            arm.sum += ratio;
            arm.squares += ratio * ratio;
        }
    }
    let (mut dropped, mut sizes) = (0, 0.0);
    for arm in &mut arms {
        if arm.is_dropped() {
            dropped += 1;
            continue;
        }
        arm.weight *= h as f64 / arm.ratios;
        arm.mean /= arm.known;
        sizes += arm.sum * arm.sum / arm.squares;
    }
    let arm_value = arms.map(|arm| arm.weight * arm.mean);
    let is_known = dropped < trajectories * n;
    let value = if is_known { arm_value.sum() / trajectories as f64 } else { f64::NAN };
    let effective_sample_size = sizes / (trajectories * n) as f64;
    Segmented { value, arm_value, effective_sample_size, dropped, decisions, log_odds, discount, arms }
}

impl Segmented<'_> {
    /// Whether an arm was dropped in a trajectory.
    pub fn is_dropped(&self, j: usize, i: usize) -> bool {
        self.arms[[j, i]].is_dropped()
    }

    /// What a cotangent of the value becomes on the log-odds of the pulls.
    pub fn pullback(&self, d_value: f64) -> LogOddsCotangent {
        let d_log_odds = self.pull_back(|at, slope| {
            let (sign, z) = (self.decisions.sign[at], self.log_odds[at]);
            let other = sigmoid(-sign * z);
            d_value * sign * other * slope(self.decisions.log_ratio(at, self.log_odds))
        });
        LogOddsCotangent { d_log_odds }
    }

    /// What a cotangent of the value becomes on the pulls themselves, for targets that are given by them.
    pub fn pullback_pull(&self, d_value: f64) -> PullCotangent {
        let d_pull = self.pull_back(|at, slope| {
            // d ln f/π is d f/propensity: the slope at a chance of 1
            d_value * self.decisions.sign[at] * slope(-self.decisions.log_propensity[at])
        });
        PullCotangent { d_pull }
    }

    /// What a cotangent of the value becomes on the reward of every decision and on the discount.
    pub fn pullback_earned(&self, d_value: f64) -> EarnedCotangent {
        let d = self.decisions;
        let (trajectories, h, n) = d.dim();
        let d_value = d_value / trajectories as f64;
        let (mut d_reward, mut d_discount) = (Array3::zeros(d.dim()), 0.0);
        for (j, t, i) in ndarray::indices((trajectories, h, n)) {
            interrupt::check();
            let (arm, log_ratio) = (&self.arms[[j, i]], d.log_ratio([j, t, i], self.log_odds));
            if arm.is_dropped() {
                continue;
            }
            let growth = if t == 0 { 0.0 } else { t as f64 * self.discount.powi(t as i32 - 1) };
            let ratio = (log_ratio - arm.top).exp() * h as f64 / arm.ratios;
            d_discount += d_value * arm.mean * growth * ratio;
            if d.is_known(j, t, i) {
                let share = arm.weight * (log_ratio - arm.known_top).exp() / arm.known;
                d_reward[[j, t, i]] = d_value * share * self.discount.powi(t as i32);
                d_discount += d_value * growth * share * (d.reward[[j, t, i]] - arm.mean);
            }
        }
        EarnedCotangent { d_reward, d_discount }
    }

    /// `[J,H,N]`: what `turn` makes of the slope of the value by a step's ratio; 0 without an action or where the arm is dropped.
    fn pull_back(&self, turn: impl Fn([usize; 3], &dyn Fn(f64) -> f64) -> f64) -> Array3<f64> {
        let d = self.decisions;
        let (trajectories, h, _) = d.dim();
        Array3::from_shape_fn(d.dim(), |(j, t, i)| {
            let arm = &self.arms[[j, i]];
            if arm.is_dropped() || d.sign[[j, t, i]] == 0.0 {
                return 0.0;
            }
            let gamma = self.discount.powi(t as i32);
            let reward = d.is_known(j, t, i).then_some(d.reward[[j, t, i]]);
            let slope = |log_ratio: f64| arm.slope(log_ratio, gamma, h as f64, reward) / trajectories as f64;
            turn([j, t, i], &slope)
        })
    }
}

impl Decisions {
    /// ln f of a decision.
    fn log_ratio(&self, at: [usize; 3], log_odds: ArrayView3<'_, f64>) -> f64 {
        log_factor(self.sign[at], log_odds[at], self.log_propensity[at])
    }
}
