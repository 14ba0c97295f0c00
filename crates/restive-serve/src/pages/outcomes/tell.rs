//! What came of a call, told and taken back: for people whom whoever tells may see, and from what she has seen of it.

use super::round::Round;
use super::{Asked, Wrong, render};
use crate::desk::App;
use crate::look::answer::{Answer, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::typed::plain;
use crate::pages::week::encoded;
use crate::security::role::Caller;
use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use jiff::civil::Date;
use restive_programme::{Code, Entered, OneOutcome, is_day_of_call};
use serde::Deserialize;

/// The longest note.
const LONGEST: usize = 500;

/// What was told.
#[derive(Deserialize)]
pub(crate) struct Told {
    #[serde(default)]
    plan: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    worker: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    day: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    seen: String,
}

impl Told {
    /// The page of whom it was told.
    fn asked(&self, id: &str) -> Asked {
        Asked { plan: self.plan.clone(), worker: self.worker.clone(), id: id.into(), ..Asked::default() }
    }

    /// The next page; `word` says why.
    fn next(&self, word: &str) -> Answer {
        let (plan, worker, id) = (encoded(&self.plan), encoded(&self.worker), encoded(&self.id));
        see(&format!("/outcomes?plan={plan}&worker={worker}&{word}={id}"))
    }
}

/// Whether anything was written.
fn is_done(entered: &Entered) -> bool {
    *entered == Entered::Done
}

/// The list of whom it is told, where she is one of those whom whoever tells may see.
async fn hers(
    desk: &App,
    session: &crate::security::session::Session,
    told: &Told,
) -> Result<Round, Refusal> {
    let round = Round::of(desk, session, &told.plan).await?.ok_or_else(Refusal::not_found)?;
    // somebody else's people are not there, whether or not they are
    round.person(&told.id).ok_or_else(Refusal::not_found)?;
    Ok(round)
}

/// Records what came of a call.
pub(crate) async fn tell(
    Caller(session): Caller,
    State(desk): State<App>,
    base: Base,
    Form(told): Form<Told>,
) -> Answer {
    let round = hers(&desk, &session, &told).await?;
    let code = Code::from_word(&told.code)
        .ok_or_else(|| Refusal::form("found no such outcome, expected one of the buttons"))?;
    let (now, record) = (Timestamp::now(), &round.draft.record);
    let (day, day_error) = match told.day.trim() {
        "" => (None, None),
        text => match text.parse::<Date>() {
            Err(_) => (None, Some("outcomes.day_wrong")),
            Ok(day) if !is_day_of_call(record, day, now) => (None, Some("outcomes.day_impossible")),
            Ok(day) => (Some(day), None),
        },
    };
    let note_error = (told.note.chars().count() > LONGEST).then_some("outcomes.note_long");
    if day_error.is_some() || note_error.is_some() {
        let (day, note) = (told.day.clone(), told.note.chars().take(LONGEST).collect());
        let wrong = Wrong { day_error, note_error, day, note, is_stale: false };
        let asked = told.asked(&told.id);
        return render(&desk, &session, base, &asked, wrong, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    let (plan, id, note, seen) = (record.id.clone(), told.id.clone(), plain(&told.note), told.seen.clone());
    let (of, source) = (format!("{plan} {id}"), format!("desk: {}", session.who));
    let entered = desk.write(&session, "outcome", of, is_done, move |programme| {
        let one = OneOutcome { plan: &plan, id: &id, code, day, note: Some(&note) };
        programme.tell(&one, &seen, &source, now)
    });
    match entered.await? {
        Entered::Done | Entered::Same => told.next("done"),
        Entered::Stale(_) => stale(&desk, &session, base, &told).await,
    }
}

/// Takes back what was told last.
pub(crate) async fn undo(
    Caller(session): Caller,
    State(desk): State<App>,
    base: Base,
    Form(told): Form<Told>,
) -> Answer {
    let round = hers(&desk, &session, &told).await?;
    let (plan, id, seen) = (round.draft.record.id.clone(), told.id.clone(), told.seen.clone());
    let (of, who) = (format!("{plan} {id}"), session.who.to_string());
    let entered = desk.write(&session, "take back", of, is_done, move |programme| {
        programme.take_back(&plan, &id, &seen, &who, Timestamp::now())
    });
    match entered.await? {
        Entered::Done | Entered::Same => {
            let id = encoded(&told.id);
            told.next(&format!("id={id}&undone"))
        }
        Entered::Stale(_) => stale(&desk, &session, base, &told).await,
    }
}

/// Somebody else was first: what is known now, and the buttons once more.
async fn stale(desk: &App, session: &crate::security::session::Session, base: Base, told: &Told) -> Answer {
    let wrong = Wrong { is_stale: true, note: told.note.clone(), day: told.day.clone(), ..Wrong::default() };
    render(desk, session, base, &told.asked(&told.id), wrong, StatusCode::CONFLICT).await
}
