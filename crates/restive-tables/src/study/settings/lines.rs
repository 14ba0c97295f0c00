//! The lines of `study.toml`, and what to say of one that is wrong or not there.

use crate::error::{Error, Result};
use crate::show;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Value};

/// A setting: its name, what it says, what it may be.
const KNOWN: [(&str, &str, &str); 18] = [
    ("name", "what the study is called", "text in quotation marks"),
    ("notes", "whatever should be remembered", "text in quotation marks"),
    ("unit", "what a reward of 1 is called", "a few words in quotation marks"),
    ("states", "how many states an arm has", "a whole number from 1 to 1024"),
    (
        "rewards",
        "what a step in each state is worth",
        "a list with one number of at most 1e100 or one pair [passive, active] for each state",
    ),
    ("discount", "the discount per step", "a number from 0 to 1"),
    ("budget", "how many arms of an instance may be pulled per step", "a whole number of arms, at least 0"),
    ("horizon", "the decision steps of a deployment", "a whole number from 1 to 65535"),
    ("ends", "the step at which the programme is over", "a step as column t counts, at least 1"),
    ("observation", "when states are seen", "\"full\" (at every step) or \"collapsing\" (at pulls only)"),
    (
        "chain",
        "how many labels are kept for each state",
        "a whole number of labels, at least 1, or \"infinite\"",
    ),
    ("beliefs", "the labels kept of an infinite chain", "a whole number of labels, at least 1"),
    (
        "rows",
        "which rows the trajectories have",
        "\"all\" (of every action) or \"pulls\" (an arm without a row was left alone)",
    ),
    (
        "behaviour",
        "where the propensities of logged actions come from",
        "one of \"logged\", \"uniform\", \"estimated\", \"round-robin-as-uniform\", \"none\"",
    ),
    (
        "cluster",
        "column of the table of arms with the cluster of each arm",
        "the name of a column in quotation marks, other than instance, arm and split",
    ),
    ("assignment", "unit to which pulls were assigned by lot", "\"per-decision\" or \"per-person\""),
    ("text", "features that are categories though they look like numbers", "a list of names of features"),
    (
        "silenced",
        "checks of `restive doctor` that do not count, and why",
        "a table of checks and reasons, such as { drift = \"the strike in May\" }",
    ),
];

/// The settings that are there.
pub(super) struct Lines<'a> {
    path: &'a Path,
    text: &'a str,
    found: BTreeMap<Spanned<String>, Spanned<Value>>,
}

impl<'a> Lines<'a> {
    /// Reads the file; one that is no TOML or has a setting that nobody knows is refused.
    pub(super) fn parse(path: &'a Path, text: &'a str) -> Result<Self> {
        let found = toml::from_str(text).map_err(|error| {
            fault(path, text, error.span().map_or(0, |span| span.start), show::sentence(error.message()))
        })?;
        let lines = Self { path, text, found };
        let is_known = |name: &str| KNOWN.iter().any(|(known, ..)| *known == name);
        if let Some(name) = lines.found.keys().find(|name| !is_known(name.get_ref())) {
            let names = KNOWN.map(|(name, ..)| name).join(", ");
            let found =
                format!("found the setting {}, expected one of {names}", show::quoted_name(name.get_ref()));
            return Err(fault(path, text, name.span().start, found));
        }
        Ok(lines)
    }

    /// Value of a setting, if it is present; `read` returns `None` for a value that is not allowed.
    pub(super) fn take<T>(&self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.found.get(name) else { return Ok(None) };
        match read(value.get_ref()) {
            Some(read) => Ok(Some(read)),
            None => {
                let (.., expected) = known(name);
                let found = format!("{name}: found {}, expected {expected}", shown(value.get_ref()));
                Err(fault(self.path, self.text, value.span().start, found))
            }
        }
    }

    /// Refuses a setting that contradicts the others, if it is present.
    pub(super) fn refuse(&self, name: &str, expected: String) -> Result<()> {
        let Some(value) = self.found.get(name) else { return Ok(()) };
        let found = format!("{name}: found {}, expected {expected}", shown(value.get_ref()));
        Err(fault(self.path, self.text, value.span().start, found))
    }

    /// Line of a setting, from 1; `None` if the setting is absent.
    pub(super) fn line(&self, name: &str) -> Option<usize> {
        self.found.get(name).map(|value| show::line_and_column(self.text, value.span().start).0)
    }

    /// Error about a value within a setting; `inner` is the name of the value there, and `found` describes the fault.
    pub(super) fn refuse_within(&self, name: &str, inner: &str, found: String) -> Error {
        let span = self.found.get(name).map_or(0..0, Spanned::span);
        // the value begins at its own name, where that stands plainly in the file
        let written = self.text.get(span.clone()).unwrap_or_default();
        let place = span.start + written.find(inner).unwrap_or(0);
        fault(self.path, self.text, place, format!("{name}: {found}"))
    }

    /// A setting that must be there.
    pub(super) fn need<T>(&self, name: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T> {
        self.take(name, read)?.ok_or_else(|| {
            let (_, what, expected) = known(name);
            let expected = format!("a line {name} = …, {what}: {expected}");
            Error::content(self.path, "", format!("no {name}"), expected)
        })
    }
}

fn known(name: &str) -> &'static (&'static str, &'static str, &'static str) {
    KNOWN.iter().find(|(known, ..)| *known == name).expect("a setting of the list")
}

fn fault(path: &Path, text: &str, place: usize, found: String) -> Error {
    let (line, column) = show::line_and_column(text, place);
    Error::Settings { path: path.into(), line, column, found }
}

/// A value on one line, cut where it is long.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = show::plain(&value.to_string().split_whitespace().collect::<Vec<_>>().join(" "));
    let short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() { short + "…" } else { short }
}
