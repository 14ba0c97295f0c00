//! Why the desk does not open, as facts.

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with what was asked, or with the machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The programme.
    #[error(transparent)]
    Programme(#[from] restive_programme::Error),
    /// An import.
    #[error(transparent)]
    Import(Box<restive_import::Error>),
    /// A training.
    #[error(transparent)]
    Pipeline(Box<restive_pipeline::Error>),
    /// Files and tables.
    #[error(transparent)]
    Tables(#[from] restive_tables::Error),
    /// The record.
    #[error(transparent)]
    Ledger(Box<restive_ledger::Error>),
    /// The system.
    #[error("{what}: cannot {doing}: {answer}")]
    Io {
        /// a file or an address
        what: String,
        /// what was attempted
        doing: &'static str,
        /// what the system said
        answer: std::io::Error,
    },
    /// Anything else.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    pub(crate) fn io(what: impl ToString, doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.to_string();
        move |answer| Self::Io { what, doing, answer }
    }
}

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
