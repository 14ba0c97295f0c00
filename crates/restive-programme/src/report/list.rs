//! Whom the list calls, against everybody who could be called, and why.
//!
//! Of all groups that may be printed those are told whose part of the list is at least [`APART`] larger or smaller than their part of everybody; where
//! a column has two groups, one of them says it all. People on the list with the same state and the same largest reason make a typical
//! reason, where they are ten or more.

use super::groups::{Group, Grouped, Groupings};
use super::source::ReportSource;
use restive::fairness::LEAST;
use restive_ledger::How;
use restive_pipeline::reasons::Reason;
use serde::Serialize;
use std::collections::BTreeMap;

/// Shares that are less apart are not told.
const APART: f64 = 0.05;
/// The most groups that are told: with a larger and with a smaller part of the list.
const MOST: [usize; 2] = [4, 3];
/// The most reasons that are told.
const REASONS: usize = 4;
/// Points below which a reason is none.
const WORTH_SAYING: f64 = 0.5;

/// What people with the same reason have in common: their state, and a column with its value.
type Key = (u16, Option<(String, String)>);

/// Whom the list calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Called {
    /// for which days it is, where that is known
    pub of: Option<String>,
    /// whether it is on record, or was made for the page
    pub is_recorded: bool,
    /// who could be called
    pub could: usize,
    /// who could not: left, not to be called, kept out by a rule
    pub left_out: usize,
    /// whom a trial that runs leaves alone
    pub alone: usize,
    /// who is on it
    pub listed: usize,
    /// of these, who was drawn by lot
    pub drawn: usize,
    /// of these, whom a rule or a hand put on it
    pub must: usize,
    /// groups with a larger part of the list than of everybody: the column, and the group
    pub more: Vec<(String, Group)>,
    /// groups with a smaller one
    pub fewer: Vec<(String, Group)>,
    /// typical reasons, the most common first
    pub typical: Vec<Typical>,
}

/// People on the list with the same reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Typical {
    /// how many
    pub people: usize,
    /// their state
    pub state: String,
    /// what makes a call do more for them than for most: column and value; absent where nothing does
    pub because: Option<(String, String)>,
    /// the chance of a good state next if left alone, on average
    pub left_alone: f64,
    /// if called
    pub called: f64,
}

impl ReportSource {
    pub(super) fn called(
        &self,
        groupings: &Groupings,
        printed: &[Grouped],
        reasons: Option<&[(usize, Reason)]>,
    ) -> Called {
        let people = &self.list.people;
        let count = |is_it: fn(How) -> bool| people.iter().filter(|person| is_it(person.how)).count();
        let [more, fewer] = apart(printed);
        Called {
            of: self.list.of.clone(),
            is_recorded: self.list.is_recorded,
            could: people.len(),
            left_out: self.list.left_out,
            alone: self.list.alone,
            listed: count(How::is_listed),
            drawn: count(|how| how == How::Draw),
            must: count(|how| how == How::Must),
            more,
            fewer,
            typical: self.typical(groupings, reasons.unwrap_or_default()),
        }
    }

    fn typical(&self, groupings: &Groupings, reasons: &[(usize, Reason)]) -> Vec<Typical> {
        let mut sums: BTreeMap<Key, (usize, f64, f64)> = BTreeMap::new();
        for (i, reason) in reasons.iter().filter(|(i, _)| self.list.people[*i].how == How::Rank) {
            let largest = reason.effect.iter().max_by(|a, b| a.amount.total_cmp(&b.amount));
            let largest = largest.filter(|found| reason.effect_points(found.amount) >= WORTH_SAYING);
            let because = largest.and_then(|found| {
                let grouping = groupings.all.iter().find(|grouping| grouping.column == found.column)?;
                Some((grouping.called.clone(), grouping.name_of(*i).to_string()))
            });
            let sum = sums.entry((self.list.people[*i].state, because)).or_default();
            let (alone, called) = (reason.chance_left_alone.value, reason.chance_called.value);
            *sum = (sum.0 + 1, sum.1 + alone, sum.2 + called);
        }
        // the few others must not be told either
        let listed = self.list.people.iter().filter(|person| person.how.is_listed()).count();
        let is_told =
            |people: usize| people as u64 >= LEAST && (listed == people || (listed - people) as u64 >= LEAST);
        let typical = sums.into_iter().filter_map(|((state, because), (people, alone, called))| {
            is_told(people).then(|| Typical {
                people,
                state: self.state(state),
                because,
                left_alone: alone / people as f64,
                called: called / people as f64,
            })
        });
        let mut typical: Vec<Typical> = typical.collect();
        typical.sort_by_key(|found| std::cmp::Reverse(found.people));
        typical.truncate(REASONS);
        typical
    }
}

/// The groups whose part of the list is furthest above and below their part of everybody.
fn apart(printed: &[Grouped]) -> [Vec<(String, Group)>; 2] {
    let mut all: Vec<(f64, &Grouped, &Group)> = Vec::new();
    for grouped in printed {
        let by = |group: &Group| Some(group.on_list?.share_of_list - group.share_of_all);
        all.extend(grouped.groups.iter().filter_map(|group| Some((by(group)?, grouped, group))));
    }
    all.retain(|(by, ..)| by.abs() >= APART);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let owned = |(_, grouped, group): &(f64, &Grouped, &Group)| (grouped.column.clone(), (*group).clone());
    let more: Vec<(String, Group)> =
        all.iter().filter(|(by, ..)| *by > 0.0).take(MOST[0]).map(owned).collect();
    let is_said = |grouped: &Grouped| {
        grouped.groups.len() + grouped.withheld == 2
            && more.iter().any(|(column, _)| *column == grouped.column)
    };
    let fewer = all.iter().rev().filter(|(by, grouped, _)| *by < 0.0 && !is_said(grouped));
    let fewer = fewer.take(MOST[1]).map(owned).collect();
    [more, fewer]
}
