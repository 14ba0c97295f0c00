//! What a study of arms that are seen at pulls only knows of them.

use ndarray::ArrayView2;
use restive::Trajectories;
use restive::instance::{Chain, UNSEEN};
use restive_tables::Study;
use serde::Serialize;

/// What is known of arms that are seen at pulls only.
#[derive(Debug, Serialize)]
pub struct StudyLabels {
    /// whether chains of labels have no end
    pub is_infinite: bool,
    /// labels kept for each state
    pub chain: usize,
    /// pulls at a label that the table knows; the others were last seen longer ago than the chain remembers
    pub sightings: u64,
    /// most steps from a sighting to a label of it
    pub longest_gap: usize,
    /// whether there are no rewards but those of the states that pulls saw
    pub has_derived_rewards: bool,
}

impl StudyLabels {
    pub(super) fn new(study: &Study, chain: Chain) -> Self {
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
        let has_derived_rewards = study.instances.iter().all(|instance| {
            are_derived(&instance.trajectories, study.settings.reward.view(), chain.beliefs())
        });
        Self { is_infinite, chain: chain.beliefs(), sightings, longest_gap, has_derived_rewards }
    }
}

/// Whether the rewards of a log are R(x, 1) of the states x that pulls saw, and unknown elsewhere.
fn are_derived(log: &Trajectories, reward: ArrayView2<'_, f64>, chain: usize) -> bool {
    let Some(logged) = log.reward() else { return false };
    let (state, action) = (log.state(), log.action());
    logged.indexed_iter().all(|((j, t, i), &found)| {
        // what a pull saw is what the next label begins with
        let next = (action[[j, t, i]] == 1 && t + 1 < log.steps()).then(|| state[[j, t + 1, i]]);
        match next.filter(|label| *label != UNSEEN) {
            Some(label) => found == reward[[usize::from(label) / chain, 1]],
            None => found.is_nan(),
        }
    })
}
