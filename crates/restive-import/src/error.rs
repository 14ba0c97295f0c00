//! What can be wrong with a mapping or with the exports it names.
//!
//! A message is one line, made for the person who has the mapping open in another window: it names the line and the column. It never
//! repeats what stands in a cell that may hold a name or a number of a person.

use crate::source::SourceError;
use restive_tables::show;
use std::path::PathBuf;

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why exports could not become a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of the mapping asks for what cannot be.
    #[error("{}: line {line}, column {column}: {found}", show::path(path))]
    Mapping {
        /// the mapping
        path: PathBuf,
        /// the line, from 1
        line: usize,
        /// the character of the line, from 1
        column: usize,
        /// what is wrong there
        found: String,
    },
    /// A file of the exports cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file of ours cannot be read or written.
    #[error(transparent)]
    Tables(#[from] restive_tables::Error),
    /// The exports were read, and no study comes of them.
    #[error("{0}")]
    Refused(String),
}
