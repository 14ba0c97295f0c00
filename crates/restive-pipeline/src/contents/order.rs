//! In which order the trajectories of a study follow each other: a plan goes by the latest.

use restive_tables::{Study, StudyInstance, by_name};
use serde::Serialize;

/// The order of trajectories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrajectoryOrder {
    /// what it follows: the names, or the column `order` where that says otherwise
    pub by: &'static str,
    /// the latest one, where all instances have the same
    pub latest: Option<String>,
}

impl TrajectoryOrder {
    /// None where no instance has more than one trajectory.
    pub(super) fn new(study: &Study) -> Option<Self> {
        let instances = &study.instances;
        if instances.iter().all(|instance| instance.trajectory_names.len() <= 1) {
            return None;
        }
        let is_sorted =
            |instance: &StudyInstance| instance.trajectory_names.is_sorted_by(|a, b| by_name(a, b).is_le());
        let mut latest = instances.iter().map(|instance| instance.trajectory_names.last());
        let first = latest.next().flatten();
        Some(Self {
            by: if instances.iter().all(is_sorted) { "name" } else { "column order" },
            latest: first.filter(|first| latest.all(|other| other == Some(first))).cloned(),
        })
    }
}
