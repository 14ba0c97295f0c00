//! `drift`: do people move as before? The worth of the next state, among people in the same state and with the same action, is compared
//! before and after every step, and at every step with all others. A cell (s, a) counts by n₁n₂/(n₁ + n₂). The largest difference in
//! standard errors is what is told; it must be large for the best of many, and large enough to matter.
//!
//! A step at which all next states are equal, of at least [`LEAST_SEEN`], while other steps have several, records one state only: it is left
//! out and named.

use super::finding::{Finding, Severity};
use super::log::{Log, seen};
use restive::instance::NO_ACTION;

const NAME: &str = "drift";
/// Standard errors that the best of some hundred differences must have.
const SURE: f64 = 4.5;
/// Points from which a change matters.
const MATTERS: f64 = 0.05;

/// States that are told apart.
const MOST: usize = 64;
/// Minimum number of equal next states of a step that is left out.
const LEAST_SEEN: f64 = 20.0;

/// Counts, sums and squares.
#[derive(Clone, Copy, Default)]
struct Sum {
    n: f64,
    y: f64,
    yy: f64,
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self { n: self.n + other.n, y: self.y + other.y, yy: self.yy + other.yy }
    }

    fn less(self, other: Self) -> Self {
        Self { n: self.n - other.n, y: self.y - other.y, yy: self.yy - other.yy }
    }
}

pub(super) fn drift(log: &Log<'_>) -> Finding {
    if !log.is_full {
        return Finding::collapsing(NAME);
    }
    let moments = log.moments();
    let steps = moments.iter().map(|moment| moment.steps).max().unwrap_or(1).saturating_sub(1);
    // neighbours share a cell where there are many states
    let cells = 2 * log.states.min(MOST);
    let cell =
        |s: usize, a: u8| 2 * if log.states > MOST { s * MOST / log.states } else { s } + usize::from(a);
    let mut by_step = vec![vec![Sum::default(); cells]; steps];
    let mut next_states = vec![NextStates::Unseen; steps];
    for moment in moments {
        let Some(next) = moment.next else { continue };
        for ((&s, &a), &next) in moment.state.iter().zip(&moment.action).zip(&next) {
            if let (Some(s), Some(next)) = (seen(s), seen(next))
                && a != NO_ACTION
            {
                next_states[moment.t] = next_states[moment.t].and(next);
                let y = log.worth[next];
                let sum = &mut by_step[moment.t][cell(s, a)];
                *sum = sum.plus(Sum { n: 1.0, y, yy: y * y });
            }
        }
    }
    let left_out = leave_out(&mut by_step, &next_states);
    let add =
        |all: Vec<Sum>, more: &Vec<Sum>| all.iter().zip(more).map(|(a, b)| a.plus(*b)).collect::<Vec<_>>();
    let all = by_step.iter().fold(vec![Sum::default(); cells], add);
    if steps < 2 || all.iter().map(|sum| sum.n).sum::<f64>() < 200.0 {
        return Finding::note(NAME, "Cannot tell: fewer than two steps, or fewer than 200 moves.");
    }
    let (mut worst, mut before) = ((0.0, 0.0, String::new()), vec![Sum::default(); cells]);
    for (t, here) in by_step.iter().enumerate() {
        let from = (t > 0).then(|| (compare(&before, &all), format!("from step {t} (counted from 0) on")));
        let at = (compare(here, &all), format!("at step {t} (counted from 0)"));
        for ((difference, z), when) in from.into_iter().chain([at]) {
            // `before` against the rest says what was there until now: after it, the sign turns
            let difference = if when.starts_with("from") { -difference } else { difference };
            if z.abs() > worst.1 {
                worst = (difference, z.abs(), when);
            }
        }
        before = add(before, here);
    }
    let (difference, z, when) = worst;
    let not_compared = match &left_out[..] {
        [] => String::new(),
        steps => {
            let named: Vec<String> = steps.iter().take(5).map(usize::to_string).collect();
            let more = if steps.len() > 5 { ", …" } else { "" };
            let (named, s) = (named.join(", "), if steps.len() > 1 { "s" } else { "" });
            format!(" Left out: step{s} {named}{more} (counted from 0), with one next state only.")
        }
    };
    let found = format!(
        "The largest change: {when} the next state of people in the same state with the same action is worth {:+.1} points of 100 (z = \
         {z:.1}).{not_compared}",
        100.0 * difference
    );
    let what = "find out what changed; learn from what is like the weeks to come, or silence this check with the reason";
    match z > SURE {
        true if difference.abs() >= MATTERS => Finding::new(NAME, Severity::Warning, found, what),
        true => Finding::new(NAME, Severity::Note, found, what),
        false => {
            let compared = steps - left_out.len();
            Finding::fine(
                NAME,
                format!("People move alike at all {compared} steps, but for chance.{not_compared}"),
            )
        }
    }
}

/// Next states of a step.
#[derive(Clone, Copy, PartialEq)]
enum NextStates {
    Unseen,
    One(usize),
    Several,
}

impl NextStates {
    fn and(self, next: usize) -> Self {
        match self {
            Self::Unseen => Self::One(next),
            Self::One(known) if known == next => self,
            Self::One(_) | Self::Several => Self::Several,
        }
    }
}

/// Empties the steps that record one state only, if others record several; their numbers.
fn leave_out(by_step: &mut [Vec<Sum>], next_states: &[NextStates]) -> Vec<usize> {
    if !next_states.contains(&NextStates::Several) {
        return Vec::new();
    }
    let mut left_out = Vec::new();
    for (t, (sums, states)) in by_step.iter_mut().zip(next_states).enumerate() {
        let seen: f64 = sums.iter().map(|sum| sum.n).sum();
        if matches!(states, NextStates::One(_)) && seen >= LEAST_SEEN {
            sums.fill(Sum::default());
            left_out.push(t);
        }
    }
    left_out
}

/// How some moves differ from all others, on average over cells and in standard errors.
fn compare(some: &[Sum], all: &[Sum]) -> (f64, f64) {
    let (mut weights, mut difference, mut variance) = (0.0, 0.0, 0.0);
    for (some, all) in some.iter().zip(all) {
        let others = all.less(*some);
        if some.n < 0.5 || others.n < 0.5 {
            continue;
        }
        let weight = some.n * others.n / all.n;
        let mean = all.y / all.n;
        weights += weight;
        difference += weight * (some.y / some.n - others.y / others.n);
        variance += weight * (all.yy / all.n - mean * mean).max(0.0);
    }
    match variance > 0.0 {
        true => (difference / weights, difference / variance.sqrt()),
        false => (0.0, 0.0),
    }
}
