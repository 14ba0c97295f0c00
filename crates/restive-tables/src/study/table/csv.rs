//! A table from comma-separated text.
//!
//! Rows are read into one reused record and parsed straight into columns. A fault in the middle of a batch is kept until the
//! rows before it have been handed out, for they may hold an earlier one.

use super::{Batch, Cells, Places, ROWS, Want, empty, no_rows};
use crate::columns::ColumnFault;
use crate::error::{Error, Place, Result, RowNumber};
use crate::formula::unguarded;
use crate::read::csv::{Rationed, editor_line, unreadable};
use crate::read::steady::Steady;
use crate::show::{self, quoted};
use ::csv::{ByteRecord, Position, ReaderBuilder};
use arrow_array::builder::StringBuilder;
use std::path::{Path, PathBuf};

pub(super) struct CsvTable {
    path: PathBuf,
    reader: ::csv::Reader<Rationed>,
    record: ByteRecord,
    pub(super) wanted: Vec<(usize, Want)>,
    /// bytes of the file
    pub(super) bytes: u64,
    has_rows: bool,
    pending: Option<Error>,
}

enum Column {
    Text(StringBuilder),
    Number(Vec<f64>),
}

impl CsvTable {
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<String>)> {
        let (rationed, bytes) = Rationed::open(path)?;
        let mut reader = ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(rationed);
        let header = reader.byte_headers().map_err(|e| unreadable(path, e))?;
        if header.is_empty() {
            return Err(empty(path));
        }
        let header: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(unguarded(name)).trim().to_owned()).collect();
        if let [only] = &header[..]
            && only.contains([';', '\t', '|'])
        {
            let fault = ColumnFault::Separator { found: only.clone() };
            return Err(Error::Columns { path: path.into(), fault });
        }
        let (path, record, wanted) = (path.into(), ByteRecord::new(), Vec::new());
        Ok((Self { path, reader, record, wanted, bytes, has_rows: false, pending: None }, header))
    }

    pub(super) fn next_batch(&mut self, header: &[String]) -> Result<Option<Batch>> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let mut positions = Vec::with_capacity(ROWS);
        let new = |(_, want): &(usize, Want)| match want {
            Want::Number => Column::Number(Vec::with_capacity(ROWS)),
            Want::Name | Want::Any => Column::Text(StringBuilder::new()),
        };
        let mut columns: Vec<Column> = self.wanted.iter().map(new).collect();
        while positions.len() < ROWS {
            match self.read_row(&mut columns, header) {
                Ok(Some(position)) => positions.push(position),
                Ok(None) => break,
                Err(error) => {
                    self.pending = Some(error);
                    break;
                }
            }
        }
        if positions.is_empty() {
            return match self.pending.take() {
                Some(error) => Err(error),
                None if !self.has_rows => Err(no_rows(&self.path)),
                None => Ok(None),
            };
        }
        self.has_rows = true;
        // a row that failed may have left cells of its own at the end of some columns; nobody looks at them
        let cells = columns.into_iter().map(|column| match column {
            Column::Text(mut builder) => Cells::Text(builder.finish()),
            Column::Number(values) => Cells::Number(values),
        });
        let (rows, cells) = (positions.len(), cells.collect());
        Ok(Some(Batch { rows, cells, places: Places::Lines(self.path.clone(), positions) }))
    }

    pub(super) fn steady(&self) -> &Steady {
        &self.reader.get_ref().steady
    }

    fn read_row(&mut self, columns: &mut [Column], header: &[String]) -> Result<Option<Position>> {
        self.reader.get_mut().renew();
        let position = self.reader.position().clone();
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(_) if self.reader.get_ref().is_spent() => {
                let line = editor_line(&self.path, &position);
                let found = format!("the row of line {line} does not end, is a quotation mark missing?");
                return Err(Error::Damaged { path: self.path.clone(), format: "CSV", found });
            }
            Err(error) => return Err(unreadable(&self.path, error)),
        }
        for ((field, _), column) in self.wanted.iter().zip(columns) {
            let cell = &self.record[*field];
            match column {
                Column::Text(builder) => match std::str::from_utf8(unguarded(cell)) {
                    Ok(text) => builder.append_value(text),
                    Err(_) => return Err(self.bad_cell(*field, header, "text in UTF-8")),
                },
                Column::Number(values) => match number(cell) {
                    Some(number) => values.push(number),
                    None => return Err(self.bad_cell(*field, header, "a number")),
                },
            }
        }
        Ok(Some(position))
    }

    fn bad_cell(&self, field: usize, header: &[String], expected: &'static str) -> Error {
        let arm = header.iter().position(|name| name == "arm").map(|arm| &self.record[arm]);
        let arm = arm.filter(|name| !name.is_empty()).map(|name| String::from_utf8_lossy(name).into_owned());
        let position = self.record.position().expect("it was read");
        Error::Cell {
            path: self.path.clone(),
            place: Place { row: RowNumber::Line(editor_line(&self.path, position)), arm },
            column: show::name(&header[field]).into(),
            found: quoted(&self.record[field]),
            expected,
        }
    }
}

/// A number, NaN for an empty cell; one digit is what most cells hold.
pub(in crate::study) fn number(cell: &[u8]) -> Option<f64> {
    match cell.trim_ascii() {
        [] => Some(f64::NAN),
        [digit @ b'0'..=b'9'] => Some(f64::from(digit - b'0')),
        text => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}
