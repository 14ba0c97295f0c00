//! `trajectories.{csv,parquet}`: what happened.
//!
//! Columns `instance` (may be left out where there is one), `trajectory`, `t`, `arm`, `state`, `action`, perhaps
//! `propensity`, `reward`, `available` and `order`; rows in any order. Steps count from 0 or from 1, whichever the smallest `t` of the file is.
//! Trajectories stand in the order of their [names](crate::by_name), or of the numbers in `order`, one for each trajectory.
//! Cells go straight to their place `[T,N]` of a growing trajectory, so that memory is that of the answer: 3 bytes per arm
//! and step, 8 more for each of propensity and reward, 1 for `available`. What has no row is unseen. Where states are seen at pulls only, the
//! columns `last_state` and `since` are read too (4 bytes more), and `labels` makes labels of them and of the actions.
//!
//! `available` is 0 or 1 in every row, the last step of a trajectory included: whether the arm could be pulled at that decision.
//! `action = 1` with `available = 0` is refused, and the propensity of such a row is not read. Steps without a row count as available.

mod find_row;
mod growing;
mod label_fault;
mod labels;
pub(super) mod row;
mod whole;

pub(super) use growing::in_order;
pub(super) use whole::{late, no_rows};

use super::arms::Arms;
use super::settings::{Rows, longest_chain};
use super::table::{Batch, Origin, Table, Want};
use super::{StudyBehaviour, StudySettings};
use crate::error::{Error, Result};
use crate::memory::require;
use growing::{Growing, NO_ROW, Run};
use restive::instance::{Chain, Observation};
use row::{AVAILABLE, Columns, RowCells};
use std::path::Path;
use whole::{Read, Whole};

/// What is expected where a step would take more memory than rows can account for.
pub(super) const FEWER_STEPS: &str =
    "steps that follow each other: far more steps than rows do not fit into memory";

/// Cells of trajectories for which it is asked whether memory has room.
pub(super) const ASKED: u64 = 1 << 20;

struct Reader<'a> {
    path: &'a Path,
    arms: &'a mut Arms,
    columns: Columns,
    /// cells that there may be: a file of few rows must not claim all memory by one large step
    room: u64,
    /// cells made room for since it was last asked whether memory has it
    unasked: u64,
    first: usize,
    instances: Vec<Growing>,
}

