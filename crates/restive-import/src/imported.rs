//! Results of the last import within the folder of a programme, as one snapshot.
//!
//! | path | content |
//! |---|---|
//! | `current` | name of the folder of the last import |
//! | `imported/NAME/` | all that an import wrote: see [`programme`](crate::programme) |
//!
//! An import becomes visible when `current` is replaced, in one step. A program that has read the earlier name continues with the earlier
//! folder, which stays until the import after this one. `NAME` begins with a digest of `summary.json`, which holds digests of all other
//! files. So each of them can be checked: in part whenever a programme is opened, in full before an import extends it and by
//! `restive audit verify`.

use crate::error::{Error, Result};
use crate::summary::Summary;
use restive_tables::{remove_folder, replace_file, show};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

pub(crate) const PEOPLE: &str = "people.parquet";
pub(crate) const MAPPING: &str = "mapping.toml";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const CHANGES: &str = "changes.csv";
pub(crate) const STUDY: &str = "study";
/// The file of a study that changes after its import.
pub(crate) const LOOKS: &str = "study/looks.csv";
const CURRENT: &str = "current";
const IMPORTED: &str = "imported";
/// Hexadecimal digits of a name.
const DIGITS: usize = 16;
/// Bytes of the largest file that is compared whenever a programme is opened.
const SMALL: u64 = 1 << 16;
/// Files and folders by which the folder of a programme is recognised if its `current` is lost.
const OF_PROGRAMMES: [&str; 7] =
    [CURRENT, IMPORTED, "exports.toml", "ledger.db", "models", "records", "rules.toml"];

/// A file that an import wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFile {
    /// Path within the folder of the import, with `/`.
    pub name: String,
    /// Length.
    pub bytes: u64,
    /// XXH3-128 of the content: 32 hexadecimal digits.
    pub digest: String,
}

/// A file of an import that is not as the import wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Path of the file.
    pub path: PathBuf,
    /// Description of the present content.
    pub found: String,
    /// Description of the content that the import wrote, and the command that writes it again.
    pub expected: String,
}

impl Damage {
    fn new(programme: &Path, path: &Path, found: impl Into<String>, expected: &str) -> Self {
        let programme = show::path(programme);
        let remedy =
            format!("restive import MAPPING --out {programme} --afresh writes all files of the import again");
        Self { path: path.into(), found: found.into(), expected: format!("{expected}; {remedy}") }
    }
}

impl From<Damage> for Error {
    fn from(damage: Damage) -> Self {
        let Damage { path, found, expected } = damage;
        Self::Refused(format!("{}: found {found}, expected {expected}", show::path(&path)))
    }
}

/// Results of the last import of a programme.
#[derive(Debug, Clone)]
pub struct ImportedFolder {
    programme: PathBuf,
    folder: PathBuf,
}

impl ImportedFolder {
    /// Name of the file of the rows that could not be used.
    pub const QUARANTINE: &str = "quarantine.csv";

    /// Whether a folder belongs to a programme with at least one import.
    pub fn is_in(programme: &Path) -> bool {
        programme.join(CURRENT).is_file()
    }

    /// Opens the results of the last import and reads its summary. Compares lengths of all files and the content of small ones.
    ///
    /// # Errors
    ///
    /// If there are none, or they are damaged; the message names the file and the remedy.
    pub fn open(programme: &Path) -> Result<(Self, Summary)> {
        let folder = programme.join(IMPORTED).join(current(programme)?);
        let path = folder.join(SUMMARY);
        let damaged = |found: &str| {
            Error::from(Damage::new(programme, &path, found, "the summary that an import wrote"))
        };
        let text = match fs::read(&path) {
            Err(answer) if answer.kind() == ErrorKind::NotFound => return Err(damaged("no file")),
            other => other.map_err(|answer| unreadable(&path, answer))?,
        };
        let is_whole = folder.file_name().is_some_and(|name| {
            name.to_str().and_then(|name| name.get(..DIGITS)) == Some(name_of(&text).as_str())
        });
        if !is_whole {
            return Err(damaged(if text.is_empty() { "an empty file" } else { "other content" }));
        }
        let summary: Summary = serde_json::from_slice(&text)
            .map_err(|error| damaged(&format!("something else ({})", show::sentence(&error.to_string()))))?;
        let imported = Self { programme: programme.into(), folder };
        match imported.compare(&summary, SMALL)?.into_iter().next() {
            None => Ok((imported, summary)),
            Some(damage) => Err(damage.into()),
        }
    }

    /// Compares the content of every file with the `summary`, which [`open`](Self::open) returned; returns what differs.
    ///
    /// # Errors
    ///
    /// If the system cannot read a file.
    pub fn verify(&self, summary: &Summary) -> Result<Vec<Damage>> {
        self.compare(summary, u64::MAX)
    }

    /// Compares lengths, and the content of files of at most `largest` bytes.
    fn compare(&self, summary: &Summary, largest: u64) -> Result<Vec<Damage>> {
        let mut differing = Vec::new();
        for file in &summary.files {
            let path = self.folder.join(&file.name);
            let mut damage = |found: &str, expected: &str| {
                differing.push(Damage::new(&self.programme, &path, found, expected));
            };
            let bytes = match path.metadata() {
                Err(answer) if answer.kind() == ErrorKind::NotFound => {
                    damage("no file", "the one that an import wrote");
                    continue;
                }
                other => other.map_err(|answer| unreadable(&path, answer))?.len(),
            };
            if bytes != file.bytes {
                let expected = format!("{} bytes as an import wrote them", file.bytes);
                damage(
                    &if bytes == 0 { "an empty file".into() } else { format!("{bytes} bytes") },
                    &expected,
                );
            } else if bytes <= largest
                && digest(&path).map_err(|answer| unreadable(&path, answer))? != file.digest
            {
                damage("other content", "that which an import wrote");
            }
        }
        Ok(differing)
    }

