//! The people of a programme, from its registry.
//!
//! A row is a person, unless its id was there before: then it is a repetition, or it contradicts and is quarantined. Two ids of one
//! person are merged only where the mapping has a rule for it (`same`). What is kept for the list (names, numbers) and what is learnt
//! from (features) part here and never meet again.

use crate::accounts::{Accounts, RowAt};
use crate::columns::{Wanted, read_dates};
use crate::dates::{DAY, day_of};
use crate::departures::{exclude, exclusion_note};
use crate::error::Result;
use crate::mapping::{Answers, At, Feature, FeatureKind, Mapping, Synonym};
use crate::matching::{Directory, Form, Keys, SET_ASIDE, folded};
use crate::numbers::number;
use crate::programme::Previous;
use crate::pseudonym::Pseudonyms;
use crate::records::Record;
use crate::source::{Input, Source, cell_error};
use crate::texts::Texts;
use crate::words::{Words, yes_and_no};
use rayon::prelude::*;
use restive::data::features::Column;
use restive_tables::show::quoted_name;
use restive_tables::words::counted;
use std::collections::{BTreeMap, HashMap, HashSet};

/// No day.
pub(crate) const NEVER: i64 = i64::MAX;
/// A person who has left on a day that the registry does not say: the day after the last record, once records are read.
const UNDATED: i64 = i64::MAX - 1;
/// Days of a year, on average.
const YEAR: f64 = 365.2425;

/// Everyone, in the order of their names in the study.
pub(crate) struct Registry {
    /// what the study calls them
    pub(crate) arms: Vec<String>,
    /// what the programme calls them
    pub(crate) ids: Vec<String>,
    /// the first day; `i64::MIN`: always
    pub(crate) joined: Vec<i64>,
    /// the first day on which they are gone, or [`NEVER`]
    pub(crate) left: Vec<i64>,
    pub(crate) never_call: Vec<bool>,
    /// columns that are kept for the list
    pub(crate) keep: Vec<(String, Vec<String>)>,
    /// features; dates of birth are still days
    pub(crate) features: Vec<(String, Column)>,
    /// other names that the study had for people before they were found to be one with somebody
    pub(crate) other_arms: Vec<(String, u32)>,
    /// by column of the registry and form; there are few
    directories: Vec<(String, Form, Directory)>,
}

impl Registry {
    pub(crate) fn len(&self) -> usize {
        self.arms.len()
    }

    /// The directory of a column, for a log that asks it often.
    pub(crate) fn directory(&mut self, column: &str, form: Form) -> &mut Directory {
        let mut all = self.directories.iter_mut();
        let found = all.find(|(known, its, _)| known == column && *its == form);
        &mut found.expect("the mapping's columns were entered").2
    }

    /// Dates those who left on an unknown day: the day after their last record.
    pub(crate) fn date_departures(&mut self, records: &[Record]) {
        if !self.left.contains(&UNDATED) {
            return;
        }
        let mut last = vec![i64::MIN; self.len()];
        for record in records {
            let last = &mut last[record.person as usize];
            *last = (*last).max(record.time.div_euclid(DAY));
        }
        for ((left, joined), last) in self.left.iter_mut().zip(&self.joined).zip(last) {
            if *left == UNDATED {
                // without any record they were never there
                let first = if *joined == i64::MIN { 0 } else { *joined };
                *left = if last == i64::MIN { first } else { first.max(last + 1) };
            }
        }
    }

    /// Columns of which one cell names several people, with how many such cells.
    pub(crate) fn shared(&self) -> Vec<(String, usize)> {
        let shared =
            self.directories.iter().map(|(column, _, directory)| (column.clone(), directory.ambiguous()));
        let mut shared: Vec<(String, usize)> = shared.filter(|(_, count)| *count > 0).collect();
        shared.sort();
        shared
    }
}

