//! The records of a programme: who, when, how much.
//!
//! A row of a log becomes a [`Record`] of 48 bytes, whatever its width. The person is found by the mapping's rule, the time by the
//! declared format, the value by its column. A record is known by its key: the columns that the mapping names, or all of its cells.
//! The same key with the same cells is a repetition; with other cells it contradicts, and none of them is used.

use crate::accounts::{Accounts, RowAt};
use crate::columns::{Wanted, read_dates};
use crate::dates::DAY;
use crate::error::Result;
use crate::mapping::{ActionRule, LogRule, Mapping, Through, TimeRule, ValueRule};
use crate::matching::{Directory, NOBODY, SET_ASIDE, SEVERAL, folded};
use crate::numbers::number;
use crate::registry::Registry;
use crate::source::{Input, Row, Source};
use crate::words::Words;
use rayon::prelude::*;
use restive_tables::words::counted;
use std::collections::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Record {
    /// what it is known by
    pub(crate) key: u64,
    /// all of its cells
    pub(crate) content: u64,
    /// seconds on the programme's wall clock
    pub(crate) time: i64,
    /// Count of the record. Action: 2 reached, 1 made, 0 not made, NaN unknown. Availability: seconds of its end, NaN without end.
    pub(crate) value: f64,
    /// by position in the registry
    pub(crate) person: u32,
    /// the line
    pub(crate) line: u32,
    /// the position of the log in the mapping; [`ACTIONS`], [`AVAILABILITY`]
    pub(crate) log: u16,
    /// of the log, or [`EARLIER`]
    pub(crate) file: u16,
    /// of an action: the outcome, by position in the mapping's list, or [`NO_WORD`]
    pub(crate) word: u16,
}

/// No outcome in words, or one that an earlier import read.
pub(crate) const NO_WORD: u16 = u16::MAX;

/// The log of actions.
pub(crate) const ACTIONS: u16 = u16::MAX;

/// The log of availability.
pub(crate) const AVAILABILITY: u16 = u16::MAX - 1;

/// The file of records that an earlier import read.
pub(crate) const EARLIER: u16 = u16::MAX;

/// What a record counts.
pub(crate) enum Value<'a> {
    One,
    Column(&'a ValueRule),
    Outcome(&'a ActionRule),
    /// The end of a record, in a column of the log itself.
    Until(&'a TimeRule),
}

/// A column of the log, or of the file it is joined to.
#[derive(Clone, Copy)]
enum Cell {
    Here(usize),
    There(usize),
}

/// The other file: its rows by their key, the wanted cells of each.
struct Joined {
    rows: HashMap<u64, Vec<Box<str>>>,
    key: usize,
}

impl Joined {
    fn cell<'r>(row: &'r Row<'_>, joined: Option<&'r Vec<Box<str>>>, cell: Cell) -> &'r str {
        match cell {
            Cell::Here(k) => row.cell(k),
            Cell::There(k) => joined.map_or("", |cells| &cells[k]),
        }
    }
}

/// Finds columns in the log or in the file it is joined to.
struct Columns<'a> {
    here: Wanted<'a>,
    there: Option<(Wanted<'a>, Source, usize)>,
}

impl Columns<'_> {
    fn need(&mut self, column: &crate::mapping::At<String>) -> Result<Cell> {
        if let Some(k) = self.here.find(&column.value) {
            return Ok(Cell::Here(k));
        }
        match &mut self.there {
            Some((there, ..)) => there.need(column).map(Cell::There),
            None => self.here.need(column).map(Cell::Here),
        }
    }
}

