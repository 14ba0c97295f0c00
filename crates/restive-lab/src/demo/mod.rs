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
use files::Contents;
pub use files::check;
pub use findings::{Brought, Findings};
use rayon::prelude::*;
use restive::data::domain::Domain;
use restive_pipeline::generate::study_of;
use restive_pipeline::{Plan, Profile, SEED, indices, pulls};
use restive_tables::Study;
use std::path::Path;

/// What was compared, and what came of it.
pub struct Demo {
    name: DomainName,
    domain: Domain,
    runs: Vec<Comparison>,
    /// how many test instances a run has
    trials: usize,
    /// of the first run
    study: Study,
    /// all indices of some methods in the first trial of the first run
    index: Vec<(Method, Vec<f64>)>,
    /// whom to pull next in the first test instance of the first run
    pub plan: Plan,
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
        let [train, validation, test] = problem.parts(seed)?;
        let first = &Trial::all(&problem, &test, Start::AsLogged, seed)?[0];
        let plan = plan(&study, train.len() + validation.len(), first, &runs[0], &domain)?;
        let index = WITH_INDICES.map(|method| (method, indices_of(first, &runs[0], method))).into();
        Ok(Self { name, domain, trials: test.len(), runs, study, index, plan })
    }

    /// What the runs show together.
    pub fn findings(&self) -> Findings<'_> {
        let Self { name, domain, runs, trials, index, .. } = self;
        Findings { name: *name, domain, runs, trials: *trials, index }
    }

    /// Leaves a folder with everything; `command` is what to type to see it again.
    pub fn write(&self, out: &Path, replace: bool, command: &str) -> anyhow::Result<()> {
        let findings = self.findings();
        let contents = Contents {
            domain: self.name,
            runs: &self.runs,
            study: &self.study,
            plan: &self.plan,
            report: page::page(&findings, &self.plan, command, out).html(),
            figure: page::figure(&findings).svg(),
        };
        contents.write(out, replace)
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

/// Whom to pull next in the k-th instance of the study, that of the trial, as `restive plan` answers with its defaults.
fn plan(
    study: &Study,
    k: usize,
    trial: &Trial<'_>,
    run: &Comparison,
    domain: &Domain,
) -> anyhow::Result<Plan> {
    let index_discount = Method::DecisionFocusedRecommended.index_discount(domain.horizon);
    let transition = trial.predict(&run.selected.fitted.predictor);
    let (budget, observation) = (domain.budget, domain.observation);
    let (table, not_indexable) =
        indices(transition.view(), trial.instance.reward().view(), index_discount, observation)?;
    let (plan, never_observed) = pulls(&study.instances[k], &table, observation, budget, SEED + k as u64);
    let is_labelled = observation.chain().is_some();
    Ok(Plan { budget, index_discount, history: None, never_observed, not_indexable, is_labelled, plan })
}