/// What is read of a row, before people are sorted.
struct Rows {
    ids: Vec<String>,
    joined: Vec<i64>,
    left: Vec<i64>,
    never_call: Vec<bool>,
    keep: Vec<Vec<String>>,
    features: Vec<Cells>,
    /// of every row of the registry: the person, and the cells by which logs may name it
    person: Vec<u32>,
    named: Vec<Texts>,
    /// people whose ages are years already
    ages_known: Vec<usize>,
    /// further ids of people, by the mapping's rule
    merged: Vec<(u32, String)>,
}

/// A feature in the making.
enum Cells {
    Number(Vec<f64>),
    Text(Vec<Option<String>>),
}

impl Cells {
    fn new(kind: &FeatureKind) -> Self {
        match kind {
            FeatureKind::Number { .. } | FeatureKind::Born { .. } => Cells::Number(Vec::new()),
            FeatureKind::Text { .. } | FeatureKind::Binned { .. } | FeatureKind::Asked => {
                Cells::Text(Vec::new())
            }
        }
    }
}

impl Rows {
    /// Adds the people of an earlier import who are not in the registry any more, as they were then; returns their number. Adds to
    /// `unsure_people` those who are one person with a row of `unsure_same`.
    fn remember(
        &mut self,
        mapping: &Mapping,
        previous: &Previous,
        columns: &[&At<String>],
        (unsure_same, unsure_people): (&HashSet<u64>, &mut Vec<u32>),
        by_id: &mut Keys,
        by_same: &Keys,
    ) -> usize {
        let Some(old) = previous.study.instances.first() else { return 0 };
        let places: HashMap<&str, usize> =
            old.arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)).collect();
        let people = &previous.people;
        let mut absent = 0;
        for (k, id) in people.ids.iter().enumerate() {
            let Some(key) = mapping.people.form.key(id) else { continue };
            if by_id.contains_key(&key) {
                continue;
            }
            // one whom the registry knows by another id now is not absent
            let key_same = mapping.people.same.as_ref().and_then(|(column, form)| {
                let cell = &people.keep.get(&column.value)?[k];
                form.key(cell).filter(|_| !cell.is_empty())
            });
            if let Some(&person) = key_same.and_then(|key| by_same.get(&key)) {
                by_id.insert(key, person);
                self.merged.push((person, id.clone()));
                continue;
            }
            absent += 1;
            let person = self.ids.len() as u32;
            by_id.insert(key, person);
            unsure_people.extend(key_same.filter(|key| unsure_same.contains(key)).map(|_| person));
            self.person.push(person);
            self.ids.push(id.clone());
            self.joined.push(people.joined[k]);
            self.left.push(people.left[k]);
            self.never_call.push(people.never_call[k]);
            let kept = |column: &str| people.keep.get(column).map_or("", |cells| &cells[k]);
            for (cells, column) in self.keep.iter_mut().zip(&mapping.people.keep) {
                cells.push(kept(&column.value).into());
            }
            for (texts, column) in self.named.iter_mut().zip(columns) {
                texts.push(if column.value == mapping.people.id.value { id } else { kept(&column.value) });
            }
            let at = places.get(people.arms[k].as_str());
            for (cells, feature) in self.features.iter_mut().zip(&mapping.people.features) {
                let position = old.features.names().iter().position(|name| *name == feature.name);
                let known = position.zip(at).map(|(position, at)| (&old.features.columns()[position], *at));
                match (cells, known) {
                    (Cells::Number(values), Some((Column::Number(known), at))) => values.push(known[at]),
                    (Cells::Text(values), Some((Column::Text(known), at))) => values.push(known[at].clone()),
                    (Cells::Number(values), _) => values.push(f64::NAN),
                    (Cells::Text(values), _) => values.push(None),
                }
            }
            self.ages_known.push(self.ids.len() - 1);
        }
        // whoever has several ids keeps the one that the study knows
        let known: HashSet<&String> = people.ids.iter().collect();
        for (person, other) in &mut self.merged {
            let own = &mut self.ids[*person as usize];
            if known.contains(other) && !known.contains(own) {
                std::mem::swap(own, other);
            }
        }
        absent
    }
}

