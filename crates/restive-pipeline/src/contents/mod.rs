//! What a study holds: sizes, counts of what was logged, features, and what training would complain of.

//!
//! A study of very many people is not read into memory for that: its log is counted as a [roll](restive_tables::Roll), and its features pass by
//! once. Either way the answer is the same.

mod labels;
mod order;
mod roll;

pub use labels::StudyLabels;
pub use order::TrajectoryOrder;

use crate::columns::doubtful;
use crate::message::Message;
use crate::prepare::every_arm;
use crate::prepare::over_budget;
use crate::words::grouped;
use restive::data::encoding::{Encoding, Standardise};
use restive::data::features::{Column, Features};
use restive::data::split::Part;
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::{Study, StudySettings};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a study holds.
#[derive(Debug, Serialize)]
pub struct StudyContents {
    /// what it is called, where it says
    pub name: Option<String>,
    /// of its contents
    pub fingerprint: String,
    /// M
    pub states: usize,
    /// R(s), or [passive, active] where they differ
    pub rewards: Vec<StateReward>,
    /// γ
    pub discount: f64,
    /// K
    pub budget: usize,
    /// decisions of a deployment
    pub horizon: usize,
    /// full or collapsing
    pub observation: &'static str,
    /// where states are seen at pulls only
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<StudyLabels>,
    /// where propensities come from, as study.toml says
    pub behaviour: &'static str,
    /// how many
    pub instances: usize,
    /// over all instances
    pub arms: usize,
    /// arms that no trajectory speaks of
    pub newcomers: usize,
    /// what is known of arms, in the order of the table
    pub features: Vec<FeatureContents>,
    /// over all instances
    pub trajectories: usize,
    /// in which order they follow each other, where an instance has several
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory_order: Option<TrajectoryOrder>,
    /// steps of the longest trajectory that have a decision
    pub decision_steps: usize,
    /// actions of single arms, passive or active
    pub decisions: u64,
    /// actions that are active
    pub pulls: u64,
    /// mean over steps with decisions
    pub pulls_per_step: f64,
    /// of a step
    pub most_pulls: usize,
    /// share of arms and steps without a state or label
    pub share_unobserved: f64,
    /// whether the log says how likely its actions were
    pub has_propensity: bool,
    /// whether the log has rewards of its own
    pub has_reward: bool,
    /// whether the true transitions are known
    pub has_truth: bool,
    /// arms per part, where the study says
    pub split: Option<BTreeMap<&'static str, usize>>,
    /// what should be known of the log
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// what training would refuse or complain of
    pub warnings: Vec<Message>,
}

/// The reward of a state.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum StateReward {
    /// whatever the action
    Either(f64),
    /// passive, active
    ByAction([f64; 2]),
}

/// What a feature holds.
#[derive(Debug, Serialize)]
pub struct FeatureContents {
    /// of the column
    pub name: String,
    /// numbers or text
    pub kind: &'static str,
    /// of a feature of text
    pub categories: Option<usize>,
    /// arms without it
    pub missing: usize,
}

