//! Failure points: where a test can end the process, just before a name changes.
//!
//! A call of [`failure_point`] precedes each rename, exchange, link, removal and new folder of the outputs. In a build for tests the environment
//! variable `RESTIVE_FAIL_AT=n` makes the process abort at the n-th call, counted from 1, like a kill at this instant. A release build contains
//! no failure point.

/// Aborts the process if this is the n-th call and `RESTIVE_FAIL_AT` is n.
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

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline]
pub(super) fn failure_point() {}
