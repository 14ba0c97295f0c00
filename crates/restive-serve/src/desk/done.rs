//! Who did what at this desk, and when: `desk.jsonl` in the folder of the programme, one line for each write.
//!
//! ```json
//! {"at":"2026-03-16T08:00:00Z","who":"asha","role":"planner","what":"leave out","of":"2026-03-16 B12","before":"5bdc…"}
//! ```
//!
//! A line is only ever added, and is on the disk before the answer goes out. Where the disk takes no line, every page says so until it does, and
//! nothing is forgotten meanwhile. A line names whoever did something, never whom it was done to:
//! people are ids. Each line has a digest of the one before it, so that a line that is changed or taken out shows. The ledger has its own
//! [chain](restive_ledger) of what was decided; this file has also what left no trace there: who entered, what was downloaded.

use crate::error::{Error, Result};
use crate::security::session::Session;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const FILE: &str = "desk.jsonl";
/// Bytes of a line, generously.
const LONGEST: usize = 1024;
/// Lines that are kept while the disk takes none.
const MOST: usize = 10_000;

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// when
    pub at: String,
    /// by whom
    pub who: String,
    /// what they were
    pub role: String,
    /// what, in a word or two
    pub what: String,
    /// to what: a plan, an id
    pub of: String,
    /// the digest of the line before
    pub before: String,
}

/// The file. It is opened anew for every line: one that somebody moved away is begun again, and is not written into where nobody finds it.
pub(super) struct Record {
    path: PathBuf,
    end: Mutex<End>,
}

/// Where the file ends.
#[derive(Default)]
struct End {
    /// the digest of the last line, whether or not the disk has it
    last: String,
    /// lines that the disk has not taken yet
    behind: VecDeque<String>,
    /// lines that could not be kept either
    lost: usize,
    /// whether a line may be there in part
    is_torn: bool,
    /// why the disk takes none
    why: Option<String>,
}

fn digest(line: &str) -> String {
    Sha256::digest(line.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl End {
    /// Writes what is behind. What the disk takes is on it when this returns; what it does not stays behind.
    fn catch_up(&mut self, path: &Path) {
        if self.behind.is_empty() {
            return;
        }
        let mut lines = String::new();
        if self.is_torn {
            lines.push('\n');
        }
        self.behind.iter().for_each(|line| lines.extend([line.as_str(), "\n"]));
        let write = || -> std::io::Result<()> {
            let mut file = private().open(path)?;
            let before = file.metadata()?.len();
            let mut written = file.write_all(lines.as_bytes()).and_then(|()| file.sync_data());
            if before == 0 {
                // a new file: its name too
                let folder = path.parent().unwrap_or(Path::new(""));
                written = written.and_then(|()| restive_tables::sync_folder(folder));
            }
            // a part of it is no line: the file is as long as it was, or the next line begins anew
            written.map_err(|error| match file.set_len(before) {
                Ok(()) => error,
                Err(_) => std::io::Error::other(Torn(error)),
            })
        };
        match write() {
            Ok(()) => {
                self.behind.clear();
                (self.is_torn, self.why) = (false, None);
            }
            Err(error) => {
                self.is_torn |= error.get_ref().is_some_and(|inner| inner.is::<Torn>());
                self.why = Some(error.to_string());
            }
        }
    }
}

/// A line that is there in part.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Torn(std::io::Error);

/// How the file is opened.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

impl Record {
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let name = restive_tables::show::path(&path);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(Error::io(&name, "read"))?,
        };
        let last = text.lines().last().map_or(String::new(), digest);
        private().open(&path).map_err(Error::io(&name, "open"))?;
        // a line that a kill cut off stays as it is, and the next one begins anew
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        Ok(Self { path, end: Mutex::new(End { last, is_torn, ..End::default() }) })
    }

    /// Adds a line. One that the disk does not take is kept and tried again with the next, and [`trouble`](Self::trouble) says so until then: what
    /// it tells of is done, and the ledger has it.
    pub(super) fn add(&self, session: &Session, what: &str, of: &str) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Entry {
            at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            who: session.who.to_string(),
            role: session.role.word().into(),
            what: what.into(),
            of: of.into(),
            before: end.last.clone(),
        };
        let Ok(line) = serde_json::to_string(&entry) else { return };
        if end.behind.len() < MOST {
            end.last = digest(&line);
            end.behind.push_back(line);
        } else {
            end.lost += 1;
        }
        end.catch_up(&self.path);
    }

    /// How many lines the disk has not taken, and why; nothing where it has all.
    pub(super) fn trouble(&self) -> Option<(usize, String)> {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match end.behind.len() + end.lost {
            0 => None,
            n => Some((n, end.why.clone().unwrap_or_default())),
        }
    }

    /// The latest lines, the last first, those among them that the disk has not taken yet. Of a record of years only the end is read.
    pub(super) fn latest(&self, most: usize) -> Vec<Entry> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        // somebody looks: perhaps there is room again
        end.catch_up(&self.path);
        let text = tail(&self.path, most * LONGEST).unwrap_or_default();
        let behind = end.behind.iter().map(String::as_str);
        let all = behind.rev().chain(text.lines().rev());
        all.filter_map(|line| serde_json::from_str(line).ok()).take(most).collect()
    }
}

