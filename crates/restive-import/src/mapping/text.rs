//! The text of a mapping, and what to say of a place in it.
//!
//! Whatever is read keeps where it stands ([`At`]): a column that turns out not to exist is found only when its file is opened, and is
//! still named by its line and column here.

use crate::error::{Error, Result};
use jiff::civil::Date;
use restive_tables::show::{line_and_column, quoted_name, sentence};
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that stands at a byte of the mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// what stands there
    pub value: T,
    /// the byte at which it begins
    pub at: usize,
}

/// A mapping as it was written.
#[derive(Debug, Clone)]
pub struct MappingText {
    /// what messages call it
    pub path: PathBuf,
    /// all of it
    pub text: String,
}

impl MappingText {
    /// An error at a byte.
    pub(crate) fn fault(&self, at: usize, found: impl Into<String>) -> Error {
        let (line, column) = line_and_column(&self.text, at);
        Error::Mapping { path: self.path.clone(), line, column, found: found.into() }
    }

    /// Line of a byte, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        line_and_column(&self.text, at).0
    }

    /// The folder that relative names of files begin at.
    pub fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The whole mapping as a section without a name.
    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'_>>> {
        DeTable::parse(&self.text)
            .map_err(|error| self.fault(error.span().map_or(0, |span| span.start), sentence(error.message())))
    }
}

/// A table of the mapping.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub(crate) text: &'a MappingText,
    /// `people.features`; empty for the whole
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// Refuses a key that nobody knows.
    pub(crate) fn only(&self, known: &[&str]) -> Result<()> {
        match self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => {
                let found = format!(
                    "found {}{}, expected one of {}",
                    quoted_name(key.get_ref()),
                    self.within(),
                    known.join(", ")
                );
                Err(self.text.fault(key.span().start, found))
            }
        }
    }

    fn within(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// Says what is wrong with the value of a key.
    pub(crate) fn refuse(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> Error {
        let kind = match value.get_ref().type_str() {
            "string" => quoted_name(value.get_ref().as_str().unwrap_or_default()),
            other => format!("a value of the kind {other}"),
        };
        self.text.fault(value.span().start, format!("{key}: found {kind}, expected {expected}"))
    }

    /// Says that a key is not there.
    pub(crate) fn missing(&self, key: &str, expected: &str) -> Error {
        self.text.fault(self.at, format!("found no {key}{}, expected {expected}", self.within()))
    }

    pub(crate) fn read<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<At<T>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match read(value.get_ref()) {
            Some(read) => Ok(Some(At { value: read, at: value.span().start })),
            None => Err(self.refuse(key, value, expected)),
        }
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<At<String>>> {
        self.read(key, "text in quotation marks", |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn need_text(&self, key: &str, expected: &str) -> Result<At<String>> {
        self.text(key)?.ok_or_else(|| self.missing(key, expected))
    }

    /// One character.
    pub(crate) fn letter(&self, key: &str) -> Result<Option<At<u8>>> {
        self.read(key, "one character of ASCII in quotation marks", |value| {
            match value.as_str()?.as_bytes() {
                [byte] if byte.is_ascii() => Some(*byte),
                _ => None,
            }
        })
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<At<bool>>> {
        self.read(key, "true or false", DeValue::as_bool)
    }

    pub(crate) fn whole(&self, key: &str) -> Result<Option<At<usize>>> {
        self.read(key, "a whole number, at least 0", |value| {
            let integer = value.as_integer()?;
            usize::from_str_radix(integer.as_str(), integer.radix()).ok()
        })
    }

    pub(crate) fn date(&self, key: &str) -> Result<Option<At<Date>>> {
        self.read(key, "a date such as 2026-01-05", |value| match value.as_datetime() {
            Some(found) if found.time.is_none() => found.to_string().parse().ok(),
            Some(_) => None,
            None => value.as_str()?.parse().ok(),
        })
    }

    /// A list of values, or one value for a list of one.
    fn list<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Vec<At<T>>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let one = |value: &'a Spanned<DeValue<'a>>| match read(value.get_ref()) {
            Some(read) => Ok(At { value: read, at: value.span().start }),
            None => Err(self.refuse(key, value, expected)),
        };
        match value.get_ref().as_array() {
            Some(list) => list.iter().map(one).collect::<Result<_>>().map(Some),
            None => Ok(Some(vec![one(value)?])),
        }
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<At<String>>>> {
        self.list(key, "text in quotation marks, or a list of such", |value| {
            value.as_str().map(str::to_owned)
        })
    }

    pub(crate) fn numbers(&self, key: &str) -> Result<Option<Vec<At<f64>>>> {
        self.list(key, "numbers", number)
    }

    pub(crate) fn section(&self, key: &str) -> Result<Option<Section<'a>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match value.get_ref().as_table() {
            Some(table) => Ok(Some(self.below(key, value.span().start, table))),
            None => Err(self.refuse(key, value, &format!("a section [{key}]"))),
        }
    }

    pub(crate) fn sections(&self, key: &str) -> Result<Vec<Section<'a>>> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let expected = format!("sections [[{key}]]");
        let Some(list) = value.get_ref().as_array() else {
            return match value.get_ref().as_table() {
                Some(table) => Ok(vec![self.below(key, value.span().start, table)]),
                None => Err(self.refuse(key, value, &expected)),
            };
        };
        let one = |value: &'a Spanned<DeValue<'a>>| match value.get_ref().as_table() {
            Some(table) => Ok(self.below(key, value.span().start, table)),
            None => Err(self.refuse(key, value, &expected)),
        };
        list.iter().map(one).collect()
    }

    /// What a key says, as a section: a table, or text that stands for a table with one entry.
    pub(crate) fn text_or_section(
        &self,
        key: &str,
    ) -> Result<Option<std::result::Result<At<String>, Section<'a>>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match (value.get_ref().as_str(), value.get_ref().as_table()) {
            (Some(text), _) => Ok(Some(Ok(At { value: text.to_owned(), at: value.span().start }))),
            (_, Some(table)) => Ok(Some(Err(self.below(key, value.span().start, table)))),
            _ => Err(self.refuse(key, value, "a column, or a table { column = …, … }")),
        }
    }

    pub(crate) fn below(&self, key: &str, at: usize, table: &'a DeTable<'a>) -> Section<'a> {
        let name = if self.name.is_empty() { key.into() } else { format!("{}.{key}", self.name) };
        Section { text: self.text, name, at, table }
    }
}

pub(crate) fn number(value: &DeValue<'_>) -> Option<f64> {
    match (value.as_integer(), value.as_float()) {
        (Some(whole), _) => i64::from_str_radix(whole.as_str(), whole.radix()).ok().map(|x| x as f64),
        (_, Some(number)) => number.as_str().replace('_', "").parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    }
}
