//! Versions of the ledger, and the way from each to the next.
//!
//! A ledger says what it is by SQLite's `application_id` ("rstv") and its version by `user_version`. Step n of [`STEPS`] makes version
//! n of version n − 1 in one transaction, so that a ledger is of one version or of the next and never between. A new ledger goes all
//! steps from nothing. Before an earlier one goes any, a copy of it is put beside it: `ledger.db.v1`, or `ledger.db.v1-2` where that
//! name is taken, for a copy is never overwritten.

use crate::error::{Error, Result};
use crate::event;
use crate::open::{beside, private, to_write};
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const APPLICATION: i64 = 0x7273_7476;

/// What makes each version of the one before.
const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The first version that has a chain.
const CHAINED: i64 = 3;

/// The version that is written here.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// What a file holds that is a ledger or can become one.
pub(crate) enum Found {
    /// nothing yet
    Nothing,
    /// a ledger of this version or an earlier one
    Version(i64),
}

/// Tells ledgers from other files.
pub(crate) fn recognise(connection: &Connection, path: &Path) -> Result<Found> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = || {
        let tables = "SELECT count(*) FROM sqlite_schema";
        let tables = connection.query_row(tables, [], |row| row.get::<_, i64>(0))?;
        Ok((number("application_id")?, number("user_version")?, tables))
    };
    match read().map_err(|answer| refused(path, answer))? {
        (0, 0, 0) => Ok(Found::Nothing),
        (APPLICATION, found, _) if found > VERSION => {
            Err(Error::Newer { path: path.into(), found, expected: VERSION })
        }
        (APPLICATION, found @ 1.., _) => Ok(Found::Version(found)),
        (APPLICATION, found, _) => {
            Err(Error::NoLedger { path: path.into(), found: format!("one of version {found}") })
        }
        (found, ..) => {
            let found = format!("the SQLite database of another program (application_id {found})");
            Err(Error::NoLedger { path: path.into(), found })
        }
    }
}

/// Tables, indices, views and triggers, each with the words that made it.
pub(crate) type Made = BTreeMap<String, String>;

/// What a ledger of this version is made of.
pub(crate) fn expected() -> rusqlite::Result<Made> {
    let connection = Connection::open_in_memory()?;
    STEPS.iter().try_for_each(|step| connection.execute_batch(step))?;
    made(&connection)
}

/// What this one is made of, but for what SQLite keeps of its own on how full tables are.
pub(crate) fn made(connection: &Connection) -> rusqlite::Result<Made> {
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let name = format!("{} {}", event::required(row, 0)?, event::required(row, 1)?);
        Ok((name, event::required(row, 2)?))
    })?;
    rows.collect()
}

/// For readers, who cannot bring a ledger up to date.
pub(crate) fn expect_this_version(connection: &Connection, path: &Path) -> Result<()> {
    match recognise(connection, path)? {
        Found::Version(VERSION) => Ok(()),
        Found::Version(found) => Err(Error::Older { path: path.into(), found, expected: VERSION }),
        Found::Nothing => Err(Error::NoLedger { path: path.into(), found: "an empty file".into() }),
    }
}

/// What SQLite says at the first look at a file.
pub(crate) fn refused(path: &Path, answer: rusqlite::Error) -> Error {
    match answer.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            Error::NoLedger { path: path.into(), found: "no SQLite database".into() }
        }
        _ => Error::sqlite(path, "open it")(answer),
    }
}

/// Makes a new ledger under a temporary name and renames it: a writer that is killed leaves no ledger or a whole one.
pub(crate) fn create(at: &Path, path: &Path) -> Result<()> {
    let failed = Error::io(path, "make it");
    let draft = fresh(at, ".new").map_err(&failed)?;
    let (mut connection, found) = to_write(&draft, path)?;
    migrate(&mut connection, found, &draft, path)?;
    drop(connection);
    // the lock is held, so that nobody else makes one meanwhile
    fs::rename(&draft, at).and_then(|()| sync_folder(at)).map_err(failed)
}

/// Makes an empty file with the name of a ledger and an ending, readable by its owner only; replaces an unfinished draft.
fn fresh(at: &Path, ending: &str) -> io::Result<PathBuf> {
    let draft = beside(at, ending);
    for left in [draft.clone(), beside(&draft, "-journal")] {
        match fs::remove_file(left) {
            Err(answer) if answer.kind() != io::ErrorKind::NotFound => return Err(answer),
            _ => {}
        }
    }
    private().create_new(true).open(&draft)?;
    Ok(draft)
}

/// Brings a ledger up to date.
pub(crate) fn migrate(connection: &mut Connection, found: Found, at: &Path, path: &Path) -> Result<()> {
    let failed = Error::sqlite(path, "bring it up to date");
    let version = match found {
        Found::Nothing => 0,
        Found::Version(version) => {
            if version < VERSION {
                keep_copy(connection, version, at, path)?;
            }
            version
        }
    };
    for (version, step) in (1..).zip(STEPS).skip(usize::try_from(version).unwrap_or(0)) {
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        transaction.execute_batch(step).map_err(failed)?;
        if version == CHAINED {
            event::seal_earlier(&transaction, &Timestamp::now().to_string()).map_err(failed)?;
        }
        transaction.pragma_update(None, "user_version", version).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

/// Puts a copy of the ledger beside it. It is written under a name of its own first: one that a kill cut off is no copy.
fn keep_copy(connection: &Connection, version: i64, at: &Path, path: &Path) -> Result<()> {
    let failed = Error::io(path, "keep a copy of the earlier version beside it");
    // SQLite fills an empty file and keeps its mode
    let draft = fresh(at, ".copy").map_err(&failed)?;
    let text = draft.to_str().ok_or_else(|| failed(io::Error::other("its path is not Unicode")))?;
    let copied = connection.execute("VACUUM INTO ?1", [text]);
    copied.map_err(Error::sqlite(path, "keep a copy of the earlier version beside it"))?;
    File::open(&draft)
        .and_then(|made| made.sync_all())
        .and_then(|()| put(&draft, at, version))
        .map_err(failed)
}

/// Gives the draft of a copy the first name that is free.
fn put(draft: &Path, at: &Path, version: i64) -> io::Result<()> {
    let mut to = beside(at, &format!(".v{version}"));
    let mut next = 2;
    loop {
        match rename_to_new(draft, &to) {
            Err(answer) if answer.kind() == io::ErrorKind::AlreadyExists => {
                to = beside(at, &format!(".v{version}-{next}"));
                next += 1;
            }
            Err(answer) => return Err(answer),
            Ok(()) => return sync_folder(&to),
        }
    }
}

/// Renames a file to a name that must be new.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(answer) if answer.kind() == io::ErrorKind::AlreadyExists => Err(answer),
        // a file system without links: looking first is the best there is
        Err(_) if to.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// The name is to outlast a loss of power as well.
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder: PathBuf = file.parent().map_or_else(|| ".".into(), Into::into);
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
