//! Where simulated runs and the fluid begin.
//!
//! A programme is judged from where it stood when its log began, as published, or from where its arms stand today, which is where
//! whatever is decided now will begin. The first states are a sample, one row for each trajectory, and are drawn anew with the
//! trajectories. The latest states are one row and a fact: resampled trajectories leave them as they are, and resampled arms
//! carry their own.

use super::{first_states, latest_states};
use crate::instance::{Observation, Trajectories};
use crate::simulation::Initial;

/// Where arms begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// in the [first states](first_states) of the log, a row for each trajectory
    #[default]
    First,
    /// in the [latest states](latest_states) that are known
    Latest,
    /// in any state, all equally likely
    Uniform,
}

impl Start {
    /// The starts that a log knows.
    pub fn initial(self, log: &Trajectories, observation: Observation) -> Initial {
        match self {
            Start::First => first_states(log, observation),
            Start::Latest => latest_states(log, observation),
            Start::Uniform => Initial::Uniform,
        }
    }
}