/// Reads the registry, with how many people of an earlier import are not in it. `forms` are the columns by which logs name people.
pub(crate) fn read(
    mapping: &Mapping,
    input: &Input<'_>,
    forms: &[(At<String>, Form)],
    pseudonyms: Option<&Pseudonyms>,
    previous: Option<&Previous>,
    accounts: &mut Accounts,
    notes: &mut Vec<String>,
) -> Result<(Registry, usize)> {
    let rule = &mapping.people;
    let mut source = Source::open(&rule.reading.value, input)
        .map_err(|error| mapping.text.fault(rule.reading.at, error.to_string()))?;
    notes.extend(source.notes().iter().cloned());
    let account = accounts.open("people", source.files());
    let mut wanted = Wanted::new(mapping, &source);
    let id = wanted.need(&rule.id)?;
    let joined = rule.joined.as_ref().map(|time| wanted.time(time)).transpose()?;
    let left = rule.left.as_ref().map(|(time, _)| wanted.time(time)).transpose()?;
    let never = rule.do_not_call.as_ref().map(|(column, _)| wanted.need(column)).transpose()?;
    let same = rule.same.as_ref().map(|(column, _)| wanted.need(column)).transpose()?;
    let keep: Vec<usize> = rule.keep.iter().map(|column| wanted.need(column)).collect::<Result<_>>()?;
    let features: Vec<usize> =
        rule.features.iter().map(|feature| wanted.need(&feature.column)).collect::<Result<_>>()?;
    let mut born = BTreeMap::new();
    for (k, feature) in rule.features.iter().enumerate() {
        if let FeatureKind::Born { time } = &feature.kind {
            born.insert(k, wanted.time(time)?);
        }
    }
    let mut columns: Vec<&At<String>> = Vec::new();
    for (column, _) in forms {
        if !columns.iter().any(|known| known.value == column.value) {
            columns.push(column);
        }
    }
    let named: Vec<usize> = columns.iter().map(|column| wanted.need(column)).collect::<Result<_>>()?;

    let mut rows = Rows {
        ids: Vec::new(),
        joined: Vec::new(),
        left: Vec::new(),
        never_call: Vec::new(),
        keep: vec![Vec::new(); keep.len()],
        features: rule.features.iter().map(|feature| Cells::new(&feature.kind)).collect(),
        person: Vec::new(),
        named: columns.iter().map(|_| Texts::default()).collect(),
        ages_known: Vec::new(),
        merged: Vec::new(),
    };
    // by id and, where people are merged, by what makes them one: the person, and where it first stood
    let (mut by_id, mut by_same) = (Keys::default(), Keys::default());
    let (mut first, mut content): (Vec<u32>, Vec<u64>) = (Vec::new(), Vec::new());
    // columns that say who somebody is, since when, and whether they may be called; errors elsewhere leave the row usable
    let mut decisive: Vec<usize> = [Some(id), joined, left, never, same].into_iter().flatten().collect();
    decisive.extend(&named);
    // columns of leaving and of do-not-call
    let answers = [
        left.zip(rule.left.as_ref().map(|(_, answers)| answers)),
        never.zip(rule.do_not_call.as_ref().map(|(_, answers)| answers)),
    ];
    let answers: Vec<(usize, &Answers)> = answers.into_iter().flatten().collect();
    // Ids of quarantined rows without a clear no in all of these columns, and people with such a row beside the used one. These people must
    // not be called, even if another row or an earlier import allows it (see `departures`).
    let (mut unsure, mut unsure_same): (HashSet<u64>, HashSet<u64>) = Default::default();
    let mut unsure_people: Vec<u32> = Vec::new();
    let (mut unlisted_left, mut unlisted_never) = (Words::default(), Words::default());
    let synonyms = |feature: &Feature| match &feature.kind {
        FeatureKind::Text { synonyms, .. } => vec![false; synonyms.len()],
        _ => Vec::new(),
    };
    let mut met: Vec<Vec<bool>> = rule.features.iter().map(synonyms).collect();
    let mut dates = read_dates(&wanted);
    source.rows(wanted.positions(), |row| -> Result<()> {
        accounts.of(account).rows += 1;
        let at = RowAt { source: account, file: row.file() as u16, line: row.line() as u32 };
        let mut refuse = |rows: &mut Rows, accounts: &mut Accounts, reason: &str| {
            rows.person.push(SET_ASIDE);
            rows.named.iter_mut().zip(&named).for_each(|(texts, k)| texts.push(row.cell(*k)));
            accounts.quarantine(at, reason);
            let is_no = |(k, answers): &(usize, &Answers)| {
                cell_error(row.cell(*k)).is_none() && answers.meaning(row.cell(*k)) == Some(false)
            };
            if !answers.iter().all(is_no) {
                unsure.extend(rule.form.key(row.cell(id)));
                let number = same.zip(rule.same.as_ref()).map(|(k, (_, form))| (row.cell(k), form));
                let number = number.filter(|(cell, _)| !mapping.is_missing(cell));
                unsure_same.extend(number.and_then(|(cell, form)| form.key(cell)));
            }
        };
        if let Some(fault) = row.fault() {
            accounts.quarantine(at, fault);
            return Ok(());
        }
        let text = row.cell(id);
        // a word for missing does not say that somebody is there or may be called
        let error = |k: usize| match answers.iter().any(|(own, _)| *own == k) {
            true => cell_error(row.cell(k)),
            false => mapping.error_in(row.cell(k)),
        };
        if let Some((k, found)) = decisive.iter().find_map(|k| error(*k).map(|found| (*k, found))) {
            refuse(&mut rows, accounts, &format!("{found} in {}", wanted.name(k)));
            return Ok(());
        }
        if mapping.is_missing(text) {
            refuse(&mut rows, accounts, &format!("no id in {}", rule.id.value));
            return Ok(());
        }
        let Some(key) = rule.form.key(text) else {
            refuse(&mut rows, accounts, &format!("no telephone number in {}", rule.id.value));
            return Ok(());
        };
        const LONGEST: usize = 4096;
        if text.len() > LONGEST {
            refuse(
                &mut rows,
                accounts,
                &format!("an id of more than {LONGEST} letters in {}", rule.id.value),
            );
            return Ok(());
        }
        let is_never = never.zip(rule.do_not_call.as_ref()).is_some_and(|(k, (_, answers))| {
            answers.meaning(row.cell(k)).unwrap_or_else(|| {
                unlisted_never.take(row.cell(k), row.line());
                true
            })
        });
        if let Some(&person) = by_id.get(&key) {
            // whoever says no in any of her rows has said no
            if let Some(never_call) = rows.never_call.get_mut(person as usize) {
                *never_call |= is_never;
            }
            let line = first.get(person as usize).copied().unwrap_or_default();
            match content.get(person as usize) == Some(&row.content()) {
                true => accounts.of(account).repeated += 1,
                false => {
                    let is_unread = left.zip(rule.left.as_ref()).is_some_and(|(k, (_, answers))| {
                        let cell = row.cell(k);
                        let has_no_meaning = answers.meaning(cell).is_none();
                        has_no_meaning
                            && (mapping.is_missing(cell) || dates.read(k, cell, row.line()).is_none())
                    });
                    unsure_people.extend(is_unread.then_some(person));
                    accounts.quarantine(at, &format!("the id of line {line} again, with other cells"));
                }
            }
            return Ok(());
        }
        let mut day = |k: usize, rows: &mut Rows, accounts: &mut Accounts| {
            let cell = row.cell(k);
            let read = if mapping.is_missing(cell) { None } else { dates.read(k, cell, row.line()) };
            if read.is_none() {
                let what = if mapping.is_missing(cell) { "date" } else { "possible date" };
                refuse(rows, accounts, &format!("no {what} in {}", wanted.name(k)));
            }
            read.map(|seconds| seconds.div_euclid(DAY))
        };
        let joined = match joined.map(|k| day(k, &mut rows, accounts)) {
            Some(None) => return Ok(()),
            known => known.flatten(),
        };
        let left = match left.zip(rule.left.as_ref()) {
            None => NEVER,
            Some((k, (_, answers))) => match answers.meaning(row.cell(k)) {
                Some(true) => UNDATED,
                Some(false) => NEVER,
                // every date has a digit
                None if mapping.is_missing(row.cell(k)) || !row.cell(k).contains(char::is_numeric) => {
                    unlisted_left.take(row.cell(k), row.line());
                    NEVER
                }
                None => match day(k, &mut rows, accounts) {
                    Some(day) => day,
                    None => return Ok(()),
                },
            },
        };
        if joined.is_some_and(|joined| left < joined) {
            refuse(&mut rows, accounts, "left before joining");
            return Ok(());
        }
        if let (Some(k), Some((_, form))) = (same, &rule.same)
            && !mapping.is_missing(row.cell(k))
            && let Some(key_same) = form.key(row.cell(k))
        {
            let person = *by_same.entry(key_same).or_insert(rows.ids.len() as u32);
            if (person as usize) < rows.ids.len() {
                let line = first[person as usize];
                by_id.insert(key, person);
                rows.never_call[person as usize] |= is_never;
                rows.person.push(person);
                rows.merged.push((person, text.to_string()));
                rows.named.iter_mut().zip(&named).for_each(|(texts, k)| texts.push(row.cell(*k)));
                accounts.merge(at, &format!("one person with that of line {line}, by {}", wanted.name(k)));
                return Ok(());
            }
        }
        let person = rows.ids.len() as u32;
        by_id.insert(key, person);
        rows.ids.push(text.to_string());
        first.push(row.line() as u32);
        content.push(row.content());
        rows.joined.push(joined.unwrap_or(i64::MIN));
        rows.left.push(left);
        rows.never_call.push(is_never);
        rows.keep.iter_mut().zip(&keep).for_each(|(cells, k)| {
            let cell = row.cell(*k);
            let error = mapping.error_in(cell);
            let is_empty = mapping.is_missing(cell) || error.is_some();
            cells.push(if is_empty { String::new() } else { cell.to_string() });
            if let Some(error) = error {
                accounts.leave_out(at, &format!("{error} in {}: left empty", wanted.name(*k)));
            }
        });
        for (k, feature) in rule.features.iter().enumerate() {
            let cell = row.cell(features[k]);
            let is_apart = feature.apart.iter().any(|word| word == cell);
            let error = mapping.error_in(cell).filter(|_| !is_apart);
            let read = match (&feature.kind, born.get(&k)) {
                _ if error.is_some() => Read::Missing,
                (FeatureKind::Born { .. }, Some(time)) if !mapping.is_missing(cell) && !is_apart => {
                    let read =
                        dates.read(*time, cell, row.line()).map(|seconds| seconds.div_euclid(DAY) as f64);
                    Read::Number(read)
                }
                _ => read_cell(mapping, feature, cell, &mut met[k]),
            };
            let fault = match (&mut rows.features[k], read) {
                (Cells::Number(values), Read::Number(read)) => {
                    values.push(read.unwrap_or(f64::NAN));
                    read.is_none()
                }
                (Cells::Number(values), _) => {
                    values.push(f64::NAN);
                    false
                }
                (Cells::Text(values), Read::Text(text)) => {
                    values.push(Some(text));
                    false
                }
                (Cells::Text(values), read) => {
                    values.push(None);
                    matches!(read, Read::Number(None))
                }
            };
            if let (Some(error), false) = (&error, matches!(feature.kind, FeatureKind::Asked)) {
                accounts.leave_out(at, &format!("{error} in {}: left empty", feature.column.value));
            }
            if fault {
                let what =
                    if matches!(feature.kind, FeatureKind::Born { .. }) { "possible date" } else { "number" };
                accounts.leave_out(at, &format!("no {what} in {}: left empty", feature.column.value));
            }
        }
        rows.person.push(person);
        rows.named.iter_mut().zip(&named).for_each(|(texts, k)| texts.push(row.cell(*k)));
        accounts.of(account).used += 1;
        Ok(())
    })?;
    let count = accounts.of(account).rows;
    let files = source.files().join(", ");
    if let Some((column, answers)) = &rule.do_not_call {
        refuse_unlisted(
            mapping,
            ("do_not_call", column, String::new(), answers),
            "must not be called",
            &unlisted_never,
            count,
            &files,
        )?;
        if !rows.never_call.contains(&true) && unsure.is_empty() && unsure_people.is_empty() {
            notes.push(format!(
                "do_not_call: no cell of column {} has one of the words of yes: everybody may be called",
                column.value
            ));
        }
    }
    if let Some((time, answers)) = &rule.left {
        let rule = ("left", &time.column, time.written(), answers);
        refuse_unlisted(mapping, rule, "has left", &unlisted_left, count, &files)?;
    }
    rule.features.iter().zip(&met).for_each(|(feature, met)| notes.extend(unmet_synonyms(feature, met)));
    dates.judge(&wanted)?;
    notes.extend(dates.mixed(&wanted));
    let unsure_before = (&unsure_same, &mut unsure_people);
    let absent = previous.map_or(0, |previous| {
        rows.remember(mapping, previous, &columns, unsure_before, &mut by_id, &by_same)
    });
    let known = unsure.iter().filter_map(|key| by_id.get(key));
    let known = known.chain(unsure_same.iter().filter_map(|key| by_same.get(key))).chain(&unsure_people);
    let excluded = exclude(&mut rows.never_call, known.copied());
    notes.extend(exclusion_note("people", excluded));
    if rows.ids.is_empty() {
        let found = format!(
            "found nobody in {}, expected at least one person that can be used",
            source.files().join(", ")
        );
        return Err(mapping.text.fault(rule.reading.at, found));
    }
    refuse_numbers_as_ids(mapping, &rows.ids, pseudonyms.is_some())?;
    refuse_identifiers(mapping, &rows)?;
    Ok((sorted(mapping, rows, forms, &columns, pseudonyms), absent))
}

