//! Soft knapsack: arms whose pulls cost differently, softly enough to have a gradient.
//!
//! # What it is
//! Pulling arm i costs c_i > 0, and the budget K is what may be spent. Arms compete by their score per cost,
//!
//! ```text
//! pull_i = σ((x_i/c_i − τ)/e),     Σ_i c_i pull_i = K
//! ```
//!
//! the entropic relaxation of the fractional knapsack, which emerges as e → 0. Costs of 1 give the soft top-k. This is the problem
//! of a [`Crowd`], with costs as masses and scores per cost as scores, and is solved by it.
//!
//! # Its pullback
//! With y = x/c, s = pull(1 − pull), S = Σ c s and, for a cotangent v of the pulls, g = Σ v s/S:
//!
//! ```text
//! d_y = s (v − c g)/e     d_score = d_y/c     d_cost = −pull·g − d_y·y/c     d_budget = g     d_temperature = −Σ d_y z
//! ```
//!
//! and for a cotangent v of the log-odds z = (y − τ)/e the same with g = Σv/S and d_y = (v − c s g)/e.
//!
//! ```
//! use restive::policy::soft_top_k::soft_knapsack;
//!
//! let (scores, costs) = ([0.9, 0.8, 0.4], [1.0, 2.0, 0.5]);
//! let soft = soft_knapsack(&scores, &costs, 1.5, 0.1);
//! let spent: f64 = soft.pull.iter().zip(&costs).map(|(p, c)| p * c).sum();
//! assert!((spent - 1.5).abs() < 1e-14);
//! let d = soft.pullback(&[1.0, 0.0, 0.0]);
//! assert!(d.d_score[0] > 0.0 && d.d_cost[0] < 0.0); // what costs more is pulled less
//! ```

use super::weighted::{Crowd, CrowdThreshold};
use crate::interrupt;
use crate::policy::odds::log_sigmoid;

/// The pulls of one problem.
pub struct SoftKnapsack<'a> {
    /// `[N]`, in [0, 1]; times the costs they sum to the budget (or to all costs, where the budget is larger)
    pub pull: Vec<f64>,
    /// τ: a score per cost equal to it is pulled with probability one half; infinite where nobody or everybody is pulled
    pub threshold: f64,
    cost: &'a [f64],
    /// x/c, `[N]`
    ratio: Vec<f64>,
    temperature: f64,
    crowd: Crowd,
    solved: CrowdThreshold,
}

/// What a cotangent of the pulls becomes on their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftKnapsackCotangent {
    /// `[N]`
    pub d_score: Vec<f64>,
    /// `[N]`
    pub d_cost: Vec<f64>,
    /// by the budget K
    pub d_budget: f64,
    /// by the temperature e
    pub d_temperature: f64,
}

/// Softly spends `budget` on the arms with these scores (`[N]`, finite) and costs (`[N]`, above 0).
///
/// A budget below 0 counts as 0, and one above all costs as all of them. The temperature is at least 0, in the unit of scores per
/// cost; 0 and infinity have no gradient by scores.
pub fn soft_knapsack<'a>(score: &[f64], cost: &'a [f64], budget: f64, temperature: f64) -> SoftKnapsack<'a> {
    assert_eq!(score.len(), cost.len(), "cost: [N]");
    assert!(cost.iter().all(|c| *c > 0.0 && c.is_finite()), "costs: above 0");
    assert!(!budget.is_nan(), "budget: a number");
    assert!(!score.iter().any(|x| x.is_nan()), "scores: numbers");
    interrupt::check();
    let ratio: Vec<f64> = score.iter().zip(cost).map(|(x, c)| x / c).collect();
    let (crowd, mut pull) = (Crowd::new(&ratio, temperature), vec![0.0; ratio.len()]);
    let solved = crowd.solve(cost, budget, &mut pull);
    SoftKnapsack { pull, threshold: solved.threshold, cost, ratio, temperature, crowd, solved }
}

impl SoftKnapsack<'_> {
    /// `[N]`: the log-odds of the pulls, in which no digit of a pull near 1 is lost.
    pub fn log_odds(&self) -> Vec<f64> {
        let mut log_odds = vec![0.0; self.ratio.len()];
        self.solved.log_odds(&self.ratio, self.temperature, &mut log_odds);
        log_odds
    }

    /// What a cotangent of the pulls (`[N]`) becomes on scores, costs, budget and temperature.
    pub fn pullback(&self, d_pull: &[f64]) -> SoftKnapsackCotangent {
        let mut d_ratio = vec![0.0; d_pull.len()];
        let d = self.crowd.pullback_into(&self.solved, self.cost, &self.pull, d_pull, &mut d_ratio);
        self.finish(d_ratio, d.d_budget, d.d_temperature)
    }

    /// What a cotangent of the log-odds (`[N]`) becomes on scores, costs, budget and temperature.
    pub fn pullback_log_odds(&self, d_log_odds: &[f64]) -> SoftKnapsackCotangent {
        assert_eq!(d_log_odds.len(), self.pull.len(), "d_log_odds: [N]");
        let log_odds = self.log_odds();
        // pulls that are fixed have infinite log-odds, and no slope
        let log_slope =
            |z: f64| if z.is_finite() { log_sigmoid(z) + log_sigmoid(-z) } else { f64::NEG_INFINITY };
        let top = log_odds.iter().fold(f64::NEG_INFINITY, |top, z| top.max(log_slope(*z)));
        let weight = |i: usize| self.cost[i] * (log_slope(log_odds[i]) - top).exp();
        let free = || (0..log_odds.len()).filter(|i| log_odds[*i].is_finite());
        let (slopes, sum) = free().fold((0.0, 0.0), |(s, v), i| (s + weight(i), v + d_log_odds[i]));
        let mut d_ratio = vec![0.0; log_odds.len()];
        if sum == 0.0 && free().all(|i| d_log_odds[i] == 0.0) {
            return self.finish(d_ratio, 0.0, 0.0);
        }
        let mut d_temperature = 0.0;
        if self.solved.moves() {
            for i in free() {
                d_ratio[i] = (d_log_odds[i] - weight(i) / slopes * sum) / self.temperature;
                d_temperature -= d_ratio[i] * log_odds[i];
            }
        }
        let d_budget = if sum == 0.0 { 0.0 } else { sum / slopes * (-top).exp() };
        self.finish(d_ratio, d_budget, d_temperature)
    }

    /// From scores per cost to scores and costs.
    fn finish(&self, mut d_score: Vec<f64>, d_budget: f64, d_temperature: f64) -> SoftKnapsackCotangent {
        let mut d_cost = vec![0.0; d_score.len()];
        for (i, (d, d_cost)) in d_score.iter_mut().zip(&mut d_cost).enumerate() {
            *d /= self.cost[i];
            *d_cost = -self.pull[i] * d_budget - *d * self.ratio[i];
        }
        SoftKnapsackCotangent { d_score, d_cost, d_budget, d_temperature }
    }
}
