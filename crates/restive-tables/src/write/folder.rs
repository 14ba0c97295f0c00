//! A folder that is not there until it is complete.
//!
//! It is filled beside its final [place](super::place) under a temporary name and renamed at the end, [durably](super::durable). A
//! folder that is there already is replaced only where the caller allows it and recognises all of it: what restive did not write it
//! does not remove. Whatever goes wrong, the folder that was there stays. A folder in the making may hold others.
//!
//! ```
//! use restive_tables::FolderDraft;
//!
//! # let place = tempfile::tempdir().unwrap();
//! # let path = place.path().join("answers");
//! let draft = FolderDraft::create(&path, None)?;
//! std::fs::write(draft.file("answer.txt"), "42").unwrap();
//! assert!(!path.exists());
//! draft.put_in_place()?;
//! assert!(path.join("answer.txt").exists());
//! # Ok::<(), restive_tables::Error>(())
//! ```

use super::draft::{Listed, drafts, is_within_draft};
use super::durable::{sync, sync_folder};
use super::leftover;
use super::place::{Own, Place};
use crate::error::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder in the making.
pub struct FolderDraft {
    place: Place,
    folder: TempDir,
    _listed: Listed,
}

impl FolderDraft {
    /// Starts a folder; one that is there may be replaced where `replace` recognises it.
    pub fn create(path: &Path, replace: Option<Own>) -> Result<Self> {
        Self::create_at(Place::of_folder(path, replace)?)
    }

    fn create_at(place: Place) -> Result<Self> {
        leftover::remove_from(place.parent());
        let make = || {
            leftover::named(|builder| {
                // Temporary folders are private by default; the finished one has the permissions of any new folder.
                #[cfg(unix)]
                builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
                builder.tempdir_in(place.parent())
            })
        };
        let made = Listed::make(make, TempDir::path);
        let (folder, listed) = made.map_err(|answer| place.refused(answer.kind().into()))?;
        Ok(Self { place, _listed: listed, folder })
    }

    /// Starts a new folder in another one, whose name is known when it is [put in its place](Self::put_in_place_as).
    pub fn create_in(parent: &Path) -> Result<Self> {
        Self::create_at(Place::in_folder(parent)?)
    }

    /// Whether a folder could be written, before there is anything to write: a draft that is made and dropped.
    pub fn check(path: &Path, replace: Option<Own>) -> Result<()> {
        Self::create(path, replace).map(drop)
    }

    /// Where to write a file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Blames the file under its final name for what the system said of it.
    pub fn refused(&self, name: &str) -> impl FnOnce(io::Error) -> Error {
        let path = self.place.asked().join(name);
        move |answer| Error::Io { path, doing: "write", answer }
    }

    /// The folder is complete. What was there goes with the draft, whose name it has then.
    pub fn put_in_place(self) -> Result<()> {
        let is_outer = !is_within_draft(self.place.parent());
        if is_outer {
            sync([self.folder.path()]).map_err(|answer| self.place.refused(answer))?;
        }
        let held = drafts();
        let taken = self.place.take(self.folder.path());
        drop(held); // before the draft, which leaves the list
        taken?;
        if is_outer {
            sync_folder(self.place.parent()).map_err(|answer| self.place.refused(answer))?;
        }
        Ok(())
    }

    /// Like [`put_in_place`](Self::put_in_place), for a draft that was [made](Self::create_in) before its name was known.
    pub fn put_in_place_as(mut self, name: &str) -> Result<()> {
        self.place = Place::of_folder(&self.place.parent().join(name), None)?;
        self.put_in_place()
    }
}
