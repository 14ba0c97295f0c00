//! How fast a large file is read: `cargo test --release --test source -- --ignored --nocapture`.

use super::*;
use std::io::Write;
use std::time::Instant;

#[test]
#[ignore = "writes a file of a gigabyte"]
fn ten_million_rows() {
    const ROWS: u64 = 10_000_000;
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path().join("calls.csv")).unwrap());
    writeln!(file, "CallSid,DateCreated,From,To,Direction,Status,Duration,Recording").unwrap();
    for i in 0..ROWS {
        let (phone, second) = (9_000_000_000 + i * 7 % 999_999_937, i % 60);
        writeln!(
            file,
            "CA{i:014x},2026-03-05 14:30:{second:02},0{phone},08047{:06},outbound,completed,{},\"https://r/{i}\"",
            i % 1_000_000,
            i % 300
        )
        .unwrap();
    }
    file.flush().unwrap();
    let mut source = Source::open(&reading("calls.csv"), &Input::Files { base: folder.path() }).unwrap();
    let start = Instant::now();
    let (mut rows, mut length, mut content) = (0, 0, 0);
    let visited = source.rows(&[0, 1, 3, 6], |row| {
        rows += 1;
        length += (0..4).map(|k| row.cell(k).len()).sum::<usize>();
        content ^= row.content();
        Ok::<(), SourceError>(())
    });
    visited.unwrap();
    let bytes = source.bytes().unwrap_or(0);
    println!("{rows} rows, {bytes} bytes, {length} in wanted cells, {content:x}: {:?}", start.elapsed());
    assert_eq!(rows, ROWS);
}
