//! People in groups by what is known of them, and whom the list serves.
//!
//! Everybody who could be called is in one group of each column. Rates, what lots would deal and what must not be printed are
//! [`restive::fairness`]'s: the tables of all columns are made fit to be printed together.

use super::columns::{asked_for, feature, state};
use super::source::{Person, ReportSource};
use super::{MOST_BY, Report};
use crate::error::{Error, Result};
use restive::data::features::Column;
use restive::fairness::{Groups, LEAST, Period, Row, Table, suppress, table};
use serde::Serialize;

/// Columns that are looked at, at most.
const COLUMNS: usize = 20;
/// The column of what people were last seen as.
pub(super) const STATE: &str = "state";

/// Whom the list serves, by one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouped {
    /// what the column is called
    pub column: String,
    /// those that may be printed
    pub groups: Vec<Group>,
    /// how many groups are withheld
    pub withheld: usize,
    /// that lots would deal places as unequally; absent where something is withheld
    pub chance: Option<f64>,
}

/// A group of at least ten people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// what it is called
    pub name: String,
    /// who could be called
    pub could: u64,
    /// their part of all who could be called
    pub share_of_all: f64,
    /// who is on the list; absent where that must not be printed
    pub on_list: Option<OnList>,
}

/// Who of a group is on the list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OnList {
    /// how many
    pub people: u64,
    /// their part of the list
    pub share_of_list: f64,
    /// of those who could be called, who is on the list, with a 95 % interval
    pub rate: [f64; 3],
    /// how many lots would have put on it, and between which numbers in nineteen of twenty draws
    pub by_lot: Option<[f64; 3]>,
    /// whether the list has fewer (−1) or more (1) of them than lots would give; 0: neither is sure
    pub sign: i8,
}

/// People by columns.
pub(super) struct Groupings {
    /// name of the column in the study, what it is called, its groups
    pub(super) all: Vec<Grouping>,
    /// positions of those that were asked for
    asked: Vec<usize>,
}

/// People by one column.
pub(super) struct Grouping {
    /// in the study
    pub(super) column: String,
    /// what people call it
    pub(super) called: String,
    pub(super) groups: Groups,
}

impl Grouping {
    /// The group that somebody is in, by name.
    pub(super) fn name_of(&self, person: usize) -> &str {
        &self.groups.names()[self.groups.of()[person] as usize]
    }
}

impl Groupings {
    /// The columns of the study that people can be grouped by, and those that are asked for.
    pub(super) fn new(source: &ReportSource, by: &[String]) -> Result<Self> {
        if by.len() > MOST_BY {
            return Err(refused(format!("--by: found {} columns, expected at most {MOST_BY}", by.len())));
        }
        let mut all: Vec<Grouping> = Vec::new();
        all.extend(state(source).and_then(Result::ok));
        let features = source.study.instances.first().map(|instance| instance.features.names());
        for name in features.unwrap_or_default().iter().take(COLUMNS) {
            all.extend(feature(source, name).and_then(Result::ok));
        }
        let mut asked = Vec::new();
        for name in by {
            let at = match all.iter().position(|grouping| grouping.column == *name) {
                Some(at) => at,
                None => {
                    all.push(asked_for(source, name)?);
                    all.len() - 1
                }
            };
            asked.push(at);
        }
        if by.is_empty() {
            let is_text = |grouping: &Grouping| {
                let first = source.study.instances.first();
                first.is_some_and(|i| matches!(i.features.column(&grouping.column), Some(Column::Text(_))))
            };
            let known = || (0..all.len()).filter(|k| all[*k].column != STATE);
            let words = known().filter(|k| is_text(&all[*k]));
            asked = words.chain(known().filter(|k| !is_text(&all[*k]))).take(MOST_BY).collect();
        }
        Ok(Self { all, asked })
    }

    /// What may be printed of every column.
    pub(super) fn printed(&self, source: &ReportSource) -> Result<Vec<Grouped>> {
        let people = &source.list.people;
        if people.is_empty() || self.all.is_empty() {
            return Ok(Vec::new());
        }
        let (one, none) = (vec![1; people.len()], vec![0; people.len()]);
        let is_listed = |person: &Person| person.how.is_listed();
        let listed: Vec<u32> = people.iter().map(|person| u32::from(is_listed(person))).collect();
        let period = Period {
            enrolled: &vec![true; people.len()],
            could: &one,
            listed: &listed,
            outcomes: &none,
            reached: &none,
            // the page says nothing of benefit and need
            benefit: &vec![0.0; people.len()],
            need: &vec![0.0; people.len()],
        };
        let tables: restive::Result<Vec<Table>> =
            self.all.iter().map(|grouping| table(&grouping.groups, &period, None)).collect();
        let tables = tables.and_then(|tables| suppress(&tables, &[], LEAST));
        let tables = tables.map_err(|error| refused(error.to_string()))?;
        Ok(self.all.iter().zip(&tables).map(|(grouping, table)| grouped(&grouping.called, table)).collect())
    }

    /// Those that were asked for.
    pub(super) fn asked_for(&self, printed: &[Grouped]) -> Vec<Grouped> {
        self.asked.iter().filter_map(|k| printed.get(*k).cloned()).collect()
    }
}

pub(super) fn refused(what: String) -> Error {
    Error::Refused(what)
}

fn grouped(column: &str, table: &Table) -> Grouped {
    let on_list = |row: &Row| -> Option<OnList> {
        let lists = row.lists?;
        let rate = lists.rate?;
        let sure = lists.chance.filter(|chance| chance.p_corrected < 0.05);
        Some(OnList {
            people: lists.people,
            share_of_list: lists.share?,
            rate: [rate.share, rate.low, rate.high],
            by_lot: lists.chance.map(|chance| [chance.expected, chance.low as f64, chance.high as f64]),
            sign: sure.map_or(0, |chance| if lists.people as f64 > chance.expected { 1 } else { -1 }),
        })
    };
    let group = |row: &Row| -> Option<Group> {
        let population = row.population?;
        Some(Group {
            name: row.name.clone(),
            could: population.could,
            share_of_all: population.share_of_could?,
            on_list: on_list(row),
        })
    };
    let groups: Vec<Group> = table.rows.iter().filter_map(group).collect();
    let withheld = table.rows.len() - groups.len();
    Grouped { column: column.into(), groups, withheld, chance: table.overall.map(|overall| overall.p) }
}

impl Report {
    /// Groups of the fairness part that lots would not explain: fewer, and more.
    pub(super) fn unequal(&self, sign: i8) -> Vec<String> {
        let of = |grouped: &Grouped| {
            let some =
                grouped.groups.iter().filter(move |group| group.on_list.is_some_and(|on| on.sign == sign));
            some.map(|group| format!("“{}: {}”", grouped.column, group.name)).collect::<Vec<_>>()
        };
        self.fairness.iter().flat_map(of).collect()
    }
}
