//! The place of an output, and the one rule for all of them.
//!
//! - What exists is not replaced, unless the caller has leave to (`--force`, `replace=True`). An empty folder is as good as none.
//! - With leave, only what is recognised by its content as something of the same kind is replaced: an [`Own`] says so.
//! - This holds at the moment at which a finished draft takes its place, whatever happened since the work began.
//! - What cannot be a place is refused before the work: a link that leads nowhere, a pipe or a device, the folder that the
//!   program runs in (whoever stands in it would be left in one that is gone), the root of a mounted file system. A link to a
//!   file or folder stands for it.
//!
//! A file takes a new place by a rename that fails where something is (`RENAME_NOREPLACE`; elsewhere a hard link, which does the
//! same). A folder does so by a plain rename, before which only an empty folder gives way. To replace, both names are exchanged in
//! one step (`RENAME_EXCHANGE`); what came out under the draft's name must be the very thing that was recognised, or they are
//! exchanged again. Where a file system cannot exchange, the file that is there gets a second name (a hard link) before the draft is
//! renamed over it, so that the name is never without a file. A folder, or a file on a file system without links, is renamed in three steps;
//! a run that is killed just between them leaves what was there as `.restive-….old`, which nobody removes.

use super::failure::failure_point;
use crate::error::{Error, Result};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Recognises what an output may take the place of: refuses, with what was found, what is not of its kind.
pub type Own = fn(&Path) -> Result<()>;

/// How often a place is looked at that changes at the very moment of the exchange: another run of ours is done sooner.
const TRIES: usize = 10;

/// What goes to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    File,
    Folder,
}

/// Where a draft goes when it is finished.
#[derive(Debug)]
pub(super) struct Place {
    /// as it was asked for, for messages
    asked: PathBuf,
    /// behind links
    at: PathBuf,
    shape: Shape,
    replace: Option<Own>,
}

/// How a draft took its place.
pub(super) enum Taken {
    /// nothing was there
    New,
    /// what was there now has the draft's name
    Exchanged,
}

impl Place {
    /// A place for a file; what `replace` recognises may be there.
    pub(super) fn of_file(path: &Path, replace: Option<Own>) -> Result<Self> {
        Self::new(path, Shape::File, replace)
    }

    /// A place for a folder.
    pub(super) fn of_folder(path: &Path, replace: Option<Own>) -> Result<Self> {
        Self::new(path, Shape::Folder, replace)
    }

    /// A place for a folder in another one, without a name as yet: messages name the other one.
    pub(super) fn in_folder(parent: &Path) -> Result<Self> {
        let place = Self::of_folder(&parent.join("new"), None)?;
        Ok(Self { asked: parent.into(), ..place })
    }

    fn new(path: &Path, shape: Shape, replace: Option<Own>) -> Result<Self> {
        let at = match (fs::symlink_metadata(path), path.canonicalize()) {
            (Ok(_), Ok(at)) => at,
            (Ok(found), Err(_)) if found.is_symlink() => {
                let expected = "a new name, or a link to something";
                return Err(Error::content(path, "", "a link that leads nowhere", expected));
            }
            (Ok(_), Err(answer)) => return Err(Error::io(path, "write")(answer)),
            // where its folder is not there either, that is said below
            (Err(_), _) => path.into(),
        };
        if at.file_name().is_none() {
            return Err(Error::content(path, "", "no name", "the name of what is to be written"));
        }
        let place = Self { asked: path.into(), at, shape, replace };
        let parent = place.parent();
        if !parent.is_dir() {
            return Err(place.refused(io::Error::other(format!("there is no folder {}", parent.display()))));
        }
        if let Ok(found) = fs::metadata(&place.at) {
            place.check(&found)?;
        }
        Ok(place)
    }

    /// As it was asked for.
    pub(super) fn asked(&self) -> &Path {
        &self.asked
    }

    /// The folder that it is in.
    pub(super) fn parent(&self) -> &Path {
        folder_of(&self.at)
    }

    /// What the system said.
    pub(super) fn refused(&self, answer: io::Error) -> Error {
        Error::Io { path: self.asked.clone(), doing: "write", answer }
    }

    /// What is there may stay until it is replaced, or nothing may.
    fn check(&self, found: &Metadata) -> Result<()> {
        let refuse = |found: &str, expected: &str| Err(Error::content(&self.asked, "", found, expected));
        match self.shape {
            Shape::File if found.is_dir() => return Err(self.refused(io::ErrorKind::IsADirectory.into())),
            Shape::File if !found.is_file() => return refuse("a pipe or a device", "the name of a file"),
            Shape::Folder if !found.is_dir() => return refuse("a file", "a new or empty folder"),
            Shape::Folder => {
                let here = std::env::current_dir().and_then(|here| here.canonicalize());
                if here.is_ok_and(|here| here.starts_with(&self.at)) {
                    return refuse(
                        "the folder that the program runs in",
                        "another one: a new or empty folder",
                    );
                }
                if is_mounted(found, self.parent()) {
                    return refuse("the root of a mounted file system", "a folder within it");
                }
                if is_empty(&self.at) {
                    return Ok(());
                }
            }
            Shape::File => {}
        }
        self.recognise()
    }

