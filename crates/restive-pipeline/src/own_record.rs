//! A person's own record beside the prediction: what it is worth is learnt at the end of a training, from arms that no fit has
//! seen, and kept on the card; plans listen to it where these arms said that it helps.
//!
//! With `auto` those are the training arms, each predicted by the fits without its fold; otherwise the validation arms, and of very many 20,000 of them. A model whose card
//! says nothing (of an earlier version) asks the validation arms of the study that is planned for.

use crate::apply::Applied;
use crate::error::{Error, Result, refuse};
use crate::message::{Message, Opt, message};
use crate::train::Training;
use crate::words::grouped;
use ndarray::Array4;
use restive::data::split::{Group, Part};
use restive::history::{Carry, Gauss, HeldOut, Learnt, Past, Rule, learn};
use restive::predictor::{Ensemble, Predictor, PredictorKind};
use restive::statistics::Mean;
use restive::training::auto::auto_folds;
use restive::training::{Choice, Method};
use restive::{Instance, Trajectories, Transition, instance::Observation};
use restive_tables::model::OwnRecord;
use restive_tables::model::history::{Lead, MemberHistory};
use restive_tables::model::own_record::{HeldOutArms, WrittenRule};
use restive_tables::{Study, StudySettings, arm_key};
use serde::Serialize;
use std::fmt;

impl Training {
    /// What an arm's own record is worth beside the predictions of the finished members; none where nobody can say.
    pub(crate) fn own_record(&self, ensemble: &Ensemble, histories: &[MemberHistory]) -> Option<OwnRecord> {
        let [train, validation, _] = &self.parts;
        let validation = self.heard.as_deref().unwrap_or(validation);
        let first = &ensemble.members[0];
        let is_as_folds_left_it = match &self.method {
            Method::Auto(_) => true,
            Method::Recommended(recipe) => {
                let chosen = histories.first().and_then(crate::card::chosen);
                recipe.is_auto && chosen == Some(Choice::TwoStage)
            }
            Method::TwoStage(_) | Method::DecisionFocused(..) => false,
        };
        let out_of_fold = || -> Option<Vec<(Instance, Array4<f64>)>> {
            let Predictor::Pool(pool) = first else { return None };
            let folds = auto_folds(train, self.method.config().seed).ok()?;
            let fits = pool.bases().iter().map(|base| base.fits.len());
            if !fits.into_iter().all(|fits| fits == folds.len()) {
                return None;
            }
            let one = |(k, groups): (usize, Vec<Group>)| {
                let pool = pool.of_fit(k);
                let predict = |instance: Instance| {
                    let prediction = pool.predict(instance.features());
                    (instance, prediction)
                };
                groups.iter().map(|group| group.select(train)).map(predict).collect::<Vec<_>>()
            };
            Some(folds.into_iter().enumerate().flat_map(one).collect())
        };
        let from_folds = is_as_folds_left_it.then(out_of_fold).flatten();
        let (from, people) = match from_folds {
            Some(people) => (HeldOutArms::OutOfFold, people),
            None => {
                let predict = |instance: &Instance| (instance.clone(), ensemble.predict(instance.features()));
                (HeldOutArms::Validation, validation.iter().map(predict).collect())
            }
        };
        learnt(&held_out(&people), from, &first.architecture().kind)
    }
}

/// Validation arms that are asked, at most: those with the smallest keys, the same in whatever order a study is read. What a record is
/// worth is a few numbers, which more arms would not change.
pub(crate) const MOST_HEARD: usize = 20_000;

/// Of arms with their keys those that are asked, where not all of them are.
pub(crate) fn heard<T: Ord>(mut keyed: Vec<(u64, T)>) -> Vec<T> {
    if keyed.len() > MOST_HEARD {
        keyed.select_nth_unstable(MOST_HEARD);
        keyed.truncate(MOST_HEARD);
    }
    let mut heard: Vec<T> = keyed.into_iter().map(|(_, arm)| arm).collect();
    heard.sort_unstable();
    heard
}

