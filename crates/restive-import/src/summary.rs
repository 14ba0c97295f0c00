//! What an import says: where every row went, whom and which periods the study has, and one person's weeks.

use crate::accounts::{Account, ReasonCount};
use crate::earlier::Earlier;
use crate::imported::ImportedFile;
use crate::planned::Planned;
use serde::{Deserialize, Serialize};

/// What an import says of itself; `summary.json` holds it for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// the version of restive
    pub restive: String,
    /// the study: how many people
    pub people: usize,
    /// of these, gone by the end
    pub left: usize,
    /// of these, not to be called
    pub do_not_call: usize,
    /// of these, not in the registry any more
    pub absent: usize,
    /// states that are known
    pub states: u64,
    /// decisions that are known, and calls among them
    pub decisions: u64,
    /// calls
    pub calls: u64,
    /// calls per decision that the study plans for
    pub budget: usize,
    /// whether that is the median of the past, because the mapping says nothing
    pub is_budget_guessed: bool,
    /// how a period is called
    pub period: String,
    /// what each row of the trajectory is of, in order
    pub periods: Vec<PeriodRow>,
    /// where the rows of each source went
    pub accounts: Vec<Account>,
    /// reasons for what is listed in quarantine.csv
    pub reasons: Vec<ReasonCount>,
    /// one person's weeks
    pub example: Option<String>,
    /// what was guessed, and what to look at
    pub notes: Vec<String>,
    /// what became of the records of earlier imports
    pub earlier: Option<Earlier>,
    /// what was told otherwise before: states and actions
    pub changes: Option<Changed>,
    /// what plans added; none where there are none
    #[serde(default)]
    pub planned: Option<Planned>,
    /// what tells the key of pseudonyms from another, where there is one
    pub key: Option<String>,
    /// The other files that the import wrote; none if it wrote nothing.
    pub files: Vec<ImportedFile>,
}

/// One row of the trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodRow {
    /// the row
    pub t: usize,
    /// the number of the period on the calendar
    pub number: i64,
    /// the first day of the period that the state is of
    pub state_from: String,
    /// the day of the decision: the first one after it
    pub decision: String,
    /// calls by this decision; none in the last row
    pub calls: Option<usize>,
}

/// How much of the past is told otherwise than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// states
    pub states: usize,
    /// actions
    pub actions: usize,
    /// people who were not there before
    pub new_people: usize,
    /// periods that were not there before
    pub new_periods: usize,
}
