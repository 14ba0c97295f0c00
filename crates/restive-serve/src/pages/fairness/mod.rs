//! *Fairness*: whom the lists served, group by group and against chance, and what a floor for a group would cost.
//!
//! Numbers, words and what is withheld are those of `restive fairness`. An answer looks at everybody, so that a job finds it; one is kept, because
//! answers by other cuts could be subtracted from each other. Groups have no names of people in them, and a column that tells people apart is refused.

mod asked;

use crate::desk::{App, Fair, FloorAsked, Snapshot, stamp};
use crate::look::answer::{Answer, page, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::told;
use crate::look::words::Words;
use crate::security::role::{Planner, Viewer};
use askama::Template;
use asked::{Asked, LISTS};
use axum::Form;
use axum::extract::State;
use restive_programme::Programme;
use restive_programme::fairness::page as report;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "fairness.html")]
struct FairnessPage<'a> {
    base: Base,
    w: &'static Words,
    snapshot: &'a Snapshot,
    found: Option<Found<'a>>,
}

/// Whom the lists served.
struct Found<'a> {
    at: &'a str,
    is_old: bool,
    fair: &'a Fair,
    told: String,
}

impl FairnessPage<'_> {
    /// Which lists can be looked at: how many, in words, and whether they are those of the answer.
    fn lists(&self) -> Vec<(usize, String, bool)> {
        let now = self.found.as_ref().map_or(1, |found| found.fair.last);
        LISTS.map(|n| (n, self.w.n("fairness.last", n), n == now)).into()
    }
}

impl Found<'_> {
    /// Whether a column was asked for.
    fn is_by(&self, column: &str) -> bool {
        self.fair.tables.iter().any(|(one, _)| one == column)
    }

    /// Whether a group is the one whose floor was asked for.
    fn is_floor(&self, column: &str, group: &str) -> bool {
        self.fair.floor.as_ref().is_some_and(|floor| floor.column == column && floor.group == group)
    }

    /// The places that were asked for.
    fn places(&self) -> String {
        self.fair.floor.as_ref().map_or(String::new(), |floor| floor.places.to_string())
    }
}

/// What the answer is of: the study, the models, and the list as it stands.
fn fair_stamp(snapshot: &Snapshot) -> String {
    let list = snapshot
        .draft
        .as_ref()
        .map_or(String::new(), |draft| format!("{} {}", draft.record.id, draft.version()));
    format!(
        "{} {} {list}",
        stamp(&[snapshot.programme.study(), snapshot.programme.people()]),
        snapshot.status.outcomes_missing
    )
}

/// Whom the lists served.
pub(crate) async fn show(Viewer(_): Viewer, State(desk): State<App>, base: Base) -> Answer {
    let snapshot = desk.snapshot();
    let now = snapshot.clone();
    let now = tokio::task::spawn_blocking(move || fair_stamp(&now)).await.map_err(|_| Refusal::ours())?;
    let kept = desk.answers.fair.get();
    let found = kept.as_deref().map(|kept| Found {
        at: &kept.at,
        is_old: kept.is_old(&now),
        told: told::sections(&kept.of.page, 2),
        fair: &kept.of,
    });
    page(&FairnessPage { w: base.w, snapshot: &snapshot, found, base })
}

/// Looks whom the lists served, and what a floor would cost.
pub(crate) async fn look(
    Planner(session): Planner,
    State(desk): State<App>,
    Form(fields): Form<BTreeMap<String, String>>,
) -> Answer {
    let asked = Asked::of(&fields).map_err(Refusal::form)?;
    let at = desk.start(&session, "job.fairness", "/fairness", false, move |desk, progress| {
        progress.say(0.05, "");
        let stamp = fair_stamp(&desk.snapshot());
        let answer = Programme::open(desk.folder())?.fairness(&asked.asked())?;
        let floor = asked.floor.map(|([column, group], places)| {
            let of = answer.floors.iter().find(|floor| floor.column == column && floor.group == group);
            let note = || answer.notes.last().cloned().unwrap_or_default();
            let price = of.map_or_else(note, |floor| floor.price(places));
            FloorAsked { column, group, places, price }
        });
        let verdict = answer.verdict();
        let page = report(&answer);
        desk.answers.fair.put(stamp, Fair::of(&answer, page, asked.by, asked.last, floor));
        Ok(verdict)
    });
    see(&at)
}
