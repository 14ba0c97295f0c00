//! What was logged, one byte for each trajectory, step and person.
//!
//! Cells stand in pages, one for each trajectory and step of an instance: `[J][T][N]`. A page is made when the first row of its step
//! comes, so that neither the number of trajectories nor that of steps need be known, and steps of which nobody speaks take
//! nothing. Rows are checked on all threads and placed in the order of the file, so that of two faults the first one is told.

use super::cell::{NO_ROW, action, state};
use super::people::People;
use super::rows::{CheckedRows, Checks};
use crate::error::Result;
use crate::memory::require;
use crate::study::StudySettings;
use crate::study::arms::Roster;
use crate::study::fingerprint::sums::{self, Bytes};
use crate::study::table::{Batch, Origin, Table};
use crate::study::trajectories::{self, ASKED, FEWER_STEPS};
use rayon::prelude::*;
use std::path::Path;

/// Rows that one thread checks at a time.
const ROWS: usize = 1 << 13;
/// People whose logs are hashed at a time.
const PEOPLE: usize = 1 << 12;

/// The log of all instances.
pub(super) struct Log {
    /// by instance
    pub(super) instances: Vec<InstanceLog>,
    pub(super) has_propensity: bool,
    pub(super) has_reward: bool,
    pub(super) known_propensities: usize,
    /// sums of propensities and rewards by step, counted from 0
    pub(super) values: Vec<u128>,
}

/// The log of one instance.
pub(super) struct InstanceLog {
    /// `[J]`, from the first to the latest
    pub(super) names: Vec<String>,
    /// T
    pub(super) steps: usize,
    /// `[J][T][N]`; a page of nobody is empty, and there may be fewer than T
    pages: Vec<Vec<Vec<u8>>>,
}

impl InstanceLog {
    /// The cells of a step; none where nobody has any.
    pub(super) fn page(&self, j: usize, t: usize) -> Option<&[u8]> {
        self.pages[j].get(t).filter(|page| !page.is_empty()).map(Vec::as_slice)
    }

    /// The cell of a person, by the number in the instance.
    #[inline]
    pub(super) fn cell(&self, j: usize, t: usize, i: usize) -> u8 {
        self.pages[j].get(t).and_then(|page| page.get(i)).copied().unwrap_or(NO_ROW)
    }
}

/// Trajectories while rows are placed.
#[derive(Default)]
struct Growing {
    names: Roster,
    order: Vec<f64>,
    pages: Vec<Vec<Vec<u8>>>,
}

struct Placing<'a> {
    checks: Checks<'a>,
    instances: Vec<Growing>,
    /// cells that there may be, and those made room for since it was last asked whether memory has it
    room: u64,
    unasked: u64,
    /// the smallest step
    first: usize,
    values: Vec<u128>,
    known_propensities: usize,
}

impl Log {
    pub(super) fn read(path: &Path, people: &People, settings: &StudySettings) -> Result<Self> {
        let table = Table::open(Origin::File(path))?;
        let (columns, wanted) = trajectories::find_columns(&table, settings)?;
        table.check(&wanted)?;
        if columns.instance.is_none() && people.instances.len() > 1 {
            table.need("instance")?;
        }
        let room = trajectories::room(&table);
        let mut ahead = table.decode_ahead(wanted, None, None)?;
        let mut placing = Placing {
            checks: Checks { path, people, columns: &columns },
            instances: people.instances.iter().map(|_| Growing::default()).collect(),
            room,
            unasked: 0,
            first: usize::MAX,
            values: Vec::new(),
            known_propensities: 0,
        };
        // rows are placed while those of the next batch are checked
        let checks = placing.checks;
        let mut before: Option<(Batch, Vec<CheckedRows>)> = None;
        loop {
            let next = ahead.next_batch().map_err(trajectories::explained);
            let check = || -> Vec<CheckedRows> {
                let Ok(Some(batch)) = &next else { return Vec::new() };
                let starts: Vec<usize> = (0..batch.rows).step_by(ROWS).collect();
                let check = |start: &usize| checks.check(batch, *start..batch.rows.min(start + ROWS));
                starts.par_iter().map(check).collect()
            };
            let place = || {
                before.iter().try_for_each(|(batch, checked)| {
                    checked.iter().try_for_each(|rows| placing.place(batch, rows))
                })
            };
            let (placed, checked) = rayon::join(place, check);
            placed?;
            match next? {
                Some(batch) => before = Some((batch, checked)),
                None => break,
            }
        }
        let has = [columns.propensity, columns.reward].map(|column| column.is_some());
        placing.finish(has)
    }

