//! Who did what at this desk, and when: `desk.jsonl` in the folder of the programme, one line for each write.
//!
//! ```json
//! {"at":"2026-03-16T08:00:00Z","who":"asha","role":"planner","what":"leave out","of":"2026-03-16 B12","before":"5bdc…"}
//! ```
//!
//! A line is only ever added, and is on the disk before the answer goes out. It names whoever did something, never whom it was done to:
//! people are ids. Each line has a digest of the one before it, so that a line that is changed or taken out shows. The ledger has its own
//! [chain](restive_ledger) of what was decided; this file has also what left no trace there: who entered, what was downloaded.

use crate::error::{Error, Result};
use crate::security::session::Session;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const FILE: &str = "desk.jsonl";
/// Bytes of a line, generously.
const LONGEST: usize = 1024;

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

/// The file.
pub(super) struct Record {
    path: PathBuf,
    file: Mutex<(File, String)>,
}

fn digest(line: &str) -> String {
    Sha256::digest(line.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
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
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(Error::io(&name, "open"))?;
        if !text.is_empty() && !text.ends_with('\n') {
            // a line that a kill cut off stays as it is, and the next one begins anew
            file.write_all(b"\n").map_err(Error::io(&name, "write"))?;
        }
        Ok(Self { path, file: Mutex::new((file, last)) })
    }

    /// Adds a line.
    pub(super) fn add(&self, session: &Session, what: &str, of: &str) {
        let Ok(mut kept) = self.file.lock() else { return };
        let entry = Entry {
            at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            who: session.who.to_string(),
            role: session.role.word().into(),
            what: what.into(),
            of: of.into(),
            before: kept.1.clone(),
        };
        let Ok(line) = serde_json::to_string(&entry) else { return };
        // where the disk is full the ledger has refused before; there is nobody else to tell
        let _ = kept.0.write_all(format!("{line}\n").as_bytes()).and_then(|()| kept.0.sync_data());
        kept.1 = digest(&line);
    }

    /// The latest lines, the last first. Of a record of years only the end is read.
    pub(super) fn latest(&self, most: usize) -> Vec<Entry> {
        let read = || {
            let mut file = File::open(&self.path)?;
            let (length, tail) = (file.metadata()?.len(), (most * LONGEST) as u64);
            file.seek(SeekFrom::Start(length.saturating_sub(tail)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            // the first line may have lost its beginning
            let cut = bytes.iter().position(|byte| *byte == b'\n').filter(|_| length > tail);
            let whole = cut.map_or(0, |k| k + 1);
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes[whole..]).into_owned())
        };
        let text = read().unwrap_or_default();
        text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).take(most).collect()
    }
}

impl super::Desk {
    /// Notes something that was done and is not a write to the programme: an entry, a download. It blocks for a moment.
    pub(crate) fn note(&self, session: &Session, what: &str, of: &str) {
        self.record.add(session, what, of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::role::Role;

    #[test]
    fn lines_follow_from_each_other_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session { who: "asha".into(), role: Role::Planner, worker: None };
        for (k, what) in ["one", "two", "three"].iter().enumerate() {
            let record = Record::of(folder.path()).unwrap();
            record.add(&session, what, "2026-03-16 B12");
            assert_eq!(record.latest(10).len(), k + 1);
        }
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let entry: Entry = serde_json::from_str(pair[1]).unwrap();
            assert_eq!(entry.before, digest(pair[0]));
        }
    }
}
