//! Soft top-k of a crowd: scores that stand for masses instead of single arms.
//!
//! # What it is
//! In the mean-field limit each entry k of a table of scores x carries a mass μ_k ≥ 0 (the share of an arm in a state), and
//! the threshold τ solves
//!
//! ```text
//! Σ_k μ_k pull_k = K,     pull_k = σ((x_k − τ)/e)
//! ```
//!
//! The scores stay and the masses change from step to step, so a [`Crowd`] keeps the exponentials of the scores, and their order
//! where it is needed. Temperature 0 is the strict limit: 1 above the threshold, 0 below, and the scores equal to it share what is left.
//!
//! # How it is computed
//! As for single arms, by the same code: Halley's method in θ = (τ − ref)/e on Σ μ E/(E + e^θ) = K where that determines θ,
//! else the *log-balance* of the masses above and below the threshold, which stays exact however small the temperature.
//!
//! # Its pullback
//! With s = pull(1 − pull), S = Σ μ s and g = Σ c s/S for a cotangent c of the pulls:
//! d_score = s(c − μ g)/e, d_mass = −pull·g, d_budget = g, d_temperature = −Σ d_score (x − τ)/e.
//!
//! ```
//! use restive::policy::soft_top_k::Crowd;
//!
//! let crowd = Crowd::new(&[0.9, 0.1, 0.4], 0.1);
//! let mut pull = [0.0; 3];
//! crowd.solve(&[0.5, 1.0, 1.5], 1.0, &mut pull);
//! assert!((0.5 * pull[0] + pull[1] + 1.5 * pull[2] - 1.0).abs() < 1e-14);
//! ```

use super::log_balance::{balance, log_sum};
use super::root::{Problem, Regime, Root, SAMPLE, exponentials};
use super::slopes::{Solved, pull_back};
use std::cell::LazyCell;
use std::sync::OnceLock;

/// A table of scores at a temperature, to be solved for many masses.
pub struct Crowd {
    score: Vec<f64>,
    temperature: f64,
    /// positions of a sample, highest score first: a start is found on it
    sample: Vec<usize>,
    /// all positions in that order; sorted when a problem is nearly strict
    order: OnceLock<Vec<usize>>,
    /// a score in the middle, and exp((x − reference)/e)
    reference: f64,
    exponential: Vec<f64>,
}

/// The threshold τ = reference + temperature·θ of one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdThreshold {
    /// τ; infinite where nobody or everybody is pulled
    pub threshold: f64,
    root: Root,
}

impl CrowdThreshold {
    /// The log-odds of the pulls of these scores.
    pub(super) fn log_odds(&self, score: &[f64], temperature: f64, out: &mut [f64]) {
        self.root.log_odds(score, temperature, out);
    }

    /// Whether the pulls move with the scores.
    pub(super) fn moves(&self) -> bool {
        matches!(self.root.regime, Regime::Smooth | Regime::Saturated)
    }
}

/// What a cotangent of the pulls of a crowd becomes, beside d_score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdCotangent {
    /// by the budget; d_mass is −pull times it
    pub d_budget: f64,
    /// by the temperature
    pub d_temperature: f64,
}

impl Crowd {
    /// Scores (finite) at a temperature of at least 0.
    pub fn new(score: &[f64], temperature: f64) -> Self {
        assert!(temperature >= 0.0, "temperature: at least 0, not {temperature}");
        let sample = descending(score, score.len().div_ceil(SAMPLE));
        let reference = sample.get(sample.len() / 2).map_or(0.0, |&k| score[k]);
        let mut exponential = vec![0.0; score.len()];
        exponentials(score, reference, temperature, &mut exponential);
        Self { score: score.to_vec(), temperature, sample, order: OnceLock::new(), reference, exponential }
    }

