//! The people of a programme as an import leaves them in `people.parquet`: who may be called, and what is kept for the list.
//!
//! | column | meaning |
//! |---|---|
//! | `arm` | what the study calls a person |
//! | `id` | what the programme calls her |
//! | `joined`, `left` | days, where they are known |
//! | `do_not_call` | whether she must not be called |
//! | `is_there` | whether she has joined and not left when the next decision is made |
//! | `last_call`, `last_outcome` | the day of her last call, and what came of it in a word; the tables of earlier versions have neither |
//! | any other | kept for the list: names, numbers; never learnt from |

use crate::error::{Error, Result};
use crate::read::ParquetTable;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Who may be called, and what is kept for the list.
#[derive(Debug, Clone, Default)]
pub struct Contacts {
    path: PathBuf,
    /// the names of the kept columns
    pub kept: Vec<String>,
    people: HashMap<String, Contact>,
    by_id: HashMap<String, String>,
}

/// What is known of a person beside the study. Texts are empty where nothing is known; days are written `2026-03-02`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// what the programme calls her
    pub id: String,
    /// the day on which she joined
    pub joined: String,
    /// the first day without her
    pub left: String,
    /// whether she must not be called
    pub do_not_call: bool,
    /// whether she has joined and not left when the next decision is made
    pub is_there: bool,
    /// the day of her last call
    pub last_call: String,
    /// what came of it, in a word
    pub last_outcome: String,
    /// what is kept for the list, in the order of [`Contacts::kept`]
    pub kept: Vec<String>,
}

impl Contact {
    /// Whether she is there and may be called.
    pub fn may_be_called(&self) -> bool {
        self.is_there && !self.do_not_call
    }
}

impl Contacts {
    /// The columns that every such table begins with.
    pub const COLUMNS: [&str; 6] = ["arm", "id", "joined", "left", "do_not_call", "is_there"];
    /// The columns that follow, but in tables of earlier versions.
    pub const LAST: [&str; 2] = ["last_call", "last_outcome"];

    /// Whether a table with these columns says who was called last.
    pub fn has_last(columns: &[impl AsRef<str>]) -> bool {
        let after = columns.iter().skip(Self::COLUMNS.len()).take(Self::LAST.len());
        after.map(AsRef::as_ref).eq(Self::LAST)
    }

    /// Reads `people.parquet`.
    pub fn read(path: &Path) -> Result<Self> {
        let table = ParquetTable::open(path)?;
        let schema = table.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let kinds = schema.fields().iter().enumerate().all(|(k, field)| match k {
            4 | 5 => *field.data_type() == DataType::Boolean,
            _ => *field.data_type() == DataType::Utf8,
        });
        if !names.starts_with(&Self::COLUMNS) || !kinds {
            let expected = format!("the people of an import: {}, …", Self::COLUMNS.join(", "));
            return Err(Error::content(path, "", "other columns", expected));
        }
        let has_last = Self::has_last(&names);
        let first = Self::COLUMNS.len() + if has_last { Self::LAST.len() } else { 0 };
        let kept = names[first..].iter().map(|name| name.to_string()).collect();
        let mut contacts = Self { path: path.into(), kept, people: HashMap::new(), by_id: HashMap::new() };
        let width = names.len();
        for batch in table.batches(0..width)? {
            let batch = batch?;
            let text: Vec<Option<&StringArray>> =
                batch.columns().iter().map(|column| column.as_string_opt::<i32>()).collect();
            let truth: Vec<Option<&BooleanArray>> =
                batch.columns().iter().map(|column| column.as_boolean_opt()).collect();
            for row in 0..batch.num_rows() {
                let cell = |k: usize| {
                    text[k]
                        .filter(|column| column.is_valid(row))
                        .map_or("", |column| column.value(row))
                        .to_string()
                };
                let is = |k: usize| truth[k].is_some_and(|column| column.is_valid(row) && column.value(row));
                let last = |k: usize| if has_last { cell(k) } else { String::new() };
                let contact = Contact {
                    id: cell(1),
                    joined: cell(2),
                    left: cell(3),
                    do_not_call: is(4),
                    is_there: is(5),
                    last_call: last(6),
                    last_outcome: last(7),
                    kept: (first..width).map(cell).collect(),
                };
                contacts.by_id.insert(contact.id.clone(), cell(0));
                contacts.people.insert(cell(0), contact);
            }
        }
        Ok(contacts)
    }

