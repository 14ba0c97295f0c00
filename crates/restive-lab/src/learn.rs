//! The trainings that are compared, each from instances to a predictor, with someone to look on.

use crate::problem::Problem;
use crate::{Method, PUBLISHED_DISCOUNT};
use restive::Instance;
use restive::predictor::Predictor;
use restive::training::{self, Config, Decision, Finished, Fit, Recipe, Selected};
use restive_pipeline::Profile;
use std::convert::Infallible;

/// A method that was trained.
pub(crate) struct Trained {
    pub(crate) method: Method,
    pub(crate) predictor: Predictor,
    /// of the index that it is deployed with
    pub(crate) discount: f64,
    /// whether as published or as the paper says
    pub(crate) is_published: bool,
}

/// An epoch of a training as published: its method, its number, how many there are, and the predictor so far.
pub(crate) type Epoch<'a> = (Method, usize, usize, &'a Predictor);

/// Trains to the end; `visit` sees the training after every epoch, or round of epochs.
pub(crate) fn train(
    method: impl Into<training::Method>,
    [train, validation]: [&[Instance]; 2],
    mut visit: impl FnMut(&Fit),
) -> restive::Result<Finished> {
    let mut fit = Fit::new(method.into(), train, validation)?;
    let Ok(()) = fit.run(None, |fit, _| {
        visit(fit);
        Ok::<(), Infallible>(())
    });
    Ok(fit.finish())
}

/// The recommended training with its choice; `progress` hears the share that is done.
pub(crate) fn select(
    recipe: Recipe,
    both: [&[Instance]; 2],
    progress: impl Fn(f64),
) -> restive::Result<Selected> {
    let Finished { fitted, selection, .. } = train(recipe, both, |fit| {
        let (made, most) = fit.progress();
        progress(made as f64 / most.max(1) as f64);
    })?;
    let (verdict, two_stage) = selection.expect("the recommended training selects");
    Ok(Selected { fitted, two_stage, verdict })
}

/// Both methods as published, or as the paper says, by the settings of [`Problem::as_published`]; `visit` sees every epoch.
pub(crate) fn published(
    (config, decision): (Config, Decision),
    both: [&[Instance]; 2],
    mut visit: impl FnMut(Epoch<'_>),
) -> restive::Result<Vec<Trained>> {
    let epochs = config.epochs;
    let through = training::Method::DecisionFocused(config.clone(), decision, None);
    let trained = |(method, how): (Method, training::Method)| {
        let finished = train(how, both, |fit| {
            let epoch = fit.last_epoch().expect("one was made").epoch;
            visit((method, epoch, epochs, &fit.predictor()));
        })?;
        let (predictor, discount) = (finished.fitted.predictor, PUBLISHED_DISCOUNT);
        Ok(Trained { method, predictor, discount, is_published: true })
    };
    Method::PROFILE.into_iter().zip([config.into(), through]).map(trained).collect()
}

/// Both methods as recommended, under the names given, with what the folds said.
pub(crate) fn recommended(
    methods: [Method; 2],
    recipe: Recipe,
    both: [&[Instance]; 2],
    progress: impl Fn(f64),
) -> restive::Result<(Vec<Trained>, Selected)> {
    let discount = recipe.decision.index_discount;
    let selected = select(recipe, both, progress)?;
    let predictors = [&selected.two_stage, &selected.fitted].map(|fitted| fitted.predictor.clone());
    let trained = |(method, predictor)| Trained { method, predictor, discount, is_published: false };
    Ok((methods.into_iter().zip(predictors).map(trained).collect(), selected))
}

/// Both methods of a profile.
pub(crate) fn profile(
    profile: Profile,
    problem: &Problem,
    seed: u64,
    both: [&[Instance]; 2],
) -> restive::Result<Vec<Trained>> {
    if profile == Profile::Recommended {
        return Ok(recommended(Method::PROFILE, problem.recipe(both[0], seed), both, |_| ())?.0);
    }
    published(problem.as_published(profile, seed), both, |_| ())
}

/// Both methods of a profile and, where that is another, both as recommended; with what the folds said. `progress` hears the
/// share that is done, `visit` sees every epoch of a training as published.
pub(crate) fn all(
    profile: Profile,
    problem: &Problem,
    seed: u64,
    both: [&[Instance]; 2],
    progress: impl Fn(f64),
    mut visit: impl FnMut(Epoch<'_>),
) -> restive::Result<(Vec<Trained>, Selected)> {
    let recipe = problem.recipe(both[0], seed);
    if profile == Profile::Recommended {
        return recommended(Method::PROFILE, recipe, both, progress);
    }
    let mut trained = published(problem.as_published(profile, seed), both, |epoch| {
        let (method, number, epochs, _) = epoch;
        let [from, to] = if method == Method::TwoStage { [0.0, 0.1] } else { [0.1, 0.3] };
        progress(from + (to - from) * (number + 1) as f64 / epochs as f64);
        visit(epoch);
    })?;
    let (recommended, selected) =
        recommended(Method::RECOMMENDED, recipe, both, |share| progress(0.3 + 0.7 * share))?;
    trained.extend(recommended);
    Ok((trained, selected))
}
