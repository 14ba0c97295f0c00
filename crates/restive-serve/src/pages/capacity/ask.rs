//! Other numbers are tried: a job that records nothing and whose answer is kept.

use super::turn::{Fields, Written};
use super::{Wrong, capacity, present, render, tried_stamp};
use crate::desk::{App, Tried};
use crate::look::answer::{Answer, see};
use crate::look::base::Base;
use crate::security::role::Planner;
use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use restive_programme::Programme;

/// Begins to try.
pub(crate) async fn start(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(fields): Form<Fields>,
) -> Answer {
    let (now, columns) = capacity(&desk).await?;
    if fields.get("rules") != Some(&now.rules) {
        let wrong = Wrong { notice: Some("capacity.stale"), ..Wrong::default() };
        return render(&desk, base, true, wrong, StatusCode::CONFLICT).await;
    }
    let written = Written::of(&fields, now.dials.len());
    let turned = match written.turned(&now, &columns) {
        Ok(turned) => turned,
        Err(faults) => {
            let wrong = Wrong { written: Some(written), faults, notice: Some("capacity.no_number") };
            return render(&desk, base, true, wrong, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    let who = session.who.to_string();
    let at = desk.start(&session, "capacity.job", "/capacity", false, move |desk, progress| {
        progress.say(0.05, "");
        let snapshot = desk.snapshot();
        let files = tried_stamp(&snapshot.programme);
        let arms: Vec<String> = present(&snapshot)
            .map_or(Vec::new(), |draft| draft.rows.iter().map(|row| row.arm.to_string()).collect());
        let list = present(&snapshot).map(|draft| (&draft.record, arms.as_slice()));
        let unit = snapshot.backdrop.unit.as_deref().unwrap_or("reward");
        progress.say(0.15, "");
        let programme = Programme::open(desk.folder())?;
        let answer = programme.what_if(&turned, list, unit, Timestamp::now())?;
        progress.say(0.95, "");
        desk.answers.capacity.put(files, Tried { who, answer });
        Ok(String::new())
    });
    see(&at)
}
