//! `study.toml`: what a study says of itself.
//!
//! ```toml
//! name = "calls in spring"          # optional, as is notes = "…"
//! states = 2
//! rewards = [0, 1]                  # R(s), or pairs [passive, active]; default s/(M−1)
//! discount = 0.99
//! budget = 20                       # arms that may be pulled per step, in every instance
//! horizon = 9                       # decision steps of a deployment
//! observation = "full"              # default
//! behaviour = "logged"              # or "uniform", "estimated", "round-robin-as-uniform"
//! text = ["district"]               # optional: features that are categories though they look like numbers
//! ```

use crate::error::{Error, Result};
use ndarray::Array2;
use restive::{Reward, check_discount};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The most states that a study may have.
const MOST_STATES: usize = 1024;

/// Where the propensities of logged actions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// the column `propensity` of the trajectories
    Logged,
    /// K of N arms at random: K/N
    Uniform,
    /// estimated from the data
    Estimated,
    /// a fixed rota, taken for K of N at random: an assumption, which reports repeat
    RoundRobinAsUniform,
}

impl Behaviour {
    const ALL: [Behaviour; 4] =
        [Behaviour::Logged, Behaviour::Uniform, Behaviour::Estimated, Behaviour::RoundRobinAsUniform];

    /// As in `study.toml`.
    pub fn name(self) -> &'static str {
        ["logged", "uniform", "estimated", "round-robin-as-uniform"][self as usize]
    }
}

/// What holds for all instances of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// what the study is called
    pub name: Option<String>,
    /// whatever should be remembered
    pub notes: Option<String>,
    /// R(s, a), and with it M
    pub reward: Reward,
    /// γ
    pub discount: f64,
    /// K
    pub budget: usize,
    /// decision steps of a deployment
    pub horizon: usize,
    /// where propensities come from
    pub behaviour: Behaviour,
    /// features that are categories though they look like numbers
    pub text: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    states: usize,
    rewards: Option<Vec<RawReward>>,
    discount: f64,
    budget: usize,
    horizon: usize,
    observation: Option<String>,
    behaviour: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    text: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a pair [passive, active]")]
enum RawReward {
    Of(f64),
    OfAction([f64; 2]),
}

impl Settings {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).map_err(Error::io(path, "open"))?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::content(path, "", "bytes that are no UTF-8", "text"))?;
        let raw: Raw = toml::from_str(&text).map_err(|error| {
            let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            let words: Vec<&str> = error.message().split_whitespace().collect();
            Error::Settings { path: path.into(), line, column, found: words.join(" ") }
        })?;
        let refuse =
            |place: &str, found: String, expected: &str| Err(Error::content(path, place, found, expected));
        match raw.observation.as_deref() {
            None | Some("full") => {}
            Some("collapsing") => {
                return refuse(
                    "observation",
                    "\"collapsing\", which is not supported yet".into(),
                    "\"full\"",
                );
            }
            Some(other) => return refuse("observation", format!("{other:?}"), "\"full\""),
        }
        let Some(behaviour) = Behaviour::ALL.into_iter().find(|b| b.name() == raw.behaviour) else {
            let names = Behaviour::ALL.map(|b| format!("{:?}", b.name())).join(", ");
            return refuse("behaviour", format!("{:?}", raw.behaviour), &format!("one of {names}"));
        };
        if !(1..=MOST_STATES).contains(&raw.states) {
            return refuse("states", raw.states.to_string(), &format!("a number from 1 to {MOST_STATES}"));
        }
        if !(1..=usize::from(u16::MAX)).contains(&raw.horizon) {
            return refuse("horizon", raw.horizon.to_string(), "1 to 65535 decision steps");
        }
        if check_discount(raw.discount).is_err() {
            return refuse("discount", raw.discount.to_string(), "a number from 0 to 1");
        }
        let reward = match &raw.rewards {
            None => Reward::linear(raw.states),
            Some(rewards) if rewards.len() == raw.states => {
                let value = |(s, a): (usize, usize)| match rewards[s] {
                    RawReward::Of(reward) => reward,
                    RawReward::OfAction(reward) => reward[a],
                };
                match Reward::of_state_and_action(Array2::from_shape_fn((raw.states, 2), value)) {
                    Ok(reward) => reward,
                    Err(_) => {
                        return refuse("rewards", "a number that is not finite".into(), "finite numbers");
                    }
                }
            }
            Some(rewards) => {
                let expected = format!("{}, one per state", raw.states);
                return refuse("rewards", format!("{} rewards", rewards.len()), &expected);
            }
        };
        let Raw { name, notes, discount, budget, horizon, text, .. } = raw;
        Ok(Self { name, notes, reward, discount, budget, horizon, behaviour, text })
    }

    /// As `study.toml` has it.
    pub(super) fn to_toml(&self) -> String {
        let reward = self.reward.view();
        let of = |row: ndarray::ArrayView1<f64>| match row[0].to_bits() == row[1].to_bits() {
            true => RawReward::Of(row[0]),
            false => RawReward::OfAction([row[0], row[1]]),
        };
        let raw = Raw {
            name: self.name.clone(),
            notes: self.notes.clone(),
            states: self.reward.states(),
            rewards: Some(reward.rows().into_iter().map(of).collect()),
            discount: self.discount,
            budget: self.budget,
            horizon: self.horizon,
            observation: Some("full".into()),
            behaviour: self.behaviour.name().into(),
            text: self.text.clone(),
        };
        toml::to_string(&raw).expect("plain values")
    }
}
