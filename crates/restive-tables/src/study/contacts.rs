//! The people of a programme as an import leaves them in `people.parquet`: who may be called, and what is kept for the list.
//!
//! | column | meaning |
//! |---|---|
//! | `arm` | what the study calls a person |
//! | `id` | what the programme calls her |
//! | `joined`, `left` | days, where they are known |
//! | `do_not_call` | whether she must not be called |
//! | `is_there` | whether she has joined and not left when the next decision is made |
//! | any other | kept for the list: names, numbers; never learnt from |

use crate::error::{Error, Result};
use crate::read::ParquetTable;
use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, StringArray};
use arrow_schema::DataType;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Who may be called, and what is kept for the list.
#[derive(Debug, Clone, Default)]
pub struct Contacts {
    path: PathBuf,
    /// the names of the kept columns
    pub kept: Vec<String>,
    people: HashMap<String, Contact>,
}

#[derive(Debug, Clone)]
struct Contact {
    may_be_called: bool,
    kept: Vec<String>,
}

impl Contacts {
    /// The columns that every such table begins with.
    pub const COLUMNS: [&str; 6] = ["arm", "id", "joined", "left", "do_not_call", "is_there"];

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
        let kept = names[Self::COLUMNS.len()..].iter().map(|name| name.to_string()).collect();
        let mut contacts = Self { path: path.into(), kept, people: HashMap::new() };
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
                let contact = Contact {
                    may_be_called: !is(4) && is(5),
                    kept: (Self::COLUMNS.len()..width).map(cell).collect(),
                };
                contacts.people.insert(cell(0), contact);
            }
        }
        Ok(contacts)
    }

    /// Whether a person may be called; one who is not in the table is refused.
    pub fn may_be_called(&self, arm: &str) -> Result<bool> {
        self.find(arm).map(|contact| contact.may_be_called)
    }

    /// What is kept of a person, by column.
    pub fn kept(&self, arm: &str) -> Result<&[String]> {
        self.find(arm).map(|contact| &contact.kept[..])
    }

    fn find(&self, arm: &str) -> Result<&Contact> {
        self.people.get(arm).ok_or_else(|| {
            let found = format!("no person {}", crate::show::name(arm));
            Error::content(&self.path, "", found, "everybody who is in the study")
        })
    }
}
