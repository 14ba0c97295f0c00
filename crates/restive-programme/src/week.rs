//! This week's list: the chosen model meets the study under the programme's rules, and what came of it is recorded before anybody sees it.
//!
//! The order matters. The ledger is opened for writing first, so that of two planners one waits and is told so; the plan is made and
//! recorded, in one transaction; then files are written, from what was recorded. A crash before the record leaves nothing, one after it a
//! plan whose list can be written again. A period has one plan: its probabilities are those by which its list was drawn, and planning
//! until one likes the list would make them a lie. So a second plan for the same period has to be asked for, is possible only as long as no
//! outcome has come, and stays on the record beside the first.

use crate::effects::summary;
use crate::error::{Error, Result};
use crate::folder::{ModelEntry, Period, Programme, is_there};
use crate::list::{Listed, spoken};
use crate::made::{Made, Materials, WORDS, When, fingerprint, model_fingerprint, worker};
use crate::row::Row;
use crate::status::{OLD, people_counted};
use crate::store::{self, Store};
use crate::words::ListWords;
use jiff::Timestamp;
use restive_ledger::{Input, Ledger, Plan as Recorded, Planned, Reader, Standing, Status};
use restive_pipeline::reasons::Words;
use restive_pipeline::{InTrial, Message, Plan, PlanAsked, Rules, Trained, read_text_file};
use restive_report::list::List;
use restive_tables::{Contacts, Study, show};
use serde::Serialize;

/// The group of a trial that is left alone.
pub const CONTROL: &str = "control";

/// What this week's list is asked for.
#[derive(Debug, Clone, Default)]
pub struct WeekAsked {
    /// as for any plan; people, rules, period and words are the programme's
    pub plan: PlanAsked,
    /// other rules than those in the folder
    pub rules: Option<Rules>,
    /// a model by name; absent: as the rules say, else the newest
    pub model: Option<String>,
    /// whether a plan of this period may be replaced
    pub again: bool,
    /// whether the plan is only to be looked at: nothing is recorded
    pub rehearse: bool,
}

/// This week's list.
#[derive(Serialize)]
pub struct Week {
    /// the record; of a rehearsal its id is [`REHEARSAL`]
    #[serde(serialize_with = "crate::effects::serialize_record")]
    pub record: Recorded,
    /// how old the model is, in days
    pub model_age: Option<i64>,
    /// the plan
    pub plan: Plan,
    /// the rows, in the order of the list
    pub rows: Vec<(String, Row)>,
    /// what should be known
    pub notes: Vec<String>,
    /// what should be known before it is trusted
    #[serde(skip)]
    pub warnings: Vec<Message>,
    /// the list for people, with names
    #[serde(skip)]
    pub list: List,
}

/// What the plan of a rehearsal is called, also in its files: nobody can fill it in.
pub const REHEARSAL: &str = "rehearsal";

impl Programme {
    /// Makes this week's list, and records it.
    pub fn plan(&self, asked: &WeekAsked, now: Timestamp) -> Result<Week> {
        let ledger = (!asked.rehearse).then(|| Ledger::open(&self.ledger())).transpose()?;
        // an import may have ended while this process waited
        self.reopened()?.plan_into(ledger, asked, now)
    }

    /// Makes this week's list, and records it in an open ledger; `None`: a rehearsal.
    pub(crate) fn plan_into(
        &self,
        ledger: Option<Ledger>,
        asked: &WeekAsked,
        now: Timestamp,
    ) -> Result<Week> {
        let period = self.period()?;
        let mut missing = 0;
        if let Some(ledger) = &ledger {
            if !asked.again {
                self.refuse_second(ledger.plans()?.iter(), &period)?;
            }
            let is_earlier = |plan: &&Standing| plan.status == Status::Current && plan.period < period.number;
            missing = ledger.standings()?.plans.iter().filter(is_earlier).map(|plan| plan.missing).sum();
        }
        let rules = match &asked.rules {
            Some(rules) => rules.clone(),
            None => self.rules()?,
        };
        let list_words = self.list_words()?;
        let entry = self.model(asked.model.as_deref(), &rules)?;
        let contacts = Contacts::read(&self.people())?;
        let trial = match &ledger {
            Some(ledger) => self.trial_of(ledger, &period)?,
            None => match self.ledger().exists() {
                true => self.trial_of(&Ledger::read(&self.ledger())?, &period)?,
                false => None,
            },
        };
        let made_at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let materials = self.materials(&asked.plan, rules, &entry, &contacts, trial, made_at)?;
        let inputs = match asked.rehearse {
            false => self.keep(&materials, &entry)?,
            true => Vec::new(),
        };
        let made = materials.make(inputs)?;
        let Made { facts, people, excluded, plan, rows, mut notes, warnings } = made;
        let record = match ledger {
            Some(mut ledger) => {
                let id = ledger.record(&facts, &people, &excluded, asked.again)?;
                ledger.plan(&id)?
            }
            None => Recorded { id: REHEARSAL.into(), status: Status::Current, people: people.len(), facts },
        };
        let model_age =
            entry.day.map(|day| i64::from((now.to_zoned(jiff::tz::TimeZone::UTC).date() - day).get_days()));
        let listed: Vec<Planned> = people.into_iter().filter(|person| person.how.is_listed()).collect();
        let effects = self.effects(&record)?;
        let list = Listed {
            plan: &record,
            effects: &effects,
            people: &listed,
            changes: &[],
            contacts: &contacts,
            words: &list_words,
            states: &self.state_names(),
            unit: materials.study.settings.unit.as_deref(),
            worker: materials.worker.as_deref(),
            summary: summary(&record, &effects),
        }
        .list()?;
        if missing > 0 {
            notes.push(format!(
                "{} of earlier lists without an outcome: nobody knows whether they were called, and they may be on this one",
                people_counted(missing)
            ));
        }
        if let Some(age) = model_age.filter(|age| *age > OLD) {
            notes.push(format!("the model is {age} days old: train again with what has come since"));
        }
        Ok(Week { record, model_age, plan, rows, notes, warnings, list })
    }

