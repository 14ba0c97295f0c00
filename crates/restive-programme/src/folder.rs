//! The folder of a programme, which `restive import` fills.
//!
//! | file | what it holds |
//! |---|---|
//! | `current`, `imported/` | name and results of the last [import](restive_import): [`ImportedFolder`] |
//! | `rules.toml` | this programme's [rules](restive_pipeline::Rules); none: its budget and nothing else |
//! | `words.toml` | its [words](restive_pipeline::reasons::Words); none: English |
//! | `models/2026-03-16/` | a model, by the day of its training; the newest is used, or the one that the rules name |
//! | `exports.toml` | where the exports are: an import [again](Programme::import_again) goes by it |
//! | `ledger.db` | the [record](restive_ledger) of every plan and every outcome |
//! | `ledger.db.lock`, `models.lock` | [locks](Lock) of a process that writes, and of a training |

use crate::draft::Backdrop;
use crate::error::{Error, Result};
use jiff::civil::Date;
use jiff::{Span, ToSpan};
use restive_import::{ImportedFolder, Summary};
use restive_ledger::Lock;
use restive_pipeline::Rules;
use restive_pipeline::reasons::Words;
use restive_tables::{Contacts, make_folder, show};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of a programme.
#[derive(Debug, Clone)]
pub struct Programme {
    folder: PathBuf,
    imported: ImportedFolder,
    /// what the last import said
    pub summary: Summary,
    /// who may be called, where whoever asks has read it already
    known: Option<Arc<Backdrop>>,
}

/// A stretch of days in which calls are made: a week, a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// on the calendar
    pub number: i64,
    /// its first day, on which the decision is made
    pub first_day: Date,
    /// its last day
    pub last_day: Date,
}

/// A model of the programme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// of its folder
    pub name: String,
    /// the day of its training, where the name says so
    pub day: Option<Date>,
    /// which of that day
    pub number: u32,
    /// where it is
    pub folder: PathBuf,
}

impl Programme {
    /// Whether a folder is one that an import filled.
    pub fn is_one(folder: &Path) -> bool {
        ImportedFolder::is_in(folder)
    }

    /// The study in a folder: itself, or that of a programme.
    pub fn study_in(folder: &Path) -> Result<PathBuf> {
        if Self::is_one(folder) { Ok(Self::open(folder)?.study()) } else { Ok(folder.into()) }
    }

    /// The people in a file, or in the folder of a programme.
    pub fn people_in(path: &Path) -> Result<PathBuf> {
        if Self::is_one(path) { Ok(Self::open(path)?.people()) } else { Ok(path.into()) }
    }

    /// Opens the folder that an import filled. All results that this reads are of one import, also if another import ends meanwhile.
    pub fn open(folder: &Path) -> Result<Self> {
        let name = show::path(folder);
        if !Self::is_one(folder) {
            let found = match (folder.join("study.toml").is_file(), folder.join("card.json").is_file()) {
                (true, _) => "a study",
                (_, true) => "a model",
                _ if folder.join("imported").is_dir() => {
                    "a folder without its file current, as an unfinished import leaves it"
                }
                _ if folder.is_dir() => "a folder that no import filled",
                _ if folder.exists() => "a file",
                _ => "nothing",
            };
            return Err(Error::Refused(format!(
                "{name}: found {found}, expected the folder of a programme: restive import MAPPING --out PROGRAMME fills one"
            )));
        }
        let (imported, summary) = ImportedFolder::open(folder)?;
        Ok(Self { folder: folder.into(), imported, summary, known: None })
    }

    /// The same, for somebody who has read already who may be called: a table of many thousands is not read again for one of them.
    pub fn knowing(self, backdrop: Arc<Backdrop>) -> Self {
        Self { known: Some(backdrop), ..self }
    }

    /// What an id of the programme is called in the study; nothing where nobody has it.
    pub(crate) fn arm_of(&self, id: &str) -> Result<Option<String>> {
        match &self.known {
            Some(backdrop) => Ok(backdrop.contacts.arm(id).map(str::to_owned)),
            None => Ok(Contacts::read(&self.people())?.arm(id).map(str::to_owned)),
        }
    }

