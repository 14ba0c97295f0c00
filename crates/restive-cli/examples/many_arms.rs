//! Writes a Parquet file of random two-state arms in the compact columns: input for `bench/stream`.
//!
//! `cargo run --release -p restive-cli --example many_arms -- 50000000 arms.parquet`

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::sync::Arc;

const BATCH: usize = 1 << 16;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, arms, path] = &arguments[..] else { panic!("usage: many_arms N FILE.parquet") };
    let arms: usize = arms.parse().expect("N is a whole number");
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    // xorshift is random enough for a timing
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut batch = |rows: usize| {
        let mut column =
            || Arc::new(Float64Array::from_iter_values((0..rows).map(|_| uniform()))) as ArrayRef;
        let names = ["p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"];
        RecordBatch::try_from_iter(names.map(|name| (name, column()))).expect("four columns of one length")
    };
    let first = batch(BATCH.min(arms));
    let file = File::create(path).expect("the file can be created");
    let mut writer = ArrowWriter::try_new(file, first.schema(), None).expect("a valid schema");
    let mut written = first.num_rows();
    writer.write(&first).expect("disk space");
    while written < arms {
        let next = batch(BATCH.min(arms - written));
        written += next.num_rows();
        writer.write(&next).expect("disk space");
    }
    writer.close().expect("disk space");
}
