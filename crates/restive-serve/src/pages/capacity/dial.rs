//! The numbers of the rules as fields, each with a slider beside it.

use crate::desk::Snapshot;
use crate::look::words::Words;
use restive_pipeline::PlanCertificate;
use restive_programme::{Capacity, Dial, Draft, WhatIf};

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
    let has_others = |by: &str| all.iter().any(|one| one.by.as_deref() == Some(by) && one.of.is_some());
    match (dial.by.as_deref(), dial.of.as_deref()) {
        (None, _) => w.t("capacity.budget").into(),
        (Some(by), Some(of)) => w.f2("capacity.cap_of", "by", by, "of", of),
        (Some(by), None) if has_others(by) => w.f1("capacity.cap_other", "by", by),
        (Some(by), None) => w.f1("capacity.cap_each", "by", by),
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
        let last = tried.and_then(|tried| tried.numbers.get(k).copied()).or(now).unwrap_or(0);
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
            is_wrong: !written.is_empty() && text.trim().parse::<u32>().is_err(),
            value: text,
            most: most.min(people.max(wide)),
            now,
        }
    };
    capacity.dials.iter().enumerate().map(view).collect()
}
