//! The paper's estimator for a single trajectory: every step is a trajectory of its own.
//!
//! # What it is
//! With one trajectory the ratios of [`cwpdis`](super::cwpdis()) cancel, and every target has the same value. The appendix of
//! the paper cuts the trajectory into segments of one step and normalises over *time* instead: with the ratio of a
//! decision f_ti = target/behaviour probability of the logged action, and T_i steps with a known reward,
//!
//! ```text
//! value = Σ_i Σ_t γ^t r_ti f_ti / B_i,     B_i = Σ_t f_ti / T_i
//! ```
//!
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
//! d f_ti = (γ^t r_ti − E_i/T_i)/B_i with E_i the arm's value, and d pull = ± d f/propensity. An arm whose ratios are
//! all 0 is dropped and counted, as is one without any known reward.
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
//! let pull = target_pull(known_states(log).view(), &Policy::Random, 2);
//! let value = segmented(&decisions, pull.view(), 1.0).value;
//! let earned: u16 = log.state().slice(ndarray::s![0, ..9, ..]).sum(); // R(s) = s
//! assert!((value - f64::from(earned)).abs() < 1e-12);
//! # Ok::<(), restive::Error>(())
//! ```

use super::Decisions;
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
    /// 1/B_i, 0 where it is infinite: `[J,N]`
    scale: Array2<f64>,
    /// T_i: `[J,N]`
    known: Array2<f64>,
}

/// The value of a target with these pull probabilities (`[J,H,N]`) in the logged states.
pub fn segmented<'a>(decisions: &'a Decisions, pull: ArrayView3<'_, f64>, discount: f64) -> Segmented<'a> {
    let (j, h, n) = decisions.dim();
    assert_eq!(pull.dim(), (j, h, n), "pull: [J,H,N]");
    let zeros = || Array2::<f64>::zeros((j, n));
    let (mut ratios, mut squares, mut earned, mut known) = (zeros(), zeros(), zeros(), zeros());
    for j in 0..j {
        let mut weight = 1.0;
        for t in 0..h {
            for i in 0..n {
                if !decisions.is_known(j, t, i) {
                    continue;
                }
                let ratio = decisions.ratio(j, t, i, pull[[j, t, i]]);
                ratios[[j, i]] += ratio;
                squares[[j, i]] += ratio * ratio;
                earned[[j, i]] += weight * ratio * decisions.reward[[j, t, i]];
                known[[j, i]] += 1.0;
            }
            weight *= discount;
        }
    }
    let mut scale = zeros();
    let (mut dropped, mut sizes) = (0, 0.0);
    for ((at, scale), &ratio) in scale.indexed_iter_mut().zip(&ratios) {
        if ratio > 0.0 {
            *scale = known[at] / ratio;
            sizes += ratio * ratio / squares[at];
        } else {
            dropped += 1;
        }
    }
    let arm_value = &earned * &scale;
    let value = arm_value.sum() / j as f64;
    let effective_sample_size = sizes / (j * n) as f64;
    Segmented { value, arm_value, effective_sample_size, dropped, decisions, discount, scale, known }
}

impl Segmented<'_> {
    /// Whether an arm was dropped in a trajectory.
    pub fn is_dropped(&self, j: usize, i: usize) -> bool {
        self.scale[[j, i]] == 0.0
    }

    /// What a cotangent of the value becomes on the pulls, `[J,H,N]`.
    pub fn pullback(&self, d_value: f64) -> Array3<f64> {
        let d = self.decisions;
        let (trajectories, h, n) = d.dim();
        let mut d_pull = Array3::zeros((trajectories, h, n));
        for j in 0..trajectories {
            let mut weight = 1.0;
            for t in 0..h {
                for i in 0..n {
                    if d.is_known(j, t, i) && self.scale[[j, i]] > 0.0 {
                        let average = self.arm_value[[j, i]] / self.known[[j, i]];
                        let d_ratio = (weight * d.reward[[j, t, i]] - average) * self.scale[[j, i]];
                        d_pull[[j, t, i]] = d_value / trajectories as f64 * d_ratio * d.sign[[j, t, i]]
                            / d.propensity[[j, t, i]];
                    }
                }
                weight *= self.discount;
            }
        }
        d_pull
    }
}
