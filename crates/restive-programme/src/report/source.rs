//! What a page is about: a programme with its latest list on record, or a model and a study with the list that they make.
//!
//! A programme whose record has no list, or a page about another model than the list on record was made with, has a rehearsal: the list that would be
//! made now, of which nothing is kept.

use crate::effects::{ListEffects, RecordedEffects};
use crate::error::Result;
use crate::folder::Programme;
use crate::list::spoken;
use crate::made::model_fingerprint;
use crate::week::{CONTROL, WeekAsked};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use restive_import::ImportedFolder;
use restive_ledger::{How, Ledger, Plan as Recorded, Reader};
use restive_pipeline::reasons::{Reason, Words};
use restive_pipeline::{Applied, Chosen, Effects, Eligible, Plan, PlanAsked, Trained};
use restive_tables::{Contacts, Study, arm_key, show};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What a page is about.
pub struct ReportSource {
    pub(super) study: Study,
    pub(super) trained: Trained,
    /// of model and study, for messages
    pub(super) names: [String; 2],
    /// of the programme or the study, without the folders around it
    pub(super) name: String,
    /// by name
    pub(super) model: String,
    pub(super) model_fingerprint: String,
    pub(super) model_folder: PathBuf,
    /// in days
    pub(super) model_age: Option<i64>,
    /// the day that the study reaches to
    pub(super) until: Option<String>,
    /// what a period is called
    pub(super) period: String,
    /// the names of states, where there are any
    pub(super) states: Vec<String>,
    pub(super) words: Words,
    /// what is known of people beside the study
    pub(super) contacts: Option<Contacts>,
    /// listed people whose outcome is not known
    pub(super) outcomes_missing: usize,
    pub(super) list: TheList,
}

/// The list that a page is about.
pub(super) struct TheList {
    /// everybody who could have been on it
    pub(super) people: Vec<Person>,
    /// for which days it is, and whether it is on record
    pub(super) of: Option<String>,
    pub(super) is_recorded: bool,
    pub(super) effects: RecordedEffects,
    /// calls in a period
    pub(super) budget: usize,
    /// who could not be on it
    pub(super) left_out: usize,
    /// whom a trial leaves alone
    pub(super) alone: usize,
    /// of these, who was never seen
    pub(super) never_seen: usize,
}

/// Somebody who could have been on the list.
pub(super) struct Person {
    pub(super) instance: usize,
    pub(super) arm: usize,
    pub(super) state: u16,
    pub(super) how: How,
}

/// Reasons are found for so many people at most, who stand for all.
const MOST: usize = 2_000;

impl ReportSource {
    /// Of a programme: its latest list on record, unless another model is asked for or there is none.
    pub fn of_programme(
        programme: &Programme,
        model: Option<&str>,
        seed: u64,
        now: Timestamp,
    ) -> Result<Self> {
        let rules = programme.rules()?;
        let reader = match programme.ledger().exists() {
            true => Some(Ledger::read(&programme.ledger())?),
            false => None,
        };
        let latest = reader.as_ref().map(Reader::latest).transpose()?.flatten();
        let is_there = |name: &str| programme.models_folder().join(name).join("card.json").is_file();
        let latest = latest.filter(|plan| is_there(&plan.facts.model));
        let latest = latest.filter(|plan| model.is_none_or(|name| name == plan.facts.model));
        let entry =
            programme.model(latest.as_ref().map(|plan| plan.facts.model.as_str()).or(model), &rules)?;
        let study = Study::read(&programme.study())?;
        let list = match (&reader, &latest) {
            (Some(reader), Some(plan)) => recorded(&study, reader, plan)?,
            _ => {
                let plan = PlanAsked { seed, ..PlanAsked::default() };
                let asked = WeekAsked {
                    plan,
                    model: Some(entry.name.clone()),
                    rehearse: true,
                    ..WeekAsked::default()
                };
                let week = programme.plan(&asked, now)?;
                let facts = &week.record.facts;
                TheList { of: days(&facts.period_start, &facts.period_end), ..planned(&week.plan) }
            }
        };
        let until = programme.summary.periods.last();
        let until = until.and_then(|row| row.decision.parse().ok()).map(spoken);
        let today = now.to_zoned(TimeZone::UTC).date();
        let status = programme.status(today)?;
        Ok(Self {
            study,
            trained: Trained::read(&entry.folder)?,
            names: [&entry.folder, programme.folder()].map(show::path),
            name: last_of(programme.folder()),
            model_fingerprint: model_fingerprint(&entry.folder)?,
            model_age: entry.day.map(|day| i64::from((today - day).get_days())),
            model: entry.name,
            model_folder: entry.folder,
            until,
            period: programme.summary.period.clone(),
            states: programme.state_names(),
            words: programme.words()?,
            contacts: Some(Contacts::read(&programme.people())?),
            outcomes_missing: status.outcomes_missing,
            list,
        })
    }

    /// Of a model and a study: the list that they make.
    pub fn of_model(model: &Path, study_folder: &Path, seed: u64) -> Result<Self> {
        let (trained, study) = (Trained::read(model)?, Study::read(study_folder)?);
        let shown = ImportedFolder::shown(study_folder);
        let names = [model, shown].map(show::path);
        let applied = Applied::new(&trained, &study, &names[0], &names[1])?;
        let list = planned(&applied.plan(&PlanAsked { seed, ..PlanAsked::default() })?);
        drop(applied);
        Ok(Self {
            name: study.settings.name.clone().unwrap_or_else(|| last_of(shown)),
            model: last_of(model),
            model_fingerprint: model_fingerprint(model)?,
            model_folder: model.into(),
            model_age: None,
            until: None,
            period: "step".into(),
            states: Vec::new(),
            words: Words::default(),
            contacts: None,
            outcomes_missing: 0,
            study,
            trained,
            names,
            list,
        })
    }

