//! Who may enter by a password, and what they may do: a file that `restive user add` writes.
//!
//! ```toml
//! [[user]]
//! name = "asha"
//! role = "caller"
//! worker = "Hindi"
//! password = "$argon2id$…"
//! ```
//!
//! A caller has either `worker`, whose people they call, or `all = true`: without a word about it nobody sees every list.
//!
//! Of a password the file has what Argon2id makes of it, with a salt of its own. A name that nobody has takes as long to refuse as a wrong
//! password.

use super::private;
use super::role::Role;
use crate::error::{Error, Result};
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use restive_ledger::Lock;
use restive_pipeline::refuse_empty;
use restive_tables::{show, write_private_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Fewest characters of a password.
pub const SHORTEST: usize = 10;
/// Most of them: what is longer is no password.
const LONGEST: usize = 512;

/// Somebody who may enter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// by name
    pub name: String,
    /// what they may do
    pub role: Role,
    /// whose list they call
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether a caller calls the people of all workers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// what Argon2id makes of the password
    pub password: String,
}

/// Everybody who may enter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Users {
    /// in the order of the file
    #[serde(default)]
    pub user: Vec<User>,
}

fn argon() -> Argon2<'static> {
    // 19 MiB, two passes: what OWASP names as the least, and bearable for many at once on a small machine
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(19 * 1024, 2, 1, None).unwrap_or_default())
}

/// What is kept of a password.
fn hashed(password: &str) -> Result<String> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|_| Error::Refused("the system gives no random numbers".into()))?;
    let salt = SaltString::encode_b64(&salt).map_err(|error| Error::Refused(error.to_string()))?;
    let hash = argon().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|error| Error::Refused(error.to_string()))
}

impl User {
    /// Creates a user with a password, of which the user keeps a hash. It takes tenths of a second.
    ///
    /// # Errors
    /// If the name or the password is not of the allowed form, or like [`Users::check_people`].
    pub fn new(name: &str, role: Role, worker: Option<&str>, all: bool, password: &str) -> Result<Self> {
        let is_name = !name.is_empty()
            && name.chars().count() <= 60
            && name.chars().all(|c| c.is_alphanumeric() || " .-_@'".contains(c))
            && name.trim() == name;
        if !is_name {
            return Err(Error::Refused(format!(
                "found the name {}, expected at most 60 letters, digits, spaces and . - _ @ '",
                show::name(name)
            )));
        }
        let length = password.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) {
            return Err(Error::Refused(format!(
                "found a password of {length} characters, expected {SHORTEST} to {LONGEST}"
            )));
        }
        Users::check_people(role, worker, all)?;
        let worker = worker.map(Into::into);
        Ok(Self { name: name.into(), role, worker, all, password: hashed(password)? })
    }
}

