//! A table of a study, CSV, Parquet or in memory, as batches of cells.
//!
//! All of them yield the same: the wanted columns, each as text or as numbers. A cell that is empty, null or NaN is missing:
//! an empty text, a NaN. Integers that serve as names become text.

mod ahead;
mod csv;
mod memory;
mod parquet;

pub(super) use ahead::Ahead;
pub(super) use csv::number;
pub use memory::TYPE;

use self::csv::CsvTable;
use self::parquet::ParquetTable;
use crate::columns::ColumnFault;
use crate::error::{Error, Result, RowNumber};
use crate::format::Format;
use crate::names::{SHORTER, too_long};
use crate::show::quoted_name;
use arrow_array::{Array, RecordBatch, StringArray};
use memory::MemoryTable;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Rows per batch.
pub(super) const ROWS: usize = 1 << 15;

/// What a column is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// names: text or integers
    Name,
    /// numbers
    Number,
    /// whatever it holds: text from CSV, text or numbers from elsewhere
    Any,
}

/// One column of a batch.
pub(super) enum Cells {
    Text(StringArray),
    Number(Vec<f64>),
}

impl Cells {
    /// The text of a cell, empty where it is missing.
    pub(super) fn text(&self, row: usize) -> &str {
        match self {
            Cells::Text(cells) if cells.is_valid(row) => cells.value(row),
            Cells::Text(_) => "",
            Cells::Number(_) => unreachable!("a column of text"),
        }
    }

    /// The number in a cell, NaN where it is missing.
    pub(super) fn number(&self, row: usize) -> f64 {
        match self {
            Cells::Number(cells) => cells[row],
            Cells::Text(_) => unreachable!("a column of numbers"),
        }
    }
}

/// Some consecutive rows.
pub(super) struct Batch {
    pub(super) rows: usize,
    /// the wanted columns, in the order in which they were asked for
    pub(super) cells: Vec<Cells>,
    pub(super) places: Places,
}

/// Where the rows of a batch stand in their file.
pub(super) enum Places {
    Lines(PathBuf, Vec<::csv::Position>),
    From(u64),
}

impl Batch {
    /// Where a row stands in its file.
    pub(super) fn row(&self, row: usize) -> RowNumber {
        match &self.places {
            Places::Lines(path, positions) => {
                RowNumber::Line(crate::read::csv::editor_line(path, &positions[row]))
            }
            Places::From(first) => RowNumber::Row(first + row as u64),
        }
    }
}

/// Where a table comes from.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    File(&'a Path),
    /// under the name that messages call it
    Memory(&'a Path, &'a RecordBatch),
}

impl<'a> Origin<'a> {
    /// What messages call it.
    pub(super) fn path(self) -> &'a Path {
        let (Origin::File(path) | Origin::Memory(path, _)) = self;
        path
    }
}

/// A table that is being read.
pub(super) struct Table {
    pub(super) path: PathBuf,
    header: Vec<String>,
    source: Source,
}

enum Source {
    Csv(Box<CsvTable>),
    Parquet(Box<ParquetTable>),
    Memory(Box<MemoryTable>),
}

impl Table {
    /// Opens a table and reads the names of its columns.
    pub(super) fn open(origin: Origin<'_>) -> Result<Self> {
        let path = origin.path();
        let (source, header) = match origin {
            Origin::Memory(name, table) => {
                let (table, header) = MemoryTable::open(name, table);
                (Source::Memory(Box::new(table)), header)
            }
            Origin::File(path) if Format::of(path)? == Format::Csv => {
                let (table, header) = CsvTable::open(path)?;
                (Source::Csv(Box::new(table)), header)
            }
            // the files of a study end in .csv or .parquet
            Origin::File(path) => {
                let (table, header) = ParquetTable::open(path)?;
                (Source::Parquet(Box::new(table)), header)
            }
        };
        if let Some(name) = header.iter().find(|name| too_long(name).is_some()) {
            return Err(Error::content(path, "header", format!("a column {}", quoted_name(name)), SHORTER));
        }
        let mut seen = HashSet::new();
        if let Some(name) = header.iter().find(|name| !seen.insert(name.as_str())) {
            let fault = ColumnFault::Duplicate { column: name.clone() };
            return Err(Error::Columns { path: path.into(), fault });
        }
        Ok(Self { path: path.into(), header, source })
    }

    pub(super) fn header(&self) -> &[String] {
        &self.header
    }

    /// The position of a column, where it is there.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|n| n == name)
    }

    /// The position of a column that must be there.
    pub(super) fn need(&self, name: &'static str) -> Result<usize> {
        self.need_because(name, "")
    }

    /// The same, with the reason.
    pub(super) fn need_because(&self, name: &'static str, why: &'static str) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            let fault = ColumnFault::Absent { column: name, found: self.header.clone(), why };
            Error::Columns { path: self.path.clone(), fault }
        })
    }

    /// Says which columns are wanted; comes before the first batch.
    pub(super) fn select(&mut self, wanted: Vec<(usize, Want)>) -> Result<()> {
        match &mut self.source {
            Source::Csv(table) => table.wanted = wanted,
            Source::Parquet(table) => table.select(wanted, &self.header)?,
            Source::Memory(table) => table.select(wanted, &self.header)?,
        }
        Ok(())
    }

    /// The next rows; `None` after the last. A file that changes meanwhile is refused.
    pub(super) fn next_batch(&mut self) -> Result<Option<Batch>> {
        match &mut self.source {
            Source::Csv(table) => {
                let said = table.next_batch(&self.header);
                table.steady().vouch(said)
            }
            Source::Parquet(table) => {
                let said = table.next_batch();
                table.steady.vouch(said)
            }
            Source::Memory(table) => table.next_batch(&self.header),
        }
    }

    /// No fewer than the rows of the table.
    pub(super) fn most_rows(&self) -> u64 {
        match &self.source {
            Source::Csv(table) => table.bytes / self.header.len().max(1) as u64,
            Source::Parquet(table) => table.rows,
            Source::Memory(table) => table.rows(),
        }
    }

    /// Whether it is Parquet, whose columns have types.
    pub(super) fn is_parquet(&self) -> bool {
        matches!(self.source, Source::Parquet(_))
    }

    /// Whether the type of a column of Parquet is that of words; comes before columns are selected.
    pub(super) fn is_text(&self, column: usize) -> bool {
        matches!(&self.source, Source::Parquet(table) if table.is_text(column))
    }

    /// Refuses columns of Parquet whose types cannot be read as wanted; comes before they are selected.
    pub(super) fn check(&self, wanted: &[(usize, Want)]) -> Result<()> {
        match &self.source {
            Source::Parquet(table) => table.check(wanted, &self.header),
            Source::Csv(_) | Source::Memory(_) => Ok(()),
        }
    }

    /// Whether a feature is what its type says; otherwise its cells say what it is.
    pub(super) fn is_typed(&self, column: usize) -> bool {
        match &self.source {
            Source::Csv(_) => false,
            Source::Parquet(_) => true,
            Source::Memory(table) => table.is_typed(column),
        }
    }
}

/// The names of the columns of a file, as [`Format::of`] its name reads it.
pub(crate) fn columns_of(path: &Path) -> Result<Vec<String>> {
    Table::open(Origin::File(path)).map(|table| table.header)
}

pub(super) fn empty(path: &Path) -> Error {
    Error::content(path, "", "an empty file", "a header and at least one row")
}

pub(super) fn no_rows(path: &Path) -> Error {
    Error::content(path, "", "a header and no rows", "at least one row")
}
