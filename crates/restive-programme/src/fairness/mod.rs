//! Whom the lists served: from a programme's record, its people and its study to tables of groups, and what a floor would cost.
//!
//! | file | what happens there |
//! |---|---|
//! | `columns` | what is known of people becomes groups |
//! | `lists` | what plans on record did with everybody, counted |
//! | `floors` | places dealt anew, with a floor for a group |
//! | `need` | what everybody can expect without a call |
//! | `answer`, `said` | tables and floors; the answer, without what is withheld |
//! | `words`, `page` | its sentences; the answer as a page |
//!
//! Every number is the library's ([`restive::fairness`]). Its people are everybody who had not left when a plan was made; those could be called
//! whom the plan chose from. What somebody expects without a call is what the model of the last plan says of the state that the plan found her
//! in. Two periods of one or more plans are held against each other where there are as many plans before.
//!
//! Floors are told of the last list, and only of groups whose places on that one list may be told.

mod answer;
mod columns;
mod floors;
mod lists;
mod need;
mod page;
mod said;
mod words;

pub use page::page;
pub use said::{
    ByChance, Estimate, Fairness, Floor, FloorStep, Group, Lists, Named, Population, Reach, Table, Verdict,
};

use crate::error::Result;
use crate::folder::Programme;
use answer::Looked;
use columns::Everybody;
use floors::Deal;
use lists::{Counted, OnRecord};
use need::{need, states};
use restive::fairness::LEAST;
use restive_ledger::Status;
use restive_pipeline::{Applied, Chosen, Effects, Identification, PlanAsked, Rules, Trained};
use restive_tables::{Contacts, Study, show};
use std::collections::{BTreeSet, HashMap};

/// What is asked of lists.
#[derive(Debug, Clone)]
pub struct FairnessAsked {
    /// columns; none: features of few values, and the state
    pub by: Vec<String>,
    /// pairs of columns, crossed
    pub cross: Vec<[String; 2]>,
    /// which lists
    pub lists: WhichLists,
    /// people below which a count is withheld
    pub least: u64,
    /// groups whose floors are priced, by column and value; none: those that were passed over
    pub floors: Vec<[String; 2]>,
}

/// Which lists of a record are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WhichLists {
    /// the latest
    #[default]
    Latest,
    /// that of a plan, by its id
    Plan(String),
    /// of so many plans, the latest last
    Last(usize),
}

impl Default for FairnessAsked {
    fn default() -> Self {
        Self { by: vec![], cross: vec![], lists: WhichLists::Latest, least: LEAST, floors: vec![] }
    }
}

impl Programme {
    /// Whom the lists on record served.
    pub fn fairness(&self, asked: &FairnessAsked) -> Result<Fairness> {
        let reader = self.record()?;
        let mut current: Vec<_> =
            reader.plans()?.into_iter().filter(|plan| plan.status == Status::Current).collect();
        current.sort_by_key(|plan| plan.facts.period);
        let mut notes = Vec::new();
        let last = match &asked.lists {
            WhichLists::Plan(id) => reader.plan(id)?,
            _ => reader.plan(&self.latest(reader.latest()?)?)?,
        };
        let count = match asked.lists {
            WhichLists::Last(count) => count.max(1),
            _ => 1,
        };
        current.retain(|plan| plan.facts.period < last.facts.period);
        let mut plans = current.split_off(current.len().saturating_sub(count - 1));
        plans.push(last);
        if plans.len() < count {
            notes.push(format!(
                "{} on record, not {count}",
                restive_pipeline::words::counted(plans.len() as u64, "plan")
            ));
        }
        let before = current.split_off(current.len().saturating_sub(plans.len()));
        let before = if before.len() == plans.len() { before } else { Vec::new() };
        let read = |plans: Vec<_>| plans.into_iter().map(|plan| OnRecord::read(&reader, plan)).collect();
        let [plans, before]: [Result<Vec<OnRecord>>; 2] = [plans, before].map(read);
        let (plans, before) = (plans?, before?);
        let Some(last) = plans.last() else { unreachable!("the last plan was put there") };
        let study = Study::read(&self.study())?;
        let contacts = Contacts::read(&self.people())?;
        let everybody = self.everybody(&study, &contacts, plans.iter().chain(&before));
        let facts = &last.plan.facts;
        let rules = Rules::parse(&self.rules_file(), &facts.rules)?;
        let need = self.need(&everybody, &facts.model, &mut notes)?;
        if plans.iter().any(|plan| plan.people.iter().any(|person| plan.is_control(person))) {
            notes.push("people whom a trial leaves alone are counted among people, and not among those who could be called".into());
        }
        if facts.explore_places > 0 {
            notes.push("floors are priced as if no place were drawn by lot".into());
        }
        let unit = study.settings.unit.clone().unwrap_or_else(|| "reward".into());
        let ids = |plans: &[OnRecord]| plans.iter().map(|plan| plan.plan.id.clone()).collect::<Vec<String>>();
        let noun = &self.summary.period;
        let about = match &plans[..] {
            [one] => format!("the list of {}", one.plan.id),
            many => format!("{} lists, {} to {}, one each {noun}", many.len(), many[0].plan.id, last.plan.id),
        };
        let deal = Deal::of_record(last, &rules, &everybody, &unit)?;
        let looked = Looked {
            now: Counted::new(&plans, &everybody.arms),
            before: (!before.is_empty()).then(|| Counted::new(&before, &everybody.arms)),
            last: (plans.len() > 1).then(|| Counted::new(&plans[plans.len() - 1..], &everybody.arms)),
            need,
            deal,
            everybody,
        };
        looked.answer(
            asked,
            Fairness {
                about,
                plans: ids(&plans),
                before: ids(&before),
                unit,
                least: asked.least,
                passed_over: Vec::new(),
                tables: Vec::new(),
                floors: Vec::new(),
                notes,
                effects: Identification::Identified,
                columns: Vec::new(),
            },
        )
    }

