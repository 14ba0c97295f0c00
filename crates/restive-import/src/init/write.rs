//! The text of a mapping: sections, comments, and lines that a person must decide.

use super::profile::Role;
use super::tables::Found;
use super::{log, people};
use crate::source::Reading;
use std::collections::BTreeSet;

/// The lines of a section, and what they need at the top.
#[derive(Default)]
pub(super) struct Text {
    pub(super) lines: Vec<String>,
    pub(super) needs_zone: bool,
    pub(super) needs_country: bool,
}

impl Text {
    pub(super) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(super) fn comment(&mut self, words: &str) {
        self.lines.push(format!("# {words}"));
    }

    /// What a person must decide, with lines that she may take.
    pub(super) fn decide(&mut self, question: &str, suggested: &[String]) {
        self.comment(&format!("DECIDE: {question}"));
        suggested.iter().for_each(|line| self.comment(line));
    }

    /// How a file is read.
    pub(super) fn reading(&mut self, reading: &Reading) {
        self.line(format!("file = {}", quoted(&reading.file)));
        if let Some(escape) = reading.escape {
            self.line(format!("escape = {}", quoted(&char::from(escape).to_string())));
        }
        if reading.skip > 0 {
            self.line(format!("skip = {}", reading.skip));
        }
        if let Some(header) = &reading.header {
            self.decide("the file has no header: are these its columns?", &[]);
            self.line(format!("header = {}", list(header)));
        }
    }
}

/// Text as a mapping quotes it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.replace(['\n', '\r'], " ")).to_string()
}

pub(super) fn list(words: &[impl AsRef<str>]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word.as_ref())).collect();
    format!("[{}]", words.join(", "))
}

/// A key as a mapping writes it.
pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.into() } else { quoted(name) }
}

/// The whole mapping.
pub(super) fn mapping(all: &[Found]) -> String {
    let of = |role: Role| all.iter().filter(move |found| found.role == role);
    let registry = of(Role::People).next();
    let mut body = Text::default();
    body.line("\n[people]");
    match registry {
        Some(found) => people::write(&mut body, found),
        None => body.decide(
            "no registry was recognised: where are the people?",
            &["file = \"registry.csv\"".into(), "id = \"…\"".into()],
        ),
    }
    for found in of(Role::People).skip(1) {
        body.comment(&format!(
            "{} looks like a registry too: {}",
            quoted(&found.reading.file),
            found.profile.name
        ));
    }
    if of(Role::Events).next().is_none() {
        body.line("");
        body.decide(
            "no log of what people did was recognised",
            &[
                "[[events]]".into(),
                "file = \"messages.csv\"".into(),
                "person = \"…\"".into(),
                "time = \"…\"".into(),
            ],
        );
    }
    for found in of(Role::Events) {
        body.line("\n[[events]]");
        log::write(&mut body, found, registry, all);
    }
    state(&mut body, of(Role::Events).next());
    let mut actions = of(Role::Actions);
    match actions.next() {
        Some(found) => {
            body.line("\n[actions]");
            log::write(&mut body, found, registry, all);
        }
        None => {
            body.line("");
            let lines =
                ["[actions]", "file = \"calls.csv\"", "person = \"…\"", "time = \"…\""].map(String::from);
            body.decide("no log of calls was recognised: the decisions that a plan is about", &lines);
        }
    }
    for found in actions {
        body.comment(&format!(
            "{} looks like a log of calls too: {}",
            quoted(&found.reading.file),
            found.profile.name
        ));
    }
    let mut text = top(all, &body);
    text.lines.append(&mut body.lines);
    text.lines.join("\n") + "\n"
}

/// What stands before the sections.
fn top(all: &[Found], body: &Text) -> Text {
    let mut text = Text::default();
    text.comment("What these exports mean, as far as they say it themselves. Lines after DECIDE are for a person to decide: take the #");
    text.comment(
        "away from the one that is right, and correct it. Then: restive import THIS_FILE --out PROGRAMME",
    );
    if body.needs_zone {
        let suggested = ["zone = \"Asia/Kolkata\"".to_string()];
        text.decide("there are times in UTC, with an offset or as an epoch: by which clock does the programme count its days?", &suggested);
    }
    if body.needs_country {
        text.decide("of which country are telephone numbers that do not say?", &["country = \"IN\"".into()]);
    }
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for column in all.iter().flat_map(|found| &found.table.columns) {
        found.extend(column.missing.keys().map(String::as_str));
    }
    let is_known = |word: &&str| crate::mapping::MISSING.contains(word);
    if !found.iter().all(is_known) {
        let others: Vec<&str> = found.iter().copied().filter(|word| !is_known(word)).collect();
        let all: Vec<&str> = crate::mapping::MISSING.into_iter().chain(others.iter().copied()).collect();
        text.decide(
            &format!(
                "do {} stand for nothing, as {} do anyway?",
                list(&others),
                list(&crate::mapping::MISSING)
            ),
            &[format!("missing = {}", list(&all))],
        );
    }
    text.line("\n[period]");
    text.comment("from Monday; or \"week from Sunday\", \"month\", \"10 days\" (with from = 2026-01-05)");
    text.line("every = \"week\"");
    text
}

fn state(text: &mut Text, events: Option<&Found>) {
    text.line("\n[state]");
    text.comment("of a week's values: \"largest\", \"sum\", \"mean\", \"last\" or \"count\"");
    let has_value = events.is_some_and(log::has_value);
    text.line(format!("measure = {}", quoted(if has_value { "largest" } else { "count" })));
    let least = if has_value { "at_least = [30]" } else { "at_least = [1]" };
    text.decide(
        "from which measure on is somebody engaged? Several numbers make several states",
        &[least.into()],
    );
    text.decide(
        "what does a week without any record mean: \"lowest\" (not engaged), \"unknown\" or \"not enrolled\" (until the first record)?",
        &["silence = \"lowest\"".into()],
    );
    text.comment("names = [\"not engaged\", \"engaged\"]");
}
