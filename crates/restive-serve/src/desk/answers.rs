//! Answers that took a job to find: what the data can answer, whether the ranking finds the right people, whom the lists served, what other
//! numbers would bring, whether the record is whole.
//!
//! Each is kept with a [stamp](stamp) of the files that it was found in, also beyond the end of the program ([`beside`](super::beside)). An answer
//! whose files have changed since is still shown, and said to be old: nobody waits for a page, and nobody takes yesterday's answer for today's.

use super::beside;
use jiff::Zoned;
use restive_pipeline::{Doctor, Severity};
use restive_programme::fairness::Fairness;
use restive_programme::{WhatIf, findings_page};
use restive_report::Page;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::SystemTime;

/// All that is kept.
pub(crate) struct Answers {
    /// what the data can answer
    pub(crate) doctor: Slot<Looked>,
    /// whether the ranking finds the right people
    pub(crate) evidence: Slot<Evidence>,
    /// whom the lists served
    pub(crate) fair: Slot<Fair>,
    /// what other numbers in the rules would bring
    pub(crate) capacity: Slot<Tried>,
    /// whether the record is as it was written
    pub(crate) verified: Slot<Checked>,
}

impl Answers {
    /// Those of a programme, as they were kept beside it.
    pub(super) fn of(folder: &Path) -> Self {
        Self {
            doctor: Slot::of(folder, "doctor"),
            evidence: Slot::of(folder, "evidence"),
            fair: Slot::of(folder, "fairness"),
            capacity: Slot::of(folder, "capacity"),
            verified: Slot::of(folder, "verified"),
        }
    }

    /// What is not right with the files that they are kept in.
    pub(crate) fn troubles(&self) -> Vec<String> {
        let all = [
            self.doctor.trouble(),
            self.evidence.trouble(),
            self.fair.trouble(),
            self.capacity.trouble(),
            self.verified.trouble(),
        ];
        all.into_iter().flatten().collect()
    }
}

/// What the data can answer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Looked {
    /// in a sentence
    pub(crate) verdict: String,
    /// what was found, one of each check
    pub(crate) findings: Vec<Finding>,
    /// what `restive doctor` says
    pub(crate) page: Page,
}

/// What one check found.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finding {
    /// the check
    pub(crate) name: String,
    /// how grave it is
    pub(crate) grave: Grave,
    pub(crate) found: String,
    pub(crate) what_to_do: Option<String>,
}

/// How grave a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grave {
    Fine,
    Note,
    Warning,
    Serious,
    /// somebody has said that it does not count
    Silenced,
}

impl Looked {
    pub(crate) fn of(doctor: &Doctor) -> Self {
        let grave = |finding: &restive_pipeline::Finding| match (&finding.silenced, finding.severity) {
            (Some(_), _) => Grave::Silenced,
            (None, Severity::Serious) => Grave::Serious,
            (None, Severity::Warning) => Grave::Warning,
            (None, Severity::Note) => Grave::Note,
            (None, Severity::Fine) => Grave::Fine,
        };
        let finding = |one: &restive_pipeline::Finding| Finding {
            name: one.name.into(),
            grave: grave(one),
            found: one.found.clone(),
            what_to_do: one.what_to_do.as_ref().map(ToString::to_string),
        };
        let findings = doctor.findings.iter().map(finding).collect();
        Self { verdict: doctor.verdict(), findings, page: findings_page(doctor, "") }
    }
}

/// Whether the ranking finds the right people.
#[derive(Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// the model, by name
    pub(crate) model: String,
    /// what tells model and study from any other
    pub(crate) fingerprints: [String; 2],
    /// what should be known
    pub(crate) notes: Vec<String>,
    /// how far a trial is, line by line; none where there is none
    pub(crate) trial: Vec<(String, String)>,
    /// what `restive evaluate` says, in people's words
    pub(crate) page: Page,
}

/// Whom the lists served.
#[derive(Serialize, Deserialize)]
pub(crate) struct Fair {
    /// in a sentence
    pub(crate) verdict: String,
    /// what it is about
    pub(crate) about: String,
    /// the columns by which these people could be grouped
    pub(crate) columns: Vec<String>,
    /// the columns that were asked for; none: the usual ones
    pub(crate) by: Vec<String>,
    /// how many lists were asked for
    pub(crate) last: usize,
    /// the columns of the tables, each with its groups
    pub(crate) tables: Vec<(String, Vec<String>)>,
    /// a floor that was asked for, and what it costs
    pub(crate) floor: Option<FloorAsked>,
    /// what `restive fairness` says, as a page
    pub(crate) page: Page,
}

