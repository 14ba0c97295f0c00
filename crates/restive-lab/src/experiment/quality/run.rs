//! One run of one regime: trainings on the same data, each judged as it would be deployed, by the value of the strict policy
//! on the true transitions of the test instances (1,000 rollouts, the same noise for all).
//!
//! | method | training | discount of its index |
//! |---|---|---|
//! | `random`, `oracle` | none; none: the true transitions | –; 0.99 |
//! | `oracle-matched`, `oracle-horizon` | the same | 1 − 1/H; none: prices for the horizon |
//! | `two-stage`, `decision-focused` | as published | 0.99 |
//! | `two-stage-converged` | to convergence | 0.99 |
//! | `two-stage-recommended` | the same | 1 − 1/H |
//! | `decision-focused-fluid` | from there: the mean-field value, preset weak | 1 − 1/H |
//! | `decision-focused-recommended` | the decomposed value, weak, strong or two-stage, as folds choose | 1 − 1/H |
//! | `decision-focused-strong` | the decomposed value, preset strong, whatever folds say | 1 − 1/H |
//! | `decision-focused-control` | the same on a world in which every two-stage prediction is true: no data speak | 1 − 1/H |
//!
//! | `two-stage-horizon`, `decision-focused-horizon` | those of `…-recommended` | none: prices for the horizon |
//! | `auto` | several predictors, of which [folds choose](restive::training::Auto) | 1 − 1/H |
//! | `auto-horizon` | the same | none: prices for the horizon; this is the default |
//! | `single-linear`, `single-effect`, `single-hierarchical` | to convergence, where the regime's own predictor is the network | 1 − 1/H |
//!
//! The effect model was never published, so its regime has no published trainings. Whatever the predictor of a regime, the networks of `auto` are
//! those of the recommended profile. Plans for the horizon have prices found once, from where the test begins.
//!
//! **Histories.** At 3, 9 and 27 on the axis, each test arm has a record of its own: so many steps logged under the behaviour
//! policy, from states drawn as those of the test. The indices are those of predictions weighed against that record by the
//! strength that the validation instances give them. Everything at 0 has no record. `auto-horizon` listens to records, at 9 and
//! 27, by the [rule](restive::history) that training arms learnt out of fold; `auto-history-forced`, at 27, does so whether those say that it helps or not.
//!
//! Rows of other metrics: `choice` is what the folds chose, 0 two-stage, 1 weak, 2 strong; `base` what those of `auto` chose, 0
//! hierarchical, 1 linear, 2 network, 3 network on standardised features, 4 a pool, 5 bare frequencies; `rule` by which rule records count, 0
//! none, 1 carrying, 2 the Gaussian one.

use super::default;
use super::regimes::{Setup, setups};
use super::singles::singles;
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::learn;
use crate::trial::{Start, Trial, mean};
use crate::{Method, Metric, PUBLISHED_DISCOUNT};
use ndarray::Array4;
use restive::evaluation::{Record, strength};
use restive::policy::Policy;
use restive::predictor::{Predictor, PredictorKind};
use restive::training::{Choice, Config, Decision, Method as Training, Prior, Selected, Value};

/// Far from the seeds of other experiments: run r has the seed asked for, plus this, plus r.
pub(crate) const FIRST_SEED: u64 = 10_000;
/// Logged steps of each arm.
pub(super) const HISTORIES: [usize; 3] = [3, 9, 27];
/// So many transitions that no record speaks beside a prediction.
const CERTAIN: f64 = 1e9;

pub(crate) fn units(asked: &Asked) -> Vec<Unit> {
    let runs = |setup: Setup| Unit::runs("quality", setup.regime, asked.runs, setup.weight);
    setups(asked).into_iter().flat_map(runs).collect()
}

