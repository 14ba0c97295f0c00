//! Numbers and words as bytes, there and back, for what partitions hand to whoever merges them: little-endian, a name in front,
//! lengths before what they count.
//!
//! Whoever reads does not trust: a name that is not expected, bytes that end too early or do not end are an
//! [error](Error::Unsuitable), and nothing is set aside for a length before its bytes are seen to be there.

use crate::error::{Error, Result};

/// Bytes that are written.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// With a name in front, which says what follows and in which version.
    pub(crate) fn new(name: &str) -> Self {
        let mut writer = Self(Vec::new());
        writer.text(name);
        writer
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.whole(count as u64);
    }

    pub(crate) fn whole(&mut self, whole: u64) {
        self.0.extend(whole.to_le_bytes());
    }

    pub(crate) fn number(&mut self, number: f64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len());
        numbers.iter().for_each(|x| self.number(*x));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes that are read.
pub(crate) struct Reader<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// What was written with this name.
    pub(crate) fn new(name: &'static str, bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Self { name, rest: bytes };
        if reader.text().ok().as_deref() != Some(name) {
            return Err(reader.refuse("others"));
        }
        Ok(reader)
    }

    /// What is wrong, where these bytes hold something that cannot be.
    pub(crate) fn refuse(&self, found: &str) -> Error {
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

    pub(crate) fn whole(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight")))
    }

    pub(crate) fn count(&mut self) -> Result<usize> {
        usize::try_from(self.whole()?).map_err(|_| self.refuse("a length that no memory has"))
    }

    pub(crate) fn number(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.take(8)?.try_into().expect("eight")))
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<f64>> {
        let length = self.count()?.checked_mul(8).ok_or_else(|| self.refuse("bytes that end too early"))?;
        let eights = self.take(length)?.chunks_exact(8);
        Ok(eights.map(|eight| f64::from_le_bytes(eight.try_into().expect("eight"))).collect())
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let length = self.count()?;
        let text = self.take(length)?.to_vec();
        String::from_utf8(text).map_err(|_| self.refuse("words that are not UTF-8"))
    }

    /// Nothing may follow.
    pub(crate) fn finish(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.refuse("more bytes than those")) }
    }
}
