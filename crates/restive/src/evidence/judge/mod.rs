//! The judge: a model of how people move that knows nothing of the ranking it helps to judge.
//!
//! **What it is.** Every state has a place h(s) on the scale of rewards, 0 for the poorest and 1 for the best. From state s, called
//! or not (a),
//!
//! ```text
//! P(s′) ∝ exp(α(s, s′) + h(s′) η),   η = δ(s) a + x·β + h(s) x·γ + σ u,   u ~ N(0, 1) of the person's own
//! ```
//!
//! With two states that is a logistic model with a person's own part; with more, moves between any two states keep a level of their
//! own, and whatever distinguishes people pulls them up or down the scale. A person's first state has the same form with α₀(s), β₀
//! and σ₀, because people who are found engaged are those who engage more. The effect of a call, δ, is one number for each state: an
//! effect of a person's own is what the ranking claims to know, and the judge does not take it for granted.
//!
//! **How it is fitted** (`fit`, `climb`): the own part on nine nodes, its likelihood climbed to the top, ridge penalties on
//! standardised features. Its uncertainty is that of the scores of the likelihood person by person.
//!
//! **What it is asked** (`foresee`): before every decision, from features and *earlier* states only, how a call and none would change
//! what a person is worth; and (`world`) the transitions of everybody given all of their record, for simulations. The own part is
//! learnt from states as if nobody had been called, so that whoever deals the calls anew finds the same judge.

mod climb;
mod fit;
mod foresee;
mod people;
mod person;
mod sums;
mod two_state;
mod world;

pub use fit::MOST_PEOPLE;
pub(super) use foresee::{Foresight, Outlook};
pub(super) use people::Columns;
pub use people::MOST_COLUMNS;

use crate::cholesky::Cholesky;
use crate::instance::Reward;

/// Where the own part of a person may lie, in standard deviations.
pub(super) const NODES: [f64; 9] = [-2.8, -2.1, -1.4, -0.7, 0.0, 0.7, 1.4, 2.1, 2.8];

/// e^(−u²/2) on the nodes, to sum 1.
pub(super) fn prior() -> [f64; NODES.len()] {
    let weights = NODES.map(|u| (-0.5 * u * u).exp());
    let sum: f64 = weights.iter().sum();
    weights.map(|w| w / sum)
}

/// A model of moves, fitted to some people, for others.
#[derive(Clone)]
pub struct Judge {
    columns: Columns,
    place: Places,
    /// `[D]`, as [`Places`] says
    theta: Vec<f64>,
    /// h(s), `[M]`
    scale: Vec<f64>,
    /// of its information about them, σ² and σ₀² in the places of σ and σ₀, `[D,D]`
    factor: Cholesky,
    /// people it was fitted to
    people: usize,
}

impl Judge {
    /// How many people it was fitted to.
    pub fn people(&self) -> usize {
        self.people
    }

    /// δ(s): what a call adds to the log-odds of the best state against the poorest, and its standard error.
    pub fn effect(&self, state: usize) -> (f64, f64) {
        let at = self.place.delta(state);
        let mut unit = vec![0.0; self.theta.len()];
        unit[at] = 1.0;
        self.factor.forward_one(&mut unit);
        (self.theta[at], unit.iter().map(|x| x * x).sum::<f64>().sqrt())
    }

    /// σ: how much people differ in ways that features do not tell.
    pub fn spread(&self) -> f64 {
        self.theta[self.place.sigma()].abs()
    }
}

/// Where each parameter stands: α(s, ·) by row, α₀ as row M; δ; σ and σ₀; then β, γ, β₀.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Places {
    /// M
    states: usize,
    /// F
    features: usize,
}

impl Places {
    /// α(row, next), for next from 1 on.
    fn alpha(self, row: usize, next: usize) -> usize {
        row * (self.states - 1) + next - 1
    }

    fn delta(self, state: usize) -> usize {
        (self.states + 1) * (self.states - 1) + state
    }

    fn sigma(self) -> usize {
        self.delta(self.states)
    }

    fn sigma_first(self) -> usize {
        self.sigma() + 1
    }

    /// Parameters that are not of features.
    fn head(self) -> usize {
        self.sigma() + 2
    }

    /// β (0), γ (1) or β₀ (2).
    fn block(self, which: usize) -> std::ops::Range<usize> {
        let first = self.head() + which * self.features;
        first..first + self.features
    }

    /// D
    fn all(self) -> usize {
        self.head() + 3 * self.features
    }

    /// The row of first states.
    fn first(self) -> usize {
        self.states
    }
}

/// P(s′) of a row at η, into `shares`.
#[inline]
fn shares(place: Places, theta: &[f64], scale: &[f64], row: usize, eta: f64, shares: &mut [f64]) {
    let alphas = &theta[place.alpha(row, 1)..][..place.states - 1];
    shares[0] = scale[0] * eta;
    for ((share, alpha), scale) in shares[1..].iter_mut().zip(alphas).zip(&scale[1..]) {
        *share = alpha + scale * eta;
    }
    let most = shares.iter().fold(f64::NEG_INFINITY, |most: f64, x| most.max(*x));
    let mut sum = 0.0;
    for share in shares.iter_mut() {
        let below = *share - most;
        // e⁰ is 1 to the last digit
        *share = if below == 0.0 { 1.0 } else { below.exp() };
        sum += *share;
    }
    shares.iter_mut().for_each(|share| *share /= sum);
}

/// h(s): passive rewards from 0 to 1; none where all are the same.
fn reward_scale(reward: &Reward) -> Option<Vec<f64>> {
    let passive: Vec<f64> = reward.view().column(0).to_vec();
    let least = passive.iter().copied().fold(f64::INFINITY, f64::min);
    let most = passive.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most > least).then(|| passive.iter().map(|r| (r - least) / (most - least)).collect())
}
