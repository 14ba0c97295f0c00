//! Tables by columns: Parquet files, and frames that are in memory already.
//!
//! Every column of which the values have text is decoded, wanted or not, because all of them make the content of a row.
//! A column of lists or structures is passed over and refused only where it is wanted.

use super::error::SourceError;
use super::row::Raw;
use super::value::{column_text, has_text};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use restive_tables::ParquetTable;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub(super) struct Columnar {
    rows: Rows,
    schema: SchemaRef,
    file: String,
}

enum Rows {
    Parquet(PathBuf),
    Frames(Vec<RecordBatch>),
}

impl Columnar {
    pub(super) fn parquet(path: &Path, file: &str) -> Result<Self, SourceError> {
        let table = ParquetTable::open(path).map_err(SourceError::of_table(file))?;
        Ok(Self { rows: Rows::Parquet(path.into()), schema: table.schema(), file: file.into() })
    }

    pub(super) fn frames(batches: &[RecordBatch], name: &str) -> Result<Self, SourceError> {
        let Some(first) = batches.first() else {
            return Err(SourceError::content(name, "a frame without columns", "a table"));
        };
        let schema = first.schema();
        if batches.iter().any(|batch| batch.schema_ref().fields() != schema.fields()) {
            return Err(SourceError::content(name, "batches with different columns", "the same in all"));
        }
        Ok(Self { rows: Rows::Frames(batches.to_vec()), schema, file: name.into() })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Visits every row; `wanted` are positions in the schema.
    pub(super) fn each(
        &self,
        wanted: impl IntoIterator<Item = usize>,
        visit: &mut dyn FnMut(&Raw) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let fields = self.schema.fields();
        if let Some(field) =
            wanted.into_iter().map(|column| &fields[column]).find(|field| !has_text(field.data_type()))
        {
            let (file, column) = (self.file.clone(), field.name().clone());
            return Err(SourceError::Type { file, column, found: field.data_type().to_string() });
        }
        let readable: Vec<usize> =
            (0..fields.len()).filter(|column| has_text(fields[*column].data_type())).collect();
        let mut raw = Raw::default();
        let mut seen = 0;
        match &self.rows {
            Rows::Parquet(path) => {
                let wrong = SourceError::of_table(&self.file);
                let table = ParquetTable::open(path).map_err(&wrong)?;
                if table.schema().fields() != fields {
                    let expected = "one that stays as it is";
                    return Err(SourceError::content(&self.file, "a file that has changed", expected));
                }
                let total = table.rows();
                for batch in table.batches(readable.iter().copied()).map_err(&wrong)? {
                    let batch = batch.map_err(&wrong)?;
                    let columns: Vec<(usize, Column)> =
                        readable.iter().copied().zip(batch.columns().iter().map(Column::new)).collect();
                    let rows = (batch.num_rows(), total);
                    if walk(&columns, fields.len(), rows, &mut seen, &mut raw, visit).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Rows::Frames(batches) => {
                let total = batches.iter().map(|batch| batch.num_rows() as u64).sum();
                for batch in batches {
                    let columns: Vec<(usize, Column)> =
                        readable.iter().map(|k| (*k, Column::new(batch.column(*k)))).collect();
                    let rows = (batch.num_rows(), total);
                    if walk(&columns, fields.len(), rows, &mut seen, &mut raw, visit).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Visits the rows of a batch; of the `width` columns of the table those that are not given are empty.
fn walk(
    columns: &[(usize, Column)],
    width: usize,
    (rows, total): (usize, u64),
    seen: &mut u64,
    raw: &mut Raw,
    visit: &mut dyn FnMut(&Raw) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut text = String::new();
    for row in 0..rows {
        raw.clear();
        for (place, column) in columns {
            // those before it that cannot be read
            raw.ends.resize(*place, raw.bytes.len());
            text.clear();
            column.write(row, &mut text);
            raw.push(&text);
        }
        raw.ends.resize(width, raw.bytes.len());
        (raw.line, raw.share) = (*seen, *seen as f64 / total.max(1) as f64);
        *seen += 1;
        visit(raw)?;
    }
    ControlFlow::Continue(())
}

/// A column of a batch; of a dictionary its values, and which of them each row has.
struct Column {
    cells: ArrayRef,
    values: Option<(ArrayRef, Vec<usize>)>,
}

impl Column {
    fn new(cells: &ArrayRef) -> Self {
        let is_dictionary = matches!(cells.data_type(), DataType::Dictionary(..));
        let values = is_dictionary.then(|| {
            let dictionary = cells.as_any_dictionary();
            let values = dictionary.values().clone();
            // where there are no values, all rows are null
            let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            (values, keys)
        });
        Self { cells: cells.clone(), values }
    }

    fn write(&self, row: usize, out: &mut String) {
        match &self.values {
            None => column_text(self.cells.as_ref(), row, out),
            Some((values, keys)) => {
                if let (false, Some(key)) = (self.cells.is_null(row), keys.get(row)) {
                    column_text(values.as_ref(), *key, out);
                }
            }
        }
    }
}
