//! `restive evaluate`: what the model's policy is worth beside others, by every estimator that applies.
//!
//! Propensities are those of whole instances, whichever part is judged: K of N arms at random is K/N for every arm, also where
//! only a few of the N are looked at.

use crate::apply::{Applied, indices, refuse_other_than_tables};
use crate::arguments::discount;
use crate::evaluate_report::{Loss, Report};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use ndarray::{Array3, s};
use restive::data::split::{Group, Part};
use restive::evaluation::{Behaviour, Case, Propensity, RatioUpTo, Settings, evaluate, likelihood};
use restive::instance::{Logged, Parts};

use restive::policy::{Policy, Temperature, myopic_index};
use restive::{Instance, Trajectories, Transition};
use std::path::PathBuf;

const ABOUT: &str = "\
Evaluate a model: what its policy is worth beside others, by every estimator that applies.

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features. Policies: no-action, random, \
round-robin, myopic (one-step gain), model-soft and model-strict (Whittle indices of the predicted transitions) and, where the \
study knows its truth, oracle-soft and oracle-strict.

Estimators:
  is         importance sampling (CWPDIS) over several trajectories, arm by arm: it cannot see
             that the other arms' states are those that the behaviour policy left them in
  segmented  the paper's variant for a single trajectory: its metric, not evidence, because a
             policy can win it without knowing anyone
  simulated  rollouts on transitions estimated from the trajectories; rows never seen are uniform
  true       rollouts on the true transitions, where the study knows them
  fluid      the limit of many arms, on transitions estimated from the trajectories

Intervals are nominal 95 % intervals, and the answer says what they cover. Gains are paired: both policies meet the same \
resamples and the same luck. Over several instances values are averages. Where a part of an instance \
is judged, its budget is in proportion; propensities are those of the whole.";

const EXAMPLES: &str = "\
Examples:
  restive evaluate model examples/study --part all
  restive evaluate model examples/study --part all --runs 200 --out scores.csv
  restive evaluate model examples/study --part all --temperature published:0.1 --json";

