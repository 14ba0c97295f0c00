//! What a study holds, as text or JSON.

use crate::shared::display::{counted, duration, grouped, peak_memory, percent};
use restive::data::split::Part;
use restive_pipeline::{StateReward, StudyContents, StudyLabels, TrajectoryOrder};
use restive_tables::show::cell;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
pub(crate) struct StudySummary<'a> {
    study: String,
    #[serde(flatten)]
    contents: &'a StudyContents,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

impl<'a> StudySummary<'a> {
    pub(crate) fn new(path: &Path, contents: &'a StudyContents, elapsed: Duration) -> Self {
        let (study, seconds) = (path.display().to_string(), elapsed.as_secs_f64());
        Self { study, contents, seconds, peak_memory_bytes: peak_memory() }
    }

    pub(crate) fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let contents = self.contents;
        let count = |number: usize| grouped(number as u64);
        let reward = |reward: &StateReward| match reward {
            StateReward::Either(reward) => reward.to_string(),
            StateReward::ByAction([passive, active]) => format!("{passive}/{active}"),
        };
        let rewards = contents.rewards.iter().map(reward).collect::<Vec<_>>().join(" ");
        let yes = |is_so: bool| if is_so { "yes" } else { "no" };
        let newcomers = match contents.newcomers {
            0 => String::new(),
            some => format!(", {} of them never seen in a trajectory", count(some)),
        };
        let mut lines = vec![
            ("study", cell(contents.name.as_deref().unwrap_or(&self.study))),
            ("states", format!("{}, rewards {rewards}, discount {}", contents.states, contents.discount)),
            ("instances", count(contents.instances)),
            ("arms", format!("{}{newcomers}", count(contents.arms))),
            ("trajectories", format!("{}{}", count(contents.trajectories), order(contents))),
            (
                "decisions",
                format!(
                    "{} in up to {} steps per trajectory; a deployment has {}",
                    grouped(contents.decisions),
                    count(contents.decision_steps),
                    count(contents.horizon)
                ),
            ),
            (
                "pulls per step",
                format!(
                    "{:.4} on average, {} at most, budget {}",
                    contents.pulls_per_step,
                    count(contents.most_pulls),
                    count(contents.budget)
                ),
            ),
            (
                "unobserved",
                match &contents.labels {
                    None => format!("{} of the states", percent(contents.share_unobserved)),
                    Some(_) => format!("{} of the labels", percent(contents.share_unobserved)),
                },
            ),
            (
                "behaviour",
                format!("{}; column propensity: {}", contents.behaviour, yes(contents.has_propensity)),
            ),
            (
                "logged rewards",
                match &contents.labels {
                    Some(labels) if labels.has_derived_rewards => "no; derived from the states seen at pulls",
                    _ => yes(contents.has_reward),
                }
                .into(),
            ),
            ("truth", yes(contents.has_truth).into()),
        ];
        if let Some(StudyLabels { is_infinite, chain, sightings, longest_gap, .. }) = &contents.labels {
            let end = if *is_infinite { "infinite chain, " } else { "" };
            let seen = format!("at pulls only; {end}{} for each state", counted(*chain as u64, "label"));
            let known =
                format!("{} of {} pulls at a known label", grouped(*sightings), grouped(contents.pulls));
            lines.insert(2, ("seen", seen));
            lines.push((
                "sightings",
                format!("{known}; longest gap {}", counted(*longest_gap as u64, "step")),
            ));
        }
        if let Some(split) = &contents.split {
            let parts = Part::ALL.map(|part| format!("{} {}", count(split[part.name()]), part.name()));
            lines.push(("split", format!("{} arms", parts.join(", "))));
        }
        lines.push(("fingerprint", contents.fingerprint.clone()));
        lines.push(("features", count(contents.features.len())));
        for (what, value) in lines {
            writeln!(text, "{what:<15} {value}")?;
        }
        let names: Vec<String> = contents.features.iter().map(|feature| cell(&feature.name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, feature) in names.iter().zip(&contents.features) {
            let kind = match feature.categories {
                Some(categories) => format!("text, {categories} categories"),
                None => feature.kind.into(),
            };
            let missing = match feature.missing {
                0 => String::new(),
                some => format!(", missing for {}", counted(some as u64, "arm")),
            };
            writeln!(text, "  {name:<width$}  {kind}{missing}")?;
        }
        writeln!(text, "\nNo fault found; {}", duration(self.seconds))
    }
}

/// Which trajectory is the latest, where there are several.
fn order(contents: &StudyContents) -> String {
    match &contents.trajectory_order {
        None => String::new(),
        Some(TrajectoryOrder { by, latest: Some(latest) }) => {
            format!(", by {by}: {} is the latest", cell(latest))
        }
        Some(TrajectoryOrder { by, latest: None }) => {
            format!(", by {by}: the last of an instance is its latest")
        }
    }
}