impl Users {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = private::read(path)?;
        refuse_empty(
            path,
            &bytes,
            "restore it from a backup, or remove it and add the users again by restive user add",
        )?;
        let users: Self = toml::from_slice(&bytes).map_err(|error| {
            let what = show::sentence(error.message());
            Error::Refused(format!("{}: found something else ({what}), expected users", show::path(path)))
        })?;
        for (k, user) in users.user.iter().enumerate() {
            let (path, name) = (show::path(path), show::name(&user.name));
            let is_taken = users.user[..k].iter().any(|other| other.name == user.name);
            if is_taken || PasswordHash::new(&user.password).is_err() {
                let found = if is_taken { "it twice" } else { "no hash of Argon2id as its password" };
                return Err(Error::Refused(format!(
                    "{path}: user {name}: found {found}, expected what restive user add wrote"
                )));
            }
            Self::check_people(user.role, user.worker.as_deref(), user.all).map_err(|wrong| {
                Error::Refused(format!(
                    "{path}: user {name}: {wrong}; restive user add writes the user again"
                ))
            })?;
        }
        Ok(users)
    }

    /// Checks that a caller has exactly one of `worker` and `all`, and another role none of them.
    pub fn check_people(role: Role, worker: Option<&str>, all: bool) -> Result<()> {
        let wrong = match (role, worker.map(str::trim), all) {
            (Role::Caller, Some(""), _) => "found an empty worker, expected a name".into(),
            (Role::Caller, Some(_), true) => "found worker and all, expected one of them".into(),
            (Role::Caller, None, false) => {
                "found a caller without worker and without all, expected one of them \
                 (--worker NAME or --all)"
                    .into()
            }
            (Role::Caller, ..) | (_, None, false) => return Ok(()),
            _ => format!("found worker or all for a {role}, expected them for a caller alone"),
        };
        Err(Error::Refused(wrong))
    }

    /// Adds somebody, or gives a new password and role to one who is there; whether they are new.
    ///
    /// # Errors
    /// Like [`User::new`].
    pub fn add(
        &mut self,
        name: &str,
        role: Role,
        worker: Option<&str>,
        all: bool,
        password: &str,
    ) -> Result<bool> {
        Ok(self.put(User::new(name, role, worker, all, password)?))
    }

    /// Adds a user, or replaces the one of that name; whether the user is new.
    pub fn put(&mut self, user: User) -> bool {
        match self.user.iter_mut().find(|one| one.name == user.name) {
            Some(one) => {
                *one = user;
                false
            }
            None => {
                self.user.push(user);
                true
            }
        }
    }

    /// Changes the users of a file, which is made if it does not exist; returns what `change` returns. The file is locked while it is
    /// read, changed and written, so that no change of another process is lost.
    ///
    /// # Errors
    /// If another process holds the lock for ten seconds, or like [`read`](Self::read) and [`write`](Self::write).
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T> {
        let _lock = Lock::of_file(path)?;
        let mut users = if path.exists() { Self::read(path)? } else { Self::default() };
        let changed = change(&mut users);
        users.write(path)?;
        Ok(changed)
    }

    /// Writes the file, for its owner alone.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = toml::to_string(self).map_err(|error| Error::Refused(error.to_string()))?;
        Ok(write_private_file(path, text.as_bytes(), Some(|_| Ok(())))?)
    }

    /// Returns the user of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&User> {
        self.user.iter().find(|user| user.name == name)
    }

    /// Who has this name and this password. It takes tenths of a second, on purpose.
    pub(crate) fn find(&self, name: &str, password: &str) -> Option<&User> {
        // what nobody's password gives: the work is done all the same
        const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        if password.chars().count() > LONGEST {
            return None;
        }
        let user = self.named(name);
        let hash = PasswordHash::new(user.map_or(NOBODY, |user| &user.password)).ok()?;
        argon().verify_password(password.as_bytes(), &hash).ok()?;
        user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_go_to_a_file_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        let mut users = Users::default();
        assert!(users.add("Asha", Role::Caller, Some("Hindi"), false, "a long password").unwrap());
        assert!(!users.add("Asha", Role::Planner, None, false, "another password").unwrap());
        assert!(users.add("Meera", Role::Caller, None, true, "a third password").unwrap());
        users.write(&path).unwrap();
        let read = Users::read(&path).unwrap();
        assert_eq!(read, users);
        assert_eq!(read.find("Asha", "another password").unwrap().role, Role::Planner);
        for (name, password) in
            [("Asha", "a long password"), ("asha", "another password"), ("", ""), ("Nobody", "x")]
        {
            assert_eq!(read.find(name, password), None);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("$argon2id$") && !text.contains("password\" ="), "{text}");
    }

    #[test]
    fn empty_file_of_users_is_damage_and_not_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        for text in ["", "\n", "\0\0\0\0"] {
            write_private_file(&path, text.as_bytes(), Some(|_| Ok(()))).unwrap();
            let refused = Users::read(&path).unwrap_err().to_string();
            assert!(
                refused.contains("the file is empty, as a power cut can leave it; restore it"),
                "{refused}"
            );
        }
    }

    #[test]
    fn what_nobody_can_enter_with_is_refused() {
        let mut users = Users::default();
        for (name, password) in [("", "a long password"), ("a\nb", "a long password"), ("Asha", "short")] {
            assert!(users.add(name, Role::Viewer, None, false, password).is_err());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        for text in ["x = 1", "[[user]]\nname = \"a\"\nrole = \"viewer\"\npassword = \"plain\"\n"] {
            restive_tables::write_private_file(&path, text.as_bytes(), Some(|_| Ok(()))).unwrap();
            assert!(Users::read(&path).is_err());
        }
    }

    #[test]
    fn caller_without_worker_and_without_all_is_refused() {
        let password = "a long password";
        let refused = [
            (Role::Caller, None, false, "found a caller without worker and without all"),
            (Role::Caller, Some(" "), false, "found an empty worker"),
            (Role::Caller, Some("Hindi"), true, "found worker and all"),
            (Role::Viewer, Some("Hindi"), false, "found worker or all for a viewer"),
            (Role::Planner, None, true, "found worker or all for a planner"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.toml");
        let hash = hashed(password).unwrap();
        for (role, worker, all, expected) in refused {
            let mut users = Users::default();
            let error = users.add("Asha", role, worker, all, password).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            // written by hand
            let worker = worker.map(Into::into);
            users.user.push(User { name: "Asha".into(), role, worker, all, password: hash.clone() });
            users.write(&path).unwrap();
            let error = Users::read(&path).unwrap_err().to_string();
            assert!(error.contains("users.toml: user Asha: ") && error.contains(expected), "{error}");
        }
    }
}
