//! Filled-in lists, read back: every usable row is recorded, every other one is named.
//!
//! Rows are matched by plan and id. A row that names no plan belongs to the latest, or to the one that is asked for. Files may be
//! partial, late and given twice: the ledger knows what it knew.

use crate::error::Result;
use crate::folder::Programme;
use crate::grow::of_ledger;
use crate::list::{fixed, outcomes};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use restive_import::outcomes::{OutcomeCode, OutcomeColumns, OutcomeRow, OutcomesAsked as SheetAsked, read};
use restive_ledger::{Ledger, Outcome, Plan};
use restive_report::list::{reading_columns, reading_outcomes};
use restive_tables::Contacts;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// How filled-in lists are to be read.
#[derive(Debug, Clone, Default)]
pub struct OutcomesAsked {
    /// the plan of rows that do not name one; absent: the latest
    pub plan: Option<String>,
    /// how days are written that are text; absent: 2026-03-17
    pub day_format: Option<String>,
}

/// What came of filled-in lists.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Told {
    /// rows with an outcome or without
    pub rows: usize,
    /// outcomes that were not known
    pub new: usize,
    /// outcomes that were
    pub same: usize,
    /// outcomes that were others before
    pub amended: usize,
    /// rows without one
    pub not_filled_in: usize,
    /// people who were called and not on the list
    pub outside_list: usize,
    /// rows that were not used, each with its place and what was expected
    pub problems: Vec<String>,
    /// of the plans that rows were about: the plan, listed people without an outcome, listed people
    pub missing: Vec<(String, usize, usize)>,
}

impl Programme {
    /// Reads filled-in lists, and records what came of every call.
    pub fn outcomes(&self, files: &[PathBuf], asked: &OutcomesAsked, now: Timestamp) -> Result<Told> {
        let mut ledger = Ledger::open(&self.ledger())?;
        // an import may have ended while this process waited
        let this = self.reopened()?;
        let contacts = Contacts::read(&this.people())?;
        let words = this.list_words()?;
        let default = match &asked.plan {
            Some(plan) => ledger.plan(plan)?.id,
            None => this.latest(ledger.latest()?)?,
        };
        let recorded = ledger.plans()?;
        let plans: HashSet<&str> = recorded.iter().map(|plan| plan.id.as_str()).collect();
        let start = |plan: &Plan| Some((plan.id.clone(), plan.facts.period_start.parse().ok()?));
        let starts: HashMap<String, Date> = recorded.iter().filter_map(start).collect();
        // where it is tomorrow already, today is over
        let latest = now.to_zoned(TimeZone::UTC).date().saturating_add(1.day());
        let mut columns = OutcomeColumns::default();
        let [id, plan, outcome, day, note] = reading_columns(fixed(&words)).map(|(_, heading)| heading);
        for (known, heading) in [
            (&mut columns.id, id),
            (&mut columns.plan, plan),
            (&mut columns.outcome, outcome),
            (&mut columns.day, day),
            (&mut columns.note, note),
        ] {
            if !known.contains(&heading) {
                known.push(heading);
            }
        }
        let codes = outcomes(&words);
        let translations = reading_outcomes(&codes)
            .into_iter()
            .filter_map(|(code, words)| Some((words, OutcomeCode::parse(code, &[])?)))
            .collect();
        let sheet_asked =
            SheetAsked { columns, translations, day_formats: asked.day_format.clone().into_iter().collect() };
        let received_at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let mut told = Told::default();
        let mut about = BTreeSet::new();
        for file in files {
            let is_known = |plan: Option<&str>, id: &str| {
                plan.is_none_or(|plan| plans.contains(plan)) && contacts.arm(id).is_some()
            };
            let sheet = read(file, &sheet_asked, is_known)?;
            told.rows += sheet.rows.len() + sheet.not_filled_in + sheet.problems.len();
            told.not_filled_in += sheet.not_filled_in;
            told.problems.extend(sheet.problems.iter().map(ToString::to_string));
            let one = |row: &OutcomeRow| Outcome {
                plan: row.plan.clone().unwrap_or_else(|| default.clone()),
                arm: contacts.arm(&row.id).map_or_else(|| row.id.clone(), str::to_owned),
                code: of_ledger(row.code),
                day: row.day.map(|day| day.to_string()),
                note: row.note.clone(),
                source: row.at.file.clone(),
                received_at: received_at.clone(),
            };
            // a call was made in the period of its list or later, and not after today
            let is_possible = |row: &&OutcomeRow| {
                let plan = row.plan.as_deref().unwrap_or(&default);
                row.day
                    .is_none_or(|day| starts.get(plan).is_none_or(|start| (*start..=latest).contains(&day)))
            };
            let (rows, others): (Vec<&OutcomeRow>, Vec<&OutcomeRow>) =
                sheet.rows.iter().partition(is_possible);
            told.problems.extend(others.iter().map(|row| {
                format!(
                    "{}: found a day before the list or after today, expected the day of the call",
                    row.at
                )
            }));
            let all: Vec<Outcome> = rows.iter().map(|row| one(row)).collect();
            let received = ledger.receive(&all)?;
            told.new += received.new;
            told.same += received.same;
            told.amended += received.amended;
            told.outside_list += received.outside_list.len();
            about.extend(all.into_iter().map(|outcome| outcome.plan));
            let problem = |problem: &restive_ledger::Problem| {
                let at = &rows[problem.entry].at;
                format!("{at}: found {}, expected {}", problem.found, problem.expected)
            };
            told.problems.extend(received.problems.iter().map(problem));
        }
        for standing in ledger.standings()?.plans {
            if about.contains(&standing.plan) {
                told.missing.push((standing.plan, standing.missing, standing.listed));
            }
        }
        Ok(told)
    }
}
