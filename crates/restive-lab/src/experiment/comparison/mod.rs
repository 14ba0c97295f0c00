//! One run of one domain: every method trained on the same instances and measured on the same trials, as in
//! [`compare`](crate::compare).
//!
//! Rows without a place on the axis are final values; `epoch` rows are values of the two trainings on their way, of which the
//! first ten epochs and every fourth are kept; shifted rows stand at the constant that was added to all indices. Of the maternal
//! programme it is recorded as well who is called ([`called`]).

pub(crate) mod bars;
mod called;
pub(crate) mod curves;
mod effect;
pub(crate) mod metric;
mod published;
pub(crate) mod selection;

use crate::compare::Compared;
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::trial::{Start, Trial};
use crate::{Method, Metric};

/// The kind of its units.
const KIND: &str = "comparison";
/// What a constant added to all indices does to the published metric, and how many strict pulls it changes.
const SHIFTED: [Metric; 2] = [Metric::IsShifted, Metric::Changed];
/// On learning curves.
const ON_THE_WAY: [Metric; 3] = [Metric::Loss, Metric::Is, Metric::Simulated];

/// The units of some runs of every domain.
fn units(asked: &Asked) -> Vec<Unit> {
    asked.problems.iter().flat_map(|problem| asked.units_of(KIND, problem.name())).collect()
}

/// Every metric of a method.
fn push_worth(rows: &mut Rows, method: Method, worth: [f64; 5]) {
    Metric::WORTH
        .into_iter()
        .zip(worth)
        .for_each(|(metric, value)| rows.push(method, metric, f64::NAN, value));
}

fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(unit.regime);
    let seed = asked.settings.run_seed(unit.run);
    let [train, validation, test] = problem.parts(seed)?;
    let trials = Trial::all(problem, &test, Start::AsLogged, seed)?;
    let compared = Compared { problem, profile: asked.settings.profile, seed, on_the_way: ON_THE_WAY };
    let run = compared.run([&train, &validation], &trials, shares)?;

    let mut rows = Rows::new(unit, seed);
    let (untrained, trained) = run.worth.split_at(3);
    untrained.iter().for_each(|(method, worth)| push_worth(&mut rows, *method, *worth));
    rows.push(Method::OracleMatched, Metric::StrictTrue, f64::NAN, run.matched_oracle);
    for point in &run.curve {
        for (metric, value) in ON_THE_WAY.into_iter().zip(point.values) {
            rows.push(point.method, metric, point.epoch as f64, value);
        }
    }
    for (method, worth) in trained {
        push_worth(&mut rows, *method, *worth);
        for shifted in run.shifted.iter().filter(|shifted| shifted.method == *method) {
            rows.push(*method, SHIFTED[0], shifted.constant, shifted.is);
            rows.push(*method, SHIFTED[1], shifted.constant, shifted.changed as f64);
        }
    }
    if let Some(people) = problem.test_people(seed)? {
        for (method, metric, value) in called::numbers(&trials, &people, &run.trained) {
            rows.push(method, metric, f64::NAN, value);
        }
    }
    Ok(rows.finish())
}
