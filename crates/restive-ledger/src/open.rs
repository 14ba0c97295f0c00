//! From a path to a connection: what is there, and in which way it may be used.
//!
//! Who is called stands in a ledger, so that it is for its owner alone from its first byte on: it is made, empty, with mode 0600
//! before SQLite sees it, and SQLite gives its `-wal` and `-shm` the mode of the ledger. A file that is there is looked at by SQLite
//! only: on a POSIX system, to close any file of a ledger takes away the locks that other connections of the process have on it.
//!
//! Paths are made absolute before SQLite sees them, which would take `file:a` for an address and `:memory:` for no file.
//!
//! A reader changes no row. Its connection may write none the less, so that whoever is the last to leave can put the log into the
//! ledger and remove it. A reader that may not write beside the ledger cannot take part in the log. Where that is empty (a writer
//! that ends leaves none) all there is stands in the ledger itself, and it is read as a file that does not change.

use crate::error::{Error, Result};
use crate::schema::{self, Found};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long SQLite waits where a program that is none of ours holds the ledger.
const PATIENCE: Duration = Duration::from_secs(2);

/// The smallest page that SQLite has, and so the smallest database that holds something.
const SMALLEST: u64 = 512;

/// Where a path leads, behind links.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    let failed = Error::io(path, "open it");
    match path.canonicalize() {
        Err(answer) if answer.kind() == io::ErrorKind::NotFound => {}
        Ok(at) if at.is_dir() => return Err(Error::NoLedger { path: path.into(), found: "a folder".into() }),
        Ok(at) if !at.is_file() => {
            return Err(Error::NoLedger { path: path.into(), found: "a pipe or a device".into() });
        }
        // SQLite takes a file of one byte for an empty one, and would write over it
        Ok(at) if at.metadata().is_ok_and(|found| (1..SMALLEST).contains(&found.len())) => {
            return Err(Error::NoLedger { path: path.into(), found: "no SQLite database".into() });
        }
        found => return found.map_err(failed),
    }
    if path.is_symlink() {
        return Err(Error::NoLedger { path: path.into(), found: "a link that leads nowhere".into() });
    }
    if path.file_name().is_none() {
        return Err(Error::NoLedger { path: path.into(), found: "no name of a file".into() });
    }
    place(path)
}

/// Absolute path of a file of any kind, behind links; the file need not exist.
pub(crate) fn place(path: &Path) -> Result<PathBuf> {
    let failed = Error::io(path, "open it");
    let name = match (path.canonicalize(), path.file_name()) {
        (Err(answer), Some(name)) if answer.kind() == io::ErrorKind::NotFound => name,
        (found, _) => return found.map_err(failed),
    };
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    Ok(parent.canonicalize().map_err(failed)?.join(name))
}

/// The file beside another that has its name and an ending.
pub(crate) fn beside(at: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(at);
    name.push(ending);
    name.into()
}

/// How a file is opened that is made for its owner alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A connection to write by, to a file that is a ledger or empty.
pub(crate) fn to_write(at: &Path, path: &Path) -> Result<(Connection, Found)> {
    let connection =
        connect(at, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(Error::sqlite(path, "open it"))?;
    let found = schema::recognise(&connection, path)?;
    Ok((connection, found))
}

/// A connection to read by, to a ledger of this version, as it is at this moment.
pub(crate) fn to_read(at: &Path, path: &Path) -> Result<Connection> {
    let failed = Error::sqlite(path, "open it");
    let mut connection = connect(at, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    if let Err(answer) = look(&connection) {
        // a full disk has no room for the files of a log that a reader takes part in
        let cannot_write = matches!(
            answer.sqlite_error_code(),
            Some(
                ErrorCode::CannotOpen
                    | ErrorCode::ReadOnly
                    | ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
            )
        );
        if !cannot_write {
            return Err(schema::refused(path, answer));
        }
        if beside(at, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
            return Err(Error::Unfinished { path: path.into() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        connection = connect(Path::new(&unchanging(at)), flags).map_err(failed)?;
        look(&connection).map_err(|answer| schema::refused(path, answer))?;
    }
    schema::expect_this_version(&connection, path)?;
    Ok(connection)
}

fn connect(at: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(at, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // what is sorted on the way goes to no other file
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// Begins what a reader sees; whatever is written later is not part of it.
fn look(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", true)?;
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// The address of a file that does not change.
fn unchanging(at: &Path) -> String {
    let mut address = String::from("file:");
    for byte in at.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' => address.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address + "?immutable=1"
}
