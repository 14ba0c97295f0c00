//! Arms from comma-separated text.
//!
//! Rows are read into one reused record and parsed straight into the batch. Where a row is refused its line is
//! given as an editor counts it, from 1 with the header: blank lines count and quoted line breaks count. A row may
//! have 64 MiB; a longer one is a quotation mark that was left open, and would otherwise fill the memory.

use super::steady::Steady;
use super::{ArmBatch, ArmShape, batch_rows, check};
use crate::columns::Columns;
use crate::error::{Error, Place, Result, RowNumber};
use crate::foreign::{HEAD, Wanted, refuse};
use crate::formula::unguarded;
use crate::names::{ArmNames, SHORTER, too_long};
use crate::show::{self, quoted, quoted_name, sentence};
use arrow_array::builder::StringBuilder;
use csv::{ByteRecord, ErrorKind, Position, ReaderBuilder};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct CsvArms {
    path: PathBuf,
    pub(crate) columns: Columns,
    header: Vec<String>,
    reader: csv::Reader<Rationed>,
    record: ByteRecord,
    /// where the rows of the batch in hand start
    positions: Vec<Position>,
    /// arms in the batches that were handed out
    arms: u64,
    /// bytes of the file
    size: u64,
    /// indices per state
    answers: usize,
    /// met in the middle of a batch: the arms before it come first, for they may hold an earlier fault
    pending: Option<Error>,
}

impl CsvArms {
    pub(crate) fn open(path: &Path, answers: usize) -> Result<Self> {
        let (rationed, size) = Rationed::open(path)?;
        let mut reader = ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(rationed);
        let header = reader.byte_headers().map_err(|e| unreadable(path, e))?;
        if header.is_empty() {
            return Err(Error::NoArms { path: path.into(), found: "an empty file" });
        }
        let header: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(unguarded(name)).into_owned()).collect();
        let columns = Columns::parse(header.iter().map(String::as_str))
            .map_err(|fault| Error::Columns { path: path.into(), fault })?;
        Ok(Self {
            path: path.into(),
            columns,
            header,
            reader,
            record: ByteRecord::new(),
            positions: Vec::new(),
            arms: 0,
            size,
            answers,
            pending: None,
        })
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<ArmBatch>> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let width = self.columns.width();
        let rows = batch_rows(width, self.answers * self.columns.states);
        let mut raw = Vec::with_capacity(rows * width);
        let mut names = self.columns.arm.map(|_| StringBuilder::new());
        self.positions.clear();
        while self.positions.len() < rows {
            match self.read_row(&mut raw, names.as_mut()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    raw.truncate(self.positions.len() * width);
                    self.pending = Some(error);
                    break;
                }
            }
        }
        if self.positions.is_empty() {
            return match self.pending.take() {
                Some(error) => Err(error),
                None if self.arms == 0 => {
                    Err(Error::NoArms { path: self.path.clone(), found: "a header and no rows" })
                }
                None => Ok(None),
            };
        }
        let names = match names {
            Some(mut builder) => ArmNames::Column(Arc::new(builder.finish())),
            None => ArmNames::Counted(self.arms),
        };
        let probabilities = check(&self.path, raw, ArmShape::of(&self.columns), |i| Place {
            row: RowNumber::Line(editor_line(&self.path, &self.positions[i])),
            arm: Some(names.name(i)),
        })?;
        self.arms += self.positions.len() as u64;
        let share_read = self.reader.position().byte() as f64 / self.size.max(1) as f64;
        Ok(Some(ArmBatch { names, probabilities, share_read: share_read.min(1.0) }))
    }

    pub(crate) fn steady(&self) -> &Steady {
        &self.reader.get_ref().steady
    }

    /// Reads one row to the end of `raw` and `names`; false at the end of the file.
    fn read_row(&mut self, raw: &mut Vec<f64>, names: Option<&mut StringBuilder>) -> Result<bool> {
        self.reader.get_mut().renew();
        let position = self.reader.position().clone();
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(_) if self.reader.get_ref().is_spent() => {
                let line = editor_line(&self.path, &position);
                let found = format!("the row of line {line} does not end, is a quotation mark missing?");
                return Err(Error::Damaged { path: self.path.clone(), format: "CSV", found });
            }
            Err(error) => return Err(unreadable(&self.path, error)),
        }
        let start = raw.len();
        raw.resize(start + self.columns.width(), 0.0);
        for &(column, position) in &self.columns.probabilities {
            let cell = self.record[column].trim_ascii();
            match std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok()) {
                Some(number) => raw[start + position] = number,
                None => return Err(self.bad_cell(column, "a number")),
            }
        }
        if let (Some(names), Some(column)) = (names, self.columns.arm) {
            match std::str::from_utf8(unguarded(&self.record[column])) {
                Ok(name) if too_long(name).is_some() => return Err(self.bad_cell(column, SHORTER)),
                Ok(name) if !name.is_empty() => names.append_value(name),
                Ok(_) => return Err(self.bad_cell(column, "a name")),
                Err(_) => return Err(self.bad_cell(column, "a name in UTF-8")),
            }
        }
        self.positions.push(position);
        Ok(true)
    }

    fn bad_cell(&self, column: usize, expected: &'static str) -> Error {
        let (cell, position) = (&self.record[column], self.record.position().expect("it was read"));
        let name = match self.columns.arm {
            Some(arm) => String::from_utf8_lossy(&self.record[arm]).into_owned(),
            None => (self.arms + self.positions.len() as u64).to_string(),
        };
        Error::Cell {
            path: self.path.clone(),
            place: Place {
                row: RowNumber::Line(editor_line(&self.path, position)),
                arm: Some(name).filter(|name| !name.is_empty()),
            },
            column: show::name(self.header[column].trim()).into(),
            found: match cell.trim_ascii() {
                [] => "an empty cell".into(),
                _ if expected == SHORTER => quoted_name(&String::from_utf8_lossy(cell)),
                _ => quoted(cell),
            },
            expected,
        }
    }
}

