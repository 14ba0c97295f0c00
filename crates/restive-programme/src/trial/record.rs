//! What an analysis reads: what every plan thought of everybody, of either group, and what the model expected before.
//!
//! **Scores, ties, cuts.** Every plan of the trial recorded the score and the tie of everybody who could be chosen, those of the control group
//! included. Among equal scores the smaller tie goes first; here ties are numbered the other way round, over all who are in the plan. Where a
//! list ended is read off all who could be on it, people outside of the trial among them: they take places too.
//!
//! **Prognosis.** What the model of the first plan expects, with the records as they were then, of a person who is not called, from each
//! week on and by her state before its decision: nothing in it is younger than the trial but that state. It is made from what was kept of
//! the first plan. Where that is lost, and the programme still has the same model, from that model without records.

use super::gather::Gathered;
use super::pool::{start, world};
use crate::error::Result;
use crate::folder::Programme;
use crate::kept;
use crate::week::CONTROL;
use ndarray::{Array2, Array3};
use restive::trial::{Cut, Gap, Parts, Rule, Rules};
use restive_ledger::{Plan, Planned};
use restive_pipeline::words::counted;
use restive_pipeline::{Outlook, PlanAsked};
use restive_tables::Contacts;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};

/// What is recorded of where a list ended.
#[derive(Deserialize)]
struct Ended {
    is_plain: bool,
}

/// What was asked of a plan.
#[derive(Deserialize)]
struct Asked {
    only_beneficial: bool,
}

/// What the weeks of a trial recorded.
pub(crate) struct Weekly {
    pub(crate) parts: Parts,
    /// why the rules cannot be replayed, in words
    pub(crate) gaps: Vec<String>,
    /// why there is no prognosis, in words
    pub(crate) no_prognosis: Option<String>,
}

/// What is expected of everybody from each week on, `[N,M,T]`, and who is where in it.
struct Before {
    ahead: Array3<f64>,
    place: HashMap<String, usize>,
    state: Vec<Option<u16>>,
}

