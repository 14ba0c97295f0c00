//! The predictive loss: the average negative log-likelihood of what was logged.

use ndarray::{ArrayView3, ArrayView4};
use restive::Instance;
use restive::evaluation::Record;
use serde::Serialize;

/// Of transitions, or of sightings where states are seen at pulls only.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// the mean over the instances, as published
    pub per_trajectory: f64,
    /// over all transitions of all instances
    pub per_transition: f64,
    /// how many there were
    #[serde(skip)]
    pub transitions: f64,
}

/// The loss of some instances under predictions of their transitions, `[N,M,2,M]`.
pub fn loss(instances: &[Instance], predictions: &[ArrayView4<'_, f64>]) -> Loss {
    let (mut per_trajectory, mut total, mut transitions) = (0.0, 0.0, 0.0);
    for (instance, prediction) in instances.iter().zip(predictions) {
        let record = Record::new(instance);
        let own = record.loss(*prediction).per_trajectory;
        per_trajectory += own / instances.len() as f64;
        total += own * instance.trajectories().trajectories() as f64;
        transitions += record.total();
    }
    Loss { per_trajectory, per_transition: total / transitions, transitions }
}

/// −Σ n·ln P of counts `[M,2,M]`.
pub(crate) fn minus_log(counts: ArrayView3<'_, f64>, p: ArrayView3<'_, f64>) -> f64 {
    -counts.iter().zip(p).filter(|(n, _)| **n > 0.0).map(|(n, p)| n * p.ln()).sum::<f64>()
}
