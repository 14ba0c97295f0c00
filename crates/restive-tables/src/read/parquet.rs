//! Arms from Parquet.
//!
//! Only the columns that are needed are decoded, page by page, so that memory does not depend on the size of the
//! file nor of its row groups. The decoder ignores any Arrow schema that the writer stored in the file: text
//! comes as plain `Utf8`, whether it was written from dictionaries, views or large strings, and numbers come in
//! the physical type they have on disk.

use super::bounded::BoundedFile;
use super::steady::Steady;
use super::{ArmBatch, ArmShape, batch_rows, check};
use crate::columns::{ColumnFault, Columns};
use crate::error::{Error, Place, Result, RowNumber};
use crate::foreign::{HEAD, Wanted, refuse};
use crate::names::{ArmNames, LONGEST, SHORTER, too_long};
use crate::show::{self, quoted_name, sentence};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub(crate) struct ParquetArms {
    path: PathBuf,
    pub(crate) columns: Columns,
    /// the type of the names, where there are names
    pub(crate) arm_type: Option<DataType>,
    /// for every column that is decoded, in the order of the file: its position within the arm, none for names
    decoded: Vec<Option<usize>>,
    reader: ParquetRecordBatchReader,
    pub(crate) steady: Steady,
    /// rows in the batches that were handed out
    rows: u64,
    pub(crate) total: u64,
}

impl ParquetArms {
    pub(crate) fn open(path: &Path, answers: usize) -> Result<Self> {
        let Some((builder, steady)) = open(path)? else {
            return Err(Error::NoArms { path: path.into(), found: "an empty file" });
        };
        let fields = builder.schema().fields().clone();
        let wrong = |fault| Error::Columns { path: path.into(), fault };
        let columns = Columns::parse(fields.iter().map(|field| field.name().as_str())).map_err(wrong)?;

        let mut decoded: Vec<(usize, Option<usize>)> =
            columns.probabilities.iter().map(|&(column, position)| (column, Some(position))).collect();
        decoded.extend(columns.arm.map(|column| (column, None)));
        decoded.sort_unstable();
        for &(column, position) in &decoded {
            let (is_right, expected) = match (position, fields[column].data_type()) {
                (Some(_), found) => (is_number(found), "floating-point numbers or integers"),
                (None, found) => (ArmNames::can_be(found), "text or integers"),
            };
            if !is_right {
                let column = fields[column].as_ref();
                let found = column.data_type().to_string();
                return Err(wrong(ColumnFault::Type { column: column.name().clone(), found, expected }));
            }
        }
        refuse_giants(path, &builder, |column| decoded.iter().any(|(wanted, _)| *wanted == column))?;
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mask = ProjectionMask::roots(builder.parquet_schema(), decoded.iter().map(|(column, _)| *column));
        // no larger than the file, because the decoder sets room for a whole batch aside
        let rows = (batch_rows(columns.width(), answers * columns.states) as u64).min(total.max(1)) as usize;
        let reader = guarded(path, || builder.with_projection(mask).with_batch_size(rows).build())?;
        Ok(Self {
            path: path.into(),
            arm_type: columns.arm.map(|column| fields[column].data_type().clone()),
            decoded: decoded.into_iter().map(|(_, position)| position).collect(),
            columns,
            reader,
            steady,
            rows: 0,
            total,
        })
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<ArmBatch>> {
        let batch = match guarded(&self.path, || self.reader.next().transpose())? {
            Some(batch) => batch,
            None if self.rows == 0 => {
                return Err(Error::NoArms { path: self.path.clone(), found: "the table has no rows" });
            }
            None => return Ok(None),
        };
        let width = self.columns.width();
        let names = match self.decoded.iter().position(Option::is_none) {
            Some(column) => {
                self.refuse_nulls(&batch, column, "a name", None)?;
                self.refuse_long(&batch, column)?;
                ArmNames::Column(batch.column(column).clone())
            }
            None => ArmNames::Counted(self.rows),
        };
        let mut raw = vec![0.0; batch.num_rows() * width];
        for (column, position) in self.decoded.iter().enumerate() {
            let Some(position) = *position else { continue };
            self.refuse_nulls(&batch, column, "a number", Some(&names))?;
            let cells = raw[position..].iter_mut().step_by(width);
            fill(cells, batch.column(column).as_ref());
        }
        let place = |i| Place { row: RowNumber::Row(self.rows + i as u64), arm: Some(names.name(i)) };
        let probabilities = check(&self.path, raw, ArmShape::of(&self.columns), place)?;
        self.rows += batch.num_rows() as u64;
        let share_read = self.rows as f64 / self.total.max(1) as f64;
        Ok(Some(ArmBatch { names, probabilities, share_read: share_read.min(1.0) }))
    }

    fn refuse_long(&self, batch: &RecordBatch, column: usize) -> Result<()> {
        let Some(names) = batch.column(column).as_string_opt::<i32>() else { return Ok(()) };
        let Some(row) = (0..names.len()).find(|row| too_long(names.value(*row)).is_some()) else {
            return Ok(());
        };
        Err(Error::Cell {
            path: self.path.clone(),
            place: Place { row: RowNumber::Row(self.rows + row as u64), arm: None },
            column: "arm".into(),
            found: quoted_name(names.value(row)),
            expected: SHORTER,
        })
    }

    fn refuse_nulls(
        &self,
        batch: &RecordBatch,
        column: usize,
        expected: &'static str,
        names: Option<&ArmNames>,
    ) -> Result<()> {
        let cells = batch.column(column);
        let Some(row) = cells.nulls().and_then(|nulls| (0..cells.len()).find(|row| nulls.is_null(*row)))
        else {
            return Ok(());
        };
        Err(Error::Cell {
            path: self.path.clone(),
            place: Place {
                row: RowNumber::Row(self.rows + row as u64),
                arm: names.map(|names| names.name(row)),
            },
            column: show::name(batch.schema_ref().field(column).name()).into(),
            found: "null".into(),
            expected,
        })
    }
}

/// Opens a file and refuses one that is something else than Parquet; none where it is empty.
pub(crate) fn open(path: &Path) -> Result<Option<(ParquetRecordBatchReaderBuilder<BoundedFile>, Steady)>> {
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    let steady = Steady::new(path, &file)?;
    let mut head = Vec::with_capacity(HEAD);
    (&file).take(HEAD as u64).read_to_end(&mut head).map_err(Error::io(path, "read"))?;
    if head.is_empty() {
        return Ok(None);
    }
    refuse(path, &head, Wanted::Parquet)?;
    file.rewind().map_err(Error::io(path, "read"))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = guarded(path, || {
        ParquetRecordBatchReaderBuilder::try_new_with_options(BoundedFile::new(file), options)
    })?;
    Ok(Some((builder, steady)))
}

/// Refuses text that is longer than any can be, before it is decoded: where a wanted column takes more bytes than so many texts of the
/// greatest length would, one of them is longer.
pub(crate) fn refuse_giants(
    path: &Path,
    builder: &ParquetRecordBatchReaderBuilder<BoundedFile>,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<()> {
    // four bytes per character, and what stands around the texts
    const MOST_BYTES: i64 = 4 * LONGEST as i64 + 16;
    const AROUND: i64 = 1 << 20;
    let schema = builder.parquet_schema();
    for group in builder.metadata().row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let is_text = chunk.column_type() == Type::BYTE_ARRAY;
            let most = chunk.num_values().saturating_mul(MOST_BYTES).saturating_add(AROUND);
            if is_text && chunk.uncompressed_size() > most && is_wanted(schema.get_column_root_idx(leaf)) {
                let place = format!("column {}", show::name(chunk.column_descr().name()));
                let found = format!("{} bytes in {} cells", chunk.uncompressed_size(), chunk.num_values());
                return Err(Error::content(path, place, found, SHORTER));
            }
        }
    }
    Ok(())
}

