//! Rows of a sheet become outcomes or problems, table by table.
//!
//! Every row goes to one place: it is used, not filled in, a repetition of what another row says of the same person, or a problem. Two
//! rows that say different things of one person of a plan are both left out: nobody knows which of them is right.

use super::code::plain;
use super::{OutcomeAt, OutcomeCode, OutcomeRow, OutcomeSheet, OutcomesAsked, Problem};
use crate::dates::{Clock, DAY, DateFormat, date_of};
use crate::error::{Error, Result};
use crate::source::{Row, Source, cell_error};
use jiff::civil::Date;
use restive_tables::{show, unguarded_cell};
use std::collections::{HashMap, HashSet};

/// Takes one table after another.
pub(super) struct Reader<'a, F> {
    asked: &'a OutcomesAsked,
    is_known: F,
    formats: Vec<DateFormat>,
    sheet: OutcomeSheet,
    /// by plan and id: the position of the row; none where two rows contradict each other
    met: HashMap<(Option<String>, String), Option<usize>>,
    /// rows that another one contradicts
    contradicted: HashSet<usize>,
}

/// What a cell cannot be used for: found, expected.
type Refused = (String, String);

impl<'a, F: Fn(Option<&str>, &str) -> bool> Reader<'a, F> {
    pub(super) fn new(asked: &'a OutcomesAsked, is_known: F) -> Result<Self> {
        let mut formats = Vec::new();
        for format in &asked.day_formats {
            formats.push(DateFormat::parse(format).filter(|format| !format.is_absolute()).ok_or_else(
                || {
                    Error::Refused(format!(
                        "format of days: found {}, expected a pattern such as %d/%m/%Y",
                        show::quoted_name(format)
                    ))
                },
            )?);
        }
        formats.push(DateFormat::Iso);
        let (sheet, met, contradicted) = (OutcomeSheet::default(), HashMap::new(), HashSet::new());
        Ok(Self { asked, is_known, formats, sheet, met, contradicted })
    }

    /// Takes the rows of a table; false where it has not the columns.
    pub(super) fn take(&mut self, source: &mut Source, file: &str, sheet: Option<&str>) -> Result<bool> {
        let header: Vec<String> = source.header().iter().map(|name| plain(name)).collect();
        let find = |words: &[String]| {
            words.iter().find_map(|word| header.iter().position(|name| *name == plain(word)))
        };
        let columns = &self.asked.columns;
        let is_heading = |name: &String, word: &String| {
            let rest = name.strip_prefix(&plain(word));
            // a second column of one name ends in .2
            rest.is_some_and(|rest| {
                rest.is_empty()
                    || rest
                        .strip_prefix('.')
                        .is_some_and(|place| place.bytes().all(|byte| byte.is_ascii_digit()))
            })
        };
        let one_by_one = [&columns.plan, &columns.id, &columns.day, &columns.note];
        let one_by_one = one_by_one.into_iter().flatten().map(std::slice::from_ref);
        for words in one_by_one.chain([&columns.outcome[..]]) {
            let found = header.iter().filter(|name| words.iter().any(|word| is_heading(name, word))).count();
            if found > 1 {
                let at = sheet.map_or(String::new(), |sheet| format!(", sheet {}", show::name(sheet)));
                let words: Vec<String> = words.iter().map(|word| show::name(word)).collect();
                return Err(Error::Refused(format!(
                    "{}{at}: found {found} columns {}; keep one of them",
                    show::plain(file),
                    words.join(" or ")
                )));
            }
        }
        let (Some(id), Some(outcome)) = (find(&columns.id), find(&columns.outcome)) else { return Ok(false) };
        let optional = [find(&columns.plan), find(&columns.day), find(&columns.note)];
        let mut wanted = vec![id, outcome];
        let places = optional.map(|column| {
            column.map(|column| {
                wanted.push(column);
                wanted.len() - 1
            })
        });
        let headings: Vec<String> = wanted.iter().map(|k| show::name(&source.header()[*k])).collect();
        let clock = Clock {
            formats: self.formats.clone(),
            is_declared: true,
            zone: None,
            home: None,
            is_typed: source.is_typed(),
        };
        let read = source.rows(&wanted, |row| -> Result<()> {
            let at = OutcomeAt { file: file.into(), sheet: sheet.map(str::to_string), line: row.line() };
            self.row(&row, places, &clock, &headings, at);
            Ok(())
        });
        match read {
            Err(Error::Source(error)) if error.is_header_only() => Ok(true),
            read => read.map(|()| true),
        }
    }

