//! One row of the trajectories: where it belongs, what it says, and how a message names it.

use crate::error::{Error, Place, Result};
use crate::names::{SHORTER, too_long};
use crate::show;
use crate::study::arms::{Arms, expected_name};
use crate::study::table::Batch;
use restive::instance::{NO_ACTION, UNSEEN};
use std::path::Path;

/// The largest step.
pub(in crate::study) const LAST_STEP: f64 = 65_535.0;

/// The wanted columns, in this order; optional ones follow.
pub(in crate::study) const TRAJECTORY: usize = 0;
pub(in crate::study) const T: usize = 1;
pub(in crate::study) const ARM: usize = 2;
pub(in crate::study) const STATE: usize = 3;
pub(in crate::study) const ACTION: usize = 4;

/// Expected content of the column `available`.
pub(super) const AVAILABLE: &str = "0 or 1";

/// Where the optional columns stand among the wanted ones, and what cells may hold.
pub(in crate::study) struct Columns {
    pub(in crate::study) instance: Option<usize>,
    pub(in crate::study) propensity: Option<usize>,
    pub(in crate::study) reward: Option<usize>,
    pub(in crate::study) order: Option<usize>,
    pub(in crate::study) available: Option<usize>,
    pub(in crate::study) last_state: Option<usize>,
    pub(in crate::study) since: Option<usize>,
    /// M
    pub(in crate::study) states: usize,
    /// the labels that a chain may have, where states are seen at pulls only
    pub(in crate::study) chain: Option<usize>,
}

impl Columns {
    /// Bytes that a cell of a trajectory takes while it is read.
    pub(super) fn bytes(&self) -> f64 {
        let optional = [(self.since, 4.0), (self.propensity, 8.0), (self.reward, 8.0), (self.available, 1.0)];
        3.0 + optional.iter().filter(|(column, _)| column.is_some()).map(|(_, bytes)| bytes).sum::<f64>()
    }
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub(in crate::study) struct RowCells<'a> {
    pub(in crate::study) path: &'a Path,
    pub(in crate::study) columns: &'a Columns,
    pub(in crate::study) batch: &'a Batch,
    pub(in crate::study) row: usize,
}

/// What a row says, checked.
pub(in crate::study) struct LoggedRow<'a> {
    /// the number of the instance
    pub(in crate::study) k: usize,
    /// the number of the arm in the instance
    pub(in crate::study) i: usize,
    pub(in crate::study) trajectory: &'a str,
    pub(in crate::study) t: usize,
    pub(in crate::study) state: u16,
    pub(in crate::study) action: u8,
    /// the last state that was seen and the steps since, where the row says so
    pub(in crate::study) label: Option<(u16, u16)>,
    pub(in crate::study) propensity: f64,
    pub(in crate::study) reward: f64,
    /// Whether the arm could be pulled; true if the table has no such column.
    pub(in crate::study) is_available: bool,
    /// when the trajectory comes among the others; 0 where the table does not say
    pub(in crate::study) order: f64,
}

