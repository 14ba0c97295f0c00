//! What was not done, why, and what to do: a status, and a page that says so in the reader's language.
//!
//! A handler returns it; the page is made by [`dress`], which knows the language and who looks. Whatever else is refused on the way, by axum or by
//! hyper, is dressed alike.

use super::answer::page_with;
use super::base::Base;
use super::words::Words;
use crate::desk::App;
use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use restive_ledger::Error as LedgerError;

/// What was not done.
#[derive(Debug, Clone)]
pub struct Refusal {
    status: StatusCode,
    /// the keys of its heading and of what to do
    heading: &'static str,
    advice: &'static str,
    /// facts: as programme and ledger tell them, in English
    facts: String,
}

impl Refusal {
    fn new(status: StatusCode, heading: &'static str, advice: &'static str) -> Self {
        Self { status, heading, advice, facts: String::new() }
    }

    fn with(self, facts: impl Into<String>) -> Self {
        Self { facts: facts.into(), ..self }
    }

    /// Asked by a name that is not on the list.
    pub(crate) fn host(found: &str, expected: &str) -> Self {
        let found: String = found.chars().take(100).collect();
        Self::new(StatusCode::MISDIRECTED_REQUEST, "refusal.host", "refusal.host_advice").with(format!(
            "found the host {found:?}, expected {expected}; restive serve --host NAME adds a name"
        ))
    }

    /// A write from elsewhere.
    pub(crate) fn origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "refusal.origin", "refusal.origin_advice")
    }

    /// Somebody who has not entered.
    pub(crate) fn nobody() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "refusal.nobody", "refusal.nobody_advice")
    }

    /// A token that does not open.
    pub(crate) fn token() -> Self {
        Self::new(StatusCode::FORBIDDEN, "refusal.token", "refusal.token_advice")
    }

    /// Somebody of another role.
    pub(crate) fn role() -> Self {
        Self::new(StatusCode::FORBIDDEN, "refusal.role", "refusal.role_advice")
    }

    /// Too many wrong passwords.
    pub(crate) fn wait(seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "refusal.wait", "refusal.wait_advice")
            .with(format!("{} s", seconds.max(1)))
    }

    /// Too many passwords that wait to be checked.
    pub(crate) fn passwords() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "refusal.passwords", "refusal.passwords_advice")
    }

    /// A file of users that cannot be read.
    pub(crate) fn users() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "refusal.users", "refusal.users_advice")
    }

    /// Too many people looked for.
    pub(crate) fn finds(seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "refusal.finds", "refusal.finds_advice")
            .with(format!("{} s", seconds.max(1)))
    }

    /// Nothing here.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "refusal.not_found", "refusal.not_found_advice")
    }

    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "refusal.too_large", "refusal.too_large_advice")
    }

    pub(crate) fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "refusal.too_slow", "refusal.too_slow_advice")
    }

    /// Somebody else writes.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "refusal.busy", "refusal.busy_advice")
    }

    /// A form that says what cannot be.
    pub fn form(facts: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refusal.form", "refusal.form_advice").with(facts)
    }

    /// A mistake of ours.
    pub fn ours() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "refusal.ours", "refusal.ours_advice")
    }

    /// What the programme refuses.
    pub fn programme(error: &restive_programme::Error) -> Self {
        match error {
            restive_programme::Error::Ledger(ledger) if matches!(**ledger, LedgerError::Held { .. }) => {
                Self::busy().with(error.to_string())
            }
            restive_programme::Error::Ledger(ledger) if matches!(**ledger, LedgerError::FinalList { .. }) => {
                Self::new(StatusCode::CONFLICT, "refusal.final_list", "refusal.final_list_advice")
            }
            _ => Self::form(error.to_string()),
        }
    }

    fn of(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Self { status, ..Self::not_found() },
            StatusCode::PAYLOAD_TOO_LARGE => Self::too_large(),
            StatusCode::REQUEST_TIMEOUT => Self::too_slow(),
            status if status.is_client_error() => Self { status, ..Self::form("") },
            status => Self { status, ..Self::ours() },
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    base: Base,
    w: &'static Words,
    refusal: &'a Refusal,
}

/// Makes pages of refusals.
pub(crate) async fn dress(State(desk): State<App>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.clone();
    let mut base = Base::of(&parts, &desk);
    let response = next.run(Request::from_parts(parts, body)).await;
    if !response.status().is_client_error() && !response.status().is_server_error() {
        return response;
    }
    let refusal = match response.extensions().get::<Refusal>() {
        Some(refusal) => refusal.clone(),
        None => {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
            if kind.starts_with("text/html") {
                return response;
            }
            Refusal::of(response.status())
        }
    };
    if refusal.status != StatusCode::MISDIRECTED_REQUEST {
        base.session = desk.doors.session(&headers).unwrap_or_default();
    }
    base.here = "/".into();
    let page = RefusalPage { w: base.w, base, refusal: &refusal };
    match page_with(refusal.status, &page) {
        Ok(page) => page,
        Err(_) => refusal.status.into_response(),
    }
}
