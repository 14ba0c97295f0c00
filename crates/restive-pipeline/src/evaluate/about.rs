//! What the scores of an evaluation rest on, in words: what estimators judge by, notes and warnings.

use super::asked::{EstimatorsName, EvaluateAsked, RatioName};
use super::log::Source;
use crate::apply::Applied;
use crate::message::{Message, Opt, message};
use crate::prepare::rewards_at_pulls;
use crate::words::{counted, grouped};
use restive::Instance;
use restive::data::split::Group;
use restive::evaluation::{Estimator, Evaluation, Hindrance, Record};
use restive::instance::UNSEEN;

/// What an estimator judges by.
pub(super) fn judges_by(estimator: Estimator, name: EstimatorsName) -> &'static str {
    let is_judged = name == EstimatorsName::Judged;
    match estimator {
        Estimator::Simulated if is_judged => {
            "rollouts in the world of judges who were fitted to other people"
        }
        Estimator::Fluid if is_judged => {
            "the limit of many arms in the world of judges who were fitted to other people"
        }
        Estimator::Is => {
            "importance sampling, arm by arm: it cannot see that other arms' states are those of the behaviour policy"
        }
        Estimator::Segmented => "the paper's metric, not evidence; one trajectory, step by step",
        Estimator::Simulated => "rollouts on transitions estimated from the log",
        Estimator::True => "rollouts on the true transitions",
        Estimator::Fluid => "the limit of many arms on transitions estimated from the log",
    }
}

/// What should be known besides the numbers; `judged` are the instances of the groups.
pub(super) fn notes(
    applied: &Applied<'_>,
    asked: &EvaluateAsked,
    source: Source,
    groups: &[Group],
    judged: &[Instance],
    not_indexable: usize,
) -> Vec<Message> {
    let mut notes: Vec<Message> = applied.notes.iter().map(Message::from).collect();
    notes.extend(changed_ratio(applied, groups, judged).map(Message::from));
    let (logged, deployed) = (logged_decisions(judged), applied.study.settings.horizon);
    let is_published = asked.estimators == EstimatorsName::Published;
    if logged != deployed && is_published {
        let said = format!(
            "is and segmented sum over the {logged} logged decisions, the other values over the {deployed} of a deployment: do not compare them"
        );
        notes.push(said.into());
    }
    if is_published && source.behaviour.is_some() && asked.ratio == RatioName::ThisStep {
        let advice = || message!(", as does ", Opt("ratio"), " previous-step");
        notes.extend(rewards_at_pulls(judged).map(|note| Message::from(note).and(advice())));
    }
    if not_indexable > 0 {
        let said =
            format!("{not_indexable} arms are not predicted to be indexable: their ranking is a heuristic");
        notes.push(said.into());
    }
    notes
}

/// The most decisions of a log.
pub(super) fn logged_decisions(judged: &[Instance]) -> usize {
    judged.iter().map(|instance| instance.trajectories().steps() - 1).max().unwrap_or(0)
}

/// Where a part is so small that whole pulls do not keep the ratio of pulls to arms.
fn changed_ratio(applied: &Applied<'_>, groups: &[Group], judged: &[Instance]) -> Option<String> {
    let pulled = |instance: &Instance| instance.budget() as f64 / instance.arms() as f64;
    let changes = groups.iter().zip(judged).map(|(group, part)| {
        let whole = &applied.instances[group.instance];
        ((pulled(part) - pulled(whole)).abs() / pulled(whole).max(f64::MIN_POSITIVE), part, whole)
    });
    let (change, part, whole) = changes.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let say = |instance: &Instance| format!("{} of {}", instance.budget(), instance.arms());
    (change > 0.1).then(|| {
        format!(
            "a part this small does not keep the ratio of pulls to arms: {} are pulled where it is {} in the whole; values are not those of the programme",
            say(part),
            say(whole)
        )
    })
}

/// Whether states are seen at pulls only.
pub(super) fn is_labelled(judged: &[Instance]) -> bool {
    judged.iter().any(|instance| instance.observation().chain().is_some())
}

