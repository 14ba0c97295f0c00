//! A table from Parquet: only the wanted columns are decoded, page by page.

use super::{Batch, Cells, Places, ROWS, Want, empty, no_rows};
use crate::columns::ColumnFault;
use crate::error::{Error, Result};
use crate::read::bounded::BoundedFile;
use crate::read::{
    self,
    parquet::{fill, guarded, is_number, refuse_giants},
    steady::Steady,
};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, downcast_primitive_array};
use arrow_schema::DataType;
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub(super) struct ParquetTable {
    path: PathBuf,
    builder: Option<ParquetRecordBatchReaderBuilder<BoundedFile>>,
    reader: Option<ParquetRecordBatchReader>,
    /// for every wanted column, as it was asked for: its place among the decoded ones, and what it is read as
    decoded: Vec<(usize, Want)>,
    pub(super) steady: Steady,
    pub(super) rows: u64,
    done: u64,
}

impl ParquetTable {
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<String>)> {
        let Some((builder, steady)) = read::parquet::open(path)? else { return Err(empty(path)) };
        let header = builder.schema().fields().iter().map(|field| field.name().trim().to_owned()).collect();
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let (path, builder) = (path.into(), Some(builder));
        Ok((Self { path, builder, reader: None, decoded: Vec::new(), steady, rows, done: 0 }, header))
    }

    /// Refuses columns of types that cannot be read as wanted; comes before they are selected.
    pub(super) fn check(&self, wanted: &[(usize, Want)], header: &[String]) -> Result<()> {
        let builder = self.builder.as_ref().expect("before they are selected");
        for &(column, want) in wanted {
            let found = builder.schema().field(column).data_type();
            let (is_right, expected) = is_right(found, want);
            if !is_right {
                let (column, found) = (header[column].clone(), found.to_string());
                let fault = ColumnFault::Type { column, found, expected };
                return Err(Error::Columns { path: self.path.clone(), fault });
            }
        }
        Ok(())
    }

    /// Whether a column is words; comes before columns are selected.
    pub(super) fn is_text(&self, column: usize) -> bool {
        let builder = self.builder.as_ref().expect("before they are selected");
        is_words(builder.schema().field(column).data_type())
    }

    /// The bytes of columns, not compressed; comes before they are selected.
    pub(super) fn sizes(&self, wanted: &[(usize, Want)]) -> Vec<u64> {
        let builder = self.builder.as_ref().expect("before they are selected");
        let schema = builder.parquet_schema();
        let size = |(column, _): &(usize, Want)| {
            let chunks =
                builder.metadata().row_groups().iter().flat_map(|group| group.columns().iter().enumerate());
            let its = chunks.filter(|(leaf, _)| schema.get_column_root_idx(*leaf) == *column);
            its.map(|(_, chunk)| u64::try_from(chunk.uncompressed_size()).unwrap_or(0))
                .fold(0, u64::saturating_add)
        };
        wanted.iter().map(size).collect()
    }

    pub(super) fn select(&mut self, wanted: Vec<(usize, Want)>, header: &[String]) -> Result<()> {
        self.build(wanted, header, None)
    }

    /// The same, of the chosen rows alone: sorted, each once, below the number of rows.
    pub(super) fn select_rows(
        &mut self,
        wanted: Vec<(usize, Want)>,
        header: &[String],
        chosen: &[u32],
    ) -> Result<()> {
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for row in chosen.iter().map(|row| *row as usize) {
            match ranges.last_mut() {
                Some(range) if range.end == row => range.end += 1,
                _ => ranges.push(row..row + 1),
            }
        }
        let selection = RowSelection::from_consecutive_ranges(ranges.into_iter(), self.rows as usize);
        self.build(wanted, header, Some(selection))
    }

    fn build(
        &mut self,
        wanted: Vec<(usize, Want)>,
        header: &[String],
        selection: Option<RowSelection>,
    ) -> Result<()> {
        self.check(&wanted, header)?;
        let builder = self.builder.take().expect("selected once");
        refuse_giants(&self.path, &builder, |column| wanted.iter().any(|(wanted, _)| *wanted == column))?;
        let mut order: Vec<usize> = wanted.iter().map(|(column, _)| *column).collect();
        order.sort_unstable();
        let place = |column: usize| order.binary_search(&column).expect("it is among them");
        self.decoded = wanted.iter().map(|(column, want)| (place(*column), *want)).collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), order);
        let rows = (ROWS as u64).min(self.rows.max(1)) as usize;
        let builder = builder.with_projection(mask).with_batch_size(rows);
        let reader = guarded(&self.path, || match selection {
            Some(rows) => builder.with_row_selection(rows).build(),
            None => builder.build(),
        })?;
        self.reader = Some(reader);
        Ok(())
    }

    pub(super) fn next_batch(&mut self) -> Result<Option<Batch>> {
        let reader = self.reader.as_mut().expect("columns were selected");
        let Some(batch) = guarded(&self.path, || reader.next().transpose())? else {
            return if self.done == 0 { Err(no_rows(&self.path)) } else { Ok(None) };
        };
        let cells = |(place, want): &(usize, Want)| cells(batch.column(*place), *want);
        let cells = self.decoded.iter().map(cells).collect();
        let first = self.done;
        self.done += batch.num_rows() as u64;
        Ok(Some(Batch { rows: batch.num_rows(), cells, places: Places::From(first) }))
    }
}

/// Whether a column of that type can be read as wanted, and what would be.
pub(super) fn is_right(found: &DataType, want: Want) -> (bool, &'static str) {
    let is_text = is_words(found);
    let (is_right, expected) = match want {
        Want::Name => (is_text || found.is_integer(), "text or integers"),
        Want::Number => (is_number(found), "numbers"),
        Want::Any => (is_number(found) || is_text, "numbers or text"),
    };
    // a column of nothing but nulls may have no type at all
    (is_right || *found == DataType::Null, expected)
}

fn is_words(found: &DataType) -> bool {
    matches!(found, DataType::Utf8 | DataType::Boolean)
}

/// The cells of a column that is right.
pub(super) fn cells(column: &ArrayRef, want: Want) -> Cells {
    let data_type = column.data_type();
    if *data_type == DataType::Null {
        return match want {
            Want::Name => Cells::Text(StringArray::new_null(column.len())),
            Want::Number | Want::Any => Cells::Number(vec![f64::NAN; column.len()]),
        };
    }
    if *data_type == DataType::Utf8 {
        return Cells::Text(column.as_string::<i32>().clone());
    }
    if *data_type == DataType::Boolean {
        let words =
            column.as_boolean().iter().map(|word| word.map(|word| if word { "true" } else { "false" }));
        return Cells::Text(words.collect());
    }
    if want == Want::Name {
        let mut texts = StringBuilder::with_capacity(column.len(), 8 * column.len());
        downcast_primitive_array!(
            column => for number in column.iter() {
                if let Some(number) = number {
                    write!(texts, "{number:?}").expect("text takes all of it");
                    texts.append_value("");
                } else {
                    texts.append_null();
                }
            },
            other => unreachable!("refused when it was selected: {other}"),
        );
        return Cells::Text(texts.finish());
    }
    let mut values = vec![f64::NAN; column.len()];
    fill(values.iter_mut(), column.as_ref());
    if let Some(nulls) = column.nulls() {
        (0..values.len()).filter(|row| nulls.is_null(*row)).for_each(|row| values[row] = f64::NAN);
    }
    Cells::Number(values)
}
