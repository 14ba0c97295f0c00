//! A list as a file: by the ending of its name, or for another system.
//!
//! | ending | |
//! |---|---|
//! | `.xlsx` | a workbook with a sheet for each worker, to be filled in |
//! | `.html` | a page to print |
//! | `.csv`, `.parquet`, `.json` | tables |
//!
//! Whatever is written has names and numbers in it: nobody but its owner may read it.

use crate::error::{Error, Result};
use restive_report::list::{self, Cell, Kind, List};
use restive_tables::{Cells, Own, recognise_bytes, show, write_private_file, write_private_table};
use std::path::Path;

restive_tables::choices! {
    /// Another system that takes lists.
    System {
        /// A workbook for the import of cases into CommCare
        Commcare = "commcare",
        /// Priorities of contacts for the Community Health Toolkit, as JSON
        Cht = "cht",
        /// A bundle of tasks in FHIR R4, as JSON
        Fhir = "fhir",
    }
}

impl System {
    /// How the name of its file ends.
    fn ending(self) -> &'static str {
        match self {
            System::Commcare => "xlsx",
            System::Cht | System::Fhir => "json",
        }
    }
}

const ENDINGS: &str = ".xlsx, .html, .csv, .parquet or .json";

fn ending(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase()
}

/// Refuses a name that says nothing of the format, before any work is done.
pub fn check_list(path: &Path, system: Option<System>) -> Result<()> {
    let (found, name) = (ending(path), show::path(path));
    match system {
        Some(system) if found != system.ending() => {
            let expected = system.ending();
            Err(Error::Refused(format!("{name}: found another ending, expected .{expected} for {system}")))
        }
        None if !["xlsx", "html", "csv", "parquet", "json"].contains(&found.as_str()) => {
            Err(Error::Refused(format!("{name}: found another ending, expected {ENDINGS}")))
        }
        _ => Ok(()),
    }
}

/// Recognises a list that was written before, by what it begins with.
pub fn recognise_list(path: &Path) -> restive_tables::Result<()> {
    let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    if ending(path) == "parquet" {
        return restive_tables::recognise_table(path, "a list", |columns| {
            columns.starts_with(&["id", "rank"])
        });
    }
    recognise_bytes(path, "something else", "a list", |bytes| match ending(path).as_str() {
        "xlsx" => bytes.starts_with(b"PK") && holds(bytes, b"xl/workbook.xml"),
        "csv" => bytes.starts_with(b"id,rank,"),
        "html" => {
            bytes.starts_with(b"<!DOCTYPE html>") && holds(bytes, b"name=\"generator\" content=\"restive\"")
        }
        "json" => holds(bytes, b"\"plan\"") || holds(bytes, b"urn:restive:"),
        _ => false,
    })
}

/// Writes a list; one that is there is replaced only where `replace` is set and it is one.
pub fn write_list(list: &List, path: &Path, system: Option<System>, replace: bool) -> Result<()> {
    check_list(path, system)?;
    let own: Option<Own> = replace.then_some(recognise_list);
    let bytes = match (system, ending(path).as_str()) {
        (Some(System::Commcare), _) => list::commcare(list)?,
        (Some(System::Cht), _) => list::cht(list).into_bytes(),
        (Some(System::Fhir), _) => list::fhir(list).into_bytes(),
        (None, "xlsx") => list::xlsx(list)?,
        (None, "html") => list::html(list).into_bytes(),
        (None, "json") => list::json(list).into_bytes(),
        (None, "csv") => list::csv(list).into_bytes(),
        (None, _) => {
            let columns = list_columns(list);
            let columns: Vec<(&str, &Cells)> =
                columns.iter().map(|(name, cells)| (name.as_str(), cells)).collect();
            return Ok(write_private_table(path, own, &columns)?);
        }
    };
    Ok(write_private_file(path, &bytes, own)?)
}

/// The columns of a table, those to be filled in at the end.
pub fn list_columns(list: &List) -> Vec<(String, Cells)> {
    let rows = &list.rows;
    let texts = |text: fn(&list::ListRow) -> String| Cells::Text(rows.iter().map(text).collect());
    let mut columns = vec![
        ("id".to_string(), texts(|row| row.id.clone())),
        ("rank".into(), Cells::Whole(rows.iter().map(|row| i32::try_from(row.rank).ok()).collect())),
        ("worker".into(), texts(|row| row.sheet.clone().unwrap_or_default())),
    ];
    for (k, column) in list.columns.iter().enumerate() {
        let cell = |row: &list::ListRow| row.cells.get(k).cloned().unwrap_or(Cell::None);
        let cells = match column.kind {
            Kind::Number { .. } | Kind::Percent => {
                let number = |row| match cell(row) {
                    Cell::Number(x) => x,
                    Cell::Whole(x) => x as f64,
                    _ => f64::NAN,
                };
                Cells::Number(rows.iter().map(number).collect())
            }
            Kind::Whole => {
                let whole = |row| match cell(row) {
                    Cell::Whole(x) => i32::try_from(x).ok(),
                    _ => None,
                };
                Cells::Whole(rows.iter().map(whole).collect())
            }
            Kind::Text | Kind::Reason | Kind::Day => {
                let text = |row| match cell(row) {
                    Cell::Text(text) => text,
                    Cell::Day(day) => day.to_string(),
                    _ => String::new(),
                };
                Cells::Text(rows.iter().map(text).collect())
            }
        };
        columns.push((column.name.clone(), cells));
    }
    for name in ["outcome", "day", "note"] {
        columns.push((name.into(), Cells::Text(vec![String::new(); rows.len()])));
    }
    columns.push(("plan".into(), Cells::Text(vec![list.plan.clone(); rows.len()])));
    columns
}