/// Refuses words of `do_not_call` or `left` that the mapping does not list: nobody may be called because of a word without a meaning.
fn refuse_unlisted(
    mapping: &Mapping,
    (key, column, format, answers): (&str, &At<String>, String, &Answers),
    meaning: &str,
    unlisted: &Words,
    rows: u64,
    files: &str,
) -> Result<()> {
    if unlisted.cells() == 0 {
        return Ok(());
    }
    let name = quoted_name(&column.value);
    let cells = counted(unlisted.cells(), "cell");
    let found = format!(
        "found {cells} that the mapping does not list in column {name} of {files}: {}, expected each word in yes ({meaning}) or in no, such as \
         {key} = {{ column = {name}, {format}{} }}",
        unlisted.described(rows),
        yes_and_no(&answers.yes, &answers.no, &unlisted.shown(rows))
    );
    Err(mapping.text.fault(column.at, format!("{key}: {found}")))
}

/// Synonyms of a feature that occur in no cell; `met` says which do.
fn unmet_synonyms(feature: &Feature, met: &[bool]) -> Option<String> {
    let FeatureKind::Text { synonyms, .. } = &feature.kind else { return None };
    let is_met = |plain: &str| synonyms.iter().zip(met).any(|(known, met)| *met && known.plain == plain);
    let is_unmet = |synonym: &&Synonym| synonym.plain != folded(&synonym.word) && !is_met(&synonym.plain);
    let unmet: Vec<String> =
        synonyms.iter().filter(is_unmet).map(|synonym| quoted_name(&synonym.spelling)).collect();
    (!unmet.is_empty()).then(|| {
        format!(
            "feature {}: synonyms that occur in no cell of column {}: {}; correct their spelling or leave them out",
            feature.name,
            feature.column.value,
            unmet.join(", ")
        )
    })
}

