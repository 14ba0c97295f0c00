//! The frame around every page: who looks, in which language, where to go.

use super::words::{COOKIE, LANGUAGES, Words};
use crate::desk::App;
use crate::pages::NAVIGATION;
use crate::security::role::{Asking, Role};
use crate::security::session::{Session, read};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

/// What every template has as `base`. A handler takes it as an argument.
#[derive(Clone)]
pub struct Base {
    /// the words
    pub w: &'static Words,
    /// who looks; nobody at the door
    pub session: Option<Session>,
    /// where the page is
    pub path: String,
    /// path and question: where a change of language comes back to
    pub here: String,
    /// the number of the job that runs
    pub job: Option<u64>,
    /// what could not be read of the programme
    pub trouble: Option<String>,
    /// what else should be known of the files of the desk, for planners
    pub warnings: Vec<String>,
    /// whether there is a door to go out by
    pub has_users: bool,
}

/// A line of the navigation.
pub struct Nav {
    /// where it leads
    pub path: &'static str,
    /// what it is called
    pub name: &'static str,
    /// whether it is where one is
    pub is_here: bool,
}

impl Base {
    /// Where whoever looks may go.
    pub fn navigation(&self) -> Vec<Nav> {
        let Some(session) = &self.session else { return Vec::new() };
        let may = NAVIGATION.iter().filter(|(_, _, roles)| roles.contains(&session.role));
        may.map(|(path, key, _)| Nav { path, name: self.w.t(key), is_here: self.path.starts_with(path) })
            .collect()
    }

    /// The languages: code, name, whether it is this one.
    pub fn languages(&self) -> Vec<(&'static str, &'static str, bool)> {
        LANGUAGES.iter().map(|(code, name)| (*code, *name, *code == self.w.code)).collect()
    }

    /// Where the stylesheet is.
    pub fn style(&self) -> &'static str {
        super::assets::style_path()
    }

    /// Where the script is.
    pub fn script(&self) -> &'static str {
        super::assets::script_path()
    }

    /// What whoever looks is here.
    pub(crate) fn role(&self) -> &'static str {
        match self.session.as_ref().map(|session| session.role) {
            Some(Role::Planner) => self.w.t("record.planner"),
            Some(Role::Caller) => self.w.t("record.caller"),
            Some(Role::Viewer) => self.w.t("record.viewer"),
            None => "",
        }
    }

    /// Whether whoever looks is a planner.
    pub fn is_planner(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.role == Role::Planner)
    }

    /// Of a request.
    pub(crate) fn of(parts: &Parts, desk: &App) -> Self {
        let session = parts.extensions.get::<Asking>().and_then(|asking| asking.0.clone());
        let w = Words::of(read(&parts.headers, COOKIE).unwrap_or("en"));
        let is_planner = session.as_ref().is_some_and(|session| session.role == Role::Planner);
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_string();
        Self {
            warnings: if is_planner { warnings(desk, w) } else { Vec::new() },
            w,
            path: parts.uri.path().to_string(),
            here: if parts.method == axum::http::Method::GET { here } else { "/".into() },
            // nobody but planners may look at jobs
            job: desk.running_job().filter(|_| is_planner).map(|job| job.id),
            trouble: session.as_ref().and_then(|_| desk.snapshot().trouble.clone()),
            has_users: desk.doors.users.is_some(),
            session,
        }
    }
}

/// What planners should know of the files of the desk.
fn warnings(desk: &App, w: &Words) -> Vec<String> {
    let unrecorded = desk.unrecorded().map(|(n, why)| w.f2("desk.unrecorded", "n", n, "why", why));
    let troubles = desk.answers.troubles().into_iter().map(|why| w.f1("desk.answer", "why", why));
    unrecorded.into_iter().chain(troubles).collect()
}

impl FromRequestParts<App> for Base {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, desk: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts, desk))
    }
}
