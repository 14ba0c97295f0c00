//! `restive demo`: two-stage and decision-focused learning side by side, as published and as deployed, within a minute.

mod charts;
mod files;
mod findings;
mod page;
mod text;
mod why;

use crate::lab::compare::{self, Method, Run, parts};
use crate::shared::begin::use_threads;
use crate::shared::display::peak_memory;
use crate::shared::progress::Progress;
use crate::shared::values::choice;
use anyhow::Context;
use clap::Args;
use files::Contents;
use findings::Findings;
use page::{figure, page};
use rayon::prelude::*;
use restive::data::domain::Domain;
use restive_pipeline::generate::{DomainName, study_of};
use restive_pipeline::{Plan, SEED, indices, pulls};
use restive_tables::Study;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

const ABOUT: &str = "\
Show two-stage and decision-focused learning side by side, as published and as deployed.

Each run generates a synthetic domain as in the published experiments (10 instances of 100 arms, 7 to train on, 1 to validate, \
2 to test on), trains both ways as published and both ways as recommended, and measures them on the test instances beside \
random pulls and an oracle that knows the true transitions: by the published metric (soft policy, index discount 0.99, \
temperature published:0.1) and as a programme would deploy them (the strict top K on the true transitions). Intervals are 95 % \
over the runs, differences are paired by run.

DIR becomes a folder: report.html (one page, needs no network), figure.svg, results.csv (every number), plan.csv (whom to pull \
next), and of the first run the study and the two models of the recommended profile, as restive train writes them. The other \
commands work on them: restive plan DIR/decision-focused DIR/study.";

/// What can be compared: all but the programme.
const DOMAINS: &[DomainName] = &[DomainName::TwoState, DomainName::FiveState, DomainName::Collapsing];

const EXAMPLES: &str = "\
Examples:
  restive demo
  restive plan restive-demo/decision-focused restive-demo/study --instance 8
  restive evaluate restive-demo/two-stage restive-demo/study
  restive demo --domain five-state --runs 2 --seed 7 --out five --json";

/// Show two-stage and decision-focused learning side by side, with a report
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct DemoArguments {
    /// The folder to write
    #[arg(short, long, value_name = "DIR", default_value = "restive-demo")]
    out: PathBuf,

    /// Which domain
    #[arg(long, value_parser = choice::<DomainName>(DOMAINS.iter().map(|domain| (domain.name(), domain.sentence()))), default_value = DomainName::TwoState.name())]
    domain: DomainName,

    /// How many runs, each with a seed of its own
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// Seed of the first run; the others follow it
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Replace the demo that is in the folder
    #[arg(long)]
    force: bool,

    /// Print all numbers as JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Arms per instance, of which a fifth may be pulled: smaller than published, for a quick look
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(5..=1000))]
    arms: Option<u16>,

    /// Trajectories per instance
    #[arg(long, value_name = "J", hide = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    trajectories: Option<u16>,
}

pub(crate) fn run(arguments: &DemoArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    use_threads(arguments.threads)?;
    files::check(&arguments.out, arguments.force)?;
    let name = arguments.domain.name();
    let published = arguments.domain.domain().expect("one of the published domains");
    let arms = arguments.arms.map_or(published.arms, usize::from);
    let trajectories = arguments.trajectories.map_or(published.trajectories, usize::from);
    let domain = Domain { arms, budget: arms / 5, trajectories, ..published };

    let runs = all_runs(arguments, &domain)?;
    let first = &runs[0];
    let study = study_of(arguments.domain, first.seed, first.instances.clone());
    let plan = plan(&study, first, &domain)?;
    let findings = Findings { name, domain: &domain, runs: &runs };
    let contents = Contents {
        domain: name,
        runs: &runs,
        study: &study,
        plan: &plan,
        report: page(&findings, &plan, &command(arguments), &arguments.out).html(),
        figure: figure(&findings).svg(),
    };
    contents.write(&arguments.out, arguments.force)?;

    let seconds = start.elapsed().as_secs_f64();
    crate::print(|text| {
        if arguments.json {
            let mut all = findings.json();
            all["plan"] = serde_json::to_value(&plan)?;
            all["restive"] = env!("CARGO_PKG_VERSION").into();
            all["out"] = arguments.out.display().to_string().into();
            all["seconds"] = json!(seconds);
            all["peak_memory_bytes"] = json!(peak_memory());
            serde_json::to_writer_pretty(&mut *text, &all)?;
            return writeln!(text);
        }
        text::write(text, &findings, &plan, &arguments.out, seconds)
    })
}

/// The runs, in the order of their seeds, shared among the threads.
fn all_runs(arguments: &DemoArguments, domain: &Domain) -> anyhow::Result<Vec<Run>> {
    let progress = Progress::new("runs");
    let shares = Mutex::new(vec![0.0; arguments.runs as usize]);
    let tell = |k: usize, share: f64| {
        if let Ok(mut shares) = shares.lock() {
            shares[k] = share;
            let done = shares.iter().filter(|share| **share >= 1.0).count();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            progress.say(mean, format!("{done} of {} runs done", shares.len()));
        }
    };
    let one = |k: u32| {
        let seed = arguments.seed.wrapping_add(k.into());
        let mut run = compare::run(domain, seed, |share| tell(k as usize, share))?;
        if k > 0 {
            // only the first run is kept for others to look into
            run.instances.clear();
            run.snapshot.numbers.clear();
        }
        Ok(run)
    };
    let runs = (0..arguments.runs).into_par_iter().map(one).collect::<restive::Result<_>>();
    runs.context("demo")
}

/// Whom to pull next in the first test instance of the first run, as `restive plan` answers with its defaults.
fn plan(study: &Study, run: &Run, domain: &Domain) -> anyhow::Result<Plan> {
    let [train, validation, test] = parts(&run.instances, run.seed)?;
    let k = train.len() + validation.len();
    let discount = Method::DecisionFocusedRecommended.index_discount(domain.horizon);
    let transition = run.selected.fitted.predictor.predict(test[0].features());
    let (table, not_indexable) =
        indices(transition.view(), test[0].reward().view(), discount, domain.observation)?;
    let (plan, never_observed) =
        pulls(&study.instances[k], &table, domain.observation, domain.budget, SEED + k as u64);
    let is_labelled = domain.observation.chain().is_some();
    let budget = domain.budget;
    let (index_discount, history) = (discount, None);
    Ok(Plan { budget, index_discount, history, never_observed, not_indexable, is_labelled, plan })
}

/// What to type to see it again.
fn command(arguments: &DemoArguments) -> String {
    let mut command = String::from("restive demo");
    if arguments.domain != DomainName::TwoState {
        command += &format!(" --domain {}", arguments.domain.name());
    }
    command += &format!(" --runs {} --seed {}", arguments.runs, arguments.seed);
    for (name, asked) in [("arms", arguments.arms), ("trajectories", arguments.trajectories)] {
        command += &asked.map_or(String::new(), |asked| format!(" --{name} {asked}"));
    }
    command + &format!(" --out {}", arguments.out.display())
}
