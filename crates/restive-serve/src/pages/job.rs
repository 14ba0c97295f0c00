//! A job: how far it is, how to stop it, what came of it. The page asks again by itself while the job runs.

use crate::desk::{App, Job, Standing};
use crate::look::answer::{Answer, page, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::Planner;
use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    base: Base,
    w: &'static Words,
    job: Job,
    /// the key of how it stands, and facts
    standing: &'static str,
    facts: String,
    /// whether something else was asked for, which was not begun
    is_other: bool,
}

/// What is asked for.
#[derive(Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    instead: String,
}

/// How far it is.
pub(crate) async fn show(
    Planner(_): Planner,
    State(desk): State<App>,
    base: Base,
    Path(id): Path<u64>,
    Query(asked): Query<Asked>,
) -> Answer {
    let job = desk.job(id).ok_or_else(Refusal::not_found)?;
    let (standing, facts) = match &job.standing {
        Standing::Running => ("job.running", job.sentence.clone()),
        Standing::Stopping => ("job.stopping", job.sentence.clone()),
        Standing::Done(said) => ("job.done", said.clone()),
        Standing::Failed(why) => ("job.failed", why.clone()),
        Standing::Stopped => ("job.stopped", String::new()),
    };
    let is_other = !asked.instead.is_empty();
    page(&JobPage { w: base.w, base, job, standing, facts, is_other })
}

/// Tells it to stop.
pub(crate) async fn stop(Planner(_): Planner, State(desk): State<App>, Path(id): Path<u64>) -> Answer {
    desk.stop(id);
    see(&format!("/job/{id}"))
}
