//! Checks of passwords: at most [`RUNNING`] at a time, each with 19 MiB and a processor, and at most [`ADMITTED`] with those that wait.
//!
//! One network has fewer connections without a session than that ([`places`](super::places)), so it cannot take every place.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Passwords that are checked at a time.
const RUNNING: usize = 2;
/// Passwords that are checked or wait for it.
const ADMITTED: usize = 64;

/// Places of checks.
pub(crate) struct Passwords {
    admitted: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

/// Place of a check until it is dropped. The check itself holds it, because it continues after its client has gone.
pub(crate) type CheckPlace = [OwnedSemaphorePermit; 2];

impl Default for Passwords {
    fn default() -> Self {
        Self { admitted: Semaphore::new(ADMITTED).into(), running: Semaphore::new(RUNNING).into() }
    }
}

impl Passwords {
    /// Waits for a place; `None` at once if too many wait already.
    pub(crate) async fn place(&self) -> Option<CheckPlace> {
        let admitted = self.admitted.clone().try_acquire_owned().ok()?;
        let running = self.running.clone().acquire_owned().await.ok()?;
        Some([admitted, running])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn check_beyond_the_bound_is_refused_at_once() {
        let passwords = Arc::new(Passwords::default());
        let running = [passwords.place().await.unwrap(), passwords.place().await.unwrap()];
        let waiting: Vec<_> = (RUNNING..ADMITTED)
            .map(|_| {
                let passwords = passwords.clone();
                tokio::spawn(async move { passwords.place().await.is_some() })
            })
            .collect();
        while passwords.admitted.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(passwords.place().await.is_none());
        drop(running);
        for place in waiting {
            assert!(place.await.unwrap());
        }
        assert!(passwords.place().await.is_some());
    }
}
