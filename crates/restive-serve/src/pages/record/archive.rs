//! A week as one file. It has names and numbers in it, so it is a planner's, and it is noted who took it.

use super::read;
use crate::desk::App;
use crate::look::answer::{Answer, file};
use crate::look::refusal::Refusal;
use crate::security::role::Planner;
use axum::extract::{Path, State};

/// The kind of a zip.
const ZIP: &str = "application/zip";

/// A zip.
pub(crate) async fn zip(
    Planner(session): Planner,
    State(desk): State<App>,
    Path(plan): Path<String>,
) -> Answer {
    super::week::known(&desk, &plan).await?;
    let made = read(&desk, move |programme| programme.archive(&plan)).await?;
    let (noted, of) = (desk.clone(), format!("{} {}", made.plan, made.head.get(..12).unwrap_or("")));
    let done = tokio::task::spawn_blocking(move || noted.note(&session, "archive", of.trim()));
    done.await.map_err(|_| Refusal::ours())?;
    file(&format!("week-{}.zip", made.plan), ZIP, made.bytes)
}
