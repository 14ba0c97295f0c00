//! Policies: from the scores of N arms to the probability that each is pulled.
//!
//! A *score* is the index of an arm in its current state. [`strict`] pulls the K arms with the highest scores: the
//! policy that is deployed. [`soft_top_k`] softens it so that it has a gradient: a training device, whose softness
//! is a [`Temperature`].

pub mod soft_top_k;
pub mod strict;
mod temperature;

pub use temperature::Temperature;
