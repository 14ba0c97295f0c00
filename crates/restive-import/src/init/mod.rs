//! A first mapping, from the exports themselves: what can be recognised is written, what a person must decide is marked.
//!
//! | file | what happens there |
//! |---|---|
//! | `profile` | what is known of the exports of one system: data, under `profiles/` |
//! | `tables` | the tables of the files, and what each is to the programme |
//! | `sniff` | what the cells of a column look like |
//! | `spelling` | spellings of one word |
//! | `people`, `log` | the lines of a registry, and those of a log |
//! | `write` | the text of the mapping |
//!
//! A mapping is shown to others and kept beside the data. So nothing of a cell is written into it but words of columns that have few
//! of them and repeat them, never of a column that may name people; words for missing; and one date where day and month could be
//! either.

mod log;
mod people;
mod profile;
mod sniff;
mod spelling;
mod tables;
mod write;

use crate::error::{Error, Result};
use crate::source::Input;

/// The text of a mapping for these files, as far as they say it themselves. Lines to be decided are comments that begin with `DECIDE`.
pub fn init(files: &[String], input: &Input<'_>) -> Result<String> {
    if files.is_empty() {
        return Err(Error::Refused(
            "found no file, expected the exports that a mapping is to be written for".into(),
        ));
    }
    Ok(write::mapping(&tables::open(files, input)?))
}
