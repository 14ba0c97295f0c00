//! Predictive loss: the average negative log-likelihood of the logged transitions.
//!
//! # What it is
//! With n(i, s, a, s′) the [counts](crate::instance::Counts) of a log of J trajectories and P the transitions held against
//! them,
//!
//! ```text
//! per trajectory = −Σ n ln P / J          per transition = −Σ n ln P / Σ n
//! ```
//!
//! The first is the published loss: it grows with arms and steps. The second compares across sizes: ln M is knowing
//! nothing. A transition that was logged and has probability 0 makes both infinite, as it should.
//!
//! # Its pullback
//! d P = −n/(J P), projected row by row onto directions that keep the sum. For P behind a softmax, −n/P and its projection
//! give the same gradient by the logits.
//!
//! # An example
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::likelihood;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 20, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let counts = instance.trajectories().counts();
//! let coin = ndarray::Array4::from_elem((10, 2, 2, 2), 0.5);
//! let blind = likelihood(&counts, coin.view());
//! assert!((blind.per_transition - 2f64.ln()).abs() < 1e-12);
//! assert!((blind.per_trajectory - 90.0 * 2f64.ln()).abs() < 1e-10); // 9 steps of 10 arms
//! let informed = likelihood(&counts, instance.truth().unwrap().view());
//! assert!(informed.per_transition < blind.per_transition);
//! # Ok::<(), restive::Error>(())
//! ```

use crate::instance::Counts;
use ndarray::{Array4, ArrayView4};

/// The predictive loss of some transitions.
pub struct Likelihood<'a> {
    /// −Σ n ln P over the number of trajectories: the published loss
    pub per_trajectory: f64,
    /// −Σ n ln P over the number of transitions; NaN where none was seen
    pub per_transition: f64,
    counts: &'a Counts,
    transition: ArrayView4<'a, f64>,
}

/// What a cotangent of a predictive loss becomes on the transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct LossCotangent {
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
}

/// The loss of transitions (`[N,M,2,M]`) on the counts of a log.
pub fn likelihood<'a>(counts: &'a Counts, transition: ArrayView4<'a, f64>) -> Likelihood<'a> {
    assert_eq!(transition.shape(), counts.view().shape(), "transition: [N,M,2,M], as the counts");
    let (mut loss, mut seen) = (0.0, 0.0);
    ndarray::Zip::from(counts.view()).and(transition).for_each(|&n, &p| {
        if n > 0.0 {
            loss -= n * p.ln();
            seen += n;
        }
    });
    let per_trajectory = loss / counts.trajectories() as f64;
    Likelihood { per_trajectory, per_transition: loss / seen, counts, transition }
}

impl Likelihood<'_> {
    /// What a cotangent of the loss per trajectory becomes on the transitions.
    pub fn pullback(&self, d_per_trajectory: f64) -> LossCotangent {
        let factor = -d_per_trajectory / self.counts.trajectories() as f64;
        let mut d_transition = Array4::zeros(self.transition.raw_dim());
        let cells = ndarray::Zip::from(&mut d_transition).and(self.counts.view()).and(self.transition);
        cells.for_each(|d, &n, &p| {
            if n > 0.0 {
                *d = factor * n / p;
            }
        });
        let m = self.transition.shape()[3] as f64;
        for mut row in d_transition.rows_mut() {
            let mean = row.sum() / m;
            row -= mean;
        }
        LossCotangent { d_transition }
    }
}
