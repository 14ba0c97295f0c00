//! Answers that took a job to find: what the data can answer, whether the ranking finds the right people, whom the lists served.
//!
//! Each is kept as long as the program runs, with a [stamp](stamp) of the files that it was found in. An answer whose files have changed since is
//! still shown, and said to be old: nobody waits for a page, and nobody takes yesterday's answer for today's.

use jiff::Zoned;
use restive_pipeline::Doctor;
use restive_programme::fairness::Fairness;
use restive_report::Page;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::SystemTime;

/// All that is kept.
#[derive(Default)]
pub(crate) struct Answers {
    /// what the data can answer
    pub(crate) doctor: Slot<Doctor>,
    /// whether the ranking finds the right people
    pub(crate) evidence: Slot<Evidence>,
    /// whom the lists served
    pub(crate) fair: Slot<Fair>,
    /// what other numbers in the rules would bring, and who asked
    pub(crate) capacity: Slot<(restive_programme::WhatIf, Arc<str>)>,
}

/// Whether the ranking finds the right people.
pub(crate) struct Evidence {
    /// what `restive evaluate` says, in people's words
    pub(crate) page: Page,
    /// the model, by name
    pub(crate) model: String,
    /// what tells model and study from any other
    pub(crate) fingerprints: [String; 2],
    /// what should be known
    pub(crate) notes: Vec<String>,
    /// how far a trial is, line by line; none where there is none
    pub(crate) trial: Vec<(&'static str, String)>,
}

/// Whom the lists served.
pub(crate) struct Fair {
    /// what `restive fairness` says
    pub(crate) answer: Fairness,
    /// the same as a page
    pub(crate) page: Page,
    /// the columns that were asked for; none: the usual ones
    pub(crate) by: Vec<String>,
    /// how many lists were asked for
    pub(crate) last: usize,
    /// a floor that was asked for, as column, group and places, and what it costs
    pub(crate) floor: Option<([String; 2], usize, String)>,
}

/// An answer.
pub(crate) struct Kept<T> {
    pub(crate) of: T,
    /// when it was found
    pub(crate) at: String,
    stamp: String,
}

impl<T> Kept<T> {
    /// Whether its files have changed since.
    pub(crate) fn is_old(&self, now: &str) -> bool {
        self.stamp != now
    }
}

/// A place for an answer.
pub(crate) struct Slot<T>(RwLock<Option<Arc<Kept<T>>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(RwLock::new(None))
    }
}

impl<T> Slot<T> {
    /// The latest answer.
    pub(crate) fn get(&self) -> Option<Arc<Kept<T>>> {
        self.0.read().ok()?.clone()
    }

    /// Keeps an answer, with the stamp that was taken before it was looked for.
    pub(crate) fn put(&self, stamp: String, of: T) {
        let at = Zoned::now().strftime("%Y-%m-%d %H:%M").to_string();
        if let Ok(mut place) = self.0.write() {
            *place = Some(Arc::new(Kept { of, at, stamp }));
        }
    }
}

/// What tells files from what they were before: the contents of files, or of those in folders. That somebody has looked at a study changes
/// nothing of it, and neither does an import of the same exports. It may read files that were written since: not for handlers.
pub(crate) fn stamp(folder: &Path, parts: &[&str]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        let path = folder.join(part);
        let mut files: Vec<PathBuf> = match std::fs::read_dir(&path) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => vec![path],
        };
        files.retain(|file| file.is_file() && file.file_name().is_none_or(|name| name != "looks.csv"));
        files.sort();
        for file in files {
            let name = file.file_name().map_or_else(Default::default, |name| name.to_string_lossy());
            all.update(format!("{name} {}\n", digest(&file)));
        }
    }
    hex(all)
}

/// Time of change, length and digest of files, so that none is read again that has not been written since.
type Known = Mutex<HashMap<PathBuf, (SystemTime, u64, String)>>;

fn digest(file: &Path) -> String {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    let found = file.metadata().and_then(|found| Ok((found.modified()?, found.len())));
    let Ok((time, length)) = found else { return String::new() };
    let Ok(mut known) = KNOWN.get_or_init(Default::default).lock() else { return String::new() };
    match known.get(file) {
        Some((then, long, digest)) if (*then, *long) == (time, length) => digest.clone(),
        _ => {
            let digest = read(file).unwrap_or_default();
            known.insert(file.into(), (time, length, digest.clone()));
            digest
        }
    }
}

fn read(file: &Path) -> std::io::Result<String> {
    let (mut file, mut content, mut part) = (File::open(file)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hex(content)),
            n => content.update(&part[..n]),
        }
    }
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_old_once_its_files_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path().join("study");
        std::fs::create_dir(&study).unwrap();
        std::fs::write(study.join("study.toml"), "a").unwrap();
        let now = || stamp(folder.path(), &["study", "nothing"]);
        let slot = Slot::default();
        assert!(slot.get().is_none());
        slot.put(now(), 7);
        let kept = slot.get().unwrap();
        std::fs::write(study.join("looks.csv"), "one").unwrap();
        // the same written again is the same
        std::fs::write(study.join("study.toml"), "a").unwrap();
        assert!(!kept.is_old(&now()));
        std::fs::write(study.join("study.toml"), "ab").unwrap();
        assert!(kept.is_old(&now()) && kept.of == 7);
    }
}