/// What a cell of a feature is.
enum Read {
    Missing,
    Text(String),
    /// none: it should be a number and is not
    Number(Option<f64>),
}

/// Reads a cell of a feature; `met` are the synonyms that occurred so far.
fn read_cell(mapping: &Mapping, feature: &Feature, cell: &str, met: &mut [bool]) -> Read {
    let is_apart = feature.apart.iter().any(|word| word == cell);
    if let FeatureKind::Asked = feature.kind {
        return Read::Text(match mapping.is_missing(cell) {
            _ if is_apart => "not asked".into(),
            true => "blank".into(),
            false => "answered".into(),
        });
    }
    if mapping.is_missing(cell) && !is_apart {
        return Read::Missing;
    }
    match &feature.kind {
        FeatureKind::Text { is_lower, synonyms } => {
            let plain = folded(cell);
            if let Some(k) = synonyms.iter().position(|synonym| synonym.plain == plain) {
                met[k] = true;
                return Read::Text(synonyms[k].word.clone());
            }
            let words = cell.split_whitespace().collect::<Vec<_>>().join(" ");
            // no study has room for a letter in a cell
            if words.len() > 4096 {
                return Read::Number(None);
            }
            Read::Text(if *is_lower { words.to_lowercase() } else { words })
        }
        FeatureKind::Number { decimal } if !is_apart => Read::Number(number(cell, *decimal)),
        FeatureKind::Binned { decimal, bins } if !is_apart => match number(cell, *decimal) {
            Some(number) => Read::Text(crate::mapping::bin(bins, number)),
            None => Read::Number(None),
        },
        FeatureKind::Binned { .. } => Read::Text(cell.to_string()),
        FeatureKind::Number { .. } | FeatureKind::Born { .. } | FeatureKind::Asked => Read::Missing,
    }
}

