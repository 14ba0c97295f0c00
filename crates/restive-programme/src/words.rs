//! The words of lists: the section `[list]` of `words.toml`, which a programme can edit or translate.
//!
//! ```toml
//! [list]
//! language = "hi"                                  # as in HTML; default en
//! right_to_left = false
//! title = "Whom to call"
//! subtitle = "calls from {start} to {end}"
//! added = "added by {who}: {why}"
//! headings = { reason = "why", worth = "what a call is worth" }
//! outcomes = { reached = "reached", no_answer = "no answer" }
//! words = { outcome = "outcome", how_lines = ["Call from top to bottom."] }
//! ```
//!
//! What is not there is English. A heading, an outcome or a word that nobody knows is refused, with what could be meant.

use crate::error::{Error, Result};
use crate::list::spoken;
use jiff::civil::Date;
use restive_ledger::{Code, ListChange};
use restive_report::list::Words;
use restive_tables::show;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of a list, and what they are called.
const HEADINGS: [(&str, &str); 11] = [
    ("state", "state"),
    ("last_seen", "last seen, week of"),
    ("last_call", "last call"),
    ("last_outcome", "its outcome"),
    ("left_alone", "good if left alone"),
    ("called", "good if called"),
    ("left_alone_interval", "likely if left alone"),
    ("called_interval", "likely if called"),
    ("worth", "a call is worth"),
    ("probability", "chance of being listed"),
    ("reason", "why"),
];

