//! Sessions: who somebody is, by a cookie that says nothing.
//!
//! The cookie is a secret of 256 bits; what is kept here is its digest. It is `HttpOnly` (no script reads it), `SameSite=Strict` (no other
//! site sends it) and, over TLS, `Secure`. A session ends [`IDLE`] after its last request and [`LONGEST`] after its first, at a logout, and
//! with the program; with users also when the entry of the user in their file changes. At most [`MOST`] live at a time: the one that was idle longest goes.

use super::random::{Digested, digest, secret};
use super::role::Role;
use super::users::{User, Users};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Without a request a session ends after so long.
const IDLE: Duration = Duration::from_secs(2 * 3600);
/// And after so long in any case.
const LONGEST: Duration = Duration::from_secs(12 * 3600);
/// So many live at a time.
const MOST: usize = 1000;

/// Who somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// by name
    pub who: Arc<str>,
    /// what they may do
    pub role: Role,
    /// worker whose people a caller calls; `None`: the people of all workers
    pub worker: Option<Arc<str>>,
}

struct Kept {
    session: Session,
    /// digest of the user's entry in the file of users; `None`: the planner of a program without users
    entry: Option<Digested>,
    begun: Instant,
    seen: Instant,
}

/// All sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    kept: Mutex<HashMap<Digested, Kept>>,
}

impl Sessions {
    /// Begins a session of a user with an entry in the file of users; the secret of its cookie.
    pub(crate) fn begin(&self, session: Session, entry: Option<Digested>, now: Instant) -> Option<String> {
        let key = secret()?;
        let mut kept = self.kept.lock().ok()?;
        kept.retain(|_, one| one.is_alive(now));
        if kept.len() >= MOST
            && let Some(oldest) = kept.iter().min_by_key(|(_, one)| one.seen).map(|(key, _)| *key)
        {
            kept.remove(&oldest);
        }
        kept.insert(digest(&key), Kept { session, entry, begun: now, seen: now });
        Some(key)
    }

    /// Returns the session of a cookie if its user still has the same entry among `users`.
    pub(crate) fn find(&self, key: &str, users: Option<&Users>, now: Instant) -> Option<Session> {
        let key = digest(key);
        let mut kept = self.kept.lock().ok()?;
        match kept.get_mut(&key) {
            Some(one) if one.is_alive(now) && one.is_of(users) => {
                one.seen = now;
                Some(one.session.clone())
            }
            Some(_) => {
                kept.remove(&key);
                None
            }
            None => None,
        }
    }

    /// Ends a session.
    pub(crate) fn end(&self, key: &str) {
        if let Ok(mut kept) = self.kept.lock() {
            kept.remove(&digest(key));
        }
    }
}

impl Kept {
    fn is_alive(&self, now: Instant) -> bool {
        now.duration_since(self.seen) < IDLE && now.duration_since(self.begun) < LONGEST
    }

    fn is_of(&self, users: Option<&Users>) -> bool {
        users.and_then(|users| users.named(&self.session.who)).map(User::entry) == self.entry
    }
}

/// The cookie of a session: its name tells desks on other ports apart, for browsers do not.
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) is_secure: bool,
}

impl Cookie {
    pub(crate) fn new(port: u16, is_secure: bool) -> Self {
        let name = if is_secure { format!("__Host-restive-{port}") } else { format!("restive-{port}") };
        Self { name, is_secure }
    }

    /// To be set.
    pub(crate) fn set(&self, key: &str) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{}={key}; Path=/; HttpOnly; SameSite=Strict{secure}", self.name)
    }

    /// To be forgotten.
    pub(crate) fn forget(&self) -> String {
        format!("{}; Max-Age=0", self.set(""))
    }

    /// What a request has in it.
    pub(crate) fn read<'a>(&self, headers: &'a axum::http::HeaderMap) -> Option<&'a str> {
        read(headers, &self.name)
    }
}

/// The cookie with a name.
pub(crate) fn read<'a>(headers: &'a axum::http::HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(axum::http::header::COOKIE).into_iter();
    let pairs = all.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(key, _)| *key == name).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asha() -> Session {
        Session { who: "asha".into(), role: Role::Planner, worker: None }
    }

    #[test]
    fn sessions_end_idle_and_in_any_case() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let key = sessions.begin(asha(), None, now).unwrap();
        assert_eq!(sessions.find(&key, None, now), Some(asha()));
        assert_eq!(sessions.find("another", None, now), None);
        let mut at = now;
        while at + IDLE / 2 < now + LONGEST {
            at += IDLE / 2;
            assert!(sessions.find(&key, None, at).is_some());
        }
        assert_eq!(sessions.find(&key, None, now + LONGEST), None);
        let idle = sessions.begin(asha(), None, now).unwrap();
        assert_eq!(sessions.find(&idle, None, now + IDLE), None);
        let over = sessions.begin(asha(), None, now).unwrap();
        sessions.end(&over);
        assert_eq!(sessions.find(&over, None, now), None);
    }

    #[test]
    fn there_are_never_too_many() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.begin(asha(), None, now).unwrap();
        let later = now + Duration::from_secs(1);
        (0..MOST).for_each(|_| _ = sessions.begin(asha(), None, later).unwrap());
        assert_eq!(sessions.find(&first, None, later), None);
        assert_eq!(sessions.kept.lock().unwrap().len(), MOST);
    }

    #[test]
    fn cookies_are_for_this_site_and_no_script() {
        let cookie = Cookie::new(8421, true);
        let set = cookie.set("abc");
        for word in ["__Host-restive-8421=abc", "HttpOnly", "SameSite=Strict", "Secure", "Path=/"] {
            assert!(set.contains(word), "{set}");
        }
        assert!(!Cookie::new(8421, false).set("abc").contains("Secure"));
    }

    #[test]
    fn session_ends_when_the_entry_of_its_user_changes() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let mut users = Users::default();
        users.add("asha", Role::Planner, None, false, "a long password").unwrap();
        users.add("meera", Role::Viewer, None, false, "a long password").unwrap();
        let begin =
            |users: &Users| sessions.begin(asha(), users.named("asha").map(User::entry), now).unwrap();
        let [first, second] = [begin(&users), begin(&users)];
        users.user.pop();
        assert_eq!(sessions.find(&first, Some(&users), now), Some(asha()));
        let before = users.clone();
        users.user[0].role = Role::Viewer;
        assert_eq!(sessions.find(&first, Some(&users), now), None);
        // it has ended: the earlier entry does not bring it back
        assert_eq!(sessions.find(&first, Some(&before), now), None);
        assert_eq!(sessions.find(&second, Some(&before), now), Some(asha()));
        assert_eq!(sessions.find(&second, Some(&Users::default()), now), None);
    }
}
