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
    pub(super) fn new(m: usize) -> Self {
        Self { base: [0.0; 2], rise: [vec![0.0; m - 1], vec![0.0; m - 1]], span: 0.0 }
    }

    /// Takes up a reward, `[M,2]`.
    pub(super) fn take(&mut self, reward: ArrayView2<'_, f64>) {
        let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        let middle = low + 0.5 * (high - low);
        for (a, rise) in self.rise.iter_mut().enumerate() {
            let base = reward[[0, a]];
            self.base[a] = base - middle;
            rise.iter_mut().zip(reward.column(a).iter().skip(1)).for_each(|(rise, r)| *rise = r - base);
        }
        self.span = high - low;
    }
}
