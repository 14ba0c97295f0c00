//! A file that is not there until it is complete.
//!
//! It is written beside its final [place](super::place) under a temporary name and renamed at the end, [durably](super::durable).
//! Whatever goes wrong before that, the temporary file is removed and the file that was there before, if any, is untouched. A program
//! that is told to end at once calls [`abandon_drafts`] first; one that is killed leaves its drafts to the [next run](super::leftover).

use super::durable::{sync, sync_folders};
use super::leftover;
use super::place::{Own, Place};
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// The temporary files and folders that exist now.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a path is within the draft of a folder, which is synced as a whole.
pub(super) fn is_within_draft(path: &Path) -> bool {
    drafts().iter().any(|draft| path.starts_with(draft))
}

/// Removes every file and folder in the making, and keeps any from being put in its place: for a process that is about to end,
/// which would otherwise leave them behind. Where a thread holds the list, because it is just putting a draft in its place, this
/// waits a second for it and no longer.
pub fn abandon_drafts() {
    let start = Instant::now();
    let drafts = loop {
        match DRAFTS.try_lock() {
            Ok(drafts) => break drafts,
            Err(TryLockError::Poisoned(drafts)) => break drafts.into_inner(),
            Err(TryLockError::WouldBlock) if start.elapsed() > Duration::from_secs(1) => return,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    for draft in drafts.iter() {
        // a thread that is still filling a folder can put a file into it while it is being emptied; without the folder it cannot
        while leftover::remove(draft).is_err_and(|answer| answer.kind() == io::ErrorKind::DirectoryNotEmpty)
            && start.elapsed() < Duration::from_secs(2)
        {}
    }
    std::mem::forget(drafts);
}

/// The place of a temporary file or folder on the list, for as long as it exists.
pub(super) struct Listed(PathBuf);

impl Listed {
    /// Makes a draft and puts it on the list as one act: a program that is told to end finds it there or never made.
    pub(super) fn make<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl Fn(&T) -> &Path,
    ) -> io::Result<(T, Self)> {
        let mut drafts = drafts();
        let made = make()?;
        let path = path(&made).to_path_buf();
        drafts.push(path.clone());
        Ok((made, Self(path)))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        drafts().retain(|draft| *draft != self.0);
    }
}

/// A file in the making.
pub(crate) struct Draft {
    place: Place,
    file: NamedTempFile,
    _listed: Listed,
}

impl Draft {
    /// Starts a file; one that is there may be replaced where `replace` recognises it.
    pub(crate) fn create(path: &Path, replace: Option<Own>) -> Result<Self> {
        // it has the permissions of any new file
        Self::create_by(path, replace, OpenOptions::new().read(true).write(true).create_new(true))
    }

    /// The same, for a file that nobody but its owner may read, from its first byte on.
    pub(crate) fn create_private(path: &Path, replace: Option<Own>) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::create_by(path, replace, &options)
    }

    fn create_by(path: &Path, replace: Option<Own>, options: &OpenOptions) -> Result<Self> {
        let place = Place::of_file(path, replace)?;
        leftover::remove_from(place.parent());
        let open = |path: &Path| options.open(path);
        let make = || leftover::named(|builder| builder.make_in(place.parent(), open));
        let made = Listed::make(make, NamedTempFile::path);
        let (file, listed) = made.map_err(|answer| place.refused(answer.kind().into()))?;
        Ok(Self { place, _listed: listed, file })
    }

    /// As it was asked for.
    pub(crate) fn path(&self) -> &Path {
        self.place.asked()
    }

    /// Where it is while in the making.
    pub(crate) fn temporary(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.as_file_mut().write_all(bytes).map_err(Error::io(self.place.asked(), "write"))
    }

    /// Puts the file in its place, over what is there.
    pub(super) fn replace(self) -> Result<()> {
        let refused = |answer| self.place.refused(answer);
        sync([self.temporary()]).map_err(refused)?;
        let held = drafts();
        let replaced = self.place.replace(self.temporary());
        drop(held); // before the draft, which leaves the list
        replaced.and_then(|()| sync_folders([self.place.parent()])).map_err(refused)
    }

    /// Puts finished files in their places, all of them or, at an interruption or a refusal, none. What was there goes
    /// with the drafts, whose names it has then.
    pub(crate) fn put_in_place(finished: Vec<Draft>) -> Result<()> {
        let outer: Vec<&Draft> =
            finished.iter().filter(|draft| !is_within_draft(draft.place.parent())).collect();
        let refused = |answer| match outer.first() {
            Some(draft) => draft.place.refused(answer),
            None => Error::io(Path::new("."), "write")(answer),
        };
        sync(outer.iter().map(|draft| draft.temporary())).map_err(refused)?;
        let held = drafts();
        let mut taken = Vec::new();
        let mut outcome = Ok(());
        for draft in &finished {
            match draft.place.take(draft.temporary()) {
                Ok(how) => taken.push((draft, how)),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        if outcome.is_err() {
            taken.iter().rev().for_each(|(draft, how)| draft.place.give_back(draft.temporary(), how));
        }
        drop(held); // before the drafts, which leave the list
        outcome?;
        sync_folders(outer.iter().map(|draft| draft.place.parent())).map_err(refused)
    }
}