/// Ids that are telephone numbers must not stand in a study as they are.
fn refuse_numbers_as_ids(mapping: &Mapping, ids: &[String], is_pseudonymised: bool) -> Result<()> {
    let rule = &mapping.people;
    let numbers = ids.iter().filter(|id| is_long_number(id)).count();
    if is_pseudonymised || rule.has_public_ids || 2 * numbers < ids.len() {
        return Ok(());
    }
    let found = format!(
        "id: found {numbers} of {} ids that look like telephone numbers, expected ids that may stand in a study: pseudonymise them, \
         or say public_ids = true",
        ids.len()
    );
    Err(mapping.text.fault(rule.id.at, found))
}

/// Nine digits or more and nothing that is not written in a telephone number.
pub(crate) fn is_long_number(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c.is_whitespace() || "+-()./".contains(c);
    text.chars().all(is_part) && text.bytes().filter(u8::is_ascii_digit).count() >= 9
}

/// A feature that has another value for nearly everybody is a name or a number of a person.
fn refuse_identifiers(mapping: &Mapping, rows: &Rows) -> Result<()> {
    const FEW: usize = 20;
    for (feature, cells) in mapping.people.features.iter().zip(&rows.features) {
        let (known, distinct, numbers) = match cells {
            Cells::Text(values) => {
                let mut known: Vec<&String> = values.iter().flatten().collect();
                known.sort_unstable();
                let count = known.len();
                let numbers = known.iter().filter(|text| is_long_number(text)).count();
                known.dedup();
                (count, known.len(), numbers)
            }
            Cells::Number(values) => {
                let known = values.iter().filter(|x| !x.is_nan());
                (known.clone().count(), 0, known.filter(|x| x.fract() == 0.0 && **x >= 1e8).count())
            }
        };
        if known >= FEW && (10 * distinct > 9 * known || 2 * numbers > known) {
            let found = format!(
                "{}: found {}, expected a feature: nothing can be learnt from who somebody is; keep = [{:?}] has it on the list",
                feature.name,
                if 2 * numbers > known {
                    format!("{numbers} of {known} cells that look like telephone numbers")
                } else {
                    format!("{distinct} values among {known} people")
                },
                feature.column.value
            );
            return Err(mapping.text.fault(feature.column.at, found));
        }
    }
    Ok(())
}