    /// Whether what is there may be replaced.
    fn recognise(&self) -> Result<()> {
        match self.replace {
            Some(own) => own(&self.asked),
            None => {
                let is_folder = self.shape == Shape::Folder;
                let (found, expected) = match is_folder {
                    true => ("a folder with files", "a new or empty folder"),
                    false => ("a file", "a new one"),
                };
                Err(Error::Exists { path: self.asked.clone(), found, expected })
            }
        }
    }

    /// Puts a finished draft here.
    pub(super) fn take(&self, draft: &Path) -> Result<Taken> {
        match self.move_in(draft) {
            Err(answer) if is_occupied(&answer) => {}
            moved => return moved.map(|()| Taken::New).map_err(|answer| self.refused(answer)),
        }
        for _ in 0..TRIES {
            let before = Identity::of(&self.at);
            match fs::metadata(&self.at) {
                Ok(found) => self.check(&found)?,
                Err(answer) => return Err(self.refused(answer)),
            }
            self.exchange(draft).map_err(|answer| self.refused(answer))?;
            if before.is_some() && Identity::of(draft) == before {
                return Ok(Taken::Exchanged);
            }
            if let Err(answer) = self.exchange(draft) {
                // what came out was not looked at, and must not go the way of the draft
                let kept = draft.with_extension("old");
                rename(draft, &kept).map_err(|answer| self.refused(answer))?;
                let found = format!("something new ({answer}), now {}", kept.display());
                return Err(Error::content(&self.asked, "", found, "what was there, to replace"));
            }
        }
        Err(Error::content(&self.asked, "", "something new at every look", "what was there, to replace"))
    }

    /// Puts a finished draft of a file here, over whatever file is there.
    pub(super) fn replace(&self, draft: &Path) -> io::Result<()> {
        rename(draft, &self.at)
    }

    /// Takes back what [`take`](Self::take) did: the draft has its name again.
    pub(super) fn give_back(&self, draft: &Path, taken: &Taken) {
        // nothing more can be done where the system refuses
        let _ = match taken {
            Taken::New => rename(&self.at, draft),
            Taken::Exchanged => self.exchange(draft),
        };
    }

    /// Renames the draft where nothing is but perhaps an empty folder.
    fn move_in(&self, draft: &Path) -> io::Result<()> {
        match self.shape {
            Shape::File => move_file(draft, &self.at),
            Shape::Folder => {
                if cfg!(windows) {
                    // there, an empty folder does not give way by itself
                    let _ = fs::remove_dir(&self.at);
                }
                rename(draft, &self.at)
            }
        }
    }

    /// The draft and what is there change names.
    fn exchange(&self, draft: &Path) -> io::Result<()> {
        match system::exchange(draft, &self.at) {
            Err(answer) if is_unsupported(&answer) => {}
            exchanged => return exchanged,
        }
        let aside = draft.with_extension("old");
        if self.shape == Shape::File && link(&self.at, &aside).is_ok() {
            if let Err(answer) = rename(draft, &self.at) {
                fs::remove_file(&aside)?;
                return Err(answer);
            }
            return rename(&aside, draft);
        }
        rename(&self.at, &aside)?;
        if let Err(answer) = self.move_in(draft) {
            rename(&aside, &self.at)?;
            return Err(answer);
        }
        rename(&aside, draft)
    }
}

/// The folder that a path is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Renames a file to a name that must be new.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match system::rename_to_new(from, to) {
        Err(answer) if is_unsupported(&answer) => {}
        moved => return moved,
    }
    match link(from, to) {
        Ok(()) => {
            failure_point();
            fs::remove_file(from)
        }
        Err(answer) if answer.kind() == io::ErrorKind::AlreadyExists => Err(answer),
        // a file system without links, such as that of a memory stick: looking first is the best there is
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => rename(from, to),
    }
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    failure_point();
    fs::rename(from, to)
}

/// A second name for a file.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    failure_point();
    fs::hard_link(from, to)
}

fn is_occupied(answer: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(answer.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

fn is_unsupported(answer: &io::Error) -> bool {
    answer.kind() == io::ErrorKind::Unsupported
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// What tells one file or folder from another that took its name, or from itself after a change.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    number: Option<(u64, u64)>,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt;
            Some((found.dev(), found.ino()))
        };
        #[cfg(not(unix))]
        let number = None;
        Some(Self { number, bytes: found.len(), changed: found.modified().ok() })
    }
}

/// Whether a folder is on another file system than the folder that it is in: it cannot be renamed.
#[cfg(unix)]
fn is_mounted(found: &Metadata, parent: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(parent).is_ok_and(|parent| parent.dev() != found.dev())
}

#[cfg(not(unix))]
fn is_mounted(_: &Metadata, _: &Path) -> bool {
    false
}

/// Renames that the standard library does not have.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod system {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    use std::io;
    use std::path::Path;

    pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
        rename(from, to, RenameFlags::NOREPLACE)
    }

    pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
        rename(one, other, RenameFlags::EXCHANGE)
    }

    fn rename(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
        // the answers of kernels and file systems that do not know the flag
        const UNKNOWN: [Errno; 4] = [Errno::NOSYS, Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP];
        super::failure_point();
        renameat_with(CWD, from, CWD, to, flags).map_err(|answer| match UNKNOWN.contains(&answer) {
            true => io::ErrorKind::Unsupported.into(),
            false => answer.into(),
        })
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod system {
    use std::io;
    use std::path::Path;

    pub(super) fn rename_to_new(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
