//! One writer at a time.
//!
//! A process that writes to a programme (plan, outcomes, import, rules, changes in the web UI) holds an advisory lock of the system on a
//! file of its own, `ledger.db.lock`. The lock belongs to the open file: it goes when the file is closed, and the system closes the
//! files of a process that ends, however it ends. The file itself stays, for one that is removed could be locked by two. Its text
//! names the process, its command and the start, for the message to a second writer; it decides nothing.
//!
//! A training reads for a long time and writes one new folder at its end. It holds the lock of the folder of models instead, so that
//! calls can be recorded meanwhile and no second training writes the same checkpoint. A file that need not lie in a programme, such as
//! the file of users, has a [lock of its own](Lock::of_file).

use crate::error::{Error, Result};
use crate::open::{self, beside, private};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for the process that holds the lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two attempts.
const STEP: Duration = Duration::from_millis(50);
/// Most characters of a command that are kept.
const LONGEST: usize = 200;

/// Lock of a programme, or of any other file that one process writes at a time; held for as long as it lives.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Number of the process.
    pub process: u32,
    /// Start of the lock.
    pub since: Timestamp,
    /// Command line, shortened.
    pub command: String,
}

impl Lock {
    /// Locks the programme of the ledger at `path`, which need not be there yet; waits up to 10 seconds for another process.
    pub fn take(path: &Path) -> Result<Self> {
        Self::take_within(path, PATIENCE)
    }

    /// Like [`take`](Self::take), but waits no longer than `patience`.
    pub fn take_within(path: &Path, patience: Duration) -> Result<Self> {
        Self::take_beside(&open::resolve(path)?, path, patience)
    }

    /// Locks a folder that is there, for work that others need not wait for; waits up to 10 seconds for another process.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let at = folder.canonicalize().map_err(Error::io(folder, "find it"))?;
        Self::take_beside(&at, folder, PATIENCE)
    }

    /// Locks a file other than a ledger, which need not exist, while a process reads, changes and writes it; waits up to 10 seconds for another
    /// process.
    pub fn of_file(path: &Path) -> Result<Self> {
        Self::hold(&open::place(path)?, path, "this file", PATIENCE)
    }

    /// Locks the file or folder `at`, of a programme; messages call it `path`.
    pub(crate) fn take_beside(at: &Path, path: &Path, patience: Duration) -> Result<Self> {
        Self::hold(at, path, "the programme", patience)
    }

    /// Locks `at` by a second file with the ending `.lock`; messages call it `path`, and say that another process writes to `what`.
    fn hold(at: &Path, path: &Path, what: &'static str, patience: Duration) -> Result<Self> {
        let failed = Error::io(path, "lock it by the file .lock beside it");
        let mut file = private().create(true).truncate(false).open(beside(at, ".lock")).map_err(&failed)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if begun.elapsed() < patience => std::thread::sleep(STEP),
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    // where the lock keeps others from reading too, the holder stays unnamed
                    let read = (&file).take(4096).read_to_string(&mut text);
                    let holder = read.ok().and_then(|_| Holder::parse(&text));
                    return Err(Error::Held { path: path.into(), what, holder });
                }
                Err(TryLockError::Error(answer)) => return Err(failed(answer)),
            }
        }
        let me = Holder::this();
        let text = format!("process {}\nsince {}\ncommand {}\n", me.process, me.since, me.command);
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(failed)?;
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
    /// This process.
    fn this() -> Self {
        let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let program = words.next().unwrap_or_default();
        let program =
            Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into());
        let command = [program].into_iter().chain(words).collect::<Vec<_>>().join(" ");
        Self { process: std::process::id(), since: Timestamp::now(), command: shown(&command) }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.strip_prefix("process ")?.parse().ok()?;
        let since = lines.next()?.strip_prefix("since ")?.parse().ok()?;
        let command = shown(lines.next()?.strip_prefix("command ")?);
        Some(Self { process, since, command })
    }

    /// Text of the message: local time, with the day if that is not today.
    pub(crate) fn told(holder: &Option<Self>) -> String {
        let Some(holder) = holder else { return "another process".into() };
        let zone = TimeZone::system();
        let [since, now] = [holder.since, Timestamp::now()].map(|moment| moment.to_zoned(zone.clone()));
        let form = if since.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        format!("process {} ({}) since {}", holder.process, holder.command, since.strftime(form))
    }
}

/// A command line without characters that a terminal obeys, and not longer than it can be shown.
fn shown(command: &str) -> String {
    let plain = |c: char| {
        if c.is_control() || "\u{202a}\u{202b}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}".contains(c) {
            ' '
        } else {
            c
        }
    };
    let mut text: String = command.chars().take(LONGEST).map(plain).collect();
    if command.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}
