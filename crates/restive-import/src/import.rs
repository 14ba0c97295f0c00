//! An import from beginning to end: registry → logs → records → trajectory → study and people.

use crate::accounts::{Accounts, Quarantined};
use crate::align::{Aligned, align};
use crate::availability::{self, Availability};
use crate::changes::{Change, compare};
use crate::clusters;
use crate::dates::iso_day;
use crate::departures;
use crate::earlier::{self, RECORDS};
use crate::error::{Error, Result};
use crate::imported::ImportedFolder;
use crate::last::last_calls;
use crate::mapping::{At, EventRule, Mapping};
use crate::matching::Form;
use crate::planned::{PlannedWeek, Plans};
use crate::programme::{Pieces, Previous, people_columns, write};
use crate::pseudonym::Pseudonyms;
use crate::records::{self, ACTIONS, AVAILABILITY, Record, Value};
use crate::registry::{self, Registry};
use crate::source::Input;
use crate::summary::{Changed, PeriodRow, Summary};
use restive::data::features::Features;
use restive::instance::{Logged, NO_ACTION, Trajectories, UNSEEN};
use restive_tables::words::counted;
use restive_tables::{Cells, Format, Study, StudyInstance};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How an import is to be done.
#[derive(Debug, Clone, Default)]
pub struct ImportAsked {
    /// the folder of the programme; none: nothing is written, and nothing earlier is grown
    pub out: Option<PathBuf>,
    /// the file of the key, where ids are to be pseudonyms
    pub pseudonymise: Option<PathBuf>,
    /// whether records of earlier imports are forgotten
    pub afresh: bool,
    /// of the study's tables; none: CSV
    pub format: Option<Format>,
    /// the plans that were made so far, one for a period at most, and what became of them
    pub planned: Vec<PlannedWeek>,
}

/// What came of an import.
pub struct Imported {
    /// the study
    pub study: Study,
    /// what `people.parquet` holds, by column
    pub people: Vec<(String, Cells)>,
    /// what `quarantine.csv` holds
    pub quarantined: Vec<Quarantined>,
    /// what was told otherwise before
    pub changes: Vec<Change>,
    /// what there is to say
    pub summary: Summary,
    /// Folder of the results; `None` if they were not written.
    pub folder: Option<ImportedFolder>,
}

