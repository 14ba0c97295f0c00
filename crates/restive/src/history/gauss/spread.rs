//! How sure the posterior of one person is: mean and standard deviation of the four log-odds.

use super::mode::{mode, rows};
use super::nodes::nodes;
use super::{Gauss, Ready, seen};

/// Mean and standard deviation.
pub(in crate::history) type Normal = [f64; 2];

impl Ready {
    /// Of each (s, a), by counts and a prediction (`[2,2,2]`) and f.
    pub(in crate::history) fn log_odds(
        &self,
        n: &[f64],
        first: Option<f64>,
        prediction: &[f64],
    ) -> Option<[Normal; 4]> {
        let seen = seen(n, first, prediction, self.gauss.mean_first);
        let c = self.center(&seen);
        let mode = mode(&seen, &c, &self.precision)?;
        let (mean, second) = nodes(&seen, &c, &self.precision, &mode).moments(&mode);
        let covariance = std::array::from_fn(|i| std::array::from_fn(|j| second[i][j] - mean[i] * mean[j]));
        let (shift, sd) = (rows(&mean), deviations(&covariance));
        let found: [Normal; 4] = std::array::from_fn(|r| [c[r] + shift[r], sd[r]]);
        found.iter().flatten().all(|x| x.is_finite()).then_some(found)
    }
}

impl Gauss {
    /// Of each (s, a), how far people are from what is expected of them before anything is seen.
    pub(in crate::history) fn deviations(&self) -> [f64; 4] {
        deviations(&self.covariance)
    }
}

/// Standard deviations of u₀, u₀ + v₀, u₁, u₁ + v₁.
fn deviations(a: &[[f64; 4]; 4]) -> [f64; 4] {
    let called = |u: usize, v: usize| a[u][u] + 2.0 * a[u][v] + a[v][v];
    [a[0][0], called(0, 2), a[1][1], called(1, 3)].map(|variance| variance.max(0.0).sqrt())
}
