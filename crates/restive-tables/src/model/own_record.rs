//! How much an arm's own record counts beside a prediction of the model, and what that judgement rests on.

use super::history::Lead;
use serde::{Deserialize, Serialize};

crate::choices! {
    /// Whose records judged.
    HeldOutArms {
        /// Training arms, each by the fits that never saw it
        OutOfFold = "out-of-fold",
        /// Validation arms
        Validation = "validation",
    }
}

/// What records are worth beside predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnRecord {
    /// how a record and a prediction become transitions
    pub rule: WrittenRule,
    /// whether plans use it unless they are told otherwise
    pub helps: bool,
    /// in a sentence
    pub why: String,
    /// by how much the log-likelihood of an arm's moves is higher, given its earlier ones, than by the prediction alone
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
    /// the same on moves after a pull
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_at_pulls: Option<Lead>,
    /// whose records judged
    pub from: HeldOutArms,
    /// arms with a move
    pub arms: u64,
    /// their moves
    pub moves: u64,
    /// those after a pull
    pub pulls: u64,
}

/// How a record and a prediction become transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum WrittenRule {
    /// in closed form
    Carry {
        /// moves that a prediction is worth, of arms left alone
        passive: f64,
        /// and of pulled arms
        active: f64,
        /// how much of what a record says of arms left alone is carried to pulled ones, from 0 to 1
        rho: f64,
    },
    /// by a normal posterior on the scale of log-odds, for two states
    Gauss {
        /// of each row: state 0 passive, active, state 1 passive, active
        offset: [f64; 4],
        /// of the prediction's log-odds
        slope: f64,
        /// of the share of trajectories that begin in state 1
        first: f64,
        /// the mean of that share
        mean_first: f64,
        /// of what differs between arms: level in state 0, in state 1, effect in state 0, in state 1
        covariance: [[f64; 4]; 4],
    },
}
