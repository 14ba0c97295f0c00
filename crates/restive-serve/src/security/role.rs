//! Roles, and how a handler says whom it is for: in its signature.
//!
//! | role | may |
//! |---|---|
//! | planner | everything |
//! | caller | say what came of calls, to the people of a worker or, if the user has `all`, to everybody |
//! | viewer | look, without names and numbers |
//!
//! ```text
//! async fn finalise(Planner(session): Planner, …) -> Answer
//! ```
//!
//! Whoever is nobody is sent to the door, whoever is somebody else is told so.

use super::session::Session;
use crate::desk::App;
use crate::look::refusal::Refusal;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};

/// What somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// decides
    Planner,
    /// calls
    Caller,
    /// looks
    Viewer,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 3] = [Role::Planner, Role::Caller, Role::Viewer];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Role::Planner => "planner",
            Role::Caller => "caller",
            Role::Viewer => "viewer",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Role::ALL.into_iter().find(|role| role.word() == text);
        found.ok_or_else(|| format!("found {text:?}, expected planner, caller or viewer"))
    }
}

/// Who asks, as the door has seen them; set for every request.
#[derive(Clone)]
pub(crate) struct Asking(pub(crate) Option<Session>);

macro_rules! extractors {
    ($($(#[$words:meta])* $name:ident: $($role:ident)|+;)+) => {$(
        $(#[$words])*
        pub struct $name(pub Session);

        impl FromRequestParts<App> for $name {
            type Rejection = Refusal;

            async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
                match parts.extensions.get::<Asking>() {
                    Some(Asking(Some(session))) if matches!(session.role, $(Role::$role)|+) => Ok(Self(session.clone())),
                    Some(Asking(Some(_))) => Err(Refusal::role()),
                    _ => Err(Refusal::nobody()),
                }
            }
        }
    )+};
}

extractors! {
    /// A planner.
    Planner: Planner;
    /// Whoever says what came of calls: a caller or a planner.
    Caller: Planner | Caller;
    /// Whoever looks at everything: a viewer or a planner.
    Viewer: Planner | Viewer;
    /// Anybody who has entered.
    Anybody: Planner | Caller | Viewer;
}