/// The last lines of a file, of about so many bytes; none without its beginning.
fn tail(path: &Path, bytes: usize) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let (length, bytes) = (file.metadata()?.len(), bytes as u64);
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut read = Vec::new();
    file.read_to_end(&mut read)?;
    let cut = read.iter().position(|byte| *byte == b'\n').filter(|_| length > bytes);
    Ok(String::from_utf8_lossy(&read[cut.map_or(0, |k| k + 1)..]).into_owned())
}

impl super::Desk {
    /// Notes something that was done and is not a write to the programme: an entry, a download. It blocks for a moment.
    pub(crate) fn note(&self, session: &Session, what: &str, of: &str) {
        self.record.add(session, what, of);
    }

    /// How many lines of `desk.jsonl` the disk has not taken, and why; nothing where it has all.
    pub(crate) fn unrecorded(&self) -> Option<(usize, String)> {
        self.record.trouble()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::role::Role;

    fn asha() -> Session {
        Session { who: "asha".into(), role: Role::Planner, worker: None }
    }

    /// Every line follows from the one before it, but for blank ones.
    fn follow(folder: &Path) -> usize {
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        for pair in lines.windows(2) {
            let entry: Entry = serde_json::from_str(pair[1]).unwrap();
            assert_eq!(entry.before, digest(pair[0]));
        }
        lines.len()
    }

    #[test]
    fn lines_follow_from_each_other_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        for (k, what) in ["one", "two", "three"].iter().enumerate() {
            let record = Record::of(folder.path()).unwrap();
            record.add(&asha(), what, "2026-03-16 B12");
            assert_eq!(record.latest(10).len(), k + 1);
        }
        assert_eq!(follow(folder.path()), 3);
        // a line that a kill cut off
        let mut file = private().open(folder.path().join(FILE)).unwrap();
        file.write_all(b"{\"at\":\"2026").unwrap();
        let record = Record::of(folder.path()).unwrap();
        record.add(&asha(), "four", "");
        assert_eq!(record.latest(10)[0].what, "four");
        assert_eq!(record.latest(10).len(), 4);
    }

    #[test]
    fn a_line_that_the_disk_refuses_is_told_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join(FILE), folder.path().join("away"));
        let record = Record::of(folder.path()).unwrap();
        record.add(&asha(), "one", "");
        assert_eq!(record.trouble(), None);
        std::fs::rename(&path, &away).unwrap();
        std::fs::create_dir(&path).unwrap();
        record.add(&asha(), "two", "");
        record.add(&asha(), "three", "");
        let (n, why) = record.trouble().unwrap();
        assert!(n == 2 && !why.is_empty(), "{why}");
        // it is shown all the same
        assert_eq!(
            record.latest(10).iter().map(|one| one.what.as_str()).collect::<Vec<_>>(),
            ["three", "two"]
        );
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&away, &path).unwrap();
        record.add(&asha(), "four", "");
        assert_eq!((record.trouble(), follow(folder.path())), (None, 4));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_no_half_line() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record::of(folder.path()).unwrap();
        record.add(&asha(), "one", "");
        let path = folder.path().join(FILE);
        let away = folder.path().join("away");
        std::fs::rename(&path, &away).unwrap();
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        record.add(&asha(), "two", "");
        let (n, why) = record.trouble().unwrap();
        assert!(n == 1 && why.contains("No space left"), "{why}");
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&away, &path).unwrap();
        record.add(&asha(), "three", "");
        assert_eq!((record.trouble(), follow(folder.path())), (None, 3));
    }
}
