//! A Parquet file of any table, for readers that know its columns better.
//!
//! It is decoded with the care that arms are: no file keeps the decoder busy for ever, and none makes it panic. The types
//! are those of the file; an Arrow schema that its writer stored is ignored, so that text is always plain `Utf8`.

use super::parquet::{guarded, open};
use super::steady::Steady;
use crate::error::{Error, Result};
use crate::read::bounded::BoundedFile;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::{Path, PathBuf};

/// Rows that are decoded at once.
const ROWS: usize = 4096;

/// An opened Parquet file of any columns.
pub struct ParquetTable {
    path: PathBuf,
    builder: ParquetRecordBatchReaderBuilder<BoundedFile>,
    steady: Steady,
}

impl ParquetTable {
    /// Opens a file and reads its schema.
    pub fn open(path: &Path) -> Result<Self> {
        match open(path)? {
            Some((builder, steady)) => Ok(Self { path: path.into(), builder, steady }),
            None => Err(Error::content(path, "", "an empty file", "Parquet")),
        }
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.builder.schema().clone()
    }

    /// How many rows the file says that it has.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.builder.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The rows, with these columns (positions in the schema, ascending) and no others. After an error there are no more.
    pub fn batches(
        self,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
        let Self { path, builder, steady } = self;
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
        let mut reader = guarded(&path, || builder.with_projection(mask).with_batch_size(ROWS).build())?;
        let mut is_over = false;
        Ok(std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let batch = steady.vouch(guarded(&path, || reader.next().transpose())).transpose();
            is_over = !matches!(batch, Some(Ok(_)));
            batch
        }))
    }
}
