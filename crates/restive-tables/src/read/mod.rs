//! Arms come in here: a reader per format, all yielding the same checked batches.
//!
//! A batch holds about 4 MiB of probabilities, so memory does not depend on the number of arms. The readers put
//! raw numbers in place and know where each row stands in its file; [`check`] hands them to the library's border
//! and, when the library refuses an arm, says where in the file that arm is.

pub(crate) mod bounded;
pub(crate) mod csv;
mod npy;
mod npy_header;

pub(crate) use npy_header::Header;
pub(crate) mod parquet;
pub(crate) mod steady;
mod table;
pub(crate) mod whole;

pub use table::ParquetTable;

use crate::columns::Columns;
use crate::error::{Error, Place, Result};
use crate::format::Format;
use crate::memory::require;
use crate::names::ArmNames;
use arrow_schema::DataType;
use ndarray::{Array2, Array4};
use restive::index::two_state::Packing;
use restive::{CompactTransition, Layout, Transition};
use std::path::Path;

/// Reads a file of arms batch by batch, in the order of the file.
pub struct ArmReader {
    source: Source,
}

enum Source {
    Csv(Box<csv::CsvArms>),
    Parquet(Box<parquet::ParquetArms>),
    Npy(Box<npy::NpyArms>),
}

/// Some consecutive arms of a file, checked.
#[derive(Debug, Clone)]
pub struct ArmBatch {
    /// what the arms are called
    pub names: ArmNames,
    /// their transition probabilities
    pub probabilities: Probabilities,
    /// how much of the file has been read after this batch, from 0 to 1
    pub share_read: f64,
}

/// Checked transition probabilities, as compact as the file has them.
#[derive(Debug, Clone)]
pub enum Probabilities {
    /// two states, of which only the probabilities of moving to state 1 are given: `[N,4]`
    Compact(CompactTransition),
    /// any number of states: `[N,M,2,M]`
    Full(Transition),
}

impl Probabilities {
    /// N, the number of arms of the batch.
    pub fn arms(&self) -> usize {
        match self {
            Probabilities::Compact(arms) => arms.arms(),
            Probabilities::Full(arms) => arms.arms(),
        }
    }

    /// The batch in the full layout.
    pub fn into_full(self) -> Transition {
        match self {
            Probabilities::Full(arms) => arms,
            Probabilities::Compact(arms) => {
                let p = arms.view();
                let full = Array4::from_shape_fn((arms.arms(), 2, 2, 2), |(i, s, a, next)| {
                    let up = p[[i, 2 * s + a]];
                    if next == 1 { up } else { 1.0 - up }
                });
                Transition::new(full, Layout::Nsas).expect("p and 1 − p are a distribution")
            }
        }
    }
}

impl ArmReader {
    /// Opens a file and reads what comes before the arms: the header, the schema or the shape.
    ///
    /// `layout` is the order of the axes of a `.npy` array; the columns of a table have names instead.
    pub fn open(path: &Path, layout: Layout) -> Result<Self> {
        Self::open_for(path, layout, 1)
    }

    /// The same where each state of an arm will have so many indices: batches are as small as it takes for the answers, too, to
    /// stay within bounds.
    pub fn open_for(path: &Path, layout: Layout, answers: usize) -> Result<Self> {
        let source = match Format::of(path)? {
            Format::Csv => Source::Csv(Box::new(csv::CsvArms::open(path, answers)?)),
            Format::Parquet => Source::Parquet(Box::new(parquet::ParquetArms::open(path, answers)?)),
            Format::Npy => Source::Npy(Box::new(npy::NpyArms::open(path, layout, answers)?)),
        };
        let reader = Self { source };
        reader.refuse_giants(path, answers)?;
        Ok(reader)
    }

    /// Refuses arms of which a few do not fit into memory: a batch is being read while another is solved and a third written.
    fn refuse_giants(&self, path: &Path, answers: usize) -> Result<()> {
        const BATCHES: f64 = 4.0;
        let states = self.states();
        let width = self.columns().map_or(2.0 * (states as f64).powi(2), |columns| columns.width() as f64);
        let rows = self.most_arms().min(batch_rows(width as usize, answers.saturating_mul(states)) as f64);
        let what = format!("{rows} arms of {states} states at a time");
        require(path.display(), what, 8.0 * BATCHES * rows * width)
    }

