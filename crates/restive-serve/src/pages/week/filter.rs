//! Whom of a list one wants to see: by worker, centre, language, household, state, and by how she came to be on it.
//!
//! A filter is a question in the address, so that a page can be kept and sent. The columns of a programme are its own: those that are there
//! are asked for, under the names that it gives them.

use super::row::Columns;
use crate::look::words::Words;
use restive_programme::{Done, Draft, DraftRow};
use serde::Deserialize;
use std::collections::BTreeMap;

/// More different values than this are not a choice but a field to write in.
const MOST: usize = 60;

/// What was asked.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Filter {
    #[serde(default)]
    pub(crate) worker: String,
    #[serde(default)]
    pub(crate) centre: String,
    #[serde(default)]
    pub(crate) language: String,
    #[serde(default)]
    pub(crate) household: String,
    #[serde(default)]
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) only: String,
    /// a part of an id or a name
    #[serde(default)]
    pub(crate) find: String,
    #[serde(default, deserialize_with = "page")]
    pub(crate) page: usize,
}

/// A number, whatever was written.
fn page<'de, D: serde::Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    Ok(String::deserialize(from)?.parse().unwrap_or(1))
}

/// A field of the filter.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) value: String,
    /// value, words, whether it is this; none: a field to write in
    pub(crate) options: Vec<(String, String, bool)>,
}

/// How somebody came to be on a list, or stands: the values of `only` and the keys of their words.
const ONLY: [(&str, &str); 6] = [
    ("new", "week.new"),
    ("overdue", "week.overdue"),
    ("drawn", "week.drawn"),
    ("by_hand", "week.by_hand"),
    ("open", "week.open"),
    ("told", "week.told"),
];

impl Filter {
    fn columns(&self) -> [(&'static str, &str); 4] {
        [
            ("worker", &self.worker),
            ("centre", &self.centre),
            ("language", &self.language),
            ("household", &self.household),
        ]
    }

    /// Whether anything was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns().iter().all(|(_, value)| value.is_empty())
            && [&self.state, &self.only, &self.find].iter().all(|value| value.is_empty())
    }

    /// The same question without its page.
    pub(crate) fn question(&self) -> String {
        let all = self.columns().into_iter().chain([
            ("state", self.state.as_str()),
            ("only", &self.only),
            ("find", &self.find),
        ]);
        let asked = all.filter(|(_, value)| !value.is_empty());
        asked.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
    }

    /// Who is chosen, by place on the list from 0.
    pub(crate) fn chosen(&self, columns: &Columns<'_>, draft: &Draft, names: bool) -> Vec<usize> {
        let find = self.find.trim().to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&find);
        let is_chosen = |row: &DraftRow| {
            self.columns().iter().all(|(name, value)| value.is_empty() || columns.cell(name, row) == *value)
                && (self.state.is_empty() || columns.state_value(row) == self.state)
                && (find.is_empty() || holds(&row.contact.id) || (names && holds(columns.cell("name", row))))
                && match self.only.as_str() {
                    "new" => row.is_new,
                    "overdue" => row.is_overdue,
                    "drawn" => row.said.as_ref().is_some_and(|said| said.chosen == "draw"),
                    "by_hand" => row.by_hand.as_ref().is_some_and(|change| change.done != Done::Removed),
                    "open" => row.outcome.is_none(),
                    "told" => row.outcome.is_some(),
                    _ => true,
                }
        };
        (0..draft.rows.len()).filter(|k| is_chosen(&draft.rows[*k])).collect()
    }

    /// The fields, with what the list has for each.
    pub(crate) fn choices(&self, columns: &Columns<'_>, draft: &Draft, w: &Words) -> Vec<Choice> {
        let mut fields = Vec::new();
        for (name, value) in self.columns() {
            let Some(label) = columns.label(name) else { continue };
            let mut found: BTreeMap<&str, usize> = BTreeMap::new();
            draft.rows.iter().for_each(|row| *found.entry(columns.cell(name, row)).or_default() += 1);
            found.remove("");
            let is_field = found.len() > MOST || name == "household";
            let option =
                |(text, count): (&str, usize)| (text.to_string(), format!("{text} ({count})"), text == value);
            let options = if is_field { Vec::new() } else { found.into_iter().map(option).collect() };
            fields.push(Choice { name, label: label.into(), value: value.into(), options });
        }
        let mut states: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for row in &draft.rows {
            let entry = states.entry(columns.state_value(row)).or_insert((columns.state(row), 0));
            entry.1 += 1;
        }
        states.remove("");
        let option = |(key, (text, count)): (String, (String, usize))| {
            (key.clone(), format!("{text} ({count})"), key == self.state)
        };
        fields.push(Choice {
            name: "state",
            label: w.t("week.state").into(),
            value: self.state.clone(),
            options: states.into_iter().map(option).collect(),
        });
        let option =
            |(key, word): &(&str, &'static str)| (key.to_string(), w.t(word).into(), *key == self.only);
        fields.push(Choice {
            name: "only",
            label: w.t("week.only").into(),
            value: self.only.clone(),
            options: ONLY.iter().map(option).collect(),
        });
        fields
    }
}

/// As an address has it.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
