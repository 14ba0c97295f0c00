//! A list as somebody who edits it sees it, and the edits.
//!
//! A plan is on record from the moment it is made; until somebody says that its list is final, people are moved up, left out and added,
//! each with a reason. Whoever edits has a version of the list before her eyes: how many changes it had. An edit of another version than
//! the one on record is refused with what came between ([`Edited::Stale`]), and nothing is overwritten in silence.
//!
//! Making a draft reads the ledger alone. What changes with an import only (people, words, names of states) is the [`Backdrop`], read once
//! and kept by whoever asks for drafts often. She also has the draft before ([`Programme::draft_after`]): between two words about calls
//! nothing changes but outcomes, and everything else is shared.

use crate::effects::{RecordedEffects, stated, summary};
use crate::error::Result;
use crate::folder::Programme;
use crate::list::Listed;
use crate::made::worker;
use crate::past::{Earlier, Past};
use crate::row::Row;
use crate::words::ListWords;
use jiff::Timestamp;
use restive_ledger::{Done, Kind, Ledger, ListChange, Outcome, Override, Plan, Reader};
use restive_pipeline::Rules;
use restive_report::list::List;
use restive_tables::{Contact, Contacts, Study};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What drafts are made of beside the ledger.
#[derive(Debug, Clone)]
pub struct Backdrop {
    /// who may be called, and what is kept of them
    pub contacts: Contacts,
    /// the names of states; none where the mapping has none
    pub states: Vec<String>,
    /// what a reward of 1 is called
    pub unit: Option<String>,
    /// the places of a list where the rules do not say
    pub budget: usize,
    words: ListWords,
    pub(crate) past: Past,
}

/// The list of a plan, as it stands.
#[derive(Debug, Clone)]
pub struct Draft {
    /// the plan
    pub record: Plan,
    /// Expected effects of its calls, or why they are not stated.
    pub effects: RecordedEffects,
    /// the column that sheets are made by
    pub worker: Option<String>,
    /// who is on it, in its order
    pub rows: Vec<DraftRow>,
    /// what was changed by hand, from the first change to the last
    pub changes: Vec<ListChange>,
    /// the list for people, with the same rows in the same order
    pub list: Arc<List>,
    /// what lists before it said of the same people
    pub(crate) earlier: Arc<Earlier>,
    /// arms on the list of this plan, or on it until they were left out by hand
    once_listed: Arc<HashSet<String>>,
}

/// Somebody on the list.
#[derive(Debug, Clone)]
pub struct DraftRow {
    /// what the study calls her
    pub arm: Arc<str>,
    /// what is kept of her
    pub contact: Arc<Contact>,
    /// what the plan said of her; nothing where she was put on the list by hand
    pub said: Option<Arc<Row>>,
    /// the last change by hand that put her on the list or moved her up
    pub by_hand: Option<Arc<ListChange>>,
    /// what came of her place, where that is known
    pub outcome: Option<Arc<Outcome>>,
    /// whether no earlier list had her
    pub is_new: bool,
    /// whether she was on an earlier list of which no outcome of hers is known
    pub is_overdue: bool,
}

/// A change to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// to be called first
    MoveUp,
    /// not to be called
    LeaveOut,
    /// to be called too
    Add,
}

/// What came of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    /// it was made; the list has this version now
    Done(usize),
    /// somebody else was first, with these changes; nothing was done
    Stale(Vec<ListChange>),
}

impl Draft {
    /// How many changes the list has had.
    pub fn version(&self) -> usize {
        self.changes.len()
    }

    /// Whether the list of any plan has or had an arm, like [`Person::was_listed`](crate::Person::was_listed), but without reading
    /// the ledger.
    pub fn was_listed(&self, arm: &str) -> bool {
        self.once_listed.contains(arm) || self.earlier.once_listed.contains(arm)
    }

    /// Since when and by whom it is final; nothing while it is a draft.
    pub fn is_final(&self) -> Option<&ListChange> {
        self.changes.iter().find(|change| change.done == Done::Final)
    }
}

impl Programme {
    /// What drafts are made of beside the ledger.
    pub fn backdrop(&self) -> Result<Backdrop> {
        let settings = Study::read(&self.study())?.settings;
        Ok(Backdrop {
            contacts: Contacts::read(&self.people())?,
            states: self.state_names(),
            unit: settings.unit,
            budget: settings.budget,
            words: self.list_words()?,
            past: Past::default(),
        })
    }

    /// The list of the latest plan, or of another; nothing where there is no plan.
    pub fn draft(&self, backdrop: &Backdrop, plan: Option<&str>) -> Result<Option<Draft>> {
        if !self.ledger().exists() {
            return Ok(None);
        }
        let reader = Ledger::read(&self.ledger())?;
        let record = match plan {
            Some(id) => reader.plan(id)?,
            None => match reader.latest()? {
                Some(plan) => plan,
                None => return Ok(None),
            },
        };
        // what is kept is of the latest list
        let past = if plan.is_none() { backdrop.past.clone() } else { Past::default() };
        let (earlier, changes) = (past.before(&reader, &record)?, reader.list_changes(&record.id)?);
        self.drafted(backdrop, &reader, record, earlier, changes).map(Some)
    }

