//! Where the arms of an instance stand at the step that is planned.

use crate::latest::latest;
use restive::Trajectories;
use restive::evaluation::unknown_label;
use restive::instance::Observation;

/// Where arms stand.
pub(crate) struct Standing {
    /// the latest state or label of each arm, none where it was never seen
    latest: Vec<Option<u16>>,
    /// what stands for the label of arms that were never seen
    unknown: Option<u16>,
}

impl Standing {
    pub(crate) fn new(log: &Trajectories, observation: Observation) -> Self {
        let chain = observation.chain();
        let unknown = chain.map(|chain| unknown_label(log, chain));
        Self { latest: latest(log, observation), unknown }
    }

    /// What each arm is ranked by; none where there is nothing.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = Option<u16>> {
        self.latest.iter().map(|state| state.or(self.unknown))
    }

    /// Whether each arm was ever seen.
    pub(crate) fn is_seen(&self) -> impl Iterator<Item = bool> {
        self.latest.iter().map(Option::is_some)
    }
}
