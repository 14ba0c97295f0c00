//! What can be wrong with a ledger, or with what is asked of it.
//!
//! A message is one line. It names the file, what was found there and what was expected.

use crate::lock::Holder;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// `Result` with this package's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a ledger was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refuses.
    #[error("{}: cannot {doing}: {answer}", path.display())]
    Io {
        /// the file
        path: PathBuf,
        /// what was attempted
        doing: &'static str,
        /// what the system said
        answer: io::Error,
    },
    /// SQLite refuses.
    #[error("{}: cannot {doing}: {}", path.display(), cause(answer))]
    Sqlite {
        /// the ledger
        path: PathBuf,
        /// what was attempted
        doing: &'static str,
        /// what SQLite said
        answer: rusqlite::Error,
    },
    /// The file is something else.
    #[error("{}: found {found}, expected the ledger of a programme", path.display())]
    NoLedger {
        /// the file
        path: PathBuf,
        /// what it is
        found: String,
    },
    /// The ledger is of a version that this program does not know.
    #[error("{}: found version {found}, expected at most {expected}: it was written by a newer restive", path.display())]
    Newer {
        /// the ledger
        path: PathBuf,
        /// its version
        found: i64,
        /// the highest version that is known here
        expected: i64,
    },
    /// The ledger is of an earlier version and was opened for reading, which changes nothing.
    #[error(
        "{}: found version {found}, expected {expected}: opening it for writing brings it up to date and keeps a copy",
        path.display()
    )]
    Older {
        /// the ledger
        path: PathBuf,
        /// its version
        found: i64,
        /// the version that is read here
        expected: i64,
    },
    /// There is nothing to withdraw.
    #[error("{}: found no outcome of {arm:?} in plan {plan}, expected one to withdraw", path.display())]
    NoOutcome {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
        /// who
        arm: String,
    },
    /// Somebody else is writing.
    #[error(
        "{}: {} is writing to {what}; wait until it ends, or end it, and try again",
        path.display(),
        Holder::told(holder)
    )]
    Held {
        /// the ledger, or what else is locked
        path: PathBuf,
        /// Part of the message: the programme, or this file.
        what: &'static str,
        /// who it is, where that can be read
        holder: Option<Holder>,
    },
    /// A writer was killed, and what it wrote last cannot be taken over where nothing may be written.
    #[error(
        "{}: found changes in the file -wal beside it and a folder that cannot be written, expected one that can: copy both there",
        path.display()
    )]
    Unfinished {
        /// the ledger
        path: PathBuf,
    },
    /// There is a plan for the period.
    #[error("{}: found plan {plan} for the period from {period_start}, expected none, or leave to replace it", path.display())]
    Planned {
        /// the ledger
        path: PathBuf,
        /// the plan that is there
        plan: String,
        /// the first day of the period
        period_start: String,
    },
    /// A plan of which outcomes are known is not replaced.
    #[error(
        "{}: found {outcomes} of plan {plan}, expected none: calls were made by it, and it cannot be replaced",
        path.display(),
        outcomes = crate::check::count(*outcomes, "outcome", "outcomes")
    )]
    HasOutcomes {
        /// the ledger
        path: PathBuf,
        /// the plan that is there
        plan: String,
        /// how many
        outcomes: usize,
    },
    /// The list of a plan that was replaced is not changed any more.
    #[error("{}: found plan {plan}, which was replaced, expected a current one", path.display())]
    Replaced {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
    },
    /// A list that is final is not changed any more, and its plan is not replaced.
    #[error("{}: found the list of plan {plan}, which is final since {at}, expected a draft", path.display())]
    FinalList {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
        /// since when
        at: String,
    },
    /// There is no such plan.
    #[error("{}: found no plan {plan:?}, expected one of those recorded", path.display())]
    UnknownPlan {
        /// the ledger
        path: PathBuf,
        /// as it was asked for
        plan: String,
    },
    /// The plan did not choose from this person.
    #[error("{}: found no {arm:?} in plan {plan}, expected one of its people", path.display())]
    UnknownPerson {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
        /// as it was asked for
        arm: String,
    },
    /// Somebody who is on the list was to be added to it.
    #[error("{}: found {arm:?} on the list of plan {plan}, expected somebody to add who is not on it", path.display())]
    Listed {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
        /// the person
        arm: String,
    },
    /// Somebody who is not on the list was to be removed from it.
    #[error("{}: found no {arm:?} on the list of plan {plan}, expected somebody to remove who is on it", path.display())]
    NotListed {
        /// the ledger
        path: PathBuf,
        /// the plan
        plan: String,
        /// the person
        arm: String,
    },
    /// There is no such trial.
    #[error("{}: found no trial {trial:?}, expected one of those begun", path.display())]
    UnknownTrial {
        /// the ledger
        path: PathBuf,
        /// as it was asked for
        trial: String,
    },
    /// A trial was to be begun while one runs.
    #[error("{}: found trial {trial:?}, which runs, expected none: end it first", path.display())]
    TrialRuns {
        /// the ledger
        path: PathBuf,
        /// the trial that runs
        trial: String,
    },
    /// A trial was to be begun under the name of another.
    #[error("{}: found a trial {trial:?}, expected a name that is new", path.display())]
    TrialKnown {
        /// the ledger
        path: PathBuf,
        /// the name
        trial: String,
    },
    /// A trial was to be ended that was ended before.
    #[error("{}: found trial {trial:?}, which has ended, expected one that runs", path.display())]
    TrialEnded {
        /// the ledger
        path: PathBuf,
        /// the trial
        trial: String,
    },
    /// What was to be recorded cannot be.
    #[error("{}: {what}: found {found}, expected {expected}", path.display())]
    Content {
        /// the ledger
        path: PathBuf,
        /// which part of it
        what: String,
        /// what stands there
        found: String,
        /// what may
        expected: &'static str,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |answer| Self::Io { path: path.into(), doing, answer }
    }

    pub(crate) fn sqlite(path: &Path, doing: &'static str) -> impl Fn(rusqlite::Error) -> Self + Copy {
        move |answer| Self::Sqlite { path: path.into(), doing, answer }
    }
}