pub(super) fn read(
    origin: Origin<'_>,
    arms: &mut Arms,
    settings: &StudySettings,
    rows: Rows,
) -> Result<(Vec<Read>, Observation)> {
    let path = origin.path();
    let mut table = Table::open(origin)?;
    let (columns, wanted) = find_columns(&table, settings)?;
    table.select(wanted)?;
    if columns.instance.is_none() && arms.instances.len() > 1 {
        table.need("instance")?;
    }
    let (propensity, reward, available) = (columns.propensity, columns.reward, columns.available);
    let room = room(&table);
    let instances = (0..arms.arms.len()).map(|_| Growing::default()).collect();
    let first = usize::MAX;
    let mut reader = Reader { path, arms, columns, room, unasked: 0, first, instances };
    // one thread decodes the next batch while this one places the last
    std::thread::scope(|scope| {
        let (batches, placed) = std::sync::mpsc::sync_channel(2);
        let decoding = scope.spawn(move || {
            while let Some(batch) = table.next_batch().map_err(explained)? {
                if batches.send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        let placed =
            placed.iter().try_for_each(|batch| (0..batch.rows).try_for_each(|row| reader.place(&batch, row)));
        // a fault among the rows comes before one that the decoder met further down
        placed.and(decoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let Reader { arms, first, instances, .. } = reader;
    let whole = Whole {
        origin,
        arms,
        settings,
        rows,
        first,
        has_propensity: propensity.is_some(),
        has_reward: reward.is_some(),
        has_available: available.is_some(),
    };
    whole.assemble(instances)
}

/// The columns of a table of trajectories, and which of them are wanted.
pub(super) fn find_columns(table: &Table, settings: &StudySettings) -> Result<(Columns, Vec<(usize, Want)>)> {
    let states = settings.reward.states();
    // an infinite chain without a number of labels has as many as there can be, until the longest gap is known
    let chain = settings.observation.chain().map(|chain| match chain {
        Chain::Infinite { beliefs: 0 } => longest_chain(states),
        chain => chain.beliefs(),
    });
    let mut wanted = vec![(table.need("trajectory")?, Want::Name), (table.need("t")?, Want::Number)];
    wanted.push((table.need("arm")?, Want::Name));
    wanted.extend([(table.need("state")?, Want::Number), (table.need("action")?, Want::Number)]);
    if settings.behaviour == StudyBehaviour::Logged {
        table.need_because("propensity", "study.toml says behaviour = \"logged\"")?;
    }
    let mut optional = |name, want| {
        table.find(name).map(|column| {
            wanted.push((column, want));
            wanted.len() - 1
        })
    };
    let instance = optional("instance", Want::Name);
    let (propensity, reward) = (optional("propensity", Want::Number), optional("reward", Want::Number));
    let order = optional("order", Want::Number);
    let available = optional("available", Want::Number);
    let [last_state, since] = ["last_state", "since"].map(|name| match chain {
        Some(_) => optional(name, Want::Number),
        None => None,
    });
    if let (Some(_), None) | (None, Some(_)) = (last_state, since) {
        table.need_because("last_state", "a label is both last_state and since")?;
        table.need_because("since", "a label is both last_state and since")?;
    }
    if available.is_some() && chain.is_some() {
        let expected = "no such column with observation = \"collapsing\" in study.toml: availability requires observation = \"full\"";
        return Err(Error::content(&table.path, "", "a column available", expected));
    }
    let columns =
        Columns { instance, propensity, reward, order, available, last_state, since, states, chain };
    Ok((columns, wanted))
}

/// Cells that there may be.
pub(super) fn room(table: &Table) -> u64 {
    100_000_000 + 100 * table.most_rows()
}

/// Says of a word in the place of a number which numbers there are.
pub(super) fn explained(error: Error) -> Error {
    match error {
        Error::Cell { path, place, column, found, .. }
            if matches!(&*column, "state" | "action" | "available") =>
        {
            let expected = match &*column {
                "available" => AVAILABLE,
                "state" => "a number: the states are counted from 0, empty where it was not observed",
                _ => {
                    "a number: 0 for an arm left alone, 1 for one that was pulled, empty where none was taken"
                }
            };
            Error::Cell { path, place, column, found, expected }
        }
        other => other,
    }
}

impl Reader<'_> {
    fn place(&mut self, batch: &Batch, row: usize) -> Result<()> {
        let cells = RowCells { path: self.path, columns: &self.columns, batch, row };
        let logged = cells.check(self.arms)?;
        let (n, t) = (self.arms.arms[logged.k].len(), logged.t);
        let growing = &mut self.instances[logged.k];
        let j = growing.names.find_or_add(logged.trajectory);
        if j == growing.runs.len() {
            growing.runs.push(Run::default());
            growing.order.push(logged.order);
        }
        if growing.order[j] != logged.order {
            return Err(cells.other_order(logged.order, growing.order[j]));
        }
        let run = &mut growing.runs[j];
        let position = t * n + logged.i;
        if position >= run.state.len() {
            let length = (t + 1) * n;
            let more = (length - run.state.len()) as u64;
            if more > self.room {
                return Err(cells.refused("t", t.to_string(), FEWER_STEPS));
            }
            self.room -= more;
            self.unasked += more;
            if self.unasked >= ASKED {
                let what = format!("{} more records, one per step and arm", self.unasked);
                let needed = self.unasked as f64 * self.columns.bytes();
                require(self.path.display(), what, needed)?;
                self.unasked = 0;
            }
            run.grow(length, &self.columns);
        }
        if run.action[position] != NO_ROW {
            return Err(cells.second());
        }
        self.first = self.first.min(t);
        run.put(position, &logged, &self.columns);
        Ok(())
    }
}
