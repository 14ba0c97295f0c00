//! What the ledger and the study know of a trial: its weeks, the plan of each, and where the outcomes stand.
//!
//! Periods are numbered by the calendar. The plan of period p is the decision at the end of the row of period p − 1 of the study, and what came of
//! it is the state of the row of period p: the first that its calls could change. A trial's first period is the one after the row
//! whose decision falls on the day on which it starts.

use super::LIST;
use super::protocol::Protocol;
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::store::digest;
use crate::week::CONTROL;
use ndarray::Array2;
use restive::instance::UNSEEN;
use restive::trial::Group;
use restive_ledger::{Assigned, Ledger, Plan, Reader, Status, Trial, TrialEnd};
use restive_tables::{Study, show};
use std::collections::HashMap;
use std::path::Path;

/// A trial as it is known now.
pub(crate) struct Gathered {
    pub(crate) reader: Reader,
    pub(crate) trial: Trial,
    pub(crate) protocol: Protocol,
    pub(crate) end: Option<TrialEnd>,
    /// by `arm`
    pub(crate) people: Vec<Assigned>,
    pub(crate) groups: Vec<Group>,
    /// every week that the protocol says
    pub(crate) weeks: Vec<TrialWeek>,
    pub(crate) study: Study,
    /// `[n]`: where a person is in the study
    pub(crate) place: Vec<Option<usize>>,
}

/// A week of a trial.
pub(crate) struct TrialWeek {
    /// the plan that counts
    pub(crate) plan: Option<Plan>,
    /// the row of the study that has what came of it
    pub(crate) row: Option<usize>,
}

impl Programme {
    /// A trial by its name; none: the one that runs, else the last one.
    pub(crate) fn gather(&self, id: Option<&str>) -> Result<Gathered> {
        let folder = show::path(self.folder());
        let none = || {
            Error::Refused(format!(
                "{folder}: found no trial, expected one: restive trial design and assign begin one"
            ))
        };
        if !self.ledger().exists() {
            return Err(none());
        }
        let reader = Ledger::read(&self.ledger())?;
        let trial = match id {
            Some(id) => reader.trial(id)?,
            None => match reader.running_trial()? {
                Some(trial) => trial,
                None => reader.trials()?.pop().ok_or_else(none)?,
            },
        };
        let faults = reader.verify()?.faults;
        if let Some(fault) = faults.first() {
            return Err(Error::Refused(format!(
                "{folder}: found a record that was changed after it was written ({fault}), expected it as it was: restive audit verify \
                 tells all"
            )));
        }
        if digest(trial.facts.protocol.as_bytes()) != trial.facts.protocol_digest {
            return Err(changed("the record"));
        }
        let protocol = Protocol::parse(Path::new("the registered protocol"), &trial.facts.protocol)?;
        let rows = &self.summary.periods;
        let first = rows.iter().find(|row| row.decision == trial.facts.starts).map(|row| row.number + 1);
        let first = first.ok_or_else(|| {
            Error::Refused(format!(
                "{folder}: found no {} that begins on {}, expected the one with which trial {} began: is this the study of another programme?",
                self.summary.period,
                trial.facts.starts,
                show::name(&trial.facts.id)
            ))
        })?;
        let mut plans: HashMap<i64, Plan> = HashMap::new();
        for plan in reader.plans()? {
            let is_of_it = plan.facts.trial.as_deref() == Some(&trial.facts.id);
            if is_of_it && plan.status == Status::Current {
                plans.insert(plan.facts.period, plan);
            }
        }
        let week = |t: usize| {
            let number = first + t as i64;
            let row = rows.iter().find(|row| row.number == number).map(|row| row.t);
            TrialWeek { plan: plans.remove(&number), row }
        };
        let weeks: Vec<TrialWeek> = (0..protocol.weeks).map(week).collect();
        let people = reader.assigned(&trial.facts.id)?;
        let study = Study::read(&self.study())?;
        let there: HashMap<&str, usize> =
            study.instances[0].arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)).collect();
        let place: Vec<Option<usize>> =
            people.iter().map(|person| there.get(person.arm.as_str()).copied()).collect();
        if 2 * place.iter().flatten().count() < place.len() {
            return Err(Error::Refused(format!(
                "{folder}: found {} of the {} people of trial {} in the study, expected all: is this the study of another programme?",
                place.iter().flatten().count(),
                place.len(),
                show::name(&trial.facts.id)
            )));
        }
        let groups = people.iter().map(|person| group(&person.group)).collect::<Result<_>>()?;
        let end = reader.trial_end(&trial.facts.id)?;
        Ok(Gathered { reader, trial, protocol, end, people, groups, weeks, study, place })
    }
}

/// The group of a word.
fn group(word: &str) -> Result<Group> {
    match word {
        LIST => Ok(Group::Policy),
        CONTROL => Ok(Group::Control),
        _ => Err(Error::Refused(format!("found a group {}, expected {LIST} or {CONTROL}", show::name(word)))),
    }
}

/// The plan of the trial is not what was registered.
pub(crate) fn changed(what: &str) -> Error {
    Error::Refused(format!("{what}: the plan was changed after it was registered: nothing is analysed by it"))
}

impl Gathered {
    /// How many weeks there are to be analysed: those of the protocol, or those that had a list before it was ended.
    pub(crate) fn due(&self) -> usize {
        match &self.end {
            None => self.weeks.len(),
            Some(_) => self.weeks.iter().rposition(|week| week.plan.is_some()).map_or(0, |last| last + 1),
        }
    }

    /// How many weeks from the first on have an outcome.
    pub(crate) fn observed(&self) -> usize {
        self.weeks.iter().take_while(|week| week.row.is_some()).count()
    }

    pub(crate) fn size(&self, group: Group) -> usize {
        self.groups.iter().filter(|one| **one == group).count()
    }

    /// `[n,T]`: the reward of the state after each decision; NaN where nobody saw it.
    pub(crate) fn outcome(&self, weeks: usize) -> Array2<f64> {
        let log = &self.study.instances[0].trajectories;
        let reward = self.study.settings.reward.view();
        let last = log.trajectories().saturating_sub(1);
        Array2::from_shape_fn((self.people.len(), weeks), |(i, t)| {
            let at = self.place[i].zip(self.weeks[t].row).filter(|(_, row)| *row < log.steps());
            match at.map(|(arm, row)| log.state()[[last, row, arm]]) {
                Some(state) if state != UNSEEN => reward[[usize::from(state), 0]],
                _ => f64::NAN,
            }
        })
    }
}
