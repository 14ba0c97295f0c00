//! Looking for somebody by her exact id: counted, noted, and open to whoever found her for a while.

use super::{is_hers, look_up};
use crate::desk::App;
use crate::look::answer::{Answer, page, page_with, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::pages::week::encoded;
use crate::security::finds::MOST;
use crate::security::role::Anybody;
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
    let now = Instant::now();
    desk.finds.look(&session.who, now).map_err(|wait| Refusal::finds(wait.as_secs()))?;
    let found = look_up(&desk, id.clone()).await?;
    let found = found.filter(|person| is_hers(&session, &desk.snapshot(), person));
    // what was written may be anything, a name too: only an id that is one is noted
    let (noted, who) = (desk.clone(), session.clone());
    let of = found.as_ref().map_or(String::from("nobody"), |person| person.contact.id.clone());
    let done = tokio::task::spawn_blocking(move || noted.note(&who, "look for", &of));
    done.await.map_err(|_| Refusal::ours())?;
    match found {
        Some(person) => {
            desk.finds.open(&session.who, &person.contact.id, now);
            see(&format!("/person/{}", encoded(&person.contact.id)))
        }
        None => nobody(base, &id),
    }
}
