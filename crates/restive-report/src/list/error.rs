//! What can keep a list from becoming a workbook: its size.

use rust_xlsxwriter::XlsxError;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// more than a workbook holds
    TooMany {
        /// of what
        what: &'static str,
        /// how many there are
        found: usize,
        /// how many fit
        most: usize,
    },
    /// the workbook could not be put together
    Workbook(String),
}

/// `Result` with this room's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The rows of a sheet.
pub(super) const ROWS: usize = 1_048_576;

/// The columns of a sheet.
pub(super) const COLUMNS: usize = 16_384;

/// Whether so many fit.
pub(super) fn within(what: &'static str, found: usize, most: usize) -> Result<()> {
    if found > most { Err(Error::TooMany { what, found, most }) } else { Ok(()) }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::TooMany { what, found, most } => {
                write!(f, "{found} {what}, where a workbook holds at most {most}")
            }
            Error::Workbook(answer) => write!(f, "the workbook could not be put together: {answer}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<XlsxError> for Error {
    fn from(answer: XlsxError) -> Self {
        Error::Workbook(answer.to_string())
    }
}