impl StudyContents {
    /// Looks through a study.
    pub fn new(study: &Study) -> Self {
        let (settings, instances) = (&study.settings, &study.instances);
        let (mut decisions, mut pulls, mut steps, mut unobserved, mut cells) = (0, 0, 0u64, 0, 0u64);
        let (mut decision_steps, mut newcomers) = (0, 0);
        for instance in instances {
            let (state, action) = (instance.trajectories.state(), instance.trajectories.action());
            cells += state.len() as u64;
            let mut is_known = vec![false; instance.arms.len()];
            for run in state.outer_iter().zip(action.outer_iter()) {
                for (t, (states, actions)) in run.0.outer_iter().zip(run.1.outer_iter()).enumerate() {
                    let mut here = 0;
                    for ((known, s), a) in is_known.iter_mut().zip(states).zip(actions) {
                        here += u64::from(*a != NO_ACTION);
                        pulls += u64::from(*a == 1);
                        unobserved += u64::from(*s == UNSEEN);
                        *known |= *s != UNSEEN || *a != NO_ACTION;
                    }
                    decisions += here;
                    if here > 0 {
                        steps += 1;
                        decision_steps = decision_steps.max(t + 1);
                    }
                }
            }
            newcomers += is_known.iter().filter(|known| !**known).count();
        }
        let split = instances.iter().map(|instance| instance.split.as_ref()).collect::<Option<Vec<_>>>();
        let split = split.map(|parts| {
            let count = |part| parts.iter().flat_map(|p| p.iter()).filter(|p| **p == part).count();
            Part::ALL.into_iter().map(|part| (part.name(), count(part))).collect()
        });
        let labels = settings.observation.chain().map(|chain| StudyLabels::new(study, chain));
        let is_derived = labels.as_ref().is_some_and(|labels| labels.has_derived_rewards);
        Self {
            name: settings.name.clone(),
            fingerprint: study.fingerprint(),
            states: settings.reward.states(),
            rewards: rewards(settings),
            discount: settings.discount,
            budget: settings.budget,
            horizon: settings.horizon,
            observation: if settings.observation.chain().is_some() { "collapsing" } else { "full" },
            labels,
            behaviour: settings.behaviour.name(),
            instances: instances.len(),
            arms: instances.iter().map(|instance| instance.arms.len()).sum(),
            newcomers,
            features: features(study),
            trajectories: instances.iter().map(|instance| instance.trajectories.trajectories()).sum(),
            trajectory_order: TrajectoryOrder::new(
                instances.iter().map(|instance| &instance.trajectory_names[..]),
            ),
            decision_steps,
            decisions,
            pulls,
            pulls_per_step: pulls as f64 / steps.max(1) as f64,
            most_pulls: instances
                .iter()
                .map(|instance| instance.trajectories.most_pulls())
                .max()
                .unwrap_or(0),
            share_unobserved: unobserved as f64 / cells.max(1) as f64,
            has_propensity: instances.iter().any(|instance| instance.trajectories.propensity().is_some()),
            has_reward: !is_derived
                && instances.iter().any(|instance| instance.trajectories.reward().is_some()),
            has_truth: instances.iter().any(|instance| instance.truth.is_some()),
            split,
            notes: over_budget(study).into_iter().chain(known_propensities(study)).collect(),
            warnings: warnings(study),
        }
    }
}

/// R(s) of every state.
fn rewards(settings: &StudySettings) -> Vec<StateReward> {
    let reward = settings.reward.view();
    let rewards = reward.rows().into_iter().map(|row| match row[0] == row[1] {
        true => StateReward::Either(row[0]),
        false => StateReward::ByAction([row[0], row[1]]),
    });
    rewards.collect()
}

/// Where the log says how likely some of its actions were, and not all.
fn known_propensities(study: &Study) -> Option<String> {
    let each = study.instances.iter().map(|instance| instance.trajectories.known_propensities());
    let (known, actions) = each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    say_known(known, actions)
}

fn say_known(known: usize, actions: usize) -> Option<String> {
    let has_some = known > 0 && known < actions;
    has_some.then(|| {
        format!("propensities are known of {} of {} actions", grouped(known as u64), grouped(actions as u64))
    })
}

/// What training would refuse, and what it would complain of.
fn warnings(study: &Study) -> Vec<Message> {
    let training = match study.given_split() {
        Some(Ok(split)) => split.train,
        _ => every_arm(study),
    };
    let features = study.features(&training);
    let split = study.given_split().and_then(Result::err).map(|error| format!("split: {error}"));
    let refused = split.into_iter().chain(useless_features(&features)).map(Message::from);
    refused.chain(doubtful(&features, |_| true)).collect()
}

/// Features that do not differ between the arms it learns from.
fn useless_features(features: &Features) -> Vec<String> {
    let columns = features.names().iter().cloned().zip(features.columns().iter().cloned());
    let fault = |column| {
        let alone = Features::new(features.arms(), vec![column]).expect("checked when it was read");
        Encoding::fit(&alone, Standardise::Yes, &[]).err().map(|error| error.to_string())
    };
    columns.filter_map(fault).collect()
}

fn features(study: &Study) -> Vec<FeatureContents> {
    let Some(first) = study.instances.first() else { return Vec::new() };
    let feature = |(c, name): (usize, &String)| {
        let columns = || study.instances.iter().map(move |instance| &instance.features.columns()[c]);
        let mut categories = BTreeSet::new();
        for column in columns() {
            if let Column::Text(values) = column {
                categories.extend(values.iter().flatten());
            }
        }
        let kind = first.features.columns()[c].kind();
        FeatureContents {
            name: name.clone(),
            kind,
            categories: (kind == "text").then_some(categories.len()),
            missing: columns().map(Column::missing).sum(),
        }
    };
    first.features.names().iter().enumerate().map(feature).collect()
}