    /// The folder of the programme.
    pub fn programme(&self) -> &Path {
        &self.programme
    }

    /// The folder with the results; no later import changes it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the study.
    pub fn study(&self) -> PathBuf {
        self.folder.join(STUDY)
    }

    /// The file of the people.
    pub fn people(&self) -> PathBuf {
        self.folder.join(PEOPLE)
    }

    /// The file of the mapping.
    pub fn mapping(&self) -> PathBuf {
        self.folder.join(MAPPING)
    }

    /// The file of the rows that could not be used.
    pub fn quarantine(&self) -> PathBuf {
        self.folder.join(Self::QUARANTINE)
    }

    /// A file that every import replaces: its time of change is the end of the last import.
    pub fn pointer(programme: &Path) -> PathBuf {
        programme.join(CURRENT)
    }

    /// Folder that messages name for a study: of its programme if an import wrote it, else of the study.
    pub fn shown(study: &Path) -> &Path {
        let parts: Vec<_> =
            study.iter().rev().take(3).map(|part| part.to_str().unwrap_or_default()).collect();
        let is_imported = matches!(parts[..], [STUDY, name, IMPORTED] if is_name(name));
        study.ancestors().nth(3).filter(|_| is_imported).unwrap_or(study)
    }
}

/// The folder that holds the results of imports.
pub(crate) fn folder(programme: &Path) -> PathBuf {
    programme.join(IMPORTED)
}

/// The name of the folder of the last import.
pub(crate) fn current(programme: &Path) -> Result<String> {
    let path = programme.join(CURRENT);
    let expected = "the name of a folder in imported/";
    let text = match fs::read(&path) {
        Err(answer) if answer.kind() == ErrorKind::NotFound => {
            return Err(Damage::new(programme, &path, "no file", expected).into());
        }
        other => other.map_err(|answer| unreadable(&path, answer))?,
    };
    match std::str::from_utf8(&text).ok().map(str::trim_end) {
        Some(name) if is_name(name) => Ok(name.into()),
        _ if text.is_empty() => Err(Damage::new(programme, &path, "an empty file", expected).into()),
        _ => Err(Damage::new(programme, &path, "something else", expected).into()),
    }
}

/// Makes the results in a folder of this name those of the last import, and removes all but these and the ones before.
pub(crate) fn switch(programme: &Path, name: &str) -> Result<ImportedFolder> {
    let imported = ImportedFolder { programme: programme.into(), folder: folder(programme).join(name) };
    let before = current(programme).ok();
    replace_file(&programme.join(CURRENT), format!("{name}\n").as_bytes())?;
    if before.as_deref() == Some(name) {
        return Ok(imported);
    }
    for other in names_in(&folder(programme)) {
        if is_name(&other) && other != name && Some(&other) != before.as_ref() {
            // one that is open elsewhere may stay until the next import
            let _ = remove_folder(&folder(programme).join(other));
        }
    }
    Ok(imported)
}

/// Whether a folder holds something, and all of it is not of a programme: nothing is written there.
pub(crate) fn refuse_other(folder: &Path) -> Result<()> {
    let name = show::path(folder);
    if fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        return Err(Error::Refused(format!(
            "{name}: found a file, expected the folder of a programme, an empty one or none"
        )));
    }
    if names_in(folder).next().is_none() || OF_PROGRAMMES.iter().any(|name| folder.join(name).exists()) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{name}: found a folder with something else in it, expected the folder of a programme, an empty one or none"
    )))
}

/// Whether a folder has no results of an import and nothing else in it.
pub(crate) fn is_new(programme: &Path) -> bool {
    names_in(programme).all(|name| name == IMPORTED) && names_in(&folder(programme)).next().is_none()
}

/// Names in a folder, without locks and the drafts of an import that was ended.
fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with(".restive-") && !name.ends_with(".lock"))
}

/// Digests of all files in a folder that is to be that of an import, in the order of their names.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<ImportedFile>> {
    let mut files = Vec::new();
    gather(folder, "", &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn gather(folder: &Path, within: &str, files: &mut Vec<ImportedFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let name = format!("{within}{}", name.to_string_lossy());
        if path.is_dir() {
            gather(&path, &format!("{name}/"), files)?;
        } else if ![SUMMARY, LOOKS].contains(&name.as_str()) {
            files.push(ImportedFile { bytes: path.metadata()?.len(), digest: digest(&path)?, name });
        }
    }
    Ok(())
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut part) = (File::open(path)?, Xxh3::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(format!("{:032x}", digest.digest128())),
            n => digest.update(&part[..n]),
        }
    }
}

/// The name of the folder of an import with this summary.
pub(crate) fn name_of(summary: &[u8]) -> String {
    format!("{:016x}", xxh3_64(summary))
}

/// Whether a text is the name of results: a digest, optionally followed by a number.
fn is_name(name: &str) -> bool {
    let (digits, number) = name.split_once('-').unwrap_or((name, "2"));
    let is_hexadecimal = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    digits.len() == DIGITS
        && digits.bytes().all(is_hexadecimal)
        && !number.is_empty()
        && number.bytes().all(|digit| digit.is_ascii_digit())
}

fn unreadable(path: &Path, answer: io::Error) -> Error {
    restive_tables::Error::Io { path: path.into(), doing: "read", answer }.into()
}
