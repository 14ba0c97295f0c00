//! Strict top-k: pull the K arms with the highest scores.
//!
//! Arms whose scores tie for the last places share them by lot. The lot is drawn from a seed, so that a plan can be
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

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Who is pulled, and how likely that was.
#[derive(Debug, Clone, PartialEq)]
pub struct StrictTopK {
    /// `[N]`: whether each arm is pulled; exactly min(K, N) are
    pub pull: Vec<bool>,
    /// `[N]`: the probability, over the lots for ties, that each arm is pulled
    pub inclusion: Vec<f64>,
    /// the score of the last arm pulled; −∞ where all are pulled, +∞ where none is
    pub threshold: f64,
}

/// Pulls the `budget` arms with the highest scores (`[N]`, not NaN); ties are broken by a lot drawn from `seed`.
pub fn strict_top_k(score: &[f64], budget: usize, seed: u64) -> StrictTopK {
    assert!(!score.iter().any(|x| x.is_nan()), "scores: numbers");
    let n = score.len();
    if budget == 0 || budget >= n {
        let all = budget > 0;
        let threshold = if all { f64::NEG_INFINITY } else { f64::INFINITY };
        return StrictTopK { pull: vec![all; n], inclusion: vec![f64::from(all); n], threshold };
    }
    let mut order = score.to_vec();
    // a < b rather than a total order, so that −0 and 0 tie
    let descending = |a: &f64, b: &f64| b.partial_cmp(a).expect("no NaN");
    let threshold = *order.select_nth_unstable_by(budget - 1, descending).1;
    let above = score.iter().filter(|x| **x > threshold).count();
    let tied: Vec<usize> = (0..n).filter(|&i| score[i] == threshold).collect();
    let places = budget - above;
    let share = places as f64 / tied.len() as f64;
    let mut pull: Vec<bool> = score.iter().map(|x| *x > threshold).collect();
    let inclusion = score.iter().map(|x| {
        if *x > threshold {
            1.0
        } else if *x == threshold {
            share
        } else {
            0.0
        }
    });
    let inclusion = inclusion.collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for k in index::sample(&mut random, tied.len(), places) {
        pull[tied[k]] = true;
    }
    StrictTopK { pull, inclusion, threshold }
}
