//! People who pass by in pieces, as many as there are: one [pass](pass::pass) over them, and the [survey](Surveyed) that comes first.

mod pass;
mod serial;
mod survey;

pub(crate) use pass::{ROWS, of_part, pass, usual};
pub(crate) use survey::Surveyed;
