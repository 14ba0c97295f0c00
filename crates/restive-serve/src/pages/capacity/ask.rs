//! Other numbers are tried: a job that records nothing and whose answer is kept.

use super::dial::field;
use super::{PARTS, Wrong, capacity, present, render};
use crate::desk::{App, stamp};
use crate::look::answer::{Answer, see};
use crate::look::base::Base;
use crate::security::role::Planner;
use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use restive_programme::Programme;
use std::collections::HashMap;

/// What a form has: `rules`, and a field for each number.
pub(crate) type Fields = HashMap<String, String>;

/// The numbers of a form, one for each of so many dials; what was written where one is none.
pub(super) fn numbers(fields: &Fields, dials: usize) -> Result<Vec<usize>, Vec<String>> {
    let text = |k| fields.get(&field(k)).map_or(String::new(), |text| text.chars().take(20).collect());
    let written: Vec<String> = (0..dials).map(text).collect();
    let number = |text: &String| text.trim().parse::<u32>().ok().map(|number| number as usize);
    written.iter().map(number).collect::<Option<Vec<usize>>>().ok_or(written)
}

/// Begins to try.
pub(crate) async fn start(
    Planner(session): Planner,
    State(desk): State<App>,
    base: Base,
    Form(fields): Form<Fields>,
) -> Answer {
    let now = capacity(&desk).await?;
    if fields.get("rules") != Some(&now.rules) {
        let wrong = Wrong { notice: Some("capacity.stale"), ..Wrong::default() };
        return render(&desk, base, true, wrong, StatusCode::CONFLICT).await;
    }
    let numbers = match numbers(&fields, now.dials.len()) {
        Ok(numbers) => numbers,
        Err(fields) => {
            let wrong = Wrong { fields, notice: Some("capacity.no_number") };
            return render(&desk, base, true, wrong, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    let who = session.who.clone();
    let id = desk.start(&session, "capacity.job", "/capacity", false, move |desk, progress| {
        progress.say(0.05, "");
        let (snapshot, files) = (desk.snapshot(), stamp(desk.folder(), &PARTS));
        let arms: Vec<String> = present(&snapshot)
            .map_or(Vec::new(), |draft| draft.rows.iter().map(|row| row.arm.to_string()).collect());
        let list = present(&snapshot).map(|draft| (&draft.record, arms.as_slice()));
        let unit = snapshot.backdrop.unit.as_deref().unwrap_or("reward");
        progress.say(0.15, "");
        let programme = Programme::open(desk.folder())?;
        let answer = programme.what_if(&numbers, list, unit, Timestamp::now())?;
        progress.say(0.95, "");
        desk.answers.capacity.put(files, (answer, who));
        Ok(String::new())
    });
    see(&format!("/job/{id}"))
}