    /// What a state is called.
    pub(super) fn state(&self, state: u16) -> String {
        self.states.get(usize::from(state)).cloned().unwrap_or_else(|| format!("state {state}"))
    }

    /// What the state with the highest reward is called, where it is one.
    pub(super) fn good(&self) -> String {
        let reward = self.study.settings.reward.view();
        let rewards: Vec<f64> = reward.column(0).to_vec();
        let most = rewards.iter().fold(f64::NEG_INFINITY, |most, x| most.max(*x));
        let mut best = (0..rewards.len()).filter(|state| rewards[*state] == most);
        match (best.next(), best.next()) {
            (Some(one), None) => self.state(one as u16),
            _ => "a good state".into(),
        }
    }

    /// What somebody is called in the study.
    pub(super) fn arm(&self, person: &Person) -> &str {
        &self.study.instances[person.instance].arms[person.arm]
    }

    /// The reasons of everybody on the list and of enough others, with the positions of people; or why there are none.
    pub(super) fn reasons(&self, applied: &Applied<'_>) -> std::result::Result<Vec<(usize, Reason)>, String> {
        let key = |i: &usize| {
            let person = &self.list.people[*i];
            arm_key(&self.study.instances[person.instance].name, self.arm(person))
        };
        let (mut whom, mut others): (Vec<usize>, Vec<usize>) =
            (0..self.list.people.len()).partition(|i| self.list.people[*i].how.is_listed());
        others.sort_by_key(key);
        whom.extend(others.into_iter().take(MOST.saturating_sub(whom.len())));
        whom.sort_unstable();
        let mut all = Vec::with_capacity(whom.len());
        for (instance, _) in self.study.instances.iter().enumerate() {
            let here: Vec<usize> =
                whom.iter().copied().filter(|i| self.list.people[*i].instance == instance).collect();
            let places: Vec<(usize, u16)> =
                here.iter().map(|i| (self.list.people[*i].arm, self.list.people[*i].state)).collect();
            let found = applied.reasons(instance, &places, None).map_err(|error| error.to_string())?;
            let Effects::Identified(found) = found else { continue };
            all.extend(here.into_iter().zip(found));
        }
        Ok(all)
    }
}

/// The last part of a path: where a folder is on a machine is nobody's business.
fn last_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.into());
    whole.file_name().map_or_else(|| "study".into(), |name| name.to_string_lossy().into_owned())
}

fn days(start: &str, end: &str) -> Option<String> {
    let day = |text: &str| text.parse::<Date>().ok().map(spoken);
    Some(format!("{} to {}", day(start)?, day(end)?))
}

fn planned(plan: &Plan) -> TheList {
    let person = |one: &Eligible| Person {
        instance: one.instance,
        arm: one.arm,
        state: one.state,
        how: match one.chosen {
            Chosen::Rank => How::Rank,
            Chosen::Draw => How::Draw,
            Chosen::Must => How::Must,
            Chosen::No => How::NotListed,
        },
    };
    TheList {
        people: plan.eligible.iter().filter(|one| !one.is_control).map(person).collect(),
        of: None,
        is_recorded: false,
        effects: ListEffects::new(plan),
        budget: plan.budget,
        left_out: plan.excluded.len(),
        alone: plan.eligible.iter().filter(|one| one.is_control).count(),
        never_seen: plan.never_observed,
    }
}

/// As it stands on record, with what was changed by hand; whoever is not in the study any more is left out.
fn recorded(study: &Study, reader: &Reader, plan: &Recorded) -> Result<TheList> {
    let listed: HashSet<String> = reader.listed(&plan.id)?.into_iter().map(|person| person.arm).collect();
    let mut places = HashMap::new();
    for (instance, there) in study.instances.iter().enumerate() {
        places.extend(there.arms.iter().enumerate().map(|(arm, name)| (name.as_str(), (instance, arm))));
    }
    let (mut people, mut apart, mut alone) = (Vec::new(), 0, 0);
    for person in reader.people(&plan.id)? {
        let state = person.state.and_then(|state| u16::try_from(state).ok());
        let state = state.filter(|state| usize::from(*state) < study.settings.reward.states());
        let (Some(&(instance, arm)), Some(state)) = (places.get(person.arm.as_str()), state) else {
            apart += 1;
            continue;
        };
        if person.trial.as_deref() == Some(CONTROL) {
            alone += 1;
            continue;
        }
        let how = match (listed.contains(&person.arm), person.how) {
            (true, How::NotListed) => How::Must,
            (true, how) => how,
            (false, _) => How::NotListed,
        };
        people.push(Person { instance, arm, state, how });
    }
    people.sort_by_key(|person| (person.instance, person.arm));
    Ok(TheList {
        people,
        of: days(&plan.facts.period_start, &plan.facts.period_end),
        is_recorded: true,
        effects: ListEffects::of(plan),
        budget: plan.facts.budget as usize,
        left_out: reader.excluded(&plan.id)?.len() + apart,
        alone,
        never_seen: 0,
    })
}
