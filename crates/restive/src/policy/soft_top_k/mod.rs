//! Soft top-k: pull the K best of N arms, softly enough to have a gradient.
//!
//! # What it is
//! Xie et al. (2020) transport N scores onto the two anchors 0 and 1 with entropic regularisation ε. Moving score
//! x to the anchors costs x² or (x−1)², which differ by 2x−1, so the optimal plan is
//!
//! ```text
//! pull_i = σ((x_i − τ)/e),     Σ_i pull_i = K,     e = ε/2
//! ```
//!
//! with σ the logistic function: one number, the threshold τ, is all there is to find. The **temperature** e has
//! the unit of the scores. As e → 0 the strict top K emerges, with tied arms sharing what is left of the budget; as
//! e → ∞ every pull becomes K/N. Indices grow like 1/(1−γ) and like the rewards, so a fixed e means nothing by
//! itself: [`Temperature`](super::Temperature) relates it to the spread of the scores, or to the largest cost as the
//! paper's experiments did.
//!
//! # How it is computed
//! With E_i = exp((x_i − ref)/e) computed once, pull_i = E_i/(E_i + c) for one unknown c, and Halley's method on ln c
//! needs three or four passes of one division per arm, from a start found on a sample of the arms. Where the policy
//! is nearly strict, Σ pull no longer determines c to full precision. There the *log-balance* takes over: with I
//! the k = ⌊K⌋ largest scores, Σ pull = K says that the mass outside I equals the mass missing inside I plus K − k, and
//! the logarithms of both sides are smooth and nearly linear in τ/e however small they are.
//!
//! # Its pullback
//! With s_i = pull_i(1 − pull_i) and w = s/Σs, for a cotangent c of the pulls
//!
//! ```text
//! d_score_i = s_i (c_i − w·c)/e      d_budget = w·c      d_temperature = −Σ_i d_score_i (x_i − τ)/e
//! ```
//!
//! and for a cotangent c of the [log-odds](crate::policy::log_odds) z_i = (x_i − τ)/e, which are what goes on to importance
//! sampling,
//!
//! ```text
//! d_score_i = (c_i − w_i Σc)/e       d_budget = Σc/Σs   d_temperature = −Σ_i d_score_i z_i
//! ```
//!
//! # An example
//! ```
//! use restive::policy::soft_top_k::soft_top_k;
//!
//! let scores = [0.9, 0.1, 0.4, 0.4, -0.3];
//! let soft = soft_top_k(&scores, 2.0, 0.1);
//! assert!((soft.pull.iter().sum::<f64>() - 2.0).abs() < 1e-14);
//! assert!(soft.pull[0] > soft.pull[2] && soft.pull[2] == soft.pull[3]);
//!
//! let gradient = soft.pullback(&[1.0, 0.0, 0.0, 0.0, 0.0]); // raise the first pull
//! assert!(gradient.d_score[0] > 0.0 && gradient.d_score[2] < 0.0);
//! ```
//!
//! Many problems that choose from one table of indices, as all steps of all trajectories of an instance do, are
//! solved together by [`soft_top_k_many`], with one exponential per entry of the table. Scores that stand for masses, as in
//! the mean-field limit, are solved by [`Crowd`], and arms whose pulls cost differently by [`soft_knapsack`].

mod knapsack;
mod log_balance;
mod root;
mod shared;
mod slopes;
mod weighted;

pub use knapsack::{SoftKnapsack, SoftKnapsackCotangent, soft_knapsack};
pub use shared::{SoftTopKMany, TableCotangent, soft_top_k_many};
pub use weighted::{Crowd, CrowdCotangent, CrowdThreshold};

use crate::interrupt;
use root::{Root, solve};
use slopes::{Solved, pull_back, pull_back_log_odds};

/// The pulls of one problem.
pub struct SoftTopK<'a> {
    /// `[N]`, in [0, 1], summing to the budget (or to N, where the budget is larger)
    pub pull: Vec<f64>,
    /// τ: a score equal to it is pulled with probability one half; infinite for budgets of 0 or N and more
    pub threshold: f64,
    score: &'a [f64],
    temperature: f64,
    root: Root,
}

/// What a cotangent of the pulls becomes on their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftTopKCotangent {
    /// `[N]`, summing to zero
    pub d_score: Vec<f64>,
    /// by the budget K
    pub d_budget: f64,
    /// by the temperature e
    pub d_temperature: f64,
}

/// Softly pulls `budget` of the arms with these scores (`[N]`, finite).
///
/// The budget may be fractional; below 0 it counts as 0 and above N as N. The temperature is at least 0; 0 is the
/// strict limit, infinity pulls all alike, and neither has a gradient by the scores.
pub fn soft_top_k(score: &[f64], budget: f64, temperature: f64) -> SoftTopK<'_> {
    assert!(temperature >= 0.0, "temperature: at least 0, not {temperature}");
    assert!(!budget.is_nan(), "budget: a number");
    assert!(!score.iter().fold(false, |is, x| is | x.is_nan()), "scores: numbers");
    interrupt::check();
    let mut pull = vec![0.0; score.len()];
    let reference = root::reference(score, budget);
    root::exponentials(score, reference, temperature, &mut pull);
    let root = solve(score, budget, temperature, reference, None, &pull);
    root.pulls(score, temperature, &mut pull);
    SoftTopK { pull, threshold: root.threshold, score, temperature, root }
}

impl SoftTopK<'_> {
    /// `[N]`: the log-odds of the pulls, in which no digit of a pull near 1 is lost.
    pub fn log_odds(&self) -> Vec<f64> {
        let mut log_odds = vec![0.0; self.score.len()];
        self.root.log_odds(self.score, self.temperature, &mut log_odds);
        log_odds
    }

    /// What a cotangent of the log-odds (`[N]`) becomes on scores, budget and temperature.
    pub fn pullback_log_odds(&self, d_log_odds: &[f64]) -> SoftTopKCotangent {
        assert_eq!(d_log_odds.len(), self.pull.len(), "d_log_odds: [N]");
        let mut d_score = vec![0.0; d_log_odds.len()];
        let (d_budget, d_temperature) =
            pull_back_log_odds(&self.root, self.temperature, &self.log_odds(), d_log_odds, &mut d_score);
        SoftTopKCotangent { d_score, d_budget, d_temperature }
    }

    /// What a cotangent of the pulls (`[N]`) becomes on scores, budget and temperature.
    pub fn pullback(&self, d_pull: &[f64]) -> SoftTopKCotangent {
        assert_eq!(d_pull.len(), self.pull.len(), "d_pull: [N]");
        let mut d_score = vec![0.0; d_pull.len()];
        let &Self { score, temperature, ref root, ref pull, .. } = self;
        let solved = Solved { root, score, mass: None, pull, temperature };
        let (d_budget, d_temperature) = pull_back(solved, d_pull, &mut d_score);
        SoftTopKCotangent { d_score, d_budget, d_temperature }
    }
}
