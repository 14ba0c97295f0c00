//! From a study to what is trained and judged on: its split, the encoding of its features, how likely its logged actions were.
//!
//! A training splits by its own seed and learns the encoding; a command that is given a model has both from its card, and so meets
//! the arms that the model was, or was not, trained on.

use crate::error::{Error, Result, refuse};
use crate::message::{Opt, message};
use crate::words::{counted, grouped, percent};
use ndarray::{Array3, s};
use restive::data::encoding::{EncodedColumn, Encoding, Gap, Standardise, Unseen};
use restive::data::features::{Column, Features};
use restive::data::split::{Group, MOST_DEALT, Split};
use restive::error::FeatureFault;
use restive::evaluation::Propensity;
use restive::instance::{Logged, OverBudget, Parts};
use restive::{Instance, Trajectories};
use restive_tables::show::{name, quoted_name};
use restive_tables::{Study, StudyInstance, arm_key};
use serde::{Deserialize, Serialize};

/// The split of a study: as its column `split` says, otherwise 70/10/20 at random by the seed; of whole clusters if the study has any.
pub fn split(study: &Study, seed: u64) -> Result<Split> {
    given_or_seeded(study, seed).map_err(|error| Error::at("split")(error.into()))
}

/// The same, with the bare reason where there is none.
pub fn given_or_seeded(study: &Study, seed: u64) -> restive::Result<Split> {
    let seeded = || match (study.cluster_numbers(), is_dealt_by_key(&study.arms())) {
        (Some(clusters), _) => Split::of_clusters(&clusters, seed),
        (None, false) => Split::seeded(&study.arms(), seed),
        (None, true) => {
            let keys = |there: &StudyInstance| {
                there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect::<Vec<u64>>()
            };
            Split::keyed(&study.instances.iter().map(keys).collect::<Vec<_>>(), seed)
        }
    };
    study.given_split().unwrap_or_else(seeded)
}

/// Whether the arms of instances of these sizes are dealt by their keys: very many, in fewer than three instances.
pub(crate) fn is_dealt_by_key(arms: &[usize]) -> bool {
    arms.len() < 3 && arms.iter().sum::<usize>() > MOST_DEALT
}

/// The encoding of a study's features, learnt from some arms.
pub fn encoding(
    study: &Study,
    arms: &[Group],
    standardise: Standardise,
    drop: &[String],
) -> Result<Encoding> {
    let (features, dropped) = (study.features(arms), drop.iter().map(String::as_str).collect::<Vec<_>>());
    refuse_unknown(drop, &features.names().iter().map(String::as_str).collect::<Vec<_>>())?;
    Encoding::fit(&features, standardise, &dropped).map_err(may_be_dropped)
}

/// Refuses to leave out a feature that is not there.
pub(crate) fn refuse_unknown(drop: &[String], features: &[&str]) -> Result<()> {
    const LISTED: usize = 10;
    if let Some(unknown) = drop.iter().find(|name| !features.contains(&name.as_str())) {
        let known: Vec<String> = features.iter().map(|known| name(known)).take(LISTED).collect();
        let more = if features.len() > LISTED { ", …" } else { "" };
        refuse!(
            Opt("drop"),
            format!(": found {}, expected a feature: {}{more}", quoted_name(unknown), known.join(", "))
        );
    }
    Ok(())
}

/// A fault of an encoding, with how to do without the column where that helps.
pub(crate) fn may_be_dropped(error: restive::Error) -> Error {
    match &error {
        restive::Error::Feature {
            column,
            fault: FeatureFault::Constant { .. } | FeatureFault::AllMissing,
        } => Error::Data(message!(format!("{error}: "), Opt("drop"), format!(" {}", name(column)))),
        _ => error.into(),
    }
}

