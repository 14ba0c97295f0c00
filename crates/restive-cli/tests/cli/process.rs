//! The program as a process: pipes, threads, and messages to the letter.

use crate::arms::*;
use crate::harness::*;
#[cfg(unix)]
use crate::running::wait;
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Arc;

#[test]
fn a_refusal_of_the_system_is_said_once() {
    let folder = cli();
    folder.write("arms.csv", "p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n0.2,0.8,0.5,0.5\n");
    let message = |arguments: &str| stderr(&folder.run(arguments).code(1));
    assert_eq!(message("index none.csv"), "restive: none.csv: cannot open: no such file or directory\n");
    let refused = message("index arms.csv --out nowhere/w.csv");
    assert_eq!(refused, "restive: nowhere/w.csv: cannot write: there is no folder nowhere\n");
}

#[test]
fn an_absurd_number_of_threads_is_refused() {
    let folder = cli();
    for threads in ["0", "100000", "18446744073709551615", "two"] {
        let run = folder.run(&format!("index arms.csv --threads {threads}")).code(2);
        assert!(stderr(&run).contains("--threads"), "{}", stderr(&run));
    }
}

#[test]
fn parquet_compressed_with_gzip_or_lz4_is_read() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use parquet::basic::{Compression, GzipLevel};
    use parquet::file::properties::WriterProperties;
    let folder = cli();
    for compression in [Compression::GZIP(GzipLevel::default()), Compression::LZ4_RAW, Compression::SNAPPY] {
        let columns = COMPACT.iter().zip([0.2, 0.8, 0.5, 0.5]);
        let columns = columns.map(|(name, p)| (*name, Arc::new(Float64Array::from(vec![p])) as ArrayRef));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_compression(compression).build();
        let file = File::create(folder.path("arms.parquet")).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let run = folder.run("index arms.parquet --discount 0.5").success();
        assert!(stdout(&run).contains("0.352941"), "{compression:?}: {}", stdout(&run));
    }
}

#[cfg(unix)]
#[test]
fn a_bad_row_from_a_pipe_is_an_error_not_a_hang() {
    let folder = cli();
    folder.write("bad.csv", "p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n0.2,0.8,0.5,0.5\n0.2,many,0.5,0.5\n");
    let pipe = folder.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let feed = (folder.path("bad.csv"), pipe.clone());
    let feeding = std::thread::spawn(move || std::fs::write(feed.1, std::fs::read(feed.0).unwrap()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_restive"))
        .arg("index")
        .arg(&pipe)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(wait(&mut child), Some(1));
    let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(message.contains("column p_0_1_1: found \"many\", expected a number"), "{message}");
    feeding.join().unwrap().unwrap();
}
