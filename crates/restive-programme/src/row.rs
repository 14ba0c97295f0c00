//! What a list says of one person, as the ledger keeps it: no name and no number, those are joined when a list is written.

use jiff::civil::Date;
use restive_pipeline::reasons::Chance as ReasonChance;
use restive_pipeline::reasons::Reason;
use restive_pipeline::{Chosen, PlannedArm};
use restive_tables::Contact;
use serde::{Deserialize, Serialize};

/// One person of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// the place on the list, from 1
    pub rank: usize,
    /// the last state that was seen
    pub state: Option<u16>,
    /// the first day of the period in which that was
    pub last_seen: Option<Date>,
    /// the last call: its day where that is known, otherwise the first day of its period
    pub last_call: Option<Date>,
    /// what came of it
    pub last_outcome: Option<String>,
    /// Expected effect of a call; `None` if effects are not stated.
    #[serde(flatten)]
    pub effects: Option<RowEffects>,
    /// the probability of being on this list
    pub probability: f64,
    /// rank, draw or must
    pub chosen: String,
    /// Explanation why the person is on the list, as text; empty if by rank.
    pub how: String,
}

/// Expected effect of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowEffects {
    /// the chance of the good state next period if left alone
    pub left_alone: Chance,
    /// the same if called
    pub called: Chance,
    /// the reward that a call adds over the steps ahead
    pub worth: f64,
    /// why she is on it, in plain words
    pub reason: String,
}

/// A chance, with an interval where there is something to tell it from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// the chance
    pub value: f64,
    /// of people like her, with her record
    pub interval: Option<[f64; 2]>,
}

impl Chance {
    /// As `20–45 %`; empty without an interval.
    pub fn interval_text(&self) -> String {
        self.interval.map_or(String::new(), |[low, high]| format!("{:.0}–{:.0} %", 100.0 * low, 100.0 * high))
    }
}

/// What an import knows of when things were.
pub(crate) struct Calendar<'a> {
    /// the first day of the period of each row of the study
    pub(crate) days: &'a [Option<Date>],
}

impl Calendar<'_> {
    /// The first day of the period so many periods before the one that has just ended.
    pub(crate) fn ago(&self, periods: usize) -> Option<Date> {
        let last = self.days.len().checked_sub(1)?;
        *self.days.get(last.checked_sub(periods)?)?
    }
}

impl Row {
    /// Fields whose numbers the model computes; all others follow from scores and states.
    pub(crate) const OF_THE_MODEL: [&str; 2] = ["left_alone", "called"];

    /// Explanation why the person is on the list and, if effects are stated, why a call helps.
    pub fn reason(&self) -> String {
        let reason = self.effects.iter().map(|effects| effects.reason.as_str());
        let parts: Vec<&str> =
            [self.how.as_str()].into_iter().chain(reason).filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }

    pub(crate) fn new(
        arm: &PlannedArm,
        reason: Option<(&Reason, String)>,
        how: String,
        calendar: &Calendar<'_>,
        contact: &Contact,
    ) -> Self {
        let chance = |chance: &ReasonChance| Chance { value: chance.value, interval: chance.interval };
        let outcome = Some(contact.last_outcome.clone()).filter(|outcome| !outcome.is_empty());
        Self {
            rank: arm.rank,
            state: arm.recency.state,
            last_seen: arm.recency.last_seen.and_then(|periods| calendar.ago(periods)),
            last_call: contact
                .last_call
                .parse()
                .ok()
                .or_else(|| arm.recency.last_call.and_then(|periods| calendar.ago(periods))),
            last_outcome: outcome,
            effects: reason.zip(arm.effects).map(|((found, reason), effects)| RowEffects {
                left_alone: chance(&found.chance_left_alone),
                called: chance(&found.chance_called),
                worth: effects.value,
                reason,
            }),
            probability: arm.inclusion,
            chosen: arm.chosen.name().into(),
            how,
        }
    }
}

/// As the ledger has it.
pub(crate) fn how(chosen: Chosen) -> restive_ledger::How {
    match chosen {
        Chosen::Rank => restive_ledger::How::Rank,
        Chosen::Draw => restive_ledger::How::Draw,
        Chosen::Must => restive_ledger::How::Must,
        Chosen::No => restive_ledger::How::NotListed,
    }
}
