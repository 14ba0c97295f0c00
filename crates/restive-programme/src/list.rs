//! A recorded plan as a list for people: what the ledger says of each, joined with what is kept of them.
//!
//! The list is made of the ledger's rows and the table of people alone, so that it can be written again, later and in another format, and
//! says the same. Whoever was moved up by hand stands first. Whoever was taken off by hand is not on it; whoever was put on it has a row without numbers, and the reason that was
//! given.

use crate::effects::{RecordedEffects, stated};
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::row::Row;
use crate::words::ListWords;
use jiff::civil::Date;
use restive_ledger::{Code, Done, ListChange, Plan, Planned};
use restive_report::list::{Cell, Column, Day, Direction, Kind, List, ListRow, OutcomeCode, Words};
use restive_tables::Contacts;
use std::collections::HashMap;

/// Columns that a list has only if effects of calls are stated.
const EFFECT_COLUMNS: [&str; 5] = ["left_alone", "left_alone_interval", "called", "called_interval", "worth"];

/// What a list is made of.
pub(crate) struct Listed<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) effects: &'a RecordedEffects,
    /// on the list, overrides applied, in any order
    pub(crate) people: &'a [Planned],
    /// changes by hand, from the first to the last
    pub(crate) changes: &'a [ListChange],
    pub(crate) contacts: &'a Contacts,
    pub(crate) words: &'a ListWords,
    /// the names of states, where the mapping has any
    pub(crate) states: &'a [String],
    /// what a reward of 1 is called
    pub(crate) unit: Option<&'a str>,
    /// the column that sheets are made by
    pub(crate) worker: Option<&'a str>,
    pub(crate) summary: Vec<(String, String)>,
}

/// A day as lists have it.
pub(crate) fn day(date: Date) -> Day {
    Day { year: date.year(), month: date.month() as u8, day: date.day() as u8 }
}

/// A day as people say it: Monday 16 March 2026.
pub(crate) fn spoken(date: Date) -> String {
    date.strftime("%A %-d %B %Y").to_string()
}

