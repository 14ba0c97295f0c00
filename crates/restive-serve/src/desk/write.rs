//! One writer at a time.
//!
//! A write waits for the one before it, at most [`PATIENCE`], runs where it may block, is noted in the [record](super::done) and is in the
//! picture that the next page is made of before its answer goes out: whoever writes sees what she wrote.

use super::{App, Desk};
use crate::look::refusal::Refusal;
use crate::security::session::Session;
use restive_programme::Programme;
use std::time::Duration;

/// For the writer before.
const PATIENCE: Duration = Duration::from_secs(10);

impl Desk {
    /// Writes: `what` is a word for the record and `of` whom or what it is about, by id and never by name; `is_done` says of what the work
    /// gave whether anything was written.
    pub async fn write<T: Send + 'static>(
        self: &App,
        session: &Session,
        what: &'static str,
        of: String,
        is_done: fn(&T) -> bool,
        work: impl FnOnce(&Programme) -> restive_programme::Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(place) = tokio::time::timeout(PATIENCE, self.writer.clone().lock_owned()).await else {
            return Err(Refusal::busy());
        };
        let (desk, who) = (self.clone(), session.clone());
        let done = tokio::task::spawn_blocking(move || {
            let written = desk.programme().and_then(|programme| work(&programme));
            if written.as_ref().is_ok_and(is_done) {
                desk.record.add(&who, what, &of);
            }
            // the next one writes while this one looks
            drop(place);
            desk.look();
            written
        });
        match done.await {
            Ok(Ok(written)) => Ok(written),
            Ok(Err(error)) => Err(Refusal::programme(&error)),
            Err(_) => Err(Refusal::ours()),
        }
    }

    /// The place of the writer, for a job that writes.
    pub(super) fn writer(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.writer.clone().blocking_lock_owned()
    }
}
