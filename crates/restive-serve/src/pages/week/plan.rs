//! The list of the next period, made by a job.

use crate::desk::App;
use crate::look::answer::{Answer, see};
use crate::security::role::Planner;
use axum::extract::State;
use jiff::Timestamp;
use restive_programme::{Programme, WeekAsked};

/// Begins to make it.
pub(crate) async fn start(Planner(session): Planner, State(desk): State<App>) -> Answer {
    let at = desk.start(&session, "job.plan", "/week", true, |desk, progress| {
        progress.say(0.05, "");
        let programme = Programme::open(desk.folder())?;
        programme.init()?;
        let week = programme.plan(&WeekAsked::default(), Timestamp::now())?;
        // on record: from here on there is nothing to stop, and nothing is said that could
        Ok(format!("{} · {}", week.record.id, week.list.rows.len()))
    });
    see(&at)
}
