//! What methods are compared on, how they are trained and measured.

pub(crate) mod compare;
pub(crate) mod figure;
pub(crate) mod learn;
pub(crate) mod metrics;
pub(crate) mod problem;
