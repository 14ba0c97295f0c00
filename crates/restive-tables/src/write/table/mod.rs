//! A table of answers, whole: named columns of text, whole numbers, numbers or truths, as CSV or as Parquet by the ending.
//!
//! ```
//! use restive_tables::{Cells, write_table};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("plan.csv");
//! let columns = vec![("arm", Cells::Text(vec!["Ada".into()])), ("index", Cells::Number(vec![0.25]))];
//! write_table(&path, None, columns)?;
//! assert_eq!(std::fs::read_to_string(&path).unwrap(), "arm,index\nAda,0.25\n");
//! # Ok::<(), restive_tables::Error>(())
//! ```

mod writer;

pub(crate) use writer::TableWriter;

use super::draft::Draft;
use super::place::Own;
use crate::error::Result;
use crate::format::Format;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, StringArray};
use arrow_schema::DataType;
use std::path::Path;
use std::sync::Arc;

/// The cells of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// text; an empty one is a missing one
    Text(Vec<String>),
    /// whole numbers, perhaps missing
    Whole(Vec<Option<i32>>),
    /// numbers; NaN: missing
    Number(Vec<f64>),
    /// true or false
    Truth(Vec<bool>),
}

impl Cells {
    fn kind(&self) -> DataType {
        match self {
            Cells::Text(_) => DataType::Utf8,
            Cells::Whole(_) => DataType::Int32,
            Cells::Number(_) => DataType::Float64,
            Cells::Truth(_) => DataType::Boolean,
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Cells::Text(cells) => {
                Arc::new(StringArray::from_iter(cells.iter().map(|x| (!x.is_empty()).then_some(x))))
            }
            Cells::Whole(cells) => Arc::new(Int32Array::from_iter(cells.iter().copied())),
            Cells::Number(cells) => {
                Arc::new(Float64Array::from_iter(cells.iter().map(|x| (!x.is_nan()).then_some(*x))))
            }
            Cells::Truth(cells) => Arc::new(BooleanArray::from_iter(cells.iter().copied().map(Some))),
        }
    }
}

/// Writes columns of equal length to a `.csv` or `.parquet` file, which appears when it is complete. One that is there is
/// replaced only where `replace` recognises it.
pub fn write_table(path: &Path, replace: Option<Own>, columns: Vec<(&str, Cells)>) -> Result<()> {
    let format = Format::of_table(path)?;
    let columns: Vec<(&str, &Cells)> = columns.iter().map(|(name, cells)| (*name, cells)).collect();
    fill(Draft::create(path, replace)?, format, &columns)
}

/// The same, for a table of people's names and numbers: nobody but its owner may read it.
pub fn write_private_table(path: &Path, replace: Option<Own>, columns: &[(&str, &Cells)]) -> Result<()> {
    let format = Format::of_table(path)?;
    fill(Draft::create_private(path, replace)?, format, columns)
}

fn fill(draft: Draft, format: Format, columns: &[(&str, &Cells)]) -> Result<()> {
    let path = draft.path();
    let header = columns.iter().map(|(name, cells)| (name.to_string(), cells.kind())).collect();
    let mut table = TableWriter::create(draft.temporary(), path.into(), format, header)?;
    table.write(columns.iter().map(|(_, cells)| cells.array()).collect())?;
    table.finish()?;
    Draft::put_in_place(vec![draft])
}
