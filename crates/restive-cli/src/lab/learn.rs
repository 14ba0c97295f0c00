//! The trainings that are compared, each from instances to a predictor, with someone to look on.

use restive::Instance;
use restive::predictor::Predictor;
use restive::training::{
    Config, Decision, DecisionFocused, Prior, Recipe, Selected, Selection, Snapshot, TwoStage,
};

/// Two-stage training; `visit(epoch, predictor)` sees it after every epoch.
pub(crate) fn two_stage(
    config: Config,
    [train, validation]: [&[Instance]; 2],
    mut visit: impl FnMut(usize, &Predictor),
) -> restive::Result<Predictor> {
    let mut training = TwoStage::new(config, train, validation)?;
    while !training.is_finished() {
        let epoch = training.epoch().epoch;
        visit(epoch, training.predictor());
    }
    Ok(training.finish().predictor)
}

/// Training through the decision, from scratch or from a prior.
pub(crate) fn decision_focused(
    config: Config,
    decision: Decision,
    prior: Option<&Prior>,
    [train, validation]: [&[Instance]; 2],
    mut visit: impl FnMut(usize, &Predictor),
) -> restive::Result<Predictor> {
    let mut training = DecisionFocused::new(config, decision, prior, train, validation)?;
    while !training.is_finished() {
        let epoch = training.epoch().epoch;
        visit(epoch, training.predictor());
    }
    Ok(training.finish().predictor)
}

/// The recommended training with its choice, and its state at the end; `progress` hears the share that is done.
pub(crate) fn recommended(
    recipe: Recipe,
    [train, validation]: [&[Instance]; 2],
    progress: impl Fn(f64),
) -> restive::Result<(Selected, Snapshot)> {
    let mut selection = Selection::new(recipe, train, validation)?;
    while !selection.is_finished() {
        selection.round();
        let (made, most) = selection.progress();
        progress(made as f64 / most.max(1) as f64);
    }
    let snapshot = selection.snapshot();
    Ok((selection.finish(), snapshot))
}