/// Evaluate a model: what its policy is worth beside others
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct EvaluateArguments {
    /// The folder of the model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// Which arms to judge on: by the study's column split, or else as the model's seed splits them
    #[arg(long, value_enum, default_value_t = Judged::Test)]
    part: Judged,

    /// Discount of the index, from 0 to 1 [default: 1 - 1/H with H the study's horizon; published: 0.99]
    #[arg(long, value_parser = discount, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Softness of the soft policies: spread:X (of the indices' standard deviation), published:X or absolute:X
    #[arg(long, value_parser = temperature, default_value = "spread:0.1")]
    temperature: Temperature,

    /// Where propensities come from [default: as study.toml says]
    #[arg(long, value_enum)]
    behaviour: Option<Source>,

    /// Which decisions enter a ratio of importance sampling
    #[arg(long, value_enum, default_value_t = Ratio::ThisStep)]
    ratio: Ratio,

    /// Simulated runs
    #[arg(long, default_value_t = 1000, value_name = "N")]
    runs: usize,

    /// Bootstrap resamples
    #[arg(long, default_value_t = 200, value_name = "N")]
    resamples: usize,

    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Write the scores to this file, one row each: .csv or .parquet
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,

    /// Print the scores as JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Judged {
    Test,
    Validation,
    Train,
    /// Every arm, those that were learnt from too
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Source {
    /// The column propensity
    Logged,
    /// K of N arms at random
    Uniform,
    /// The share of arms pulled at each step
    Estimated,
    /// No importance sampling
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ratio {
    /// All up to and including the step's own, as published
    ThisStep,
    /// All before the step: less noise where the reward does not depend on the action
    PreviousStep,
}

fn temperature(text: &str) -> Result<Temperature, String> {
    let expected = || "expected spread:X, published:X or absolute:X with X at least 0".to_string();
    let (name, number) = text.split_once(':').ok_or_else(expected)?;
    let number = number.parse::<f64>().ok().filter(|x| *x >= 0.0 && x.is_finite()).ok_or_else(expected)?;
    match name {
        "spread" => Ok(Temperature::Spread(number)),
        "published" => Ok(Temperature::Published(number)),
        "absolute" => Ok(Temperature::Absolute(number)),
        _ => Err(expected()),
    }
}

pub(crate) fn run(arguments: &EvaluateArguments) -> anyhow::Result<()> {
    refuse_other_than_tables(arguments.out.as_deref())?;
    crate::prepare::threads(arguments.threads)?;
    let applied = Applied::read(&arguments.model, &arguments.study)?;
    let groups = judged(&applied, arguments.part)?;
    let (source, is_rota) = source(&applied, arguments)?;
    let with_propensity = |instance: &Instance| with_propensity(instance, source);
    let whole = applied.instances.iter().map(with_propensity).collect::<anyhow::Result<Vec<_>>>()?;
    let discount = applied.index_discount(arguments.index_discount);
    let mut notes = applied.notes.clone();
    let instances: Vec<Instance> = groups.iter().map(|group| group.of(&whole)).collect();
    let predictions: Vec<Transition> = groups.iter().map(|group| applied.prediction(group)).collect();
    let has_truth = instances.iter().all(|instance| instance.truth().is_some());
    let (mut cases, mut not_indexable) = (Vec::new(), 0);
    for (instance, prediction) in instances.iter().zip(&predictions) {
        let (policies, not) = policies(instance, prediction, has_truth, discount, arguments.temperature)?;
        not_indexable += not;
        cases.push(Case { instance, policies, prediction: None });
    }
    let (logged, deployed) =
        (instances.iter().map(|i| i.trajectories().steps() - 1).max(), applied.study.settings.horizon);
    if let Some(logged) = logged.filter(|logged| *logged != deployed) {
        notes.push(format!(
            "is and segmented sum over the {logged} logged decisions, the other values over the {deployed} of a deployment: do not compare them"
        ));
    }
    if not_indexable > 0 {
        notes.push(format!(
            "{not_indexable} arms are not predicted to be indexable: their ranking is a heuristic"
        ));
    }
    let settings = Settings {
        behaviour: source.map(|_| Behaviour::Logged),
        ratio_up_to: match arguments.ratio {
            Ratio::ThisStep => RatioUpTo::ThisStep,
            Ratio::PreviousStep => RatioUpTo::PreviousStep,
        },
        runs: arguments.runs,
        resamples: arguments.resamples,
        seed: arguments.seed,
        ..Settings::new(applied.study.settings.horizon)
    };
    let evaluation = evaluate(&cases, &settings).with_context(|| arguments.study.display().to_string())?;
    let part = arguments.part.to_possible_value().expect("every part has a name").get_name().to_string();
    let loss = loss(&instances, &predictions);
    let report = Report { evaluation, loss, source, is_rota, discount, part, instances: &instances, notes };
    if let Some(out) = &arguments.out {
        report.write_table(out)?;
    }
    crate::print(|text| match arguments.json {
        true => report.write_json(text),
        false => report.write_text(text, arguments.out.as_deref()),
    })?;
    report.notes.iter().for_each(|note| eprintln!("restive: note: {note}"));
    report.warnings().iter().for_each(|warning| eprintln!("restive: warning: {warning}"));
    Ok(())
}

/// The arms to judge on.
fn judged(applied: &Applied, part: Judged) -> anyhow::Result<Vec<Group>> {
    let part = match part {
        Judged::All => return Ok(applied.all()),
        Judged::Test => Part::Test,
        Judged::Validation => Part::Validation,
        Judged::Train => Part::Train,
    };
    let name = part.name();
    let split = applied
        .split()
        .with_context(|| format!("--part {name}: cannot split; --part all takes every arm"))?;
    match split.part(part) {
        [] => bail!("--part {name}: found no arms, expected some; --part all takes every arm"),
        groups => Ok(groups.to_vec()),
    }
}

/// Where propensities come from, and whether that takes a rota for chance.
fn source(applied: &Applied, arguments: &EvaluateArguments) -> anyhow::Result<(Option<Behaviour>, bool)> {
    use restive_tables::Behaviour as Said;
    let said = applied.study.settings.behaviour;
    let source = match arguments.behaviour {
        None => match said {
            Said::Logged => Some(Behaviour::Logged),
            Said::Uniform | Said::RoundRobinAsUniform => Some(Behaviour::Uniform),
            Said::Estimated => Some(Behaviour::Estimated),
        },
        Some(Source::Logged) => Some(Behaviour::Logged),
        Some(Source::Uniform) => Some(Behaviour::Uniform),
        Some(Source::Estimated) => Some(Behaviour::Estimated),
        Some(Source::None) => None,
    };
    let has_column = applied.instances.iter().all(|instance| instance.trajectories().propensity().is_some());
    if source == Some(Behaviour::Logged) && !has_column {
        bail!("--behaviour logged: found no column propensity in the trajectories, expected one");
    }
    Ok((source, arguments.behaviour.is_none() && said == Said::RoundRobinAsUniform))
}

/// The instance with the propensities of its logged actions written down.
fn with_propensity(instance: &Instance, source: Option<Behaviour>) -> anyhow::Result<Instance> {
    let Some(source) = source else { return Ok(instance.clone()) };
    let log = instance.trajectories();
    let known = Propensity::new(log, source, instance.budget())?;
    let mut propensity = Array3::ones(log.state().dim());
    propensity.slice_mut(s![.., ..log.steps() - 1, ..]).assign(&known.values);
    let logged = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: Some(propensity),
        reward: log.reward().map(|reward| reward.to_owned()),
    };
    let trajectories = Trajectories::new(logged, instance.states())?;
    Ok(Instance::new(Parts { trajectories, ..instance.parts().clone() })?)
}

/// All policies by name, and how many arms are predicted not to be indexable.
fn policies(
    instance: &Instance,
    prediction: &Transition,
    has_truth: bool,
    discount: f64,
    temperature: Temperature,
) -> anyhow::Result<(Vec<(String, Policy)>, usize)> {
    let reward = instance.reward().view();
    let myopic = myopic_index(prediction.view(), reward, instance.discount());
    let mut policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("round-robin".to_string(), Policy::RoundRobin),
        ("myopic".to_string(), Policy::Strict(myopic)),
    ];
    let mut not_indexable = None;
    let truth = instance.truth().filter(|_| has_truth).map(|truth| ("oracle", truth));
    for (name, transition) in std::iter::once(("model", prediction)).chain(truth) {
        let (table, not) = indices(transition.view(), reward, discount)?;
        let softness = temperature.resolve(table.as_slice().expect("row-major"));
        policies.push((format!("{name}-soft"), Policy::Soft(table.clone(), softness)));
        policies.push((format!("{name}-strict"), Policy::Strict(table)));
        not_indexable.get_or_insert(not);
    }
    Ok((policies, not_indexable.unwrap_or(0)))
}

/// The predictive loss: per trajectory the mean over the instances, per transition over all of them.
fn loss(instances: &[Instance], predictions: &[Transition]) -> Loss {
    let (mut per_trajectory, mut total, mut seen) = (0.0, 0.0, 0.0);
    for (instance, prediction) in instances.iter().zip(predictions) {
        let counts = instance.trajectories().counts();
        let one = likelihood(&counts, prediction.view()).per_trajectory;
        per_trajectory += one / instances.len() as f64;
        total += one * counts.trajectories() as f64;
        seen += counts.view().sum();
    }
    Loss { per_trajectory, per_transition: total / seen }
}
