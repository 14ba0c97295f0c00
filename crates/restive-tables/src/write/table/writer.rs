//! A table in the making, batch by batch: the same columns as CSV or as Parquet. [Answers](crate::write_table) and the tables of a
//! study go out here.
//!
//! Columns are Arrow arrays of text, numbers, whole numbers or truths. In CSV a missing value is an empty cell, and numbers carry as
//! many digits as it takes to read the same number back; no text [starts a formula](crate::formula).

use crate::error::{Error, Result};
use crate::format::Format;
use crate::write::csv::end_name;
use crate::write::parquet::refused;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct TableWriter {
    /// the path that messages name
    path: PathBuf,
    schema: SchemaRef,
    sink: Sink,
}

enum Sink {
    Csv(File, Vec<u8>),
    Parquet(Box<ArrowWriter<File>>),
}

impl TableWriter {
    /// Starts a table in a file; `path` is what messages call it.
    pub(crate) fn create(
        file: &Path,
        path: PathBuf,
        format: Format,
        columns: Vec<(String, DataType)>,
    ) -> Result<Self> {
        let fields = columns.into_iter().map(|(name, kind)| Field::new(name, kind, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let file = File::create(file).map_err(Error::io(&path, "write"))?;
        let sink = match format {
            Format::Csv => {
                let mut text = Vec::new();
                for field in schema.fields() {
                    append_text(field.name(), &mut text);
                }
                end_line(&mut text);
                Sink::Csv(file, text)
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_created_by(concat!("restive ", env!("CARGO_PKG_VERSION")).into())
                    .build();
                let writer =
                    ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(refused(&path))?;
                Sink::Parquet(Box::new(writer))
            }
            Format::Npy => unreachable!("a study is written as CSV or Parquet"),
        };
        Ok(Self { path, schema, sink })
    }

    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        match &mut self.sink {
            Sink::Parquet(writer) => {
                let batch =
                    RecordBatch::try_new(self.schema.clone(), columns).expect("the columns of the schema");
                writer.write(&batch).map_err(refused(&self.path))
            }
            Sink::Csv(file, text) => {
                for row in 0..columns[0].len() {
                    columns.iter().for_each(|column| append(column, row, text));
                    end_line(text);
                }
                file.write_all(text).map_err(Error::io(&self.path, "write"))?;
                text.clear();
                Ok(())
            }
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Csv(mut file, text) => file.write_all(&text).map_err(Error::io(&self.path, "write")),
            Sink::Parquet(writer) => writer.close().map(|_| ()).map_err(refused(&self.path)),
        }
    }
}

/// Appends a cell and a comma.
fn append(column: &ArrayRef, row: usize, text: &mut Vec<u8>) {
    if column.is_null(row) {
        return text.push(b',');
    }
    match column.data_type() {
        DataType::Utf8 => append_text(column.as_string::<i32>().value(row), text),
        DataType::Float64 => {
            let number = column.as_primitive::<Float64Type>().value(row);
            text.extend_from_slice(zmij::Buffer::new().format(number).as_bytes());
            text.push(b',');
        }
        DataType::Int32 => {
            write!(text, "{},", column.as_primitive::<Int32Type>().value(row))
                .expect("a vector takes all bytes");
        }
        DataType::Boolean => {
            write!(text, "{},", column.as_boolean().value(row)).expect("a vector takes all bytes");
        }
        other => unreachable!("no table has columns of {other}"),
    }
}

fn append_text(cell: &str, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(cell.as_bytes());
    end_name(text, start);
    text.push(b',');
}

/// The comma after the last cell becomes the end of the line.
fn end_line(text: &mut [u8]) {
    *text.last_mut().expect("a table has columns") = b'\n';
}
