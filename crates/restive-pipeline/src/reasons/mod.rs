//! Why a name is on a list: her chances, what sets her apart from a typical person, and her own record, in numbers that add up.
//!
//! Of a person in her latest state a [`Reason`] says
//!
//! - how likely a good state is next if she is left alone and if she is called, as plans count it, each with an interval in which nine of
//!   ten people like her with her record are ([`restive::history::intervals()`]);
//! - what each column of the table contributes to her *level* (log-odds of a good state if left alone) and to the *effect* of a call
//!   (log-odds if called, less the level), against the reference person of the model's card
//!   ([`restive::predictor::contributions`]);
//! - what her own record adds to either, where records count.
//!
//! Contributions and record together are her log-odds less those of the reference person. Good are the states in which a person
//! who is left alone has the highest reward. The reference is fixed on the card: nothing here changes when others come or go. (A card of an earlier
//! version has none, see [`restive::data::reference`]; one that says nothing of records asks the study's validation arms, and so does
//! depend on them.)
//!
//! **Points** are what people read: how much lower the chance would be without a contribution, σ(z) − σ(z − amount), times 100, where z are
//! her log-odds as plans count them: if left alone for the level, if called for the effect. Unlike amounts they do not add up, and
//! each can be checked alone. [`sentence()`] says the largest of them in [`Words`] that a programme may write itself.

mod sentence;
mod template;
mod words;

pub use sentence::sentence;
pub use words::Words;

use crate::apply::Applied;
use crate::error::{Result, refuse};
use crate::identification::{Effects, Identification};
use crate::own_record::rule;
use crate::words::grouped;
use ndarray::{ArrayView1, Axis, s};
use restive::Trajectories;
use restive::data::encoding::EncodedColumn;
use restive::data::features::{Column, Features};
use restive::data::reference::{Reference, Typical};
use restive::history::{Past, Rule, intervals};
use restive::instance::{Observation, UNSEEN};
use restive::predictor::contributions::{Question, contributions};
use restive_tables::StudySettings;
use serde::Serialize;

/// No log-odds are taken of a chance closer to 0 or 1.
const LEAST: f64 = 1e-12;

/// Why somebody is on a list, or is not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// of a good state next, without a call
    pub chance_left_alone: Chance,
    /// with a call
    pub chance_called: Chance,
    /// what each column contributes to the level, in the order of the table
    pub level: Vec<Contribution>,
    /// what it contributes to the effect of a call
    pub effect: Vec<Contribution>,
    /// what her own record adds; none where records do not count
    pub record: Option<RecordPart>,
    /// her level less that of the reference person: the sum of all of `level` and the record's
    pub level_difference: f64,
    /// the same of the effect
    pub effect_difference: f64,
}

/// A chance, and where nine of ten people like her are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Chance {
    /// as plans count it
    pub value: f64,
    /// low and high; none where nothing is known of how people differ
    pub interval: Option<[f64; 2]>,
}

/// What one column contributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// by name
    pub column: String,
    /// what she has there; none where it is missing
    pub value_text: Option<String>,
    /// what the reference person has; none where that is none of the known categories
    pub reference_text: Option<String>,
    /// on the scale of log-odds
    pub amount: f64,
}

/// What her own record adds to what is predicted of people like her.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RecordPart {
    /// to the level, on the scale of log-odds
    pub level: f64,
    /// to the effect
    pub effect: f64,
    /// periods in which her state was seen
    pub periods: usize,
    /// those in which it was good
    pub good: usize,
    /// calls
    pub calls: usize,
}

impl Reason {
    /// How many percentage points lower her chance if left alone would be without this amount of the level.
    pub fn level_points(&self, amount: f64) -> f64 {
        points(self.chance_left_alone.value, amount)
    }

    /// How many percentage points lower her chance if called would be without this amount of the effect.
    pub fn effect_points(&self, amount: f64) -> f64 {
        points(self.chance_called.value, amount)
    }
}

pub(crate) fn points(chance: f64, amount: f64) -> f64 {
    let chance = chance.clamp(LEAST, 1.0 - LEAST);
    let z = (chance / (1.0 - chance)).ln();
    100.0 * (chance - 1.0 / (1.0 + (amount - z).exp()))
}