pub(crate) fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Copies a column of numbers; its type was checked when the file was opened.
pub(crate) fn fill<'a>(cells: impl Iterator<Item = &'a mut f64>, column: &dyn Array) {
    macro_rules! copy {
        ($($kind:ident $native:ident),+ $(,)?) => {
            match column.data_type() {
                $(DataType::$kind => {
                    let column = column.as_primitive::<$native>();
                    cells.zip(column.values()).for_each(|(cell, number)| *cell = *number as f64);
                })+
                other => unreachable!("refused when the file was opened: {other}"),
            }
        };
    }
    copy!(
        Float64 Float64Type, Float32 Float32Type,
        Int64 Int64Type, Int32 Int32Type, Int16 Int16Type, Int8 Int8Type,
        UInt64 UInt64Type, UInt32 UInt32Type, UInt16 UInt16Type, UInt8 UInt8Type,
    );
}

/// Runs a step of the decoder.
///
/// A damaged file can carry lengths and levels that contradict each other; the decoder answers most of them with
/// an error and some with a panic. The reader is not used again after either, so the panic is caught here and
/// becomes what it means: the file is damaged.
pub(crate) fn guarded<T, E: Display>(
    path: &Path,
    step: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    let damaged = |found: String| {
        let found = match found.contains("Disabled feature") {
            true => "it is compressed in a way that is not supported; uncompressed, snappy, gzip, lz4 and zstd are".into(),
            false => sentence(&found),
        };
        Error::Damaged { path: path.into(), format: "Parquet", found }
    };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its parts contradict each other".into())),
    }
}
