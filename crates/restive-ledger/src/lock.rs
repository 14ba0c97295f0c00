//! One writer at a time.
//!
//! Whoever writes holds an advisory lock of the system on a file of its own, `ledger.db.lock`. The lock belongs to the open file: it
//! goes when the file is closed, and the system closes the files of a process that ends, however it ends. The file itself stays, for
//! one that is removed could be locked by two. Its text says who holds it, so that the second writer can be told; it decides nothing.

use crate::error::{Error, Result};
use crate::open::{beside, private};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

/// Held for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// Who holds the lock of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// the number of the process
    pub process: u32,
    /// since when
    pub since: Timestamp,
}

impl Lock {
    /// Locks the ledger at `at`, which was asked for as `path`.
    pub(crate) fn take(at: &Path, path: &Path) -> Result<Self> {
        let failed = Error::io(path, "lock it by the file .lock beside it");
        let mut file = private().create(true).truncate(false).open(beside(at, ".lock")).map_err(&failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // where the lock keeps others from reading too, the holder stays unnamed
                let read = (&file).take(200).read_to_string(&mut text);
                let holder = read.ok().and_then(|_| Holder::parse(&text));
                return Err(Error::Held { path: path.into(), holder });
            }
            Err(TryLockError::Error(answer)) => return Err(failed(answer)),
        }
        let me = Holder { process: std::process::id(), since: Timestamp::now() };
        file.set_len(0)
            .and_then(|()| file.write_all(format!("process {}\nsince {}\n", me.process, me.since).as_bytes()))
            .map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // for people who look: nobody holds it now
        let _ = self.file.set_len(0);
    }
}

impl Holder {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.strip_prefix("process ")?.parse().ok()?;
        let since = lines.next()?.strip_prefix("since ")?.parse().ok()?;
        Some(Self { process, since })
    }

    /// As the message has it: by the clock on the wall, with the day where that is another one.
    pub(crate) fn told(holder: &Option<Self>) -> String {
        let Some(holder) = holder else { return String::new() };
        let zone = TimeZone::system();
        let [since, now] = [holder.since, Timestamp::now()].map(|moment| moment.to_zoned(zone.clone()));
        let form = if since.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        format!(" (process {}, since {})", holder.process, since.strftime(form))
    }
}