    /// The list of the latest plan as it is now, where it was as `before` with the same backdrop: what is as it was is shared.
    pub fn draft_after(&self, backdrop: &Backdrop, before: &Draft) -> Result<Option<Draft>> {
        let reader = Ledger::read(&self.ledger())?;
        let Some(record) = reader.latest()? else { return Ok(None) };
        let (earlier, changes) = (backdrop.past.before(&reader, &record)?, reader.list_changes(&record.id)?);
        if record != before.record || changes != before.changes || !Arc::ptr_eq(&earlier, &before.earlier) {
            return self.drafted(backdrop, &reader, record, earlier, changes).map(Some);
        }
        let mut outcomes: HashMap<String, Outcome> =
            reader.outcomes(&record.id)?.into_iter().map(|one| (one.arm.clone(), one)).collect();
        let rows = before.rows.iter().map(|row| {
            let now = outcomes.remove(&*row.arm);
            let outcome = match &row.outcome {
                Some(then) if now.as_ref() == Some(then) => Some(then.clone()),
                _ => now.map(Arc::new),
            };
            DraftRow { outcome, ..row.clone() }
        });
        Ok(Some(Draft { rows: rows.collect(), ..before.clone() }))
    }

    fn drafted(
        &self,
        backdrop: &Backdrop,
        reader: &Reader,
        record: Plan,
        earlier: Arc<Earlier>,
        changes: Vec<ListChange>,
    ) -> Result<Draft> {
        let Backdrop { contacts, states, unit, words, .. } = backdrop;
        let rules = Rules::parse(&self.rules_file(), &record.facts.rules)?;
        let worker = worker(&rules, contacts)?;
        let people = reader.listed(&record.id)?;
        let effects = self.effects(&record)?;
        let list = Listed {
            plan: &record,
            effects: &effects,
            people: &people,
            changes: &changes,
            contacts,
            words,
            states,
            unit: unit.as_deref(),
            worker: worker.as_deref(),
            summary: summary(&record, &effects),
        }
        .list()?;
        let mut outcomes: HashMap<String, Outcome> =
            reader.outcomes(&record.id)?.into_iter().map(|one| (one.arm.clone(), one)).collect();
        let mut said: HashMap<&str, Option<Row>> = HashMap::new();
        for person in &people {
            let row = person.row.as_deref().and_then(|text| serde_json::from_str(text).ok());
            said.insert(&person.arm, row.map(|row| stated(row, &effects)));
        }
        let last: HashMap<&str, &ListChange> =
            changes.iter().filter_map(|change| Some((change.arm.as_deref()?, change))).collect();
        let mut rows = Vec::with_capacity(people.len());
        for row in &list.rows {
            let Some(arm) = contacts.arm(&row.id) else { continue };
            rows.push(DraftRow {
                arm: arm.into(),
                contact: Arc::new(contacts.person(arm)?.clone()),
                said: said.remove(arm).flatten().map(Arc::new),
                by_hand: last.get(arm).map(|change| Arc::new((*change).clone())),
                outcome: outcomes.remove(arm).map(Arc::new),
                is_new: !earlier.listed.contains(arm),
                is_overdue: earlier.is_missing(arm),
            });
        }
        let once_listed = Arc::new(reader.once_listed_arms(&record.id)?.into_iter().collect());
        Ok(Draft { record, effects, worker, rows, changes, list: Arc::new(list), earlier, once_listed })
    }

    /// Changes the list of a plan, of which the editor has seen that version; `id` is the programme's.
    #[allow(clippy::too_many_arguments)]
    pub fn edit(
        &self,
        plan: &str,
        version: usize,
        edit: Edit,
        id: &str,
        who: &str,
        why: &str,
        now: Timestamp,
    ) -> Result<Edited> {
        let mut ledger = Ledger::open(&self.ledger())?;
        if let Some(stale) = stale(&ledger, plan, version)? {
            return Ok(stale);
        }
        let arm = self.arm(id)?;
        let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        match edit {
            Edit::MoveUp => ledger.move_up(plan, &arm, who, why, &at)?,
            Edit::LeaveOut | Edit::Add => {
                let kind = if edit == Edit::Add { Kind::Added } else { Kind::Removed };
                if kind == Kind::Added {
                    self.refuse_control(&ledger, plan, &arm, id)?;
                }
                let (plan, who, why) = (plan.into(), who.into(), why.into());
                ledger.override_list(&Override { plan, arm, kind, who, why, at })?;
            }
        }
        Ok(Edited::Done(version + 1))
    }

    /// Says that the list of a plan is final, of which whoever says so has seen that version.
    pub fn finalise(&self, plan: &str, version: usize, who: &str, now: Timestamp) -> Result<Edited> {
        let mut ledger = Ledger::open(&self.ledger())?;
        if let Some(stale) = stale(&ledger, plan, version)? {
            return Ok(stale);
        }
        ledger.finalise(plan, who, &now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())?;
        Ok(Edited::Done(version + 1))
    }
}

/// What came after the version that an editor has seen.
fn stale(ledger: &Ledger, plan: &str, version: usize) -> Result<Option<Edited>> {
    let changes = ledger.list_changes(plan)?;
    match changes.len() == version {
        true => Ok(None),
        false => Ok(Some(Edited::Stale(changes.get(version..).unwrap_or(&changes).to_vec()))),
    }
}
