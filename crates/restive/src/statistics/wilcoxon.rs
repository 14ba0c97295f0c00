//! The Wilcoxon signed-rank test of pairs.
//!
//! **What it is.** Differences are ranked by size, and W₊ is the sum of the ranks of the positive ones. Where the two methods do
//! not differ, every pattern of signs is equally likely. Differences of zero say nothing of a direction: they are dropped
//! before ranking, as Wilcoxon did; equal sizes share the mean of their ranks.
//!
//! **How it is computed.** Up to [`EXACT`] pairs without zeros or equal sizes exactly: the number of subsets of {1 … n} with sum w
//! is the coefficient of x^w in Π (1 + x^k), built up factor by factor, and p = 2·P(W ≤ min(W₊, W₋)), at most 1. All counts are
//! below 2⁵³ and so exact. Else by the normal approximation with mean n(n + 1)/4, variance n(n + 1)(2n + 1)/24 − Σ (t³ − t)/48 over
//! groups of t equal sizes, and a continuity correction of ½.

use super::{Undefined, differences, tails};

/// The most pairs for which all sign patterns are counted.
pub(super) const EXACT: usize = 50;

/// Whether the signs of differences may be chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// W₊, the sum of the ranks of positive differences
    pub positive: f64,
    /// W₋, the sum of the ranks of negative differences
    pub negative: f64,
    /// pairs that differ
    pub pairs: usize,
    /// pairs that do not, and were dropped
    pub zeros: usize,
    /// whether p counts all sign patterns, or is the normal approximation
    pub is_exact: bool,
    /// probability of sums as unequal where there is no difference
    pub p: f64,
}

/// The test of two methods on the same runs: at least two pairs, of which one differs.
pub fn wilcoxon(first: &[f64], second: &[f64]) -> Result<Wilcoxon, Undefined> {
    let mut sizes = differences(first, second, 2)?;
    let pairs = sizes.len();
    sizes.retain(|d| *d != 0.0);
    let n = sizes.len();
    if n == 0 {
        return Err(Undefined::NoSpread);
    }
    sizes.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut positive, mut negative, mut ties) = (0.0, 0.0, 0.0);
    let mut start = 0;
    for group in sizes.chunk_by(|a, b| a.abs() == b.abs()) {
        let count = group.len() as f64;
        let rank = start as f64 + 0.5 * (count + 1.0);
        let above = group.iter().filter(|d| **d > 0.0).count() as f64;
        positive += rank * above;
        negative += rank * (count - above);
        ties += count * (count * count - 1.0);
        start += group.len();
    }
    let zeros = pairs - n;
    let smaller = positive.min(negative);
    let is_exact = n <= EXACT && ties == 0.0 && zeros == 0;
    let p = if is_exact { exact(n, smaller as usize) } else { approximate(n as f64, ties, smaller) };
    Ok(Wilcoxon { positive, negative, pairs: n, zeros, is_exact, p })
}

/// 2·P(W ≤ w), at most 1.
fn exact(n: usize, w: usize) -> f64 {
    // subsets of {1 … k} by their sum, up to w
    let mut count = vec![0.0; w + 1];
    count[0] = 1.0;
    for k in 1..=n {
        for sum in (k..=w).rev() {
            count[sum] += count[sum - k];
        }
    }
    let below: f64 = count.iter().sum();
    (2.0 * below / 2f64.powi(n as i32)).min(1.0)
}

fn approximate(n: f64, ties: f64, smaller: f64) -> f64 {
    let mean = 0.25 * n * (n + 1.0);
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = (mean - smaller - 0.5).max(0.0);
    tails::normal(distance / variance.sqrt())
}
