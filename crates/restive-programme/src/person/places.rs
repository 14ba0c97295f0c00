//! Her part in every plan on record.

use crate::effects::stated;
use crate::error::Result;
use crate::folder::Programme;
use crate::row::Row;
use jiff::civil::Date;
use restive_ledger::{How, ListChange, Outcome, Planned, Reader, Status};
use std::collections::HashMap;

/// Her part in a plan.
#[derive(Debug, Clone)]
pub struct PersonPlace {
    /// the plan
    pub plan: String,
    /// whether it counts
    pub is_current: bool,
    /// the first day of its period
    pub first_day: Option<Date>,
    /// the last
    pub last_day: Option<Date>,
    /// people from whom it chose
    pub people: usize,
    /// places on its list
    pub listed: u32,
    /// how many periods it looked ahead
    pub steps: u32,
    /// whether she is on its list, changes by hand applied
    pub is_listed: bool,
    /// what the plan said of her, where it chose from her
    pub planned: Option<Planned>,
    /// what its list said of her, where it had her
    pub row: Option<Row>,
    /// Value of a call to the person at that time; `None` if the person was not eligible in the plan, or effects are not stated.
    pub worth: Option<f64>,
    /// which rule kept her off, in words
    pub excluded: Option<String>,
    /// what came of it
    pub outcome: Option<Outcome>,
    /// what was changed by hand about her, from the first change to the last
    pub changes: Vec<ListChange>,
    /// what people were ranked by, and how much of it the last place by rank took
    pub(crate) policy: String,
    pub(crate) last: Option<f64>,
    pub(crate) asked: String,
}

impl PersonPlace {
    /// Whether she is on the list, or was until somebody left her out.
    pub fn was_listed(&self) -> bool {
        self.is_listed || self.planned.as_ref().is_some_and(|planned| planned.how.is_listed())
    }

    /// How she came onto the list; nothing where the plan did not put her there.
    pub fn how(&self) -> Option<How> {
        self.planned.as_ref().map(|planned| planned.how).filter(|how| how.is_listed())
    }

    /// Whether a trial leaves her alone.
    pub fn is_control(&self) -> bool {
        self.planned.as_ref().and_then(|planned| planned.trial.as_deref()) == Some(crate::week::CONTROL)
    }
}

/// Of all plans, the latest period first.
pub(super) fn read(programme: &Programme, reader: &Reader, arm: &str) -> Result<Vec<PersonPlace>> {
    let mut plans = reader.plans()?;
    plans.sort_by_key(|plan| std::cmp::Reverse((plan.facts.period, plan.status == Status::Current)));
    let mut changes: HashMap<String, Vec<ListChange>> = HashMap::new();
    for (plan, change) in reader.changes_of(arm)? {
        changes.entry(plan).or_default().push(change);
    }
    let mut places = Vec::with_capacity(plans.len());
    for plan in plans {
        let part = reader.part(&plan.id, arm)?;
        let effects = programme.effects(&plan)?;
        let row = part.planned.as_ref().and_then(|one| serde_json::from_str::<Row>(one.row.as_deref()?).ok());
        let facts = plan.facts;
        let cuts: serde_json::Value = serde_json::from_str(&facts.cuts).unwrap_or_default();
        places.push(PersonPlace {
            is_current: plan.status == Status::Current,
            first_day: facts.period_start.parse().ok(),
            last_day: facts.period_end.parse().ok(),
            people: plan.people,
            listed: facts.places,
            steps: facts.steps,
            is_listed: part.is_listed,
            row: row.map(|row| stated(row, &effects)),
            worth: part.planned.as_ref().filter(|_| effects.identified().is_some()).map(|one| one.value),
            planned: part.planned,
            excluded: part.excluded,
            outcome: part.outcome,
            changes: changes.remove(&plan.id).unwrap_or_default(),
            policy: facts.policy,
            last: cuts.pointer("/0/last/score").and_then(serde_json::Value::as_f64),
            asked: facts.asked,
            plan: plan.id,
        });
    }
    Ok(places)
}
