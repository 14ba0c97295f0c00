//! `drift`: do people move as before? The worth of the next state, among people in the same state and with the same action, is compared
//! before and after every step, and at every step with all others. A cell (s, a) counts by n₁n₂/(n₁ + n₂). The largest difference in
//! standard errors is what is told; it must be large for the best of many, and large enough to matter.

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
    for moment in moments {
        let Some(next) = moment.next else { continue };
        for ((&s, &a), &next) in moment.state.iter().zip(&moment.action).zip(&next) {
            if let (Some(s), Some(next)) = (seen(s), seen(next))
                && a != NO_ACTION
            {
                let y = log.worth[next];
                let sum = &mut by_step[moment.t][cell(s, a)];
                *sum = sum.plus(Sum { n: 1.0, y, yy: y * y });
            }
        }
    }
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
    let found = format!(
        "The largest change: {when} the next state of people in the same state with the same action is worth {:+.1} points of 100 (z = {z:.1}).",
        100.0 * difference
    );
    let what = "find out what changed; learn from what is like the weeks to come, or silence this check with the reason";
    match z > SURE {
        true if difference.abs() >= MATTERS => Finding::new(NAME, Severity::Warning, found, what),
        true => Finding::new(NAME, Severity::Note, found, what),
        false => Finding::fine(NAME, format!("People move alike at all {steps} steps, but for chance.")),
    }
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
