//! What can be wrong with a file.
//!
//! Every variant carries the path and facts: where in the file, what was found, what was expected. A message is
//! one line, made to be shown to the person who has the file open in another window.

use crate::columns::ColumnFault;
use crate::foreign::ForeignFile;
use crate::memory::in_words;
use crate::show;
use restive::error::RowFault;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a file of arms, or why a file of indices could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ending of the name stands for no format.
    #[error("{}: {}, expected {expected}", show::path(path), ending(found))]
    Ending {
        /// the file
        path: PathBuf,
        /// its ending without the point, perhaps empty
        found: String,
        /// the endings that would do
        expected: &'static str,
    },
    /// The system refused.
    #[error("{}: cannot {doing}: {}", show::path(path), plain(answer))]
    Io {
        /// the file
        path: PathBuf,
        /// what was tried: open, read, write, …
        doing: &'static str,
        /// the system's answer; the message has it, so it is not a source to be printed again
        answer: io::Error,
    },
    /// The file is something else than its name says.
    #[error("{}: {fault}", show::path(path))]
    Foreign {
        /// the file
        path: PathBuf,
        /// what it is, and what it should be
        fault: ForeignFile,
    },
    /// The file is damaged.
    #[error("{}: found an unreadable {format} file ({found}), expected a whole one", show::path(path))]
    Damaged {
        /// the file
        path: PathBuf,
        /// the format, by name
        format: &'static str,
        /// what was found, in words
        found: String,
    },
    /// The file holds no arms.
    #[error("{}: found {found}, expected at least one arm", show::path(path))]
    NoArms {
        /// the file
        path: PathBuf,
        /// what there is instead
        found: &'static str,
    },
    /// The columns of a table are not those of a table of arms.
    #[error("{}: {fault}", show::path(path))]
    Columns {
        /// the file
        path: PathBuf,
        /// what is wrong with them
        fault: ColumnFault,
    },
    /// A CSV row has too few or too many fields.
    #[error("{}: line {line}: found {found} fields, expected {expected} as in the header", show::path(path))]
    Ragged {
        /// the file
        path: PathBuf,
        /// the line, from 1
        line: u64,
        /// fields in the row
        found: u64,
        /// fields in the header
        expected: u64,
    },
    /// A cell does not hold what its column needs.
    #[error("{}: {place}, column {column}: found {found}, expected {expected}", show::path(path))]
    Cell {
        /// the file
        path: PathBuf,
        /// the row
        place: Place,
        /// the column, by name
        column: Box<str>,
        /// what was found, in words or quoted
        found: String,
        /// what was expected, in words
        expected: &'static str,
    },
    /// The probabilities of an arm are not probabilities.
    #[error("{}: {place}, {fault}", show::path(path))]
    Transition {
        /// the file
        path: PathBuf,
        /// the row
        place: Place,
        /// what is wrong, from the library's check
        fault: RowFault,
    },
    /// An array has the wrong shape, order or type of number.
    #[error("{}: found {found}, expected {expected}", show::path(path))]
    Array {
        /// the file
        path: PathBuf,
        /// what was found, in words
        found: String,
        /// what was expected, in words
        expected: String,
    },
    /// The settings of a study cannot be read.
    #[error("{}: line {line}, column {column}: {found}", show::path(path))]
    Settings {
        /// the file
        path: PathBuf,
        /// the line, from 1
        line: usize,
        /// the character of the line, from 1
        column: usize,
        /// what is wrong there
        found: String,
    },
    /// A part of a study or of a model is not as it should be.
    #[error("{}: {}found {found}, expected {expected}", show::path(path), at(place))]
    Content {
        /// the file or folder
        path: PathBuf,
        /// where in it, in words, perhaps empty
        place: String,
        /// what was found, in words
        found: String,
        /// what was expected, in words
        expected: String,
    },
    /// The library refuses the arms of an instance.
    #[error("instance {}: {fault}", show::name(instance))]
    Instance {
        /// the instance, by name
        instance: String,
        /// what is wrong; the message has it, so it is not a source to be printed again
        fault: Box<restive::Error>,
    },
    /// There is less memory than it takes.
    #[error("{place}: found {} of memory left, expected {} for {what}", in_words(*found as f64), in_words(*needed))]
    Memory {
        /// the file, or what was asked for
        place: String,
        /// what takes it, in words
        what: String,
        /// bytes that it takes
        needed: f64,
        /// bytes that there are
        found: u64,
    },
    /// Something is where an output should go, and there is no leave to replace it.
    #[error("{}: found {found}, expected {expected}, unless it is to be replaced", show::path(path))]
    Exists {
        /// the file or folder
        path: PathBuf,
        /// what it is
        found: &'static str,
        /// what could be there
        expected: &'static str,
    },
    /// The output would replace the input.
    #[error("{}: found the input as the output, expected another file", show::path(path))]
    OutputIsInput {
        /// the file
        path: PathBuf,
    },
}

impl Error {
    /// A fault at a place of a file or folder.
    pub(crate) fn content(
        path: &Path,
        place: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Error::Content {
            path: path.into(),
            place: place.into(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// Wraps the system's answer: `read(..).map_err(Error::io(path, "read"))`.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |answer| Error::Io { path: path.into(), doing, answer }
    }
}

/// Which arm of a file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// the row, as tools for the format count it
    pub row: RowNumber,
    /// the name of the arm, where rows have names
    pub arm: Option<String>,
}

/// A row of a file, as tools for the format count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowNumber {
    /// a line of text, from 1, as an editor shows it
    Line(u64),
    /// a row of a Parquet file, from 0
    Row(u64),
    /// the first axis of an array, from 0
    Arm(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            RowNumber::Line(line) => write!(f, "line {line}")?,
            RowNumber::Row(row) => write!(f, "row {row}")?,
            RowNumber::Arm(arm) => write!(f, "arm {arm}")?,
        }
        match &self.arm {
            Some(name) => write!(f, " (arm {})", show::name(name)),
            None => Ok(()),
        }
    }
}

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

fn ending(found: &str) -> String {
    if found.is_empty() {
        "found no ending".into()
    } else {
        format!("found the ending .{}", show::name(found))
    }
}

/// The system's answer without its error number.
fn plain(answer: &io::Error) -> String {
    let text = answer.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