pub(crate) fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let all = setups(asked);
    let Setup { problem, predictor: kind, logging, .. } =
        all.iter().find(|setup| setup.regime == unit.regime).expect("a unit of a regime");
    let seed = asked.settings.run_seed(unit.run).wrapping_add(FIRST_SEED);
    let [train, validation, test] = problem.parts(seed)?;
    let [train, validation] = logging.of_both([train, validation], seed)?;
    let both = [&train[..], &validation[..]];
    let trials = Trial::all(problem, &test, Start::AsDrawn, seed)?;
    let trials = logging.of_trials(trials, HISTORIES[HISTORIES.len() - 1], seed);
    let mut rows = Rows::new(unit, seed);
    let mut push = |method, history, value| strict(&mut rows, method, history, value);
    let matched = Method::OracleMatched.index_discount(problem.horizon());

    push(Method::Random, 0, mean(&trials, |trial| trial.on_the_truth(&Policy::Random)));
    for (method, discount) in [(Method::Oracle, PUBLISHED_DISCOUNT), (Method::OracleMatched, matched)] {
        push(method, 0, mean(&trials, |trial| trial.deployed_by(trial.truth(), discount)));
    }
    push(Method::OracleHorizon, 0, mean(&trials, |trial| trial.planned_by(trial.truth())));
    shares(0.01);
    let deployed = |predictor: &Predictor, discount: f64| {
        mean(&trials, |trial| trial.deployed_by(trial.predict(predictor).view(), discount))
    };
    let planned =
        |predictor: &Predictor| mean(&trials, |trial| trial.planned_by(trial.predict(predictor).view()));
    if !matches!(kind, PredictorKind::Effect { .. }) {
        let (config, decision) = problem.as_published(asked.settings.profile, seed);
        let config = Config { kind: as_published(kind, &config.kind), ..config };
        for trained in learn::published((config, decision), both, |_| ())? {
            push(trained.method, 0, deployed(&trained.predictor, trained.discount));
        }
    }
    shares(0.1);

    let mut recipe = problem.recipe(&train, seed);
    let networks = recipe.two_stage.clone();
    recipe.two_stage.kind = kind.clone();
    let Selected { fitted, two_stage, verdict } =
        &learn::select(recipe.clone(), both, |share| shares(0.1 + 0.4 * share))?;
    push(Method::TwoStageConverged, 0, deployed(&two_stage.predictor, PUBLISHED_DISCOUNT));
    let choice = Choice::ALL.iter().position(|choice| *choice == verdict.choice).expect("listed");
    rows.push(Method::DecisionFocusedRecommended, Metric::Choice, 0.0, choice as f64);
    let mut push = |method, history, value| strict(&mut rows, method, history, value);

    let through = |value: Value, preset: Choice, strength: [f64; 2]| {
        let (config, decision) = recipe.preset(preset, train.len());
        let prior = Prior { predictor: two_stage.predictor.clone(), strength };
        let method = Training::DecisionFocused(config, Decision { value, ..decision }, Some(prior));
        learn::train(method, both, |_| ()).map(|finished| finished.fitted.predictor)
    };
    let fluid = through(Value::Fluid, Choice::Weak, verdict.strength)?;
    push(Method::DecisionFocusedFluid, 0, deployed(&fluid, matched));
    let strong = match verdict.choice {
        Choice::Strong => fitted.predictor.clone(),
        _ => through(Value::Decomposed, Choice::Strong, verdict.strength)?,
    };
    push(Method::DecisionFocusedStrong, 0, deployed(&strong, matched));
    let control = through(Value::Decomposed, Choice::Strong, [CERTAIN; 2])?;
    push(Method::DecisionFocusedControl, 0, deployed(&control, matched));
    shares(0.6);

    for (method, fitted) in Method::RECOMMENDED.into_iter().zip([two_stage, fitted]) {
        let predictor = &fitted.predictor;
        push(method, 0, deployed(predictor, matched));
        let held_out: Vec<(Record, Array4<f64>)> = (validation.iter())
            .map(|instance| (Record::new(instance), predictor.predict(instance.features())))
            .collect();
        let pairs: Vec<_> = held_out.iter().map(|(record, p)| (record, p.view())).collect();
        let worth = strength(&pairs).map(|found| found.value);
        for steps in HISTORIES {
            let value = mean(&trials, |trial| {
                let prediction = trial.predict(predictor);
                let record = trial.history(steps);
                let own = record.transition(Some((prediction.view(), worth)));
                trial.deployed_by(own.view(), matched)
            });
            push(method, steps, value);
        }
    }
    let plans = [(Method::TwoStageHorizon, two_stage), (Method::DecisionFocusedHorizon, fitted)];
    plans.into_iter().for_each(|(method, fitted)| push(method, 0, planned(&fitted.predictor)));
    shares(0.65);
    if *kind == networks.kind {
        for (method, predictor) in singles(&networks, both)? {
            push(method, 0, deployed(&predictor, matched));
        }
    }
    shares(0.7);
    default::measure(networks, both, &trials, matched, &mut rows, |share| shares(0.7 + 0.25 * share))?;
    Ok(rows.finish())
}

/// A value on the true transitions, after so long a history.
pub(super) fn strict(rows: &mut Rows, method: Method, history: usize, value: f64) {
    rows.push(method, Metric::StrictTrue, history as f64, value);
}

/// The published network, or a linear predictor trained like it.
fn as_published(predictor: &PredictorKind, published: &PredictorKind) -> PredictorKind {
    match predictor {
        PredictorKind::Network { hidden, .. } if hidden.is_empty() => predictor.clone(),
        _ => published.clone(),
    }
}
