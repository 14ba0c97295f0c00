//! What the commands share.

pub(crate) mod begin;
pub(crate) mod display;
pub(crate) mod failure;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod say;
pub(crate) mod signals;
pub(crate) mod values;
