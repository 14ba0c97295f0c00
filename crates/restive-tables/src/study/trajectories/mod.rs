//! `trajectories.{csv,parquet}`: what happened.
//!
//! Columns `instance` (may be left out where there is one), `trajectory`, `t`, `arm`, `state`, `action`, perhaps
//! `propensity` and `reward`; rows in any order. Steps count from 0 or from 1, whichever the smallest `t` of the file is.
//! Cells go straight to their place `[T,N]` of a growing trajectory, so that memory is that of the answer: 3 bytes per arm
//! and step, 8 more for each of propensity and reward. What has no row is unseen. Where states are seen at pulls only, the
//! columns `last_state` and `since` are read too (4 bytes more), and `labels` makes labels of them and of the actions.

mod find_row;
mod growing;
mod label_fault;
mod labels;
mod whole;

use super::arms::{Arms, ONLY};
use super::settings::{Rows, longest_chain};
use super::table::{Batch, Origin, Table, Want};
use super::{Behaviour, Settings};
use crate::error::{Error, Place, Result};
use growing::{Growing, NO_ROW, Run};
use restive::instance::{Chain, NO_ACTION, Observation, UNSEEN};
use std::path::Path;
use whole::{Read, Whole};

/// The largest step.
const LAST_STEP: f64 = 65_535.0;

struct Reader<'a> {
    path: &'a Path,
    arms: &'a mut Arms,
    states: usize,
    /// cells that there may be: a file of few rows must not claim all memory by one large step
    room: u64,
    first: usize,
    instances: Vec<Growing>,
    /// positions among the wanted columns
    instance: Option<usize>,
    propensity: Option<usize>,
    reward: Option<usize>,
    last_state: Option<usize>,
    since: Option<usize>,
    /// the labels that a chain may have, where states are seen at pulls only
    chain: Option<usize>,
}

/// The wanted columns, in this order; optional ones follow.
const TRAJECTORY: usize = 0;
const T: usize = 1;
const ARM: usize = 2;
const STATE: usize = 3;
const ACTION: usize = 4;

pub(super) fn read(
    origin: Origin<'_>,
    arms: &mut Arms,
    settings: &Settings,
    rows: Rows,
) -> Result<(Vec<Read>, Observation)> {
    let states = settings.reward.states();
    // an infinite chain without a number of labels has as many as there can be, until the longest gap is known
    let chain = settings.observation.chain().map(|chain| match chain {
        Chain::Infinite { beliefs: 0 } => longest_chain(states),
        chain => chain.beliefs(),
    });
    let path = origin.path();
    let mut table = Table::open(origin)?;
    let mut wanted = vec![(table.need("trajectory")?, Want::Name), (table.need("t")?, Want::Number)];
    wanted.push((table.need("arm")?, Want::Name));
    wanted.extend([(table.need("state")?, Want::Number), (table.need("action")?, Want::Number)]);
    if settings.behaviour == Behaviour::Logged {
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
    let [last_state, since] = ["last_state", "since"].map(|name| match chain {
        Some(_) => optional(name, Want::Number),
        None => None,
    });
    if let (Some(_), None) | (None, Some(_)) = (last_state, since) {
        table.need_because("last_state", "a label is both last_state and since")?;
        table.need_because("since", "a label is both last_state and since")?;
    }
    table.select(wanted)?;
    if instance.is_none() && arms.instances.len() > 1 {
        table.need("instance")?;
    }
    let room = 100_000_000 + 100 * table.most_rows();
    let instances = (0..arms.arms.len()).map(|_| Growing::default()).collect();
    let first = usize::MAX;
    let mut reader = Reader {
        path,
        arms,
        states,
        room,
        first,
        instances,
        instance,
        propensity,
        reward,
        last_state,
        since,
        chain,
    };
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
    };
    whole.assemble(instances)
}

