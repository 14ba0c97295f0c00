//! The week of one plan, as a page shows it: nothing is read of the people whom the plan did not list.

use super::Entry;
use crate::effects::summary;
use crate::error::Result;
use crate::folder::Programme;
use restive_ledger::{Done, ListChange};
use serde::Serialize;
use std::collections::BTreeMap;

/// The week of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct WeekOnRecord {
    /// in a line
    pub entry: Entry,
    /// the last day of its period
    pub period_end: String,
    /// what there is to say of it, as name and value: what it promises and what every rule costs among it
    pub summary: Vec<(String, String)>,
    /// the rules, as they were written
    pub rules: String,
    /// the version of restive that made it
    pub restive: String,
    /// what was changed by hand, from the first change to the last
    #[serde(skip)]
    pub changes: Vec<ListChange>,
    /// outcomes by code
    pub outcomes: BTreeMap<String, usize>,
    /// outcomes that were others before
    pub amended: usize,
    /// of these, those that were withdrawn
    pub withdrawn: usize,
}

impl WeekOnRecord {
    /// Since when and by whom its list is final; nothing while it is a draft.
    pub fn is_final(&self) -> Option<&ListChange> {
        self.changes.iter().find(|change| change.done == Done::Final)
    }
}

impl Programme {
    /// The week of a plan.
    pub fn week_on_record(&self, plan: &str) -> Result<WeekOnRecord> {
        let reader = self.record()?;
        let record = reader.plan(plan)?;
        let entry = self.entry(&reader, &record, &reader.plan_links()?)?;
        let mut outcomes = BTreeMap::new();
        for outcome in reader.outcomes(plan)? {
            *outcomes.entry(outcome.code.word().to_string()).or_default() += 1;
        }
        let summary = summary(&record, &self.effects(&record)?);
        Ok(WeekOnRecord {
            entry,
            period_end: record.facts.period_end,
            summary,
            rules: record.facts.rules,
            restive: record.facts.restive,
            changes: reader.list_changes(plan)?,
            outcomes,
            amended: reader.amended(plan)?.len(),
            withdrawn: reader.withdrawn(plan)?.len(),
        })
    }

    /// The last link of the chain, to be written down elsewhere; nothing where there is no record.
    pub fn head(&self) -> Result<Option<String>> {
        match self.ledger().exists() {
            true => Ok(self.record()?.head()?),
            false => Ok(None),
        }
    }
}
