//! Where the arms of an instance stand at the step that is planned.

use super::row::LastSeen;
use crate::latest::latest;
use restive::Trajectories;
use restive::evaluation::unknown_label;
use restive::instance::{Chain, Observation};

/// Where arms stand.
pub(crate) struct Standing {
    /// the latest state or label of each arm, none where it was never seen
    latest: Vec<Option<u16>>,
    /// what stands for the label of arms that were never seen
    unknown: Option<u16>,
    chain: Option<Chain>,
}

impl Standing {
    pub(crate) fn new(log: &Trajectories, observation: Observation) -> Self {
        let chain = observation.chain();
        let unknown = chain.map(|chain| unknown_label(log, chain));
        Self { latest: latest(log, observation), unknown, chain }
    }

    /// What each arm is ranked by; none where there is nothing.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = Option<u16>> {
        self.latest.iter().map(|state| state.or(self.unknown))
    }

    pub(crate) fn never_observed(&self) -> usize {
        self.latest.iter().filter(|state| state.is_none()).count()
    }

    /// What is told of an arm's place.
    pub(crate) fn last_seen(&self, arm: usize, state: u16) -> LastSeen {
        LastSeen::new(state, self.latest[arm].is_some(), self.chain)
    }
}
