//! Strict top-k in groups: each group has a budget of its own, and some arms may not be pulled at all.
//!
//! ```
//! use restive::policy::grouped::grouped_top_k;
//!
//! let score = [0.9, 0.8, 0.7, 0.1, 0.2];
//! let (group, is_eligible) = ([0, 0, 0, 1, 1], [false, true, true, true, true]);
//! let plan = grouped_top_k(&score, &group, &is_eligible, &[1, 3], 42);
//! assert_eq!(plan.pull, [false, true, false, true, true]);
//! assert_eq!(plan.threshold, [0.8, f64::NEG_INFINITY]);
//! ```

use super::strict::strict_top_k_by;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Who is pulled, and how likely that was.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedTopK {
    /// `[N]`: whether each arm is pulled
    pub pull: Vec<bool>,
    /// `[N]`: the probability, over the tie-break, that each arm is pulled
    pub inclusion: Vec<f64>,
    /// `[G]`: the score of the last arm pulled of each group; −∞ where all that may be are pulled, +∞ where none is
    pub threshold: Vec<f64>,
}

/// Pulls, of every group (`[N]`, below G), the arms with the highest scores (`[N]`, not NaN) among the eligible (`[N]`), as many as its
/// budget (`[G]`); ties are broken at random, by `seed`. One group in which all are eligible is
/// [`strict_top_k`](super::strict::strict_top_k).
pub fn grouped_top_k(
    score: &[f64],
    group: &[usize],
    is_eligible: &[bool],
    budget: &[usize],
    seed: u64,
) -> GroupedTopK {
    let n = score.len();
    assert!(group.len() == n && is_eligible.len() == n, "group, is_eligible: [N], as the scores");
    let mut members = vec![Vec::new(); budget.len()];
    (0..n).filter(|&i| is_eligible[i]).for_each(|i| members[group[i]].push(i));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut plan = GroupedTopK { pull: vec![false; n], inclusion: vec![0.0; n], threshold: Vec::new() };
    for (members, &budget) in members.iter().zip(budget) {
        let score: Vec<f64> = members.iter().map(|&i| score[i]).collect();
        let found = strict_top_k_by(&score, budget, &mut random);
        for (k, &i) in members.iter().enumerate() {
            (plan.pull[i], plan.inclusion[i]) = (found.pull[k], found.inclusion[k]);
        }
        plan.threshold.push(found.threshold);
    }
    plan
}