    /// The programme as it is now: for a process that has waited for another one that wrote.
    pub(crate) fn reopened(&self) -> Result<Self> {
        Ok(Self { known: self.known.clone(), ..Self::open(&self.folder)? })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Results of the last import.
    pub fn imported(&self) -> &ImportedFolder {
        &self.imported
    }

    /// The study.
    pub fn study(&self) -> PathBuf {
        self.imported.study()
    }

    /// The people.
    pub fn people(&self) -> PathBuf {
        self.imported.people()
    }

    /// The record of plans and outcomes.
    pub fn ledger(&self) -> PathBuf {
        ledger_in(&self.folder)
    }

    /// The file of rules, whether or not it is there.
    pub fn rules_file(&self) -> PathBuf {
        self.folder.join("rules.toml")
    }

    /// The file of words, whether or not it is there.
    pub fn words_file(&self) -> PathBuf {
        self.folder.join("words.toml")
    }

    /// The folder of models.
    pub fn models_folder(&self) -> PathBuf {
        self.folder.join("models")
    }

    /// The rules; none: no file of them is there.
    pub fn rules(&self) -> Result<Rules> {
        let path = self.rules_file();
        if is_there(&path)? { Ok(Rules::read(&path)?) } else { Ok(Rules::default()) }
    }

    /// The words; English where there is no file of them.
    pub fn words(&self) -> Result<Words> {
        let path = self.words_file();
        if is_there(&path)? { Ok(Words::read(&path)?) } else { Ok(Words::default()) }
    }

    /// The period that the next list is for: the one after the last that the study knows.
    pub fn period(&self) -> Result<Period> {
        let refused = || {
            let path = show::path(&self.folder);
            Error::Refused(format!("{path}: found no periods, expected those of an import: import again"))
        };
        let rows = &self.summary.periods;
        let day = |text: &str| text.parse::<Date>().ok();
        let last = rows.last().ok_or_else(refused)?;
        let first_day = day(&last.decision).ok_or_else(refused)?;
        let length = match self.summary.period.as_str() {
            "week" => 7.days(),
            "month" => 1.month(),
            _ => {
                let before = day(&last.state_from).ok_or_else(refused)?;
                Span::new().days((first_day - before).get_days())
            }
        };
        let next = first_day.checked_add(length).map_err(|_| refused())?;
        let last_day = next.checked_sub(1.day()).map_err(|_| refused())?;
        Ok(Period { number: last.number + 1, first_day, last_day })
    }

    /// The models, oldest first; those whose name is no day before all others.
    pub fn models(&self) -> Result<Vec<ModelEntry>> {
        let folder = self.models_folder();
        let mut models = Vec::new();
        let refused = |answer| restive_tables::Error::Io { path: folder.clone(), doing: "read", answer };
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(models),
            other => other.map_err(refused)?,
        };
        for entry in entries {
            let path = entry.map_err(refused)?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if !path.join("card.json").is_file() {
                continue;
            }
            let (day, number) = dated(name);
            models.push(ModelEntry { name: name.into(), day, number, folder: path });
        }
        models.sort_by(|a, b| (a.day, a.number, &a.name).cmp(&(b.day, b.number, &b.name)));
        Ok(models)
    }

    /// The model to plan with: the one that is named, else the one that the rules name, else the newest.
    pub fn model(&self, named: Option<&str>, rules: &Rules) -> Result<ModelEntry> {
        let mut models = self.models()?;
        let folder = show::path(&self.folder);
        match named.or(rules.model.as_deref()) {
            None => models.pop().ok_or_else(|| {
                Error::Refused(format!(
                    "{folder}: found no model, expected one: restive train {folder} makes one"
                ))
            }),
            Some(name) => {
                let known: Vec<String> = models.iter().map(|model| show::name(&model.name)).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                models.into_iter().find(|model| model.name == name).ok_or_else(|| {
                    Error::Refused(format!(
                        "{folder}: found no model {}, expected one of those there: {known}",
                        show::name(name)
                    ))
                })
            }
        }
    }

    /// Locks the folder of models for a training: a second one would write the same checkpoint.
    pub fn lock_models(&self) -> Result<Lock> {
        Ok(Lock::of_folder(&self.made_models_folder()?)?)
    }

    /// The folder of a training that begins today, or of one that was interrupted; the folder of models is made.
    pub fn new_model(&self, today: Date) -> Result<PathBuf> {
        let folder = self.made_models_folder()?;
        let interrupted = std::fs::read_dir(&folder).into_iter().flatten().flatten().find_map(|entry| {
            let name = entry.file_name().to_str()?.strip_suffix(".checkpoint")?.to_string();
            (!folder.join(&name).exists()).then_some(name)
        });
        match interrupted {
            Some(name) => Ok(folder.join(name)),
            None => self.free_model(today),
        }
    }

    fn made_models_folder(&self) -> Result<PathBuf> {
        let folder = self.models_folder();
        make_folder(&folder).map_err(|answer| restive_tables::Error::Io {
            path: folder.clone(),
            doing: "make",
            answer,
        })?;
        Ok(folder)
    }

    /// The folder of a training that begins today, whatever was interrupted; the folder of models is made.
    pub(crate) fn free_model(&self, today: Date) -> Result<PathBuf> {
        let folder = self.made_models_folder()?;
        let taken =
            |name: &str| folder.join(name).exists() || folder.join(format!("{name}.checkpoint")).exists();
        let first = today.to_string();
        if !taken(&first) {
            return Ok(folder.join(first));
        }
        let name = (2..).map(|k| format!("{today}-{k}")).find(|name| !taken(name));
        Ok(folder.join(name.expect("one of all numbers is free")))
    }
}

/// The record of plans and outcomes in the folder of a programme.
pub(crate) fn ledger_in(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// Whether there is something of that name: a link that leads nowhere too, and an error if the system does not tell.
pub(crate) fn is_there(path: &Path) -> Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(answer) if answer.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(answer) => Err(restive_tables::Error::Io { path: path.into(), doing: "read", answer }.into()),
    }
}

/// The day and the number in the name of a model.
fn dated(name: &str) -> (Option<Date>, u32) {
    let day = |text: &str| text.parse::<Date>().ok();
    match name.char_indices().nth(10) {
        None => (day(name), 1),
        Some((at, '-')) => match name[at + 1..].parse() {
            Ok(number) => (day(&name[..at]), number),
            Err(_) => (None, 1),
        },
        Some(_) => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_by_day_and_number() {
        let march = Some(Date::constant(2026, 3, 16));
        assert_eq!(dated("2026-03-16"), (march, 1));
        assert_eq!(dated("2026-03-16-12"), (march, 12));
        assert_eq!(dated("2026-03-16-x"), (None, 1));
        assert_eq!(dated("best"), (None, 1));
        assert_eq!(dated("ein-anderes-modell"), (None, 1));
    }
}
