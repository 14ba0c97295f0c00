//! Arms from a NumPy array, `[N,M,2,M]` or, by name, `[N,2,M,M]`.
//!
//! Arrays in Fortran order are refused: their arms are scattered over the whole file, so that they cannot be
//! streamed.

use super::npy_header::Header;
use super::steady::Steady;
use super::{ArmBatch, ArmShape, batch_rows, check};
use crate::error::{Error, Place, Result, RowNumber};
use crate::foreign::{Wanted, refuse};
use crate::names::ArmNames;
use crate::show::{quoted, sentence};
use restive::Layout;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

pub(crate) struct NpyArms {
    path: PathBuf,
    pub(crate) states: usize,
    number: Number,
    layout: Layout,
    reader: BufReader<File>,
    pub(crate) steady: Steady,
    /// indices per state
    answers: usize,
    /// the bytes of the batch in hand
    bytes: Vec<u8>,
    /// arms in the batches that were handed out
    arms: u64,
    pub(crate) total: u64,
}

impl NpyArms {
    pub(crate) fn open(path: &Path, layout: Layout, answers: usize) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let size = file.metadata().map_err(Error::io(path, "open"))?.len();
        if size == 0 {
            return Err(Error::NoArms { path: path.into(), found: "an empty file" });
        }
        let steady = Steady::new(path, &file)?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        refuse(path, reader.fill_buf().map_err(Error::io(path, "read"))?, Wanted::Npy)?;
        let damaged = |found: String| Error::Damaged { path: path.into(), format: "NumPy", found };
        let header = Header::read(&mut reader).map_err(damaged)?;
        let wrong = |found: String, expected: &str| Error::Array {
            path: path.into(),
            found,
            expected: expected.into(),
        };
        let Some(number) = Number::of(&header.descr) else {
            return Err(wrong(
                format!("numbers of type {}", quoted(header.descr.as_bytes())),
                "float64 or float32",
            ));
        };
        let (states, expected) = match (layout, &header.shape[..]) {
            (Layout::Nsas, &[_, m, 2, next]) if m == next && m > 0 => (Some(m), ""),
            (Layout::Nass, &[_, 2, m, next]) if m == next && m > 0 => (Some(m), ""),
            (Layout::Nsas, &[_, 2, m, next]) if m == next => (
                None,
                "[N, M, 2, M] (arm, state, action, next state); if these axes are arm, action, state, next \
                        state, the layout is nass",
            ),
            (Layout::Nsas, _) => (None, "[N, M, 2, M] (arm, state, action, next state)"),
            (Layout::Nass, _) => (None, "[N, 2, M, M] (arm, action, state, next state)"),
        };
        let Some(states) = states else {
            return Err(wrong(format!("shape {}", sentence(&format!("{:?}", header.shape))), expected));
        };
        if header.is_fortran {
            return Err(wrong("Fortran order".into(), "C order (numpy.ascontiguousarray before numpy.save)"));
        }
        let total = header.shape[0] as u64;
        if total == 0 {
            return Err(Error::NoArms { path: path.into(), found: "an array without arms" });
        }
        let expected =
            header.shape.iter().try_fold(number.bytes() as u64, |n, &axis| n.checked_mul(axis as u64));
        let found = size.saturating_sub(header.bytes);
        if expected != Some(found) {
            let expected = expected.map_or("more than a file can hold".into(), |n| n.to_string());
            return Err(damaged(format!(
                "{found} bytes after the header, where shape {:?} takes {expected}",
                header.shape
            )));
        }
        Ok(Self {
            path: path.into(),
            states,
            number,
            layout,
            reader,
            steady,
            answers,
            bytes: Vec::new(),
            arms: 0,
            total,
        })
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<ArmBatch>> {
        let width = 2 * self.states * self.states;
        let rows =
            (batch_rows(width, self.answers * self.states) as u64).min(self.total - self.arms) as usize;
        if rows == 0 {
            return Ok(None);
        }
        self.bytes.resize(rows * width * self.number.bytes(), 0);
        self.reader.read_exact(&mut self.bytes).map_err(Error::io(&self.path, "read"))?;
        let raw = self.number.decode(&self.bytes);
        let first = self.arms;
        let shape = ArmShape::Full { states: self.states, layout: self.layout };
        let place = |i| Place { row: RowNumber::Arm(first + i as u64), arm: None };
        let probabilities = check(&self.path, raw, shape, place)?;
        self.arms += rows as u64;
        let share_read = self.arms as f64 / self.total as f64;
        Ok(Some(ArmBatch { names: ArmNames::Counted(first), probabilities, share_read }))
    }
}

/// How one number lies in the file.
#[derive(Clone, Copy)]
enum Number {
    F64Little,
    F64Big,
    F32Little,
    F32Big,
}

impl Number {
    fn of(descr: &str) -> Option<Self> {
        match descr {
            "<f8" => Some(Number::F64Little),
            ">f8" => Some(Number::F64Big),
            "<f4" => Some(Number::F32Little),
            ">f4" => Some(Number::F32Big),
            _ => None,
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Number::F64Little | Number::F64Big => 8,
            Number::F32Little | Number::F32Big => 4,
        }
    }

    fn decode(self, bytes: &[u8]) -> Vec<f64> {
        let (eights, _) = bytes.as_chunks::<8>();
        let (fours, _) = bytes.as_chunks::<4>();
        match self {
            Number::F64Little => eights.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            Number::F64Big => eights.iter().map(|b| f64::from_be_bytes(*b)).collect(),
            Number::F32Little => fours.iter().map(|b| f32::from_le_bytes(*b).into()).collect(),
            Number::F32Big => fours.iter().map(|b| f32::from_be_bytes(*b).into()).collect(),
        }
    }
}
