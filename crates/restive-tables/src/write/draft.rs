//! A file that is not there until it is complete.
//!
//! It is written beside its final place under a temporary name and renamed at the end. Whatever goes wrong
//! before that, the temporary file is removed and the file that was there before, if any, is untouched. A program that is
//! told to end at once calls [`abandon_drafts`] first.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// The temporary files and folders that exist now.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file and folder in the making, and keeps any from being put in its place: for a process that is about to end,
/// which would otherwise leave them behind.
pub fn abandon_drafts() {
    let drafts = drafts();
    for draft in drafts.iter() {
        // nothing more can be done about one that stays
        let _ = if draft.is_dir() { std::fs::remove_dir_all(draft) } else { std::fs::remove_file(draft) };
    }
    std::mem::forget(drafts);
}

/// The place of a temporary file or folder on the list, for as long as it exists.
pub(super) struct Listed(PathBuf);

impl Listed {
    pub(super) fn new(path: &Path) -> Self {
        drafts().push(path.into());
        Self(path.into())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        drafts().retain(|draft| *draft != self.0);
    }
}

/// A file in the making.
pub(crate) struct Draft {
    path: PathBuf,
    file: NamedTempFile,
    listed: Listed,
}

impl Draft {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let answer = io::ErrorKind::IsADirectory.into();
            return Err(Error::Io { path: path.into(), doing: "write", answer });
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let answer = io::Error::other(format!("there is no folder {}", folder.display()));
            return Err(Error::Io { path: path.into(), doing: "write", answer });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".restive-").suffix(".tmp");
        // Temporary files are private by default; the finished one has the permissions of any new file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|e| Error::Io {
            path: path.into(),
            doing: "write",
            answer: e.kind().into(),
        })?;
        Ok(Self { path: path.into(), listed: Listed::new(file.path()), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is while in the making.
    pub(crate) fn place(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.as_file_mut().write_all(bytes).map_err(Error::io(&self.path, "write"))
    }

    /// Puts finished files in their places, all of them or, at an interruption, none.
    pub(crate) fn put_in_place(finished: Vec<Draft>) -> Result<()> {
        let held = drafts();
        let mut listed = Vec::new();
        let mut outcome = Ok(());
        for draft in finished {
            listed.push(draft.listed);
            if outcome.is_ok() {
                let refused = |e: tempfile::PersistError| Error::Io {
                    path: draft.path.clone(),
                    doing: "write",
                    answer: e.error,
                };
                outcome = draft.file.persist(&draft.path).map(drop).map_err(refused);
            }
        }
        drop(held);
        outcome
    }
}
