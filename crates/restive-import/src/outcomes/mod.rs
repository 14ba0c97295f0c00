//! Reads a sheet of outcomes back: who was called, and what became of it.
//!
//! A list goes out with an empty column for the outcome and comes back filled in, as far as people got: as CSV, as a workbook (every
//! sheet that has the columns, whatever it is called by now), as Parquet, or as JSON from a program. Columns are found by their headings
//! and others are not looked at:
//!
//! | column | headings | meaning |
//! |---|---|---|
//! | id | `id`, `arm` | whom; needed |
//! | outcome | `outcome` | a [code](OutcomeCode) or its words; needed; an empty cell is not filled in yet |
//! | plan | `plan` | which list |
//! | day | `day`, `date` | when: the year first, or by a given format; `03/04/2026` is never guessed |
//! | note | `note`, `notes` | anything |
//!
//! What cannot be used is listed as a [`Problem`] with its file, sheet and line, and what was expected; the other rows are used. A message
//! never has what stands in the cell of an id, a day or a note; a code that nobody knows is shown if it is short and has no digits.
//!
//! ```
//! use restive_import::outcomes::{OutcomeCode, OutcomesAsked, read};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("list.csv");
//! std::fs::write(&path, "plan,id,name,outcome,day\nweek 12,B1,Ada,No_Answer,2026-03-17\nweek 12,B2,Ben,,\nweek 12,B3,Cho,gone,\n").unwrap();
//! let sheet = read(&path, &OutcomesAsked::default(), |_, _| true)?;
//! assert_eq!((sheet.rows[0].id.as_str(), sheet.rows[0].code), ("B1", OutcomeCode::NoAnswer));
//! assert_eq!((sheet.rows.len(), sheet.not_filled_in), (1, 1));
//! assert!(sheet.problems[0].to_string().starts_with("list.csv, line 4: found the outcome \"gone\", expected reached, no answer"));
//! # Ok::<(), restive_import::Error>(())
//! ```

mod code;
mod json;
mod reader;

pub use code::OutcomeCode;

use crate::error::{Error, Result};
use crate::source::{Archives, Input, Reading, Source, SourceError, tables};
use code::plain;
use jiff::civil::Date;
use reader::Reader;
use restive_tables::show;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The headings of the columns, in any spelling; the first that a sheet has counts. Two columns of one heading are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeColumns {
    /// which list
    pub plan: Vec<String>,
    /// whom
    pub id: Vec<String>,
    /// what became of it
    pub outcome: Vec<String>,
    /// when
    pub day: Vec<String>,
    /// anything
    pub note: Vec<String>,
}

impl Default for OutcomeColumns {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        Self {
            plan: words(&["plan"]),
            id: words(&["id", "arm"]),
            outcome: words(&["outcome"]),
            day: words(&["day", "date"]),
            note: words(&["note", "notes"]),
        }
    }
}

/// How a sheet is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomesAsked {
    /// the headings of the columns
    pub columns: OutcomeColumns,
    /// words for codes beside their own names, in another language say
    pub translations: Vec<(String, OutcomeCode)>,
    /// how days are written beside `2026-03-17`, as a mapping says it: `%d/%m/%Y`
    pub day_formats: Vec<String>,
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeAt {
    /// the name of the file
    pub file: String,
    /// the sheet of a workbook, the member of an archive
    pub sheet: Option<String>,
    /// the line, as the file's own tools count it; of Parquet and JSON the row, from 0
    pub line: u64,
}

impl fmt::Display for OutcomeAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", show::plain(&self.file))?;
        if let Some(sheet) = &self.sheet {
            write!(f, ", sheet {}", show::name(sheet))?;
        }
        write!(f, ", line {}", self.line)
    }
}

/// What became of one planned call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow {
    /// which list, where the sheet says
    pub plan: Option<String>,
    /// whom
    pub id: String,
    /// what became of it
    pub code: OutcomeCode,
    /// when
    pub day: Option<Date>,
    /// anything
    pub note: Option<String>,
    /// where it stands
    pub at: OutcomeAt,
}

/// A row that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// where it stands
    pub at: OutcomeAt,
    /// what was found
    pub found: String,
    /// what was expected
    pub expected: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.at, self.found, self.expected)
    }
}

/// A sheet of outcomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeSheet {
    /// what became of calls, in the order of the sheet; each person of a plan once
    pub rows: Vec<OutcomeRow>,
    /// rows whose outcome is empty
    pub not_filled_in: usize,
    /// rows that cannot be used
    pub problems: Vec<Problem>,
}

/// Reads a sheet; `is_known` says whether a plan (where the row names one) has a person of that id.
pub fn read(
    path: &Path,
    asked: &OutcomesAsked,
    is_known: impl Fn(Option<&str>, &str) -> bool,
) -> Result<OutcomeSheet> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut reader = Reader::new(asked, is_known)?;
    let missing = |found: &[String]| {
        let headings =
            |words: &[String]| words.iter().map(|word| show::name(word)).collect::<Vec<_>>().join(" or ");
        // cells are shown only if one of them is a heading: others may be a person's row
        let columns = &asked.columns;
        let all = [&columns.plan, &columns.id, &columns.outcome, &columns.day, &columns.note];
        let is_heading = |name: &String| all.into_iter().flatten().any(|word| plain(word) == plain(name));
        let found = match found.iter().any(is_heading) {
            true => {
                let shown: Vec<String> = found.iter().take(20).map(|name| show::name(name)).collect();
                format!("the columns {}", shown.join(", "))
            }
            false => "no heading of a list in the first line".into(),
        };
        Err(Error::Refused(format!(
            "{}: found {found}, expected {} and {}",
            show::plain(&name),
            headings(&asked.columns.id),
            headings(&asked.columns.outcome)
        )))
    };
    if json::is_json(path) {
        let Some(batch) = json::table(path, &name)? else { return Ok(OutcomeSheet::default()) };
        let frames = BTreeMap::from([(name.clone(), vec![batch])]);
        let reading = Reading { file: name.clone(), ..Reading::default() };
        let mut source = Source::open(&reading, &Input::Tables(&frames))?;
        if !reader.take(&mut source, &name, None)? {
            return missing(source.header());
        }
        return Ok(reader.finish());
    }
    let base = path.parent().unwrap_or(Path::new(""));
    let archives = Archives::default();
    let (all, _) = tables(base, &name, &archives)?;
    let (mut has_any, mut first_header) = (false, None);
    for table in &all {
        let reading = Reading { file: table.clone(), ..Reading::default() };
        let mut source = match Source::open_from(&reading, &Input::Files { base }, &archives) {
            // an empty sheet beside others
            Err(SourceError::Content { .. }) if all.len() > 1 => continue,
            opened => opened?,
        };
        let sheet = table.strip_prefix(&format!("{name}#"));
        has_any |= reader.take(&mut source, &name, sheet)?;
        first_header.get_or_insert_with(|| source.header().to_vec());
    }
    if !has_any {
        return missing(&first_header.unwrap_or_default());
    }
    Ok(reader.finish())
}
