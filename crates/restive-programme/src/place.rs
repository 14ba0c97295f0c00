//! What came of one person's place, told by whoever called her; and taken back.
//!
//! Two people may tell of the same call. Whoever tells has seen what was known before ([`seen`]); where that is no longer so, nothing is
//! written and she is told what is known now ([`Entered::Stale`]). A call was made in the period of its list or later, and not after today.
//!
//! A word that is taken back is [withdrawn](Ledger::withdraw): the one before it holds again, or, where there was none, the place is open as it
//! was. The record keeps what was said, and who took it back.

use crate::draft::Draft;
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::made::fingerprint;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use restive_ledger::{Code, Ledger, Outcome, Plan};
use restive_tables::show;
use std::collections::HashSet;

/// Lists of earlier periods that are asked after.
const MOST: usize = 26;

/// What is told of one place.
#[derive(Debug, Clone)]
pub struct OneOutcome<'a> {
    /// the plan
    pub plan: &'a str,
    /// who, as the programme calls her
    pub id: &'a str,
    /// what came of it
    pub code: Code,
    /// on which day, where that is known
    pub day: Option<Date>,
    /// a few words
    pub note: Option<&'a str>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// it is on record
    Done,
    /// it was
    Same,
    /// somebody else has told something meanwhile: this, or nothing; nothing was written
    Stale(Option<Outcome>),
}

/// Who is on the list of an earlier period, and nobody knows what came of it.
#[derive(Debug, Clone, Copy)]
pub struct OpenList<'a> {
    /// the plan
    pub plan: &'a str,
    /// the first day of its period
    pub start: &'a str,
    /// who, as the study calls them
    pub arms: &'a HashSet<String>,
}

/// A mark of what is known of a place: another where anything else is.
pub fn seen(outcome: Option<&Outcome>) -> String {
    let Some(Outcome { code, day, note, source, received_at, .. }) = outcome else { return "none".into() };
    fingerprint(format!("{code}\n{day:?}\n{note:?}\n{source:?}\n{received_at}").as_bytes())
}

impl Programme {
    /// Records what came of a place, by whoever has [seen] that of it; `source` says who tells.
    pub fn tell(
        &self,
        told: &OneOutcome<'_>,
        seen_before: &str,
        source: &str,
        now: Timestamp,
    ) -> Result<Entered> {
        let mut ledger = Ledger::open(&self.ledger())?;
        let plan = ledger.plan(told.plan)?;
        let arm = self.arm(told.id)?;
        let known = known(&ledger, &plan.id, &arm)?;
        let (day, note) =
            (told.day.map(|day| day.to_string()), told.note.map(str::trim).filter(|note| !note.is_empty()));
        if seen(known.as_ref()) != seen_before {
            // whoever tells the same again, from a page that she has gone back to, disagrees with nobody
            let is_hers = |one: &Outcome| {
                (one.code, &one.day, one.note.as_deref(), one.source.as_str())
                    == (told.code, &day, note, source)
            };
            return Ok(if known.as_ref().is_some_and(is_hers) {
                Entered::Same
            } else {
                Entered::Stale(known)
            });
        }
        if let Some(day) = told.day.filter(|day| !is_day_of_call(&plan, *day, now)) {
            return Err(Error::Refused(format!(
                "plan {}: found the day {day}, expected the day of the call: from {} to today",
                show::name(&plan.id),
                plan.facts.period_start
            )));
        }
        let outcome = Outcome {
            plan: plan.id,
            arm,
            code: told.code,
            day,
            note: note.map(Into::into),
            source: source.into(),
            received_at: moment(now),
        };
        enter(&mut ledger, outcome)
    }

    /// Takes back what was told last of a place, by whoever has [seen] it: what was before it holds again.
    pub fn take_back(
        &self,
        plan: &str,
        id: &str,
        seen_before: &str,
        who: &str,
        now: Timestamp,
    ) -> Result<Entered> {
        let mut ledger = Ledger::open(&self.ledger())?;
        let arm = self.arm(id)?;
        let known = known(&ledger, plan, &arm)?;
        if seen(known.as_ref()) != seen_before {
            return Ok(Entered::Stale(known));
        }
        if known.is_none() {
            return Ok(Entered::Same);
        }
        ledger.withdraw(plan, &arm, who, &moment(now))?;
        Ok(Entered::Done)
    }
}

impl Draft {
    /// Whose outcome nobody knows, of the lists of earlier periods that count, the latest first and at most half a year of weekly ones.
    pub fn open_lists(&self) -> impl Iterator<Item = OpenList<'_>> {
        let open = self.earlier.missing.iter().filter(|(_, _, arms)| !arms.is_empty()).take(MOST);
        open.map(|(start, plan, arms)| OpenList { plan, start, arms })
    }
}

/// What is known of a place.
fn known(ledger: &Ledger, plan: &str, arm: &str) -> Result<Option<Outcome>> {
    Ok(ledger.part(plan, arm)?.outcome)
}

fn moment(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Whether a call of a plan can have been on a day: in its period or later, and not after today.
pub fn is_day_of_call(plan: &Plan, day: Date, now: Timestamp) -> bool {
    // where it is tomorrow already, today is over
    let latest = now.to_zoned(TimeZone::UTC).date().saturating_add(1.day());
    day <= latest && plan.facts.period_start.parse().is_ok_and(|start: Date| start <= day)
}

fn enter(ledger: &mut Ledger, outcome: Outcome) -> Result<Entered> {
    let received = ledger.receive(&[outcome])?;
    match received.problems.first() {
        Some(problem) => Err(Error::Refused(problem.to_string())),
        None if received.same == 1 => Ok(Entered::Same),
        None => Ok(Entered::Done),
    }
}
