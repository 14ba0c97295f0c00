//! One person of a list, and everybody who could have been on it.

use crate::rules::people::Recency;
use restive::instance::Chain;
use serde::Serialize;

/// One arm to pull.
#[derive(Serialize)]
pub struct PlannedArm {
    /// its instance, by name
    pub instance: String,
    /// by name
    pub arm: String,
    /// what it is ranked by
    #[serde(flatten)]
    pub place: LastSeen,
    /// when it was last seen and pulled
    #[serde(flatten)]
    pub recency: Recency,
    /// what it is ranked by
    #[serde(flatten)]
    pub worth: Worth,
    /// Expected effect of a pull; `None` if effects are not stated.
    #[serde(flatten)]
    pub effects: Option<ArmEffects>,
    /// from 1
    pub rank: usize,
    /// the probability of being in the plan, over all tie-breaks and draws
    pub inclusion: f64,
    /// how it came into the plan
    pub chosen: Chosen,
    /// what the people's table keeps for the list: it goes into the table that is written and is never printed
    #[serde(skip)]
    pub kept: Vec<String>,
}

/// Expected effect of a pull of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArmEffects {
    /// the reward that a pull adds over the steps ahead, given what later pulls cost
    pub value: f64,
    /// whether a pull pays: what the arm is ranked by is above 0
    pub is_beneficial: bool,
    /// what it is ranked by, less that of the last arm that got a place by rank
    pub margin: f64,
}

/// How somebody came onto the list, or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Chosen {
    /// by what a pull is worth
    Rank,
    /// by lot
    Draw,
    /// because the rules say so
    Must,
    /// not at all
    No,
}

impl Chosen {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::Rank => "rank",
            Chosen::Draw => "draw",
            Chosen::Must => "must",
            Chosen::No => "no",
        }
    }
}

/// Somebody who could have been on the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Eligible {
    /// the position of the instance in the study
    pub instance: usize,
    /// by position
    pub arm: usize,
    /// what she is ranked by: a state, or a label
    pub state: u16,
    /// the probability of being on the list
    pub inclusion: f64,
    /// how she came onto it
    pub chosen: Chosen,
    /// what arms are ranked by
    pub score: f64,
    /// Worth of a pull over the steps ahead; `None` if effects are not stated.
    pub value: Option<f64>,
    /// what decides among equals: the smallest first
    pub tie: u64,
    /// whether a trial leaves her alone: then she could not be on the list
    pub is_control: bool,
}

/// Somebody who could not be on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// the position of the instance in the study
    pub instance: usize,
    /// by position
    pub arm: usize,
    /// why, in a few words
    pub why: String,
}

/// Somebody's place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// what arms are ranked by
    pub score: f64,
    /// what decides among equals: the smallest first
    pub tie: u64,
}

/// Where the list ends: what somebody else would have needed to be on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cut {
    /// the last one who got a place by rank
    pub last: Option<Place>,
    /// the first one who got none
    pub next: Option<Place>,
    /// whether rank alone decided: no limits, no costs, nobody who had to be called, no draws
    pub is_plain: bool,
}

/// What a pull is worth in a state or label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Worth {
    /// the price at which it would just pay
    Index(f64),
    /// the reward that it adds until the end, given what later pulls cost
    Advantage(f64),
    /// either of them, as the order of the model alone: effects are not stated
    Score(f64),
}

impl Worth {
    /// The number.
    pub fn value(self) -> f64 {
        let (Worth::Index(value) | Worth::Advantage(value) | Worth::Score(value)) = self;
        value
    }
}

/// What the ranking of an arm goes by.
#[derive(Serialize)]
#[serde(untagged)]
pub enum LastSeen {
    /// the last that was observed
    State {
        /// 0 … M − 1
        state: u16,
    },
    /// absent: never seen
    Label {
        /// the last state that was seen
        last_state: Option<u16>,
        /// steps since then
        since: Option<u16>,
    },
}

impl LastSeen {
    /// Of a state, or of a label and whether it is known rather than that of arms of which nothing is.
    pub fn new(state: u16, is_known: bool, chain: Option<Chain>) -> Self {
        match chain.map(|chain| chain.beliefs() as u16) {
            None => LastSeen::State { state },
            Some(labels) => {
                let [last_state, since] = [state / labels, state % labels].map(|x| is_known.then_some(x));
                LastSeen::Label { last_state, since }
            }
        }
    }

    /// The cells of a row; none where the arm was never seen.
    pub fn cells(&self) -> Vec<Option<u16>> {
        match *self {
            LastSeen::State { state } => vec![Some(state)],
            LastSeen::Label { last_state, since } => vec![last_state, since],
        }
    }

    /// The cells of a row, in words.
    pub fn texts(&self) -> Vec<String> {
        let words = ["never seen", "–"].into_iter();
        let text = |(cell, word): (Option<u16>, &str)| cell.map_or(word.into(), |cell| cell.to_string());
        self.cells().into_iter().zip(words).map(text).collect()
    }
}
