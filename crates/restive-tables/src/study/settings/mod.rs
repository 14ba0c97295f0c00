//! `study.toml`: settings of a study.
//!
//! ```toml
//! name = "calls in spring"          # optional, as is notes = "…"
//! states = 2
//! rewards = [0, 1]                  # R(s), or pairs [passive, active]; default s/(M−1)
//! discount = 0.99
//! budget = 20                       # arms that may be pulled per step, in every instance
//! horizon = 9                       # decision steps of a deployment
//! unit = "engaged weeks"             # optional: what a reward of 1 is called
//! ends = 40                         # optional: the step, as column t counts, at which the programme is over
//! observation = "full"              # default; or "collapsing": states are seen at pulls only
//! chain = 10                        # collapsing: labels kept for each state, the last one stays; or "infinite"
//! beliefs = 30                      # infinite: labels kept for each state; default: the longest gap of the data + horizon
//! rows = "all"                      # default; or "pulls" (collapsing): an arm without a row was left alone
//! behaviour = "logged"              # or "uniform", "estimated", "round-robin-as-uniform", "none": no importance sampling
//! cluster = "household"             # optional: column of the table of arms with the cluster of each arm, not a feature
//! assignment = "per-decision"       # default; or "per-person": pulls are assigned by lot once per arm and last for several decisions
//! text = ["district"]               # optional: features that are categories though they look like numbers
//! silenced = { drift = "the strike" } # optional: checks of `restive doctor` that do not count, each with its reason
//! ```

mod assignment;
mod behaviour;
mod lines;
mod observation;
mod silenced;

pub(super) use assignment::name as assignment_name;
pub use behaviour::StudyBehaviour;
pub(super) use observation::{MOST_LABELS, Rows, longest_chain};
pub use silenced::CHECKS;

use crate::error::{Error, Result};
use crate::foreign::{Wanted, refuse};
use crate::read::whole::read_whole;
use lines::Lines;
use ndarray::Array2;
use observation::WrittenChain;
use restive::instance::{Assignment, Observation};
use restive::{Reward, check_discount};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Value;

/// The most states that a study may have.
const MOST_STATES: usize = 1024;

/// What holds for all instances of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySettings {
    /// what the study is called
    pub name: Option<String>,
    /// whatever should be remembered
    pub notes: Option<String>,
    /// what a reward of 1 is called
    pub unit: Option<String>,
    /// R(s, a), and with it M
    pub reward: Reward,
    /// γ
    pub discount: f64,
    /// K
    pub budget: usize,
    /// decision steps of a deployment
    pub horizon: usize,
    /// the step, as column t counts, at which the programme is over; none: it has no end
    pub ends: Option<usize>,
    /// when states are seen, and the labels that are kept where that is at pulls only
    pub observation: Observation,
    /// Source of the propensities.
    pub behaviour: StudyBehaviour,
    /// Column of the table of arms with the cluster of each arm. `None`: each arm is a cluster of its own.
    pub cluster: Option<String>,
    /// Unit to which pulls were assigned at random.
    pub assignment: Assignment,
    /// features that are categories though they look like numbers
    pub text: Vec<String>,
    /// checks that do not count, by name, each with its reason
    pub silenced: BTreeMap<String, String>,
}

/// What is written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    states: usize,
    rewards: Vec<WrittenReward>,
    discount: f64,
    budget: usize,
    horizon: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends: Option<usize>,
    observation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<WrittenChain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beliefs: Option<usize>,
    behaviour: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignment: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    text: &'a [String],
    // a table: behind all that is none
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    silenced: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenReward {
    Either(f64),
    ByAction([f64; 2]),
}

