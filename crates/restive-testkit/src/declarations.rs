//! Declarations of a random study: availability, clusters and pulls per person.
//!
//! Each of the three is present at random, and at least one of them. Availability is a column `available` of the trajectories, 1 in rows
//! of pulled arms and at random 0 or 1 elsewhere. Clusters are a column `household` of the arms with few different names, among them
//! digits and text that needs quotes; arms of different groups share them. Pulls per person are a line of `study.toml`.

use crate::chance::Chance;
use crate::random_study::{Observed, RandomStudy};

impl RandomStudy {
    /// Creates a study with at least one declaration; the rest is [`RandomStudy::new`] with states of all rows.
    pub fn declared(seed: u64) -> Self {
        let (mut study, mut chance) = (Self::new(seed, Observed::Always), Chance::new(seed + 7000));
        let which = 1 + chance.below(7);
        if which & 1 != 0 {
            let action = study.trajectories.column("action");
            study.trajectories.columns.push(("available".into(), true));
            for row in &mut study.trajectories.rows {
                let is_available = row[action] == "1" || !chance.one_in(3);
                row.push(usize::from(is_available).to_string());
            }
        }
        if which & 2 != 0 {
            study.settings += "cluster = \"household\"\n";
            study.arms.columns.push(("household".into(), false));
            for row in &mut study.arms.rows {
                row.push(chance.pick(&["7", "07", "a, \"b\"", "Ñ", "h 1"]).to_string());
            }
        }
        if which & 4 != 0 {
            study.settings += "assignment = \"per-person\"\n";
        }
        study
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive_study::NaiveStudy;

    #[test]
    fn studies_have_every_declaration() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = [0; 4];
        for seed in 0..60 {
            RandomStudy::declared(seed).write(folder.path());
            let study = NaiveStudy::read(folder.path());
            let kinds = [
                study.steps.values().any(|step| step.is_unavailable && step.action == Some(0)),
                study.steps.values().any(|step| step.is_unavailable && step.action.is_none()),
                study.arms.values().all(|arm| arm.cluster.is_some()),
                study.settings.contains_key("assignment"),
            ];
            assert!(kinds.contains(&true) || study.columns.iter().any(|column| column == "available"));
            found.iter_mut().zip(kinds).for_each(|(found, is_kind)| *found += usize::from(is_kind));
        }
        assert!(found.iter().all(|found| *found >= 5), "{found:?}");
    }
}
