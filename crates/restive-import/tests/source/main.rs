//! Exports are read as they come: every trap that programmes' files have set.

mod containers;
mod refusals;
mod speed;
mod text;
mod typed;

use restive_import::{Input, Reading, Source, SourceError};
use std::path::Path;

/// A row as it was visited: file, line, fault, cells.
#[derive(Debug, PartialEq)]
struct Seen {
    file: usize,
    line: u64,
    fault: Option<String>,
    cells: Vec<String>,
    content: u64,
}

/// What a source is, and all its rows.
#[derive(Debug)]
struct Whole {
    header: Vec<String>,
    files: Vec<String>,
    notes: Vec<String>,
    is_typed: bool,
    rows: Vec<Seen>,
}

impl Whole {
    fn cells(&self) -> Vec<Vec<&str>> {
        self.rows.iter().map(|row| row.cells.iter().map(String::as_str).collect()).collect()
    }

    fn lines(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.line).collect()
    }
}

fn read_input(reading: &Reading, input: &Input<'_>) -> Result<Whole, SourceError> {
    let mut source = Source::open(reading, input)?;
    let wanted: Vec<usize> = (0..source.header().len()).collect();
    let mut rows = Vec::new();
    let mut share = 0.0;
    source.rows(&wanted, |row| {
        assert!(row.share_read() >= share && row.share_read() <= 1.0);
        share = row.share_read();
        rows.push(Seen {
            file: row.file(),
            line: row.line(),
            fault: row.fault().map(String::from),
            cells: (0..wanted.len()).map(|k| row.cell(k).to_string()).collect(),
            content: row.content(),
        });
        Ok::<(), SourceError>(())
    })?;
    Ok(Whole {
        header: source.header().to_vec(),
        files: source.files().to_vec(),
        notes: source.notes().to_vec(),
        is_typed: source.is_typed(),
        rows,
    })
}

fn read(base: &Path, reading: &Reading) -> Result<Whole, SourceError> {
    read_input(reading, &Input::Files { base })
}

fn reading(file: &str) -> Reading {
    Reading { file: file.into(), ..Reading::default() }
}

/// Reads a single file of these bytes.
fn read_bytes(name: &str, bytes: impl AsRef<[u8]>, reading: Reading) -> Result<Whole, SourceError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    read(folder.path(), &Reading { file: name.into(), ..reading })
}

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}
