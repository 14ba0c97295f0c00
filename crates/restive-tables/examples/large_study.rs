//! A synthetic study of any number of people, written in little memory: for measuring what reads it.
//!
//! `cargo run --release -p restive-tables --example large_study -- OUT PEOPLE PERIODS FEATURES SEED ORDER`
//! where ORDER, that of the rows of the trajectories, is `arm`, `step` or `shuffled`.
//!
//! People have FEATURES − 1 numbers and a `district`, one of fifty of unequal size. A person is engaged (state 1) in the next period with
//! a probability that is logistic in the features, the state and the call; 2 % are called in a period, at random. What was logged takes
//! one byte for each person and period here, so that its rows can be written in any order.

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, UInt8Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows that are made at a time, and those of a row group.
const ROWS: usize = 1 << 16;
const GROUP: usize = 1 << 20;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [out, people, periods, features, seed, order] = &asked[..] else {
        panic!("expected OUT PEOPLE PERIODS FEATURES SEED ORDER, found {asked:?}")
    };
    let number = |text: &String| text.parse::<usize>().expect("a whole number");
    let [people, periods, features, seed] = [people, periods, features, seed].map(number);
    let out = Path::new(out);
    std::fs::create_dir_all(out).expect("a folder");
    let budget = people / 50;
    let settings = format!(
        "states = 2\ndiscount = 0.95\nbudget = {budget}\nhorizon = {periods}\nbehaviour = \"uniform\"\n"
    );
    std::fs::write(out.join("study.toml"), settings).expect("written");
    let cells = write_arms(&out.join("arms.parquet"), people, periods, features.max(1), seed as u64);
    write_log(&out.join("trajectories.parquet"), &cells, people, periods + 1, order);
}

/// Random numbers of one person (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn name(person: usize) -> String {
    format!("P{person:08}")
}

fn writer(path: &Path, first: &RecordBatch) -> ArrowWriter<File> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP))
        .build();
    let file = File::create(path).expect("a new file");
    ArrowWriter::try_new(file, first.schema(), Some(properties)).expect("a table")
}

/// Writes the people; what happens to them, `[N,T]`: the state in the first bit, the action in the next two, 2 where there is none.
fn write_arms(path: &Path, people: usize, periods: usize, features: usize, seed: u64) -> Vec<u8> {
    let mut cells = Vec::with_capacity(people * (periods + 1));
    let mut table: Option<ArrowWriter<File>> = None;
    for start in (0..people).step_by(ROWS) {
        let here = start..people.min(start + ROWS);
        let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(here.len()); features - 1];
        let mut districts = Vec::with_capacity(here.len());
        for person in here.clone() {
            let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ ((person as u64) << 20));
            let mut score = 0.0;
            for (f, column) in columns.iter_mut().enumerate() {
                let x = (random.next() + random.next() + random.next() - 1.5) * 2.0;
                let x = if f % 4 == 3 { (10.0 * x).round() } else { x };
                score += x * [0.5, -0.4, 0.3, 0.02, 0.0, 0.2][f % 6] / (1.0 + f as f64 / 6.0);
                column.push(x);
            }
            let district = (50.0 * random.next().powi(2)) as usize;
            districts.push(format!("district {district:02}"));
            let base = score - 1.0 + (district % 5) as f64 / 10.0;
            let effect = 0.8 + 0.4 * columns.first().map_or(0.0, |column| column[column.len() - 1]);
            let mut state = u8::from(random.next() < 0.4);
            for t in 0..=periods {
                let action = if t == periods { 2 } else { u8::from(random.next() < 0.02) };
                cells.push(state | action << 1);
                let called = if action == 1 { effect } else { 0.0 };
                let odds = base + 1.8 * f64::from(state) + called;
                state = u8::from(random.next() < 1.0 / (1.0 + (-odds).exp()));
            }
        }
        let names = StringArray::from_iter_values(here.map(name));
        let mut arrays: Vec<(String, ArrayRef)> = vec![("arm".into(), Arc::new(names))];
        let columns = columns.into_iter().enumerate();
        arrays.extend(columns.map(|(f, column)| -> (String, ArrayRef) {
            (format!("x{f}"), Arc::new(Float64Array::from(column)))
        }));
        arrays.push(("district".into(), Arc::new(StringArray::from(districts))));
        let batch = RecordBatch::try_from_iter(arrays).expect("a table");
        table.get_or_insert_with(|| writer(path, &batch)).write(&batch).expect("written");
    }
    table.expect("at least one person").close().expect("written");
    cells
}

fn write_log(path: &Path, cells: &[u8], people: usize, steps: usize, order: &str) {
    let rows = people * steps;
    // a stride that has no divisor with the number of rows visits each of them once; by the golden ratio neighbours are far apart
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (rows as f64 * 0.618_033_988_749_895) as usize;
    let stride = (golden..).find(|stride| gcd(*stride, rows) == 1).expect("there is one");
    let place = |row: usize| match order {
        "arm" => (row / steps, row % steps),
        "step" => (row % people, row / people),
        "shuffled" => {
            let at = (row as u128 * stride as u128 % rows as u128) as usize;
            (at / steps, at % steps)
        }
        other => panic!("expected arm, step or shuffled, found {other}"),
    };
    let mut table: Option<ArrowWriter<File>> = None;
    for start in (0..rows).step_by(ROWS) {
        let here: Vec<(usize, usize)> = (start..rows.min(start + ROWS)).map(place).collect();
        let cell = |&(person, t): &(usize, usize)| cells[person * steps + t];
        let action = |at: &(usize, usize)| Some(i32::from(cell(at) >> 1)).filter(|a| *a < 2);
        let names = here.iter().map(|(person, _)| name(*person));
        let columns: [(&str, ArrayRef, bool); 5] = [
            ("trajectory", Arc::new(StringArray::from_iter_values(here.iter().map(|_| "1"))), false),
            ("t", Arc::new(Int32Array::from_iter_values(here.iter().map(|(_, t)| *t as i32))), false),
            ("arm", Arc::new(StringArray::from_iter_values(names)), false),
            ("state", Arc::new(UInt8Array::from_iter_values(here.iter().map(|at| cell(at) & 1))), false),
            ("action", Arc::new(Int32Array::from_iter(here.iter().map(action))), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("a table");
        table.get_or_insert_with(|| writer(path, &batch)).write(&batch).expect("written");
    }
    table.expect("at least one row").close().expect("written");
}