    /// Everybody who is in some plans; the state is that of the latest plan that knows one, else that of the study.
    fn everybody<'a>(
        &self,
        study: &'a Study,
        contacts: &'a Contacts,
        plans: impl Iterator<Item = &'a OnRecord>,
    ) -> Everybody<'a> {
        let mut plans: Vec<&OnRecord> = plans.collect();
        plans.sort_by_key(|plan| plan.plan.facts.period);
        let people = |plan: &&'a OnRecord| {
            let plan: &'a OnRecord = plan;
            plan.people.iter().map(|person| &person.arm).chain(&plan.others)
        };
        let arms: BTreeSet<&String> = plans.iter().flat_map(people).collect();
        let place = places(study);
        let place: Vec<Option<[usize; 2]>> =
            arms.iter().map(|arm| place.get(arm.as_str()).copied()).collect();
        let seen: Vec<Vec<Option<u16>>> = states(study);
        let recorded: HashMap<&str, u16> = plans
            .iter()
            .flat_map(|plan| &plan.people)
            .filter_map(|person| Some((person.arm.as_str(), u16::try_from(person.state?).ok()?)))
            .collect();
        let state = arms.iter().zip(&place).map(|(arm, place)| {
            recorded.get(arm.as_str()).copied().or_else(|| place.and_then(|[k, i]| seen[k][i]))
        });
        Everybody {
            study,
            contacts: Some(contacts),
            state: state.collect(),
            arms: arms.into_iter().cloned().collect(),
            place,
            state_names: self.state_names(),
        }
    }

    /// What everybody expects without a call, by the model of that name, else by the one that would be used today.
    fn need(
        &self,
        everybody: &Everybody<'_>,
        model: &str,
        notes: &mut Vec<String>,
    ) -> Result<Effects<Vec<f64>>> {
        let rules = self.rules()?;
        let entry = match self.model(Some(model), &rules) {
            Ok(entry) => entry,
            Err(_) => {
                let entry = self.model(None, &rules)?;
                notes.push(format!(
                    "model {} is gone: what people expect without a call is by {}",
                    show::name(model),
                    show::name(&entry.name)
                ));
                entry
            }
        };
        let trained = Trained::read(&entry.folder)?;
        let names = [&entry.folder, self.folder()].map(show::path);
        need(&Applied::new(&trained, everybody.study, &names[0], &names[1])?, everybody)
    }
}

/// Whom a plan of now would serve: the list of every instance, and no outcomes.
pub fn of_model(
    applied: &Applied<'_>,
    plan: &PlanAsked,
    name: &str,
    asked: &FairnessAsked,
) -> Result<Fairness> {
    let made = applied.plan(plan)?;
    let study = applied.study;
    let instances = study.instances.iter().enumerate();
    let place: Vec<[usize; 2]> =
        instances.flat_map(|(k, instance)| (0..instance.arms.len()).map(move |i| [k, i])).collect();
    let position: HashMap<[usize; 2], usize> =
        place.iter().enumerate().map(|(at, place)| (*place, at)).collect();
    let seen = states(study);
    let everybody = Everybody {
        study,
        contacts: None,
        arms: place.iter().map(|[k, i]| study.instances[*k].arms[*i].clone()).collect(),
        state: place.iter().map(|[k, i]| seen[*k][*i]).collect(),
        place: place.into_iter().map(Some).collect(),
        state_names: Vec::new(),
    };
    let mut now = Counted::nothing(everybody.arms.len());
    now.enrolled.fill(true);
    for one in made.eligible.iter().filter(|one| !one.is_control) {
        let i = position[&[one.instance, one.arm]];
        now.could[i] = 1;
        if one.chosen != Chosen::No {
            now.listed[i] = 1;
            now.benefit[i] = one.value.unwrap_or_default();
        }
    }
    let unit = study.settings.unit.clone().unwrap_or_else(|| "reward".into());
    let need = need(applied, &everybody)?;
    let deal = Ok(Deal::of_plan(&made, &position, &unit));
    let mut notes = applied.notes.clone();
    notes.extend(made.note());
    let answer = Fairness {
        about: format!("the next list of {name}"),
        plans: Vec::new(),
        before: Vec::new(),
        unit,
        least: asked.least,
        passed_over: Vec::new(),
        tables: Vec::new(),
        floors: Vec::new(),
        notes,
        effects: Identification::Identified,
        columns: Vec::new(),
    };
    Looked { now, before: None, last: None, need, deal, everybody }.answer(asked, answer)
}

/// Where the arms of a study are, by name.
fn places(study: &Study) -> HashMap<&str, [usize; 2]> {
    let instances = study.instances.iter().enumerate();
    instances
        .flat_map(|(k, one)| one.arms.iter().enumerate().map(move |(i, arm)| (arm.as_str(), [k, i])))
        .collect()
}
