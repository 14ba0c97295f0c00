//! The records of all imports so far, `records.parquet`: what the next import grows.
//!
//! Exports overlap, begin where the last one ended, or hold everything again. Each record is kept by its key, so that none is counted
//! twice and one whose cells have changed since takes the place of what it was. Persons are named as the study names them; there are no
//! cells here, only times, values and hashes.

use crate::error::Result;
use crate::mapping::Mapping;
use crate::records::{ACTIONS, AVAILABILITY, EARLIER, NO_WORD, Record};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use restive_tables::ParquetTable;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

pub(crate) const RECORDS: &str = "records.parquet";
const NAMES: [&str; 6] = ["log", "arm", "time", "value", "key", "content"];
const BATCH: usize = 1 << 17;

fn damaged(path: &Path) -> impl Fn(String) -> crate::Error {
    let path = path.to_path_buf();
    move |found| restive_tables::Error::Damaged { path: path.clone(), format: "Parquet", found }.into()
}

/// What the mapping calls a log.
fn name(mapping: &Mapping, log: u16) -> &str {
    match log {
        ACTIONS => "actions",
        AVAILABILITY => "availability",
        log => &mapping.events[usize::from(log)].name.value,
    }
}

/// Writes the records.
pub(crate) fn write(path: &Path, mapping: &Mapping, arms: &[String], records: &[Record]) -> Result<()> {
    let kinds = [
        DataType::Utf8,
        DataType::Utf8,
        DataType::Int64,
        DataType::Float64,
        DataType::Int64,
        DataType::Int64,
    ];
    let fields: Vec<Field> =
        NAMES.iter().zip(kinds).map(|(name, kind)| Field::new(*name, kind, false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let refused = |error: parquet::errors::ParquetError| {
        let answer = std::io::Error::other(error.to_string());
        crate::Error::Tables(restive_tables::Error::Io { path: path.into(), doing: "write", answer })
    };
    let file = File::create(path).map_err(|answer| restive_tables::Error::Io {
        path: path.into(),
        doing: "write",
        answer,
    })?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_column_dictionary_enabled("key".into(), false)
        .set_column_dictionary_enabled("content".into(), false)
        .build();
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(refused)?;
    for piece in records.chunks(BATCH) {
        let columns: Vec<arrow_array::ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(piece.iter().map(|r| name(mapping, r.log)))),
            Arc::new(StringArray::from_iter_values(piece.iter().map(|r| &arms[r.person as usize]))),
            Arc::new(Int64Array::from_iter_values(piece.iter().map(|r| r.time))),
            Arc::new(Float64Array::from_iter_values(piece.iter().map(|r| r.value))),
            Arc::new(Int64Array::from_iter_values(piece.iter().map(|r| r.key as i64))),
            Arc::new(Int64Array::from_iter_values(piece.iter().map(|r| r.content as i64))),
        ];
        let batch = RecordBatch::try_new(schema.clone(), columns).expect("the columns of the schema");
        writer.write(&batch).map_err(refused)?;
    }
    writer.close().map_err(refused)?;
    Ok(())
}

/// Reads the records of earlier imports; `person` says where an arm stands now.
pub(crate) fn read(
    path: &Path,
    mapping: &Mapping,
    person: impl Fn(&str) -> Option<u32>,
) -> Result<Vec<Record>> {
    let damaged = damaged(path);
    let table = ParquetTable::open(path)?;
    let schema = table.schema();
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if found != NAMES {
        return Err(damaged("other columns than an import writes".into()));
    }
    let mut records = Vec::with_capacity(usize::try_from(table.rows()).unwrap_or(0).min(1 << 24));
    let mut logs: HashMap<String, u16> =
        (0..mapping.events.len() as u16).map(|log| (name(mapping, log).to_string(), log)).collect();
    logs.insert("actions".into(), ACTIONS);
    if mapping.availability.is_some() {
        logs.insert("availability".into(), AVAILABILITY);
    }
    for batch in table.batches(0..NAMES.len())? {
        let batch = batch?;
        let text = |k: usize| {
            batch.column(k).as_string_opt::<i32>().ok_or_else(|| damaged("a column of another type".into()))
        };
        let whole = |k: usize| {
            batch
                .column(k)
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| damaged("a column of another type".into()))
        };
        let (log, arm, time) = (text(0)?, text(1)?, whole(2)?);
        let value = batch
            .column(3)
            .as_primitive_opt::<Float64Type>()
            .ok_or_else(|| damaged("a column of another type".into()))?;
        let (key, content) = (whole(4)?, whole(5)?);
        for k in 0..batch.num_rows() {
            let (Some(log), Some(person)) = (logs.get(log.value(k)), person(arm.value(k))) else {
                return Err(damaged("a log or a person that the programme does not have".into()));
            };
            records.push(Record {
                key: key.value(k) as u64,
                content: content.value(k) as u64,
                time: time.value(k),
                value: value.value(k),
                person,
                line: 0,
                log: *log,
                file: EARLIER,
                word: NO_WORD,
            });
        }
    }
    Ok(records)
}

/// What became of the records of earlier imports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Earlier {
    /// records that were known
    pub known: u64,
    /// of these, with other cells now
    pub amended: u64,
    /// of these, not in the new exports, which do not reach that far: they stay
    pub kept: u64,
    /// of these, not in the new exports though they are of the same days: they stay, and this is told
    pub absent: u64,
}

impl Earlier {
    /// Counts of two kinds of records together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            amended: self.amended + other.amended,
            kept: self.kept + other.kept,
            absent: self.absent + other.absent,
        }
    }
}

/// Adds to the new records, which are in the order of their keys, those that only earlier imports have.
pub(crate) fn grow(records: &mut Vec<Record>, mut earlier: Vec<Record>) -> Earlier {
    let mut told = Earlier { known: earlier.len() as u64, ..Earlier::default() };
    earlier.sort_unstable_by_key(|r| (r.log, r.key));
    let mut spans: HashMap<u16, (i64, i64)> = HashMap::new();
    for r in records.iter() {
        let span = spans.entry(r.log).or_insert((r.time, r.time));
        *span = (span.0.min(r.time), span.1.max(r.time));
    }
    let (mut at, new) = (0, records.len());
    for r in earlier {
        while at < new && (records[at].log, records[at].key) < (r.log, r.key) {
            at += 1;
        }
        if at < new && (records[at].log, records[at].key) == (r.log, r.key) {
            told.amended += u64::from(records[at].content != r.content);
            continue;
        }
        match spans.get(&r.log) {
            Some((from, until)) if (*from..=*until).contains(&r.time) => told.absent += 1,
            _ => told.kept += 1,
        }
        records.push(r);
    }
    told
}
