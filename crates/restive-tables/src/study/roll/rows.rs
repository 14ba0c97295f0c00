//! Rows of the trajectories, checked some at a time and on any thread: whose they are, and what they say, packed.
//!
//! The checks here say only that a row is at fault. The words come from the checks of a study that is read whole, of that row alone.

use super::cell::pack;
use super::people::{NOBODY, People};
use crate::error::{Error, Result};
use crate::study::fingerprint::sums::Bytes;
use crate::study::table::{Batch, Cells};
use crate::study::trajectories::row::{ACTION, ARM, Columns, RowCells, STATE, T, TRAJECTORY};
use arrow_array::Array;
use restive::instance::{NO_ACTION, UNSEEN};
use std::ops::Range;
use std::path::Path;

/// Some rows of a batch, up to the first that is at fault.
pub(super) struct CheckedRows {
    /// the row of the batch at which they start
    pub(super) start: usize,
    pub(super) positions: Vec<u32>,
    pub(super) steps: Vec<u16>,
    pub(super) cells: Vec<u8>,
    /// rows of one trajectory, from this row of the batch on
    pub(super) runs: Vec<CheckedRun>,
    /// a row at fault follows
    pub(super) is_faulty: bool,
    /// sums of propensities and rewards by step
    pub(super) values: Vec<u128>,
    /// actions whose propensity is known
    pub(super) known_propensities: usize,
}

/// Rows that follow each other and are of one trajectory.
pub(super) struct CheckedRun {
    pub(super) row: usize,
    pub(super) instance: usize,
    pub(super) order: f64,
}

/// What it takes to check rows.
#[derive(Clone, Copy)]
pub(super) struct Checks<'a> {
    pub(super) path: &'a Path,
    pub(super) people: &'a People,
    pub(super) columns: &'a Columns,
}

