//! What a study of arms that are seen at pulls only knows of them.

use restive::instance::{Chain, UNSEEN};
use restive_tables::Study;
use serde::Serialize;

/// What is known of arms that are seen at pulls only.
#[derive(Serialize)]
pub(crate) struct Labels {
    pub(crate) is_infinite: bool,
    /// labels kept for each state
    pub(crate) chain: usize,
    /// pulls at a known label: what the predictive loss is made of
    pub(crate) sightings: u64,
    /// most steps from a sighting to a label of it
    pub(crate) longest_gap: usize,
}

impl Labels {
    pub(crate) fn new(study: &Study, chain: Chain) -> Self {
        let (mut sightings, mut longest_gap) = (0, 0);
        for instance in &study.instances {
            let log = &instance.trajectories;
            for (&label, &action) in log.state().iter().zip(log.action()) {
                if label != UNSEEN {
                    sightings += u64::from(action == 1);
                    longest_gap = longest_gap.max(usize::from(label) % chain.beliefs() + 1);
                }
            }
        }
        let is_infinite = matches!(chain, Chain::Infinite { .. });
        Self { is_infinite, chain: chain.beliefs(), sightings, longest_gap }
    }
}