/// Writes down how likely each logged action was, for importance sampling; by whole instances, before they are cut into parts.
pub fn weigh(study: &Study, instances: &mut [Instance]) -> Result<()> {
    let Some(source) = study.settings.behaviour.source() else {
        let why = " is: found behaviour = \"none\" in study.toml, expected \"logged\", \"uniform\", \"estimated\" or \
                   \"round-robin-as-uniform\": importance sampling needs propensities; ";
        refuse!(Opt("value"), why, Opt("value"), " fluid needs none")
    };
    for instance in instances {
        let propensity = Propensity::of_instance(instance, source)
            .map_err(|error| Error::at(message!(Opt("value"), " is: no propensities"))(error.into()))?;
        *instance = with_propensity(instance, &propensity)?;
    }
    Ok(())
}

/// What should be known of a study that logged more pulls at a step than its budget allows today.
pub fn over_budget(study: &Study) -> Option<String> {
    study.over_budget().map(|over| say_over_budget(over, study.settings.budget))
}

pub(crate) fn say_over_budget(OverBudget { steps, most }: OverBudget, budget: usize) -> String {
    let steps = counted(steps as u64, "logged step");
    format!(
        "{steps} with more pulls than the budget of {budget}, {most} at most: the log counts as it is, decisions to come keep to \
         the budget"
    )
}

/// The instance with the propensities of its logged actions written down.
pub fn with_propensity(instance: &Instance, known: &Propensity) -> Result<Instance> {
    let log = instance.trajectories();
    let mut propensity = Array3::ones(log.state().dim());
    propensity.slice_mut(s![.., ..log.steps() - 1, ..]).assign(&known.values);
    let logged = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: Some(propensity),
        reward: log.reward().map(|reward| reward.to_owned()),
        available: log.available().map(|available| available.to_owned()),
    };
    let trajectories = Trajectories::new(logged, instance.labels())?;
    Ok(Instance::new(Parts { trajectories, ..instance.parts().clone() })?)
}

/// What should be known of importance sampling where states, and with them rewards, are seen at pulls only.
pub fn rewards_at_pulls(instances: &[Instance]) -> Option<String> {
    // of arms that were left alone
    let (mut left, mut known) = (0u64, 0u64);
    for instance in instances.iter().filter(|instance| instance.observation().chain().is_some()) {
        let log = instance.trajectories();
        let is_left = log.action().iter().map(|a| *a == 0).collect::<Vec<_>>();
        left += is_left.iter().filter(|is| **is).count() as u64;
        if let Some(rewards) = log.reward() {
            let cells = rewards.iter().zip(is_left).filter(|(reward, is_left)| *is_left && !reward.is_nan());
            known += cells.count() as u64;
        }
    }
    let said = match known {
        0 => "rewards are known at pulls only".to_string(),
        _ => format!(
            "rewards are known at pulls, and at {} of the steps without one only",
            percent(known as f64 / left as f64)
        ),
    };
    (known < left).then(|| {
        said + ": importance sampling averages over arms with a known reward, and by this step's action it leans towards states in \
                which the policy pulls; a column reward avoids that"
    })
}

/// Every arm of a study, by instance.
pub fn every_arm(study: &Study) -> Vec<Group> {
    let whole = |(instance, n): (usize, usize)| Group { instance, arms: (0..n).collect() };
    study.arms().into_iter().enumerate().map(whole).collect()
}

/// What is known of all arms of a study, in one table.
pub fn features(study: &Study) -> Features {
    Features::stack(&study.instances.iter().map(|instance| &instance.features).collect::<Vec<_>>())
}

/// Warnings of values of some arms that no training arm had, and of values that they miss and no training arm did.
pub fn unseen(features: &Features, encoding: &Encoding) -> Vec<String> {
    let mut said = say_unseen(&encoding.unseen(features));
    said.extend(say_gaps(&encoding.gaps(features)));
    said
}

/// One warning for each feature that is missing in some arms, and in no training arm.
pub(crate) fn say_gaps(gaps: &[Gap]) -> Vec<String> {
    let said = |gap: &Gap| {
        let (feature, arms) = (name(&gap.column), counted(gap.arms as u64, "arm"));
        let stand_in = if gap.is_number { "their mean" } else { "none of the known" };
        format!(
            "feature {feature}: {arms} without a value, which all training arms have: encoded as {stand_in}"
        )
    };
    gaps.iter().map(said).collect()
}