/// Reads what a mapping names, and writes the folder of the programme where one is asked for. `progress` hears what is being read and
/// the share of it that is done.
pub fn import(
    mapping: &Mapping,
    input: &Input<'_>,
    asked: &ImportAsked,
    mut progress: impl FnMut(&str, f64),
) -> Result<Imported> {
    let (mut accounts, mut notes) = (Accounts::default(), Vec::new());
    let previous = match &asked.out {
        None => None,
        Some(out) if asked.afresh => Previous::read_if_whole(out, &mut notes)?,
        Some(out) => Previous::read(out)?,
    };
    let is_grown = previous.is_some() && !asked.afresh;
    if let (Some(previous), true) = (&previous, is_grown) {
        previous.check_mapping(mapping)?;
    }
    if let Some(out) = asked.out.as_ref().filter(|out| !out.exists()) {
        restive_tables::FolderDraft::check(out, None)?;
    }
    let pseudonyms = pseudonyms(asked, previous.as_ref())?;
    let key = pseudonyms.as_ref().map(Pseudonyms::mark);

    progress("people", 0.0);
    let grown = previous.as_ref().filter(|_| is_grown);
    let (mut registry, absent) = registry::read(
        mapping,
        input,
        &forms(mapping),
        pseudonyms.as_ref(),
        grown,
        &mut accounts,
        &mut notes,
    )?;
    for (column, count) in registry.shared() {
        notes.push(format!(
            "{} of column {column} each name more than one person: records by them are quarantined, unless same = {{ column = {column:?} }} in \
             [people] makes them one person",
            counted(count as u64, "cell")
        ));
    }
    let mut records: Vec<Record> = Vec::new();
    let mut account_of: HashMap<u16, u16> = HashMap::new();
    for (k, rule) in mapping.events.iter().enumerate() {
        let EventRule { name, log, value } = rule;
        let value = value.as_ref().map_or(Value::One, Value::Column);
        let mut told = |share: f64| progress(&name.value, share);
        let account = records::read(
            mapping,
            input,
            &mut registry,
            &name.value,
            k as u16,
            (log, value),
            &mut accounts,
            &mut notes,
            &mut records,
            None,
            &mut told,
        )?;
        account_of.insert(k as u16, account);
    }
    let rule = &mapping.actions;
    let mut told = |share: f64| progress("actions", share);
    let account = records::read(
        mapping,
        input,
        &mut registry,
        "actions",
        ACTIONS,
        (&rule.log, Value::Outcome(rule)),
        &mut accounts,
        &mut notes,
        &mut records,
        None,
        &mut told,
    )?;
    account_of.insert(ACTIONS, account);
    let account = |log: u16| account_of[&log];
    departures::read(mapping, input, &mut registry, &mut accounts, &mut notes)?;
    if let (Some(previous), Some(_)) = (grown, &mapping.exits) {
        departures::keep_earlier(&mut registry, previous);
    }

    let rule = mapping.availability.as_ref();
    let read = |rule| availability::read(mapping, rule, input, &mut registry, &mut accounts, &mut notes);
    let mut spans = rule.map(read).transpose()?;

    progress("records", 0.0);
    records::settle(&mut records, account, &mut accounts);
    let mut earlier = None;
    if let Some(previous) = grown {
        // people who are one by now have their records under one name
        let mut places: HashMap<&str, u32> =
            registry.other_arms.iter().map(|(arm, i)| (arm.as_str(), *i)).collect();
        places.extend(registry.arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i as u32)));
        let known = earlier::read(&previous.imported.folder().join(RECORDS), mapping, |arm| {
            places.get(arm).copied()
        })?;
        let (of_availability, known): (Vec<Record>, Vec<Record>) =
            known.into_iter().partition(|record| record.log == AVAILABILITY);
        let mut told = earlier::grow(&mut records, known);
        if let Some((spans, _)) = &mut spans {
            told = told.plus(earlier::grow(spans, of_availability));
        }
        if told.absent > 0 {
            notes.push(format!(
                "{} of earlier imports are not in these exports though they are of the same days: they stay; an import afresh forgets them",
                counted(told.absent, "record")
            ));
        }
        earlier = Some(told);
    }
    registry.date_departures(&records);
    let mut plans = Plans::new(mapping, &registry, &asked.planned)?;
    let available =
        rule.zip(spans.as_ref()).map(|(rule, (spans, _))| Availability::new(mapping, rule, spans));
    let planned = (&mut plans, available.as_ref());
    let aligned = align(mapping, &registry, &mut records, planned, account, &mut accounts, &mut notes)?;
    if let (Some(rule), Some((spans, account))) = (rule, &spans) {
        let decisions = (aligned.first + 1, aligned.first + aligned.periods() as i64);
        availability::count(mapping, rule, spans, decisions, accounts.of(*account));
    }
    if plans.told.strangers > 0 {
        notes.push(format!(
            "{} in plans are not in the programme any more: what the plans say of them is left out",
            counted(plans.told.strangers as u64, "person").replace("persons", "people")
        ));
    }
    for account in &accounts.sources {
        debug_assert_eq!(account.placed(), account.rows, "{account:?}");
        suspect(account, &mut notes);
    }

    let calls = aligned.calls();
    let budget = usual(&calls).min(registry.len());
    let settings = mapping.settings(budget)?;
    if settings.budget > registry.len() {
        let found = format!(
            "found a budget of {} and {}, expected no more calls than people",
            settings.budget,
            counted(registry.len() as u64, "person")
        );
        return Err(Error::Refused(found.replace("persons", "people")));
    }
    let example = crate::example::tell(mapping, &registry, &aligned, &records);
    let changes = previous.as_ref().map(|previous| compare(mapping, previous, &registry.arms, &aligned));
    let changed = previous.as_ref().zip(changes.as_ref()).map(|(previous, changes)| Changed {
        states: changes.iter().filter(|change| change.what == "state").count(),
        actions: changes.iter().filter(|change| change.what == "action").count(),
        new_people: registry.len().saturating_sub(previous.people.arms.len()),
        new_periods: aligned.periods().saturating_sub(previous.summary.periods.len()),
    });
    let column = mapping.people.cluster.as_ref();
    let read = |column| {
        clusters::read(mapping, column, input, &mut registry, grown, pseudonyms.as_ref(), &mut accounts)
    };
    let clusters = column.map(read).transpose()?;
    let last_day = mapping.every.start(aligned.first + aligned.periods() as i64);
    let (states, decisions) = (
        aligned.state.iter().filter(|s| **s != UNSEEN).count() as u64,
        aligned.action.iter().filter(|a| **a != NO_ACTION).count() as u64,
    );
    let (accounts, quarantined, reasons) = accounts.finish();
    let summary = Summary {
        restive: env!("CARGO_PKG_VERSION").into(),
        people: registry.len(),
        left: registry.left.iter().filter(|day| **day < last_day).count(),
        do_not_call: registry.never_call.iter().filter(|never| **never).count(),
        absent,
        states,
        decisions,
        calls: calls.iter().sum::<usize>() as u64,
        budget: settings.budget,
        is_budget_guessed: !mapping.has_budget(),
        period: mapping.every.noun().into(),
        periods: rows(mapping, &aligned, &calls),
        accounts,
        reasons,
        example,
        notes,
        earlier,
        changes: changed,
        planned: (!asked.planned.is_empty()).then_some(plans.told),
        key,
        files: Vec::new(),
    };
    let before = grown.map(|previous| &previous.people);
    let last_calls = last_calls(mapping, &registry, &records, &asked.planned, before);
    let people = people_columns(&mut registry, last_day, last_calls);
    let Registry { arms, features, .. } = registry;
    let refused = |fault: restive::Error| Error::Refused(fault.to_string());
    let Aligned { state, action, propensity, available, .. } = aligned;
    let logged = Logged { state, action, propensity, reward: None, available };
    let instance = StudyInstance {
        name: "0".into(),
        features: Features::new(arms.len(), features).map_err(refused)?,
        split: None,
        clusters,
        trajectory_names: vec!["1".into()],
        trajectories: Trajectories::new(logged, mapping.state.states()).map_err(refused)?,
        truth: None,
        arms,
    };
    let mut imported = Imported {
        study: Study { settings, instances: vec![instance] },
        people,
        quarantined,
        changes: changes.unwrap_or_default(),
        summary,
        folder: None,
    };
    records.extend(spans.into_iter().flat_map(|(spans, _)| spans));
    if let Some(out) = &asked.out {
        let format = asked.format.unwrap_or(Format::Csv);
        let pieces = Pieces {
            study: &imported.study,
            people: &imported.people,
            mapping,
            quarantined: &imported.quarantined,
            summary: &imported.summary,
            changes: &imported.changes,
            format,
        };
        let arms = &imported.study.instances[0].arms;
        let (folder, summary) = write(
            out,
            previous.is_some(),
            pieces,
            |path| earlier::write(path, mapping, arms, &records),
            |share| progress("study", share),
        )?;
        (imported.folder, imported.summary) = (Some(folder), summary);
    }
    Ok(imported)
}

