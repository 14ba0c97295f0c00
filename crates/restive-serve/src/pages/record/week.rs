//! The week of one plan: its days, what it promised, what was changed by hand and why, what came of it.

use super::{moment, read};
use crate::desk::{App, Snapshot};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::spoken;
use crate::look::words::Words;
use crate::pages::week::{Said, encoded};
use crate::security::role::Viewer;
use askama::Template;
use axum::extract::{Path, State};
use restive_programme::{Code, WeekOnRecord};

#[derive(Template)]
#[template(path = "record_week.html")]
struct WeekPage<'a> {
    base: Base,
    w: &'static Words,
    week: &'a WeekOnRecord,
    made: String,
    /// when it became final, and by whom
    final_since: Option<(String, &'a str)>,
    changes: Vec<ChangeLine<'a>>,
    /// what was said of it, as name and text
    summary: Vec<&'a (String, String)>,
    /// the code in words, and how many
    outcomes: Vec<(String, usize)>,
    missing: usize,
}

/// What the archive has and nobody asks for here.
const HIDDEN: [&str; 3] = ["without an exact index", "model", "seed"];

/// A change by hand, and the way to whom it is about.
struct ChangeLine<'a> {
    said: Said<'a>,
    link: String,
}

/// Refuses a plan that is not on record, as a page that is not there.
pub(super) async fn known(desk: &App, plan: &str) -> Result<(), Refusal> {
    let plan = plan.to_string();
    let is_there = read(desk, move |programme| match programme.ledger().exists() {
        true => Ok(programme.audit_list()?.iter().any(|entry| entry.plan == plan)),
        false => Ok(false),
    });
    if is_there.await? { Ok(()) } else { Err(Refusal::not_found()) }
}

/// The week.
pub(crate) async fn show(
    Viewer(_): Viewer,
    State(desk): State<App>,
    base: Base,
    Path(plan): Path<String>,
) -> Answer {
    known(&desk, &plan).await?;
    let week = read(&desk, move |programme| programme.week_on_record(&plan)).await?;
    let snapshot = desk.snapshot();
    page(&view(&snapshot, &week, base))
}

/// An outcome, by its word on record.
fn outcome(word: &str, w: &Words) -> String {
    Code::from_word(word).map_or_else(|| word.replace('_', " "), |code| spoken::code(code, w))
}

fn view<'a>(snapshot: &'a Snapshot, week: &'a WeekOnRecord, base: Base) -> WeekPage<'a> {
    let w = base.w;
    let line = |change| {
        let said = Said::of(change, &snapshot.backdrop, w);
        ChangeLine { link: format!("/person/{}", encoded(said.id)), said }
    };
    let told: usize = week.outcomes.values().sum();
    WeekPage {
        base,
        w,
        made: moment(&week.entry.made_at),
        final_since: week.is_final().map(|change| (moment(&change.at), change.who.as_str())),
        changes: week.changes.iter().map(line).collect(),
        summary: week.summary.iter().filter(|(name, _)| !HIDDEN.contains(&name.as_str())).collect(),
        outcomes: week.outcomes.iter().map(|(word, n)| (outcome(word, w), *n)).collect(),
        missing: week.entry.listed.saturating_sub(told),
        week,
    }
}