/// One warning for each category that no training arm had; one for all of a feature that has many. Categories are in the order of columns, and
/// then by name.
pub(crate) fn say_unseen(unseen: &[Unseen]) -> Vec<String> {
    const LISTED: usize = 3;
    let said = |column: &[Unseen]| {
        let known = "which no training arm has: encoded as none of the known";
        let warning = |categories: String, arms: usize| {
            let feature = name(&column[0].column);
            format!("feature {feature}: {} with {categories}, {known}", counted(arms as u64, "arm"))
        };
        let names = column.iter().map(|unseen| name(&unseen.category));
        if column.len() > LISTED {
            let named = names.take(LISTED).collect::<Vec<_>>().join(", ");
            let categories = format!("one of {} values ({named}, …)", grouped(column.len() as u64));
            return vec![warning(categories, column.iter().map(|unseen| unseen.arms).sum())];
        }
        names.zip(column).map(|(category, unseen)| warning(category, unseen.arms)).collect()
    };
    unseen.chunk_by(|one, other| one.column == other.column).flat_map(said).collect()
}

/// One warning for each feature that the model learnt from and that does not differ between these arms: missing in all of them,
/// or the same.
pub fn flat(features: &Features, encoding: &Encoding) -> Vec<String> {
    let mut alike = Alike::default();
    alike.add(features, encoding);
    alike.warnings(encoding)
}

/// Whether the features that a model learnt from differ between arms that pass by.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Alike {
    /// of each column of the encoding: arms, arms that miss it, and what the first had
    columns: Vec<Seen>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Seen {
    arms: usize,
    missing: usize,
    first: Option<Cell>,
    differs: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Cell {
    Number(f64),
    Text(String),
}

impl Alike {
    /// Some arms pass by.
    pub(crate) fn add(&mut self, features: &Features, encoding: &Encoding) {
        self.columns.resize(encoding.columns.len(), Seen::default());
        for (seen, learnt) in self.columns.iter_mut().zip(&encoding.columns) {
            let Some(column) = features.column(&learnt.name) else { continue };
            seen.arms += column.len();
            seen.missing += column.missing();
            if seen.differs {
                continue;
            }
            match column {
                Column::Number(values) => {
                    for x in values.iter().filter(|x| !x.is_nan()) {
                        let first = seen.first.get_or_insert(Cell::Number(*x));
                        seen.differs |= *first != Cell::Number(*x);
                    }
                }
                Column::Text(values) => {
                    for text in values.iter().flatten() {
                        let first = seen.first.get_or_insert_with(|| Cell::Text(text.clone()));
                        seen.differs |= !matches!(first, Cell::Text(first) if first == text);
                    }
                }
            }
        }
    }

    /// Those of others.
    pub(crate) fn merge(&mut self, other: Self) {
        self.columns.resize(self.columns.len().max(other.columns.len()), Seen::default());
        for (here, there) in self.columns.iter_mut().zip(other.columns) {
            here.arms += there.arms;
            here.missing += there.missing;
            here.differs |= there.differs;
            match (&here.first, there.first) {
                (Some(first), Some(other)) => here.differs |= *first != other,
                (None, other) => here.first = other,
                (Some(_), None) => {}
            }
        }
    }

    /// One warning for each feature that does not differ.
    pub(crate) fn warnings(&self, encoding: &Encoding) -> Vec<String> {
        let flat = |(seen, learnt): (&Seen, &EncodedColumn)| {
            let same = match &seen.first {
                _ if seen.arms < 2 || seen.differs => return None,
                None => "missing in every arm".into(),
                // that some are missing is a difference
                Some(_) if seen.missing > 0 => return None,
                Some(Cell::Number(x)) => format!("found {x} in every arm"),
                Some(Cell::Text(text)) => format!("found {} in every arm", quoted_name(text)),
            };
            let name = name(&learnt.name);
            Some(format!(
                "feature {name}: {same}, though it differed between arms at training: is the column right?"
            ))
        };
        self.columns.iter().zip(&encoding.columns).filter_map(flat).collect()
    }
}