/// The key, where there is to be one; the same as before, or none as before.
fn pseudonyms(asked: &ImportAsked, previous: Option<&Previous>) -> Result<Option<Pseudonyms>> {
    let folder = |out: &Path| out.display().to_string();
    let name = asked.out.as_deref().map(folder).unwrap_or_default();
    if let (Some(key), Some(out)) = (&asked.pseudonymise, &asked.out)
        && resolved(key).starts_with(resolved(out))
    {
        let found = format!(
            "{}: found the key in the folder of the programme, expected a place of its own",
            key.display()
        );
        return Err(Error::Refused(found));
    }
    let before = previous.map(|previous| previous.summary.key.clone());
    match (&asked.pseudonymise, before) {
        (None, Some(Some(_))) => Err(Error::Refused(format!(
            "{name}: found pseudonyms of an earlier import and no key, expected the file of the key that it was made with"
        ))),
        (Some(_), Some(None)) => Err(Error::Refused(format!(
            "{name}: found ids as they are from an earlier import, expected pseudonyms from the beginning: another folder"
        ))),
        (Some(path), before) => {
            if before.is_some() && !path.exists() {
                return Err(Error::Refused(format!(
                    "{}: found no key, expected the one that the programme was made with",
                    path.display()
                )));
            }
            let pseudonyms = Pseudonyms::open(path)?;
            match before.flatten() {
                Some(mark) if mark != pseudonyms.mark() => Err(Error::Refused(format!(
                    "{}: found another key than the programme was made with, expected that one",
                    path.display()
                ))),
                _ => Ok(Some(pseudonyms)),
            }
        }
        (None, _) => Ok(None),
    }
}