const LONGEST_ROW: usize = 64 << 20;

/// A file of text of which only so many bytes are read before the ration is renewed.
pub(crate) struct Rationed {
    /// the bytes by which it was known for text, and the rest: a pipe cannot be read twice
    text: io::Chain<Cursor<Vec<u8>>, File>,
    pub(crate) steady: Steady,
    left: usize,
}

impl Rationed {
    /// Opens a file and refuses one that is something else than text; with its size in bytes.
    pub(crate) fn open(path: &Path) -> Result<(Self, u64)> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let size = file.metadata().map_err(Error::io(path, "open"))?.len();
        let steady = Steady::new(path, &file)?;
        let mut head = Vec::with_capacity(HEAD);
        (&file).take(HEAD as u64).read_to_end(&mut head).map_err(Error::io(path, "read"))?;
        refuse(path, &head, Wanted::Csv)?;
        Ok((Self { text: Cursor::new(head).chain(file), steady, left: LONGEST_ROW }, size))
    }

    /// Another row may be read.
    pub(crate) fn renew(&mut self) {
        self.left = LONGEST_ROW;
    }

    /// Whether a row has used up its ration.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

impl Read for Rationed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(self.left);
        if room == 0 {
            return Err(io::Error::other("the row does not end"));
        }
        let count = self.text.read(&mut buffer[..room])?;
        self.left -= count;
        Ok(count)
    }
}

/// The parser's error as ours.
pub(crate) fn unreadable(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        ErrorKind::Io(answer) => Error::Io { path: path.into(), doing: "read", answer },
        ErrorKind::UnequalLengths { pos, expected_len: expected, len: found } => {
            let line = pos.map_or(0, |position| editor_line(path, &position));
            Error::Ragged { path: path.into(), line, found, expected }
        }
        other => Error::Damaged { path: path.into(), format: "CSV", found: sentence(&format!("{other:?}")) },
    }
}

/// The line on which a record starts. The parser says where the record before it ended, so that the end of that
/// line and blank lines may lie between: they are read again from the file. Where that cannot be done,
/// the parser's line serves.
pub(crate) fn editor_line(path: &Path, position: &Position) -> u64 {
    let mut line = position.line();
    // a pipe cannot be read again: opening it would wait for another writer
    if !path.metadata().is_ok_and(|file| file.is_file()) {
        return line;
    }
    let Ok(mut file) = File::open(path) else { return line };
    if file.seek(SeekFrom::Start(position.byte())).is_ok() {
        let bytes = io::BufReader::new(file).bytes().map_while(|byte| byte.ok());
        line += bytes.take_while(|byte| b"\r\n".contains(byte)).filter(|byte| *byte == b'\n').count() as u64;
    }
    line
}
