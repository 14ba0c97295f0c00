//! Prediction of the model for one person now, with its reasons.
//!
//! The model is applied to a study of this person only, because a prediction does not depend on other people. There is one exception: if
//! the card does not contain the weight of personal histories, a plan learns it from all people. Here the personal history is then ignored.

use super::{Casebook, PersonPlace, Silent};
use crate::made::AskedOnRecord;
use crate::row::Chance;
use restive::instance::UNSEEN;
use restive_pipeline::reasons::{Chance as ReasonChance, Contribution, Reason, sentence};
use restive_pipeline::{Applied, Effects, PlanAsked, PolicyName, Trained};
use restive_tables::{Study, StudyInstance};

/// Prediction of a model for one person.
#[derive(Debug, Clone)]
pub struct PersonSaid {
    /// the model, by name
    pub model: String,
    /// the state in which she was seen last
    pub state: u16,
    /// Expected effects of a call, or the reason why they are not stated.
    pub effects: Effects<PersonEffects>,
}

/// Expected effects of a call to one person, predicted by the model.
#[derive(Debug, Clone)]
pub struct PersonEffects {
    /// of a good state next period if left alone
    pub left_alone: Chance,
    /// and if called
    pub called: Chance,
    /// why, in plain words
    pub reason: String,
    /// what sets her apart from a typical person, column by column, the largest first
    pub shares: Vec<Share>,
    /// what her own record adds, in points, to both chances; none where records do not count
    pub record: Option<[f64; 2]>,
    /// the same in every state
    pub in_states: Vec<InState>,
}

/// Contribution of one column.
#[derive(Debug, Clone)]
pub struct Share {
    /// by name
    pub column: String,
    /// what she has there
    pub value: Option<String>,
    /// what a typical person has
    pub typical: Option<String>,
    /// by how many percentage points her chance if left alone would be lower without it
    pub alone: f64,
    /// by how many points her chance if called would be lower without what it adds to a call
    pub call: f64,
}

/// Her chances in a state.
#[derive(Debug, Clone)]
pub struct InState {
    /// the state
    pub state: u16,
    /// if left alone
    pub left_alone: Chance,
    /// if called
    pub called: Chance,
    /// whether that would have been enough for a place by rank on the latest list; nothing where that cannot be told of one person
    pub is_enough: Option<bool>,
}

/// Prediction for the person at a position of the study; `latest` is the part of the person in the latest plan.
pub(super) fn said(
    book: &Casebook,
    name: &str,
    trained: &Trained,
    position: usize,
    latest: Option<&PersonPlace>,
) -> Result<PersonSaid, Silent> {
    let alone = alone(&book.study, position);
    let log = alone.instances[0].trajectories.state();
    let seen = log.iter().copied().filter(|state| *state != UNSEEN);
    let state = seen.last().ok_or(Silent::NeverSeen)?;
    let misfit = |error: restive_pipeline::Error| Silent::Misfit(error.to_string());
    let asked: Option<AskedOnRecord> = latest.and_then(|place| serde_json::from_str(&place.asked).ok());
    let history = asked.as_ref().and_then(|asked| asked.history);
    let applied = Applied::new(trained, &alone, name, "the study").map_err(misfit)?;
    let states: Vec<(usize, u16)> = (0..log_states(&alone)).map(|state| (0, state)).collect();
    let reasons = applied.reasons(0, &states, history).map_err(misfit)?;
    let reasons = match reasons {
        Effects::Identified(reasons) => reasons,
        Effects::Withheld(why) => {
            return Ok(PersonSaid { model: name.into(), state, effects: Effects::Withheld(why) });
        }
    };
    let Some(here) = reasons.get(usize::from(state)) else { return Err(Silent::NeverSeen) };
    let enough = latest.and_then(|place| {
        let last = place.last.filter(|_| place.policy == PolicyName::Whittle.name())?;
        let index_discount = asked.as_ref().and_then(|asked| asked.index_discount);
        let asked =
            PlanAsked { policy: Some(PolicyName::Whittle), history, index_discount, ..PlanAsked::default() };
        let score = applied.outlook(&asked).ok()?.score;
        Some(score.row(0).iter().map(|score| *score >= last).collect::<Vec<bool>>())
    });
    let in_state = |(k, reason): (usize, &Reason)| InState {
        state: k as u16,
        left_alone: chance(&reason.chance_left_alone),
        called: chance(&reason.chance_called),
        is_enough: enough.as_ref().and_then(|enough| enough.get(k).copied()),
    };
    let effects = Effects::Identified(PersonEffects {
        left_alone: chance(&here.chance_left_alone),
        called: chance(&here.chance_called),
        reason: sentence(here, &book.words, None),
        shares: shares(here),
        record: here.record.map(|own| [here.level_points(own.level), here.effect_points(own.effect)]),
        in_states: reasons.iter().enumerate().map(in_state).collect(),
    });
    Ok(PersonSaid { model: name.into(), state, effects })
}

fn chance(chance: &ReasonChance) -> Chance {
    Chance { value: chance.value, interval: chance.interval }
}

fn shares(reason: &Reason) -> Vec<Share> {
    let share = |(level, effect): (&Contribution, &Contribution)| Share {
        column: level.column.clone(),
        value: level.value_text.clone(),
        typical: level.reference_text.clone(),
        alone: reason.level_points(level.amount),
        call: reason.effect_points(effect.amount),
    };
    let mut shares: Vec<Share> = reason.level.iter().zip(&reason.effect).map(share).collect();
    let size = |share: &Share| share.alone.abs().max(share.call.abs());
    shares.sort_by(|a, b| size(b).total_cmp(&size(a)));
    shares
}

fn log_states(study: &Study) -> u16 {
    u16::try_from(study.settings.reward.states()).unwrap_or(u16::MAX)
}

/// A study of one of its people.
fn alone(study: &Study, position: usize) -> Study {
    let there = &study.instances[0];
    let mut settings = study.settings.clone();
    settings.budget = 1;
    let instance = StudyInstance {
        name: there.name.clone(),
        arms: vec![there.arms[position].clone()],
        features: there.features.select_arms(&[position]),
        split: None,
        clusters: there.clusters.as_ref().map(|names| vec![names[position].clone()]),
        trajectory_names: there.trajectory_names.clone(),
        trajectories: there.trajectories.select_arms(&[position]),
        truth: None,
    };
    Study { settings, instances: vec![instance] }
}
