//! A plan of the study in a folder: read into memory, or passing by where it is large. Either way it is the same plan.

use super::{Passing, Plan, PlanAsked};
use crate::apply::Applied;
use crate::error::Result;
use crate::model::Trained;
use restive_tables::{Roll, Study};
use std::path::Path;

/// A study of more people is not read into memory, where that can be helped.
pub const MOST_IN_MEMORY: u64 = 100_000;

impl Plan {
    /// Whom to pull next in the study of a folder, and what should be known before that is trusted. The names of model and study are for
    /// messages.
    pub fn of_folder(
        trained: &Trained,
        folder: &Path,
        [model_name, study_name]: [&str; 2],
        asked: &PlanAsked,
    ) -> Result<(Self, Vec<String>)> {
        if Passing::can_plan(trained, asked) && is_large(folder)? {
            let roll = Roll::read(folder)?;
            return Passing::new(trained, &roll, model_name, study_name)?.plan(asked);
        }
        let study = Study::read(folder)?;
        let applied = Applied::new(trained, &study, model_name, study_name)?;
        let plan = applied.plan(asked)?;
        Ok((plan, applied.notes))
    }
}

/// Whether the study in a folder has so many people that it had better pass by, and can.
pub fn is_large(folder: &Path) -> Result<bool> {
    Ok(Roll::estimate(folder)?.is_some_and(|people| people > MOST_IN_MEMORY))
}
