//! Indices as a NumPy array, `[N,M]` float64, and verdicts beside it, `[N]` bool.
//!
//! How many arms there are is known at the end, so the header is written with room to spare and again at the
//! end. Names have no place in an array: its rows are in the order of the input.

use crate::error::{Error, Result};
use crate::read::Header;
use crate::write::draft::Draft;
use crate::write::place::Own;
use restive::index::Indices;
use std::fs::File;
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
    pub(crate) fn create(path: &Path, replace: Option<Own>, states: usize) -> Result<Self> {
        let verdicts = Draft::create(&verdict_path(path), replace.map(|_| recognise_verdicts as Own))?;
        let indices = Draft::create(path, replace)?;
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

/// Refuses an array that is not one of indices with the verdicts beside it: an array has no names to be known by, but two
/// that belong together are no accident.
pub(crate) fn recognise(path: &Path) -> Result<()> {
    let (indices, verdicts) = (read_header(path)?, read_header(&verdict_path(path))?);
    let [arms, _] = indices.shape[..] else { return Err(foreign(path)) };
    let is_own = indices.descr == "<f8" && verdicts.descr == "|b1" && verdicts.shape == [arms];
    if is_own { Ok(()) } else { Err(foreign(path)) }
}

/// The same of the verdicts, which go where their indices go.
fn recognise_verdicts(path: &Path) -> Result<()> {
    let found = read_header(path)?;
    if found.descr == "|b1" && found.shape.len() == 1 { Ok(()) } else { Err(foreign(path)) }
}

fn read_header(path: &Path) -> Result<Header> {
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    Header::read(&mut file).map_err(|_| foreign(path))
}

fn foreign(path: &Path) -> Error {
    Error::content(path, "", "another array", "indices and verdicts of restive to replace")
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