impl StudySettings {
    /// With what it says of the rows of the trajectories. An infinite chain of 0 beliefs stands for as many as the data and the
    /// horizon ask for.
    pub(super) fn read(path: &Path) -> Result<(Self, Rows)> {
        let text = read_whole(path)?;
        refuse(path, &text, Wanted::Toml)?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::content(path, "", "bytes that are no UTF-8", "text in UTF-8"))?;
        Self::parse(path, text.strip_prefix('\u{feff}').unwrap_or(&text))
    }

    /// The settings in the text of a `study.toml`; `path` is what messages call it.
    pub fn from_text(path: &Path, text: &str) -> Result<Self> {
        Self::parse(path, text).map(|(settings, _)| settings)
    }

    /// The same, with what it says of the rows of the trajectories.
    pub(super) fn parse(path: &Path, text: &str) -> Result<(Self, Rows)> {
        let lines = Lines::parse(path, text)?;
        let text_of = |value: &Value| value.as_str().map(str::to_owned);
        let states = lines.need("states", |value| whole(value, 1..=MOST_STATES))?;
        let discount =
            lines.need("discount", |value| number(value).filter(|x| check_discount(*x).is_ok()))?;
        let budget = lines.need("budget", |value| whole(value, 0..=usize::MAX))?;
        let horizon = lines.need("horizon", |value| whole(value, 1..=u16::MAX.into()))?;
        let ends = lines.take("ends", |value| whole(value, 1..=usize::MAX))?;
        let named =
            |value: &Value| StudyBehaviour::ALL.into_iter().find(|b| value.as_str() == Some(b.name()));
        let behaviour = lines.need("behaviour", named)?;
        let rewards = |value: &Value| {
            let rewards = value.as_array().filter(|all| all.len() == states)?;
            let all: Option<Vec<[f64; 2]>> = rewards.iter().map(reward).collect();
            let all = all?;
            Reward::of_state_and_action(Array2::from_shape_fn((states, 2), |(s, a)| all[s][a])).ok()
        };
        let reward = lines.take("rewards", rewards)?.unwrap_or_else(|| Reward::linear(states));
        let observation = observation::read(&lines, &reward)?;
        let rows = observation::rows(&lines, observation)?;
        let (cluster, assignment) = assignment::read(&lines, behaviour, observation)?;
        let (name, notes) = (lines.take("name", text_of)?, lines.take("notes", text_of)?);
        let unit = lines.take("unit", |value| text_of(value).filter(|unit| !unit.trim().is_empty()))?;
        let names = |value: &Value| value.as_array()?.iter().map(text_of).collect();
        let text = lines.take("text", names)?.unwrap_or_default();
        let silenced = silenced::read(&lines)?;
        let read = Self {
            name,
            notes,
            unit,
            reward,
            discount,
            budget,
            horizon,
            ends,
            observation,
            behaviour,
            cluster,
            assignment,
            text,
            silenced,
        };
        Ok((read, rows))
    }

    /// As `study.toml` has it.
    pub(super) fn to_toml(&self) -> String {
        let reward = self.reward.view();
        let rewards = |row: ndarray::ArrayView1<f64>| match row[0].to_bits() == row[1].to_bits() {
            true => WrittenReward::Either(row[0]),
            false => WrittenReward::ByAction([row[0], row[1]]),
        };
        let (observation, chain, beliefs) = observation::written(self.observation);
        let written = Written {
            name: self.name.as_deref(),
            notes: self.notes.as_deref(),
            unit: self.unit.as_deref(),
            states: self.reward.states(),
            rewards: reward.rows().into_iter().map(rewards).collect(),
            discount: self.discount,
            budget: self.budget,
            horizon: self.horizon,
            ends: self.ends,
            observation,
            chain,
            beliefs,
            behaviour: self.behaviour.name(),
            cluster: self.cluster.as_deref(),
            assignment: (self.assignment != Assignment::default()).then(|| assignment_name(self.assignment)),
            text: &self.text,
            silenced: &self.silenced,
        };
        toml::to_string(&written).expect("plain values")
    }
}

fn whole(value: &Value, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
    usize::try_from(value.as_integer()?).ok().filter(|found| range.contains(found))
}

/// A number, with or without a point.
fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|x| x as f64))
}

/// R(s, ·): a number, or a pair [passive, active].
fn reward(value: &Value) -> Option<[f64; 2]> {
    match value.as_array().map(Vec::as_slice) {
        None => number(value).map(|reward| [reward; 2]),
        Some([passive, active]) => Some([number(passive)?, number(active)?]),
        Some(_) => None,
    }
}
