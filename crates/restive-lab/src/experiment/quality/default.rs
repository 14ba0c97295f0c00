//! The default: several predictors of which folds choose, a plan for the horizon, and the arms' own records where held-out arms say
//! that they help.
//!
//! Training arms are held out fold by fold: those of fold k are predicted by the fits that never saw them, and on all of them the rule
//! is [learnt](restive::history) by which records count.

use super::run::strict;
use crate::experiment::rows::Rows;
use crate::trial::{Trial, mean};
use crate::{Method, Metric, learn};
use ndarray::Array4;
use restive::data::split::Group;
use restive::history::{self, HeldOut, Learnt, Rule};
use restive::predictor::Predictor;
use restive::training::auto::{BaseName, Outcome, Verdict, auto_folds};
use restive::training::{Config, Method as Training};
use restive::{Instance, Result};

/// Logged steps of each arm.
pub(super) const RECORDS: [usize; 2] = [9, 27];
/// Those at which records count whatever held-out arms say.
pub(super) const FORCED: usize = 27;
/// The rules that records count by, in the order of their numbers.
pub(super) const RULES: [&str; 3] = ["alone", "carry", "gauss"];
/// What folds choose, in the order of its numbers.
pub(super) const BASES: [&str; 6] =
    ["hierarchical", "linear", "network", "standardised network", "pool", "frequencies"];

/// Trains, deploys and tells; `matched` is the discount of the index, `progress` hears the share that is done.
pub(super) fn measure(
    config: Config,
    both: [&[Instance]; 2],
    trials: &[Trial<'_>],
    matched: f64,
    rows: &mut Rows,
    progress: impl Fn(f64),
) -> Result<()> {
    let seed = config.seed;
    let trained = learn::train(Training::Auto(config), both, |fit| progress(fit.share()))?;
    let predictor = &trained.fitted.predictor;
    let verdict = trained.choice.as_ref().expect("folds chose");
    rows.push(Method::Auto, Metric::Base, 0.0, number_of_base(verdict) as f64);
    let indexed = |trial: &Trial<'_>| trial.deployed_by(trial.predict(predictor).view(), matched);
    strict(rows, Method::Auto, 0, mean(trials, indexed));
    let planned = |trial: &Trial<'_>| trial.planned_by(trial.predict(predictor).view());
    strict(rows, Method::AutoHorizon, 0, mean(trials, planned));

    let learnt = learnt(predictor, both[0], seed)?;
    let with_records = |rule: &Rule, steps: usize| {
        mean(trials, |trial| {
            let own = rule.apply(&trial.past(steps), trial.predict(predictor).view());
            trial.planned_by(own.expect("a rule of arms like these").view())
        })
    };
    rows.push(Method::AutoHorizon, Metric::Rule, 0.0, number_of_rule(&learnt.rule) as f64);
    for steps in RECORDS {
        strict(rows, Method::AutoHorizon, steps, with_records(&learnt.rule, steps));
    }
    rows.push(Method::AutoHistoryForced, Metric::Rule, 0.0, number_of_rule(&learnt.candidate) as f64);
    strict(rows, Method::AutoHistoryForced, FORCED, with_records(&learnt.candidate, FORCED));
    Ok(())
}

/// What training arms say of their records, each beside a prediction by fits that never saw it.
fn learnt(predictor: &Predictor, train: &[Instance], seed: u64) -> Result<Learnt> {
    let mut held_out: Vec<(Instance, Array4<f64>)> = Vec::new();
    for (k, fold) in auto_folds(train, seed)?.iter().enumerate() {
        let unaware = match predictor {
            Predictor::Pool(pool) => Predictor::Pool(pool.of_fit(k)),
            // frequencies, which know nobody
            other => other.clone(),
        };
        let predicted = |group: &Group| {
            let arms = group.select(train);
            let prediction = unaware.predict(arms.features());
            (arms, prediction)
        };
        held_out.extend(fold.iter().map(predicted));
    }
    let held_out: Vec<HeldOut<'_>> = held_out
        .iter()
        .map(|(arms, prediction)| HeldOut {
            log: arms.trajectories(),
            observation: arms.observation(),
            prediction: prediction.view(),
        })
        .collect();
    Ok(history::learn(&held_out, None))
}

/// Where it stands in [`BASES`].
fn number_of_base(verdict: &Verdict) -> usize {
    match verdict.outcome {
        Outcome::Single => {
            let chosen = verdict.bases.iter().find(|base| base.weight > 0.0).expect("one was chosen");
            BaseName::ALL.iter().position(|name| *name == chosen.name).expect("listed")
        }
        Outcome::Pool => BaseName::ALL.len(),
        Outcome::Frequencies => BaseName::ALL.len() + 1,
    }
}

/// Where it stands in [`RULES`].
fn number_of_rule(rule: &Rule) -> usize {
    match rule {
        Rule::Alone => 0,
        Rule::Carry(_) => 1,
        Rule::Gauss(_) => 2,
    }
}
