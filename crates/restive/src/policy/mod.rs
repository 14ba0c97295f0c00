//! Policies: from the states of N arms to who is pulled.
//!
//! A *score* is the index of an arm in its current state. [`strict`] pulls the K arms with the highest scores: the
//! policy that is deployed; [`grouped`] does so in groups with a budget each. [`soft_top_k`] softens it so that it has a gradient: a training device, whose softness
//! is a [`Temperature`]; it hands on [log-odds](log_odds), which keep both the chance of a pull and of none. [`Policy`] names these and the baselines, for simulation and evaluation.

mod choose;
pub mod grouped;
pub(crate) mod odds;
pub mod soft_top_k;
pub mod strict;
mod temperature;

pub use choose::{Chooser, Policy, myopic_index};
pub use odds::{log_odds, sigmoid};
pub use temperature::Temperature;
