//! *A person*: her weeks, what the model says and why, what would change it, and her place on the lists over time.
//!
//! | file | what happens there |
//! |---|---|
//! | `find` | looking for somebody by her exact id |
//! | `view` | what the page says, in words |
//! | `said` | what the model says, in numbers |
//! | `strip` | her weeks as a picture |
//!
//! No page leads from one person to everybody. Whoever is or was on a list has a page; anybody else only for whoever has just looked for her by
//! id, which is counted and noted. A caller sees her own people, and a viewer sees no names and no numbers. Whom one may not see and who does
//! not exist are answered alike.

pub(crate) mod find;
mod said;
mod strip;
mod view;

use crate::desk::{App, Snapshot};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::{Anybody, Role};
use crate::security::session::Session;
use askama::Template;
use axum::extract::{Path, State};
use restive_programme::Person;
use std::time::Instant;
use view::PersonView;

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage<'a> {
    base: Base,
    w: &'static Words,
    view: PersonView<'a>,
}

/// Somebody.
pub(crate) async fn show(
    Anybody(session): Anybody,
    State(desk): State<App>,
    base: Base,
    Path(id): Path<String>,
) -> Answer {
    let snapshot = desk.snapshot();
    let found = look_up(&desk, id).await?;
    let is_open = |person: &Person| {
        person.was_listed() || desk.finds.is_open(&session.who, &person.contact.id, Instant::now())
    };
    match found.filter(|person| is_hers(&session, &snapshot, person) && is_open(person)) {
        Some(person) => {
            let view = PersonView::new(&snapshot, &person, session.role, base.w);
            page(&PersonPage { w: base.w, base, view })
        }
        None => find::nobody(base, ""),
    }
}

/// The person with an id, where anybody has it.
async fn look_up(desk: &App, id: String) -> Result<Option<Person>, Refusal> {
    let desk = desk.clone();
    let found = tokio::task::spawn_blocking(move || desk.person(&desk.snapshot(), &id));
    match found.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Refusal::programme(&error)),
        Err(_) => Err(Refusal::ours()),
    }
}

/// Whether somebody is one of those whom whoever asks may see: of a caller, her own people.
fn is_hers(session: &Session, snapshot: &Snapshot, person: &Person) -> bool {
    let (Role::Caller, Some(worker)) = (session.role, session.worker.as_deref()) else { return true };
    let column = snapshot.draft.as_deref().and_then(|draft| draft.worker.as_deref()).unwrap_or("worker");
    let place = snapshot.backdrop.contacts.kept.iter().position(|kept| kept == column);
    place.and_then(|k| person.contact.kept.get(k)).is_some_and(|name| name == worker)
}
