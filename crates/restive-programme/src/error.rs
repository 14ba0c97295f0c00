//! Why something cannot be done with a programme: where, what was found, what was expected.

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with what was asked, or with the folder of a programme.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Files and tables.
    #[error(transparent)]
    Tables(#[from] restive_tables::Error),
    /// An import.
    #[error(transparent)]
    Import(Box<restive_import::Error>),
    /// Models and plans.
    #[error(transparent)]
    Pipeline(Box<restive_pipeline::Error>),
    /// The record of plans and outcomes.
    #[error(transparent)]
    Ledger(Box<restive_ledger::Error>),
    /// The files of a list.
    #[error(transparent)]
    List(#[from] restive_report::list::Error),
    /// Anything else.
    #[error("{0}")]
    Refused(String),
}

/// An error of another package, on the heap: a result must stay small.
macro_rules! from {
    ($($variant:ident: $error:ty),+) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Error::$variant(Box::new(error))
            }
        }
    )+};
}

from!(Import: restive_import::Error, Pipeline: restive_pipeline::Error, Ledger: restive_ledger::Error);

impl Error {
    /// Whether the system refused to read or write, independently of the content of the file.
    pub(crate) fn is_of_system(&self) -> bool {
        let is_io = |error: &restive_tables::Error| matches!(error, restive_tables::Error::Io { .. });
        match self {
            Error::Tables(error) => is_io(error),
            Error::Pipeline(error) => {
                matches!(&**error, restive_pipeline::Error::Tables(error) if is_io(error))
            }
            Error::Ledger(error) => error.is_of_system(),
            _ => false,
        }
    }
}
