//! Indices go out here: a writer per format, one row per arm.
//!
//! | column | meaning |
//! |---|---|
//! | `arm` | the arm's name or number |
//! | `w_0` … `w_{M−1}` | the index of each state; NaN where none could be determined. Of each belief: `w_S_H` |
//! | `is_indexable` | the verdict; empty (null) where it is not known |
//! | `last_0` … `last_{M−1}` | *with* [`Detail::Full`]: the subsidy from which the state stays passive |
//! | `status`, `residual` | *with* [`Detail::Full`]: how far the answer can be trusted |
//!
//! `w.npy` holds the indices alone, `[N,M]` float64; the verdicts go to `w.npy.verdict.npy`, `[N]` bool, where an
//! arm without verdict is false.
//!
//! A file appears under its name only when it is complete: see [`draft`].

pub(crate) mod csv;
pub(crate) mod draft;
pub(crate) mod folder;
mod npy;
pub(crate) mod parquet;
pub(crate) mod table;

use crate::error::{Error, Result};
use crate::format::Format;
use crate::names::ArmNames;
use arrow_schema::DataType;
use draft::Draft;
pub use draft::abandon_drafts;
pub use folder::FolderDraft;
use restive::index::Indices;
use std::path::{Path, PathBuf};
pub use table::{Cells, write_table};

/// Writes whole files, and puts them in their places only when all of them are complete.
pub fn write_files(files: &[(PathBuf, &[u8])]) -> Result<()> {
    let draft = |(path, bytes): &(PathBuf, &[u8])| {
        let mut draft = Draft::create(path)?;
        draft.write(bytes)?;
        Ok(draft)
    };
    Draft::put_in_place(files.iter().map(draft).collect::<Result<_>>()?)
}

/// Which columns a table of indices has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// the indices and the verdict
    #[default]
    Short,
    /// also the last crossings, the status and the residual
    Full,
}

/// Writes a file of indices batch by batch.
pub struct IndexWriter {
    sink: Sink,
}

enum Sink {
    Csv(csv::CsvIndices),
    Parquet(Box<parquet::ParquetIndices>),
    Npy(npy::NpyIndices),
}

impl IndexWriter {
    /// The files that writing to a path would create or replace.
    pub fn outputs(path: &Path) -> Result<Vec<PathBuf>> {
        Ok(match Format::of(path)? {
            Format::Csv | Format::Parquet => vec![path.into()],
            Format::Npy => vec![path.into(), npy::verdict_path(path)],
        })
    }

    /// Starts a file for arms whose indices have these `labels` (`0`, `1`, … for states), in the format that the ending of the
    /// path stands for.
    ///
    /// `arm_type` is the type of the names ([`ArmReader::arm_type`](crate::ArmReader::arm_type)). A `.npy` file
    /// has room for the indices and the verdicts only, whatever the detail.
    ///
    /// Nothing appears under the path before [`finish`](Self::finish).
    pub fn create(path: &Path, labels: &[String], detail: Detail, arm_type: DataType) -> Result<Self> {
        let sink = match Format::of(path)? {
            Format::Csv => Sink::Csv(csv::CsvIndices::create(path, labels, detail)?),
            Format::Parquet => {
                Sink::Parquet(Box::new(parquet::ParquetIndices::create(path, labels, detail, arm_type)?))
            }
            Format::Npy => Sink::Npy(npy::NpyIndices::create(path, labels.len())?),
        };
        Ok(Self { sink })
    }

    /// Writes the next arms.
    pub fn write(&mut self, names: &ArmNames, solved: &Indices) -> Result<()> {
        match &mut self.sink {
            Sink::Csv(sink) => sink.write(names, solved),
            Sink::Parquet(sink) => sink.write(names, solved),
            Sink::Npy(sink) => sink.write(solved),
        }
    }

    /// Completes the file and puts it in its place.
    pub fn finish(self) -> Result<()> {
        let drafts: Vec<Draft> = match self.sink {
            Sink::Csv(sink) => vec![sink.finish()?],
            Sink::Parquet(sink) => vec![sink.finish()?],
            Sink::Npy(sink) => sink.finish()?.into(),
        };
        Draft::put_in_place(drafts)
    }

    /// Refuses an output that is the input under the same or another name.
    pub fn refuse_same_file(input: &Path, output: &Path) -> Result<()> {
        for file in Self::outputs(output)? {
            let is_input = match (input.canonicalize(), file.canonicalize()) {
                (Ok(input), Ok(file)) => input == file,
                _ => false,
            };
            if is_input {
                return Err(Error::OutputIsInput { path: file });
            }
        }
        Ok(())
    }
}
