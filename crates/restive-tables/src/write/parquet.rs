//! Indices as Parquet, snappy-compressed.
//!
//! Indices hardly repeat and hardly compress, so they are stored plainly; arm numbers are stored as differences
//! and the word of the status through a dictionary. A row group is a million arms, or fewer where arms are wide.

use super::Detail;
use crate::error::{Error, Result};
use crate::names::ArmNames;
use crate::write::draft::Draft;
use crate::write::place::Own;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ndarray::Array2;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use restive::index::{IndexStatus, Indices};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct ParquetIndices {
    draft: Draft,
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    detail: Detail,
}

impl ParquetIndices {
    pub(crate) fn create(
        path: &Path,
        replace: Option<Own>,
        labels: &[String],
        detail: Detail,
        arm_type: DataType,
    ) -> Result<Self> {
        let number = |name: String| Field::new(name, DataType::Float64, false);
        let has_numbers = arm_type.is_integer();
        let mut fields = vec![Field::new("arm", arm_type, false)];
        fields.extend(labels.iter().map(|s| number(format!("w_{s}"))));
        fields.push(Field::new("is_indexable", DataType::Boolean, true));
        if detail == Detail::Full {
            fields.extend(labels.iter().map(|s| number(format!("last_{s}"))));
            fields.extend([Field::new("status", DataType::Utf8, false), number("residual".into())]);
        }
        let schema = Arc::new(Schema::new(fields));

        const GROUP_BYTES: usize = 64 << 20;
        let group_rows = (GROUP_BYTES / (8 * schema.fields().len())).min(1 << 20);
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled(ColumnPath::from("status"), true)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(group_rows))
            .set_created_by(concat!("restive ", env!("CARGO_PKG_VERSION")).into());
        if has_numbers {
            properties =
                properties.set_column_encoding(ColumnPath::from("arm"), Encoding::DELTA_BINARY_PACKED);
        }
        let mut draft = Draft::create(path, replace)?;
        let file = draft.file().try_clone().map_err(Error::io(path, "write"))?;
        let writer =
            ArrowWriter::try_new(file, schema.clone(), Some(properties.build())).map_err(refused(path))?;
        Ok(Self { draft, writer, schema, detail })
    }

    pub(crate) fn write(&mut self, names: &ArmNames, solved: &Indices) -> Result<()> {
        let arms = solved.status.len();
        let mut columns = vec![names.column(arms)];
        columns.extend(by_state(&solved.index));
        columns.push(Arc::new(BooleanArray::from_iter((0..arms).map(|i| solved.verdict(i)))));
        if self.detail == Detail::Full {
            columns.extend(by_state(&solved.last));
            columns.push(Arc::new(StringArray::from_iter_values(
                solved.status.iter().map(|s: &IndexStatus| s.name()),
            )));
            columns.push(Arc::new(Float64Array::from_iter_values(solved.residual.iter().copied())));
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns).expect("the columns of the schema");
        self.writer.write(&batch).map_err(refused(self.draft.path()))
    }

    pub(crate) fn finish(self) -> Result<Draft> {
        self.writer.close().map_err(refused(self.draft.path()))?;
        Ok(self.draft)
    }
}

/// One column per state.
fn by_state(values: &Array2<f64>) -> impl Iterator<Item = ArrayRef> {
    values.columns().into_iter().map(|column| {
        let column: ArrayRef = Arc::new(Float64Array::from_iter_values(column.iter().copied()));
        column
    })
}

pub(crate) fn refused(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path: PathBuf = path.into();
    move |error| {
        // A full disk comes as an error of the system inside an error of the encoder.
        let answer = match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(answer) => *answer,
                Err(other) => std::io::Error::other(other.to_string()),
            },
            other => std::io::Error::other(other.to_string()),
        };
        Error::Io { path, doing: "write", answer }
    }
}