    fn row(
        &mut self,
        row: &Row<'_>,
        places: [Option<usize>; 3],
        clock: &Clock,
        headings: &[String],
        at: OutcomeAt,
    ) {
        if let Some(fault) = row.fault() {
            let (found, expected) =
                fault.split_once(", expected ").unwrap_or((fault, "a row like the header"));
            let found = found.trim_start_matches("found ").to_string();
            self.sheet.problems.push(Problem { at, found, expected: expected.into() });
            return;
        }
        let cell = |k: Option<usize>| k.map_or("", |k| unguarded_cell(row.cell(k)));
        let (id, outcome) = (cell(Some(0)), cell(Some(1)));
        if outcome.is_empty() {
            self.sheet.not_filled_in += 1;
            return;
        }
        let mut cells = headings.iter().enumerate();
        if let Some(found) =
            cells.find_map(|(k, name)| Some(format!("{} in {name}", cell_error(row.cell(k))?)))
        {
            self.sheet.problems.push(Problem { at, found, expected: "what should stand there".into() });
            return;
        }
        let [plan, day, note] = places.map(|k| Some(cell(k)).filter(|text| !text.is_empty()));
        match self.understood(plan, id, outcome, day, clock) {
            Err((found, expected)) => self.sheet.problems.push(Problem { at, found, expected }),
            Ok((code, day)) => {
                let (plan, note) = (plan.map(str::to_string), note.map(str::to_string));
                self.enter(OutcomeRow { plan, id: id.into(), code, day, note, at });
            }
        }
    }

    fn understood(
        &self,
        plan: Option<&str>,
        id: &str,
        outcome: &str,
        day: Option<&str>,
        clock: &Clock,
    ) -> std::result::Result<(OutcomeCode, Option<Date>), Refused> {
        let code = OutcomeCode::parse(outcome, &self.asked.translations).ok_or_else(|| {
            let is_word = outcome.chars().count() <= 24 && !outcome.chars().any(char::is_numeric);
            let found = match is_word {
                true => format!("the outcome {}", show::quoted_name(outcome)),
                false => "another outcome".into(),
            };
            (found, OutcomeCode::ALL.map(OutcomeCode::name).join(", "))
        })?;
        if id.is_empty() {
            return Err(("an outcome of nobody".into(), "an id".into()));
        }
        if !(self.is_known)(plan, id) {
            let expected =
                "one that is on the list, as it is written there (spreadsheets drop zeros at the front)";
            return Err(("an id that the plan does not have".into(), expected.into()));
        }
        let Some(day) = day else { return Ok((code, None)) };
        let read = clock.read(day).and_then(|seconds| date_of(seconds.div_euclid(DAY)));
        match read {
            Some(date) => Ok((code, Some(date))),
            None => {
                let found = match Clock::both_readings(day).is_empty() {
                    true => "no possible day",
                    false => "a day whose order of day and month nobody says",
                };
                Err((found.into(), "a day such as 2026-03-17, or a format of days that reads it".into()))
            }
        }
    }

    /// Enters a row, unless there is one of the same person already.
    fn enter(&mut self, row: OutcomeRow) {
        let key = (row.plan.clone(), row.id.clone());
        let contradicts = |line: String, at: OutcomeAt| Problem {
            at,
            found: format!("another outcome or day of the same person than {line}"),
            expected: "one: neither is used".into(),
        };
        match self.met.get(&key) {
            None => {
                self.met.insert(key, Some(self.sheet.rows.len()));
                self.sheet.rows.push(row);
            }
            Some(None) => self.sheet.problems.push(contradicts("on the lines before".into(), row.at)),
            Some(&Some(position)) => {
                let known = &mut self.sheet.rows[position];
                let days = known.day.zip(row.day);
                if known.code == row.code && days.is_none_or(|(a, b)| a == b) {
                    known.day = known.day.or(row.day);
                    known.note = known.note.take().or(row.note);
                } else {
                    let line = format!("on line {}", known.at.line);
                    self.met.insert(key, None);
                    self.contradicted.insert(position);
                    self.sheet.problems.push(contradicts(line, row.at));
                }
            }
        }
    }

    pub(super) fn finish(self) -> OutcomeSheet {
        let Self { mut sheet, contradicted, .. } = self;
        let mut position = 0;
        sheet.rows.retain(|_| {
            position += 1;
            !contradicted.contains(&(position - 1))
        });
        sheet
    }
}
