//! Does a call act between its row and the next, as it should, or were states written one row off?
//!
//! The state of row t is known before the action of row t, which acts on the state of row t + 1. The natural mistake is to write the
//! outcome of week t beside the call of week t. Then the action seems to act on the state of its own row. Three slopes of a state's
//! worth on the action, each within trajectory, step, the state before it and the action before it, errors by arm:
//!
//! | slope | of | given | as it should be | states one row early | one row late |
//! |---|---|---|---|---|---|
//! | `here` | s_t on a_t | s_{t−1}, a_{t−1} | how calls were chosen: 0 by lot, below 0 where the worse off are called | the effect | 0 |
//! | `next` | s_{t+1} on a_t | s_t, a_{t−1} | the effect | 0 | how calls were chosen |
//! | `after` | s_{t+2} on a_t | s_t, s_{t+1}, a_{t+1} | 0 | 0 | the effect |
//!
//! **Choosing is no misalignment.** A choice by the state of row t moves `here`, in either direction. But it leaves no trace of the
//! state *before*: given s_t, the action does not depend on s_{t−1}. Of an outcome that is written too early, s_{t−1} is what the call
//! met, and given the outcome those who were called came from worse: the slope `before`, of s_{t−1} on a_t given s_t, is below 0. So
//! states are taken to stand one row early where `here` is above 0, `next` is less than half of it and clearly less, and `before` is
//! below 0. Without the last, and without an effect on the next state, there is a [doubt](AlignmentVerdict::Doubtful): those who are well
//! were called, or rows are off, and the log cannot tell.
//!
//! Decisions at which an arm was not available are left out.
//!
//! ```
//! use ndarray::Array3;
//! use rand::RngExt;
//! use restive::evidence::{Alignment, AlignmentVerdict};
//! use restive::instance::Logged;
//! use restive::random::stream;
//! use restive::Trajectories;
//!
//! let mut random = stream(1, &[]);
//! let (t, n) = (12, 500);
//! let action = Array3::from_shape_fn((1, t, n), |(_, t, _)| if t == 11 { u8::MAX } else { u8::from(random.random::<f64>() < 0.2) });
//! let mut state = Array3::<u16>::zeros((1, t, n));
//! for t in 1..t {
//!     for i in 0..n {
//!         let chance = 0.2 + 0.5 * f64::from(state[[0, t - 1, i]]) + 0.2 * f64::from(action[[0, t - 1, i]]);
//!         state[[0, t, i]] = u16::from(random.random::<f64>() < chance);
//!     }
//! }
//! let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)?;
//! let found = Alignment::new(&[&log], &[0.0, 1.0]);
//! assert_eq!(found.verdict(), AlignmentVerdict::AsItShould);
//! # Ok::<(), restive::Error>(())
//! ```

use super::cells::Cells;
use crate::instance::{NO_ACTION, Trajectories, UNSEEN};
use crate::statistics::{Within, WithinRow, within};

/// Errors that a slope must be away from 0.
const SURE: f64 = 3.5;
/// Errors that two slopes must be apart, and that `before` must be below 0.
const CLEAR: f64 = 2.5;

/// Slopes of states on actions, one row before, beside and after. None where nothing can be told of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// s_{t−1} on a_t, given s_t
    pub before: Option<Within>,
    /// s_t on a_t
    pub here: Option<Within>,
    /// s_{t+1} on a_t: the effect
    pub next: Option<Within>,
    /// s_{t+2} on a_t
    pub after: Option<Within>,
}

/// What the slopes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignmentVerdict {
    /// the state after a call is better, and no other row explains it
    AsItShould,
    /// nothing that depends on calls is seen in any row
    NothingSeen,
    /// the outcome of a call stands in the row of the call
    StatesEarly,
    /// the outcome of a call stands two rows below it
    StatesLate,
    /// either those who are well were called and calls do little, or outcomes stand in the row of their call
    Doubtful,
    /// the state after a call is worse, and no other row explains it
    Harm,
}

