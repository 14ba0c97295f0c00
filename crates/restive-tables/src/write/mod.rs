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
//! A file appears under its name only when it is complete ([`draft`]) and on the disk ([`durable`]), and takes the place of another one
//! only by one rule ([`place`]).

pub(crate) mod csv;
pub(crate) mod draft;
mod durable;
mod failure;
pub(crate) mod folder;
mod leftover;
mod npy;
pub(crate) mod parquet;
pub(crate) mod place;
pub(crate) mod table;

use crate::error::{Error, Result};
use crate::format::Format;
use crate::names::ArmNames;
use crate::own::recognise_table;
use arrow_schema::DataType;
use draft::Draft;
pub use draft::abandon_drafts;
pub use durable::{make_folder, make_private_folders, remove_file, remove_folder, sync_folder};
pub use folder::FolderDraft;
pub use leftover::remove_from as remove_leftovers;
pub use place::Own;
use place::folder_of;
use restive::index::Indices;
use std::path::{Path, PathBuf};
pub use table::{Cells, write_private_table, write_table};

/// Writes whole files, and puts them in their places only when all of them are complete. Those that are there are replaced only
/// where `replace` recognises them.
pub fn write_files(files: &[(PathBuf, &[u8])], replace: Option<Own>) -> Result<()> {
    put(files, |path| Draft::create(path, replace))
}

/// Like [`write_files`], for files of people's names and numbers: nobody but their owner may read them, from the first byte on.
pub fn write_private_files(files: &[(PathBuf, &[u8])], replace: Option<Own>) -> Result<()> {
    put(files, |path| Draft::create_private(path, replace))
}

fn put(files: &[(PathBuf, &[u8])], create: impl Fn(&Path) -> Result<Draft>) -> Result<()> {
    let draft = |(path, bytes): &(PathBuf, &[u8])| {
        let mut draft = create(path)?;
        draft.write(bytes)?;
        Ok(draft)
    };
    Draft::put_in_place(files.iter().map(draft).collect::<Result<_>>()?)
}

/// Like [`write_private_files`], for one file.
pub fn write_private_file(path: &Path, bytes: &[u8], replace: Option<Own>) -> Result<()> {
    write_private_files(&[(path.into(), bytes)], replace)
}

/// Writes a file over whatever has its name, in one step on every system. For files that nothing but restive writes.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut draft = Draft::create(path, Some(|_| Ok(())))?;
    draft.write(bytes)?;
    draft.replace()
}

/// Whether a file could be written, before there is anything to write: a draft that is made and dropped.
pub fn check_file(path: &Path, replace: Option<Own>) -> Result<()> {
    Draft::create(path, replace).map(drop)
}

/// Refuses an output that is an input, under the same or another name; where the input is a folder, one of these files of it,
/// even where it is not there yet.
pub fn refuse_input(output: &Path, input: &Path, files: &[&str]) -> Result<()> {
    // what is not there yet will be in its folder
    let new = |path: &Path| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    let place = |path: &Path| path.canonicalize().ok().or_else(|| new(path));
    let mut inputs = files.iter().map(|name| input.join(name)).chain([input.into()]);
    match place(output) {
        Some(found) if inputs.any(|input| place(&input).as_ref() == Some(&found)) => {
            Err(Error::OutputIsInput { path: output.into() })
        }
        _ => Ok(()),
    }
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
    /// Nothing appears under the path before [`finish`](Self::finish). What is there is replaced only where `replace` is set and
    /// it [is](Self::recognise) a file of indices.
    pub fn create(
        path: &Path,
        replace: bool,
        labels: &[String],
        detail: Detail,
        arm_type: DataType,
    ) -> Result<Self> {
        let replace = replace.then_some(Self::recognise as Own);
        let sink = match Format::of(path)? {
            Format::Csv => Sink::Csv(csv::CsvIndices::create(path, replace, labels, detail)?),
            Format::Parquet => Sink::Parquet(Box::new(parquet::ParquetIndices::create(
                path, replace, labels, detail, arm_type,
            )?)),
            Format::Npy => Sink::Npy(npy::NpyIndices::create(path, replace, labels.len())?),
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

    /// Refuses a file that holds no indices.
    pub fn recognise(path: &Path) -> Result<()> {
        if Format::of(path)? == Format::Npy {
            return npy::recognise(path);
        }
        recognise_table(path, "indices", |columns| {
            // arm, w_…, is_indexable and perhaps last_…, status, residual
            let Some(labels) = columns.iter().position(|name| *name == "is_indexable") else { return false };
            let are = |columns: &[&str], start: &str| columns.iter().all(|name| name.starts_with(start));
            let (indices, detail) = (&columns[..labels], &columns[labels + 1..]);
            let is_detail = |detail: &[&str]| match detail {
                [] => true,
                [last @ .., "status", "residual"] => last.len() + 1 == labels && are(last, "last_"),
                _ => false,
            };
            indices.len() > 1 && indices[0] == "arm" && are(&indices[1..], "w_") && is_detail(detail)
        })
    }
}
