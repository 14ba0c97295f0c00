//! A table of delimited text.
//!
//! It is opened twice: once for its encoding, delimiter and header, and again for its rows, which are then read in one
//! pass and in bounded memory.

use super::Reading;
use super::encoding::{Decoded, HEAD, is_utf32, recognise};
use super::error::SourceError;
use super::records::{Records, Stop, delimiter};
use super::row::Raw;
use super::stream::{self, Place, unreadable};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use restive_tables::show;
use std::io::{Cursor, Read};
use std::ops::ControlFlow;

const MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) struct Text {
    place: Place,
    file: String,
    encoding: &'static Encoding,
    delimiter: u8,
    escape: Option<u8>,
    skip: usize,
    has_header: bool,
    /// whether the line before the header is `sep=;`
    has_declaration: bool,
}

impl Text {
    /// Opens a text; with the names of its columns, and what was guessed.
    pub(super) fn open(
        place: Place,
        file: String,
        reading: &Reading,
    ) -> Result<(Self, Vec<String>, Vec<String>), SourceError> {
        let mut text = Self {
            place,
            file,
            encoding: UTF_8,
            delimiter: b',',
            escape: reading.escape,
            skip: reading.skip,
            has_header: reading.header.is_none(),
            has_declaration: false,
        };
        let Looks { names, encoding, delimiter, has_declaration, notes } =
            stream::with(&text.place, &text.file, |bytes, _| text.look(bytes, reading))?;
        (text.encoding, text.delimiter, text.has_declaration) = (encoding, delimiter, has_declaration);
        Ok((text, names, notes))
    }