/// The arms of some groups that are asked; none where all of them are.
pub(crate) fn heard_of(study: &Study, groups: &[Group]) -> Option<Vec<Group>> {
    if groups.iter().map(|group| group.arms.len()).sum::<usize>() <= MOST_HEARD {
        return None;
    }
    let key = |instance: usize, arm: usize| {
        let there = &study.instances[instance];
        arm_key(&there.name, &there.arms[arm])
    };
    let keyed = groups
        .iter()
        .flat_map(|group| group.arms.iter().map(|arm| (key(group.instance, *arm), (group.instance, *arm))));
    let heard = heard(keyed.collect());
    let group = |arms: &[(usize, usize)]| Group {
        instance: arms[0].0,
        arms: arms.iter().map(|(_, arm)| *arm).collect(),
    };
    Some(heard.chunk_by(|one, other| one.0 == other.0).map(group).collect())
}

fn held_out(people: &[(Instance, Array4<f64>)]) -> Vec<HeldOut<'_>> {
    let people = people.iter();
    people
        .map(|(instance, prediction)| HeldOut {
            log: instance.trajectories(),
            observation: instance.observation(),
            prediction: prediction.view(),
        })
        .collect()
}

/// What held-out arms and their predictions say; none without any.
pub(crate) fn learnt(held_out: &[HeldOut<'_>], from: HeldOutArms, kind: &PredictorKind) -> Option<OwnRecord> {
    if held_out.is_empty() {
        return None;
    }
    // what a pull changes is the same shift wherever an arm stands
    let rho = matches!(kind, PredictorKind::Effect { .. }).then_some(1.0);
    let Learnt { candidate, rule, why, carry_lead, gauss_lead, rests_on, .. } = learn(held_out, rho);
    let lead = match candidate {
        Rule::Gauss(_) => gauss_lead.unwrap_or(carry_lead),
        Rule::Carry(_) | Rule::Alone => carry_lead,
    };
    let written = |lead: Mean| Lead { mean: Some(lead.mean), standard_error: Some(lead.standard_error) };
    Some(OwnRecord {
        rule: match candidate {
            Rule::Carry(Carry { strength: [passive, active], rho }) => {
                WrittenRule::Carry { passive, active, rho }
            }
            Rule::Gauss(Gauss { offset, slope, first, mean_first, covariance }) => {
                WrittenRule::Gauss { offset, slope, first, mean_first, covariance }
            }
            Rule::Alone => return None,
        },
        helps: rule != Rule::Alone,
        why: why.to_string(),
        lead: lead.all.map(written),
        lead_at_pulls: lead.called.map(written),
        from,
        arms: rests_on.arms as u64,
        moves: rests_on.moves as u64,
        pulls: rests_on.called as u64,
    })
}

/// How records count in a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// whether they do
    pub is_used: bool,
    /// whether that was asked for, whatever held-out arms say
    pub is_asked: bool,
    /// what it rests on
    #[serde(flatten)]
    pub own_record: OwnRecord,
}

/// How records are to count: as asked, otherwise as `own_record` says they helped. None where they were not to, or nobody can say.
pub(crate) fn history(
    own_record: impl FnOnce() -> Option<OwnRecord>,
    asked: Option<bool>,
    settings: &StudySettings,
) -> Result<(Rule, Option<History>)> {
    if asked == Some(false) {
        return Ok((Rule::Alone, None));
    }
    let Some(own_record) = own_record() else {
        if asked == Some(true) {
            refuse!(
                Opt("history"),
                ": found no arms that were surely not learnt from, expected some: nothing says what a record is worth beside a \
                 prediction; a column split with validation arms does"
            );
        }
        return Ok((Rule::Alone, None));
    };
    let is_used = asked == Some(true) || own_record.helps;
    let rule = if is_used {
        rule(&own_record, settings.observation, settings.reward.states())?
    } else {
        Rule::Alone
    };
    Ok((rule, Some(History { is_used, is_asked: asked == Some(true), own_record })))
}

impl Applied<'_> {
    /// How records are to count: as asked, otherwise as held-out arms say.
    pub(crate) fn history(&self, asked: Option<bool>) -> Result<(Rule, Option<History>)> {
        let own_record = || self.card.own_record.clone().or_else(|| self.by_validation_arms());
        history(own_record, asked, &self.study.settings)
    }

    /// What the validation arms of this study say, for a card that says nothing; nothing where they may have been learnt from,
    /// because the study is another and says of nobody to which part they belong.
    fn by_validation_arms(&self) -> Option<OwnRecord> {
        if !self.is_trained_on && self.study.given_split().is_none() {
            return None;
        }
        let split = self.split().ok()?;
        let validation = split.part(Part::Validation);
        let heard = heard_of(self.study, validation);
        let people: Vec<(Instance, Array4<f64>)> = heard
            .as_deref()
            .unwrap_or(validation)
            .iter()
            .map(|group| (group.select(&self.instances), self.prediction(group).view().to_owned()))
            .collect();
        learnt(&held_out(&people), HeldOutArms::Validation, &self.ensemble.members[0].architecture().kind)
    }
}

