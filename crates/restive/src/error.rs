//! What can be wrong with the data a caller hands in.
//!
//! Every variant carries facts, and every message reads `where: found …, expected …`. Errors are for data and
//! configuration. A wrong shape handed from one room to another is a programmer's slip and is asserted;
//! a computation that does not succeed says so by a status in its result.

use std::fmt;

/// `Result` with the library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with the data or the configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array has the wrong shape.
    #[error("{what}: found shape {found:?}, expected {expected}")]
    Shape {
        /// the array, by its glossary word
        what: &'static str,
        /// the shape it should have, in words
        expected: String,
        /// the shape it has
        found: Vec<usize>,
    },
    /// One arm's transition probabilities are not probabilities.
    #[error("transition: arm {arm}, {fault}")]
    Transition {
        /// position of the arm in the batch
        arm: usize,
        /// what is wrong with it
        fault: RowFault,
    },
    /// A record of a trajectory is out of range.
    #[error("{what}: trajectory {trajectory}, step {step}, arm {arm}: found {found}, expected {expected}")]
    Step {
        /// the record, by its glossary word
        what: &'static str,
        /// which trajectory
        trajectory: usize,
        /// which step
        step: usize,
        /// which arm
        arm: usize,
        /// what it should be, in words
        expected: String,
        /// what was found
        found: String,
    },
    /// A step of the log pulls another number of arms than joint actions do.
    #[error(
        "action: trajectory {trajectory}, step {step}: found {found} pulls, expected as many as the budget, {budget}"
    )]
    Budget {
        /// which trajectory
        trajectory: usize,
        /// which step
        step: usize,
        /// K
        budget: usize,
        /// the pulls of that step
        found: usize,
    },
    /// A feature cannot be used as it is.
    #[error("feature {}: {fault}", shown(column))]
    Feature {
        /// the feature, by the name of its column
        column: String,
        /// what is wrong with it
        fault: FeatureFault,
    },
    /// A table of features differs from an encoding in several columns.
    #[error("{}", listed(differences))]
    Features {
        /// each column and what is wrong with it
        differences: Vec<(String, FeatureFault)>,
    },
    /// A number is outside its range.
    #[error("{what}: found {found}, expected {expected}")]
    Range {
        /// the number, by its glossary word
        what: &'static str,
        /// its range, in words
        expected: &'static str,
        /// what was found
        found: f64,
    },
    /// What was handed in is not what is needed.
    #[error("{what}: found {found}, expected {expected}")]
    Unsuitable {
        /// what was handed in, by its glossary word
        what: &'static str,
        /// what it is, in words
        found: String,
        /// what it should be, in words
        expected: String,
    },
    /// A problem does not fit in the memory or the time that it was given.
    #[error("{what}: found a need for {needed:.1e} {unit}, expected at most {limit:.1e}")]
    TooLarge {
        /// the problem, with its sizes
        what: String,
        /// what it needs
        needed: f64,
        /// what it may have
        limit: f64,
        /// bytes, or operations
        unit: &'static str,
    },
    /// One entry of an array is not a finite number.
    #[error("{what}: entry {position}: found {found}, expected a finite number")]
    NotFinite {
        /// the array, by its glossary word
        what: &'static str,
        /// where in the array
        position: usize,
        /// what was found
        found: f64,
    },
}

/// How many differences a message lists.
const LISTED: usize = 5;

fn listed(differences: &[(String, FeatureFault)]) -> String {
    let line = |(column, fault): &(String, FeatureFault)| format!("feature {}: {fault}", shown(column));
    let mut lines: Vec<String> = differences.iter().take(LISTED).map(line).collect();
    if differences.len() > LISTED {
        lines.push(format!("and {} more", differences.len() - LISTED));
    }
    lines.join("; ")
}

/// The name of a column on one line, cut where it is long.
fn shown(column: &str) -> String {
    cut(column).escape_debug().to_string()
}

/// The first characters of a text.
fn cut(text: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() { short + "…" } else { short }
}

/// What is wrong with a column of features, or what differs between a table and an encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureFault {
    /// two columns have the name
    Duplicate,
    /// a number is infinite
    Infinite {
        /// position of the arm
        arm: usize,
    },
    /// every training arm that has a value has the same
    Constant {
        /// that value
        found: String,
    },
    /// no training arm has a value
    AllMissing,
    /// the table does not have the column
    Absent,
    /// the encoding does not have the column
    Unexpected,
    /// the column holds another kind than at training
    Kind {
        /// numbers or text
        found: &'static str,
        /// numbers or text
        expected: &'static str,
    },
}

impl fmt::Display for FeatureFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drop = "expected values that differ; drop the column by name";
        match self {
            FeatureFault::Duplicate => write!(f, "found more than once, expected once"),
            FeatureFault::Infinite { arm } => {
                write!(f, "arm {arm}: found an infinite number, expected a finite one")
            }
            FeatureFault::Constant { found } => {
                write!(f, "found {} in every training arm that has a value, {drop}", cut(found))
            }
            FeatureFault::AllMissing => write!(f, "found no value in any training arm, {drop}"),
            FeatureFault::Absent => write!(f, "found no such column, expected one"),
            FeatureFault::Unexpected => {
                write!(f, "found a column that was not there at training, expected none")
            }
            FeatureFault::Kind { found, expected } => {
                write!(f, "found {found}, expected {expected} as at training")
            }
        }
    }
}

/// What is wrong with one row P(s, a, ·) of an arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowFault {
    /// the state s
    pub state: usize,
    /// the action a
    pub action: usize,
    /// what is wrong
    pub kind: FaultKind,
}

/// Why a row is not a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FaultKind {
    /// an entry is negative, above 1 or not a number
    Entry {
        /// the next state s′ of the entry
        next: usize,
        /// what was found
        found: f64,
    },
    /// the entries do not sum to 1
    Sum {
        /// what they sum to
        found: f64,
    },
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = ["passive", "active"][self.action];
        write!(f, "state {}, {action}", self.state)?;
        match self.kind {
            FaultKind::Entry { next, found } => {
                write!(f, ", next state {next}: found {found}, expected a probability between 0 and 1")
            }
            FaultKind::Sum { found } => {
                write!(f, ": found a sum of {found}, expected 1 within {ROW_TOLERANCE:e}")
            }
        }
    }
}

/// How far the sum of a row P(s, a, ·) may be from 1 before it is refused.
pub const ROW_TOLERANCE: f64 = 1e-6;