/// Says of a word in the place of a number which numbers there are.
fn explained(error: Error) -> Error {
    match error {
        Error::Cell { path, place, column, found, .. } if matches!(&*column, "state" | "action") => {
            let expected = match &*column {
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
        let (path, text) = (self.path, |column: usize| batch.cells[column].text(row));
        let (arm, trajectory, t) = (text(ARM), text(TRAJECTORY), batch.cells[T].number(row));
        let instance = self.instance.map_or(ONLY, text);
        let bad = |column: &str, found: String, expected: String| {
            let arm = Some(arm.to_string()).filter(|name| !name.is_empty());
            let mut place = format!("{}, column {column}", Place { row: batch.row(row), arm });
            if column != "instance" && self.instance.is_some() {
                place += &format!(", instance {}", instance.escape_debug());
            }
            if !matches!(column, "instance" | "arm" | "trajectory" | "t") {
                place += &format!(", trajectory {}, t {t}", trajectory.escape_debug());
            }
            Error::content(path, place, found, expected)
        };
        let cell = |x: f64| if x.is_nan() { "an empty cell".into() } else { x.to_string() };
        let named = |name: &str| if name.is_empty() { "an empty cell".into() } else { format!("{name:?}") };

        let k = match self.instance {
            None => 0,
            Some(_) => match self.arms.instances.find(instance) {
                Some(k) => k,
                None => {
                    return Err(bad("instance", named(instance), "an instance of the table of arms".into()));
                }
            },
        };
        let n = self.arms.arms[k].len();
        let Some(i) = self.arms.arms[k].find(arm) else {
            return Err(bad(
                "arm",
                format!("{}, an arm without features", named(arm)),
                "an arm of the table of arms".into(),
            ));
        };
        if trajectory.is_empty() {
            return Err(bad("trajectory", named(""), "a name".into()));
        }
        if !(t.fract() == 0.0 && (0.0..=LAST_STEP).contains(&t)) {
            return Err(bad("t", cell(t), format!("a step, a whole number from 0 to {LAST_STEP}")));
        }
        let [state, action] = [STATE, ACTION].map(|column| batch.cells[column].number(row));
        let is_state = state.fract() == 0.0 && (0.0..self.states as f64).contains(&state);
        if !(is_state || state.is_nan()) {
            let expected = format!("a state from 0 to {} or an empty cell", self.states - 1);
            return Err(bad("state", cell(state), expected));
        }
        if self.chain.is_some() {
            let expected = match (action == 1.0, state.is_nan()) {
                (false, false) => Some("an empty cell: where the arm was not pulled, its state was not seen"),
                (true, true) => Some("the state that the pull saw"),
                _ => None,
            };
            if let Some(expected) = expected {
                return Err(bad("state", cell(state), expected.into()));
            }
        }
        if !(action == 0.0 || action == 1.0 || action.is_nan()) {
            return Err(bad("action", cell(action), "0, 1 or an empty cell".into()));
        }
        let propensity = self.propensity.map_or(f64::NAN, |column| batch.cells[column].number(row));
        let is_probability = propensity > 0.0 && propensity <= 1.0;
        if self.propensity.is_some() && !action.is_nan() && !is_probability {
            let expected = "above 0 and at most 1 for an action that was taken".into();
            return Err(bad("propensity", cell(propensity), expected));
        }
        let reward = self.reward.map_or(f64::NAN, |column| batch.cells[column].number(row));
        if reward.is_infinite() {
            return Err(bad("reward", cell(reward), "a finite number or an empty cell".into()));
        }
        let [last_state, since] = [self.last_state, self.since]
            .map(|column| column.map_or(f64::NAN, |column| batch.cells[column].number(row)));
        let is_below =
            |x: f64, end: usize| x.is_nan() || (x.fract() == 0.0 && (0.0..end as f64).contains(&x));
        if !is_below(last_state, self.states) || (last_state.is_nan() && !since.is_nan()) {
            let expected = format!("a state from 0 to {}, the last that was seen", self.states - 1);
            return Err(bad("last_state", cell(last_state), expected));
        }
        if let Some(chain) = self.chain
            && (!is_below(since, chain) || (since.is_nan() && !last_state.is_nan()))
        {
            let expected = format!(
                "a whole number from 0 to {} (a chain of {chain} labels), steps since last_state was seen",
                chain - 1
            );
            return Err(bad("since", cell(since), expected));
        }

        let growing = &mut self.instances[k];
        let j = growing.names.find_or_add(trajectory);
        if j == growing.runs.len() {
            growing.runs.push(Run::default());
        }
        let (run, t) = (&mut growing.runs[j], t as usize);
        let position = t * n + i;
        if position >= run.state.len() {
            let cells = (t + 1) * n;
            let more = (cells - run.state.len()) as u64;
            if more > self.room {
                let expected =
                    "steps that follow each other: far more steps than rows do not fit into memory";
                return Err(bad("t", t.to_string(), expected.into()));
            }
            self.room -= more;
            run.state.resize(cells, UNSEEN);
            run.action.resize(cells, NO_ROW);
            if self.since.is_some() {
                run.last_state.resize(cells, UNSEEN);
                run.since.resize(cells, UNSEEN);
            }
            if self.propensity.is_some() {
                run.propensity.resize(cells, f64::NAN);
            }
            if self.reward.is_some() {
                run.reward.resize(cells, f64::NAN);
            }
        }
        if run.action[position] != NO_ROW {
            let found = "a second row".to_string();
            let expected = "one row per instance, trajectory, t and arm".into();
            return Err(bad("state", found, expected));
        }
        self.first = self.first.min(t);
        run.state[position] = if state.is_nan() { UNSEEN } else { state as u16 };
        run.action[position] = if action.is_nan() { NO_ACTION } else { action as u8 };
        if self.since.is_some() && !since.is_nan() {
            (run.last_state[position], run.since[position]) = (last_state as u16, since as u16);
        }
        if self.propensity.is_some() {
            run.propensity[position] = propensity;
        }
        if self.reward.is_some() {
            run.reward[position] = reward;
        }
        Ok(())
    }
}