/// Reads a log; its account in `accounts` gets its rows, and those that cannot be used. `quarantined` gets the people that quarantined
/// rows name.
#[allow(clippy::too_many_arguments)]
pub(crate) fn read(
    mapping: &Mapping,
    input: &Input<'_>,
    registry: &mut Registry,
    name: &str,
    log: u16,
    (rule, value): (&LogRule, Value<'_>),
    accounts: &mut Accounts,
    notes: &mut Vec<String>,
    records: &mut Vec<Record>,
    mut quarantined: Option<&mut Vec<u32>>,
    progress: &mut dyn FnMut(f64),
) -> Result<u16> {
    let open = |reading: &crate::mapping::At<crate::source::Reading>| {
        Source::open(&reading.value, input).map_err(|error| mapping.text.fault(reading.at, error.to_string()))
    };
    let mut source = open(&rule.reading)?;
    notes.extend(source.notes().iter().cloned());
    let account = accounts.open(name, source.files());
    let mut columns = Columns { here: Wanted::new(mapping, &source), there: None };
    let mut joined = None;
    if let Some(Through { reading, here, there }) = &rule.through {
        let other = open(reading)?;
        notes.extend(other.notes().iter().cloned());
        let mut wanted = Wanted::new(mapping, &other);
        let key = wanted.need(there)?;
        let here = columns.here.need(here)?;
        columns.there = Some((wanted, other, key));
        joined = Some(Joined { rows: HashMap::new(), key: here });
    }
    let person = columns.need(&rule.person.column)?;
    let time = rule
        .time
        .as_ref()
        .map(|time| Ok::<_, crate::Error>((columns.need(&time.column)?, time)))
        .transpose()?;
    let filter: Vec<(Cell, &Vec<String>)> = rule
        .filter
        .iter()
        .map(|(column, words)| Ok((columns.need(column)?, words)))
        .collect::<Result<_>>()?;
    let key: Vec<Cell> = rule.key.iter().map(|column| columns.need(column)).collect::<Result<_>>()?;
    let value_at = match &value {
        Value::One => None,
        Value::Column(rule) => Some(columns.need(&rule.column)?),
        Value::Outcome(rule) => rule.outcome.as_ref().map(|column| columns.need(column)).transpose()?,
        Value::Until(rule) => Some(columns.need(&rule.column)?),
    };
    // without the values of these columns nothing is known of a record
    let has_end = matches!(value, Value::Until(_));
    let mut decisive: Vec<(Cell, &str)> = vec![(person, &rule.person.column.value)];
    decisive.extend(time.map(|(k, time)| (k, time.column.value.as_str())));
    let others = filter.iter().map(|(k, _)| *k).zip(rule.filter.iter().map(|(column, _)| column));
    let others = others.chain(key.iter().copied().zip(&rule.key));
    decisive.extend(others.map(|(k, column)| (k, column.value.as_str())));
    // dates of the joined file are judged by the cells that the log asks for
    let clock = match time {
        Some((Cell::Here(k), rule)) => {
            columns.here.clock(k, rule);
            Some(k)
        }
        Some((Cell::There(k), rule)) => {
            let (there, ..) = columns.there.as_mut().expect("a column of the other file");
            there.clock(k, rule);
            Some(k)
        }
        None => None,
    };
    if let (Value::Until(rule), Some(Cell::Here(k))) = (&value, value_at) {
        columns.here.clock(k, rule);
    }
    if let (Some(joined), Some((there, other, key))) = (&mut joined, &mut columns.there) {
        let positions = there.positions().to_vec();
        other.rows(&positions, |row| -> Result<()> {
            let cell = row.cell(*key);
            if row.fault().is_none() && !mapping.is_missing(cell) && mapping.error_in(cell).is_none() {
                let cells = (0..positions.len()).map(|k| row.cell(k).into()).collect();
                joined.rows.insert(xxh3_64(row.cell(*key).as_bytes()), cells);
            }
            Ok(())
        })?;
    }
    let judged = match (&time, &columns.there) {
        (Some((Cell::There(_), _)), Some((there, ..))) => there,
        _ => &columns.here,
    };
    let mut dates = read_dates(judged);
    let person_column = rule.person.is.as_ref().map_or(&mapping.people.id.value, |column| &column.value);
    let directory = registry.directory(person_column, rule.person.form);
    let who = &rule.person.column.value;
    let positions = columns.here.positions().to_vec();
    let mut rows = 0u64;
    let mut unlisted = Words::default();
    let read = source.rows(&positions, |row| -> Result<()> {
        rows += 1;
        if rows.is_multiple_of(1 << 16) {
            progress(row.share_read());
        }
        let at = RowAt { source: account, file: row.file() as u16, line: row.line() as u32 };
        if let Some(fault) = row.fault() {
            accounts.quarantine(at, fault);
            return Ok(());
        }
        let error =
            |cell: &str, column: &str| mapping.error_in(cell).map(|error| format!("{error} in {column}"));
        if let (Some(joined), Some(through)) = (&joined, &rule.through)
            && let Some(error) = error(row.cell(joined.key), &through.here.value)
        {
            accounts.quarantine(at, &error);
            let named = rule.person.named(Joined::cell(&row, None, person));
            add_named(quarantined.as_deref_mut(), directory, named);
            return Ok(());
        }
        let other = match &joined {
            None => None,
            Some(joined) => match joined.rows.get(&xxh3_64(row.cell(joined.key).as_bytes())) {
                None => {
                    accounts.quarantine(at, "no row of the joined file for it");
                    let named = rule.person.named(Joined::cell(&row, None, person));
                    add_named(quarantined.as_deref_mut(), directory, named);
                    return Ok(());
                }
                found => found,
            },
        };
        let cell = |cell: Cell| Joined::cell(&row, other, cell);
        let is_excluded = |(column, words): &(Cell, &Vec<String>)| {
            let cell = cell(*column);
            mapping.error_in(cell).is_none() && !words.contains(&folded(cell))
        };
        if filter.iter().any(is_excluded) {
            accounts.of(account).aside += 1;
            return Ok(());
        }
        if let Some(error) = decisive.iter().find_map(|(k, column)| error(cell(*k), column)) {
            accounts.quarantine(at, &error);
            add_named(quarantined.as_deref_mut(), directory, rule.person.named(cell(person)));
            return Ok(());
        }
        let named = rule.person.named(cell(person));
        if mapping.is_missing(named) {
            accounts.quarantine(at, &format!("nobody in {who}"));
            return Ok(());
        }
        let person = match directory.find(named) {
            NOBODY => {
                accounts.quarantine(at, &format!("unknown person in {who}"));
                return Ok(());
            }
            SEVERAL => {
                accounts.quarantine(at, &format!("more than one person by {who}"));
                return Ok(());
            }
            SET_ASIDE => {
                accounts.quarantine(at, "a person whose row in the registry is quarantined");
                return Ok(());
            }
            person => person,
        };
        let mut seconds = i64::MIN;
        if let (Some(k), Some((column, rule))) = (clock, &time) {
            let text = cell(*column);
            let read = if mapping.is_missing(text) { None } else { dates.read(k, text, row.line()) };
            let Some(read) = read else {
                let what = if mapping.is_missing(text) { "no date" } else { "no possible date" };
                accounts.quarantine(at, &format!("{what} in {}", rule.column.value));
                if let Some(quarantined) = quarantined.as_deref_mut() {
                    quarantined.push(person);
                }
                return Ok(());
            };
            seconds = read;
        }
        let mut word = NO_WORD;
        let value = match (&value, value_at) {
            (Value::Column(rule), Some(column)) => {
                let text = cell(column);
                let read = match (&rule.levels, mapping.is_missing(text)) {
                    (_, true) => Some(0.0),
                    (None, _) => number(text, rule.decimal),
                    (Some(levels), _) => {
                        let plain = folded(text);
                        levels.iter().find(|(word, _)| *word == plain).map(|(_, level)| *level)
                    }
                };
                // what the person did is not known then: the record stays, the row is listed
                read.unwrap_or_else(|| {
                    let column = &rule.column.value;
                    let what = if rule.levels.is_some() { "known level" } else { "number" };
                    let reason = error(text, column).unwrap_or_else(|| format!("no {what} in {column}"));
                    accounts.note_unknown(at, &reason);
                    UNLISTED
                })
            }
            (Value::Outcome(rule), Some(column)) => {
                let text = cell(column);
                let plain = folded(text);
                match rule.meanings.iter().position(|meaning| meaning.plain == plain) {
                    Some(at) => {
                        word = at as u16;
                        rule.meanings[at].value
                    }
                    // whether there was a call is not known then: the record stays, the row is listed
                    None => {
                        let column = rule.outcome.as_ref().map_or("", |column| &column.value);
                        let error = error(text, column);
                        if error.is_none() && !text.is_empty() {
                            unlisted.take(text, row.line());
                        }
                        let reason =
                            error.unwrap_or_else(|| "an outcome that the mapping does not name".into());
                        accounts.note_unknown(at, &reason);
                        UNLISTED
                    }
                }
            }
            (Value::Until(_), Some(Cell::Here(k))) if mapping.is_missing(row.cell(k)) => f64::NAN,
            (Value::Until(rule), Some(Cell::Here(k))) => {
                let column = &rule.column.value;
                let Some(until) = dates.read(k, row.cell(k), row.line()) else {
                    accounts.quarantine(at, &format!("no possible date in {column}"));
                    return Ok(());
                };
                if until.div_euclid(DAY) < seconds.div_euclid(DAY) {
                    accounts.quarantine(at, &format!("an end in {column} before its beginning"));
                    return Ok(());
                }
                until as f64
            }
            _ => 1.0,
        };
        let content = row.content();
        let key = match (&key[..], has_end) {
            // a record without an end is the same record when its end is filled in
            ([], true) => xxh3_64_with_seed(named.as_bytes(), seconds as u64),
            ([], _) => content,
            (cells, _) => cells.iter().fold(1, |sum, k| xxh3_64_with_seed(cell(*k).as_bytes(), sum)),
        };
        records.push(Record {
            key,
            content,
            time: seconds,
            value,
            person,
            line: at.line,
            log,
            file: at.file,
            word,
        });
        Ok(())
    });
    match read {
        // a week without a call is no fault
        Err(crate::Error::Source(error)) if error.is_header_only() => {
            notes.push(format!("{name}: a header and no rows"));
        }
        read => read?,
    }
    accounts.of(account).rows = rows;
    if unlisted.cells() > 0 {
        notes.push(format!(
            "{name}: {} with an outcome that the mapping does not name: {}; whether these were calls is not known: add each word to a list of \
             outcome",
            counted(unlisted.cells(), "row"),
            unlisted.described(rows)
        ));
    }
    dates.judge(judged)?;
    notes.extend(dates.mixed(judged));
    Ok(account)
}

/// Adds the person that a quarantined row names to `people`, if the caller passes them.
fn add_named(people: Option<&mut Vec<u32>>, directory: &mut Directory, named: &str) {
    let Some(people) = people else { return };
    let person = directory.find(named);
    if ![NOBODY, SEVERAL, SET_ASIDE].contains(&person) {
        people.push(person);
    }
}

/// A value that is not a number, or an outcome that the mapping does not list: the outcome is unknown, and the row is quarantined.
pub(crate) const UNLISTED: f64 = f64::INFINITY;

/// Leaves one record of each key, the rest goes to the accounts: repetitions, and all of those that contradict each other.
pub(crate) fn settle(records: &mut Vec<Record>, account: impl Fn(u16) -> u16, accounts: &mut Accounts) {
    records.par_sort_unstable_by_key(|r| (r.log, r.key, r.file, r.line));
    let mut kept = 0;
    let mut start = 0;
    while start < records.len() {
        let first = records[start];
        let mut end = start + 1;
        while end < records.len() && (records[end].log, records[end].key) == (first.log, first.key) {
            end += 1;
        }
        let source = account(first.log);
        if records[start..end].iter().all(|r| r.content == first.content) {
            accounts.of(source).repeated += (end - start - 1) as u64;
            records[kept] = first;
            kept += 1;
        } else {
            for r in &records[start..end] {
                let at = RowAt { source, file: r.file, line: r.line };
                accounts.quarantine(at, "a record of the same key with other cells");
            }
        }
        start = end;
    }
    records.truncate(kept);
}