/// A whole path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let (mut known, mut rest) = (whole.as_path(), Vec::new());
    loop {
        match (known.canonicalize(), known.parent(), known.file_name()) {
            (Ok(real), ..) => return rest.iter().rev().fold(real, |path, part| path.join(part)),
            (Err(_), Some(parent), Some(name)) => {
                rest.push(name);
                known = parent;
            }
            (Err(_), ..) => return whole,
        }
    }
}

/// The columns of the registry by which logs name people.
fn forms(mapping: &Mapping) -> Vec<(At<String>, Form)> {
    let logs = mapping
        .events
        .iter()
        .map(|rule| &rule.log)
        .chain([&mapping.actions.log])
        .chain(&mapping.exits)
        .chain(&mapping.never)
        .chain(mapping.availability.iter().map(|rule| &rule.log));
    let mut forms: Vec<(At<String>, Form)> = Vec::new();
    for log in logs {
        let column = log.person.is.clone().unwrap_or_else(|| mapping.people.id.clone());
        if !forms.iter().any(|(known, form)| known.value == column.value && *form == log.person.form) {
            forms.push((column, log.person.form));
        }
    }
    // clusters are found by the id of their person
    let (id, form) = (&mapping.people.id, mapping.people.form);
    let is_id = |(known, other): &(At<String>, Form)| known.value == id.value && *other == form;
    if mapping.people.cluster.is_some() && !forms.iter().any(is_id) {
        forms.push((id.clone(), form));
    }
    forms
}

/// The median of calls per decision, at least 1.
fn usual(calls: &[usize]) -> usize {
    let mut sorted = calls.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(1).max(1)
}

fn rows(mapping: &Mapping, aligned: &Aligned, calls: &[usize]) -> Vec<PeriodRow> {
    let row = |t: usize| {
        let number = aligned.first + t as i64;
        PeriodRow {
            t,
            number,
            state_from: iso_day(mapping.every.start(number)),
            decision: iso_day(mapping.every.start(number + 1)),
            calls: calls.get(t).copied(),
        }
    };
    (0..aligned.periods()).map(row).collect()
}

/// Says where so much of a source could not be used that something must be wrong.
fn suspect(account: &crate::accounts::Account, notes: &mut Vec<String>) {
    let share = |count: u64| count as f64 / account.rows.max(1) as f64;
    if share(account.quarantined) > 0.2 {
        notes.push(format!(
            "{}: {:.0} % of {} are quarantined: look at quarantine.csv before you go on; are the right columns compared, in the right \
             form, and are day and month in their places?",
            account.source,
            100.0 * share(account.quarantined),
            counted(account.rows, "row")
        ));
    }
}
