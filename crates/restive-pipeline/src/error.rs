//! Why a training, an evaluation or a plan is refused: where, what was found, what was expected.

use crate::message::Message;

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
    /// Something that cannot be done, whatever the data.
    #[error("{0}")]
    Asked(Message),
    /// Something that these data or this model do not allow.
    #[error("{0}")]
    Data(Message),
}

impl Error {
    /// A fault with the place it was met at.
    pub(crate) fn at(place: impl Into<Message>) -> impl FnOnce(Self) -> Self {
        let place = place.into().and(": ");
        move |fault| {
            Error::Data(match fault {
                Error::Asked(message) | Error::Data(message) => place.and(message),
                other => place.and(other.to_string()),
            })
        }
    }
}

/// Refuses data or a model: `refuse!("card: found {found}, expected {expected}")`, or a message of pieces,
/// `refuse!(Opt("part"), ": found no arms, expected some")`.
macro_rules! refuse {
    ($words:literal) => { return Err($crate::error::Error::Data(format!($words).into())) };
    ($words:literal, $($more:tt)*) => { return Err($crate::error::Error::Data(format!($words, $($more)*).into())) };
    ($($pieces:tt)*) => { return Err($crate::error::Error::Data($crate::message::message!($($pieces)*))) };
}
pub(crate) use refuse;
