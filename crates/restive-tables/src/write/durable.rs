//! Durable outputs: a file or folder that has its final name is complete on the disk.
//!
//! A file system may keep a new name before it keeps the content under it: after a power cut the file is there and empty. So every
//! output takes the same steps:
//!
//! 1. it is written under the name of a draft, and [`sync`] brings its files and folders to the disk;
//! 2. the switch: it is renamed to its final name;
//! 3. [`sync_folder`] brings the new name to the disk;
//! 4. only then is removed what had the name before.
//!
//! A draft within a draft takes none of these steps by itself: the outer one takes them for both. Many files are synced by one call for
//! their file system on Linux (`syncfs`), on other systems one by one. Windows has no call that syncs a folder: there,
//! the log of the file system (NTFS) keeps names in their order.

use super::failure::failure_point;
use super::place::folder_of;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Largest number of files and folders that are synced one by one where the system can do otherwise.
const FEW: usize = 4;

/// Brings files to the disk, and folders with all that is in them.
pub(super) fn sync<'a>(drafts: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for draft in drafts {
        gather(draft, &mut files, &mut folders)?;
    }
    sync_all(&files, &folders)
}

/// Brings the names in folders to the disk.
pub(super) fn sync_folders<'a>(folders: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    let folders: BTreeSet<PathBuf> = folders.into_iter().map(Path::to_path_buf).collect();
    sync_all(&[], &folders.into_iter().collect::<Vec<_>>())
}

/// The files of a draft, and its folders, the inner ones first.
fn gather(path: &Path, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        gather(&entry?.path(), files, folders)?;
    }
    folders.push(path.into());
    Ok(())
}

fn sync_all(files: &[PathBuf], folders: &[PathBuf]) -> io::Result<()> {
    if files.len() + folders.len() > FEW && system::sync_file_systems(files, folders)? {
        return Ok(());
    }
    for file in files {
        // Windows syncs only what is open for writing
        OpenOptions::new().read(true).write(cfg!(windows)).open(file)?.sync_all()?;
    }
    folders.iter().try_for_each(|folder| sync_folder(folder))
}

/// Brings the names in a folder to the disk.
#[cfg(not(windows))]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder)?.sync_all() {
        // a file system that has no call for it, such as some of networks: it keeps names as it does
        Err(answer) if matches!(answer.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        done => done,
    }
}

/// Windows has no call for it.
#[cfg(windows)]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a folder and its missing parents; their names are on the disk when this returns.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    make_folders([folder], &fs::DirBuilder::new())
}

/// Like [`make_folder`], for folders that only their owner may enter.
pub fn make_private_folders<'a>(folders: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    make_folders(folders, &builder)
}

fn make_folders<'a>(folders: impl IntoIterator<Item = &'a Path>, builder: &fs::DirBuilder) -> io::Result<()> {
    let mut parents = BTreeSet::new();
    for folder in folders {
        make(folder, builder, &mut parents)?;
    }
    sync_folders(parents.iter().map(PathBuf::as_path))
}

fn make(folder: &Path, builder: &fs::DirBuilder, parents: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder_of(folder);
    make(parent, builder, parents)?;
    failure_point();
    match builder.create(folder) {
        // another process made it meanwhile
        Err(answer) if answer.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    parents.insert(parent.into());
    Ok(())
}

/// Removes a file if it exists; its name is gone from the disk when this returns.
pub fn remove_file(path: &Path) -> Result<()> {
    failure_point();
    match fs::remove_file(path) {
        Err(answer) if answer.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| sync_folder(folder_of(path))).map_err(Error::io(path, "remove")),
    }
}

/// Removes a folder with its content.
pub fn remove_folder(path: &Path) -> Result<()> {
    failure_point();
    fs::remove_dir_all(path).map_err(Error::io(path, "remove"))
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashSet;
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    /// Whether the system could bring to the disk all of the file systems that these files and folders are on.
    pub(super) fn sync_file_systems(files: &[PathBuf], folders: &[PathBuf]) -> io::Result<bool> {
        let mut synced = HashSet::new();
        for path in files.iter().chain(folders) {
            let file = File::open(path)?;
            if !synced.insert(file.metadata()?.dev()) {
                continue;
            }
            match rustix::fs::syncfs(&file) {
                // a sandbox that does not know the call
                Err(rustix::io::Errno::NOSYS) => return Ok(false),
                done => done?,
            }
        }
        Ok(true)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::path::PathBuf;

    pub(super) fn sync_file_systems(_: &[PathBuf], _: &[PathBuf]) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sync_of_a_draft_reaches_every_file_and_folder_inner_ones_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        for name in ["a/b/1", "a/2", "3"] {
            fs::write(path(name), name).unwrap();
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        gather(folder.path(), &mut files, &mut folders).unwrap();
        files.sort();
        assert_eq!(files, [path("3"), path("a/2"), path("a/b/1")]);
        assert_eq!(folders, [path("a/b"), path("a"), folder.path().into()]);
        // few and many
        sync([folder.path()]).unwrap();
        sync_all(&files, &[]).unwrap();
        assert!(sync([path("nothing").as_path()]).is_err());
    }

    #[test]
    fn folders_are_made_with_all_that_they_are_in_and_a_file_in_the_way_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        make_folder(&path("a/b/c")).unwrap();
        make_folder(&path("a/b/c")).unwrap();
        make_private_folders([path("p/1").as_path(), &path("p/2")]).unwrap();
        assert!(path("a/b/c").is_dir() && path("p/2").is_dir());
        #[cfg(unix)]
        for name in ["p", "p/1", "p/2"] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path(name).metadata().unwrap().permissions().mode() & 0o777, 0o700, "{name}");
        }
        fs::write(path("file"), "").unwrap();
        assert!(make_folder(&path("file")).is_err() && make_folder(&path("file/in")).is_err());
        remove_file(&path("file")).unwrap();
        remove_file(&path("file")).unwrap();
        assert!(!path("file").exists() && remove_file(&path("a")).is_err());
    }
}
