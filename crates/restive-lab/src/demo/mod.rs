//! The demo: two-stage and decision-focused learning side by side over a few runs, a plan, and a folder to look into.

mod charts;
mod files;
mod findings;
mod page;
mod why;

use crate::compare::{Compared, Comparison};
use crate::problem::Problem;
use crate::progress::{Listener, Stretches};
use crate::trial::{Start, Trial};
use crate::{DomainName, Method, PUBLISHED_DISCOUNT};
use anyhow::{Context, bail};
use charts::{ON_THE_WAY, WITH_INDICES};
pub use files::check;
pub use findings::{Brought, Findings};
use rayon::prelude::*;
use restive::data::domain::Domain;
use restive::training::{Finished, Selected};
use restive_pipeline::card::member_history;
use restive_pipeline::generate::study_of;
use restive_pipeline::{
    Applied, Asked, Objective, Plan, PlanAsked, PredictorName, Profile, Trained, Training,
};
use restive_tables::Study;
use std::path::PathBuf;

/// What was compared, and what came of it.
pub struct Demo {
    name: DomainName,
    domain: Domain,
    runs: Vec<Comparison>,
    /// how many test instances a run has
    trials: usize,
    /// of the first run
    study: Study,
    /// of the recommended profile, two-stage and decision-focused, of the first run
    models: Vec<Trained>,
    /// all indices of some methods in the first trial of the first run
    index: Vec<(Method, Vec<f64>)>,
    /// whom to pull next in the first test instance of the first run
    pub plan: Plan,
    out: PathBuf,
}

/// What a demo is asked for.
pub struct DemoAsked {
    /// one of the synthetic ones, not the maternal programme
    pub domain: DomainName,
    /// per instance, of which a fifth may be pulled; absent: as published
    pub arms: Option<usize>,
    /// per instance; absent: as published
    pub trajectories: Option<usize>,
    /// each with a seed of its own
    pub runs: usize,
    /// of the first run; the others follow it
    pub seed: u64,
    /// the folder to write
    pub out: PathBuf,
}

impl Demo {
    /// Runs shared among the threads.
    pub fn new(asked: &DemoAsked, listener: Listener<'_>) -> anyhow::Result<Self> {
        let &DemoAsked { domain: name, runs, seed, .. } = asked;
        let Some(published) = name.domain() else {
            bail!("demo: found domain {name}, expected a synthetic one other than the programme")
        };
        let arms = asked.arms.unwrap_or(published.arms);
        let trajectories = asked.trajectories.unwrap_or(published.trajectories);
        let domain = Domain { arms, budget: arms / 5, trajectories, ..published };
        let problem = Problem::Domain(name, domain.clone());
        let stretches = Stretches::new(vec![1.0; runs], 0, listener);
        let run = |k: usize| {
            let seed = seed.wrapping_add(k as u64);
            let [train, validation, test] = problem.parts(seed)?;
            let trials = Trial::all(&problem, &test, Start::AsLogged, seed)?;
            let profile = Profile::Published;
            let compared = Compared { problem: &problem, profile, seed, on_the_way: ON_THE_WAY };
            compared.run([&train, &validation], &trials, |share| stretches.tell(k, share))
        };
        let runs: Vec<Comparison> =
            (0..runs).into_par_iter().map(run).collect::<restive::Result<_>>().context("demo")?;

        let study = study_of(name, seed, domain.generate(seed)?);
        let origin = asked.out.join(files::STUDY).display().to_string();
        let model = |objective: &Objective| model(*objective, &runs[0], &study, &origin);
        let models = Objective::ALL.iter().map(model).collect::<anyhow::Result<Vec<Trained>>>()?;
        let [train, validation, test] = problem.parts(seed)?;
        let instance = Some(study.instances[train.len() + validation.len()].name.clone());
        let recommended = &models[models.len() - 1];
        let plan = Applied::new(recommended, &study, "the model", &origin)?
            .plan(&PlanAsked { instance, ..PlanAsked::default() })?;
        let first = &Trial::all(&problem, &test, Start::AsLogged, seed)?[0];
        let index = WITH_INDICES.map(|method| (method, indices_of(first, &runs[0], method))).into();
        let (out, trials) = (asked.out.clone(), test.len());
        Ok(Self { name, domain, runs, trials, study, models, index, plan, out })
    }

    /// What the runs show together.
    pub fn findings(&self) -> Findings<'_> {
        let Self { name, domain, runs, trials, index, .. } = self;
        Findings { name: *name, domain, runs, trials: *trials, index }
    }
}

/// All indices that a method has in a trial, at the published discount.
fn indices_of(trial: &Trial<'_>, run: &Comparison, method: Method) -> Vec<f64> {
    let trained = run.trained.iter().find(|trained| trained.method == method);
    let table = match trained.map(|trained| trial.predict(&trained.predictor)) {
        Some(predicted) => trial.index(predicted.view(), PUBLISHED_DISCOUNT),
        None => trial.index(trial.truth(), PUBLISHED_DISCOUNT),
    };
    table.iter().copied().collect()
}

/// A model of the first run, as `restive train` would write it from its study.
fn model(objective: Objective, run: &Comparison, study: &Study, origin: &str) -> anyhow::Result<Trained> {
    let predictor = Some(PredictorName::Network);
    let asked = Asked { objective, predictor, standardise: Some(false), seed: run.seed, ..Asked::default() };
    let training = Training::new(study, &asked, origin)?;
    let Selected { fitted, two_stage, verdict } = run.selected.clone();
    let finished = match objective {
        Objective::TwoStage => Finished { fitted: two_stage, choice: None, selection: None },
        Objective::DecisionFocused => {
            Finished { fitted, choice: None, selection: Some((verdict, two_stage)) }
        }
    };
    let history = member_history(run.seed, &finished);
    Ok(Trained::new(training.model(vec![finished.fitted.predictor], vec![history]))?)
}
