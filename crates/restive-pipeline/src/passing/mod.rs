//! People who pass by in pieces, as many as there are: one [pass](pass::pass) over them, and the [survey](Surveyed) that comes first.

mod pass;
mod serial;
mod survey;

pub(crate) use pass::{ROWS, of_part, pass, usual};
pub(crate) use survey::Surveyed;

use crate::error::{Result, refuse};
use restive_tables::{StudySettings, unsupported_in_passes};

/// Refuses settings of a study that requires all people in memory: with clusters, or pulls per person.
pub(crate) fn refuse_unsupported(settings: &StudySettings) -> Result<()> {
    let Some(found) = unsupported_in_passes(settings, false) else { return Ok(()) };
    refuse!(
        "found {found}, expected a study without it: people lie in partitions here, and such a study requires all of them in memory"
    )
}
