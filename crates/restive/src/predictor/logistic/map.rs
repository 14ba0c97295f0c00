//! One state of a logistic model as an affine map, from the features to the log-odds of its two rows.

use super::Logistic;
use ndarray::{Array1, Array2};

impl Logistic {
    /// Weight `[F,2(M−1)]` and bias `[2(M−1)]` of the log-odds against state 0: left alone, then pulled.
    pub(in crate::predictor) fn map(&self, state: usize) -> (Array2<f64>, Array1<f64>) {
        let (f, q) = (self.features, self.states - 1);
        let at = self.offsets();
        let own = self.is_by_state().then_some(at.common + q + state * f * q);
        let (mut weight, mut bias) = (Array2::zeros((f, 2 * q)), Array1::zeros(2 * q));
        for k in 0..q {
            let alone = self.params[at.bias + state * q + k];
            let common = if self.is_by_state() { self.params[at.common + k] } else { 0.0 };
            bias[k] = alone;
            bias[q + k] = alone + self.params[at.level + state * q + k] + common;
            for j in 0..f {
                let alone = self.params[(state * f + j) * q + k];
                let by_state = own.map_or(0.0, |own| self.params[own + j * q + k]);
                weight[[j, k]] = alone;
                weight[[j, q + k]] = alone + self.params[at.weight + j * q + k] + by_state;
            }
        }
        (weight, bias)
    }
}
