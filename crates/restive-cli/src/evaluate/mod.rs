//! `restive evaluate`: what the model's policy is worth beside others, by every estimator that applies.
//!
//! Propensities are those of whole instances, whichever part is judged: K of N arms at random is K/N for every arm, also where
//! only a few of the N are looked at.

mod about;
mod arguments;
mod json;
mod report;

use crate::shared::prepare::{self, applied, refuse_other_than_tables};
use anyhow::{Context, bail};
pub(crate) use arguments::EvaluateArguments;
use arguments::{Judged, Ratio, Source};
use report::{Loss, Report};
use restive::data::split::{Group, Part};
use restive::evaluation::{
    Behaviour, Case, EvaluationSettings, Hindrance, Propensity, RatioUpTo, Record, World, evaluate,
};
use restive::policy::{Policy, Temperature};
use restive::{Instance, Transition};
use restive_pipeline::prepare::{behaviour, rewards_at_pulls, with_propensity};
use restive_pipeline::{Applied, indices};

pub(crate) fn run(arguments: &EvaluateArguments) -> anyhow::Result<()> {
    refuse_other_than_tables(arguments.out.as_deref())?;
    prepare::threads(arguments.threads)?;
    let applied = applied(&arguments.model, &arguments.study)?;
    let groups = judged(&applied, arguments.part)?;
    let (source, is_rota) = source(&applied, arguments)?;
    let discount = applied.index_discount(arguments.index_discount);
    let mut notes = applied.notes.clone();
    let judged = with_propensities(&applied, &groups, source)?;
    let hindrance = judged.is_none().then_some(Hindrance::Impossible);
    let whole = judged.as_ref().unwrap_or(&applied.instances);
    let instances: Vec<Instance> = groups.iter().map(|group| group.select(whole)).collect();
    notes.extend(changed_ratio(&applied, &groups, &instances));
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
    if source.is_some() && arguments.ratio == Ratio::ThisStep {
        notes.extend(rewards_at_pulls(&instances).map(|note| note + ", as does --ratio previous-step"));
    }
    if not_indexable > 0 {
        notes.push(format!(
            "{not_indexable} arms are not predicted to be indexable: their ranking is a heuristic"
        ));
    }
    let settings = EvaluationSettings {
        behaviour: source.filter(|_| hindrance.is_none()).map(|_| Behaviour::Logged),
        ratio_up_to: match arguments.ratio {
            Ratio::ThisStep => RatioUpTo::ThisStep,
            Ratio::PreviousStep => RatioUpTo::PreviousStep,
        },
        runs: arguments.runs,
        resamples: arguments.resamples,
        seed: arguments.seed,
        ..EvaluationSettings::new(applied.study.settings.horizon)
    };
    let evaluation = evaluate(&cases, &settings).with_context(|| arguments.study.display().to_string())?;
    let hindrance = hindrance.or(evaluation.evidence.hindrance);
    let loss = loss(&instances, &predictions);
    let instances = &instances;
    let report = Report {
        evaluation,
        loss,
        source,
        is_rota,
        hindrance,
        discount,
        settings: &settings,
        arguments,
        instances,
        notes,
    };
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
        None => Some(behaviour(said)),
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

/// The instances, those that are judged with the propensities of their logged actions written down; none where the assumed
/// behaviour never takes an action that was taken.
fn with_propensities(
    applied: &Applied,
    groups: &[Group],
    source: Option<Behaviour>,
) -> anyhow::Result<Option<Vec<Instance>>> {
    let mut instances = applied.instances.clone();
    let Some(source) = source else { return Ok(Some(instances)) };
    let mut is_judged = vec![false; instances.len()];
    groups.iter().for_each(|group| is_judged[group.instance] = true);
    for (instance, _) in instances.iter_mut().zip(is_judged).filter(|(_, is_judged)| *is_judged) {
        match Propensity::new(instance.trajectories(), source, instance.budget()) {
            Err(_) if source == Behaviour::Uniform => return Ok(None),
            propensity => *instance = with_propensity(instance, &propensity?)?,
        }
    }
    Ok(Some(instances))
}

/// Where a part is so small that whole pulls do not keep the ratio of pulls to arms.
fn changed_ratio(applied: &Applied, groups: &[Group], parts: &[Instance]) -> Option<String> {
    let ratios = groups.iter().zip(parts).map(|(group, part)| {
        let whole = &applied.instances[group.instance];
        let of = |instance: &Instance| instance.budget() as f64 / instance.arms() as f64;
        ((of(part) - of(whole)).abs() / of(whole).max(f64::MIN_POSITIVE), part, whole)
    });
    let (change, part, whole) = ratios.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let say = |instance: &Instance| format!("{} of {}", instance.budget(), instance.arms());
    (change > 0.1).then(|| {
        format!(
            "a part this small does not keep the ratio of pulls to arms: {} are pulled where it is {} in the whole; values are not those of the programme",
            say(part),
            say(whole)
        )
    })
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
    let observation = instance.observation();
    let myopic = World::new(observation, instance.reward(), prediction).myopic_index(instance.discount());
    let mut policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("round-robin".to_string(), Policy::RoundRobin),
        ("myopic".to_string(), Policy::Strict(myopic)),
    ];
    let mut not_indexable = None;
    let truth = instance.truth().filter(|_| has_truth).map(|truth| ("oracle", truth));
    for (name, transition) in std::iter::once(("model", prediction)).chain(truth) {
        let (table, not) = indices(transition.view(), reward, discount, observation)?;
        let softness = temperature.resolve(table.as_slice().expect("row-major"));
        policies.push((format!("{name}-soft"), Policy::Soft(table.clone(), softness)));
        policies.push((format!("{name}-strict"), Policy::Strict(table)));
        not_indexable.get_or_insert(not);
    }
    Ok((policies, not_indexable.unwrap_or(0)))
}

/// The predictive loss: per trajectory the mean over the instances, per transition (or sighting) over all of them.
fn loss(instances: &[Instance], predictions: &[Transition]) -> Loss {
    let (mut per_trajectory, mut total, mut seen) = (0.0, 0.0, 0.0);
    for (instance, prediction) in instances.iter().zip(predictions) {
        let record = Record::new(instance);
        let one = record.loss(prediction.view()).per_trajectory;
        per_trajectory += one / instances.len() as f64;
        total += one * instance.trajectories().trajectories() as f64;
        seen += record.total();
    }
    Loss { per_trajectory, per_transition: total / seen }
}
