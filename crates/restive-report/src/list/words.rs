//! All fixed words of a list, so that a programme can say them in its own language.
//!
//! Five columns are there in every list, whatever else it shows: the `id` of a person, the `plan`, and what a caller fills in, `outcome`,
//! `day` and `note`. A workbook shows them under the headings of the programme's language, CSV under these very names. Whoever reads a
//! file back asks [`reading_columns`] and [`reading_outcomes`] what to look for: a heading may be missing or doubled in a translation, and is
//! then replaced or numbered here as it is in the files.
//!
//! ```
//! use restive_report::list::{Words, reading_columns};
//!
//! let words = Words { outcome: "résultat".into(), note: "".into(), ..Words::default() };
//! let headings: Vec<(&str, String)> = reading_columns(&words).into();
//! assert_eq!(headings[2], ("outcome", "résultat".into()));
//! assert_eq!(headings[4], ("note", "note".into()));
//! ```

use super::data::OutcomeCode;
use super::text::{Distinct, line};

/// The words, as sentences begin with them or as they stand alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// the language of all these, as in `en` or `pt-BR`
    pub language: String,
    /// the name of the first sheet
    pub summary: String,
    /// who calls: the heading of the table of workers
    pub worker: String,
    /// whoever is called by nobody in particular
    pub without_worker: String,
    /// the heading over numbers of people
    pub people: String,
    /// the heading over who calls how many
    pub per_worker: String,
    /// the sum of all workers
    pub all: String,
    /// where there are no people at all
    pub nobody: String,
    /// the heading of ids
    pub id: String,
    /// the heading of the plan's id
    pub plan: String,
    /// the heading of outcomes
    pub outcome: String,
    /// the heading of the days of calls
    pub day: String,
    /// the heading of notes
    pub note: String,
    /// the heading over what to do
    pub how: String,
    /// what a caller should do, a line each
    pub how_lines: Vec<String>,
    /// what is said to an outcome that is none
    pub outcome_error: String,
    /// what is said to a day that is none
    pub day_error: String,
    /// the number of a page, with `{page}` and `{pages}` for the numbers
    pub page: String,
}

impl Default for Words {
    /// English.
    fn default() -> Self {
        let line = |text: &str| text.to_string();
        Self {
            language: line("en"),
            summary: line("Summary"),
            worker: line("worker"),
            without_worker: line("no worker"),
            people: line("people"),
            per_worker: line("People per worker"),
            all: line("all"),
            nobody: line("There is nobody on this list."),
            id: line("id"),
            plan: line("plan"),
            outcome: line("outcome"),
            day: line("day"),
            note: line("note"),
            how: line("How to fill it in"),
            how_lines: vec![
                line(
                    "Call everybody on this list, from top to bottom. Some were drawn by lot, and stand anywhere.",
                ),
                line("After each call choose an outcome, and write the day of the call."),
                line("Leave the columns with ids as they are: without them an outcome cannot be told apart."),
            ],
            outcome_error: line("Please choose one of the outcomes in the list."),
            day_error: line(
                "Please write the day of the call as a date, on or after the first day of this list.",
            ),
            page: line("page {page} of {pages}"),
        }
    }
}

/// The columns of every list by their names in CSV, and their headings in a workbook, in this order: id, plan, outcome, day, note.
pub fn reading_columns(words: &Words) -> [(&'static str, String); 5] {
    let mut distinct = Distinct::default();
    let wanted = [
        ("id", &words.id),
        ("plan", &words.plan),
        ("outcome", &words.outcome),
        ("day", &words.day),
        ("note", &words.note),
    ];
    wanted.map(|(name, heading)| {
        let heading = line(heading);
        (name, distinct.name(if heading.is_empty() { name } else { &heading }))
    })
}

/// The outcomes by their codes, and the words that a caller chooses or ticks: told apart where two are the same, the code where there are
/// none, and left out where there is neither.
pub fn reading_outcomes(outcomes: &[OutcomeCode]) -> Vec<(&str, String)> {
    let mut distinct = Distinct::new(255);
    let shown = |outcome: &OutcomeCode| match line(&outcome.words) {
        words if words.is_empty() => line(&outcome.code),
        words => words,
    };
    let outcomes = outcomes.iter().map(|outcome| (outcome.code.as_str(), shown(outcome)));
    outcomes
        .filter(|(_, words)| !words.is_empty())
        .map(|(code, words)| (code, distinct.name(&words)))
        .collect()
}
