//! What was decided, looked at later: every plan, whether it can be made again, and why names came and went.
//!
//! | file | what happens there |
//! |---|---|
//! | `verify` | the chain of the ledger, what plans were made of, and every plan made again |
//! | `week` | the week of one plan, as a page shows it |
//! | `diff` | one list against another, with a reason for every name that came or went |
//!
//! A plan of the record is never computed anew for anybody but an auditor: lists are written from what was recorded.

mod diff;
mod verify;
mod week;

pub use diff::{Diff, Moved, Why};
pub use verify::{Again, PlanAgain, Verified, VerifyAsked};
pub use week::WeekOnRecord;

use crate::effects::{RecordedEffects, summary};
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::store::Store;
use restive_ledger::{Input, Ledger, Override, Plan, Reader};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A plan of the record, in a line.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// its name
    pub plan: String,
    /// current, or replaced
    pub status: String,
    /// when it was made
    pub made_at: String,
    /// the first day of its period
    pub period_start: String,
    /// the model
    pub model: String,
    /// people on the list
    pub listed: usize,
    /// people from whom it chose
    pub people: usize,
    /// listed people whose outcome is known
    pub outcomes: usize,
    /// changes by hand
    pub overrides: usize,
    /// how far it comes from no calls to what no plan could exceed
    pub share: Option<f64>,
    /// whether everything that it was made of is there; whether unchanged, [`Programme::verify`] says
    pub is_kept: bool,
    /// the link of the chain that seals it
    pub link: Option<String>,
}

/// A plan of the record, whole.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// in a line
    pub entry: Entry,
    /// what there is to say of it, as name and value
    pub summary: Vec<(String, String)>,
    /// what it was made of
    pub inputs: Vec<Input>,
    /// how it was asked for
    pub asked: serde_json::Value,
    /// Expected effects of its calls, or why they are not stated.
    #[serde(flatten)]
    pub effects: RecordedEffects,
    /// the rules, as they were written
    pub rules: String,
    /// how many came onto the list, by how
    pub how: BTreeMap<String, usize>,
    /// how many could not be chosen, by why
    pub excluded: BTreeMap<String, usize>,
    /// outcomes by code
    pub outcomes: BTreeMap<String, usize>,
    /// changes by hand
    pub overrides: Vec<Override>,
    /// the trial that ran
    pub trial: Option<String>,
}

impl Programme {
    /// The record, to be read; refused where there is none.
    pub(crate) fn record(&self) -> Result<Reader> {
        match self.ledger().exists() {
            true => Ok(Ledger::read(&self.ledger())?),
            false => Err(Error::Refused(format!(
                "{}: found no plan on record, expected one: restive plan makes and records one",
                restive_tables::show::path(self.folder())
            ))),
        }
    }

    /// All plans on record, oldest first.
    pub fn audit_list(&self) -> Result<Vec<Entry>> {
        let reader = self.record()?;
        let links = reader.plan_links()?;
        reader.plans()?.iter().map(|plan| self.entry(&reader, plan, &links)).collect()
    }

    /// One plan on record, the latest where none is named.
    pub fn audit_show(&self, plan: Option<&str>) -> Result<Shown> {
        let reader = self.record()?;
        let plan = match plan {
            Some(id) => reader.plan(id)?,
            None => reader.plan(&self.latest(reader.latest()?)?)?,
        };
        let entry = self.entry(&reader, &plan, &reader.plan_links()?)?;
        let count = |all: &mut BTreeMap<String, usize>, name: String| *all.entry(name).or_default() += 1;
        let (mut how, mut excluded, mut outcomes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for person in reader.people(&plan.id)?.iter().filter(|person| person.how.is_listed()) {
            count(&mut how, person.how.word().into());
        }
        reader.excluded(&plan.id)?.into_iter().for_each(|one| count(&mut excluded, one.why));
        reader.outcomes(&plan.id)?.iter().for_each(|one| count(&mut outcomes, one.code.word().into()));
        let effects = self.effects(&plan)?;
        let summary = summary(&plan, &effects);
        let facts = plan.facts;
        Ok(Shown {
            entry,
            summary,
            inputs: facts.inputs,
            asked: serde_json::from_str(&facts.asked).unwrap_or_default(),
            effects,
            rules: facts.rules,
            how,
            excluded,
            outcomes,
            overrides: reader.overrides(&plan.id)?,
            trial: facts.trial,
        })
    }
}

impl Programme {
    fn entry(&self, reader: &Reader, plan: &Plan, links: &HashMap<String, String>) -> Result<Entry> {
        let inputs = &plan.facts.inputs;
        let store = Store::of(self.folder());
        let effects = self.effects(plan)?;
        let share = effects.identified().and_then(|found| found.certificate.as_ref()?.share);
        let [listed, outcomes, overrides] = reader.counts(&plan.id)?;
        Ok(Entry {
            plan: plan.id.clone(),
            status: plan.status.word().into(),
            made_at: plan.facts.made_at.clone(),
            period_start: plan.facts.period_start.clone(),
            model: plan.facts.model.clone(),
            listed,
            people: plan.people,
            outcomes,
            overrides,
            share: share.map(|share| share.value.min(1.0)),
            is_kept: !inputs.is_empty() && inputs.iter().all(|input| store.has(input)),
            link: links.get(&plan.id).cloned(),
        })
    }
}
