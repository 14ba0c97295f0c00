//! This week's list: the chosen model meets the study under the programme's rules, and what came of it is recorded before anybody sees it.
//!
//! The order matters. The ledger is opened for writing first, so that of two planners one waits and is told so; the plan is made and
//! recorded, in one transaction; then files are written, from what was recorded. A crash before the record leaves nothing, one after it a
//! plan whose list can be written again. A period has one plan: its probabilities are those by which its list was drawn, and planning
//! until one likes the list would make them a lie. So a second plan for the same period has to be asked for, is possible only as long as no
//! outcome has come, and stays on the record beside the first.

use crate::error::{Error, Result};
use crate::folder::{ModelEntry, Period, Programme};
use crate::list::{Listed, spoken};
use crate::row::{Calendar, Row, how};
use crate::status::{OLD, people_counted};
use crate::words::ListWords;
use jiff::Timestamp;
use jiff::civil::Date;
use restive_ledger::{Ledger, NewPlan, Plan as Recorded, Planned, Standing, Status};
use restive_pipeline::reasons::sentence;
use restive_pipeline::words::{counted, grouped};
use restive_pipeline::{Applied, Chosen, Message, Nouns, Plan, PlanAsked, Rules, Trained};
use restive_report::list::List;
use restive_tables::{Contacts, Model, Study, show};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

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
        let words = self.words()?;
        let words_text = std::fs::read(self.words_file()).unwrap_or_default();
        let list_words = self.list_words()?;
        let entry = self.model(asked.model.as_deref(), &rules)?;
        let trained = Trained::read(&entry.folder)?;
        let study = Study::read(&self.study())?;
        let words = words.for_study(&study.settings);
        let contacts = Contacts::read(&self.people())?;
        let worker = worker(&rules, &contacts)?;
        let names = [&entry.folder, &self.study()].map(|path| show::path(path));
        let applied = Applied::new(&trained, &study, &names[0], &names[1])?;
        let states = self.state_names();
        let plan_asked = PlanAsked {
            people: Some(contacts),
            rules: rules.clone(),
            period: Some(period.first_day.to_string()),
            ..asked.plan.clone()
        };
        let plan = applied.plan(&plan_asked)?;
        let contacts = plan_asked.people.as_ref().expect("the people of the programme");
        let days: Vec<Option<Date>> =
            self.summary.periods.iter().map(|row| row.state_from.parse().ok()).collect();
        let calendar = Calendar { days: &days };
        let reasons = applied.reasons(0, &listed_in(&study, &plan), asked.plan.history)?;
        let mut rows = Vec::with_capacity(plan.plan.len());
        for (arm, reason) in plan.plan.iter().zip(&reasons) {
            let margin = (arm.chosen == Chosen::Rank).then_some(arm.margin);
            let said = sentence(reason, &words, margin);
            let said = match words.chosen(arm.chosen) {
                Some(how) => format!("{how} {said}"),
                None => said,
            };
            rows.push((arm.arm.clone(), Row::new(arm, reason, said, &calendar, contacts.person(&arm.arm)?)));
        }
        let people = planned(&study, &plan, &rows, contacts, worker.as_deref())?;
        let mut facts = self.facts(&plan, &plan_asked, &study, &entry, &period, now);
        facts.model_fingerprint = model_fingerprint(&entry.folder)?;
        facts.words_fingerprint = fingerprint(&words_text);
        let record = match ledger {
            Some(mut ledger) => {
                let id = ledger.record(&facts, &people, asked.again)?;
                ledger.plan(&id)?
            }
            None => Recorded { id: REHEARSAL.into(), status: Status::Current, people: people.len(), facts },
        };
        let model_age =
            entry.day.map(|day| i64::from((now.to_zoned(jiff::tz::TimeZone::UTC).date() - day).get_days()));
        let listed: Vec<Planned> = people.into_iter().filter(|person| person.how.is_listed()).collect();
        let list = Listed {
            plan: &record,
            people: &listed,
            overrides: &[],
            contacts,
            words: &list_words,
            states: &states,
            unit: study.settings.unit.as_deref(),
            worker: worker.as_deref(),
            summary: self.facts_of(&record.facts, &plan, study.settings.unit.as_deref()),
        }
        .list()?;
        let mut notes: Vec<String> =
            applied.notes.iter().cloned().chain(plan.note()).chain(plan.left_out()).collect();
        if missing > 0 {
            notes.push(format!(
                "{} of earlier lists without an outcome: nobody knows whether they were called, and they may be on this one",
                people_counted(missing)
            ));
        }
        if let Some(age) = model_age.filter(|age| *age > OLD) {
            notes.push(format!("the model is {age} days old: train again with what has come since"));
        }
        let warnings = plan.warnings();
        drop(applied);
        Ok(Week { record, model_age, plan, rows, notes, warnings, list })
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
        let facts: Vec<(String, String)> = serde_json::from_str(&record.facts.summary).unwrap_or_default();
        Listed {
            plan: &record,
            people: &reader.listed(&record.id)?,
            overrides: &reader.overrides(&record.id)?,
            contacts: &contacts,
            words: &self.list_words()?,
            states: &self.state_names(),
            unit: study.settings.unit.as_deref(),
            worker: worker.as_deref(),
            summary: facts,
        }
        .list()
    }

    pub(crate) fn list_words(&self) -> Result<ListWords> {
        let path = self.words_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => ListWords::parse(&path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(ListWords::default()),
            Err(answer) => Err(restive_tables::Error::Io { path, doing: "read", answer }.into()),
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

    fn facts(
        &self,
        plan: &Plan,
        asked: &PlanAsked,
        study: &Study,
        entry: &ModelEntry,
        period: &Period,
        now: Timestamp,
    ) -> NewPlan {
        let whole = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        let mut facts = NewPlan {
            made_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            period: period.number,
            period_start: period.first_day.to_string(),
            period_end: period.last_day.to_string(),
            restive: env!("CARGO_PKG_VERSION").into(),
            model: entry.name.clone(),
            model_fingerprint: String::new(),
            study_fingerprint: study.fingerprint(),
            words_fingerprint: String::new(),
            rules: asked.rules.text.clone(),
            policy: plan.policy.name().into(),
            budget: whole(plan.budget),
            places: whole(plan.plan.len()),
            explore_places: whole(plan.drawn),
            seed: asked.seed,
            steps: whole(plan.steps[1]),
            inclusion: plan.chance.words(),
            value: plan.value,
            summary: String::new(),
        };
        let said = self.facts_of(&facts, plan, study.settings.unit.as_deref());
        facts.summary = serde_json::to_string(&said).expect("plain values");
        facts
    }
}

fn fingerprint(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// Of the files of a model.
fn model_fingerprint(folder: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    for name in Model::FILES {
        let path = folder.join(name);
        let read =
            std::fs::read(&path).map_err(|answer| restive_tables::Error::Io { path, doing: "read", answer });
        bytes.extend(read?);
    }
    Ok(fingerprint(&bytes))
}

/// The column that sheets are made by: as the rules say, else a kept column of that name.
fn worker(rules: &Rules, contacts: &Contacts) -> Result<Option<String>> {
    let wanted = rules.worker.as_deref();
    let found = contacts.kept.iter().find(|name| name.as_str() == wanted.unwrap_or("worker"));
    match (found, wanted) {
        (None, Some(name)) => Err(Error::Refused(format!(
            "{}: worker: found no column {} kept of people, expected one of: {}; the mapping says what is kept",
            show::path(rules.path()),
            show::name(name),
            contacts.kept.iter().map(|name| show::name(name)).collect::<Vec<_>>().join(", ")
        ))),
        (found, _) => Ok(found.cloned()),
    }
}

/// The positions and states of those on the list, in its order.
fn listed_in(study: &Study, plan: &Plan) -> Vec<(usize, u16)> {
    let arms = &study.instances[0].arms;
    let known: HashMap<&str, (usize, u16)> =
        plan.eligible.iter().map(|one| (arms[one.arm].as_str(), (one.arm, one.state))).collect();
    plan.plan.iter().map(|row| known[row.arm.as_str()]).collect()
}

/// Everybody from whom the plan chose, for the ledger.
fn planned(
    study: &Study,
    plan: &Plan,
    rows: &[(String, Row)],
    contacts: &Contacts,
    worker: Option<&str>,
) -> Result<Vec<Planned>> {
    let said: HashMap<&str, &Row> = rows.iter().map(|(arm, row)| (arm.as_str(), row)).collect();
    let column = worker.and_then(|name| contacts.kept.iter().position(|kept| kept == name));
    let mut order: Vec<usize> = (0..plan.eligible.len()).collect();
    order.sort_by(|a, b| plan.eligible[*b].score.total_cmp(&plan.eligible[*a].score));
    let mut rank = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(k, i)| rank[*i] = k as u32 + 1);
    let person = |(i, eligible): (usize, &restive_pipeline::Eligible)| -> Result<Planned> {
        let arm = &study.instances[eligible.instance].arms[eligible.arm];
        let group = column.map(|k| Ok::<_, Error>(contacts.person(arm)?.kept[k].clone())).transpose()?;
        Ok(Planned {
            arm: arm.clone(),
            probability: eligible.inclusion.clamp(0.0, 1.0),
            how: how(eligible.chosen),
            rank: Some(rank[i]),
            state: Some(eligible.state.into()),
            value: eligible.value,
            group: group.filter(|name| !name.is_empty()),
            row: said.get(arm.as_str()).map(|row| serde_json::to_string(row).expect("plain values")),
        })
    };
    plan.eligible.iter().enumerate().map(person).collect()
}

impl Programme {
    /// What a planner should know of a list, as name and value.
    fn facts_of(&self, facts: &NewPlan, plan: &Plan, unit: Option<&str>) -> Vec<(String, String)> {
        let unit = unit.unwrap_or("reward");
        let among = plan.eligible.iter().filter(|one| one.inclusion > 0.0 && one.inclusion < 1.0).count();
        let drawn = match plan.drawn {
            0 => "nobody".into(),
            drawn => format!("{} among {}", grouped(drawn as u64), people_counted(among)),
        };
        let empty = match plan.budget - plan.plan.len().min(plan.budget) {
            0 => String::new(),
            empty => format!("; {} empty: the rules allow no more", grouped(empty as u64)),
        };
        let mut all = vec![
            (
                "places".to_string(),
                format!("{} of {}{empty}", grouped(facts.places.into()), grouped(facts.budget.into())),
            ),
            ("drawn by lot".into(), drawn),
            (
                "expected to add".into(),
                format!(
                    "{:.1} {unit} over {}",
                    plan.value,
                    counted(facts.steps.into(), &self.summary.period)
                ),
            ),
            ("probabilities".into(), facts.inclusion.clone()),
        ];
        let nouns = Nouns { pull: "call", step: &self.summary.period, people: ["person", "people"], unit };
        all.extend(plan.certificate.iter().flat_map(|certificate| certificate.lines(nouns)));
        if plan.not_indexable > 0 {
            let share = 100.0 * plan.not_indexable as f64 / plan.bound.arms.max(1) as f64;
            let said =
                format!("{} ({share:.1} %): their rank is a heuristic", people_counted(plan.not_indexable));
            all.push(("without an exact index".into(), said));
        }
        all.extend([("model".into(), facts.model.clone()), ("seed".into(), facts.seed.to_string())]);
        for price in &plan.rules {
            let kept = price
                .keeps_out
                .map_or(String::new(), |people| format!(", keeps out {}", people_counted(people)));
            let about = if price.is_rough { "about " } else { "" };
            // by an index, which is no reward, a list under fewer rules may be worth a little less
            let costs = match price.costs {
                costs if costs < 0.005 => "costs nothing".into(),
                costs => format!("costs {about}{costs:.2} {unit}"),
            };
            all.push((price.rule.clone(), format!("{costs}{kept}")));
        }
        if plan.gap > 0.0 {
            let gap = format!("not proven: at most {:.3} of {} away", plan.gap, plan.policy.worth());
            all.push(("the best list under these rules".into(), gap));
        }
        all
    }
}
