//! Looking for people one by one is slow.
//!
//! Whoever is or was on a list has a page; anybody else only for whoever looks for her by her exact id. A search by id and a request for a page
//! that is not open are recorded. Each user may make [`MOST`] of them within [`WINDOW`]: enough for a day's questions, too little to go
//! through a registry. What was found stays open for [`OPEN`], to whoever found it and to nobody else.

use super::random::{Digested, digest};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Looks within the window.
pub(crate) const MOST: usize = 20;
/// The window.
const WINDOW: Duration = Duration::from_secs(600);
/// How long a page stays open to whoever found it.
const OPEN: Duration = Duration::from_secs(1800);
/// How many pages are remembered.
const KEPT: usize = 5000;

#[derive(Default)]
struct Looked {
    /// by who looked: when
    looks: HashMap<Digested, Vec<Instant>>,
    /// by who looked and for whom: when
    open: HashMap<Digested, Instant>,
}

/// Who looked for whom.
#[derive(Default)]
pub(crate) struct Finds(Mutex<Looked>);

fn page(who: &str, id: &str) -> Digested {
    digest(&format!("{} {who} {id}", who.len()))
}

impl Finds {
    /// Counts a look; how long to wait where there were too many.
    pub(crate) fn look(&self, who: &str, now: Instant) -> Result<(), Duration> {
        let Ok(mut looked) = self.0.lock() else { return Err(WINDOW) };
        looked.looks.retain(|_, all| all.last().is_some_and(|last| now.duration_since(*last) < WINDOW));
        let all = looked.looks.entry(digest(who)).or_default();
        all.retain(|at| now.duration_since(*at) < WINDOW);
        if all.len() >= MOST {
            return Err(WINDOW.saturating_sub(now.duration_since(all[0])));
        }
        all.push(now);
        Ok(())
    }

    /// Opens the page of somebody who was found.
    pub(crate) fn open(&self, who: &str, id: &str, now: Instant) {
        let Ok(mut looked) = self.0.lock() else { return };
        looked.open.retain(|_, at| now.duration_since(*at) < OPEN);
        if looked.open.len() < KEPT {
            looked.open.insert(page(who, id), now);
        }
    }

    /// Whether somebody's page is open to whoever asks.
    pub(crate) fn is_open(&self, who: &str, id: &str, now: Instant) -> bool {
        let Ok(looked) = self.0.lock() else { return false };
        looked.open.get(&page(who, id)).is_some_and(|at| now.duration_since(*at) < OPEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_counted_for_each_and_forgotten() {
        let (finds, now) = (Finds::default(), Instant::now());
        (0..MOST).for_each(|_| finds.look("asha", now).unwrap());
        assert_eq!(finds.look("asha", now), Err(WINDOW));
        assert_eq!(finds.look("asha", now + WINDOW / 2), Err(WINDOW / 2));
        assert_eq!(finds.look("meera", now), Ok(()));
        assert_eq!(finds.look("asha", now + WINDOW), Ok(()));
    }

    #[test]
    fn a_page_is_open_to_whoever_found_it_for_a_while() {
        let (finds, now) = (Finds::default(), Instant::now());
        finds.open("asha", "B 1", now);
        assert!(finds.is_open("asha", "B 1", now) && !finds.is_open("asha", "B 2", now));
        // two words that run together are still two
        assert!(!finds.is_open("meera", "B 1", now) && !finds.is_open("asha B", "1", now));
        assert!(!finds.is_open("asha", "B 1", now + OPEN));
    }
}
