//! Where the exports of a programme are, so that they can be read again without a command line.
//!
//! An import from files leaves `exports.toml` in the folder: the mapping it went by, the file of the key where ids are pseudonyms, and the
//! format of the study's tables. [`Programme::import_again`] does what the same command on fresher exports would. The mapping is the one that was
//! named then and not the copy in the folder: whatever it names is relative to it, and whoever changes its rules is told so. Where it lies in the
//! folder or beside it, that is noted from the folder, so that both can be moved together; elsewhere by its whole path.

use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::grow::grow;
use restive_import::{ImportAsked, Imported, ImportedFolder, Input, Mapping, Reading, Source, SourceError};
use restive_tables::{Format, recognise_bytes, show, write_files};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const FILE: &str = "exports.toml";

/// Where the exports are, and how they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exports {
    /// the mapping; in the file it may be relative to the folder
    pub mapping: PathBuf,
    /// the file of the key, where ids are pseudonyms
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pseudonymise: Option<PathBuf>,
    /// whether the study's tables are Parquet
    #[serde(default)]
    pub parquet: bool,
}

impl Exports {
    /// Notes where the exports of an import were; nothing is noted of tables in memory.
    pub(crate) fn note(mapping: &Mapping, input: &Input<'_>, asked: &ImportAsked) -> Result<()> {
        let (Some(folder), Input::Files { .. }) = (&asked.out, input) else { return Ok(()) };
        let noted = Self {
            mapping: from(folder, &mapping.text.path),
            pseudonymise: asked.pseudonymise.as_deref().map(|path| from(folder, path)),
            parquet: asked.format == Some(Format::Parquet),
        };
        let text = toml::to_string(&noted)
            .map_err(|_| Error::Refused("found a path that is no text, expected letters".into()))?;
        write_files(&[(folder.join(FILE), text.as_bytes())], Some(recognise))?;
        Ok(())
    }

    /// Reads the note in the folder of a programme; `None` if no import has written one.
    pub(crate) fn of(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|answer| restive_tables::Error::Io {
                path: path.clone(),
                doing: "read",
                answer,
            })?,
        };
        // as long as nothing was moved away, what is noted leads to a whole path
        let whole = |path: PathBuf| {
            let path = folder.join(path);
            path.canonicalize().unwrap_or(path)
        };
        let read = toml::from_str(&text).map(|noted: Exports| {
            let pseudonymise = noted.pseudonymise.map(whole);
            Some(Exports { mapping: whole(noted.mapping), pseudonymise, ..noted })
        });
        read.map_err(|error| {
            let what = show::sentence(error.message());
            Error::Refused(format!(
                "{}: found something else ({what}), expected what an import wrote",
                show::path(&path)
            ))
        })
    }
}

/// A path as it is noted: from the folder where it lies in it or beside it, whole elsewhere.
fn from(folder: &Path, path: &Path) -> PathBuf {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let (folder, path) = (whole(folder), whole(path));
    // whatever lies anywhere lies beside a folder of the root
    let beside = folder.parent().filter(|up| up.parent().is_some());
    match (path.strip_prefix(&folder), beside.map(|up| path.strip_prefix(up))) {
        (Ok(inside), _) => inside.into(),
        (_, Some(Ok(beside))) => Path::new("..").join(beside),
        _ => path,
    }
}

fn recognise(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "where the exports are", |bytes| {
        std::str::from_utf8(bytes).is_ok_and(|text| toml::from_str::<Exports>(text).is_ok())
    })
}

/// A row or a cell that an import could not use. No cell of it is here: reasons name columns and lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// the file
    pub file: String,
    /// the line, as the file's own tools count it
    pub line: String,
    /// `row`, `merged` or `cell`
    pub what: String,
    /// why, with the column
    pub reason: String,
}

/// Why the reading of a quarantine ends.
enum Ended {
    Enough,
    Source(SourceError),
}

impl From<SourceError> for Ended {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl Programme {
    /// Where the exports are; nothing where no import has noted it.
    pub fn exports(&self) -> Result<Option<Exports>> {
        Exports::of(self.folder())
    }

    /// Imports what the exports say now, as the last import did; `progress` hears what is being read and the share of it that is done.
    pub fn import_again(&self, progress: impl FnMut(&str, f64)) -> Result<Imported> {
        let folder = show::path(self.folder());
        let Some(exports) = self.exports()? else {
            return Err(Error::Refused(format!(
                "{folder}: found no word on where its exports are, expected that of an import: restive import MAPPING --out {folder} \
                 writes it down"
            )));
        };
        if !exports.mapping.is_file() {
            return Err(Error::Refused(format!(
                "{}: found no mapping, expected the one of the last import: restive import MAPPING --out {folder} tells where it is now",
                show::path(&exports.mapping)
            )));
        }
        let mapping = Mapping::read(&exports.mapping)?;
        let asked = ImportAsked {
            out: Some(self.folder().into()),
            pseudonymise: exports.pseudonymise,
            format: Some(if exports.parquet { Format::Parquet } else { Format::Csv }),
            ..ImportAsked::default()
        };
        grow(&mapping, &Input::Files { base: mapping.text.base() }, &asked, progress)
    }

    /// The first rows that the import of this [summary](Programme::summary) could not use, at most so many; how many there are it tells.
    pub fn quarantine(&self, most: usize) -> Result<Vec<Refused>> {
        if self.summary.reasons.is_empty() {
            return Ok(Vec::new());
        }
        let reading = Reading { file: ImportedFolder::QUARANTINE.into(), ..Reading::default() };
        let refused = |error: SourceError| Error::from(restive_import::Error::from(error));
        let mut source =
            Source::open(&reading, &Input::Files { base: self.imported().folder() }).map_err(refused)?;
        let mut rows = Vec::new();
        let read = source.rows(&[0, 1, 2, 3], |row| {
            if rows.len() == most {
                return Err(Ended::Enough);
            }
            let [file, line, what, reason] = [0, 1, 2, 3].map(|k| row.cell(k).to_string());
            rows.push(Refused { file, line, what, reason });
            Ok(())
        });
        match read {
            Err(Ended::Source(error)) => Err(refused(error)),
            Ok(()) | Err(Ended::Enough) => Ok(rows),
        }
    }
}
