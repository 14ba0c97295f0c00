//! Rewards as a belief meets them.

use ndarray::ArrayView2;

/// R(0,a) and R(k,a) − R(0,a), less their common mid-range: a constant added to every reward cannot change an index, and so it
/// does not cost digits either. The expected reward of a belief is base + Σ b(k)·rise(k).
#[derive(Debug, Clone)]
pub(super) struct Rewards {
    pub(super) base: [f64; 2],
    /// for k = 1 … M−1
    pub(super) rise: [Vec<f64>; 2],
    /// the largest difference between rewards
    pub(super) span: f64,
}

impl Rewards {
    pub(super) fn new(reward: ArrayView2<'_, f64>) -> Self {
        let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        let middle = low + 0.5 * (high - low);
        let rise = |a: usize| reward.column(a).iter().skip(1).map(|r| r - reward[[0, a]]).collect();
        Self { base: [0, 1].map(|a| reward[[0, a]] - middle), rise: [rise(0), rise(1)], span: high - low }
    }
}
