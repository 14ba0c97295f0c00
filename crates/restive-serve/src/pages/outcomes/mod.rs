//! *Outcomes*: a caller's view, for a phone and for a desk. One person at a time, big buttons, what is left to do.
//!
//! | file | what happens there |
//! |---|---|
//! | `round` | whose calls whoever looks may see |
//! | `person` | one person as a caller has her |
//! | `tell` | what came of a call is told, and taken back |
//!
//! A number to call stands beside one name at a time: no page lists everybody's.

mod person;
mod round;
pub(crate) mod tell;

use super::week::encoded;
use crate::desk::App;
use crate::look::answer::{Answer, page_with};
use crate::look::base::Base;
use crate::look::words::Words;
use crate::security::role::Caller;
use crate::security::session::Session;
use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use person::{Button, Person};
use restive_programme::{Code, DraftRow};
use round::{Round, is_left};
use serde::Deserialize;
use std::collections::BTreeMap;

/// People in the table of those who are shown.
const MOST: usize = 300;

/// What is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    plan: String,
    #[serde(default)]
    worker: String,
    /// this person
    #[serde(default)]
    id: String,
    /// the one who comes after this person
    #[serde(default)]
    after: String,
    /// of this person something was told just now
    #[serde(default)]
    done: String,
    /// of this person something was taken back just now
    #[serde(default)]
    undone: String,
}

/// What was wrong with what was told, and what was written beside it.
#[derive(Default)]
struct Wrong {
    /// the keys of what is wrong with day and note
    day_error: Option<&'static str>,
    note_error: Option<&'static str>,
    day: String,
    note: String,
    is_stale: bool,
}

#[derive(Template)]
#[template(path = "outcomes.html")]
struct OutcomesPage<'a> {
    base: Base,
    w: &'static Words,
    list: Option<View<'a>>,
}

struct View<'a> {
    round: &'a Round,
    /// whether the worker that was asked for is a filter of the planner's
    worker: String,
    person: Option<Person<'a>>,
    buttons: Vec<Button>,
    /// everybody who is shown: place, id, name, outcome; whether it is who is shown
    people: Vec<(usize, &'a str, &'a str, String, bool)>,
    all: usize,
    left: usize,
    /// people who asked for another time, or did not answer
    again: usize,
    late: Vec<(String, String, usize)>,
    /// worker, people, of them told
    workers: Vec<(&'a str, usize, usize)>,
    done: Option<Person<'a>>,
    undone: Option<Person<'a>>,
    day: String,
    first_day: &'a str,
    today: String,
    wrong: Wrong,
    /// plan and worker, as an address has them
    question: String,
}

impl View<'_> {
    fn error(&self, key: &Option<&'static str>, w: &'static Words) -> &'static str {
        key.map_or("", |key| w.t(key))
    }

    /// As an address has it.
    fn encoded(&self, text: &str) -> String {
        encoded(text)
    }
}

/// The next person, or one who is asked for.
pub(crate) async fn show(
    Caller(session): Caller,
    State(desk): State<App>,
    base: Base,
    Query(asked): Query<Asked>,
) -> Answer {
    render(&desk, &session, base, &asked, Wrong::default(), StatusCode::OK).await
}

async fn render(
    desk: &App,
    session: &Session,
    base: Base,
    asked: &Asked,
    wrong: Wrong,
    status: StatusCode,
) -> Answer {
    let Some(round) = Round::of(desk, session, &asked.plan).await? else {
        return page_with(status, &OutcomesPage { w: base.w, base, list: None });
    };
    let late = round.late();
    let list = view(&round, asked, late, wrong, base.w)?;
    page_with(status, &OutcomesPage { w: base.w, base, list: Some(list) })
}

/// Who comes next: the first of whom nothing is known, after the one who was just shown, and then from the top.
fn next<'a>(people: &[&'a DraftRow], after: &str) -> Option<&'a DraftRow> {
    let from = people.iter().position(|row| row.contact.id == after).map_or(0, |k| k + 1);
    let (before, behind) = people.split_at(from);
    behind
        .iter()
        .chain(before)
        .find(|row| is_left(row) && row.contact.id != after)
        .copied()
        .or_else(|| people.iter().find(|row| is_left(row)).copied())
}

fn view<'a>(
    round: &'a Round,
    asked: &Asked,
    late: Vec<(String, String, usize)>,
    wrong: Wrong,
    w: &'static Words,
) -> Result<View<'a>, crate::look::refusal::Refusal> {
    let columns = round.columns();
    let people = round.people(&asked.worker);
    let chosen = match asked.id.as_str() {
        "" => next(&people, if asked.after.is_empty() { &asked.done } else { &asked.after }),
        id => Some(round.person(id).ok_or_else(crate::look::refusal::Refusal::not_found)?),
    };
    let place = |row: &DraftRow| people.iter().position(|one| one.arm == row.arm).map_or(0, |k| k + 1);
    let one = |row: &'a DraftRow| round.view(row, place(row), w);
    let told = |row: &DraftRow| match &row.outcome {
        Some(outcome) => round.word(outcome.code, w),
        None => String::new(),
    };
    let mut workers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in round.people("") {
        let count = workers.entry(columns.cell("worker", row)).or_default();
        *count = (count.0 + 1, count.1 + usize::from(!is_left(row)));
    }
    let tries = |row: &&&DraftRow| {
        row.outcome.as_ref().is_some_and(|one| matches!(one.code, Code::Later | Code::NoAnswer))
    };
    let facts = &round.draft.record.facts;
    let today = round.snapshot.today.to_string();
    // of an earlier list nobody knows the day unless somebody says it
    let is_now = round.is_latest && today.as_str() >= facts.period_start.as_str();
    let day = if wrong.day.is_empty() && is_now && wrong.day_error.is_none() {
        today.clone()
    } else {
        wrong.day.clone()
    };
    let rows = people.iter().enumerate().take(MOST).map(|(k, row)| {
        let is_it = chosen.is_some_and(|one| one.arm == row.arm);
        (k + 1, row.contact.id.as_str(), columns.cell("name", row), told(row), is_it)
    });
    let plan = if round.is_latest { "" } else { round.draft.record.id.as_str() };
    Ok(View {
        person: chosen.map(one),
        buttons: round.buttons(w),
        people: rows.collect(),
        all: people.len(),
        left: people.iter().filter(|row| is_left(row)).count(),
        again: people.iter().filter(tries).count(),
        late,
        workers: workers.into_iter().map(|(name, (all, told))| (name, all, told)).collect(),
        done: round.person(&asked.done).filter(|row| !is_left(row)).map(one),
        undone: round.person(&asked.undone).map(one),
        day,
        first_day: &facts.period_start,
        today,
        wrong,
        question: format!("plan={}&worker={}", encoded(plan), encoded(&asked.worker)),
        worker: asked.worker.clone(),
        round,
    })
}