    /// What the beginning says.
    fn look(&self, mut bytes: &mut dyn Read, reading: &Reading) -> Result<Looks, SourceError> {
        let file = self.file.as_str();
        let mut head = Vec::new();
        let first = Read::take(&mut bytes, HEAD as u64).read_to_end(&mut head);
        first.map_err(|error| unreadable(file, error))?;
        if head.is_empty() {
            return Err(SourceError::content(file, "an empty file", "a table"));
        }
        if is_utf32(&head) {
            let expected = "UTF-8 or UTF-16: save it as \"CSV UTF-8\"";
            return Err(SourceError::content(file, "text in UTF-32", expected));
        }
        let mut notes = Vec::new();
        let shown = show::plain(file);
        let encoding = match (Encoding::for_bom(&head), &reading.encoding) {
            (Some((encoding, _)), _) => encoding,
            (None, Some(label)) => Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
                let found = format!("the encoding {} in the mapping", show::quoted_name(label));
                SourceError::content(file, found, "one such as utf-8, utf-16 or windows-1252")
            })?,
            (None, None) => {
                let (encoding, is_guess) = recognise(&head, head.len() < HEAD);
                if is_guess {
                    notes.push(format!("{shown}: the encoding was taken for {}", encoding.name()));
                }
                encoding
            }
        };
        refuse_foreign(file, &head, encoding)?;
        let mut decoded = decoded(head, bytes, encoding);
        let mut records = Records::new(&mut decoded);
        let stopped = |stop| self.stopped(stop);
        records.skip(self.skip).map_err(stopped)?;
        let declared = declared_delimiter(records.ahead().map_err(stopped)?);
        let has_declaration = declared.is_some();
        if has_declaration {
            records.skip(1).map_err(stopped)?;
        }
        let ahead = records.ahead().map_err(stopped)?;
        if ahead.is_empty() {
            return Err(SourceError::content(file, "nothing but blank or skipped lines", "a table"));
        }
        let guess = || delimiter(ahead, self.escape, reading.header.as_ref().map(Vec::len));
        let delimiter = reading.delimiter.or(declared).or_else(|| {
            let guess = guess().filter(|guess| *guess != b',')?;
            let name = if guess == b'\t' { "a tab".into() } else { char::from(guess).to_string() };
            notes.push(format!("{shown}: the delimiter was taken for {name}"));
            Some(guess)
        });
        let delimiter = delimiter.unwrap_or(b',');
        let names = match &reading.header {
            Some(names) => names.clone(),
            None => {
                let mut raw = Raw::default();
                records.set_dialect(delimiter, self.escape);
                records.next(&mut raw).map_err(stopped)?;
                raw.names()
            }
        };
        Ok(Looks { names, encoding, delimiter, has_declaration, notes })
    }

    /// Visits every row.
    pub(super) fn each(
        &self,
        visit: &mut dyn FnMut(&Raw) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let stopped = |stop| self.stopped(stop);
        stream::with(&self.place, &self.file, |mut bytes, progress| {
            let mut head = Vec::new();
            let first = Read::take(&mut bytes, MARK.len() as u64).read_to_end(&mut head);
            first.map_err(|error| unreadable(&self.file, error))?;
            let mut decoded = decoded(head, bytes, self.encoding);
            let mut records = Records::new(&mut decoded);
            records.skip(self.skip).map_err(stopped)?;
            if self.has_declaration {
                records.ahead().map_err(stopped)?;
                records.skip(1).map_err(stopped)?;
            }
            records.set_dialect(self.delimiter, self.escape);
            let mut raw = Raw::default();
            if self.has_header {
                records.next(&mut raw).map_err(stopped)?;
            }
            while records.next(&mut raw).map_err(stopped)? {
                raw.share = progress.share();
                if visit(&raw).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn stopped(&self, stop: Stop) -> SourceError {
        match stop {
            Stop::Io(error) => unreadable(&self.file, error),
            Stop::Unending(line) => SourceError::Unending { file: self.file.clone(), line },
        }
    }
}

/// Result of the first pass over a text.
struct Looks {
    names: Vec<String>,
    encoding: &'static Encoding,
    delimiter: u8,
    has_declaration: bool,
    /// what was guessed
    notes: Vec<String>,
}

/// The delimiter that a first line such as `sep=;` declares, as Excel reads it.
fn declared_delimiter(text: &[u8]) -> Option<u8> {
    let line = text.strip_prefix(b"\"").unwrap_or(text);
    let start = line.get(..4).filter(|start| start.eq_ignore_ascii_case(b"sep="))?;
    let delimiter = *line.get(start.len())?;
    let rest = &line[start.len() + 1..];
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let is_line = rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r");
    (is_line && delimiter.is_ascii() && !b"\r\n\"".contains(&delimiter)).then_some(delimiter)
}

/// A text as UTF-8, without a byte-order mark.
fn decoded<'r>(head: Vec<u8>, rest: &'r mut dyn Read, encoding: &'static Encoding) -> Box<dyn Read + 'r> {
    let marked = if encoding == UTF_8 && head.starts_with(MARK) { MARK.len() } else { 0 };
    let mut head = Cursor::new(head);
    head.set_position(marked as u64);
    let bytes = head.chain(rest);
    if encoding == UTF_8 { Box::new(bytes) } else { Box::new(Decoded::new(bytes, encoding)) }
}

/// Refuses what is no delimited text: other files under its name, and pages that a server gave instead of it.
fn refuse_foreign(file: &str, head: &[u8], encoding: &'static Encoding) -> Result<(), SourceError> {
    const MAGIC: [(&[u8], &str); 7] = [
        (b"PK\x03\x04", "an archive or workbook within another file"),
        (b"\xd0\xcf\x11\xe0", "a workbook within another file"),
        (b"PAR1", "a Parquet file within another file"),
        (b"\x1f\x8b", "gzip-compressed data, compressed twice"),
        (b"\x28\xb5\x2f\xfd", "Zstandard-compressed data"),
        (b"%PDF", "a PDF document"),
        (b"SQLite format 3", "a database"),
    ];
    // zero bytes in many places, yet not in every second one
    let is_half_wide = head.iter().filter(|byte| **byte == 0).count() * 8 > head.len();
    let page = String::from_utf8_lossy(&head[..head.len().min(256)]).trim_start().to_ascii_lowercase();
    let is_page = ["<!doctype", "<html", "<?xml"].into_iter().any(|start| page.starts_with(start));
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let is_binary = !is_wide && head.iter().filter(|byte| **byte == 0).count() > head.len() / 1000;
    let known = MAGIC.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, words)| words);
    match known.or(is_page.then_some("a web page or XML")).or(is_binary.then_some("bytes that are no text")) {
        Some(found) => {
            let hint = if is_half_wide {
                "; for text in UTF-16 say encoding = \"utf-16le\" beside file"
            } else {
                ""
            };
            let expected = "a table as text, .xlsx, .xls, .ods or Parquet, or such text as .gz or in a .zip";
            Err(SourceError::content(file, found, format!("{expected}{hint}")))
        }
        None => Ok(()),
    }
}
