//! One run of one domain: every method trained on the same instances and measured on the same test instances.
//!
//! | method | |
//! |---|---|
//! | `no-action`, `random`, `oracle` | nobody; K of N at random; indices of the true transitions |
//! | `two-stage`, `decision-focused` | as the profile says |
//! | `two-stage-recommended`, `decision-focused-recommended` | beside them, where the profile is another |
//! | `decision-focused-shuffled` | a control: the predictions of `decision-focused`, dealt to the wrong arms |
//! | `two-stage-effect` | on the maternal programme: the [effect model](effect) |
//! | `oracle-matched` | the oracle at the recommended index discount, as deployed |
//!
//! Rows without a place on the axis are final values; `epoch` rows are values of the two trainings on their way, of which the
//! metric `is_shifted` and `changed` have for axis a constant that was added to all indices. Of the maternal programme it is
//! recorded as well who is called ([`called`]).

pub(crate) mod bars;
mod called;
pub(crate) mod curves;
mod effect;
pub(crate) mod metric;
mod published;
pub(crate) mod selection;
pub(crate) mod trained;

use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::lab::compare::{Shifted, is_on_curve, shift};
use crate::lab::metrics::{Metric, PUBLISHED_DISCOUNT, TestInstance, mean, published_policy};
use crate::lab::problem::Problem;
use ndarray::Axis;
use restive::Instance;
use restive::policy::Policy;
use restive::predictor::Predictor;
use restive::training::{Config, Decision, Recipe};
use restive_pipeline::Profile;
use trained::Trained;

/// The kind of its units.
pub(crate) const KIND: &str = "comparison";
/// What a constant added to all indices does to the published metric, and how many strict pulls it changes.
pub(crate) const SHIFTED: [&str; 2] = ["is_shifted", "changed"];

/// The units of some runs of every domain.
pub(crate) fn units(asked: &Asked) -> Vec<Unit> {
    let of = |problem: &Problem| {
        let domain = problem.name();
        let weight = if domain == "two-state" { 1 } else { 3 };
        (0..asked.runs).map(move |run| Unit { kind: KIND, domain: domain.into(), run, weight })
    };
    asked.problems.iter().flat_map(of).collect()
}

/// Every metric of a method, as means over the test instances.
fn measure(
    rows: &mut Rows<'_>,
    method: &str,
    tests: &[TestInstance<'_>],
    of: impl Fn(&TestInstance<'_>) -> [f64; 5],
) {
    for (metric, value) in means(tests, of) {
        rows.push(method, metric.name(), f64::NAN, value);
    }
}

/// Means of every metric over the test instances.
pub(crate) fn means(
    tests: &[TestInstance<'_>],
    of: impl Fn(&TestInstance<'_>) -> [f64; 5],
) -> impl Iterator<Item = (Metric, f64)> {
    let all: Vec<[f64; 5]> = tests.iter().map(of).collect();
    let mean = move |k: usize| all.iter().map(|values| values[k]).sum::<f64>() / all.len() as f64;
    Metric::ALL.into_iter().enumerate().map(move |(k, metric)| (metric, mean(k)))
}

/// The test instances of a run, each with luck of its own.
pub(crate) fn test_instances<'a>(
    problem: &Problem,
    test: &'a [Instance],
    seed: u64,
) -> restive::Result<Vec<TestInstance<'a>>> {
    let luck = |k: usize| seed.wrapping_mul(test.len() as u64).wrapping_add(k as u64);
    let new = |(k, instance)| TestInstance::new(instance, problem.behaviour(), luck(k));
    test.iter().enumerate().map(new).collect()
}

pub(crate) fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(&unit.domain);
    let seed = asked.settings.seed.wrapping_add(unit.run as u64);
    let [train, validation, test] = problem.parts(seed)?;
    let both = [&train[..], &validation[..]];
    let tests = test_instances(problem, &test, seed)?;
    let mut rows = Rows::new(unit, seed);
    let horizon = problem.horizon();
    let recommended = Decision::recommended(horizon).index_discount;

    for (method, policy) in [("no-action", Policy::NoAction), ("random", Policy::Random)] {
        measure(&mut rows, method, &tests, |test| test.blind(&policy));
    }
    measure(&mut rows, "oracle", &tests, |test| test.metrics(test.truth(), PUBLISHED_DISCOUNT));
    let matched =
        mean(&tests, |test| test.on_the_truth(&Policy::Strict(test.index(test.truth(), recommended))));
    rows.push("oracle-matched", Metric::StrictTrue.name(), f64::NAN, matched);

    let all = trained::train(asked, problem, seed, both, shares, |method, epoch, predictor, epochs| {
        if is_on_curve(epoch, epochs) {
            let values = on_the_way(&tests, predictor);
            for (metric, value) in [Metric::Loss, Metric::Is, Metric::Simulated].iter().zip(values) {
                rows.push(method, metric.name(), epoch as f64, value);
            }
        }
    })?;
    for Trained { method, predictor, discount, is_published } in &all {
        let predict = |test: &TestInstance<'_>| predictor.predict(test.instance().features());
        measure(&mut rows, method, &tests, |test| test.metrics(predict(test).view(), *discount));
        if !is_published {
            continue;
        }
        for Shifted { constant, is, changed } in shift(&tests, predictor) {
            rows.push(method, SHIFTED[0], constant, is);
            rows.push(method, SHIFTED[1], constant, changed as f64);
        }
        if *method == "decision-focused" {
            measure(&mut rows, "decision-focused-shuffled", &tests, |test| {
                let n = test.instance().arms();
                // everyone gets the prediction of someone half the group away
                let others: Vec<usize> = (0..n).map(|i| (i + n / 2) % n).collect();
                test.metrics(predict(test).select(Axis(0), &others).view(), PUBLISHED_DISCOUNT)
            });
        }
    }
    if let Some(people) = problem.test_people(seed)? {
        for (method, metric, value) in called::numbers(&tests, &people, &all) {
            rows.push(&method, &metric, f64::NAN, value);
        }
    }
    Ok(rows.finish())
}

pub(crate) const RECOMMENDED: [&str; 2] = ["two-stage-recommended", "decision-focused-recommended"];

/// Training as published, or as the paper's text says.
pub(crate) fn as_published(profile: Profile, problem: &Problem, seed: u64) -> (Config, Decision) {
    let horizon = problem.horizon();
    let (config, decision) = match profile {
        Profile::Paper => (Config::paper_in(problem.protocol()), Decision::paper(horizon)),
        Profile::Published | Profile::Recommended => {
            (Config::published_in(problem.protocol()), Decision::published(horizon))
        }
    };
    (Config { seed, ..config }, Decision { behaviour: problem.behaviour(), ..decision })
}

/// The recommended training.
pub(crate) fn recipe(problem: &Problem, train: &[Instance], seed: u64) -> Recipe {
    let mut recipe = Recipe::new(Config { seed, ..Config::recommended(train) }, problem.horizon());
    recipe.decision.behaviour = problem.behaviour();
    recipe
}

/// The three published metrics of a predictor.
fn on_the_way(tests: &[TestInstance<'_>], predictor: &Predictor) -> [f64; 3] {
    let one = |test: &TestInstance<'_>| {
        let transition = predictor.predict(test.instance().features());
        let soft = published_policy(test.index(transition.view(), PUBLISHED_DISCOUNT));
        [test.loss(transition.view()), test.is(&soft), test.simulated(&soft)]
    };
    let all: Vec<[f64; 3]> = tests.iter().map(one).collect();
    [0, 1, 2].map(|k| all.iter().map(|values| values[k]).sum::<f64>() / all.len() as f64)
}