    /// The same people with what a plan needs of them alone: some of the kept columns, and the programme's own ids of those who are named.
    pub fn reduced(&self, kept: &[&str], named: &[String]) -> Self {
        let columns: Vec<usize> =
            (0..self.kept.len()).filter(|k| kept.contains(&self.kept[*k].as_str())).collect();
        let one = |(arm, person): (&String, &Contact)| {
            let is_named = named.contains(&person.id);
            let reduced = Contact {
                id: if is_named { person.id.clone() } else { String::new() },
                joined: String::new(),
                left: String::new(),
                kept: columns.iter().map(|k| person.kept[*k].clone()).collect(),
                ..person.clone()
            };
            (arm.clone(), reduced)
        };
        let kept = columns.iter().map(|k| self.kept[*k].clone()).collect();
        Self::of(&self.path, kept, self.people.iter().map(one).collect())
    }

    fn of(path: &Path, kept: Vec<String>, people: HashMap<String, Contact>) -> Self {
        let named = people.iter().filter(|(_, person)| !person.id.is_empty());
        let by_id = named.map(|(arm, person)| (person.id.clone(), arm.clone())).collect();
        Self { path: path.into(), kept, people, by_id }
    }

    /// As JSON, in the order of the arms' names: the same bytes for the same people.
    pub fn to_json(&self) -> Vec<u8> {
        let people: BTreeMap<&String, &Contact> = self.people.iter().collect();
        serde_json::to_vec(&(&self.kept, people)).expect("plain values")
    }

    /// What [`Contacts::to_json`] wrote; `path` is what messages call it.
    pub fn from_json(path: &Path, bytes: &[u8]) -> Result<Self> {
        let (kept, people): (Vec<String>, HashMap<String, Contact>) = serde_json::from_slice(bytes)
            .map_err(|error| Error::content(path, "", error.to_string(), "the people of a recorded plan"))?;
        Ok(Self::of(path, kept, people))
    }

    /// What is known of a person; one who is not in the table is refused.
    pub fn person(&self, arm: &str) -> Result<&Contact> {
        self.people.get(arm).ok_or_else(|| {
            let found = format!("no person {}", crate::show::name(arm));
            Error::content(&self.path, "", found, "everybody who is in the study")
        })
    }

    /// What a kept column has of those who may be called, sorted; nothing where that are more than `most`, or there is no such column.
    pub fn values(&self, column: &str, most: usize) -> Option<Vec<&str>> {
        let at = self.kept.iter().position(|name| name == column)?;
        let mut found = BTreeSet::new();
        for contact in self.people.values().filter(|contact| contact.may_be_called()) {
            found.insert(contact.kept.get(at).map_or("", String::as_str));
            if found.len() > most {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }

    /// What the study calls whoever has an id of the programme.
    pub fn arm(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }

    /// Whether a person may be called; one who is not in the table is refused.
    pub fn may_be_called(&self, arm: &str) -> Result<bool> {
        self.person(arm).map(Contact::may_be_called)
    }

    /// What is kept of a person, by column.
    pub fn kept(&self, arm: &str) -> Result<&[String]> {
        self.person(arm).map(|contact| &contact.kept[..])
    }

    /// What a column has of a person, where it is kept.
    pub fn cell(&self, arm: &str, column: &str) -> Result<Option<&str>> {
        let contact = self.person(arm)?;
        let at = self.kept.iter().position(|kept| kept == column);
        Ok(at.map(|at| contact.kept[at].as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_needs_of_people_names_nobody() {
        let person = |id: &str, name: &str, worker: &str| Contact {
            id: id.into(),
            joined: "2026-01-05".into(),
            is_there: true,
            last_outcome: "reached".into(),
            kept: vec![name.into(), worker.into()],
            ..Contact::default()
        };
        let people = [("a", person("B1", "Ada", "W1")), ("b", person("B2", "Ben", "W2"))]
            .map(|(arm, one)| (arm.into(), one));
        let kept = vec!["name".to_string(), "worker".into()];
        let all = Contacts::of(Path::new("people.parquet"), kept, people.into_iter().collect());
        let reduced = all.reduced(&["worker"], &["B2".into()]);
        let text = String::from_utf8(reduced.to_json()).unwrap();
        assert!(!["Ada", "Ben", "B1", "2026"].iter().any(|told| text.contains(told)), "{text}");
        assert_eq!(reduced.arm("B2"), Some("b"));
        let read = Contacts::from_json(Path::new("people.json"), text.as_bytes()).unwrap();
        assert_eq!((&read.kept, &read.people), (&reduced.kept, &reduced.people));
        assert_eq!(read.cell("a", "worker").unwrap(), Some("W1"));
        assert_eq!(read.person("a").unwrap().last_outcome, "reached");
        // a plan that was made of what was kept is made of the same again
        assert_eq!(read.reduced(&["worker"], &["B2".into()]).to_json(), text.as_bytes());
    }
}