/// The words of lists.
#[derive(Debug, Clone)]
pub(crate) struct ListWords {
    pub(crate) title: String,
    subtitle: String,
    added: String,
    pub(crate) is_right_to_left: bool,
    headings: BTreeMap<String, String>,
    outcomes: BTreeMap<String, String>,
    pub(crate) words: Words,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Written {
    language: Option<String>,
    right_to_left: Option<bool>,
    title: Option<String>,
    subtitle: Option<String>,
    added: Option<String>,
    #[serde(default)]
    headings: BTreeMap<String, String>,
    #[serde(default)]
    outcomes: BTreeMap<String, String>,
    #[serde(default)]
    words: WrittenWords,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WrittenWords {
    summary: Option<String>,
    worker: Option<String>,
    without_worker: Option<String>,
    people: Option<String>,
    all: Option<String>,
    nobody: Option<String>,
    id: Option<String>,
    plan: Option<String>,
    outcome: Option<String>,
    day: Option<String>,
    note: Option<String>,
    how: Option<String>,
    how_lines: Option<Vec<String>>,
    outcome_error: Option<String>,
    day_error: Option<String>,
    page: Option<String>,
}

#[derive(Deserialize, Default)]
struct File {
    #[serde(default)]
    list: Written,
}

impl Default for ListWords {
    fn default() -> Self {
        Self::of(Written::default())
    }
}

impl ListWords {
    /// From the text of `words.toml`; `path` is what messages call it.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self> {
        let refused = |found: String| Error::Refused(format!("{}: {found}", show::path(path)));
        let File { list } = toml::from_str(text).map_err(|error| {
            let line =
                error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            refused(format!("line {line}: {}", show::sentence(error.message())))
        })?;
        let unknown = |what: &str, found: &str, known: Vec<&str>| {
            let found = show::name(found);
            refused(format!("[list] {what}: found {found}, expected one of {}", known.join(", ")))
        };
        let headings = || HEADINGS.iter().map(|(name, _)| *name);
        if let Some(found) = list.headings.keys().find(|name| !headings().any(|known| known == name.as_str()))
        {
            return Err(unknown("headings", found, headings().collect()));
        }
        let codes = || Code::ALL.iter().map(|code| code.word());
        if let Some(found) = list.outcomes.keys().find(|name| !codes().any(|known| known == name.as_str())) {
            return Err(unknown("outcomes", found, codes().collect()));
        }
        let words = Self::of(list);
        let said: Vec<(&str, String)> =
            words.outcomes.iter().map(|(code, word)| (code.as_str(), folded(word))).collect();
        for (k, (code, word)) in said.iter().enumerate() {
            let other = said[k + 1..].iter().find(|(_, other)| other == word).map(|(other, _)| *other);
            let own = codes().find(|known| known != code && folded(known) == *word);
            if let Some(other) = other.or(own) {
                return Err(refused(format!(
                    "[list] outcomes: {code}: found the word of {other} too, expected one that says which of them is meant"
                )));
            }
            if word.is_empty() {
                return Err(refused(format!("[list] outcomes: {code}: found no word, expected one")));
            }
        }
        Ok(words)
    }

    fn of(written: Written) -> Self {
        let mut headings: BTreeMap<String, String> =
            HEADINGS.iter().map(|(name, words)| (name.to_string(), words.to_string())).collect();
        headings.extend(written.headings);
        let english = |code: &Code| (code.word().to_string(), code.word().replace('_', " "));
        let mut outcomes: BTreeMap<String, String> = Code::ALL.iter().map(english).collect();
        outcomes.extend(written.outcomes);
        let mut words = Words::default();
        let w = written.words;
        for (word, given) in [
            (&mut words.language, written.language),
            (&mut words.summary, w.summary),
            (&mut words.worker, w.worker),
            (&mut words.without_worker, w.without_worker),
            (&mut words.people, w.people),
            (&mut words.all, w.all),
            (&mut words.nobody, w.nobody),
            (&mut words.id, w.id),
            (&mut words.plan, w.plan),
            (&mut words.outcome, w.outcome),
            (&mut words.day, w.day),
            (&mut words.note, w.note),
            (&mut words.how, w.how),
            (&mut words.outcome_error, w.outcome_error),
            (&mut words.day_error, w.day_error),
            (&mut words.page, w.page),
        ] {
            if let Some(given) = given {
                *word = given;
            }
        }
        if let Some(lines) = w.how_lines {
            words.how_lines = lines;
        }
        Self {
            title: written.title.unwrap_or_else(|| "Whom to call".into()),
            subtitle: written.subtitle.unwrap_or_else(|| "calls from {start} to {end}".into()),
            added: written.added.unwrap_or_else(|| "added by {who}: {why}".into()),
            is_right_to_left: written.right_to_left.unwrap_or(false),
            headings,
            outcomes,
            words,
        }
    }

    /// What a column is called.
    pub(crate) fn heading(&self, name: &str) -> String {
        self.headings.get(name).cloned().unwrap_or_else(|| name.into())
    }

    /// What an outcome is called; one that is no code, because a programme's own log has it, is itself.
    pub(crate) fn outcome<'a>(&'a self, code: &'a str) -> &'a str {
        self.outcomes.get(code).map_or(code, String::as_str)
    }

    pub(crate) fn subtitle(&self, start: Date, end: Date) -> String {
        self.subtitle.replace("{start}", &spoken(start)).replace("{end}", &spoken(end))
    }

    pub(crate) fn added(&self, change: &ListChange) -> String {
        self.added.replace("{who}", &change.who).replace("{why}", &change.why)
    }
}

/// A word as outcomes are compared: without capitals, spaces, underscores and hyphens.
fn folded(word: &str) -> String {
    let kept = word.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-'));
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_translated_one_by_one_and_unknown_ones_refused() {
        let text = "[list]\ntitle = \"Wen anrufen\"\nheadings = { reason = \"warum\" }\noutcomes = { reached = \"erreicht\" }\n";
        let words = ListWords::parse(Path::new("words.toml"), text).unwrap();
        assert_eq!((words.title.as_str(), words.heading("reason").as_str()), ("Wen anrufen", "warum"));
        assert_eq!((words.outcome("reached"), words.outcome("no_answer")), ("erreicht", "no answer"));
        assert_eq!(words.outcome("cancelled"), "cancelled");
        for (text, part) in [
            ("[list]\nheadings = { resaon = \"x\" }", "headings: found resaon, expected one of state"),
            ("[list]\noutcomes = { gone = \"x\" }", "outcomes: found gone"),
            ("[list]\noutcomes = { reached = \"x\", moved = \"X\" }", "moved: found the word of reached too"),
            (
                "[list]\noutcomes = { reached = \"No answer\", no_answer = \"y\" }",
                "reached: found the word of no_answer too",
            ),
            ("[list]\noutcomes = { reached = \" \" }", "reached: found no word"),
            ("[list]\n\ntitel = \"x\"", "line 3: unknown field `titel`"),
        ] {
            let said = ListWords::parse(Path::new("words.toml"), text).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
