//! *A person*: her weeks, what the model says and why, what would change it, and her place on the lists over time.
//!
//! | file | what happens there |
//! |---|---|
//! | `find` | looking for somebody by her exact id |
//! | `permission` | which people a session may see |
//! | `view` | what the page says, in words |
//! | `said` | what the model says, in numbers |
//! | `strip` | her weeks as a picture |
//!
//! No page leads from one person to everybody. Whoever is or was on a list has a page; anybody else only for whoever has just looked for her by
//! id, which is counted and noted. A caller sees her own people, and a viewer sees no names and no numbers. A person whom the session may
//! not see and an id that nobody has get the same bytes after the same steps; a request for either counts as a look and is recorded.

pub(crate) mod find;
mod permission;
mod said;
mod strip;
mod view;

use crate::desk::{App, Snapshot};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::Anybody;
use askama::Template;
use axum::extract::{Path, State};
use restive_programme::Person;
use std::sync::Arc;
use view::PersonView;

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage<'a> {
    base: Base,
    w: &'static Words,
    view: PersonView<'a>,
}

/// The page of a person.
pub(crate) async fn show(
    Anybody(session): Anybody,
    State(desk): State<App>,
    base: Base,
    Path(id): Path<String>,
) -> Answer {
    let snapshot = desk.snapshot();
    if !permission::is_open(&desk, &session, &snapshot, &id) {
        find::record(&desk, &session, None).await?;
        return find::nobody(base, "");
    }
    match compute(&desk, &snapshot, id).await? {
        Some(person) => {
            let view = PersonView::new(&snapshot, &person, session.role, base.w);
            page(&PersonPage { w: base.w, base, view })
        }
        None => find::nobody(base, ""),
    }
}

/// Computes what the page of a person shows.
async fn compute(desk: &App, snapshot: &Arc<Snapshot>, id: String) -> Result<Option<Person>, Refusal> {
    let (desk, snapshot) = (desk.clone(), snapshot.clone());
    match tokio::task::spawn_blocking(move || desk.person(&snapshot, &id)).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Refusal::programme(&error)),
        Err(_) => Err(Refusal::ours()),
    }
}
