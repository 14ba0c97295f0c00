//! The effect model beside the networks: few people of a maternal programme are ever called, which is what it was made for.
//!
//! Its runs are units of their own, on the instances and with the luck of the [comparison](super), so that both can be set
//! side by side.

use super::{measure, test_instances};
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::lab::learn;
use crate::lab::problem::Problem;
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Config, Decision};

const KIND: &str = "effect";
pub(super) const METHOD: &str = "two-stage-effect";

/// The units of the comparison, and those of the effect model.
pub(super) fn units_too(asked: &Asked) -> Vec<Unit> {
    [super::units(asked), units(asked)].concat()
}

pub(super) fn compute_too(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    if unit.kind == KIND { compute(asked, unit) } else { super::compute(asked, unit, shares) }
}

fn units(asked: &Asked) -> Vec<Unit> {
    let is_ours = |problem: &&Problem| matches!(problem, Problem::Maternal(_));
    let of = |problem: &Problem| {
        let domain = problem.name();
        (0..asked.runs).map(move |run| Unit { kind: KIND, domain: domain.into(), run, weight: 1 })
    };
    asked.problems.iter().filter(is_ours).flat_map(of).collect()
}

fn compute(asked: &Asked, unit: &Unit) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(&unit.domain);
    let seed = asked.settings.seed.wrapping_add(unit.run as u64);
    let [train, validation, test] = problem.parts(seed)?;
    let tests = test_instances(problem, &test, seed)?;
    let kind = PredictorKind::Effect { precision: Precision::DEFAULT };
    let config = Config { kind, seed, ..Config::recommended(&train) };
    let predictor = learn::two_stage(config, [&train, &validation], |_, _| ())?;
    let discount = Decision::recommended(problem.horizon()).index_discount;
    let mut rows = Rows::new(unit, seed);
    measure(&mut rows, METHOD, &tests, |test| {
        test.metrics(predictor.predict(test.instance().features()).view(), discount)
    });
    Ok(rows.finish())
}
