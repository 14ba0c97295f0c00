//! Declarations that shape the evidence of a study: availability, clusters and pulls per person.
//!
//! All three require every arm in memory. [`unsupported_in_passes`] names the one that streams, partitions and engines refuse.

use super::settings::assignment_name;
use super::{StudyInstance, StudySettings};
use crate::show::quoted_name;
use restive::instance::Assignment;
use std::collections::HashMap;

/// Declaration that requires every arm in memory, as messages call it; `None` if a study can be read in passes.
///
/// `has_available`: whether the trajectories have a column `available`.
pub fn unsupported_in_passes(settings: &StudySettings, has_available: bool) -> Option<String> {
    let assignment =
        || (settings.assignment == Assignment::PerPerson).then(|| assignment_name(settings.assignment));
    match &settings.cluster {
        _ if has_available => Some("a column available in the trajectories".into()),
        Some(column) => Some(format!("cluster = {} in study.toml", quoted_name(column))),
        None => assignment().map(|name| format!("assignment = \"{name}\" in study.toml")),
    }
}

/// Number of the cluster of each arm, by instance: equal names have equal numbers in all instances. `None` if arms have no clusters.
pub(super) fn cluster_numbers(instances: &[StudyInstance]) -> Option<Vec<Vec<u32>>> {
    let named: Vec<&Vec<String>> =
        instances.iter().map(|instance| instance.clusters.as_ref()).collect::<Option<_>>()?;
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for name in named.iter().copied().flatten() {
        let next = numbers.len() as u32;
        numbers.entry(name).or_insert(next);
    }
    let of_instance = |names: &Vec<String>| names.iter().map(|name| numbers[name.as_str()]).collect();
    Some(named.into_iter().map(of_instance).collect())
}
