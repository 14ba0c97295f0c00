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
//! # Its pullback
//! With D_i = Σ_known γ^t f_ti, and the second term only where the reward is known,
//!
//! ```text
//! d f_ti = R̄_i (γ^t − W_i/H)/B_i + W_i γ^t (r_ti − R̄_i)/D_i      d pull = ± d f/propensity
//! ```
//!
//! which is (γ^t r_ti − E_i/H)/B_i where nothing is missing. An arm is dropped and counted where D_i is 0: the target never
//! does what was logged at a step with a known reward, or there is no such step.
//!
//! # An example
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Behaviour, Decisions, Propensity, known_states, segmented, target_pull};
//! use restive::policy::Policy;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 1, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let log = instance.trajectories();
//! let decisions = Decisions::new(log, instance.reward(), &Propensity::new(log, Behaviour::Logged, 2)?);
//! // the target is the behaviour: what was earned
//! let pull = target_pull(known_states(log, instance.observation()).view(), &Policy::Random, 2);
//! let value = segmented(&decisions, pull.view(), 1.0).value;
//! let earned: u16 = log.state().slice(ndarray::s![0, ..9, ..]).sum(); // R(s) = s
//! assert!((value - f64::from(earned)).abs() < 1e-12);
//! # Ok::<(), restive::Error>(())
//! ```

use super::{Decisions, PullCotangent};
use ndarray::{Array2, Array3, ArrayView3};

/// The value of a target policy, each step weighted on its own.
pub struct Segmented<'a> {
    /// the value, averaged over trajectories and summed over arms
    pub value: f64,
    /// `[J,N]`: each arm's value in each trajectory; 0 where it was dropped
    pub arm_value: Array2<f64>,
    /// how many equally weighted steps an arm's ratios are worth, on average; at most H
    pub effective_sample_size: f64,
    /// how many arms (in how many trajectories) were dropped
    pub dropped: usize,
    decisions: &'a Decisions,
    discount: f64,
    /// 1/B_i, 0 where the arm was dropped: `[J,N]`
    scale: Array2<f64>,
    /// W_i: `[J,N]`
    weight: Array2<f64>,
    /// D_i: `[J,N]`
    known: Array2<f64>,
}

/// The value of a target with these pull probabilities (`[J,H,N]`) in the logged states.
pub fn segmented<'a>(decisions: &'a Decisions, pull: ArrayView3<'_, f64>, discount: f64) -> Segmented<'a> {
    let (j, h, n) = decisions.dim();
    assert_eq!(pull.dim(), (j, h, n), "pull: [J,H,N]");
    let zeros = || Array2::<f64>::zeros((j, n));
    let (mut ratios, mut weight, mut arm_value) = (zeros(), zeros(), zeros());
    // of the steps with a known reward: Σ γ^t f, Σ f, Σ f²
    let (mut known, mut sum, mut squares) = (zeros(), zeros(), zeros());
    for j in 0..j {
        let mut gamma = 1.0;
        for t in 0..h {
            for i in 0..n {
                let (at, ratio) = ([j, i], decisions.ratio(j, t, i, pull[[j, t, i]]));
                ratios[at] += ratio;
                weight[at] += gamma * ratio;
                if decisions.is_known(j, t, i) {
                    known[at] += gamma * ratio;
                    arm_value[at] += gamma * ratio * decisions.reward[[j, t, i]];
                    sum[at] += ratio;
                    squares[at] += ratio * ratio;
                }
            }
            gamma *= discount;
        }
    }
    let mut scale = zeros();
    let (mut dropped, mut sizes) = (0, 0.0);
    for (at, &ratio) in ratios.indexed_iter() {
        if known[at] > 0.0 {
            scale[at] = h as f64 / ratio;
            weight[at] *= scale[at];
            arm_value[at] *= weight[at] / known[at];
            sizes += sum[at] * sum[at] / squares[at];
        } else {
            (arm_value[at], dropped) = (0.0, dropped + 1);
        }
    }
    let value = arm_value.sum() / j as f64;
    let effective_sample_size = sizes / (j * n) as f64;
    Segmented { value, arm_value, effective_sample_size, dropped, decisions, discount, scale, weight, known }
}

impl Segmented<'_> {
    /// Whether an arm was dropped in a trajectory.
    pub fn is_dropped(&self, j: usize, i: usize) -> bool {
        self.scale[[j, i]] == 0.0
    }

    /// What a cotangent of the value becomes on the pulls.
    pub fn pullback(&self, d_value: f64) -> PullCotangent {
        let d = self.decisions;
        let (trajectories, h, n) = d.dim();
        let mut d_pull = Array3::zeros((trajectories, h, n));
        for j in 0..trajectories {
            let mut gamma = 1.0;
            for t in 0..h {
                for i in 0..n {
                    let (at, scale) = ([j, i], self.scale[[j, i]]);
                    if scale == 0.0 {
                        continue;
                    }
                    let mean = self.arm_value[at] / self.weight[at];
                    let mut d_ratio = mean * (gamma - self.weight[at] / h as f64) * scale;
                    if d.is_known(j, t, i) {
                        d_ratio += self.weight[at] * gamma * (d.reward[[j, t, i]] - mean) / self.known[at];
                    }
                    d_pull[[j, t, i]] =
                        d_value / trajectories as f64 * d_ratio * d.sign[[j, t, i]] / d.propensity[[j, t, i]];
                }
                gamma *= self.discount;
            }
        }
        PullCotangent { d_pull }
    }
}
