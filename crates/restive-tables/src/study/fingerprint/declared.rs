//! Declarations of a study in its fingerprint: pulls per person, clusters and availability.
//!
//! Each is appended behind everything else, and only if it is there, so that studies without them keep their fingerprints. The hash
//! of a cluster covers instance, arm and name; the hash of availability covers instance, arm and the steps of each trajectory at
//! which the arm could not be pulled. Sums of both are taken modulo 2¹²⁸. The padding of an array does not matter.

use super::Digest;
use crate::study::{Study, StudyInstance};
use restive::instance::Assignment;
use xxhash_rust::xxh3::Xxh3;

/// Adds the declarations of a study; nothing if there are none.
pub(super) fn add(digest: &mut Digest, study: &Study) {
    if study.settings.assignment == Assignment::PerPerson {
        digest.text("assignment per-person");
    }
    if let Some(column) = &study.settings.cluster {
        digest.text("cluster");
        digest.text(column);
        digest.0.update(&sum(study, cluster).to_le_bytes());
    }
    if study.instances.iter().any(|instance| instance.trajectories.available().is_some()) {
        digest.text("available");
        digest.0.update(&sum(study, unavailable).to_le_bytes());
    }
}

/// Sum of the hashes of all arms for which there is something to add.
fn sum(study: &Study, add: fn(&mut Digest, &StudyInstance, usize) -> bool) -> u128 {
    let mut sum = 0u128;
    for instance in &study.instances {
        for (i, arm) in instance.arms.iter().enumerate() {
            let mut digest = Digest(Xxh3::new());
            digest.text(&instance.name);
            digest.text(arm);
            if add(&mut digest, instance, i) {
                sum = sum.wrapping_add(digest.0.digest128());
            }
        }
    }
    sum
}

/// Adds the cluster of an arm, if it has one.
fn cluster(digest: &mut Digest, instance: &StudyInstance, i: usize) -> bool {
    let name = instance.clusters.as_ref().map(|names| &names[i]);
    name.iter().for_each(|name| digest.text(name));
    name.is_some()
}

/// Adds the steps at which an arm could not be pulled, if there are any.
fn unavailable(digest: &mut Digest, instance: &StudyInstance, i: usize) -> bool {
    let log = &instance.trajectories;
    let mut has_any = false;
    for j in 0..log.trajectories() {
        for t in (0..log.steps()).filter(|t| !log.is_available([j, *t, i])) {
            [j, t].into_iter().for_each(|number| digest.number(number as u64));
            has_any = true;
        }
    }
    has_any
}
