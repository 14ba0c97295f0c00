//! Numbers are written into the rules, by whoever has seen the rules as they are; and the list is made anew with them where that can be.

use super::turn::{Fields, Written};
use super::{Wrong, capacity, render};
use crate::desk::App;
use crate::error::Error;
use crate::look::answer::{Answer, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::security::role::Planner;
use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use restive_programme::{Programme, Set};

/// Whether anything was written.
fn is_done(set: &Set) -> bool {
    !matches!(set, Set::Stale)
}

/// Writes them.
pub(crate) async fn set(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(fields): Form<Fields>,
) -> Answer {
    let (now, columns) = capacity(&desk).await?;
    let rules = fields.get("rules").cloned().unwrap_or_default();
    if rules != now.rules {
        return stale(&desk, base).await;
    }
    let turned = Written::of(&fields, now.dials.len()).turned(&now, &columns).map_err(|_| {
        Refusal::form("found something that is no number, expected a whole number in each field")
    })?;
    // what a new rule costs is known before it holds; a rule that cannot be met could not be tried
    let tried = desk.answers.capacity.get();
    let is_tried =
        tried.is_some_and(|kept| (&kept.of.answer.turned, &kept.of.answer.rules) == (&turned, &rules));
    if turned.add.is_some() && !is_tried {
        let wrong = Wrong { notice: Some("capacity.not_tried"), ..Wrong::default() };
        return render(&desk, base, true, wrong, StatusCode::CONFLICT).await;
    }
    let change = now.change(&turned);
    if !fields.contains_key("again") {
        let written = desk.write(&session, "capacity", change, is_done, move |programme| {
            programme.set_capacity(&rules, &turned, false, Timestamp::now())
        });
        return match written.await? {
            Set::Stale => stale(&desk, base).await,
            Set::Done | Set::Planned(_) => see("/capacity"),
        };
    }
    let who = session.clone();
    let at = desk.start(&session, "capacity.job_set", "/week", true, move |desk, progress| {
        progress.say(0.05, "");
        let programme = Programme::open(desk.folder())?;
        // on record: from here on there is nothing to stop, and nothing is said that could
        match programme.set_capacity(&rules, &turned, true, Timestamp::now())? {
            Set::Planned(week) => {
                desk.note(&who, "capacity", &change);
                Ok(format!("{} · {}", week.record.id, week.list.rows.len()))
            }
            Set::Done => Ok(String::new()),
            Set::Stale => Err(Error::Refused(
                "rules.toml: found other rules than those that were seen, expected them as they were; nothing was written".into(),
            )),
        }
    });
    see(&at)
}

async fn stale(desk: &App, base: Base) -> Answer {
    let wrong = Wrong { notice: Some("capacity.stale"), ..Wrong::default() };
    render(desk, base, true, wrong, StatusCode::CONFLICT).await
}
