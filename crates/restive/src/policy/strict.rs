//! Strict top-k: pull the K arms with the highest scores.
//!
//! Arms whose scores tie for the last places share them by a random tie-break. It is drawn from a seed, so that a plan can be
//! repeated, and every arm's *inclusion probability* is exact: 1 above the tied score, 0 below, and (places left)/(arms
//! tied) at it.
//!
//! ```
//! use restive::policy::strict::strict_top_k;
//!
//! let plan = strict_top_k(&[0.7, 0.2, 0.2, 0.9, 0.2], 3, 42);
//! assert_eq!(plan.pull.iter().filter(|pulled| **pulled).count(), 3);
//! assert_eq!(plan.inclusion, [1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, 1.0 / 3.0]);
//! ```

mod knapsack;

pub use knapsack::strict_knapsack;

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Who is pulled, and how likely that was.
#[derive(Debug, Clone, PartialEq)]
pub struct StrictTopK {
    /// `[N]`: whether each arm is pulled; without costs exactly min(K, N) are
    pub pull: Vec<bool>,
    /// `[N]`: the probability, over the tie-break, that each arm is pulled
    pub inclusion: Vec<f64>,
    /// the score of the last arm pulled; −∞ where all are pulled, +∞ where none is
    pub threshold: f64,
}

/// Pulls the `budget` arms with the highest scores (`[N]`, not NaN); ties are broken at random, by `seed`.
pub fn strict_top_k(score: &[f64], budget: usize, seed: u64) -> StrictTopK {
    strict_top_k_by(score, budget, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
}

/// The same with a tie-break that goes on.
pub(super) fn strict_top_k_by(score: &[f64], budget: usize, random: &mut Xoshiro256PlusPlus) -> StrictTopK {
    assert!(!score.iter().any(|x| x.is_nan()), "scores: numbers");
    let n = score.len();
    if budget == 0 || budget >= n {
        let is_everybody = budget > 0;
        let threshold = if is_everybody { f64::NEG_INFINITY } else { f64::INFINITY };
        return StrictTopK {
            pull: vec![is_everybody; n],
            inclusion: vec![f64::from(is_everybody); n],
            threshold,
        };
    }
    let mut cut = Cut::default();
    cut.find(score, budget);
    let (mut pull, mut inclusion) = (vec![false; n], vec![0.0; n]);
    cut.inclusion(score, &mut inclusion);
    cut.draw(score, random, &mut pull);
    StrictTopK { pull, inclusion, threshold: cut.threshold }
}

/// Where the K highest scores end, in memory that can be reused.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// the score of the last arm pulled
    threshold: f64,
    /// the arms tied at it, and how many of them are pulled
    tied: Vec<usize>,
    places: usize,
    order: Vec<f64>,
}

impl Cut {
    /// Finds the cut for a budget of at most N.
    pub(super) fn find(&mut self, score: &[f64], budget: usize) {
        self.tied.clear();
        (self.threshold, self.places) = (f64::INFINITY, 0);
        if budget == 0 {
            return;
        }
        self.order.clear();
        self.order.extend_from_slice(score);
        // a < b rather than a total order, so that −0 and 0 tie
        let descending = |a: &f64, b: &f64| b.partial_cmp(a).expect("scores are numbers");
        self.threshold = *self.order.select_nth_unstable_by(budget - 1, descending).1;
        let mut above = 0;
        for (i, x) in score.iter().enumerate() {
            above += usize::from(*x > self.threshold);
            if *x == self.threshold {
                self.tied.push(i);
            }
        }
        self.places = budget - above;
    }

    /// The probability that each arm is pulled.
    pub(super) fn inclusion(&self, score: &[f64], inclusion: &mut [f64]) {
        inclusion.iter_mut().zip(score).for_each(|(p, x)| *p = f64::from(*x > self.threshold));
        let share = self.places as f64 / self.tied.len() as f64;
        self.tied.iter().for_each(|&i| inclusion[i] = share);
    }

    /// Draws who is pulled; a tie-break is needed only where not all tied arms have a place.
    pub(super) fn draw(&self, score: &[f64], random: &mut Xoshiro256PlusPlus, pull: &mut [bool]) {
        pull.iter_mut().zip(score).for_each(|(pull, x)| *pull = *x > self.threshold);
        if self.places == self.tied.len() {
            self.tied.iter().for_each(|&i| pull[i] = true);
        } else {
            let chosen = index::sample(random, self.tied.len(), self.places);
            chosen.into_iter().for_each(|k| pull[self.tied[k]] = true);
        }
    }
}