impl Listed<'_> {
    /// The list.
    pub(crate) fn list(self) -> Result<List> {
        let words = self.words;
        let heading = |name: &str| words.heading(name);
        let worker = self.worker.and_then(|name| self.contacts.kept.iter().position(|kept| kept == name));
        let kept = || self.contacts.kept.iter().enumerate().filter(|(k, _)| Some(*k) != worker);
        let is_stated = |name: &str| self.effects.identified().is_some() || !EFFECT_COLUMNS.contains(&name);
        let mut columns: Vec<Column> =
            kept().map(|(_, name)| Column::new(name.clone(), name.clone(), Kind::Text)).collect();
        let state = if self.states.is_empty() { Kind::Whole } else { Kind::Text };
        let worth = match self.unit {
            Some(unit) => format!("{} ({unit})", heading("worth")),
            None => heading("worth"),
        };
        for (name, heading, kind) in [
            ("state", heading("state"), state),
            ("last_seen", heading("last_seen"), Kind::Day),
            ("last_call", heading("last_call"), Kind::Day),
            ("last_outcome", heading("last_outcome"), Kind::Text),
            ("left_alone", heading("left_alone"), Kind::Percent),
            ("left_alone_interval", heading("left_alone_interval"), Kind::Text),
            ("called", heading("called"), Kind::Percent),
            ("called_interval", heading("called_interval"), Kind::Text),
            ("worth", worth, Kind::Number { decimals: 2 }),
            ("probability", heading("probability"), Kind::Percent),
            ("reason", heading("reason"), Kind::Reason),
        ] {
            if is_stated(name) {
                columns.push(Column::new(name, heading, kind));
            }
        }
        let changes = || self.changes.iter().enumerate();
        let of = |done: Done| {
            let one = |(k, change): (usize, &'_ ListChange)| Some((change.arm.clone()?, k));
            changes().filter(move |(_, change)| change.done == done).filter_map(one)
        };
        let added: HashMap<String, usize> = of(Done::Added).collect();
        // whoever was moved up last is called first
        let moved: HashMap<String, usize> = of(Done::MovedUp).collect();
        let mut rows = Vec::with_capacity(self.people.len());
        for person in self.people {
            let contact = self.contacts.person(&person.arm)?;
            let mut cells: Vec<Cell> = kept().map(|(k, _)| text(&contact.kept[k])).collect();
            let rank = match person.row.as_deref() {
                Some(said) => {
                    let row: Row = serde_json::from_str(said).map_err(|error| {
                        Error::Refused(format!(
                            "ledger: plan {}: found a row that is none ({error}), expected what a plan wrote",
                            self.plan.id
                        ))
                    })?;
                    let row = stated(row, self.effects);
                    cells.extend(self.cells(&row));
                    row.rank
                }
                // put on it by hand: nothing was computed, and a reason was given
                None => {
                    let why = added.get(&person.arm).map(|k| &self.changes[*k]);
                    cells.extend(std::iter::repeat_n(Cell::None, columns.len() - cells.len() - 1));
                    cells.push(Cell::Text(why.map_or(String::new(), |change| words.added(change))));
                    usize::MAX
                }
            };
            let sheet = worker.map(|k| contact.kept[k].clone()).filter(|name| !name.trim().is_empty());
            let first = moved.get(&person.arm).map_or(usize::MAX, |k| self.changes.len() - k);
            rows.push((first, ListRow { id: contact.id.clone(), rank, sheet, cells }));
        }
        rows.sort_by(|(f, a), (g, b)| (f, a.rank, &a.id).cmp(&(g, b.rank, &b.id)));
        let mut rows: Vec<ListRow> = rows.into_iter().map(|(_, row)| row).collect();
        rows.iter_mut().enumerate().for_each(|(k, row)| row.rank = k + 1);
        let date = |text: &str| {
            text.parse::<Date>()
                .map_err(|_| Error::Refused(format!("ledger: found the day {text:?}, expected a date")))
        };
        let (start, end) = (date(&self.plan.facts.period_start)?, date(&self.plan.facts.period_end)?);
        Ok(List {
            title: words.title.clone(),
            subtitle: words.subtitle(start, end),
            plan: self.plan.id.clone(),
            start: day(start),
            end: day(end),
            columns,
            rows,
            outcomes: outcomes(words),
            summary: self.summary,
            words: words.words.clone(),
            direction: if words.is_right_to_left { Direction::RightToLeft } else { Direction::LeftToRight },
        })
    }

    fn cells(&self, row: &Row) -> Vec<Cell> {
        let date = |date: Option<Date>| date.map_or(Cell::None, |date| Cell::Day(day(date)));
        let state = match row.state {
            None => Cell::None,
            Some(state) => match self.states.get(usize::from(state)) {
                Some(name) => Cell::Text(name.clone()),
                None if self.states.is_empty() => Cell::Whole(state.into()),
                None => Cell::Text(state.to_string()),
            },
        };
        let outcome = row.last_outcome.as_deref().map_or("", |outcome| self.words.outcome(outcome));
        let mut cells = vec![state, date(row.last_seen), date(row.last_call), text(outcome)];
        cells.extend(row.effects.iter().flat_map(|effects| {
            [
                Cell::Number(effects.left_alone.value),
                text(&effects.left_alone.interval_text()),
                Cell::Number(effects.called.value),
                text(&effects.called.interval_text()),
                Cell::Number(effects.worth),
            ]
        }));
        cells.extend([Cell::Number(row.probability), text(&row.reason())]);
        cells
    }
}

fn text(text: &str) -> Cell {
    if text.is_empty() { Cell::None } else { Cell::Text(text.into()) }
}

/// What callers may answer.
pub(crate) fn outcomes(words: &ListWords) -> Vec<OutcomeCode> {
    let code =
        |code: &Code| OutcomeCode { code: code.word().into(), words: words.outcome(code.word()).into() };
    Code::ALL.iter().map(code).collect()
}

/// The words of columns and codes that a filled-in list is read back by.
pub(crate) fn fixed(words: &ListWords) -> &Words {
    &words.words
}

impl Programme {
    /// The names of states, as the mapping has them; none where it has not.
    pub(crate) fn state_names(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.imported().mapping()).unwrap_or_default();
        let table: toml::Table = toml::from_str(&text).unwrap_or_default();
        let names = table.get("state").and_then(|state| state.get("names")).and_then(toml::Value::as_array);
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        names.and_then(|names| names.iter().map(text).collect()).unwrap_or_default()
    }
}
