//! The trainings that experiments compare, on the same instances.
//!
//! `two-stage` and `decision-focused` are as the profile says; beside them stand `two-stage-recommended` and
//! `decision-focused-recommended`, where the profile is another.

use super::{RECOMMENDED, as_published, recipe};
use crate::experiment::{Asked, Shares};
use crate::lab::learn;
use crate::lab::metrics::PUBLISHED_DISCOUNT;
use crate::lab::problem::Problem;
use restive::Instance;
use restive::predictor::Predictor;
use restive_pipeline::Profile;

/// A method that was trained.
pub(crate) struct Trained {
    pub(crate) method: &'static str,
    pub(crate) predictor: Predictor,
    /// of the index that it is deployed with
    pub(crate) discount: f64,
    /// whether as published or as the paper says
    pub(crate) is_published: bool,
}

/// Trains all methods on instances to train on and to validate. `visit(method, epoch, predictor, epochs)` sees the published
/// trainings after every epoch.
pub(crate) fn train(
    asked: &Asked,
    problem: &Problem,
    seed: u64,
    both: [&[Instance]; 2],
    shares: Shares<'_>,
    mut visit: impl FnMut(&str, usize, &Predictor, usize),
) -> anyhow::Result<Vec<Trained>> {
    let mut all = Vec::new();
    let is_recommended = asked.profile == Profile::Recommended;
    if !is_recommended {
        let (config, decision) = as_published(asked.profile, problem, seed);
        let epochs = config.epochs;
        let mut look = |method: &'static str, epoch: usize, predictor: &Predictor, from: f64, to: f64| {
            shares(from + (to - from) * (epoch + 1) as f64 / epochs as f64);
            visit(method, epoch, predictor, epochs);
        };
        let first = learn::two_stage(config.clone(), both, |epoch, predictor| {
            look("two-stage", epoch, predictor, 0.02, 0.1);
        })?;
        let through = learn::decision_focused(config, decision, None, both, |epoch, predictor| {
            look("decision-focused", epoch, predictor, 0.1, 0.3);
        })?;
        for (method, predictor) in [("two-stage", first), ("decision-focused", through)] {
            all.push(Trained { method, predictor, discount: PUBLISHED_DISCOUNT, is_published: true });
        }
    }
    let recipe = recipe(problem, both[0], seed);
    let discount = recipe.decision.index_discount;
    let from = if is_recommended { 0.05 } else { 0.3 };
    let (selected, _) = learn::recommended(recipe, both, |share| shares(from + (0.97 - from) * share))?;
    let names = if is_recommended { ["two-stage", "decision-focused"] } else { RECOMMENDED };
    let predictors = [selected.two_stage.predictor, selected.fitted.predictor];
    for (method, predictor) in names.into_iter().zip(predictors) {
        all.push(Trained { method, predictor, discount, is_published: false });
    }
    Ok(all)
}
