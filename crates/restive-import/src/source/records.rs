//! Rows of comma-separated text, with the line on which each begins.
//!
//! The parser of the `csv` package is driven by hand, for two reasons. A row's line must be the one that an editor shows,
//! with blank lines and quoted line breaks counted, and compressed text cannot be read a second time to find it: so line
//! ends between rows are taken here, before the parser sees them. And text that ends within quotes must be known from
//! text that ends: a last line break is given to the parser, which takes it for the end of the row only outside quotes.
//! A row may have 64 MiB; a longer one is a quotation mark that was left open.

use super::row::Raw;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::io::{self, ErrorKind, Read};

const LONGEST_ROW: usize = 64 << 20;
const BUFFER: usize = 1 << 18;

/// Why no more rows come.
pub(super) enum Stop {
    /// the text cannot be read on
    Io(io::Error),
    /// the row that begins on this line does not end
    Unending(u64),
}

pub(super) struct Records<'r> {
    text: &'r mut dyn Read,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_over: bool,
    parser: Reader,
    /// room for the cells of a row, and for their ends
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// the line of the byte at `start`, from 1
    line: u64,
    /// the last line ended with a carriage return, so that a line feed would belong to it
    after_return: bool,
}

impl<'r> Records<'r> {
    pub(super) fn new(text: &'r mut dyn Read) -> Self {
        Self {
            text,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            is_over: false,
            parser: Reader::new(),
            bytes: vec![0; 1 << 12],
            ends: vec![0; 64],
            line: 1,
            after_return: false,
        }
    }

    /// Before the first row.
    pub(super) fn set_dialect(&mut self, delimiter: u8, escape: Option<u8>) {
        self.parser = ReaderBuilder::new().delimiter(delimiter).escape(escape).build();
    }

    /// Leaves so many lines out, whatever is on them.
    pub(super) fn skip(&mut self, lines: usize) -> Result<(), Stop> {
        let first = self.line + lines as u64;
        while self.line < first && self.more()? {
            if !self.take_line_end() {
                (self.start, self.after_return) = (self.start + 1, false);
            }
        }
        Ok(())
    }

    /// The text from the next row on, as much of it as there is room for.
    pub(super) fn ahead(&mut self) -> Result<&[u8], Stop> {
        // what a decoder needs for one character
        const LEAST: usize = 64;
        self.skip_line_ends()?;
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while !self.is_over && self.buffer.len() - self.end >= LEAST {
            self.fill()?;
        }
        Ok(&self.buffer[..self.end])
    }

    /// The next row; false at the end.
    pub(super) fn next(&mut self, raw: &mut Raw) -> Result<bool, Stop> {
        if !self.skip_line_ends()? {
            return Ok(false);
        }
        raw.line = self.line;
        self.parser.set_line(self.line);
        let (mut bytes, mut ends, mut taken) = (0, 0, 0);
        loop {
            let is_last = !self.more()?;
            let input = if is_last { b"\n" } else { &self.buffer[self.start..self.end] };
            let (result, read, written, ended) =
                self.parser.read_record(input, &mut self.bytes[bytes..], &mut self.ends[ends..]);
            (bytes, ends, taken) = (bytes + written, ends + ended, taken + read);
            if !is_last {
                self.start += read;
            }
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::InputEmpty if is_last => return Err(Stop::Unending(raw.line)),
                ReadRecordResult::OutputFull => self.bytes.resize(self.bytes.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            }
            if taken > LONGEST_ROW {
                return Err(Stop::Unending(raw.line));
            }
        }
        raw.clear();
        raw.bytes.extend_from_slice(&self.bytes[..bytes]);
        raw.ends.extend_from_slice(&self.ends[..ends]);
        // the parser counts line feeds
        self.line = self.parser.line();
        self.after_return = self.start > 0 && self.buffer[self.start - 1] == b'\r';
        self.line += u64::from(self.after_return);
        Ok(true)
    }

    /// Takes line ends up to the next row; false at the end of the text.
    fn skip_line_ends(&mut self) -> Result<bool, Stop> {
        while self.more()? {
            if !self.take_line_end() {
                self.after_return = false;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a byte that is a line end or a part of one.
    fn take_line_end(&mut self) -> bool {
        match self.buffer[self.start] {
            b'\n' => self.line += u64::from(!self.after_return),
            b'\r' => self.line += 1,
            _ => return false,
        }
        self.after_return = self.buffer[self.start] == b'\r';
        self.start += 1;
        true
    }

    /// Whether there is another byte at `start`.
    fn more(&mut self) -> Result<bool, Stop> {
        if self.start == self.end && !self.is_over {
            (self.start, self.end) = (0, 0);
            self.fill()?;
        }
        Ok(self.start < self.end)
    }

    fn fill(&mut self) -> Result<(), Stop> {
        let count = loop {
            match self.text.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                answer => break answer.map_err(Stop::Io)?,
            }
        };
        self.end += count;
        self.is_over = count == 0;
        Ok(())
    }
}

/// The delimiter of a text by its first row: the one of which there are most outside quotes, or the one that makes so
/// many fields where their number is known. None where there is none of them.
pub(super) fn delimiter(text: &[u8], escape: Option<u8>, fields: Option<usize>) -> Option<u8> {
    const KNOWN: [u8; 4] = *b",;\t|";
    let (mut counts, mut is_quoted, mut is_escaped) = ([0; KNOWN.len()], false, false);
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            _ if is_quoted && Some(byte) == escape => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                if let Some(k) = KNOWN.iter().position(|known| *known == byte) {
                    counts[k] += 1;
                }
            }
        }
    }
    let fitting =
        fields.and_then(|fields| (0..KNOWN.len()).find(|k| counts[*k] > 0 && counts[*k] + 1 == fields));
    let most = (0..KNOWN.len()).rev().max_by_key(|k| counts[*k]).filter(|k| counts[*k] > 0);
    fitting.or(most).map(|k| KNOWN[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_told_by_the_first_row() {
        let cases: [(&[u8], Option<usize>, Option<u8>); 7] = [
            (b"a,b,c\n1;2;3;4;5", None, Some(b',')),
            (b"a;b,c;d", None, Some(b';')),
            (b"\"a,b,c,d\"\t\"e\"", None, Some(b'\t')),
            (b"\"a\n,,,\"|b\n", None, Some(b'|')),
            (b"a,b;c", None, Some(b',')),
            (b"alone", None, None),
            (b"12,5;13,5;14,5", Some(3), Some(b';')),
        ];
        for (text, fields, expected) in cases {
            assert_eq!(delimiter(text, None, fields), expected, "{}", text.escape_ascii());
        }
        assert_eq!(delimiter(br#""a\",\",\",";b"#, Some(b'\\'), None), Some(b';'));
    }
}
