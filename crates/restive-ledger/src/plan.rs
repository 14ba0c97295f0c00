//! What is recorded of a plan: how it was made, and everybody it chose from.

use crate::words::words;
use serde::{Deserialize, Serialize};

/// How a plan was made. Days are civil days as text (`2026-03-16`), moments are UTC by RFC 3339 (`2026-03-16T08:00:00Z`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewPlan {
    /// when it was made
    pub made_at: String,
    /// the number of the period
    pub period: i64,
    /// the first day on which its calls are to be made
    pub period_start: String,
    /// the last one
    pub period_end: String,
    /// the version of the program
    pub restive: String,
    /// the name of the model
    pub model: String,
    /// what tells the model from any other
    pub model_fingerprint: String,
    /// what tells the study from any other
    pub study_fingerprint: String,
    /// what tells the words of the list from any others
    pub words_fingerprint: String,
    /// the rules of the programme, as they stood in their file
    pub rules: String,
    /// the policy
    pub policy: String,
    /// how many may be called in a period
    pub budget: u32,
    /// how many places the list has
    pub places: u32,
    /// how many of them are drawn by lot
    pub explore_places: u32,
    /// the seed of all that was drawn
    pub seed: u64,
    /// how many steps were looked ahead
    pub steps: u32,
    /// how the probabilities were found: `exact`, or `simulated, 1000 repetitions`
    pub inclusion: String,
    /// what the list is worth
    pub value: f64,
    /// what there is to say of it, as JSON; the ledger does not look into it
    pub summary: String,
    /// how it was asked for, as JSON; the ledger does not look into it
    pub asked: String,
    /// what it was made of
    pub inputs: Vec<Input>,
    /// what proves it, as JSON; the ledger does not look into it
    pub certificate: String,
    /// the trial that ran, by its name
    pub trial: Option<String>,
    /// what would have changed who is on the list, as JSON; the ledger does not look into it
    pub cuts: String,
}

/// Something of which a plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// what it is called
    pub name: String,
    /// what tells its content from any other
    pub digest: String,
    /// how long it is
    pub bytes: u64,
}

/// A plan of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// its name: the first day of its period, from the second plan of the period on with a number (`2026-03-16-2`)
    pub id: String,
    /// whether it is the one that counts
    pub status: Status,
    /// how many people it chose from
    pub people: usize,
    /// how it was made
    #[serde(flatten)]
    pub facts: NewPlan,
}

/// Whether a plan counts. Of each period at most one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// its list is to be called
    Current,
    /// a later plan of the same period took its place
    Replaced,
}

words!(Status { Current: "current", Replaced: "replaced" });

/// Somebody from whom a plan chose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planned {
    /// who
    pub arm: String,
    /// of being on the list, whatever the lots had been: over ranks, ties and draws
    pub probability: f64,
    /// how the person came to be on the list, or that they did not
    pub how: How,
    /// the place in the order of what a call is worth, from 1
    pub rank: Option<u32>,
    /// the state, where it is known
    pub state: Option<i64>,
    /// what a call is worth
    pub value: f64,
    /// whose list the person is on: a worker
    pub group: Option<String>,
    /// what the list said, as JSON, for those who are on it; the ledger does not look into it
    pub row: Option<String>,
    /// what people are ranked by; in plans of ledgers before version 3 the value
    pub score: f64,
    /// what decides among equal scores; 0 in plans of ledgers before version 3
    pub tie: u64,
    /// the group in the trial, where one ran and the person is in it
    pub trial: Option<String>,
}

/// Somebody whom a rule kept from being chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excluded {
    /// who
    pub arm: String,
    /// by which rule, in words
    pub why: String,
}

/// How somebody came to be on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// not at all
    NotListed,
    /// a call is worth more than to others
    Rank,
    /// by lot
    Draw,
    /// by a rule of the programme
    Must,
}

words!(How { NotListed: "not_listed", Rank: "rank", Draw: "draw", Must: "must" });

impl How {
    /// Whether it put the person on the list.
    pub fn is_listed(self) -> bool {
        self != Self::NotListed
    }

    /// As it stands in the ledger.
    pub(crate) fn stored(self) -> Option<Self> {
        Some(self).filter(|how| how.is_listed())
    }
}

/// A change to a list by a person. It changes who is on the list, never the probabilities: those are of what the program did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Override {
    /// the plan
    pub plan: String,
    /// who was added or removed
    pub arm: String,
    /// which of the two
    pub kind: Kind,
    /// who decided it
    pub who: String,
    /// for what reason
    pub why: String,
    /// when
    pub at: String,
}

/// What an override does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// puts somebody on the list who is not
    Added,
    /// takes somebody off the list who is on it
    Removed,
}

words!(Kind { Added: "added", Removed: "removed" });
