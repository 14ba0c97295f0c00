//! In which order the trajectories of a study follow each other: a plan goes by the latest.

use restive_tables::by_name;
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
    /// Of the names of the trajectories of each instance, in their order; none where no instance has more than one.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a [String]> + Clone) -> Option<Self> {
        if names.clone().all(|names| names.len() <= 1) {
            return None;
        }
        let is_sorted = |names: &[String]| names.is_sorted_by(|a, b| by_name(a, b).is_le());
        let mut latest = names.clone().map(|names| names.last());
        let first = latest.next().flatten();
        Some(Self {
            by: if names.clone().all(is_sorted) { "name" } else { "column order" },
            latest: first.filter(|first| latest.all(|other| other == Some(first))).cloned(),
        })
    }
}
