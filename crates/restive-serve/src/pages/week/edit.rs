//! Changes to a list: each from the version that the editor has seen, and with a reason.
//!
//! A form of a version that is gone is answered with 409 and a page that shows what came between; nothing is done until she has seen it.

use super::row::Said;
use crate::desk::App;
use crate::look::answer::{Answer, page_with, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::typed::plain;
use crate::look::words::Words;
use crate::security::role::Planner;
use askama::Template;
use axum::Form;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use jiff::Timestamp;
use restive_programme::{Edit, Edited, ListChange};
use serde::Deserialize;

/// The longest reason.
const LONGEST: usize = 500;

#[derive(Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    id: String,
    #[serde(default, rename = "do")]
    edit: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    plan: String,
    #[serde(default)]
    version: String,
}

#[derive(Template)]
#[template(path = "edit.html")]
struct EditPage<'a> {
    base: Base,
    w: &'static Words,
    /// the keys of what is to be done
    title: &'static str,
    does: &'static str,
    asked: &'a Asked,
    name: &'a str,
    plan: &'a str,
    version: usize,
    /// the key of what is wrong with the reason
    wrong: Option<&'static str>,
    wrong_id: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "stale.html")]
struct StalePage<'a> {
    base: Base,
    w: &'static Words,
    changes: Vec<Said<'a>>,
}

fn parse(edit: &str) -> Option<(Edit, &'static str, &'static str, &'static str)> {
    match edit {
        "up" => Some((Edit::MoveUp, "move up", "week.up_title", "week.up_does")),
        "out" => Some((Edit::LeaveOut, "leave out", "week.out_title", "week.out_does")),
        "add" => Some((Edit::Add, "add", "week.add_title", "week.add_does")),
        _ => None,
    }
}

/// Asks for a reason.
pub(crate) async fn ask(
    Planner(_): Planner,
    State(desk): State<App>,
    base: Base,
    Query(asked): Query<Asked>,
) -> Answer {
    form(&desk, base, &asked, None, None)
}

fn form(
    desk: &App,
    base: Base,
    asked: &Asked,
    wrong: Option<&'static str>,
    wrong_id: Option<&'static str>,
) -> Answer {
    let snapshot = desk.snapshot();
    let (Some((.., title, does)), Some(draft)) = (parse(&asked.edit), snapshot.draft.as_deref()) else {
        return Err(Refusal::not_found());
    };
    let row = draft.rows.iter().find(|row| row.contact.id == asked.id);
    let columns = super::Columns::of(&snapshot.backdrop, draft, true);
    let name = row.map_or("", |row| columns.cell("name", row));
    // a form that comes back keeps the version that its editor has seen
    let version = asked.version.parse().unwrap_or(draft.version());
    let plan = if asked.plan.is_empty() { &draft.record.id } else { &asked.plan };
    let status = if wrong.or(wrong_id).is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    page_with(status, &EditPage { w: base.w, base, title, does, asked, name, plan, version, wrong, wrong_id })
}

/// Makes a change.
pub(crate) async fn edit(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(asked): Form<Asked>,
) -> Answer {
    let Some((edit, word, ..)) = parse(&asked.edit) else { return Err(Refusal::not_found()) };
    let version: usize = asked.version.parse().map_err(|_| Refusal::form("found no version of the list"))?;
    let (why, id) = (plain(asked.why.trim()), asked.id.trim().to_string());
    let wrong = match why.chars().count() {
        0 => Some("week.why_missing"),
        n if n > LONGEST => Some("week.why_long"),
        _ => None,
    };
    let is_known = desk.snapshot().backdrop.contacts.arm(&id).is_some();
    if wrong.is_some() || !is_known {
        return form(&desk, base, &asked, wrong, (!is_known).then_some("week.id_unknown"));
    }
    let (plan, who) = (asked.plan.clone(), session.who.clone());
    let of = format!("{plan} {id}");
    let edited = desk.write(&session, word, of, is_done, move |programme| {
        programme.edit(&plan, version, edit, &id, &who, &why, Timestamp::now())
    });
    answer(&desk, base, edited.await?)
}

#[derive(Deserialize)]
pub(crate) struct Final {
    #[serde(default)]
    plan: String,
    #[serde(default)]
    version: String,
}

/// Says that the list is final.
pub(crate) async fn finalise(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(asked): Form<Final>,
) -> Answer {
    let version: usize = asked.version.parse().map_err(|_| Refusal::form("found no version of the list"))?;
    let (plan, who) = (asked.plan.clone(), session.who.clone());
    let edited = desk.write(&session, "finalise", asked.plan, is_done, move |programme| {
        programme.finalise(&plan, version, &who, Timestamp::now())
    });
    answer(&desk, base, edited.await?)
}

/// Whether anything was written.
fn is_done(edited: &Edited) -> bool {
    matches!(edited, Edited::Done(_))
}

fn answer(desk: &App, base: Base, edited: Edited) -> Answer {
    match edited {
        Edited::Done(_) => see("/week"),
        Edited::Stale(changes) => stale(desk, base, &changes),
    }
}

/// What came between.
fn stale(desk: &App, base: Base, changes: &[ListChange]) -> Answer {
    let snapshot = desk.snapshot();
    let changes = changes.iter().map(|change| Said::of(change, &snapshot.backdrop, base.w)).collect();
    page_with(StatusCode::CONFLICT, &StalePage { w: base.w, base, changes })
}

impl EditPage<'_> {
    /// What is wrong, in words; empty where nothing is.
    fn error(&self, key: &Option<&'static str>) -> &str {
        key.map_or("", |key| self.w.t(key))
    }
}