    /// All that the plan of the next period depends on.
    pub(crate) fn materials(
        &self,
        asked: &PlanAsked,
        rules: Rules,
        entry: &ModelEntry,
        contacts: &Contacts,
        trial: Option<(String, InTrial)>,
        made_at: String,
    ) -> Result<Materials> {
        let worker = worker(&rules, contacts)?;
        let mut columns = rules.columns();
        columns.extend(worker.as_deref());
        let contacts = contacts.reduced(&columns, &rules.ids());
        let period = self.period()?;
        let days = self.summary.periods.iter().map(|row| row.state_from.parse().ok()).collect();
        Ok(Materials {
            study: Study::read(&self.study())?,
            trained: Trained::read(&entry.folder)?,
            names: [&entry.folder, self.folder()].map(show::path),
            model: entry.name.clone(),
            model_fingerprint: model_fingerprint(&entry.folder)?,
            contacts,
            worker,
            rules,
            words: self.words()?,
            words_fingerprint: fingerprint(&std::fs::read(self.words_file()).unwrap_or_default()),
            when: When {
                noun: self.summary.period.clone(),
                days,
                number: period.number,
                first_day: period.first_day,
                last_day: period.last_day,
            },
            asked: asked.into(),
            pricing: asked.pricing.clone(),
            trial,
            made_at,
        })
    }

    /// Keeps all that a plan depends on.
    fn keep(&self, materials: &Materials, entry: &ModelEntry) -> Result<Vec<Input>> {
        let mut contents = materials.contents(&self.study(), &entry.folder)?;
        if self.words_file().exists() {
            contents.push((WORDS.into(), store::read(&self.words_file())?));
        }
        Store::of(self.folder()).keep(&contents)
    }

    /// The trial that runs in a period, and who is in which group.
    pub(crate) fn trial_of(&self, ledger: &Reader, period: &Period) -> Result<Option<(String, InTrial)>> {
        let Some(trial) = ledger.running_trial()? else { return Ok(None) };
        if period.first_day.to_string() < trial.facts.starts {
            return Ok(None);
        }
        let groups = ledger.assigned(&trial.facts.id)?.into_iter().map(|one| (one.arm, one.group)).collect();
        Ok(Some((trial.facts.id, InTrial { groups, control: CONTROL.into() })))
    }

    /// The list of a recorded plan, as it stands: overrides applied.
    pub fn list(&self, plan: Option<&str>) -> Result<List> {
        let reader = Ledger::read(&self.ledger())?;
        let record = match plan {
            Some(id) => reader.plan(id)?,
            None => reader.plan(&self.latest(reader.latest()?)?)?,
        };
        let rules = Rules::parse(&self.rules_file(), &record.facts.rules)?;
        let contacts = Contacts::read(&self.people())?;
        let study = Study::read(&self.study())?;
        let worker = worker(&rules, &contacts)?;
        let effects = self.effects(&record)?;
        Listed {
            plan: &record,
            effects: &effects,
            people: &reader.listed(&record.id)?,
            changes: &reader.list_changes(&record.id)?,
            contacts: &contacts,
            words: &self.list_words()?,
            states: &self.state_names(),
            unit: study.settings.unit.as_deref(),
            worker: worker.as_deref(),
            summary: summary(&record, &effects),
        }
        .list()
    }

    pub(crate) fn list_words(&self) -> Result<ListWords> {
        let path = self.words_file();
        match is_there(&path)? {
            true => ListWords::parse(&path, &read_text_file(&path, Words::IF_EMPTY)?),
            false => Ok(ListWords::default()),
        }
    }

    /// Refuses a second plan of a period that has one.
    fn refuse_second<'a>(
        &self,
        mut plans: impl Iterator<Item = &'a Recorded>,
        period: &Period,
    ) -> Result<()> {
        let is_it = |plan: &&Recorded| plan.status == Status::Current && plan.facts.period == period.number;
        match plans.find(is_it) {
            None => Ok(()),
            Some(plan) => Err(Error::Refused(format!(
                "{}: found the plan {} for the {} from {}, made at {}, expected none: restive programme list writes its list \
                 again, and a plan in its place has to be asked for (--again)",
                show::path(self.folder()),
                plan.id,
                self.summary.period,
                spoken(period.first_day),
                plan.facts.made_at
            ))),
        }
    }
}
