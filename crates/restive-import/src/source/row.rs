//! A row, as it lies in a file and as it is shown to a visitor.
//!
//! Readers fill a [`Raw`] row: the bytes of its cells one after the other, in the order of their file. [`Arranged`]
//! puts them in the order of the source's header, trimmed, and takes their hash. Both are used again for every row, so
//! that a row costs no allocation. Trimming takes white space of every kind off both ends, and what has no ink and no
//! meaning there: byte-order marks, zero-width spaces, marks of direction (telephone numbers copied from a chat come
//! wrapped in them). Joiners stay, because words of some scripts end with one.

use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// What is said of a row with bytes that are not text.
const NO_UTF8: &str = "bytes that are no UTF-8";

/// A row as a file has it.
#[derive(Default)]
pub(super) struct Raw {
    /// cells, one after the other
    pub(super) bytes: Vec<u8>,
    /// where each cell ends
    pub(super) ends: Vec<usize>,
    pub(super) line: u64,
    /// where the file has been read to, in [0, 1]
    pub(super) share: f64,
}

impl Raw {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(super) fn push(&mut self, cell: &str) {
        self.bytes.extend_from_slice(cell.as_bytes());
        self.ends.push(self.bytes.len());
    }

    /// The cells of a row of names; what is no UTF-8 is replaced.
    pub(super) fn names(&self) -> Vec<String> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let cells = starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end]);
        cells.map(|cell| trimmed(&String::from_utf8_lossy(cell)).to_string()).collect()
    }

    /// Whether there is nothing in any cell, as in a row of a spreadsheet that nobody has filled.
    pub(super) fn is_blank(&self) -> bool {
        // most rows are told by their first byte
        self.bytes.first().is_none_or(|first| !is_ink(*first))
            && String::from_utf8_lossy(&self.bytes).chars().all(is_air)
    }
}

/// A row in the order of the source's header.
#[derive(Default)]
pub(super) struct Arranged {
    text: String,
    ends: Vec<usize>,
    fault: String,
    content: u64,
}

impl Arranged {
    /// Takes a row over: `order` says for every column of the header where it is in the file, which has `width` columns.
    pub(super) fn take(&mut self, raw: &Raw, order: &[usize], width: usize) {
        self.text.clear();
        self.ends.clear();
        self.fault.clear();
        let is_whole = match std::str::from_utf8(&raw.bytes) {
            _ if raw.ends.len() != width => {
                let found = raw.ends.len();
                let fields = if found == 1 { "field" } else { "fields" };
                // writing to a string does not fail
                let _ = write!(self.fault, "found {found} {fields}, expected {width} as in the header");
                false
            }
            Ok(text) => self.fill(text, &raw.ends, order),
            Err(_) => false,
        };
        if is_whole {
            self.content = hash(self.text.as_bytes(), &self.ends);
        } else {
            if self.fault.is_empty() {
                self.fault.push_str(NO_UTF8);
            }
            self.content = hash(&raw.bytes, &raw.ends);
            self.text.clear();
            self.ends.clear();
            self.ends.resize(order.len(), 0);
        }
    }

    /// False where a character is torn between two cells.
    fn fill(&mut self, text: &str, ends: &[usize], order: &[usize]) -> bool {
        for &column in order {
            let start = if column == 0 { 0 } else { ends[column - 1] };
            let Some(cell) = text.get(start..ends[column]) else { return false };
            self.text.push_str(trimmed(cell));
            self.ends.push(self.text.len());
        }
        true
    }
}

/// One row of a source.
pub struct Row<'a> {
    pub(super) cells: &'a Arranged,
    pub(super) wanted: &'a [usize],
    pub(super) file: usize,
    pub(super) line: u64,
    pub(super) share: f64,
}

impl Row<'_> {
    /// The file it comes from, as a position in [`Source::files`](super::Source::files).
    pub fn file(&self) -> usize {
        self.file
    }

    /// The line or row, as the file's own tools count it: text as an editor shows it and sheets as a spreadsheet does,
    /// from 1 with the header; Parquet and frames from 0.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Why the row cannot be used; its cells are then empty.
    pub fn fault(&self) -> Option<&str> {
        Some(self.cells.fault.as_str()).filter(|fault| !fault.is_empty())
    }

    /// The cell of the `k`-th wanted column, trimmed.
    ///
    /// # Panics
    /// Panics where fewer columns are wanted.
    pub fn cell(&self, k: usize) -> &str {
        let column = self.wanted[k];
        let start = if column == 0 { 0 } else { self.cells.ends[column - 1] };
        &self.cells.text[start..self.cells.ends[column]]
    }

    /// A hash of all cells of the row, wanted or not: rows with the same hash say the same.
    pub fn content(&self) -> u64 {
        self.cells.content
    }

    /// How much of the source has been read, in [0, 1].
    pub fn share_read(&self) -> f64 {
        self.share
    }
}

/// Of the text and of where it is divided.
fn hash(text: &[u8], ends: &[usize]) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let division = ends.iter().fold(0_u64, |sum, end| (sum ^ *end as u64).wrapping_mul(STEP).rotate_left(29));
    xxh3_64(text) ^ division
}

/// Text without what has no ink at its ends.
pub(super) fn trimmed(cell: &str) -> &str {
    match cell.as_bytes() {
        [] => cell,
        [only] if is_ink(*only) => cell,
        [first, .., last] if is_ink(*first) && is_ink(*last) => cell,
        _ => cell.trim_matches(is_air),
    }
}

fn is_ink(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~')
}

fn is_air(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(cells: &[&str]) -> u64 {
        let (mut raw, mut row) = (Raw::default(), Arranged::default());
        cells.iter().for_each(|cell| raw.push(cell));
        row.take(&raw, &(0..cells.len()).collect::<Vec<_>>(), cells.len());
        row.content
    }

    #[test]
    fn content_differs_where_a_cell_does() {
        assert_eq!(content(&["ab", "c"]), content(&[" ab", "c\u{a0}"]));
        let others: [&[&str]; 5] = [&["a", "bc"], &["ab", "C"], &["abc", ""], &["", "abc"], &["ab", "c", ""]];
        for other in others {
            assert_ne!(content(&["ab", "c"]), content(other), "{other:?}");
        }
    }

    #[test]
    fn a_character_torn_between_cells_is_a_fault() {
        let raw = Raw { bytes: "é".into(), ends: vec![1, 2], ..Raw::default() };
        let mut row = Arranged::default();
        row.take(&raw, &[0, 1], 2);
        assert_eq!((row.fault.as_str(), &row.ends[..]), (NO_UTF8, &[0, 0][..]));
    }
}
