//! *Capacity*: how many are called, what that brings, what every rule costs; and what other numbers would bring, before they are decided.
//!
//! | file | what happens there |
//! |---|---|
//! | `ask` | other numbers are tried, by a job that records nothing |
//! | `set` | numbers are written into the rules, and the list is made anew with them |
//! | `dial` | the numbers of the rules as fields |
//! | `turn` | what a form says |
//! | `beside` | what the present list brings beside what was tried |
//! | `curve` | what more and fewer calls would bring, as a picture |
//!
//! A viewer sees the same without names and without buttons.

pub(crate) mod ask;
mod beside;
mod curve;
mod dial;
pub(crate) mod set;
mod turn;

use crate::desk::{App, Column, Snapshot, Tried, stamp};
use crate::look::answer::{Answer, page_with};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::{Role, Viewer};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use beside::{Name, Rows};
use dial::{DialView, More};
use restive_programme::{Capacity, Draft, Programme, WhatIf, not_stated_of_people};
use std::sync::Arc;
use turn::{Faults, Written};

/// The files that an answer depends on beside the ledger.
fn tried_stamp(programme: &Programme) -> String {
    let [rules, words] = [programme.rules_file(), programme.words_file()];
    stamp(&[programme.study(), programme.people(), rules, words, programme.models_folder()])
}

#[derive(Template)]
#[template(path = "capacity.html")]
struct CapacityPage<'a> {
    base: Base,
    w: &'static Words,
    dials: Vec<DialView>,
    more: More,
    /// what tells these rules from any others
    rules: &'a str,
    /// whether the list that is there was made under other rules
    is_other: bool,
    present: Option<&'a Draft>,
    tried: Option<TriedView<'a>>,
    rows: Rows,
    curve: String,
    /// the key of a notice above all
    notice: Option<&'static str>,
    has_model: bool,
    /// Why effects of calls are not stated; `None` if they are.
    not_stated: Option<String>,
}

/// What was tried.
struct TriedView<'a> {
    answer: &'a WhatIf,
    who: &'a str,
    at: &'a str,
    /// whether files have changed since
    is_old: bool,
    /// what changes: name, before, after
    changes: Vec<(String, String, String)>,
    /// what was tried, as the form that sets it has it
    written: Written,
    came: Vec<Name<'a>>,
    went: Vec<Name<'a>>,
    /// why the list cannot be made anew: a key; nothing where it can
    not_again: Option<&'static str>,
}

impl TriedView<'_> {
    /// Whether the new rule is a floor, as the form has it.
    fn kind(&self) -> &'static str {
        if self.written.is_floor { "least" } else { "most" }
    }
}

/// What is wrong with a form that comes back.
#[derive(Default)]
struct Wrong {
    /// what was written, where it was
    written: Option<Written>,
    faults: Faults,
    notice: Option<&'static str>,
}

/// How many are called, and what that brings.
pub(crate) async fn show(Viewer(session): Viewer, State(desk): State<App>, base: Base) -> Answer {
    render(&desk, base, session.role == Role::Planner, Wrong::default(), StatusCode::OK).await
}

/// What the rules say now, and by which columns people can be counted.
async fn capacity(desk: &App) -> Result<(Capacity, Arc<Vec<Column>>), Refusal> {
    let desk = desk.clone();
    let read = move || {
        let capacity = Programme::open(desk.folder()).and_then(|programme| programme.capacity())?;
        Ok((capacity, desk.groups(&desk.snapshot())))
    };
    let found = tokio::task::spawn_blocking(read).await.map_err(|_| Refusal::ours())?;
    found.map_err(|error| Refusal::programme(&error))
}

/// The list of the period that is next.
fn present(snapshot: &Snapshot) -> Option<&Draft> {
    snapshot.draft.as_deref().filter(|_| snapshot.is_planned())
}