impl Alignment {
    /// Looks at logs of different people; `worth` is what each state is worth, `[M]`.
    pub fn new(logs: &[&Trajectories], worth: &[f64]) -> Self {
        let slope = |lag: Lag| within(&rows(logs, worth, lag)).ok();
        Self {
            before: slope(Lag::Before),
            here: slope(Lag::Here),
            next: slope(Lag::Next),
            after: slope(Lag::After),
        }
    }

    /// What the slopes say.
    pub fn verdict(&self) -> AlignmentVerdict {
        let is_above = |slope: &Option<Within>| slope.as_ref().is_some_and(|slope| slope.z() >= SURE);
        let is_most_of_it = |slope: &Option<Within>| match (slope, &self.next) {
            (Some(slope), Some(next)) => next.slope <= 0.5 * slope.slope && slope.less(next) >= CLEAR,
            (slope, _) => slope.is_some(),
        };
        let came_from_worse = self.before.as_ref().is_some_and(|before| before.z() <= -CLEAR);
        let next = self.next.as_ref().map_or(0.0, Within::z);
        match () {
            () if is_above(&self.here) && is_most_of_it(&self.here) && came_from_worse => {
                AlignmentVerdict::StatesEarly
            }
            () if is_above(&self.after) && is_most_of_it(&self.after) => AlignmentVerdict::StatesLate,
            () if next < CLEAR && is_above(&self.here) && is_most_of_it(&self.here) => {
                AlignmentVerdict::Doubtful
            }
            () if next <= -SURE => AlignmentVerdict::Harm,
            () if next >= CLEAR => AlignmentVerdict::AsItShould,
            () => AlignmentVerdict::NothingSeen,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Lag {
    Before,
    Here,
    Next,
    After,
}

/// The rows of one slope; clusters are arms, counted over all logs.
fn rows(logs: &[&Trajectories], worth: &[f64], lag: Lag) -> Vec<WithinRow> {
    let m = worth.len();
    let mut cells = Cells::new(if lag == Lag::After { m * m * 3 } else { m * 3 });
    let (mut rows, mut first) = (Vec::new(), 0);
    for log in logs {
        let (state, action) = (log.state(), log.action());
        let (trajectories, steps, n) = state.dim();
        for j in 0..trajectories {
            // the step t of the action and the steps around it that are needed
            let (from, to) = match lag {
                Lag::Before | Lag::Here => (1, steps),
                Lag::Next => (0, steps.saturating_sub(1)),
                Lag::After => (0, steps.saturating_sub(2)),
            };
            for t in from..to {
                cells.begin();
                for i in 0..n {
                    let a = action[[j, t, i]];
                    let seen = |t: usize| Some(state[[j, t, i]]).filter(|s| *s != UNSEEN).map(usize::from);
                    let acted = |t: usize| match action[[j, t, i]] {
                        NO_ACTION => 2,
                        a => usize::from(a),
                    };
                    let before = if t > 0 { acted(t - 1) } else { 2 };
                    let found = match lag {
                        Lag::Before => seen(t).zip(seen(t - 1)).map(|(s, y)| (3 * s + before, y)),
                        Lag::Here => seen(t - 1).zip(seen(t)).map(|(s, y)| (3 * s + before, y)),
                        Lag::Next => seen(t).zip(seen(t + 1)).map(|(s, y)| (3 * s + before, y)),
                        Lag::After => seen(t)
                            .zip(seen(t + 1))
                            .zip(seen(t + 2))
                            .map(|((s, next), y)| (3 * (s * m + next) + acted(t + 1), y)),
                    };
                    let is_row = a != NO_ACTION && log.is_available([j, t, i]);
                    if let Some((cell, y)) = found.filter(|_| is_row) {
                        rows.push(WithinRow {
                            group: cells.group(cell),
                            cluster: (first + i) as u32,
                            x: f64::from(a),
                            y: worth[y],
                        });
                    }
                }
            }
        }
        first += log.arms();
    }
    rows
}