impl Applied<'_> {
    /// The reasons of arms of an instance, each by (arm, state), if effects may be stated; whether records count is asked as for a plan.
    pub fn reasons(
        &self,
        instance: usize,
        arms: &[(usize, u16)],
        history: Option<bool>,
    ) -> Result<Effects<Vec<Reason>>> {
        match &self.card.identification {
            Identification::Identified => Ok(Effects::Identified(self.stated(instance, arms, history)?)),
            withheld => Ok(Effects::Withheld(withheld.clone())),
        }
    }

    fn stated(&self, instance: usize, arms: &[(usize, u16)], history: Option<bool>) -> Result<Vec<Reason>> {
        if self.study.settings.observation != Observation::Full {
            refuse!("reasons: found states that are seen at pulls only, expected states seen at every step");
        }
        let good = good_states(&self.study.settings)?;
        let encoding = &self.card.encoding;
        let typical = self.card.reference.clone().unwrap_or_else(|| Reference::of_encoding(encoding));
        let (known, log) =
            (&self.study.instances[instance].features, self.instances[instance].trajectories());
        let rows: Vec<usize> = arms.iter().map(|(i, _)| *i).collect();
        let states: Vec<usize> = arms.iter().map(|(_, state)| usize::from(*state)).collect();
        let features = self.instances[instance].features().select(Axis(0), &rows);
        let (reference, groups) = (typical.encode(encoding), encoding.groups());
        let question = Question { reference: reference.view(), groups: &groups, good: &good };
        let found = contributions(self.ensemble, features.view(), &states, &question);

        let (used, told) = self.history(history)?;
        let own_record = told.map(|told| told.own_record).or_else(|| self.card.own_record.clone());
        let judged = |own_record| rule(&own_record, Observation::Full, good.len());
        let candidate = own_record.map(judged).transpose()?;
        let (past, prediction) = (Past::new(log, Observation::Full), &self.predictions[instance]);
        let transition = used.apply(&past, prediction.view())?;
        let places: Vec<(usize, usize)> = rows.iter().copied().zip(states).collect();
        let spread = intervals(&used, candidate.as_ref(), &past, prediction.view(), &places, &good);

        let reason = |k: usize| {
            let (i, state) = places[k];
            let row = |a: usize| transition.view().slice(s![i, state, a, ..]).to_owned();
            let [(alone, z_alone), (called, z_called)] = [0, 1].map(|a| chance(row(a).view(), &good));
            let (level, effect) = (z_alone, z_called - z_alone);
            let record = (used != Rule::Alone).then(|| RecordPart {
                level: level - found.own[[k, 0]],
                effect: effect - found.own[[k, 1]],
                ..counted(log, i, &good)
            });
            let by_column = |amounts: ArrayView1<'_, f64>| -> Vec<Contribution> {
                let columns = encoding.columns.iter().zip(&typical.columns).zip(amounts);
                columns.map(|((column, typical), amount)| said(known, i, column, typical, *amount)).collect()
            };
            Reason {
                chance_left_alone: Chance { value: alone, interval: spread[k][0] },
                chance_called: Chance { value: called, interval: spread[k][1] },
                level: by_column(found.level.row(k)),
                effect: by_column(found.effect.row(k)),
                record,
                level_difference: level - found.reference[[k, 0]],
                effect_difference: effect - found.reference[[k, 1]],
            }
        };
        Ok((0..arms.len()).map(reason).collect())
    }
}

/// The states with the highest reward of a person who is left alone.
pub fn good_states(settings: &StudySettings) -> Result<Vec<bool>> {
    let reward = settings.reward.view();
    let rewards = reward.column(0);
    let most = rewards.iter().fold(f64::NEG_INFINITY, |most, reward| most.max(*reward));
    let good: Vec<bool> = rewards.iter().map(|reward| *reward == most).collect();
    if good.iter().all(|is_good| *is_good) {
        refuse!(
            "reasons: found the reward {most} in every state, expected states of which some are better than others"
        );
    }
    Ok(good)
}

/// The chance of a good state by the chances of all, and its log-odds.
pub(crate) fn chance(row: ArrayView1<'_, f64>, good: &[bool]) -> (f64, f64) {
    let of =
        |wanted: bool| row.iter().zip(good).filter(|(_, is)| **is == wanted).map(|(p, _)| p).sum::<f64>();
    let (to_good, to_others) = (of(true), of(false));
    (to_good, (to_good.max(LEAST) / to_others.max(LEAST)).ln())
}

/// What was seen of an arm.
fn counted(log: &Trajectories, arm: usize, good: &[bool]) -> RecordPart {
    let (states, actions) = (log.state(), log.action());
    let seen = || states.slice_move(s![.., .., arm]).into_iter().filter(|state| **state != UNSEEN);
    RecordPart {
        level: 0.0,
        effect: 0.0,
        periods: seen().count(),
        good: seen().filter(|state| good[usize::from(**state)]).count(),
        calls: actions.slice(s![.., .., arm]).iter().filter(|action| **action == 1).count(),
    }
}

/// What a column says of her and of the reference, in words.
fn said(
    known: &Features,
    arm: usize,
    column: &EncodedColumn,
    typical: &Typical,
    amount: f64,
) -> Contribution {
    let value_text = match known.column(&column.name) {
        Some(Column::Number(values)) => (!values[arm].is_nan()).then(|| number_text(values[arm])),
        Some(Column::Text(values)) => values[arm].clone(),
        None => None,
    };
    let reference_text = match typical {
        Typical::Number(x) => Some(number_text(*x)),
        Typical::Category(text) => Some(text.clone()),
        Typical::NoneOfTheKnown => None,
    };
    Contribution { column: column.name.clone(), value_text, reference_text, amount }
}

/// Whole from 100 on, with commas; three digits below.
fn number_text(x: f64) -> String {
    let size = x.abs();
    if (99.95..1e15).contains(&size) {
        let sign = if x < 0.0 { "-" } else { "" };
        return format!("{sign}{}", grouped(size.round() as u64));
    }
    if size >= 1e15 || (size < 1e-3 && size > 0.0) {
        return format!("{x:.2e}");
    }
    let decimals = if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else {
        3
    };
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_in_three_digits() {
        let said =
            [0.0, 1.0, 24.0, 24.36, 3.2468, 0.1234, 99.96, 12500.5, -1234.5, 2e-5, -0.5].map(number_text);
        let expected =
            ["0", "1", "24", "24.4", "3.25", "0.123", "100", "12,501", "-1,235", "2.00e-5", "-0.5"];
        assert_eq!(said, expected);
    }
}