/// What the scores must not be read without.
pub(super) fn warnings(
    evaluation: &Evaluation,
    source: Source,
    hindrance: Option<Hindrance>,
    judged: &[Instance],
    is_published: bool,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let policies = &evaluation.policies;
    let has = |estimator| policies.iter().any(|(_, scores)| scores.iter().any(|s| s.estimator == estimator));
    let drift = evaluation.evidence.drift;
    if let Some(hindrance) = hindrance {
        warnings.push(format!("is and segmented are absent: {}", hindrance.words()));
    }
    if source.is_rota && is_published {
        warnings.push("a fixed rota is taken for K of N arms at random, as study.toml says".into());
    }
    if drift.is_visible() && is_published && (source.is_rota || has(Estimator::Segmented)) {
        warnings.push(format!(
            "the states drift over time (a state's share moves by up to {:.2}), which the segmented variant and a rota taken for chance assume not to happen",
            drift.largest
        ));
    }
    for (policy, estimator) in &evaluation.imputed {
        let name = estimator.name();
        warnings.push(format!(
            "{name}, {policy}: no value: the log knows no reward of anything that the policy does"
        ));
    }
    match is_labelled(judged) {
        true => warnings.extend(few_sightings(judged)),
        false if is_published => warnings.extend(unseen_rows(judged)),
        false => (),
    }
    warnings.extend(unknown_starts(judged));
    for (policy, scores) in policies {
        for score in scores {
            let name = score.estimator.name();
            if score.without_overlap > 0 {
                let decisions = counted(score.without_overlap as u64, "decision");
                warnings.push(format!("{name}, {policy}: {decisions} without overlap: the behaviour could not have done what the policy might"));
            }
            if score.dropped > 0 {
                let terms = counted(score.dropped as u64, "term");
                warnings.push(format!("{name}, {policy}: {terms} of which the log says nothing, counted as an average reward; the interval is wider for it"));
            }
        }
    }
    warnings
}

/// What simulated and fluid values take for uniform because it was never logged: nothing in their intervals knows of it.
fn unseen_rows(judged: &[Instance]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (action, name) in [(0, "passive"), (1, "active")] {
        let (mut rows, mut unseen) = (0usize, 0usize);
        for instance in judged {
            let counts = instance.trajectories().counts();
            for row in counts.view().index_axis_move(ndarray::Axis(2), action).rows() {
                rows += 1;
                unseen += usize::from(row.sum() == 0.0);
            }
        }
        let share = unseen as f64 / rows.max(1) as f64;
        let hidden = "simulated and fluid take them for uniform, and their intervals do not know it";
        if rows > 0 && unseen == rows {
            warnings.push(format!("no {name} transition was logged: {hidden}"));
        } else if share > 0.25 {
            let percent = 100.0 * share;
            let what = format!("{name} transitions (by arm and state) were never logged");
            warnings.push(format!("{percent:.0} % of the {what}: {hidden}"));
        }
    }
    warnings
}

/// Where states are seen at pulls only: a log that says little of each arm lets all of them look alike.
fn few_sightings(judged: &[Instance]) -> Option<String> {
    const ENOUGH: f64 = 50.0;
    let sightings: f64 = judged.iter().map(|instance| Record::new(instance).total()).sum();
    let arms = judged.iter().map(Instance::arms).sum::<usize>().max(1);
    let each = sightings / arms as f64;
    (each < ENOUGH).then(|| {
        format!(
            "{each:.1} sightings an arm: where a log says so little of each, simulated and fluid take it for an average one, \
             and gains come out too small; their intervals do not know it"
        )
    })
}

/// Where labels are not known from the first step on, what stands in for them.
fn unknown_starts(judged: &[Instance]) -> Option<String> {
    let (mut starts, mut unknown, mut arms) = (0u64, 0u64, 0u64);
    for instance in judged.iter().filter(|instance| instance.observation().chain().is_some()) {
        let state = instance.trajectories().state();
        for starting in state.index_axis(ndarray::Axis(1), 0).columns() {
            let without = starting.iter().filter(|label| **label == UNSEEN).count() as u64;
            starts += starting.len() as u64;
            unknown += without;
            arms += u64::from(without > 0);
        }
    }
    (unknown > 0).then(|| {
        let (arms, unknown, starts) = (counted(arms, "arm"), grouped(unknown), counted(starts, "start"));
        format!(
            "{arms} with an unknown label at the start ({unknown} of {starts}; columns last_state and since): they are taken to have been \
             last seen longer ago than the chain remembers"
        )
    })
}
