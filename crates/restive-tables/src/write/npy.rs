//! Indices as a NumPy array, `[N,M]` float64, and verdicts beside it, `[N]` bool.
//!
//! How many arms there are is known at the end, so the header is written with room to spare and again at the
//! end. Names have no place in an array: its rows are in the order of the input.

use crate::error::{Error, Result};
use crate::write::draft::Draft;
use restive::index::Indices;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// `w.npy` → `w.npy.verdict.npy`.
pub(crate) fn verdict_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".verdict.npy");
    name.into()
}

pub(crate) struct NpyIndices {
    indices: Draft,
    verdicts: Draft,
    states: usize,
    arms: usize,
    /// the numbers of the batch in hand
    bytes: Vec<u8>,
}

impl NpyIndices {
    pub(crate) fn create(path: &Path, states: usize) -> Result<Self> {
        let (indices, verdicts) = (Draft::create(path)?, Draft::create(&verdict_path(path))?);
        let mut new = Self { indices, verdicts, states, arms: 0, bytes: Vec::new() };
        new.write_headers()?;
        Ok(new)
    }

    fn write_headers(&mut self) -> Result<()> {
        self.indices.write(&header("<f8", &format!("({}, {})", self.arms, self.states)))?;
        self.verdicts.write(&header("|b1", &format!("({},)", self.arms)))
    }

    pub(crate) fn write(&mut self, solved: &Indices) -> Result<()> {
        self.bytes.clear();
        self.bytes.extend(solved.index.iter().flat_map(|w| w.to_le_bytes()));
        self.indices.write(&self.bytes)?;
        self.bytes.clear();
        let arms = solved.status.len();
        self.bytes.extend((0..arms).map(|i| u8::from(solved.verdict(i) == Some(true))));
        self.arms += arms;
        self.verdicts.write(&self.bytes)
    }

    pub(crate) fn finish(mut self) -> Result<[Draft; 2]> {
        for draft in [&mut self.indices, &mut self.verdicts] {
            let sought = draft.file().seek(SeekFrom::Start(0));
            sought.map_err(|answer| Error::Io { path: draft.path().into(), doing: "write", answer })?;
        }
        self.write_headers()?;
        Ok([self.indices, self.verdicts])
    }
}

/// A header of 128 bytes: room for any shape, and the numbers start on a multiple of 64 as NumPy likes them.
fn header(descr: &str, shape: &str) -> Vec<u8> {
    const BYTES: usize = 128;
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((BYTES as u16 - 10).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(BYTES - 1, b' ');
    header.push(b'\n');
    header
}
