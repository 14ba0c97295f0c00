//! The value of policies by simulation on given transitions.
//!
//! Policies are rolled forward on the same noise ([`simulation`](crate::simulation)), from the states in which the logged
//! trajectories began or from others ([`Start`](super::Start)). The value of every run is kept, so that
//! two policies compare run by run. The interval of [`Simulated::estimate`] covers the noise of the runs and takes the
//! transitions as given: on the true transitions that is all there is to cover. Where they were estimated, the
//! [bootstrap](super::bootstrap()) adds what their estimation leaves open.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Simulated, first_states};
//! use restive::policy::Policy;
//! use restive::simulation::Setting;
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 20, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let truth = instance.truth().unwrap();
//! let setting =
//!     Setting { motion: truth.view().into(), reward: instance.reward().into(), discount: 0.99, budget: 2, horizon: 9 };
//! let start = first_states(instance.trajectories(), instance.observation());
//! let [random, passive] = [Policy::Random, Policy::NoAction].map(|p| Simulated::new(&setting, &start, &p, 400, 1));
//! assert!(random.gain_over(&passive).low > 0.0);
//! # Ok::<(), restive::Error>(())
//! ```

use super::estimate::{Covers, Estimate, difference};
use crate::policy::Policy;
use crate::simulation::{Initial, Setting, values};
use ndarray::Array1;

/// The simulated value of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// `[runs]`: Σ_t γ^t Σ_i R(s_ti, a_ti) of each run
    pub values: Array1<f64>,
}

impl Simulated {
    /// Rolls a policy forward `runs` times; equal seeds meet equal noise.
    pub fn new(setting: &Setting<'_>, initial: &Initial, policy: &Policy, runs: usize, seed: u64) -> Self {
        Self { values: values(setting, initial, policy, runs, seed) }
    }

    /// The mean value, with an interval for the noise of the runs.
    pub fn estimate(&self) -> Estimate {
        Estimate::mean(self.slice(), Covers::Rollouts)
    }

    /// The mean difference to another policy that met the same noise.
    pub fn gain_over(&self, other: &Simulated) -> Estimate {
        difference(self.slice(), other.slice())
    }

    fn slice(&self) -> &[f64] {
        self.values.as_slice().expect("contiguous")
    }
}
