//! The first arms of a file with their indices, for the eye.

use crate::shared::display::{Decimals, grouped, write_aligned};
use restive::index::{IndexStatus, Indices};
use restive_tables::ArmNames;
use restive_tables::show::cell;
use std::io::{self, Write};

/// States shown in full; of more, the first few and the last.
const STATES_SHOWN: usize = 8;

/// The first arms of a file, kept to be shown.
pub(crate) struct Preview {
    rows: usize,
    /// of the indices
    labels: Vec<String>,
    arms: Vec<Shown>,
}

/// One arm, kept to be shown.
struct Shown {
    name: String,
    index: Vec<f64>,
    last: Vec<f64>,
    is_indexable: &'static str,
    status: IndexStatus,
    residual: f64,
}

impl Preview {
    pub(crate) fn new(rows: usize, labels: Vec<String>) -> Self {
        Self { rows, labels, arms: Vec::new() }
    }

    pub(crate) fn add(&mut self, names: &ArmNames, solved: &Indices) {
        let room = self.rows.saturating_sub(self.arms.len());
        self.arms.extend((0..solved.status.len().min(room)).map(|i| Shown {
            name: names.name(i),
            index: solved.index.row(i).to_vec(),
            last: solved.last.row(i).to_vec(),
            is_indexable: match solved.verdict(i) {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            },
            status: solved.status[i],
            residual: solved.residual[i],
        }));
    }

    /// Writes the table, and how many arms it leaves out.
    pub(crate) fn write(&self, text: &mut Vec<u8>, arms: u64, is_verbose: bool) -> io::Result<()> {
        if self.arms.is_empty() {
            return Ok(());
        }
        let states = self.labels.len();
        let numbers = self.arms.iter().flat_map(|arm| arm.index.iter().chain(&arm.last));
        let decimals = Decimals::suiting(numbers.copied());
        let mut table = vec![header(&self.labels, is_verbose)];
        table.extend(self.arms.iter().map(|arm| {
            let mut row = vec![cell(&arm.name)];
            row.extend(by_state(states, |s| decimals.format(arm.index[s])));
            row.push(arm.is_indexable.into());
            if is_verbose {
                row.extend(by_state(states, |s| decimals.format(arm.last[s])));
                row.extend([arm.status.name().into(), residual(arm.residual)]);
            }
            row
        }));
        write_aligned(text, &table)?;
        match arms - self.arms.len() as u64 {
            0 => writeln!(text),
            more => writeln!(text, "… {} more; --out FILE writes all, --rows N shows more\n", grouped(more)),
        }
    }
}

fn header(labels: &[String], is_verbose: bool) -> Vec<String> {
    let states = labels.len();
    let mut header = vec!["arm".into()];
    header.extend(by_state(states, |s| format!("w_{}", labels[s])));
    header.push("is_indexable".into());
    if is_verbose {
        header.extend(by_state(states, |s| format!("last_{}", labels[s])));
        header.extend(["status".into(), "residual".into()]);
    }
    header
}

/// One cell per state, or dots in the place of those in the middle.
fn by_state(states: usize, cell: impl Fn(usize) -> String) -> Vec<String> {
    if states <= STATES_SHOWN {
        return (0..states).map(cell).collect();
    }
    let mut cells: Vec<String> = (0..STATES_SHOWN - 2).map(&cell).collect();
    cells.extend(["…".into(), cell(states - 1)]);
    cells
}

fn residual(residual: f64) -> String {
    if residual == 0.0 { "0".into() } else { format!("{residual:.1e}") }
}