impl Programme {
    /// What is known of the first weeks of a trial.
    pub(crate) fn weekly(&self, gathered: &Gathered, weeks: usize) -> Result<Weekly> {
        let n = gathered.people.len();
        let position: HashMap<&str, usize> =
            gathered.people.iter().enumerate().map(|(i, one)| (one.arm.as_str(), i)).collect();
        let mut score = Array2::from_elem((n, weeks), f64::NAN);
        let mut tie = Array2::zeros((n, weeks));
        let mut call = Array2::from_elem((n, weeks), false);
        let mut state = Array2::from_elem((n, weeks), None);
        let mut cuts = vec![Cut::NOBODY; weeks];
        let (mut gaps, mut gap) = (Vec::new(), Gap::NotLogged);
        let mut models = BTreeSet::new();
        for (t, week) in gathered.weeks.iter().take(weeks).enumerate() {
            let Some(plan) = &week.plan else {
                gaps.push(format!("{} {} has no plan", self.summary.period, t + 1));
                continue;
            };
            models.insert(&plan.facts.model_fingerprint);
            let ended: Vec<Ended> = serde_json::from_str(&plan.facts.cuts).unwrap_or_default();
            if ended.is_empty() || ended.iter().any(|one| !one.is_plain) {
                gaps.push(format!(
                    "limits, costs, must_call or draws decided in plan {}, not rank alone",
                    plan.id
                ));
            }
            let people = gathered.reader.people(&plan.id)?;
            let ties = ties(&people);
            let pays = pays(plan);
            let is_control = |person: &Planned| person.trial.as_deref() == Some(CONTROL);
            let seen = |person: &Planned| if pays && person.score <= 0.0 { f64::NAN } else { person.score };
            let listed = people.iter().zip(&ties).filter(|(person, _)| !is_control(person));
            cuts[t] = Cut::of(listed.map(|(person, tie)| (seen(person), *tie, person.how.is_listed())));
            for (person, rank) in people.iter().zip(&ties) {
                let Some(&i) = position.get(person.arm.as_str()) else { continue };
                score[[i, t]] = seen(person);
                tie[[i, t]] = *rank;
                call[[i, t]] = person.how.is_listed();
                state[[i, t]] = person.state.and_then(|state| usize::try_from(state).ok());
            }
        }
        if models.len() > 1 {
            gaps.push(format!(
                "the model was fitted anew during the trial: {} were used",
                counted(models.len() as u64, "model")
            ));
            gap = Gap::Refitted;
        }
        let (before, no_prognosis) = match self.before(gathered) {
            Ok(before) => (Some(before), None),
            Err(why) => (None, Some(why)),
        };
        let ahead = |i: usize, t: usize, state: Option<usize>| {
            let before = before.as_ref()?;
            let arm = *before.place.get(&gathered.people[i].arm)?;
            let state = state.or(before.state[arm].map(usize::from).filter(|_| t == 0))?;
            before.ahead.get([arm, state, t]).copied()
        };
        let prognosis = before.is_some().then(|| {
            Array2::from_shape_fn((n, weeks), |(i, t)| ahead(i, t, state[[i, t]]).unwrap_or(f64::NAN))
        });
        // without a model the state before the trial stands for what it would expect
        let reward = gathered.study.settings.reward.view();
        let first = |i: usize| match &prognosis {
            Some(prognosis) => prognosis[[i, 0]],
            None => state[[i, 0]].and_then(|state| reward.get([state, 0]).copied()).unwrap_or(f64::NAN),
        };
        let known: Vec<f64> = (0..n).map(first).filter(|x| x.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let covariates =
            Array2::from_shape_fn((n, 1), |(i, _)| if first(i).is_finite() { first(i) } else { mean });
        let cluster =
            gathered.people.iter().map(|person| person.cluster.clone()).collect::<Option<Vec<String>>>();
        let rules = match gaps.is_empty() {
            true => Ok(Rules { policy: Rule { score, cut: cuts }, control: None, tie, prognosis }),
            false => Err(gap),
        };
        let parts = Parts {
            group: gathered.groups.clone(),
            outcome: gathered.outcome(weeks),
            call,
            covariates,
            cluster: cluster.as_deref().map(super::pool::Pool::numbers),
            rules,
        };
        Ok(Weekly { parts, gaps, no_prognosis })
    }

    /// What was expected before the trial, or why nobody can say.
    fn before(&self, gathered: &Gathered) -> std::result::Result<Before, String> {
        let weeks = gathered.weeks.len();
        let first = gathered.weeks[0].plan.as_ref().ok_or("the first week has no plan")?;
        let read = |error: crate::Error| error.to_string();
        let kept = match first.facts.inputs.is_empty() {
            true => Err("nothing was kept of the first plan".to_string()),
            false => kept::contents(self.folder(), first).map_err(read)?.map_err(|lost| lost.join(", ")),
        };
        let materials = match kept {
            Ok(contents) => self.kept_materials(&gathered.reader, first, &contents).map_err(read)?,
            Err(lost) => {
                let rules = self.rules().map_err(read)?;
                let entry = self.model(None, &rules).map_err(read)?;
                let contacts = Contacts::read(&self.people()).map_err(|error| error.to_string())?;
                let asked = PlanAsked { history: Some(false), ..PlanAsked::default() };
                let now =
                    self.materials(&asked, rules, &entry, &contacts, None, String::new()).map_err(read)?;
                if now.model_fingerprint != first.facts.model_fingerprint {
                    return Err(format!("{lost}, and the programme has another model now"));
                }
                now
            }
        };
        let outlook = materials.outlook().map_err(read)?;
        let start = start(&outlook);
        let ahead = world(&outlook, start.view()).prognosis(weeks);
        let arms = materials.study.instances[0].arms.iter();
        let Outlook { state, .. } = outlook;
        Ok(Before { ahead, place: arms.cloned().zip(0..).collect(), state })
    }
}

/// Whether a plan left out people for whom a call does not pay.
fn pays(plan: &Plan) -> bool {
    serde_json::from_str(&plan.facts.asked).is_ok_and(|asked: Asked| asked.only_beneficial)
}

/// Ties as places, the higher one first: recorded ones go the other way round, and are whole numbers beyond what a float holds.
fn ties(people: &[Planned]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(people[i].tie));
    let mut ties = vec![0.0; people.len()];
    let mut place = 0.0;
    for (k, &i) in order.iter().enumerate() {
        if k > 0 && people[order[k - 1]].tie != people[i].tie {
            place += 1.0;
        }
        ties[i] = place;
    }
    ties
}
