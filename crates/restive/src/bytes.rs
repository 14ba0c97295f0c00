//! Numbers and words as bytes, there and back, for what partitions hand to whoever merges them: little-endian, a name in front,
//! lengths before what they count.
//!
//! Whoever reads does not trust: a name that is not expected, bytes that end too early or do not end are an
//! [error](Error::Unsuitable), and nothing is set aside for a length before its bytes are seen to be there.
//!
//! ```
//! use restive::bytes::{Reader, Writer};
//!
//! let mut writer = Writer::new("ages 1");
//! writer.text("district 4");
//! writer.numbers(&[24.0, 31.0]);
//! let bytes = writer.finish();
//! let mut reader = Reader::new("ages 1", &bytes)?;
//! assert_eq!((reader.text()?.as_str(), reader.numbers()?), ("district 4", vec![24.0, 31.0]));
//! reader.finish()?;
//! assert!(Reader::new("names 1", &bytes).is_err());
//! # Ok::<(), restive::Error>(())
//! ```

use crate::error::{Error, Result};

/// Bytes that are written.
pub struct Writer(Vec<u8>);

impl Writer {
    /// With a name in front, which says what follows and in which version.
    pub fn new(name: &str) -> Self {
        let mut writer = Self(Vec::new());
        writer.text(name);
        writer
    }

    /// How many there are of something.
    pub fn count(&mut self, count: usize) {
        self.whole(count as u64);
    }

    /// A whole number.
    pub fn whole(&mut self, whole: u64) {
        self.0.extend(whole.to_le_bytes());
    }

    /// A number.
    pub fn number(&mut self, number: f64) {
        self.0.extend(number.to_le_bytes());
    }

    /// Numbers, their count before them.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len());
        numbers.iter().for_each(|x| self.number(*x));
    }

    /// Words.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Other bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend(bytes);
    }

    /// All of it.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes that are read.
pub struct Reader<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// What was written with this name.
    pub fn new(name: &'static str, bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Self { name, rest: bytes };
        if reader.text().ok().as_deref() != Some(name) {
            return Err(reader.refuse("others"));
        }
        Ok(reader)
    }

    /// What is wrong, where these bytes hold something that cannot be.
    pub fn refuse(&self, found: &str) -> Error {
        let expected = format!("those of {}, whole and unchanged", self.name);
        Error::Unsuitable { what: "bytes", found: found.into(), expected }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.rest.len() {
            return Err(self.refuse("bytes that end too early"));
        }
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(taken)
    }

    /// A whole number.
    pub fn whole(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight")))
    }

    /// How many there are of something.
    pub fn count(&mut self) -> Result<usize> {
        usize::try_from(self.whole()?).map_err(|_| self.refuse("a length that no memory has"))
    }

    /// A number.
    pub fn number(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.take(8)?.try_into().expect("eight")))
    }

    /// Numbers.
    pub fn numbers(&mut self) -> Result<Vec<f64>> {
        let length = self.count()?.checked_mul(8).ok_or_else(|| self.refuse("bytes that end too early"))?;
        let eights = self.take(length)?.chunks_exact(8);
        Ok(eights.map(|eight| f64::from_le_bytes(eight.try_into().expect("eight"))).collect())
    }

    /// Words.
    pub fn text(&mut self) -> Result<String> {
        let text = self.bytes()?.to_vec();
        String::from_utf8(text).map_err(|_| self.refuse("words that are not UTF-8"))
    }

    /// Other bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.count()?;
        self.take(length)
    }

    /// Nothing may follow.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.refuse("more bytes than those")) }
    }
}