    /// No fewer than the arms of the file, where that is known.
    fn most_arms(&self) -> f64 {
        match &self.source {
            Source::Csv(_) => f64::INFINITY,
            Source::Parquet(source) => source.total as f64,
            Source::Npy(source) => source.total as f64,
        }
    }

    /// The next arms of the file; `None` after the last. A file that changes meanwhile is refused.
    pub fn next_batch(&mut self) -> Result<Option<ArmBatch>> {
        match &mut self.source {
            Source::Csv(source) => {
                let said = source.next_batch();
                source.steady().vouch(said)
            }
            Source::Parquet(source) => {
                let said = source.next_batch();
                source.steady.vouch(said)
            }
            Source::Npy(source) => {
                let said = source.next_batch();
                source.steady.vouch(said)
            }
        }
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        match &self.source {
            Source::Csv(source) => source.columns.states,
            Source::Parquet(source) => source.columns.states,
            Source::Npy(source) => source.states,
        }
    }

    /// Whether the file names its arms.
    pub fn has_names(&self) -> bool {
        self.columns().is_some_and(|columns| columns.arm.is_some())
    }

    /// The columns of a table that are not used.
    pub fn ignored(&self) -> &[String] {
        self.columns().map_or(&[], |columns| &columns.ignored)
    }

    /// The type of the column `arm` of an output.
    pub fn arm_type(&self) -> DataType {
        match &self.source {
            Source::Csv(source) if source.columns.arm.is_some() => DataType::Utf8,
            Source::Parquet(source) => source.arm_type.clone().unwrap_or(DataType::Int64),
            Source::Csv(_) | Source::Npy(_) => DataType::Int64,
        }
    }

    fn columns(&self) -> Option<&Columns> {
        match &self.source {
            Source::Csv(source) => Some(&source.columns),
            Source::Parquet(source) => Some(&source.columns),
            Source::Npy(_) => None,
        }
    }
}

/// Arms per batch when each has `width` numbers, or so many answers: 4 MiB, at least a few so that threads have work.
fn batch_rows(width: usize, answers: usize) -> usize {
    const BATCH_BYTES: usize = 4 << 20;
    (BATCH_BYTES / 8 / width.max(answers)).max(16)
}

/// The axes of one arm of a raw batch.
#[derive(Clone, Copy)]
enum ArmShape {
    Compact,
    Full { states: usize, layout: Layout },
}

impl ArmShape {
    fn of(columns: &Columns) -> Self {
        match columns.packing {
            Packing::Compact => ArmShape::Compact,
            Packing::Full => ArmShape::Full { states: columns.states, layout: Layout::Nsas },
        }
    }
}

/// Hands raw numbers to the library's border; `place` says where in the file the arm at a position stands.
fn check(
    path: &Path,
    raw: Vec<f64>,
    shape: ArmShape,
    place: impl Fn(usize) -> Place,
) -> Result<Probabilities> {
    const WHOLE: &str = "whole arms";
    let checked = match shape {
        ArmShape::Compact => {
            let raw = Array2::from_shape_vec((raw.len() / 4, 4), raw).expect(WHOLE);
            CompactTransition::new(raw).map(Probabilities::Compact)
        }
        ArmShape::Full { states: m, layout } => {
            let arms = raw.len() / (2 * m * m);
            let axes = match layout {
                Layout::Nsas => (arms, m, 2, m),
                Layout::Nass => (arms, 2, m, m),
            };
            let raw = Array4::from_shape_vec(axes, raw).expect(WHOLE);
            Transition::new(raw, layout).map(Probabilities::Full)
        }
    };
    checked.map_err(|error| match error {
        restive::Error::Transition { arm, fault } => {
            Error::Transition { path: path.into(), place: place(arm), fault }
        }
        other => unreachable!("the shape was made here: {other}"),
    })
}
