//! Random studies as Parquet files.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use restive_testkit::random_study::{RandomStudy, TextTable};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Writes a study as Parquet with row groups of at most `group` rows.
pub fn write_parquet(study: &RandomStudy, folder: &Path, group: usize) {
    study.write_tables(folder, "parquet", |table, path| {
        let batch = batch(table);
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
        let mut writer =
            ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    });
}

fn batch(table: &TextTable) -> RecordBatch {
    let columns = table.columns.iter().enumerate().map(|(c, (name, is_number))| {
        let cells = table.rows.iter().map(|row| row[c].as_str());
        let array: ArrayRef = match is_number {
            true => Arc::new(Float64Array::from_iter(cells.map(|text| text.parse::<f64>().ok()))),
            false => Arc::new(StringArray::from_iter(cells.map(|text| (!text.is_empty()).then_some(text)))),
        };
        (name, array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}
