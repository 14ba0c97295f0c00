//! The pages: a file or a folder each, a line in `router` and, where people go by themselves, one in `NAVIGATION`.

pub(crate) mod capacity;
pub(crate) mod data;
pub(crate) mod door;
pub(crate) mod evidence;
pub(crate) mod fairness;
pub(crate) mod job;
pub(crate) mod language;
pub(crate) mod outcomes;
pub(crate) mod person;
pub(crate) mod record;
pub(crate) mod week;

use crate::desk::{App, Desk};
use crate::look::assets;
use crate::look::refusal::{Refusal, dress};
use crate::security::places::Place;
use crate::security::role::{Asking, Role};
use crate::security::{body, headers, hosts, limits, origin};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;

/// Where people go: path, the key of its name, and for whom it is.
pub(crate) const NAVIGATION: &[(&str, &str, &[Role])] = &[
    ("/week", "week.nav", &[Role::Planner, Role::Viewer]),
    ("/outcomes", "outcomes.nav", &[Role::Planner, Role::Caller]),
    ("/capacity", "capacity.nav", &[Role::Planner, Role::Viewer]),
    ("/evidence", "evidence.nav", &[Role::Planner, Role::Viewer]),
    ("/fairness", "fairness.nav", &[Role::Planner, Role::Viewer]),
    ("/data", "data.nav", &[Role::Planner, Role::Viewer]),
    ("/person", "person.nav", &[Role::Planner, Role::Caller, Role::Viewer]),
    ("/record", "record.nav", &[Role::Planner, Role::Viewer]),
];

/// All pages, behind all checks.
pub(crate) fn router(desk: App) -> Router {
    let pages = Router::new()
        .route("/", get(door::first))
        .route("/enter/{token}", get(door::enter))
        .route("/login", get(door::show).post(door::login))
        .route("/logout", post(door::logout))
        .route("/language", post(language::choose))
        .route("/week", get(week::show))
        .route("/week/edit", get(week::edit::ask).post(week::edit::edit))
        .route("/week/final", post(week::edit::finalise))
        .route("/week/plan", post(week::plan::start))
        .route("/week/list.xlsx", get(week::file::xlsx))
        .route("/week/print", get(week::file::print))
        .route("/evidence", get(evidence::show))
        .route("/evidence/judge", post(evidence::judge))
        .route("/evidence/train", post(evidence::train))
        .route("/fairness", get(fairness::show).post(fairness::look))
        .route("/data", get(data::show))
        .route("/data/doctor", post(data::doctor))
        .route("/data/import", post(data::again))
        .route("/outcomes", get(outcomes::show).post(outcomes::tell::tell))
        .route("/outcomes/undo", post(outcomes::tell::undo))
        .route("/capacity", get(capacity::show))
        .route("/capacity/try", post(capacity::ask::start))
        .route("/capacity/set", post(capacity::set::set))
        .route("/person", get(person::find::ask).post(person::find::find))
        .route("/person/{id}", get(person::show))
        .route("/record", get(record::show))
        .route("/record/verify", post(record::verify::start))
        .route("/record/{plan}", get(record::week::show))
        .route("/record/{plan}/archive.zip", get(record::archive::zip))
        .route("/job/{id}", get(job::show))
        .route("/job/{id}/stop", post(job::stop))
        .route(assets::style_path(), get(assets::show))
        .route(assets::script_path(), get(assets::show_script))
        .fallback(|| async { Refusal::not_found() });
    // the last is the first that a request meets
    pages
        .layer(from_fn(body::read))
        .layer(from_fn_with_state(desk.clone(), recognise))
        .layer(from_fn(origin::check))
        .layer(from_fn_with_state(desk.clone(), hosts::check))
        .layer(from_fn(limits::check))
        .layer(from_fn_with_state(desk.clone(), dress))
        .layer(from_fn(headers::add))
        .with_state(desk)
}

/// Looks whose cookie a request has.
async fn recognise(State(desk): State<Arc<Desk>>, mut request: Request, next: Next) -> Response {
    let session = match desk.doors.session(request.headers()) {
        Ok(session) => session,
        // the style of the page that says so
        Err(_) if request.uri().path().starts_with("/assets/") => None,
        Err(refusal) => return refusal.into_response(),
    };
    if let Some(place) = request.extensions().get::<Arc<Place>>() {
        place.set_session(session.is_some());
    }
    request.extensions_mut().insert(Asking(session));
    next.run(request).await
}
