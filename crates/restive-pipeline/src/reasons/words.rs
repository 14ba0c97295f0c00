//! The words of reasons: `words.toml`, which a programme may edit or translate.
//!
//! What a file does not say is English, as the `words.toml` of this package has it. A key that nobody knows, a value that is no text
//! and a template with a place that it may not have are refused with their line when the file is read, not when somebody
//! is to be called. The tables `columns`, `values.COLUMN` and `things` name columns of a study, which are not checked: a study may
//! come and go.

use super::template::Template;
use crate::error::{Error, Result};
use crate::plan::Chosen;
use crate::text_file::read_text_file;
use restive_tables::StudySettings;
use restive_tables::show::{line_and_column, quoted_name, sentence};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const THING: &[&str] = &["column", "value", "reference", "points"];

/// Every word, and the places that it may have.
const KNOWN: [(&str, &[&str]); 17] = [
    ("helps_more", &["things"]),
    ("helps_less", &["things"]),
    ("better", &["things"]),
    ("worse", &["things"]),
    ("alike", &[]),
    ("thing", THING),
    ("missing", &["column", "reference", "points"]),
    ("points", &["points"]),
    ("one_point", &["points"]),
    ("more_points", &["points"]),
    ("record", &["good", "periods", "calls", "unit", "points"]),
    ("unit", &[]),
    ("above", &["margin"]),
    ("below", &["margin"]),
    ("last", &[]),
    ("drawn", &[]),
    ("must", &[]),
];
const TABLES: [&str; 3] = ["columns", "values", "things"];
/// What others read of the same file.
const OTHERS: [&str; 1] = ["list"];

/// The words of reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// by key; all of [`KNOWN`]
    said: BTreeMap<&'static str, Template>,
    columns: BTreeMap<String, String>,
    values: BTreeMap<String, BTreeMap<String, String>>,
    things: BTreeMap<String, Template>,
    /// whether `unit` is a programme's own
    has_unit: bool,
}

impl Default for Words {
    /// English.
    fn default() -> Self {
        let none = Self {
            said: BTreeMap::new(),
            columns: BTreeMap::new(),
            values: BTreeMap::new(),
            things: BTreeMap::new(),
            has_unit: false,
        };
        let words = none.over(Path::new("words.toml"), Self::ENGLISH).expect("the words of this package");
        Self { has_unit: false, ..words }
    }
}

impl Words {
    /// The words of this package.
    pub const ENGLISH: &str = include_str!("words.toml");

    /// Remedy for an empty file of words.
    pub const IF_EMPTY: &str = "restore it from a backup, or remove it to use English";

    /// Reads a `words.toml`; what it does not say is English.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_text(path, &read_text_file(path, Self::IF_EMPTY)?)
    }

    /// The same from its text; `path` is what messages call it.
    pub fn from_text(path: &Path, text: &str) -> Result<Self> {
        Self::default().over(path, text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// With the unit of a study, where a good period is worth one of it and the words have no unit of their own.
    pub fn for_study(mut self, settings: &StudySettings) -> Self {
        let most = settings.reward.view().column(0).iter().fold(f64::NEG_INFINITY, |most, x| most.max(*x));
        if let Some(unit) = settings.unit.as_deref().filter(|_| !self.has_unit && most == 1.0) {
            // as it stands: braces in it are no places
            self.said.insert("unit", Template::plain(unit));
        }
        self
    }

    /// These words, and over them those of a text.
    fn over(mut self, path: &Path, text: &str) -> Result<Self> {
        let file = File { path, text };
        let parsed = DeTable::parse(text).map_err(|error| {
            file.fault(error.span().map_or(0, |span| span.start), sentence(error.message()))
        })?;
        for (spanned, value) in parsed.get_ref() {
            let key = spanned.get_ref().as_ref();
            if let Some((known, places)) = KNOWN.iter().find(|(known, _)| *known == key) {
                self.has_unit |= key == "unit";
                self.said.insert(known, file.template(key, value, places)?);
                continue;
            }
            if OTHERS.contains(&key) {
                continue;
            }
            if !TABLES.contains(&key) {
                let names = KNOWN.map(|(known, _)| known).join(", ");
                let tables = TABLES.join("], [");
                let found = format!("found {}, expected one of {names}, [{tables}]", quoted_name(key));
                return Err(file.fault(spanned.span().start, found));
            }
            for (column, value) in file.table(key, value)? {
                let column = column.get_ref().to_string();
                match key {
                    "columns" => {
                        self.columns.insert(column, file.text(key, value)?);
                    }
                    "things" => {
                        let template = file.template(key, value, THING)?;
                        self.things.insert(column, template);
                    }
                    _ => {
                        let table = file.table(&format!("values.{column}"), value)?;
                        let word = |(found, word): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
                            Ok((found.get_ref().to_string(), file.text(key, word)?))
                        };
                        self.values.insert(column, table.iter().map(word).collect::<Result<_>>()?);
                    }
                }
            }
        }
        Ok(self)
    }

    /// How somebody came onto the list, where that is not by rank.
    pub fn chosen(&self, chosen: Chosen) -> Option<String> {
        match chosen {
            Chosen::Draw => Some(self.say("drawn", |_| String::new())),
            Chosen::Must => Some(self.say("must", |_| String::new())),
            Chosen::Rank | Chosen::No => None,
        }
    }

    /// One of the words, with what `value` says in its places.
    pub(super) fn say(&self, key: &str, value: impl Fn(&str) -> String) -> String {
        self.said.get(key).map_or_else(String::new, |template| template.fill(value))
    }

    /// The template of a thing that is known of a column, where the column has one of its own.
    pub(super) fn thing(&self, column: &str) -> Option<&Template> {
        self.things.get(column)
    }

    /// What a column is called: its name with spaces, where nobody says otherwise.
    pub fn column(&self, name: &str) -> String {
        self.columns.get(name).cloned().unwrap_or_else(|| name.replace('_', " "))
    }

    /// What a value of a column is called: as it stands in the table, where nobody says otherwise.
    pub fn value(&self, column: &str, value: &str) -> String {
        let own = self.values.get(column).and_then(|words| words.get(value));
        own.cloned().unwrap_or_else(|| value.to_string())
    }
}

/// A `words.toml`, and what to say of a place in it.
struct File<'a> {
    path: &'a Path,
    text: &'a str,
}

impl File<'_> {
    fn fault(&self, at: usize, found: String) -> Error {
        let (line, column) = line_and_column(self.text, at);
        restive_tables::Error::Settings { path: self.path.into(), line, column, found }.into()
    }

    fn text(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String> {
        let found = || format!("{key}: found no text, expected text in quotation marks");
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| self.fault(value.span().start, found()))
    }

    fn template(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        places: &'static [&'static str],
    ) -> Result<Template> {
        let wrong = |found| self.fault(value.span().start, format!("{key}: {found}"));
        Template::parse(&self.text(key, value)?, places).map_err(wrong)
    }

    fn table<'t, 'v>(&self, key: &str, value: &'t Spanned<DeValue<'v>>) -> Result<&'t DeTable<'v>> {
        let found = || format!("{key}: found no table, expected [{key}]");
        value.get_ref().as_table().ok_or_else(|| self.fault(value.span().start, found()))
    }
}
