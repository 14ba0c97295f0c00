//! Why a training or a plan is refused.

use std::fmt::Display;

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with what was asked, a study or a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Files and tables.
    #[error(transparent)]
    Tables(#[from] restive_tables::Error),
    /// The library's checks.
    #[error(transparent)]
    Library(#[from] restive::Error),
    /// Something that cannot be done, whatever the data; options are written `--so`.
    #[error("{0}")]
    Asked(String),
    /// Something that these data or this model do not allow; options are written `--so`.
    #[error("{0}")]
    Data(String),
}

impl Error {
    /// A fault with the place it was met at.
    pub(crate) fn at(place: impl Display) -> impl FnOnce(Self) -> Self {
        move |fault| Error::Data(format!("{place}: {fault}"))
    }
}

/// Refuses data or a model: `refuse!("card: found {found}, expected {expected}")`.
macro_rules! refuse {
    ($($words:tt)*) => { return Err($crate::error::Error::Data(format!($($words)*))) };
}
pub(crate) use refuse;
