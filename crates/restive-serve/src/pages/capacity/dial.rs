//! The numbers of the rules as fields, each with a slider beside it.

use super::turn::{Faults, Written, percent, whole};
use crate::desk::{Column, Snapshot};
use crate::look::words::Words;
use restive_pipeline::PlanCertificate;
use restive_programme::{Capacity, Dial, Draft, NewLimit, WhatIf};

/// A field.
pub(super) struct DialView {
    /// `n0` is the budget
    pub(super) field: String,
    pub(super) label: String,
    pub(super) hint: String,
    /// what stands in the field
    pub(super) value: String,
    /// what the rules say now
    pub(super) now: Option<usize>,
    /// where the slider ends
    pub(super) most: usize,
    /// whether what was written is no number
    pub(super) is_wrong: bool,
}

/// The name of a field.
pub(super) fn field(k: usize) -> String {
    format!("n{k}")
}

/// The places of the next list: of the rules, else of the list that is there, else of the study.
pub(super) fn budget(capacity: &Capacity, snapshot: &Snapshot, draft: Option<&Draft>) -> usize {
    let said = capacity.dials.first().and_then(|dial| dial.value);
    let made = draft.map(|draft| draft.record.facts.budget as usize);
    said.or(made).unwrap_or(snapshot.backdrop.budget)
}

fn label(dial: &Dial, all: &[Dial], w: &Words) -> String {
    let is_like = |one: &&Dial, by: &str| one.by.as_deref() == Some(by) && one.is_floor == dial.is_floor;
    let has_others = |by: &str| all.iter().any(|one| is_like(&one, by) && one.of.is_some());
    match (dial.by.as_deref(), dial.of.as_deref(), dial.is_floor) {
        (None, ..) => w.t("capacity.budget").into(),
        (Some(by), Some(of), false) => w.f2("capacity.cap_of", "by", by, "of", of),
        (Some(by), Some(of), true) => w.f2("capacity.floor_of", "by", by, "of", of),
        (Some(by), None, false) if has_others(by) => w.f1("capacity.cap_other", "by", by),
        (Some(by), None, true) if has_others(by) => w.f1("capacity.floor_other", "by", by),
        (Some(by), None, false) => w.f1("capacity.cap_each", "by", by),
        (Some(by), None, true) => w.f1("capacity.floor_each", "by", by),
    }
}

/// A new rule, in words.
pub(super) fn added(add: &NewLimit, w: &Words) -> String {
    match (add.of.as_deref(), add.is_floor) {
        (Some(of), false) => w.f2("capacity.cap_of", "by", &add.by, "of", of),
        (Some(of), true) => w.f2("capacity.floor_of", "by", &add.by, "of", of),
        (None, false) => w.f1("capacity.cap_each", "by", &add.by),
        (None, true) => w.f1("capacity.floor_each", "by", &add.by),
    }
}

/// The fields beside the dials: the share by lot, and one more rule.
pub(super) struct More {
    /// in per cent
    pub(super) explore: String,
    pub(super) explore_now: String,
    /// columns, each with its groups: value and words, whether it is chosen
    pub(super) choices: Vec<(String, Vec<Choice>)>,
    pub(super) is_floor: bool,
    pub(super) limit: String,
    /// what is wrong
    pub(super) faults: Faults,
}

/// What a new rule can be of: value, words, whether it is chosen.
type Choice = (String, String, bool);

/// The fields beside the dials.
pub(super) fn more(
    capacity: &Capacity,
    columns: &[Column],
    written: &Written,
    faults: Faults,
    w: &Words,
) -> More {
    let choice = |value: String, words: String| {
        let is_it = value == written.of;
        (value, words, is_it)
    };
    let column = |column: &Column| {
        let each = choice(column.name.clone(), w.f1("capacity.each", "by", &column.name));
        let group = |group: &String| choice(format!("{}={group}", column.name), group.clone());
        let all = std::iter::once(each).chain(column.groups.iter().map(group));
        (column.name.clone(), all.collect())
    };
    let now = percent(capacity.explore);
    More {
        explore: if written.explore.is_empty() && !faults.explore {
            now.clone()
        } else {
            written.explore.clone()
        },
        explore_now: now,
        choices: columns.iter().map(column).collect(),
        is_floor: written.is_floor,
        limit: written.limit.clone(),
        faults,
    }
}

/// All fields: with what was written, else with what was tried last, else with what the rules say.
pub(super) fn views(
    capacity: &Capacity,
    budget: usize,
    tried: Option<&WhatIf>,
    certificate: Option<&PlanCertificate>,
    snapshot: &Snapshot,
    written: &[String],
    w: &Words,
) -> Vec<DialView> {
    let people = snapshot.status.people[0].max(1);
    let enough = certificate.map_or(0, |one| one.enough);
    let view = |(k, dial): (usize, &Dial)| {
        let now = if k == 0 { Some(dial.value.unwrap_or(budget)) } else { dial.value };
        let last = tried.and_then(|tried| tried.turned.numbers.get(k).copied()).or(now).unwrap_or(0);
        let text = written.get(k).cloned().unwrap_or_else(|| last.to_string());
        let wide = last.max(now.unwrap_or(0)).max(5);
        let most = if k == 0 { (3 * wide).max(enough) } else { 3 * wide };
        DialView {
            field: field(k),
            label: label(dial, &capacity.dials, w),
            hint: match (k, dial.value) {
                (0, None) => w.f1("capacity.now_study", "n", budget),
                _ => w.f1("capacity.now", "n", now.unwrap_or(0)),
            },
            is_wrong: !written.is_empty() && whole(&text).is_none(),
            value: text,
            most: most.min(people.max(wide)),
            now,
        }
    };
    capacity.dials.iter().enumerate().map(view).collect()
}
