//! A folder that is not there until it is complete.
//!
//! It is filled beside its final place under a temporary name and renamed at the end. A folder that is there already is
//! replaced only where the caller allows it and where it holds nothing but files of the same kind: what restive did not
//! write it does not remove. Whatever goes wrong, the folder that was there stays. A folder in the making may hold others.
//!
//! ```
//! use restive_tables::FolderDraft;
//!
//! # let place = tempfile::tempdir().unwrap();
//! # let path = place.path().join("answers");
//! let draft = FolderDraft::create(&path, false, &["answer.txt"])?;
//! std::fs::write(draft.file("answer.txt"), "42").unwrap();
//! assert!(!path.exists());
//! draft.put_in_place()?;
//! assert!(path.join("answer.txt").exists());
//! # Ok::<(), restive_tables::Error>(())
//! ```

use super::draft::{Listed, drafts};
use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder in the making.
pub struct FolderDraft {
    path: PathBuf,
    folder: TempDir,
    listed: Listed,
}

impl FolderDraft {
    /// Starts a folder; `own` are the files that one to be replaced may hold.
    pub fn create(path: &Path, replace: bool, own: &[&str]) -> Result<Self> {
        let parent = Self::check(path, replace, own)?;
        let refused = |e: io::Error| Error::Io { path: path.into(), doing: "write", answer: e.kind().into() };
        let folder = temporary(parent).map_err(refused)?;
        Ok(Self { path: path.into(), listed: Listed::new(folder.path()), folder })
    }

    /// Whether a folder may be started, without doing so; the folder that it would stand in.
    pub fn check<'a>(path: &'a Path, replace: bool, own: &[&str]) -> Result<&'a Path> {
        let refused = |answer| Error::Io { path: path.into(), doing: "write", answer };
        if path.exists() && !path.is_dir() {
            return Err(refused(io::ErrorKind::AlreadyExists.into()));
        }
        for entry in fs::read_dir(path).into_iter().flatten() {
            let name = entry.map_err(refused)?.file_name();
            if !replace {
                let expected = "a new or empty folder, unless it is to be replaced";
                return Err(Error::content(path, "", "a folder with files", expected));
            }
            if !own.iter().any(|own| *own == name) {
                let (found, expected) =
                    (format!("{name:?} in the folder"), "nothing but files of its kind to replace");
                return Err(Error::content(path, "", found, expected));
            }
        }
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(refused(io::Error::other(format!("there is no folder {}", parent.display()))));
        }
        Ok(parent)
    }

    /// Where to write a file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Blames the file under its final name for what the system said of it.
    pub fn refused(&self, name: &str) -> impl FnOnce(io::Error) -> Error {
        let path = self.path.join(name);
        move |answer| Error::Io { path, doing: "write", answer }
    }

    /// The folder is complete.
    pub fn put_in_place(self) -> Result<()> {
        let held = drafts();
        let outcome = self.rename();
        drop(held);
        drop(self.listed);
        outcome?;
        // it has left its temporary place, there is nothing to remove
        let _ = self.folder.keep();
        Ok(())
    }

    fn rename(&self) -> Result<()> {
        let refused = |answer| Error::Io { path: self.path.clone(), doing: "write", answer };
        if fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_some()) {
            // Two renames: between them the old folder is there under its temporary name only.
            let parent = self.folder.path().parent().expect("made in a folder");
            let aside = temporary(parent).map_err(refused)?;
            let old = aside.path().join("old");
            fs::rename(&self.path, &old).map_err(refused)?;
            if let Err(answer) = fs::rename(self.folder.path(), &self.path) {
                let _ = fs::rename(&old, &self.path);
                return Err(refused(answer));
            }
        } else {
            if cfg!(windows) {
                let _ = fs::remove_dir(&self.path);
            }
            fs::rename(self.folder.path(), &self.path).map_err(refused)?;
        }
        Ok(())
    }
}

fn temporary(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".restive-").suffix(".tmp");
    // Temporary folders are private by default; the finished one has the permissions of any new folder.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(parent)
}