impl Error {
    /// Whether the system refused to read or write, independently of the content of the ledger.
    pub fn is_of_system(&self) -> bool {
        match self {
            Error::Io { .. } => true,
            Error::Sqlite { answer, .. } => is_of_system(answer),
            _ => false,
        }
    }
}

/// Whether an answer of SQLite is about the system, and not about the content of the file.
pub(crate) fn is_of_system(answer: &rusqlite::Error) -> bool {
    use ErrorCode::*;
    matches!(
        answer.sqlite_error_code(),
        Some(
            SystemIoFailure
                | DiskFull
                | ReadOnly
                | CannotOpen
                | PermissionDenied
                | OutOfMemory
                | DatabaseBusy
                | DatabaseLocked
                | FileLockingProtocolFailed
                | OperationInterrupted
        )
    )
}

/// Answer of SQLite; if the system is the cause, the cause and its remedy.
fn cause(answer: &rusqlite::Error) -> String {
    let (cause, remedy) = match answer.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ("the disk is full", "free some space"),
        Some(ErrorCode::SystemIoFailure) => {
            ("the disk refused to read or write", "check that it is neither full nor failing")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ("the file or its folder may not be written", "check their permissions")
        }
        Some(ErrorCode::CannotOpen) => (
            "the file, or a file beside it, cannot be opened",
            "check that the folder may be written and that the disk is not full",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            ("another program uses it", "close that program")
        }
        _ => return answer.to_string(),
    };
    format!("{cause} ({answer}); {remedy} and try again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn answer_about_the_system_has_its_cause_and_what_to_do() {
        let of = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        for (code, expected) in [
            (ffi::SQLITE_FULL, "the disk is full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "the disk refused to read or write"),
            (ffi::SQLITE_READONLY, "the file or its folder may not be written"),
            (ffi::SQLITE_CANTOPEN, "the file, or a file beside it, cannot be opened"),
            (ffi::SQLITE_BUSY, "another program uses it"),
        ] {
            let error = Error::sqlite(Path::new("ledger.db"), "verify it")(of(code));
            assert!(error.is_of_system());
            let said = error.to_string();
            assert!(said.starts_with(&format!("ledger.db: cannot verify it: {expected} (")), "{said}");
            assert!(said.ends_with(" and try again"), "{said}");
        }
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_CONSTRAINT] {
            assert!(!Error::sqlite(Path::new("ledger.db"), "verify it")(of(code)).is_of_system());
        }
    }
}