    /// The sum of the hashes of everybody's log.
    pub(super) fn sum(&self, people: &People) -> u128 {
        let some = |first: usize| {
            let mut bytes = Bytes::default();
            (first..people.len().min(first + PEOPLE)).fold(0u128, |sum, position| {
                let (k, i) = people.place(position);
                let log = &self.instances[k];
                let cell = |j, t| {
                    let cell = log.cell(j, t, i);
                    (state(cell), action(cell))
                };
                let shape = (log.names.len(), log.steps);
                sum.wrapping_add(bytes.log(&people.instances[k], people.name(position), shape, cell))
            })
        };
        let sums = (0..people.len()).into_par_iter().step_by(PEOPLE).map(some);
        sums.reduce(|| 0, u128::wrapping_add)
    }
}

impl Placing<'_> {
    /// Puts rows in their places, in the order of the file.
    fn place(&mut self, batch: &Batch, rows: &CheckedRows) -> Result<()> {
        let checks = self.checks;
        let end = rows.start + rows.cells.len();
        for (r, run) in rows.runs.iter().enumerate() {
            let next = rows.runs.get(r + 1).map_or(end, |next| next.row).min(end);
            if run.row >= next {
                continue;
            }
            let growing = &mut self.instances[run.instance];
            let name = batch.cells[trajectories::row::TRAJECTORY].text(run.row);
            let j = growing.names.find_or_add(name);
            if j == growing.order.len() {
                growing.order.push(run.order);
                growing.pages.push(Vec::new());
            }
            if growing.order[j] != run.order {
                return Err(checks.row(batch, run.row).other_order(run.order, growing.order[j]));
            }
            let n = checks.people.counts[run.instance];
            for row in run.row..next {
                let at = row - rows.start;
                let t = usize::from(rows.steps[at]);
                let i = checks.people.place(rows.positions[at] as usize).1;
                let pages = &mut self.instances[run.instance].pages[j];
                let is_there = pages.get(t).is_some_and(|page| !page.is_empty());
                if !is_there {
                    self.make_page((run.instance, j, t), n, batch, row)?;
                }
                let cell = &mut self.instances[run.instance].pages[j][t][i];
                if *cell != NO_ROW {
                    return Err(checks.row(batch, row).second());
                }
                *cell = rows.cells[at];
            }
        }
        if rows.is_faulty {
            checks.fault(batch, end)?;
            return Err(checks.unexplained(batch, end));
        }
        let first = rows.steps.iter().min().map_or(usize::MAX, |t| usize::from(*t));
        self.first = self.first.min(first);
        sums::add(&mut self.values, &rows.values);
        self.known_propensities += rows.known_propensities;
        Ok(())
    }

    /// Makes room for a step.
    fn make_page(
        &mut self,
        (k, j, t): (usize, usize, usize),
        n: usize,
        batch: &Batch,
        row: usize,
    ) -> Result<()> {
        let pages = &mut self.instances[k].pages[j];
        if t >= pages.len() {
            let more = ((t + 1 - pages.len()) * n) as u64;
            if more > self.room {
                return Err(self.checks.row(batch, row).refused("t", t.to_string(), FEWER_STEPS));
            }
            self.room -= more;
            pages.resize(t + 1, Vec::new());
        }
        self.unasked += n as u64;
        if self.unasked >= ASKED {
            let what = format!("{} more records, one per step and arm", self.unasked);
            require(self.checks.path.display(), what, self.unasked as f64)?;
            self.unasked = 0;
        }
        pages[t] = vec![NO_ROW; n];
        Ok(())
    }

    fn finish(self, [has_propensity, has_reward]: [bool; 2]) -> Result<Log> {
        let Self { checks: Checks { path, people, .. }, first, known_propensities, mut values, .. } = self;
        if first > 1 {
            return Err(trajectories::late(path, first));
        }
        values.drain(..first.min(values.len()));
        let mut instances = Vec::new();
        for (k, mut growing) in self.instances.into_iter().enumerate() {
            let steps = growing.pages.iter().map(Vec::len).max().unwrap_or(0);
            if steps <= first {
                return Err(trajectories::no_rows(path, &people.instances[k]));
            }
            let order = trajectories::in_order(&growing.names, &growing.order);
            let names = order.iter().map(|number| growing.names.name(*number).to_string()).collect();
            let pages = order.iter().map(|number| {
                let mut pages = std::mem::take(&mut growing.pages[*number]);
                pages.drain(..first.min(pages.len()));
                pages
            });
            instances.push(InstanceLog { names, steps: steps - first, pages: pages.collect() });
        }
        Ok(Log { instances, has_propensity, has_reward, known_propensities, values })
    }
}
