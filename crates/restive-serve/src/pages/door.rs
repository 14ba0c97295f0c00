//! The door: a token that is exchanged once, or a name and a password; and the way out.

use crate::desk::App;
use crate::look::answer::{Answer, page_with, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::random::Digested;
use crate::security::role::{Anybody, Role};
use crate::security::session::Session;
use askama::Template;
use axum::Form;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;
use std::net::SocketAddr;
use std::time::Instant;

#[derive(Template)]
#[template(path = "door.html")]
struct DoorPage {
    base: Base,
    w: &'static Words,
    name: String,
    is_wrong: bool,
}

/// Where everybody begins.
pub(crate) async fn first(State(desk): State<App>, base: Base) -> Answer {
    match base.session.map(|session| session.role) {
        Some(Role::Caller) => see(super::NAVIGATION
            .iter()
            .find(|(_, _, roles)| roles.contains(&Role::Caller))
            .map_or("/login", |(path, _, _)| path)),
        Some(_) => see("/week"),
        None if desk.doors.users.is_some() => see("/login"),
        None => Err(Refusal::nobody()),
    }
}

/// Exchanges a token for a cookie, and leaves no secret in the address.
pub(crate) async fn enter(State(desk): State<App>, Path(token): Path<String>) -> Answer {
    if desk.doors.users.is_some() || !desk.doors.tokens.take(&token, Instant::now()) {
        return Err(Refusal::token());
    }
    let session = Session { who: desk.doors.planner.clone(), role: Role::Planner, worker: None };
    begin(&desk, session, None).await
}

/// Begins a session of a user with an entry in the file of users.
async fn begin(desk: &App, session: Session, entry: Option<Digested>) -> Answer {
    let key = desk.doors.sessions.begin(session.clone(), entry, Instant::now()).ok_or_else(Refusal::ours)?;
    let writing = desk.clone();
    let _ = tokio::task::spawn_blocking(move || writing.note(&session, "enter", "")).await;
    with_cookie(see("/")?, &desk.doors.cookie.set(&key))
}

fn with_cookie(mut response: axum::response::Response, cookie: &str) -> Answer {
    let cookie = HeaderValue::from_str(cookie).map_err(|_| Refusal::ours())?;
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

/// Asks for name and password.
pub(crate) async fn show(State(desk): State<App>, base: Base) -> Answer {
    if desk.doors.users.is_none() {
        return Err(Refusal::nobody());
    }
    page_with(StatusCode::OK, &DoorPage { w: base.w, base, name: String::new(), is_wrong: false })
}

#[derive(Deserialize)]
pub(crate) struct Login {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
}

/// Looks at name and password.
pub(crate) async fn login(
    State(desk): State<App>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    base: Base,
    Form(said): Form<Login>,
) -> Answer {
    let doors = &desk.doors;
    let file = doors.users.as_ref().ok_or_else(Refusal::nobody)?;
    let place = doors.passwords.place().await.ok_or_else(Refusal::passwords)?;
    // after the wait for a place: many tries at once are one after the other
    if let Some(wait) = doors.throttle.wait(&said.name, from.ip(), Instant::now()) {
        return Err(Refusal::wait(wait.as_secs() + 1));
    }
    let users = file.users().ok_or_else(Refusal::users)?;
    let (checking, name, password) = (desk.clone(), said.name.clone(), said.password);
    // a client that goes away ends neither the check nor its place, and has made a try
    let found = tokio::task::spawn_blocking(move || {
        let found = users.find(&name, &password).cloned();
        match found {
            Some(_) => checking.doors.throttle.succeeded(&name, from.ip()),
            None => checking.doors.throttle.failed(&name, from.ip(), Instant::now()),
        }
        drop(place);
        found
    });
    match found.await.map_err(|_| Refusal::ours())? {
        Some(user) => {
            let worker = user.worker.as_deref().map(Into::into);
            let session = Session { who: user.name.as_str().into(), role: user.role, worker };
            begin(&desk, session, Some(user.entry())).await
        }
        None => {
            let name = said.name.chars().take(60).collect();
            page_with(StatusCode::UNAUTHORIZED, &DoorPage { w: base.w, base, name, is_wrong: true })
        }
    }
}

/// The way out.
pub(crate) async fn logout(Anybody(_): Anybody, State(desk): State<App>, headers: HeaderMap) -> Answer {
    if let Some(key) = desk.doors.cookie.read(&headers) {
        desk.doors.sessions.end(key);
    }
    with_cookie(see("/")?, &desk.doors.cookie.forget())
}
