//! Failure points: where a test can end the process, just before a name changes.
//!
//! Each rename, exchange, link, removal and new folder on the way of an output to its place is preceded by a call of [`failure_point`]. In a
//! build for tests the environment variable `RESTIVE_FAIL_AT=n` makes the process abort at the n-th of them, counted from 1, as a kill at this
//! instant would. A release build contains none of this.

/// Aborts where a test asked for it.
#[cfg(debug_assertions)]
pub(super) fn failure_point() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static AT: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("RESTIVE_FAIL_AT").ok().and_then(|text| text.parse().ok()));
    static PASSED: AtomicU64 = AtomicU64::new(0);
    if let Some(at) = *AT
        && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == at
    {
        std::process::abort();
    }
}

/// Nothing: this build is not for tests.
#[cfg(not(debug_assertions))]
#[inline]
pub(super) fn failure_point() {}
