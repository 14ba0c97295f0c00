//! Memory does not grow with the number of arms.

use crate::arms::{COMPACT, batch, float_columns, parquet_writer};
use crate::harness::{Chance, Cli, cli, stdout};
use std::fs::File;
use std::io::{BufWriter, Write};

const FEW: usize = 1_000_000;
const MANY: usize = 5_000_000;

fn write_parquet_arms(folder: &Cli, name: &str, arms: usize) {
    const ROWS: usize = 100_000;
    let mut chance = Chance::new(6);
    let mut rows = || float_columns(&COMPACT, &(0..4 * ROWS).map(|_| chance.next()).collect::<Vec<_>>());
    let mut writer = parquet_writer(&folder.path(name), &rows());
    (0..arms / ROWS).for_each(|_| writer.write(&batch(rows())).unwrap());
    writer.close().unwrap();
}

fn write_csv_arms(folder: &Cli, name: &str, arms: usize) {
    let mut file = BufWriter::new(File::create(folder.path(name)).unwrap());
    writeln!(file, "arm,{}", COMPACT.join(",")).unwrap();
    for i in 0..arms {
        let digits = |shift: usize| (i * 7919 + shift * 104_729) % 1000;
        let [a, b, c, d] = [digits(1), digits(2), digits(3), digits(4)];
        writeln!(file, "arm-{i},0.{a:03},0.{b:03},0.{c:03},0.{d:03}").unwrap();
    }
}

/// The most memory that a run held, in bytes.
fn peak(folder: &Cli, input: &str, out: &str) -> u64 {
    let run = folder.run(&format!("index {input} --out {out} --force --json")).success();
    let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    summary["peak_memory_bytes"].as_u64().expect("Linux says how much memory a process held")
}

#[test]
fn five_million_arms_take_no_more_memory_than_one_million() {
    if cfg!(not(target_os = "linux")) {
        eprintln!("skipped: the memory of a process is read from /proc, which only Linux has");
        return;
    }
    let folder = cli();
    type Writer = fn(&Cli, &str, usize);
    let formats: [(&str, Writer); 2] = [("parquet", write_parquet_arms), ("csv", write_csv_arms)];
    for (format, write) in formats {
        let [few, many] = [FEW, MANY].map(|arms| {
            let (input, out) = (format!("arms.{format}"), format!("w.{format}"));
            write(&folder, &input, arms);
            peak(&folder, &input, &out)
        });
        // Threads meet by chance, so that a batch more or less may be held; four million arms would be 128 MB more.
        assert!(many < few + (32 << 20), "{format}: {few} bytes for {FEW} arms, {many} for {MANY}");
        assert!(many < 512 << 20, "{format}: {many} bytes");
    }
}
