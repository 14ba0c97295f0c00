//! Guessing passwords is slow.
//!
//! After [`FREE`] wrong passwords for a name from one network, every further try for this name from this network has to wait: one second,
//! two, four, up to [`MOST_WAIT`]. A right one that comes in time makes them forgotten. Nobody can lock out a user from another network:
//! what many networks try together is bounded by [`passwords`](super::passwords). Pairs of name and network are kept as digests, at most
//! [`MOST`] of them, and forgotten after [`MEMORY`].

use super::network::network;
use super::random::{Digested, digest};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Wrong passwords without a wait.
const FREE: u32 = 5;
/// The longest wait.
const MOST_WAIT: Duration = Duration::from_secs(300);
/// How long failures are remembered.
const MEMORY: Duration = Duration::from_secs(3600);
/// Number of pairs of name and network that are remembered.
const MOST: usize = 10_000;

/// Who guessed wrong, and when.
#[derive(Default)]
pub(crate) struct Throttle {
    failed: Mutex<HashMap<Digested, (u32, Instant)>>,
}

fn key(name: &str, from: IpAddr) -> Digested {
    digest(&format!("{} {}", network(from), name.to_lowercase()))
}

impl Throttle {
    /// How long a try has to wait; nothing where it need not.
    pub(crate) fn wait(&self, name: &str, from: IpAddr, now: Instant) -> Option<Duration> {
        let failed = self.failed.lock().ok()?;
        let (count, last) = failed.get(&key(name, from))?;
        let steps = count.checked_sub(FREE)?;
        let length = Duration::from_secs(1 << steps.min(16)).min(MOST_WAIT);
        (*last + length).checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// A wrong password.
    pub(crate) fn failed(&self, name: &str, from: IpAddr, now: Instant) {
        let Ok(mut failed) = self.failed.lock() else { return };
        if failed.len() >= MOST {
            failed.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        }
        if failed.len() >= MOST
            && let Some(oldest) = failed.iter().min_by_key(|(_, (_, last))| *last).map(|(key, _)| *key)
        {
            failed.remove(&oldest);
        }
        let (count, last) = failed.entry(key(name, from)).or_insert((0, now));
        if now.duration_since(*last) >= MEMORY {
            *count = 0;
        }
        (*count, *last) = (count.saturating_add(1), now);
    }

    /// A right one.
    pub(crate) fn succeeded(&self, name: &str, from: IpAddr) {
        if let Ok(mut failed) = self.failed.lock() {
            failed.remove(&key(name, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_wait_longer_and_longer_and_keep_out_no_other_network() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let from: IpAddr = "10.0.0.1".parse().unwrap();
        let other: IpAddr = "10.0.0.2".parse().unwrap();
        (1..FREE).for_each(|_| throttle.failed("asha", from, now));
        assert_eq!(throttle.wait("asha", from, now), None);
        throttle.failed("ASHA", from, now);
        assert_eq!(throttle.wait("asha", from, now), Some(Duration::from_secs(1)));
        throttle.failed("asha", from, now);
        assert_eq!(throttle.wait("asha", from, now), Some(Duration::from_secs(2)));
        // neither the name from elsewhere nor another name from here
        assert_eq!(throttle.wait("asha", other, now), None);
        assert_eq!(throttle.wait("meera", from, now), None);
        assert_eq!(throttle.wait("asha", from, now + Duration::from_secs(2)), None);
        (0..100).for_each(|_| throttle.failed("asha", from, now));
        assert_eq!(throttle.wait("asha", from, now), Some(MOST_WAIT));
        throttle.succeeded("asha", other);
        assert_eq!(throttle.wait("asha", from, now), Some(MOST_WAIT));
        throttle.succeeded("asha", from);
        assert_eq!(throttle.wait("asha", from, now), None);
    }
}
