//! What a study of very many people holds: counts of its roll, and one pass over its features.

use super::{FeatureContents, StudyContents, TrajectoryOrder, rewards, say_known};
use crate::error::Result;
use crate::message::Message;
use crate::passing::Surveyed;
use crate::plan::is_large;
use crate::prepare::say_over_budget;
use restive::data::encoding::Standardise;
use restive::data::split::{Part, Split};
use restive_tables::{Roll, Study};
use std::path::Path;

impl StudyContents {
    /// Looks through the study of a folder: in memory, or passing by where it is large.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        match is_large(folder)? {
            true => Self::of_roll(&Roll::read(folder)?),
            false => Ok(Self::new(&Study::read(folder)?)),
        }
    }

    /// The same of a roll.
    pub fn of_roll(roll: &Roll) -> Result<Self> {
        let (settings, instances, counts) = (&roll.settings, roll.instances(), roll.counts());
        let has_training = counts.split.is_some_and(|[train, ..]| train > 0);
        let part = |i: usize| roll.part(i).filter(|_| has_training).unwrap_or(Part::Train);
        let parts: Vec<Part> = (0..roll.people()).map(part).collect();
        let surveyed = Surveyed::new(roll, &parts)?;
        let mut everybody = surveyed.learnt.clone();
        everybody.merge(&surveyed.others)?;
        let feature = |(name, kind): (&str, &'static str)| FeatureContents {
            name: name.into(),
            kind,
            categories: everybody.categories(name).map(|categories| categories.len()),
            missing: (everybody.arms() - everybody.known(name).unwrap_or(0)) as usize,
        };
        let over = roll.over_budget().map(|over| say_over_budget(over, settings.budget));
        let known = say_known(counts.known_propensities, counts.decisions);
        Ok(Self {
            name: settings.name.clone(),
            fingerprint: roll.fingerprint()?,
            states: settings.reward.states(),
            rewards: rewards(settings),
            discount: settings.discount,
            budget: settings.budget,
            horizon: settings.horizon,
            observation: "full",
            labels: None,
            behaviour: settings.behaviour.name(),
            instances: instances.len(),
            arms: counts.people,
            newcomers: counts.newcomers,
            features: roll.features().map(feature).collect(),
            trajectories: counts.trajectories,
            trajectory_order: TrajectoryOrder::new(instances.iter().map(|k| &k.trajectory_names[..])),
            decision_steps: counts.decision_steps,
            decisions: counts.decisions as u64,
            pulls: counts.pulls as u64,
            pulls_per_step: counts.pulls as f64 / counts.steps.max(1) as f64,
            most_pulls: counts.most_pulls,
            share_unobserved: counts.unobserved as f64 / counts.cells.max(1) as f64,
            has_propensity: counts.has_propensity,
            has_reward: counts.has_reward,
            has_truth: roll.has_truth(),
            split: counts.split.map(|sizes| {
                let named = Part::ALL.into_iter().zip(sizes);
                named.map(|(part, people)| (part.name(), people)).collect()
            }),
            notes: over.into_iter().chain(known).collect(),
            warnings: warnings(roll, &surveyed, &parts, has_training)?,
        })
    }
}

/// What training would refuse, and what it would complain of.
fn warnings(roll: &Roll, surveyed: &Surveyed, parts: &[Part], has_training: bool) -> Result<Vec<Message>> {
    let is_refused = roll.counts().split.is_some() && !has_training;
    let refused =
        is_refused.then(|| Split::given(&[]).err().map(|error| format!("split: {error}"))).flatten();
    let names: Vec<&str> = roll.features().map(|(name, _)| name).collect();
    let useless = names.iter().filter_map(|name| {
        let others: Vec<&str> = names.iter().copied().filter(|other| other != name).collect();
        surveyed.learnt.encoding(Standardise::Yes, &others).err().map(|error| error.to_string())
    });
    let mut warnings: Vec<Message> = refused.into_iter().chain(useless).map(Message::from).collect();
    warnings.extend(surveyed.doubtful(roll, parts, &[])?);
    Ok(warnings)
}