impl Checks<'_> {
    /// Checks some rows of a batch.
    pub(super) fn check(self, batch: &Batch, rows: Range<usize>) -> CheckedRows {
        let (start, columns) = (rows.start, self.columns);
        let instances = self.instances(batch, rows.clone());
        let known = instances.len();
        let arms = Texts::of(&batch.cells[ARM]);
        let mut positions = self.people.find_all(known, |i| (instances[i] as usize, arms.get(start + i)));
        let [t, state, action] = [T, STATE, ACTION].map(|c| numbers(&batch.cells[c]));
        let [propensity, reward, order] = [columns.propensity, columns.reward, columns.order]
            .map(|column| column.map(|column| numbers(&batch.cells[column])));
        let trajectory = Texts::of(&batch.cells[TRAJECTORY]);
        let mut checked = CheckedRows {
            start,
            positions: Vec::new(),
            steps: Vec::with_capacity(known),
            cells: Vec::with_capacity(known),
            runs: Vec::new(),
            is_faulty: false,
            values: Vec::new(),
            known_propensities: 0,
        };
        let mut bytes = Bytes::default();
        let mut last: (&[u8], usize, f64) = (&[], usize::MAX, 0.0);
        for i in 0..known {
            let row = start + i;
            let (t, s, a) = (t[row], state[row], action[row]);
            let (step, as_state, as_action) = (t as u16, s as u16, a as u8);
            let is_step = f64::from(step) == t;
            let is_state = s.is_nan() || (f64::from(as_state) == s && usize::from(as_state) < columns.states);
            let is_action = a.is_nan() || (f64::from(as_action) == a && as_action < 2);
            if positions[i] == NOBODY || !is_step || !is_state || !is_action {
                break;
            }
            let number = order.map_or(0.0, |order| order[row]);
            let run = (trajectory.get(row), instances[i] as usize, number);
            if run != last {
                if run.0.is_empty() || run.0.len() > crate::names::LONGEST || !number.is_finite() {
                    break;
                }
                checked.runs.push(CheckedRun { row, instance: run.1, order: number + 0.0 });
                last = run;
            }
            if propensity.is_some() || reward.is_some() {
                let p = propensity.map_or(f64::NAN, |all| all[row]);
                let p = if a.is_nan() { f64::NAN } else { p };
                let r = reward.map_or(f64::NAN, |all| all[row]);
                if !(p.is_nan() || (p > 0.0 && p <= 1.0)) || r.is_infinite() {
                    break;
                }
                checked.known_propensities += usize::from(!p.is_nan());
                let names = [
                    self.people.instances[instances[i] as usize].as_str(),
                    self.people.name(positions[i] as usize),
                    batch.cells[TRAJECTORY].text(row),
                ];
                let sum = bytes.values(names, p, r);
                if checked.values.len() <= usize::from(step) {
                    checked.values.resize(usize::from(step) + 1, 0);
                }
                let all = &mut checked.values[usize::from(step)];
                *all = all.wrapping_add(sum);
            }
            let as_state = if s.is_nan() { UNSEEN } else { as_state };
            checked.steps.push(step);
            checked.cells.push(pack(as_state, if a.is_nan() { NO_ACTION } else { as_action }));
        }
        checked.is_faulty = checked.cells.len() < rows.len();
        positions.truncate(checked.cells.len());
        checked.positions = positions;
        checked
    }

    /// The instances of rows, up to the first that names none.
    fn instances(self, batch: &Batch, rows: Range<usize>) -> Vec<u32> {
        let Some(column) = self.columns.instance else { return vec![0; rows.len()] };
        let mut last = None;
        let find = |row: usize| {
            let name = batch.cells[column].text(row);
            match last {
                Some((text, k)) if text == name => Some(k),
                _ => {
                    let k = self.people.find_instance(name)? as u32;
                    last = Some((name, k));
                    Some(k)
                }
            }
        };
        rows.map_while(find).collect()
    }

    /// What is wrong with a row.
    pub(super) fn fault(self, batch: &Batch, row: usize) -> Result<()> {
        let Self { path, people, columns } = self;
        let cells = RowCells { path, columns, batch, row };
        let k = match columns.instance {
            None => 0,
            Some(column) => people
                .find_instance(batch.cells[column].text(row))
                .ok_or_else(|| cells.unknown_instance(people.instances.iter().map(String::as_str)))?,
        };
        let Some(position) = people.find(k, batch.cells[ARM].text(row)) else {
            return Err(cells.unknown_arm(people.names_of(k)));
        };
        cells.check_cells(k, people.place(position).1).map(drop)
    }

    /// A row of a batch, for what is wrong between it and others.
    pub(super) fn row<'b>(self, batch: &'b Batch, row: usize) -> RowCells<'b>
    where
        Self: 'b,
    {
        RowCells { path: self.path, columns: self.columns, batch, row }
    }

    /// Where a row that failed has no fault that a study read whole would name: never, unless the two disagree.
    pub(super) fn unexplained(self, batch: &Batch, row: usize) -> Error {
        self.row(batch, row).refused("t", "a row that cannot be read".into(), "one that can")
    }
}

/// The cells of a column of text, where they are.
struct Texts<'a> {
    bytes: &'a [u8],
    offsets: &'a [i32],
    cells: &'a arrow_array::StringArray,
}

impl<'a> Texts<'a> {
    fn of(cells: &'a Cells) -> Self {
        let Cells::Text(cells) = cells else { unreachable!("a column of text") };
        Self { bytes: cells.value_data(), offsets: cells.value_offsets(), cells }
    }

    /// Empty where it is missing.
    #[inline]
    fn get(&self, row: usize) -> &'a [u8] {
        if self.cells.is_null(row) {
            return &[];
        }
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

fn numbers(cells: &Cells) -> &[f64] {
    match cells {
        Cells::Number(values) => values,
        Cells::Text(_) => unreachable!("a column of numbers"),
    }
}
