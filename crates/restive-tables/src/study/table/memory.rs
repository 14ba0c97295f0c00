//! A table from Arrow arrays in memory, such as the columns of a data frame; rows count from 0.
//!
//! Types are what people have in their frames. Names may be whole numbers that missing values have turned into floats; numbers may
//! be truths, or text in which every cell reads as a number. A feature of text whose cells read as numbers in all rows or in none is
//! text, as it is typed; one in which some do is taken cell by cell, as from CSV, and refused for its odd ones. A column of a type
//! that has no place in a table (dates, lists) stands under the name of its type in the field's [`TYPE`], and is refused if it is needed.

use super::csv::number;
use super::parquet::{cells, is_right};
use super::{Batch, Cells, Places, ROWS, Want, no_rows};
use crate::columns::ColumnFault;
use crate::error::{Error, Place, Result, RowNumber};
use crate::show::{self, quoted};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::DataType;
use std::path::{Path, PathBuf};

/// The key under which a field names a type that cannot be read.
pub const TYPE: &str = "type";

pub(super) struct MemoryTable {
    name: PathBuf,
    table: RecordBatch,
    wanted: Vec<(usize, Want)>,
    done: usize,
}

impl MemoryTable {
    pub(super) fn open(name: &Path, table: &RecordBatch) -> (Self, Vec<String>) {
        let header = table.schema_ref().fields().iter().map(|field| field.name().trim().to_owned()).collect();
        (Self { name: name.into(), table: table.clone(), wanted: Vec::new(), done: 0 }, header)
    }

    pub(super) fn select(&mut self, wanted: Vec<(usize, Want)>, header: &[String]) -> Result<()> {
        for &(column, want) in &wanted {
            let array = self.table.column(column);
            let found = array.data_type();
            let (mut is_right, expected) = is_right(found, want);
            is_right |= match want {
                Want::Name => *found == DataType::Float64 && is_whole(array),
                Want::Number => matches!(found, DataType::Utf8 | DataType::Boolean),
                Want::Any => false,
            };
            let named = self.table.schema_ref().field(column).metadata().get(TYPE);
            if named.is_some() || !is_right {
                let found = named.cloned().unwrap_or_else(|| found.to_string());
                let fault = ColumnFault::Type { column: header[column].clone(), found, expected };
                return Err(Error::Columns { path: self.name.clone(), fault });
            }
        }
        self.wanted = wanted;
        Ok(())
    }

    pub(super) fn next_batch(&mut self, header: &[String]) -> Result<Option<Batch>> {
        let rows = ROWS.min(self.table.num_rows() - self.done);
        match (rows, self.done) {
            (0, 0) => return Err(no_rows(&self.name)),
            (0, _) => return Ok(None),
            _ => {}
        }
        let piece = self.table.slice(self.done, rows);
        let cells = |&(column, want): &(usize, Want)| {
            let array = piece.column(column);
            match (want, array.data_type()) {
                (Want::Number, DataType::Utf8) => self.numbers(array.as_string(), column, header),
                (Want::Number, DataType::Boolean) => {
                    let truths = array.as_boolean().iter();
                    Ok(Cells::Number(truths.map(|truth| truth.map_or(f64::NAN, f64::from)).collect()))
                }
                (Want::Name, DataType::Float64) => {
                    let names = array.as_primitive::<Float64Type>().iter();
                    let name = |x: Option<f64>| x.filter(|x| !x.is_nan()).map(|x| format!("{x:.0}"));
                    Ok(Cells::Text(names.map(name).collect()))
                }
                _ => Ok(cells(array, want)),
            }
        };
        let cells = self.wanted.iter().map(cells).collect::<Result<_>>()?;
        let first = self.done as u64;
        self.done += rows;
        Ok(Some(Batch { rows, cells, places: Places::From(first) }))
    }

    pub(super) fn rows(&self) -> u64 {
        self.table.num_rows() as u64
    }

    /// Whether a feature is what its type says.
    pub(super) fn is_typed(&self, column: usize) -> bool {
        let Some(text) = self.table.column(column).as_string_opt::<i32>() else { return true };
        let known = text.iter().flatten().map(|cell| number(cell.as_bytes()));
        let mut known =
            known.filter(|number| !number.is_some_and(f64::is_nan)).map(|number| number.is_some());
        let Some(first) = known.next() else { return true };
        known.all(|is_number| is_number == first)
    }

    /// Numbers from text, as a CSV table has them.
    fn numbers(&self, text: &StringArray, column: usize, header: &[String]) -> Result<Cells> {
        let mut values = Vec::with_capacity(text.len());
        for (row, cell) in text.iter().enumerate() {
            let cell = cell.unwrap_or("");
            match number(cell.as_bytes()) {
                Some(number) => values.push(number),
                None => {
                    let row = self.done + row;
                    let arm = header.iter().position(|name| name == "arm");
                    let arm = arm.and_then(|arm| self.table.column(arm).as_string_opt::<i32>());
                    let arm = arm.filter(|arms| arms.is_valid(row)).map(|arms| arms.value(row).to_string());
                    return Err(Error::Cell {
                        path: self.name.clone(),
                        place: Place { row: RowNumber::Row(row as u64), arm },
                        column: show::name(&header[column]).into(),
                        found: quoted(cell.as_bytes()),
                        expected: "a number",
                    });
                }
            }
        }
        Ok(Cells::Number(values))
    }
}

/// Whether all numbers are whole, NaN apart.
fn is_whole(array: &ArrayRef) -> bool {
    let is_whole = |x: f64| x.is_nan() || (x.fract() == 0.0 && x.abs() < 9e15);
    array.as_primitive::<Float64Type>().iter().flatten().all(is_whole)
}
