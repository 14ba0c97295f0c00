//! The doctor of very many people: those with the smallest keys stand for all of them.
//!
//! What the checks test, slopes and small differences, shows in a hundred thousand people as it does in ten million. What is rare may not
//! be among them, so each finding says of how many people it speaks. What was seen by step is counted over everybody,
//! and so are the values of columns, of which a sample has more to a person.

use super::columns::identifiers_of;
use super::coverage::coverage_of;
use super::{Doctor, Finding};
use crate::error::Result;
use crate::identification::sample_of_roll;
use crate::plan::{MOST_IN_MEMORY, is_large};
use crate::words::grouped;
use restive_tables::{Roll, Study};
use std::path::Path;

impl Doctor {
    /// Looks the study of a folder through, a sample of its people where it is large; and what the study is called, where it says.
    /// (Where propensities are logged, which a roll does not keep, everybody is read into memory.)
    pub fn of_folder(folder: &Path) -> Result<(Self, Option<String>)> {
        if is_large(folder)? {
            let roll = Roll::read(folder)?;
            if !roll.counts().has_propensity {
                return Ok((Self::of_roll(&roll, MOST_IN_MEMORY as usize)?, roll.settings.name.clone()));
            }
        }
        let study = Study::read(folder)?;
        Ok((Self::new(&study), study.settings.name))
    }

    /// Looks at so many people of a roll at most, whose log says nothing of propensities.
    pub fn of_roll(roll: &Roll, most: usize) -> Result<Self> {
        let everybody = roll.people();
        let mut doctor = Self::new(&sample_of_roll(roll, most)?);
        if everybody <= most {
            return Ok(doctor);
        }
        let counted = [coverage_of(roll), identifiers_of(roll)?];
        let looked_at = format!(
            " (Looked at {} people of {}, drawn by their names.)",
            grouped(most as u64),
            grouped(everybody as u64)
        );
        for finding in &mut doctor.findings {
            match counted.iter().find(|counted| counted.name == finding.name) {
                Some(counted) => *finding = Finding { silenced: finding.silenced.take(), ..counted.clone() },
                None => finding.found += &looked_at,
            }
        }
        Ok(Self::sorted(doctor.findings))
    }
}
