//! The effect model beside the networks: few people of a maternal programme are ever called, which is what it was made for.
//!
//! Its runs are units of their own, on the instances and with the noise of the [comparison](super), so that both can be set
//! side by side.

use super::push_worth;
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::learn;
use crate::trial::{Start, Trial, means};
use crate::{DomainName, Method, Metric};
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Config, Decision};

const KIND: &str = "effect";

/// The units of the comparison, and those of the effect model.
pub(super) fn units_too(asked: &Asked) -> Vec<Unit> {
    let is_ours = asked.problems.iter().any(|problem| problem.name() == DomainName::Maternal);
    let ours = Unit::runs(KIND, DomainName::Maternal.into(), if is_ours { asked.runs } else { 0 }, 1);
    super::units(asked).into_iter().chain(ours).collect()
}

pub(super) fn compute_too(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    if unit.kind == KIND { compute(asked, unit) } else { super::compute(asked, unit, shares) }
}

fn compute(asked: &Asked, unit: &Unit) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(unit.regime);
    let seed = asked.settings.run_seed(unit.run);
    let [train, validation, test] = problem.parts(seed)?;
    let trials = Trial::all(problem, &test, Start::AsLogged, seed)?;
    let kind = PredictorKind::Effect { precision: Precision::DEFAULT };
    let config = Config { kind, seed, ..Config::recommended(&train) };
    let predictor = learn::train(config, [&train, &validation], |_| ())?.fitted.predictor;
    let discount = Decision::recommended(problem.horizon()).index_discount;
    let answer = |trial: &Trial<'_>| trial.answer(trial.predict(&predictor).view(), discount);
    let mut rows = Rows::new(unit, seed);
    push_worth(&mut rows, Method::TwoStageEffect, means(&trials, Metric::WORTH, answer));
    Ok(rows.finish())
}
