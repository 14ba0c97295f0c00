//! The trajectories of an instance while their rows are read, each `[T,N]` and as long as its last step so far.

use super::row::{Columns, LoggedRow};
use crate::by_name;
use crate::study::arms::Roster;
use restive::instance::{NO_ACTION, UNSEEN};

/// An action while no row has spoken of it: so that a second row is known for one.
pub(super) const NO_ROW: u8 = NO_ACTION - 1;

/// The trajectories of one instance while they are read.
#[derive(Default)]
pub(super) struct Growing {
    pub(super) names: Roster,
    /// when each of them comes, where the table says so; 0 for all of them otherwise
    pub(super) order: Vec<f64>,
    pub(super) runs: Vec<Run>,
}

impl Growing {
    /// The numbers of the trajectories in their order.
    pub(super) fn in_order(&self) -> Vec<usize> {
        in_order(&self.names, &self.order)
    }
}

/// The numbers of trajectories in their order: as the table says, equal ones by name.
pub(in crate::study) fn in_order(names: &Roster, order: &[f64]) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..order.len()).collect();
    let by_name = |a: usize, b: usize| by_name(names.name(a), names.name(b));
    numbers.sort_by(|&a, &b| order[a].total_cmp(&order[b]).then_with(|| by_name(a, b)));
    numbers
}

/// One trajectory, `[T,N]`.
#[derive(Default)]
pub(super) struct Run {
    /// what was seen at pulls, where states are seen at pulls only, until that has become labels
    pub(super) state: Vec<u16>,
    /// the label, in parts; empty where states are seen at every step or no row has a label
    pub(super) last_state: Vec<u16>,
    pub(super) since: Vec<u16>,
    pub(super) action: Vec<u8>,
    pub(super) propensity: Vec<f64>,
    pub(super) reward: Vec<f64>,
    /// Empty if the table has no such column.
    pub(super) is_available: Vec<bool>,
}

impl Run {
    /// Makes room for so many cells, of which nothing is known yet.
    pub(super) fn grow(&mut self, length: usize, columns: &Columns) {
        self.state.resize(length, UNSEEN);
        self.action.resize(length, NO_ROW);
        if columns.since.is_some() {
            self.last_state.resize(length, UNSEEN);
            self.since.resize(length, UNSEEN);
        }
        if columns.propensity.is_some() {
            self.propensity.resize(length, f64::NAN);
        }
        if columns.reward.is_some() {
            self.reward.resize(length, f64::NAN);
        }
        if columns.available.is_some() {
            self.is_available.resize(length, true);
        }
    }

    /// Writes a row to its place.
    pub(super) fn put(&mut self, position: usize, row: &LoggedRow<'_>, columns: &Columns) {
        (self.state[position], self.action[position]) = (row.state, row.action);
        if let Some(label) = row.label {
            (self.last_state[position], self.since[position]) = label;
        }
        if columns.propensity.is_some() {
            self.propensity[position] = row.propensity;
        }
        if columns.reward.is_some() {
            self.reward[position] = row.reward;
        }
        if columns.available.is_some() {
            self.is_available[position] = row.is_available;
        }
    }

    /// One more than the last step with a pull, of N arms.
    pub(super) fn decided(&self, n: usize) -> usize {
        self.action.iter().rposition(|a| *a == 1).map_or(0, |at| at / n + 1)
    }

    /// What has no row was left alone, up to the last step with a pull.
    pub(super) fn leave_alone(&mut self, first: usize, n: usize) {
        let decided = self.decided(n).max(first) * n;
        let steps = self.action.get_mut(first * n..decided).into_iter().flatten();
        steps.filter(|a| **a == NO_ROW).for_each(|a| *a = 0);
    }
}
