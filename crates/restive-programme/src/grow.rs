//! An import that knows what was planned, and what came of it.
//!
//! The exports of a programme may know nothing of the lists: then the outcomes that came back are its record of calls. Either way every row
//! of a week that has a plan gets the probability with which its action was drawn, so that later evaluations are evidence.

use crate::error::{Error, Result};
use crate::exports::Exports;
use crate::folder::{Programme, ledger_in};
use restive_import::outcomes::OutcomeCode;
use restive_import::{
    ImportAsked, Imported, Input, Mapping, PlannedOutcome, PlannedPerson, PlannedWeek, import,
};
use restive_ledger::{Code, Ledger, Lock, Status};
use restive_tables::show;
use std::path::Path;

/// Imports, with what the ledger of the programme knows, where there is one; waits for another process that writes to it.
pub fn grow(
    mapping: &Mapping,
    input: &Input<'_>,
    asked: &ImportAsked,
    progress: impl FnMut(&str, f64),
) -> Result<Imported> {
    let _lock = asked.out.as_deref().map_or(Ok(None), lock)?;
    let planned = match &asked.out {
        Some(folder) => {
            refuse_plain_ids(folder, asked)?;
            planned(&ledger_in(folder))?
        }
        None => Vec::new(),
    };
    let asked = ImportAsked { planned, ..asked.clone() };
    let mut imported = import(mapping, input, &asked, progress)?;
    if let Err(error) = Exports::note(mapping, input, &asked) {
        imported.summary.notes.push(format!("where the exports are is not noted: {error}"));
    }
    Ok(imported)
}

/// Locks the folder of a programme, damaged or not. A first import has no folder yet, and becomes visible in one step.
fn lock(folder: &Path) -> Result<Option<Lock>> {
    let (ledger, imported) = (ledger_in(folder), folder.join("imported"));
    let is_programme = Programme::is_one(folder) || ledger.exists() || imported.is_dir();
    Ok(is_programme.then(|| Lock::take(&ledger)).transpose()?)
}

/// Refuses ids where an earlier import noted the key of pseudonyms: the earlier study may be damaged, and not say so itself.
fn refuse_plain_ids(folder: &Path, asked: &ImportAsked) -> Result<()> {
    let Some(key) = Exports::of(folder).ok().flatten().and_then(|exports| exports.pseudonymise) else {
        return Ok(());
    };
    match &asked.pseudonymise {
        Some(_) => Ok(()),
        None => Err(Error::Refused(format!(
            "{}: found pseudonyms of an earlier import and no key, expected --pseudonymise {}",
            show::path(folder),
            show::path(&key)
        ))),
    }
}

/// The plans that count, each with everybody it chose from and what came of it.
fn planned(ledger: &Path) -> Result<Vec<PlannedWeek>> {
    if !ledger.exists() {
        return Ok(Vec::new());
    }
    let reader = Ledger::read(ledger)?;
    let mut weeks = Vec::new();
    for plan in reader.plans()?.into_iter().filter(|plan| plan.status == Status::Current) {
        let days = reader.outcomes(&plan.id)?;
        let day = |arm: &str| {
            let known = days.binary_search_by(|outcome| outcome.arm.as_str().cmp(arm)).ok();
            known.and_then(|k| days[k].day.as_deref()).and_then(|day| day.parse().ok())
        };
        let person = |decided: restive_ledger::Decided| {
            let outcome = decided.code.map(|code| PlannedOutcome {
                contact: of_import(code).contact(),
                day: day(&decided.arm),
                code: code.word().into(),
            });
            PlannedPerson {
                probability: decided.probability,
                is_listed: decided.is_listed,
                outcome,
                arm: decided.arm,
            }
        };
        let Ok(first_day) = plan.facts.period_start.parse() else { continue };
        let people = reader.decided(&plan.id)?.into_iter().map(person).collect();
        weeks.push(PlannedWeek { plan: plan.id, first_day, people });
    }
    Ok(weeks)
}

/// The code that a sheet has for a code of the ledger.
fn of_import(code: Code) -> OutcomeCode {
    match code {
        Code::Reached => OutcomeCode::Reached,
        Code::NoAnswer => OutcomeCode::NoAnswer,
        Code::NotFound => OutcomeCode::NotFound,
        Code::WrongNumber => OutcomeCode::WrongNumber,
        Code::Refused => OutcomeCode::Refused,
        Code::Moved => OutcomeCode::Moved,
        Code::Later => OutcomeCode::Later,
        Code::NotCalled => OutcomeCode::NotCalled,
    }
}

/// The code of the ledger for one that a sheet has.
pub(crate) fn of_ledger(code: OutcomeCode) -> Code {
    let is_it = |known: &&Code| of_import(**known) == code;
    *Code::ALL.iter().find(is_it).expect("every code of a sheet is one of the ledger")
}
