//! The predictive loss: how surprising the logged transitions are.
//!
//! **What it is.** L = −(1/J)·Σ n(i, s, a, s′)·ln P(i, s, a, s′), the negative log-likelihood of an instance's transitions,
//! summed over arms and steps and averaged over its J trajectories. The counts n are all it needs to know of them.
//!
//! **Its pullback.** d_P = −n/(J·P)·d_L. The entries are treated as free; what is normal to the simplex falls away in
//! the pullback of a predictor's softmax.
//!
//! ```
//! use restive::training::likelihood::loss;
//! # use restive::{Trajectories, instance::{Logged, NO_ACTION}};
//! # use ndarray::{array, Array4};
//!
//! // one arm, one trajectory: from state 0 to state 1 to state 0, never pulled
//! let logged = Logged {
//!     state: array![[[0], [1], [0]]],
//!     action: array![[[0], [0], [NO_ACTION]]],
//!     propensity: None,
//!     reward: None,
//! };
//! let counts = Trajectories::new(logged, 2)?.counts();
//! let coin = Array4::from_elem((1, 2, 2, 2), 0.5);
//! assert_eq!(loss(coin.view(), &counts).value, 2.0 * 2f64.ln());
//! # Ok::<(), restive::Error>(())
//! ```

use crate::instance::Counts;
use ndarray::{Array4, ArrayView4, Zip};

/// The loss of an instance.
pub struct Loss<'a> {
    /// L
    pub value: f64,
    transition: ArrayView4<'a, f64>,
    counts: &'a Counts,
}

/// The loss of predicted transitions `[N,M,2,M]`, given what was counted.
pub fn loss<'a>(transition: ArrayView4<'a, f64>, counts: &'a Counts) -> Loss<'a> {
    assert_eq!(transition.shape(), counts.view().shape(), "transition: [N,M,2,M], as the counts have");
    let mut sum = 0.0;
    for (p, n) in transition.iter().zip(counts.view()) {
        // what was never seen costs nothing, whatever its probability
        if *n > 0.0 {
            sum += n * p.ln();
        }
    }
    Loss { value: -sum / counts.trajectories() as f64, transition, counts }
}

impl Loss<'_> {
    /// d_transition `[N,M,2,M]`
    pub fn pullback(&self, d_value: f64) -> Array4<f64> {
        let scale = -d_value / self.counts.trajectories() as f64;
        Zip::from(self.transition)
            .and(self.counts.view())
            .map_collect(|p, n| if *n > 0.0 { scale * n / p } else { 0.0 })
    }
}
