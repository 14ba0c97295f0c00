//! What the pages share.
//!
//! | file | what it is |
//! |---|---|
//! | `snapshot` | the programme as it stood a moment ago: read by everybody, waited for by nobody |
//! | `write` | one writer at a time; what was written is in the next picture before the answer goes out |
//! | `jobs` | work that lasts: it goes on while nobody looks, and can be stopped |
//! | `answers` | what took a job to find, kept until the next time it is asked |
//! | `beside` | answers beyond the end of the program: files beside the programme |
//! | `cases` | what is read once for questions about single people |
//! | `groups` | by which columns people can be counted |
//! | `done` | who did what, when: an append-only file beside the ledger |

mod answers;
mod beside;
mod cases;
mod done;
mod groups;
mod jobs;
mod snapshot;
mod write;

pub(crate) use answers::{
    Answers, Checked, Evidence, Fair, Finding, FloorAsked, Grave, Kept, Looked, Tried, stamp,
};
pub use done::Entry;
pub(crate) use groups::Column;
pub use jobs::{Job, Progress, Standing};
pub use snapshot::Snapshot;

use crate::error::Result;
use crate::look::refusal::Refusal;
use crate::security::entry::Entry as Tokens;
use crate::security::finds::Finds;
use crate::security::hosts::Hosts;
use crate::security::passwords::Passwords;
use crate::security::session::{Cookie, Session, Sessions};
use crate::security::throttle::Throttle;
use crate::security::user_file::UserFile;
use axum::http::HeaderMap;
use done::Record;
use jobs::Jobs;
use restive_ledger::Ledger;
use restive_programme::Programme;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;

/// What handlers are given.
pub type App = Arc<Desk>;

/// What the pages share.
pub struct Desk {
    folder: PathBuf,
    snapshot: RwLock<Arc<Snapshot>>,
    /// held by whoever makes the next picture, with the last change that it shows: an older one never replaces a newer
    looking: Mutex<u64>,
    /// changes that somebody wants to see
    changes: AtomicU64,
    writer: Arc<tokio::sync::Mutex<()>>,
    jobs: Jobs,
    record: Record,
    pub(crate) answers: Answers,
    cases: cases::Cases,
    groups: groups::Groups,
    pub(crate) finds: Finds,
    pub(crate) doors: Doors,
}

/// Who may come in, and how.
pub(crate) struct Doors {
    pub(crate) hosts: Hosts,
    pub(crate) tokens: Tokens,
    pub(crate) sessions: Sessions,
    pub(crate) cookie: Cookie,
    /// nobody but one planner where there are none
    pub(crate) users: Option<UserFile>,
    pub(crate) throttle: Throttle,
    pub(crate) passwords: Passwords,
    /// what the one planner is called
    pub(crate) planner: Arc<str>,
}

impl Doors {
    /// Returns the session of a request.
    ///
    /// # Errors
    /// If the file of users cannot be read: it is not known whose sessions are still valid.
    pub(crate) fn session(&self, headers: &HeaderMap) -> std::result::Result<Option<Session>, Refusal> {
        let users = match &self.users {
            Some(file) => Some(file.users().ok_or_else(Refusal::users)?),
            None => None,
        };
        let key = self.cookie.read(headers);
        Ok(key.and_then(|key| self.sessions.find(key, users.as_deref(), Instant::now())))
    }
}

impl Desk {
    /// Opens the desk of a programme.
    pub(crate) fn open(folder: &Path, doors: Doors) -> Result<Self> {
        // pages only read, and whoever reads brings nothing up to date
        let ledger = Programme::open(folder)?.ledger();
        if matches!(Ledger::read(&ledger), Err(restive_ledger::Error::Older { .. })) {
            Ledger::open(&ledger)?;
        }
        let snapshot = Snapshot::take(folder, None)?;
        Ok(Self {
            folder: folder.into(),
            snapshot: RwLock::new(Arc::new(snapshot)),
            looking: Mutex::default(),
            changes: AtomicU64::default(),
            writer: Arc::default(),
            jobs: Jobs::default(),
            record: Record::of(folder)?,
            answers: Answers::of(folder),
            cases: cases::Cases::default(),
            groups: groups::Groups::default(),
            finds: Finds::default(),
            doors,
        })
    }

    /// The programme as it stood a moment ago.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        match self.snapshot.read() {
            Ok(now) => now.clone(),
            // a pointer is swapped: there is nothing that a panic could have left half done
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// The folder of the programme.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was done at this desk, the latest first, at most so many.
    pub fn entries(&self, most: usize) -> Vec<Entry> {
        self.record.latest(most)
    }
}
