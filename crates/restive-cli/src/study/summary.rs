//! What a study holds, as text or JSON.

use super::labels::Labels;
use crate::shared::display::{counted, peak_memory};
use crate::shared::display::{duration, grouped, percent};
use restive::data::features::Column;
use restive::data::split::Part;
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::Study;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
pub(crate) struct Summary {
    study: String,
    name: Option<String>,
    fingerprint: String,
    states: usize,
    /// R(s), or [passive, active] where they differ
    rewards: Vec<Reward>,
    discount: f64,
    budget: usize,
    horizon: usize,
    observation: &'static str,
    /// where states are seen at pulls only
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Labels>,
    behaviour: &'static str,
    instances: usize,
    arms: usize,
    /// arms that no trajectory speaks of
    newcomers: usize,
    features: Vec<Feature>,
    trajectories: usize,
    /// steps of the longest trajectory that have a decision
    decision_steps: usize,
    /// actions of single arms, passive or active
    decisions: u64,
    pulls: u64,
    /// mean over steps with decisions
    pulls_per_step: f64,
    most_pulls: usize,
    /// share of arms and steps without a state or label
    share_unobserved: f64,
    has_propensity: bool,
    has_reward: bool,
    has_truth: bool,
    /// arms per part, where the study says
    split: Option<BTreeMap<&'static str, usize>>,
    warnings: Vec<String>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Reward {
    Of(f64),
    OfAction([f64; 2]),
}

#[derive(Serialize)]
struct Feature {
    name: String,
    kind: &'static str,
    /// of a feature of text
    categories: Option<usize>,
    missing: usize,
}

impl Summary {
    pub(crate) fn new(path: &Path, study: &Study, warnings: &[String], elapsed: Duration) -> Self {
        let (settings, instances) = (&study.settings, &study.instances);
        let reward = settings.reward.view();
        let rewards = reward.rows().into_iter().map(|row| match row[0] == row[1] {
            true => Reward::Of(row[0]),
            false => Reward::OfAction([row[0], row[1]]),
        });
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
        let labels = settings.observation.chain().map(|chain| Labels::new(study, chain));
        let is_derived = labels.as_ref().is_some_and(|labels| labels.has_derived_rewards);
        Self {
            study: path.display().to_string(),
            name: settings.name.clone(),
            fingerprint: study.fingerprint(),
            states: settings.reward.states(),
            rewards: rewards.collect(),
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
            warnings: warnings.to_vec(),
            seconds: elapsed.as_secs_f64(),
            peak_memory_bytes: peak_memory(),
        }
    }

    pub(crate) fn write_json(&self, text: &mut Vec<u8>) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *text, self)?;
        writeln!(text)
    }

    pub(crate) fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let count = |number: usize| grouped(number as u64);
        let reward = |reward: &Reward| match reward {
            Reward::Of(of) => of.to_string(),
            Reward::OfAction([passive, active]) => format!("{passive}/{active}"),
        };
        let rewards = self.rewards.iter().map(reward).collect::<Vec<_>>().join(" ");
        let yes = |is: bool| if is { "yes" } else { "no" };
        let newcomers = match self.newcomers {
            0 => String::new(),
            some => format!(", {} of them never seen in a trajectory", count(some)),
        };
        let mut lines = vec![
            ("study", self.name.as_deref().unwrap_or(&self.study).escape_debug().to_string()),
            ("states", format!("{}, rewards {rewards}, discount {}", self.states, self.discount)),
            ("instances", count(self.instances)),
            ("arms", format!("{}{newcomers}", count(self.arms))),
            ("trajectories", count(self.trajectories)),
            (
                "decisions",
                format!(
                    "{} in up to {} steps per trajectory; a deployment has {}",
                    grouped(self.decisions),
                    count(self.decision_steps),
                    count(self.horizon)
                ),
            ),
            (
                "pulls per step",
                format!(
                    "{:.4} on average, {} at most, budget {}",
                    self.pulls_per_step,
                    count(self.most_pulls),
                    count(self.budget)
                ),
            ),
            (
                "unobserved",
                match &self.labels {
                    None => format!("{} of the states", percent(self.share_unobserved)),
                    Some(_) => format!("{} of the labels", percent(self.share_unobserved)),
                },
            ),
            ("behaviour", format!("{}; column propensity: {}", self.behaviour, yes(self.has_propensity))),
            (
                "logged rewards",
                match &self.labels {
                    Some(labels) if labels.has_derived_rewards => "no; derived from the states seen at pulls",
                    _ => yes(self.has_reward),
                }
                .into(),
            ),
            ("truth", yes(self.has_truth).into()),
        ];
        if let Some(Labels { is_infinite, chain, sightings, longest_gap, .. }) = &self.labels {
            let end = if *is_infinite { "infinite chain, " } else { "" };
            let seen = format!("at pulls only; {end}{} for each state", counted(*chain as u64, "label"));
            let known = format!("{} of {} pulls at a known label", grouped(*sightings), grouped(self.pulls));
            lines.insert(2, ("seen", seen));
            lines.push((
                "sightings",
                format!("{known}; longest gap {}", counted(*longest_gap as u64, "step")),
            ));
        }
        if let Some(split) = &self.split {
            let parts = Part::ALL.map(|part| format!("{} {}", count(split[part.name()]), part.name()));
            lines.push(("split", format!("{} arms", parts.join(", "))));
        }
        lines.push(("fingerprint", self.fingerprint.clone()));
        lines.push(("features", count(self.features.len())));
        for (what, value) in lines {
            writeln!(text, "{what:<15} {value}")?;
        }
        let width = self.features.iter().map(|f| f.name.escape_debug().count()).max().unwrap_or(0);
        for feature in &self.features {
            let kind = match feature.categories {
                Some(categories) => format!("text, {categories} categories"),
                None => feature.kind.into(),
            };
            let missing = match feature.missing {
                0 => String::new(),
                some => format!(", missing for {}", counted(some as u64, "arm")),
            };
            writeln!(text, "  {:<width$}  {kind}{missing}", feature.name.escape_debug().to_string())?;
        }
        writeln!(text, "\nNo fault found; {}", duration(self.seconds))
    }
}

fn features(study: &Study) -> Vec<Feature> {
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
        Feature {
            name: name.clone(),
            kind,
            categories: (kind == "text").then_some(categories.len()),
            missing: columns().map(Column::missing).sum(),
        }
    };
    first.features.names().iter().enumerate().map(feature).collect()
}