/// Why the list that is there cannot be made anew.
fn not_again(draft: Option<&Draft>) -> Option<&'static str> {
    match draft {
        None => Some("capacity.no_list"),
        Some(draft) if draft.is_final().is_some() => Some("capacity.is_final"),
        Some(draft) if draft.rows.iter().any(|row| row.outcome.is_some()) => Some("capacity.has_outcomes"),
        Some(_) => None,
    }
}

async fn render(desk: &App, base: Base, names: bool, wrong: Wrong, status: StatusCode) -> Answer {
    let ((capacity, columns), snapshot, w) = (capacity(desk).await?, desk.snapshot(), base.w);
    let draft = present(&snapshot);
    let now = draft.and_then(|draft| draft.effects.identified()?.certificate.clone());
    let kept = desk.answers.capacity.get();
    let tried = kept.as_deref().filter(|kept| kept.of.answer.turned.numbers.len() == capacity.dials.len());
    let answer = tried.map(|kept| &kept.of.answer);
    let unit = snapshot.backdrop.unit.as_deref().unwrap_or(w.t("capacity.unit"));
    let budget = dial::budget(&capacity, &snapshot, draft);
    let written = wrong.written.unwrap_or_default();
    let dials = dial::views(&capacity, budget, answer, now.as_ref(), &snapshot, &written.numbers, w);
    // what was tried stands in the fields, unless something else was written there
    let again = answer.map(|answer| Written::again(&answer.turned, capacity.explore));
    let shown = if written == Written::default() { again.unwrap_or_default() } else { written };
    let more = dial::more(&capacity, &columns, &shown, wrong.faults, w);
    let view = tried.map(|kept| {
        let Tried { answer, who } = &kept.of;
        let name = |arms: &[String]| beside::names(&snapshot, arms, names);
        let is_old = kept.is_old(&tried_stamp(&snapshot.programme))
            || answer.rules != capacity.rules
            || answer.plan.as_deref() != draft.map(|draft| draft.record.id.as_str());
        let before = |dial: &DialView| dial.now.map_or("–".into(), |now| now.to_string());
        let turned =
            dials.iter().zip(&answer.turned.numbers).filter(|(dial, number)| dial.now != Some(**number));
        let turned = turned.map(|(dial, number)| (dial.label.clone(), before(dial), number.to_string()));
        let mut changes: Vec<(String, String, String)> = turned.collect();
        changes.extend(answer.turned.explore.map(|share| {
            let [before, after] =
                [capacity.explore, share].map(|share| format!("{} %", turn::percent(share)));
            (w.t("capacity.explore").into(), before, after)
        }));
        changes.extend(
            answer
                .turned
                .add
                .as_ref()
                .map(|add| (dial::added(add, w), w.t("capacity.no_rule").into(), add.number.to_string())),
        );
        TriedView {
            written: Written::again(&answer.turned, capacity.explore),
            changes,
            came: name(&answer.came),
            went: name(&answer.went),
            not_again: not_again(draft),
            who,
            at: &kept.at,
            is_old,
            answer,
        }
    });
    let file = std::fs::read_to_string(snapshot.programme.rules_file()).unwrap_or_default();
    let page = CapacityPage {
        rows: beside::rows(draft, now.as_ref(), answer, unit, w),
        curve: curve::figure(now.as_ref().zip(draft), answer, unit, &snapshot.status.period, w),
        is_other: draft.is_some_and(|draft| draft.record.facts.rules != file.trim_start_matches('\u{feff}')),
        not_stated: answer
            .map(|answer| &answer.effects)
            .or(draft.map(|draft| &draft.effects))
            .and_then(|effects| not_stated_of_people(effects.identification()))
            .map(|why| w.f1("capacity.not_stated", "why", why)),
        has_model: snapshot.status.model.is_some(),
        rules: &capacity.rules,
        notice: wrong.notice,
        present: draft,
        tried: view,
        dials,
        more,
        w,
        base,
    };
    page_with(status, &page)
}