/// The transitions to plan with: the prediction, in the light of what a log says of the same arms.
pub(crate) fn with_record(
    rule: &Rule,
    log: &Trajectories,
    observation: Observation,
    prediction: &Transition,
) -> Result<Transition> {
    match rule {
        Rule::Alone => Ok(prediction.clone()),
        rule => Ok(rule.apply(&Past::new(log, observation), prediction.view())?),
    }
}

/// The rule that a card has written down, checked.
pub(crate) fn rule(own_record: &OwnRecord, observation: Observation, states: usize) -> Result<Rule> {
    let wrong = |what: &str| Error::Data(format!("card: own_record: rule: {what}").into());
    match own_record.rule.clone() {
        WrittenRule::Carry { passive, active, rho } => {
            let is_above_zero = |x: f64| x > 0.0 && x.is_finite();
            if !(is_above_zero(passive) && is_above_zero(active) && (0.0..=1.0).contains(&rho)) {
                let found = format!("found passive {passive}, active {active}, rho {rho}");
                return Err(wrong(&format!("{found}, expected numbers above 0, rho from 0 to 1")));
            }
            Ok(Rule::Carry(Carry { strength: [passive, active], rho }))
        }
        WrittenRule::Gauss { offset, slope, first, mean_first, covariance } => {
            if states != 2 || observation != Observation::Full {
                return Err(wrong(
                    "found gauss, expected carry: it is for two states that are seen at every step",
                ));
            }
            Ok(Rule::Gauss(Gauss { offset, slope, first, mean_first, covariance }))
        }
    }
}

impl History {
    /// What should be known before the record is trusted.
    pub fn warnings(&self) -> Vec<Message> {
        let doubts = self.is_asked && !self.own_record.helps;
        let why = &self.own_record.why;
        doubts
            .then(|| message!(Opt("history"), format!(": used as asked, though {why}")))
            .into_iter()
            .collect()
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OwnRecord { rule, lead, from, arms, moves, why, .. } = &self.own_record;
        if self.is_used {
            match rule {
                WrittenRule::Carry { passive, active, rho } => write!(
                    f,
                    "history: an arm's own record counts; a prediction is worth {passive} moves passive and {active} active, {} % of what a \
                     record says is carried to pulls",
                    100.0 * rho
                )?,
                WrittenRule::Gauss { .. } => write!(
                    f,
                    "history: an arm's own record counts, by its posterior on the scale of log-odds"
                )?,
            }
        } else {
            write!(f, "history: an arm's own record is left out: {why}")?;
        }
        if let Some(Lead { mean: Some(mean), standard_error: Some(error) }) = lead {
            let whose = match from {
                HeldOutArms::OutOfFold => "arms out of fold",
                HeldOutArms::Validation => "validation arms",
            };
            let (arms, moves) = (grouped(*arms), grouped(*moves));
            write!(
                f,
                " (log-likelihood of later moves {mean:+.4} ± {error:.4} per arm, {arms} {whose}, {moves} moves)"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_arms_those_with_the_smallest_keys_are_asked() {
        let keyed = |n: u64| (0..n).map(|arm| (arm_key("site", &arm.to_string()), arm)).collect::<Vec<_>>();
        assert_eq!(heard(keyed(30)), (0..30).collect::<Vec<_>>());
        let all = keyed(MOST_HEARD as u64 + 700);
        let chosen = heard(all.clone());
        assert!(chosen.len() == MOST_HEARD && chosen.is_sorted());
        let least_left_out =
            all.iter().filter(|(_, arm)| chosen.binary_search(arm).is_err()).map(|(key, _)| key).min();
        let largest =
            all.iter().filter(|(_, arm)| chosen.binary_search(arm).is_ok()).map(|(key, _)| key).max();
        assert!(largest < least_left_out);
    }
}