impl<'a> RowCells<'a> {
    fn text(self, column: usize) -> &'a str {
        self.batch.cells[column].text(self.row)
    }

    fn number(self, column: usize) -> f64 {
        self.batch.cells[column].number(self.row)
    }

    /// NaN where there is no such column.
    fn optional(self, column: Option<usize>) -> f64 {
        column.map_or(f64::NAN, |column| self.number(column))
    }

    /// A fault in a column of this row.
    pub(in crate::study) fn refused(self, column: &str, found: String, expected: impl Into<String>) -> Error {
        let arm = Some(self.text(ARM).to_string()).filter(|name| !name.is_empty());
        let mut place = format!("{}, column {column}", Place { row: self.batch.row(self.row), arm });
        if let Some(instance) = self.columns.instance.filter(|_| column != "instance") {
            place += &format!(", instance {}", show::name(self.text(instance)));
        }
        if !matches!(column, "instance" | "arm" | "trajectory" | "t") {
            place += &format!(", trajectory {}, t {}", show::name(self.text(TRAJECTORY)), self.number(T));
        }
        Error::content(self.path, place, found, expected)
    }

    /// There is a row of the same instance, trajectory, step and arm.
    pub(in crate::study) fn second(self) -> Error {
        self.refused("state", "a second row".into(), "one row per instance, trajectory, t and arm")
    }

    /// The trajectory has another number in `order` than its first row had.
    pub(in crate::study) fn other_order(self, found: f64, first: f64) -> Error {
        self.refused("order", found.to_string(), format!("{first}, as in other rows of the trajectory"))
    }

    /// Checks every cell on its own; what holds between rows is checked when all have been placed.
    pub(super) fn check(self, arms: &mut Arms) -> Result<LoggedRow<'a>> {
        let (k, i) = self.arm(arms)?;
        self.check_cells(k, i)
    }

    /// The same, of a row whose instance and arm have been found.
    pub(in crate::study) fn check_cells(self, k: usize, i: usize) -> Result<LoggedRow<'a>> {
        let Columns { states, chain, .. } = *self.columns;
        let (trajectory, t) = (self.text(TRAJECTORY), self.number(T));
        if trajectory.is_empty() {
            return Err(self.refused("trajectory", named(""), "a name"));
        }
        if too_long(trajectory).is_some() {
            return Err(self.refused("trajectory", named(trajectory), SHORTER));
        }
        if !(t.fract() == 0.0 && (0.0..=LAST_STEP).contains(&t)) {
            let expected = format!("a step, a whole number from 0 to {LAST_STEP}");
            return Err(self.refused("t", shown(t), expected));
        }
        let (state, action) = (self.number(STATE), self.number(ACTION));
        if !is_below(state, states) {
            let expected = format!("a state from 0 to {} or an empty cell", states - 1);
            return Err(self.refused("state", shown(state), expected));
        }
        if chain.is_some() {
            let expected = match (action == 1.0, state.is_nan()) {
                (false, false) => Some("an empty cell: where the arm was not pulled, its state was not seen"),
                (true, true) => Some("the state that the pull saw"),
                _ => None,
            };
            if let Some(expected) = expected {
                return Err(self.refused("state", shown(state), expected));
            }
        }
        if !is_below(action, 2) {
            return Err(self.refused("action", shown(action), "0, 1 or an empty cell"));
        }
        let is_available = self.is_available()?;
        if !is_available && action == 1.0 {
            let expected = "0 or an empty cell: available = 0 says that the arm could not be pulled";
            return Err(self.refused("action", shown(action), expected));
        }
        let propensity = if is_available { self.optional(self.columns.propensity) } else { 1.0 };
        let is_probability = propensity.is_nan() || (propensity > 0.0 && propensity <= 1.0);
        if self.columns.propensity.is_some() && !action.is_nan() && !is_probability {
            let expected =
                "above 0 and at most 1 for an action that was taken, or an empty cell where it is not known";
            return Err(self.refused("propensity", shown(propensity), expected));
        }
        let reward = self.optional(self.columns.reward);
        if reward.is_infinite() {
            return Err(self.refused("reward", shown(reward), "a finite number or an empty cell"));
        }
        let order = self.columns.order.map_or(0.0, |column| self.number(column));
        if !order.is_finite() {
            let expected = "a number that says when the trajectory comes among the others";
            return Err(self.refused("order", shown(order), expected));
        }
        Ok(LoggedRow {
            k,
            i,
            trajectory,
            t: t as usize,
            state: if state.is_nan() { UNSEEN } else { state as u16 },
            action: if action.is_nan() { NO_ACTION } else { action as u8 },
            label: self.label()?,
            propensity,
            reward,
            is_available,
            order: order + 0.0,
        })
    }

    fn is_available(self) -> Result<bool> {
        let Some(column) = self.columns.available else { return Ok(true) };
        match self.number(column) {
            0.0 => Ok(false),
            1.0 => Ok(true),
            found => Err(self.refused("available", shown(found), AVAILABLE)),
        }
    }

    /// The numbers of the instance and the arm.
    fn arm(self, arms: &mut Arms) -> Result<(usize, usize)> {
        let k = match self.columns.instance {
            None => 0,
            Some(column) => {
                let instance = self.text(column);
                arms.instances.find(instance).ok_or_else(|| self.unknown_instance(arms.instances.names()))?
            }
        };
        let arm = self.text(ARM);
        let i = arms.arms[k].find(arm).ok_or_else(|| self.unknown_arm(arms.arms[k].names()))?;
        Ok((k, i))
    }

    /// The instance is none of these.
    pub(in crate::study) fn unknown_instance<'b>(self, names: impl Iterator<Item = &'b str>) -> Error {
        let instance = self.columns.instance.map_or("", |column| self.text(column));
        let expected = expected_name(instance, "an instance of the table of arms", names);
        self.refused("instance", named(instance), expected)
    }

    /// The arm is none of these.
    pub(in crate::study) fn unknown_arm<'b>(self, names: impl Iterator<Item = &'b str>) -> Error {
        let arm = self.text(ARM);
        let expected = expected_name(arm, "an arm of the table of arms", names);
        self.refused("arm", format!("{}, an arm without features", named(arm)), expected)
    }

    /// The label, both of its parts or neither.
    fn label(self) -> Result<Option<(u16, u16)>> {
        let Columns { states, chain, .. } = *self.columns;
        let (last_state, since) = (self.optional(self.columns.last_state), self.optional(self.columns.since));
        if !is_below(last_state, states) || (last_state.is_nan() && !since.is_nan()) {
            let expected = format!("a state from 0 to {}, the last that was seen", states - 1);
            return Err(self.refused("last_state", shown(last_state), expected));
        }
        if let Some(chain) = chain
            && (!is_below(since, chain) || (since.is_nan() && !last_state.is_nan()))
        {
            let expected = format!(
                "a whole number from 0 to {} (a chain of {chain} labels), steps since last_state was seen",
                chain - 1
            );
            return Err(self.refused("since", shown(since), expected));
        }
        Ok((!since.is_nan()).then_some((last_state as u16, since as u16)))
    }
}

/// A whole number below `end`, or none.
fn is_below(x: f64, end: usize) -> bool {
    x.is_nan() || (x.fract() == 0.0 && (0.0..end as f64).contains(&x))
}

fn shown(x: f64) -> String {
    if x.is_nan() { "an empty cell".into() } else { x.to_string() }
}

fn named(name: &str) -> String {
    if name.is_empty() { "an empty cell".into() } else { show::quoted_name(name) }
}
