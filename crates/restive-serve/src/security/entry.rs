//! The way in without a password: an address with a random token, which the terminal shows and the browser is opened with.
//!
//! A token opens one session, once, within [`VALID`]; then it is worth nothing, wherever its address was kept. Whoever needs another asks for
//! it in the terminal. At most [`MOST`] are open at a time, the oldest goes first.

use super::random::{Digested, digest, secret};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long a token opens.
const VALID: Duration = Duration::from_secs(15 * 60);
/// So many are open at a time.
const MOST: usize = 16;

/// Tokens that were given out and not used.
#[derive(Default)]
pub(crate) struct Entry {
    open: Mutex<Vec<(Digested, Instant)>>,
}

impl Entry {
    /// A new token.
    pub(crate) fn give(&self, now: Instant) -> Option<String> {
        let token = secret()?;
        let mut open = self.open.lock().ok()?;
        if open.len() == MOST {
            open.remove(0);
        }
        open.push((digest(&token), now));
        Some(token)
    }

    /// Takes a token back; whether it was one that opens.
    pub(crate) fn take(&self, token: &str, now: Instant) -> bool {
        let given = digest(token);
        let Ok(mut open) = self.open.lock() else { return false };
        open.retain(|(_, since)| now.duration_since(*since) < VALID);
        // digests of 256 random bits: how long the look takes tells nothing
        let found = open.iter().position(|(known, _)| *known == given);
        found.map(|at| open.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_once_and_not_for_ever() {
        let (entry, now) = (Entry::default(), Instant::now());
        let token = entry.give(now).unwrap();
        assert!(!entry.take("another", now));
        assert!(entry.take(&token, now) && !entry.take(&token, now));
        let late = entry.give(now).unwrap();
        assert!(!entry.take(&late, now + VALID));
        let tokens: Vec<String> = (0..=MOST).map(|_| entry.give(now).unwrap()).collect();
        assert!(!entry.take(&tokens[0], now) && entry.take(&tokens[MOST], now));
    }
}
