//! Looking for somebody by her exact id: counted, noted, and open to whoever found her for a while.

use super::permission;
use crate::desk::App;
use crate::look::answer::{Answer, page, page_with, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::pages::week::encoded;
use crate::security::finds::MOST;
use crate::security::role::Anybody;
use crate::security::session::Session;
use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use std::time::Instant;

/// The longest id.
const LONGEST: usize = 200;

#[derive(Template)]
#[template(path = "find.html")]
struct FindPage<'a> {
    base: Base,
    w: &'static Words,
    /// what was written
    written: &'a str,
    /// what is wrong with it; empty where nothing is
    wrong: &'a str,
    most: usize,
}

#[derive(Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    id: String,
}

/// The field.
pub(crate) async fn ask(Anybody(_): Anybody, base: Base) -> Answer {
    page(&FindPage { w: base.w, base, written: "", wrong: "", most: MOST })
}

/// The field again, for whom there is no page.
pub(super) fn nobody(base: Base, written: &str) -> Answer {
    let w = base.w;
    // the page of every id is the same
    let base = Base { here: "/person".into(), ..base };
    page_with(StatusCode::NOT_FOUND, &FindPage { w, base, written, wrong: w.t("person.nobody"), most: MOST })
}

/// Looks.
pub(crate) async fn find(
    Anybody(session): Anybody,
    State(desk): State<App>,
    base: Base,
    Form(asked): Form<Asked>,
) -> Answer {
    let id = asked.id.trim().to_string();
    if id.is_empty() || id.chars().count() > LONGEST {
        let (w, wrong) = (base.w, base.w.t("person.id_missing"));
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return page_with(status, &FindPage { w, base, written: "", wrong, most: MOST });
    }
    let snapshot = desk.snapshot();
    let found = permission::visible(&session, &snapshot, &id).map(|person| person.id.as_str());
    record(&desk, &session, found).await?;
    match found {
        Some(id) => {
            desk.finds.open(&session.who, id, Instant::now());
            see(&format!("/person/{}", encoded(id)))
        }
        None => nobody(base, &id),
    }
}

/// Counts and records a search. The record contains the id of a person who was found, never the text of the form: it may be a name.
pub(super) async fn record(desk: &App, session: &Session, found: Option<&str>) -> Result<(), Refusal> {
    desk.finds.look(&session.who, Instant::now()).map_err(|wait| Refusal::finds(wait.as_secs()))?;
    let (desk, session, of) = (desk.clone(), session.clone(), found.unwrap_or("nobody").to_string());
    let noted = tokio::task::spawn_blocking(move || desk.note(&session, "look for", &of));
    noted.await.map_err(|_| Refusal::ours())
}
