//! Tables of arms that the tests write, and readers of tables of indices.

use crate::harness::{Chance, Cli};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

pub(crate) const COMPACT: [&str; 4] = ["p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"];

/// Runs `restive index`, which may replace the output of an earlier run, and reads the output.
pub(crate) fn index(cli: &Cli, arguments: &str, out: &str) -> Vec<Answer> {
    cli.run(&format!("index {arguments} --out {out} --force")).success();
    read_answers(&cli.path(out))
}

pub(crate) fn compact_arms(count: usize, seed: u64) -> Vec<[f64; 4]> {
    let mut chance = Chance::new(seed);
    (0..count).map(|_| std::array::from_fn(|_| chance.next())).collect()
}

/// `[N,2,2,2]` from `[N,4]`.
pub(crate) fn full(arms: &[[f64; 4]]) -> Vec<f64> {
    arms.iter().flatten().flat_map(|p| [1.0 - p, *p]).collect()
}

/// The names of all columns of arms with M states, in the order state, action, next state.
pub(crate) fn full_columns(states: usize) -> Vec<String> {
    let entry = |k: usize| format!("p_{}_{}_{}", k / (2 * states), k / states % 2, k % states);
    (0..2 * states * states).map(entry).collect()
}

pub(crate) fn csv(columns: &[impl AsRef<str>], rows: &[f64]) -> String {
    let header: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let mut text = header.join(",") + "\n";
    for row in rows.chunks(columns.len()) {
        text += &(row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

pub(crate) fn npy(descr: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    npy_with_order(descr, "False", shape, numbers)
}

pub(crate) fn npy_with_order(descr: &str, is_fortran: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(numbers);
    bytes
}

pub(crate) fn f64_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Columns of 64-bit floats from rows of numbers.
pub(crate) fn float_columns<N: AsRef<str>>(names: &[N], rows: &[f64]) -> Vec<(String, ArrayRef)> {
    let column = |c: usize| Float64Array::from_iter_values(rows.iter().skip(c).step_by(names.len()).copied());
    names
        .iter()
        .enumerate()
        .map(|(c, name)| (name.as_ref().to_string(), Arc::new(column(c)) as ArrayRef))
        .collect()
}

pub(crate) fn write_parquet(path: &Path, columns: Vec<(String, ArrayRef)>) {
    let mut writer = parquet_writer(path, &columns);
    writer.write(&batch(columns)).unwrap();
    writer.close().unwrap();
}

pub(crate) fn parquet_writer(path: &Path, columns: &[(String, ArrayRef)]) -> ArrowWriter<File> {
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    ArrowWriter::try_new(File::create(path).unwrap(), schema(columns), Some(properties)).unwrap()
}

fn schema(columns: &[(String, ArrayRef)]) -> Arc<Schema> {
    let field = |(name, column): &(String, ArrayRef)| Field::new(name, column.data_type().clone(), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

pub(crate) fn batch(columns: Vec<(String, ArrayRef)>) -> RecordBatch {
    let schema = schema(&columns);
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).unwrap()
}

/// One row of a file of indices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) arm: String,
    pub(crate) index: Vec<f64>,
    pub(crate) is_indexable: Option<bool>,
}

pub(crate) fn read_answers(path: &Path) -> Vec<Answer> {
    match path.extension().unwrap().to_str().unwrap() {
        "csv" => read_csv(path),
        "parquet" => read_parquet(path),
        _ => read_npy(path),
    }
}

fn read_csv(path: &Path) -> Vec<Answer> {
    let text = fs::read_to_string(path).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let states = header.iter().filter(|name| name.starts_with("w_")).count();
    assert_eq!((header[0], header[1 + states]), ("arm", "is_indexable"));
    let answer = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), header.len());
        Answer {
            arm: cells[0].into(),
            index: cells[1..=states].iter().map(|cell| cell.parse().unwrap()).collect(),
            is_indexable: Some(cells[1 + states])
                .filter(|cell| !cell.is_empty())
                .map(|cell| cell.parse().unwrap()),
        }
    };
    text.lines().skip(1).map(answer).collect()
}

fn read_parquet(path: &Path) -> Vec<Answer> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let mut answers = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let (names, verdicts) = (&batch["arm"], batch["is_indexable"].as_boolean());
        let states = batch.schema().fields().iter().filter(|field| field.name().starts_with("w_")).count();
        let index = |s: usize| batch.column(1 + s).as_primitive::<Float64Type>(); // after the names, in order
        answers.extend((0..batch.num_rows()).map(|i| Answer {
            arm: match names.data_type() {
                DataType::Utf8 => names.as_string::<i32>().value(i).into(),
                _ => names.as_primitive::<Int64Type>().value(i).to_string(),
            },
            index: (0..states).map(|s| index(s).value(i)).collect(),
            is_indexable: verdicts.is_valid(i).then(|| verdicts.value(i)),
        }));
    }
    answers
}

/// An array has no names and no third verdict: arms are numbered, and NaN stands for undetermined.
fn read_npy(path: &Path) -> Vec<Answer> {
    let (indices, verdicts) =
        (fs::read(path).unwrap(), fs::read(format!("{}.verdict.npy", path.display())).unwrap());
    let header = String::from_utf8(indices[10..128].to_vec()).unwrap();
    let states: usize = header
        .split_once(", ")
        .unwrap()
        .1
        .split_once("'shape': (")
        .unwrap()
        .1
        .split_once(", ")
        .unwrap()
        .1
        .split_once(')')
        .unwrap()
        .0
        .parse()
        .unwrap();
    let numbers: Vec<f64> = indices[128..].as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    assert_eq!(verdicts.len() - 128, numbers.len() / states);
    let rows = numbers.chunks(states).zip(&verdicts[128..]).enumerate();
    rows.map(|(i, (index, verdict))| Answer {
        arm: i.to_string(),
        index: index.to_vec(),
        is_indexable: (!index.iter().any(|w| w.is_nan())).then_some(*verdict == 1),
    })
    .collect()
}
