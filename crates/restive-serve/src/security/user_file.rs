//! The file of users, read again when it changes.
//!
//! Each request compares time, length, mode and inode of the file with those of the last reading. A session stays valid while its user has
//! the same entry. It ends if the user was taken out of the file or has another password, role or worker. While the file cannot be read,
//! neither a password nor a session is accepted, because a user may have been taken out. Sessions are valid again when it can be read.

use super::random::{Digested, digest};
use super::users::{User, Users};
use crate::error::{Error, Result};
use restive_tables::show;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Properties that change with the content of a file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// mode, device, inode, and seconds and nanoseconds of the last change of any of them
    unix: Option<(u32, u64, u64, i64, i64)>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let unix = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.mode(), metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let unix = None;
        Self { modified: metadata.modified().ok(), length: metadata.len(), unix }
    }
}

/// The users of a file.
pub(crate) struct UserFile {
    path: PathBuf,
    /// Receives why the file cannot be read, once for each change.
    warn: fn(&str),
    latest: Mutex<Latest>,
}

struct Latest {
    /// `None`: the file does not exist.
    stamp: Option<Stamp>,
    /// `None`: the file cannot be read.
    users: Option<Arc<Users>>,
}

impl UserFile {
    /// Reads the users of a file.
    ///
    /// # Errors
    /// Like [`Users::read`].
    pub(crate) fn open(path: &Path, warn: fn(&str)) -> Result<Self> {
        let metadata = path.metadata().map_err(Error::io(show::path(path), "read"))?;
        let latest = Latest { stamp: Some(Stamp::of(&metadata)), users: Some(Users::read(path)?.into()) };
        Ok(Self { path: path.into(), warn, latest: Mutex::new(latest) })
    }

    /// Returns the users as the file has them now; `None` if it cannot be read.
    pub(crate) fn users(&self) -> Option<Arc<Users>> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.path.metadata().ok().map(|metadata| Stamp::of(&metadata));
        if stamp != latest.stamp {
            let users = Users::read(&self.path);
            if let Err(error) = &users {
                (self.warn)(&format!("{error}. Until the file is repaired, nobody can use the web UI"));
            }
            *latest = Latest { stamp, users: users.ok().map(Into::into) };
        }
        latest.users.clone()
    }
}

impl User {
    /// Digest of the entry: a session ends when it changes.
    pub(crate) fn entry(&self) -> Digested {
        digest(&format!("{self:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::role::Role;

    fn users(names: &[&str]) -> Users {
        let mut users = Users::default();
        for name in names {
            users.add(name, Role::Viewer, None, false, "a long password").unwrap();
        }
        users
    }

    fn names(file: &UserFile) -> Option<Vec<String>> {
        file.users().map(|users| users.user.iter().map(|user| user.name.clone()).collect())
    }

    #[test]
    fn changed_file_is_read_again_and_a_damaged_one_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        users(&["asha", "meera"]).write(&path).unwrap();
        let file = UserFile::open(&path, |_| {}).unwrap();
        assert_eq!(names(&file).unwrap(), ["asha", "meera"]);
        users(&["asha"]).write(&path).unwrap();
        assert_eq!(names(&file).unwrap(), ["asha"]);
        std::fs::write(&path, "[[user]]\nname = ").unwrap();
        assert_eq!(names(&file), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(names(&file), None);
        users(&["meera"]).write(&path).unwrap();
        assert_eq!(names(&file).unwrap(), ["meera"]);
    }

    #[test]
    fn entry_differs_after_every_change_of_a_user() {
        let user = |role, worker, all, password| {
            let mut users = Users::default();
            users.add("asha", role, worker, all, password).unwrap();
            users.user.remove(0)
        };
        let first = user(Role::Caller, Some("Hindi"), false, "a long password");
        let with = |change: fn(&mut User)| {
            let mut other = first.clone();
            change(&mut other);
            other.entry()
        };
        assert_eq!(with(|_| {}), first.entry());
        let changes: [fn(&mut User); 4] = [
            |user| user.role = Role::Planner,
            |user| user.worker = Some("Tamil".into()),
            |user| user.all = true,
            |user| user.password += "x",
        ];
        for change in changes {
            assert_ne!(with(change), first.entry());
        }
        // the same password once more has a salt of its own
        assert_ne!(user(Role::Caller, Some("Hindi"), false, "a long password").entry(), first.entry());
    }
}