/// A floor that was asked for.
#[derive(Serialize, Deserialize)]
pub(crate) struct FloorAsked {
    pub(crate) column: String,
    pub(crate) group: String,
    pub(crate) places: usize,
    /// what it costs, in a sentence
    pub(crate) price: String,
}

impl Fair {
    /// Of an answer; what was asked for beside it comes with it.
    pub(crate) fn of(
        answer: &Fairness,
        page: Page,
        by: Vec<String>,
        last: usize,
        floor: Option<FloorAsked>,
    ) -> Self {
        let groups = |table: &restive_programme::fairness::Table| {
            let names = table.groups.iter().map(|group| group.name.clone()).collect();
            (table.column.clone(), names)
        };
        Self {
            verdict: answer.verdict(),
            about: answer.about.clone(),
            columns: answer.columns.clone(),
            tables: answer.tables.iter().map(groups).collect(),
            by,
            last,
            floor,
            page,
        }
    }
}

/// What other numbers in the rules would bring, and who asked.
#[derive(Serialize, Deserialize)]
pub(crate) struct Tried {
    pub(crate) who: String,
    pub(crate) answer: WhatIf,
}

/// Whether the record is as it was written.
#[derive(Serialize, Deserialize)]
pub(crate) struct Checked {
    /// in words
    pub(crate) said: String,
    /// the language of the words
    pub(crate) language: String,
}

/// An answer.
pub(crate) struct Kept<T> {
    pub(crate) of: T,
    /// when it was found
    pub(crate) at: String,
    pub(super) stamp: String,
}

impl<T> Kept<T> {
    /// An answer, with its moment and its stamp.
    pub(super) fn new(of: T, at: String, stamp: String) -> Self {
        Self { of, at, stamp }
    }

    /// Whether its files have changed since.
    pub(crate) fn is_old(&self, now: &str) -> bool {
        self.stamp != now
    }
}

/// A place for an answer.
pub(crate) struct Slot<T> {
    name: &'static str,
    folder: PathBuf,
    now: RwLock<Option<Arc<Kept<T>>>>,
    trouble: RwLock<Option<String>>,
}

impl<T: Serialize + DeserializeOwned> Slot<T> {
    /// With the answer that was kept beside a programme.
    fn of(folder: &Path, name: &'static str) -> Self {
        let (now, trouble) = match beside::read(folder, name) {
            Ok(kept) => (kept.map(Arc::new), None),
            Err(why) => (None, Some(why)),
        };
        Self { name, folder: folder.into(), now: RwLock::new(now), trouble: RwLock::new(trouble) }
    }

    /// The latest answer.
    pub(crate) fn get(&self) -> Option<Arc<Kept<T>>> {
        self.now.read().ok()?.clone()
    }

    /// Keeps an answer, with the stamp that was taken before it was looked for. It blocks: not for handlers.
    pub(crate) fn put(&self, stamp: String, of: T) {
        let at = Zoned::now().strftime("%Y-%m-%d %H:%M").to_string();
        let kept = Arc::new(Kept::new(of, at, stamp));
        if let Ok(mut now) = self.now.write() {
            *now = Some(kept.clone());
        }
        let written = beside::write(&self.folder, self.name, &kept);
        if let Ok(mut trouble) = self.trouble.write() {
            *trouble = written.err();
        }
    }
}

impl<T> Slot<T> {
    fn trouble(&self) -> Option<String> {
        self.trouble.read().ok()?.clone()
    }
}

/// What tells files from what they were before: the contents of files, or of those in folders. That somebody has looked at a study changes
/// nothing of it, and neither does an import of the same exports. It may read files that were written since: not for handlers.
pub(crate) fn stamp(parts: &[PathBuf]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        let mut files: Vec<PathBuf> = match std::fs::read_dir(part) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => vec![part.clone()],
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
        let now = || stamp(&["study", "nothing"].map(|part| folder.path().join(part)));
        let slot = Slot::of(folder.path(), "number");
        assert!(slot.get().is_none());
        slot.put(now(), 7);
        let kept = slot.get().unwrap();
        std::fs::write(study.join("looks.csv"), "one").unwrap();
        // the same written again is the same
        std::fs::write(study.join("study.toml"), "a").unwrap();
        assert!(!kept.is_old(&now()));
        std::fs::write(study.join("study.toml"), "ab").unwrap();
        assert!(kept.is_old(&now()) && kept.of == 7);
        // the program ends, and begins again
        drop(slot);
        let again = Slot::<i32>::of(folder.path(), "number").get().unwrap();
        assert!(again.is_old(&now()) && again.of == 7 && again.at == kept.at);
    }
}