/// Puts people into the order of their names and enters them into the directories.
fn sorted(
    mapping: &Mapping,
    rows: Rows,
    forms: &[(At<String>, Form)],
    columns: &[&At<String>],
    pseudonyms: Option<&Pseudonyms>,
) -> Registry {
    let arms: Vec<String> = match pseudonyms {
        Some(pseudonyms) => rows.ids.par_iter().map(|id| pseudonyms.of(id)).collect(),
        None => rows.ids.clone(),
    };
    let mut order: Vec<u32> = (0..arms.len() as u32).collect();
    order.par_sort_by(|a, b| restive_tables::by_name(&arms[*a as usize], &arms[*b as usize]));
    let mut place = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(new, old)| place[*old as usize] = new as u32);

    let start = mapping.from.as_ref().map(|from| day_of(from.value));
    let age = |k: usize, values: Vec<f64>| -> Vec<f64> {
        if !matches!(mapping.people.features[k].kind, FeatureKind::Born { .. }) {
            return values;
        }
        let at = |i: usize| if rows.joined[i] != i64::MIN { Some(rows.joined[i]) } else { start };
        let known: HashSet<usize> = rows.ages_known.iter().copied().collect();
        let years = |(i, born): (usize, f64)| match at(i) {
            _ if known.contains(&i) => born,
            Some(day) => ((day as f64 - born) / YEAR * 10.0).floor() / 10.0,
            None => f64::NAN,
        };
        values.into_iter().enumerate().map(years).collect()
    };
    let moved = |values: Vec<i64>| order.iter().map(|old| values[*old as usize]).collect::<Vec<_>>();
    let mut features = Vec::new();
    for (k, cells) in rows.features.into_iter().enumerate() {
        let column = match cells {
            Cells::Number(values) => {
                let values = age(k, values);
                Column::Number(order.iter().map(|old| values[*old as usize]).collect())
            }
            Cells::Text(mut values) => {
                Column::Text(order.iter().map(|old| values[*old as usize].take()).collect())
            }
        };
        features.push((mapping.people.features[k].name.clone(), column));
    }
    let (joined, left) = (moved(rows.joined), moved(rows.left));
    let never_call = order.iter().map(|old| rows.never_call[*old as usize]).collect();
    let texts = |mut values: Vec<String>| -> Vec<String> {
        order.iter().map(|old| std::mem::take(&mut values[*old as usize])).collect()
    };
    let keep = mapping
        .people
        .keep
        .iter()
        .map(|column| column.value.clone())
        .zip(rows.keep.into_iter().map(texts))
        .collect();
    let other = |(person, id): (u32, String)| {
        let arm = pseudonyms.map_or_else(|| id.clone(), |pseudonyms| pseudonyms.of(&id));
        (arm, place[person as usize])
    };
    let other_arms = rows.merged.into_iter().map(other).collect();
    let (ids, arms) = (texts(rows.ids), texts(arms));

    let mut directories = Vec::new();
    for (column, form) in forms {
        let k = columns.iter().position(|known| known.value == column.value).expect("a column of the list");
        let cells = &rows.named[k];
        let keys: Vec<Option<u64>> = (0..cells.len())
            .into_par_iter()
            .map(|row| {
                Some(cells.get(row)).filter(|cell| !mapping.is_missing(cell)).and_then(|cell| form.key(cell))
            })
            .collect();
        let mut directory = Directory::new(*form, arms.len());
        for (key, person) in keys.into_iter().zip(&rows.person) {
            let person = if *person == SET_ASIDE { SET_ASIDE } else { place[*person as usize] };
            if let Some(key) = key {
                directory.enter_key(key, person);
            }
        }
        directories.push((column.value.clone(), *form, directory));
    }
    Registry { arms, ids, joined, left, never_call, keep, features, other_arms, directories }
}