    /// Writes the pulls for these masses (both in the shape of the scores).
    pub fn solve(&self, mass: &[f64], budget: f64, pull: &mut [f64]) -> CrowdThreshold {
        assert!(mass.len() == self.score.len() && pull.len() == mass.len(), "mass, pull: as the scores");
        pull.copy_from_slice(&self.exponential);
        let marginal = LazyCell::new(|| marginal(self.order(), mass, budget));
        let score = |order: &[usize], place: usize| self.score[order[place]];
        let &Self { temperature, reference, .. } = self;
        let problem = Problem { score: &self.score, mass: Some(mass), budget, temperature, reference };
        let root = problem.solve(
            pull,
            |_| Some((score(&self.sample, self.guess(mass, budget)?) - reference) / temperature),
            || self.log_balance(mass, budget, marginal.0, marginal.1),
            || score(self.order(), marginal.0),
        );
        root.pulls(&self.score, temperature, pull);
        CrowdThreshold { threshold: root.threshold, root }
    }

    fn order(&self) -> &[usize] {
        self.order.get_or_init(|| descending(&self.score, 1))
    }

    /// The place in the sample at which its mass from the top passes its share of the budget; none where it has no mass.
    fn guess(&self, mass: &[f64], budget: f64) -> Option<usize> {
        let sampled: f64 = self.sample.iter().map(|&k| mass[k]).sum();
        let total: f64 = mass.iter().sum();
        let share = (budget / total * sampled).min(0.999 * sampled);
        (sampled > 0.0).then(|| marginal(&self.sample, mass, share).0)
    }

    /// (reference, θ) from the balance of logarithms; none where scores over the temperature overflow.
    fn log_balance(&self, mass: &[f64], budget: f64, marginal: usize, above: f64) -> Option<(f64, f64)> {
        let order = self.order();
        let (inside, outside) = order.split_at(marginal);
        let fraction = (budget - above).max(0.0);
        let reference = self.score[outside[0]];
        let z = |k: usize| (self.score[k] - reference) / self.temperature;
        let (top, bottom) = (z(order[0]), z(order[order.len() - 1]));
        if !top.is_finite() || !bottom.is_finite() {
            return None;
        }
        let share = budget / mass.iter().sum::<f64>();
        let logit = (share / (1.0 - share)).ln();
        let nearest_in = inside.iter().rev().find(|&&k| mass[k] > 0.0);
        let start = match nearest_in {
            Some(&k) if fraction == 0.0 => 0.5 * z(k),
            _ => {
                let part = (fraction / mass[outside[0]]).clamp(1e-15, 1.0 - 1e-15);
                -(part / (1.0 - part)).ln()
            }
        };
        let theta = balance((bottom - logit - 1.0, top - logit + 1.0), start, |theta| {
            let below = log_sum(outside.iter().map(|&k| (mass[k].ln(), z(k) - theta)), 0.0);
            let above = log_sum(inside.iter().map(|&k| (mass[k].ln(), theta - z(k))), fraction);
            (below, above)
        });
        Some((reference, theta))
    }

    /// Adds to `d_score` what a cotangent of the pulls becomes on the scores.
    pub fn pullback_into(
        &self,
        solved: &CrowdThreshold,
        mass: &[f64],
        pull: &[f64],
        d_pull: &[f64],
        d_score: &mut [f64],
    ) -> CrowdCotangent {
        let shapes = [mass.len(), pull.len(), d_pull.len(), d_score.len()];
        assert_eq!(shapes, [self.score.len(); 4], "mass, pull, d_pull, d_score: as the scores");
        let &Self { ref score, temperature, .. } = self;
        let solved = Solved { root: &solved.root, score, mass: Some(mass), pull, temperature };
        let (d_budget, d_temperature) = pull_back(solved, d_pull, d_score);
        CrowdCotangent { d_budget, d_temperature }
    }
}

/// Every so many positions, highest score first.
fn descending(score: &[f64], step: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..score.len()).step_by(step.max(1)).collect();
    order.sort_by(|&a, &b| score[b].total_cmp(&score[a]));
    order
}

/// The place in an order at which the mass from the top passes the budget, and the mass above that place.
fn marginal(order: &[usize], mass: &[f64], budget: f64) -> (usize, f64) {
    let mut above = 0.0;
    for (place, &k) in order.iter().enumerate() {
        if above + mass[k] > budget {
            return (place, above);
        }
        above += mass[k];
    }
    // the budget is below the total, but by less than rounding: the last mass is the marginal one
    let last = order.iter().rposition(|&k| mass[k] > 0.0).expect("a positive total");
    (last, above - mass[order[last]])
}
