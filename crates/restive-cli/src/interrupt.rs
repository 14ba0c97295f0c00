//! Ctrl-C.

use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first ctrl-C only leaves a note, so that what is in the making is removed; the second ends at once.
pub(crate) fn listen() -> anyhow::Result<()> {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).context("cannot listen for interrupts")
}

/// Whether the person at the terminal has had enough.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
