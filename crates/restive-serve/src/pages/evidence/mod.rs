//! *Evidence*: what the data can answer, whether the ranking finds the right people, how large predicted effects are against those that were
//! seen, and what came of the last quarter's lists.
//!
//! What is judged and how is `restive evaluate` of the programme, with nothing else asked for; its sentences are shown in people's words. Judging
//! trains the recipe of the model anew in folds of people, so that it takes as long as several trainings: a job does it, and the answer is kept
//! with what tells model and study from any other.

mod jobs;
mod quarter;

pub(crate) use jobs::{judge, train};

use crate::desk::{App, Desk, Evidence, Finding, Grave, Kept, Looked, Snapshot, stamp};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::told;
use crate::look::words::Words;
use crate::pages::data::study_stamp;
use crate::security::role::Viewer;
use askama::Template;
use axum::extract::State;
use quarter::Quarter;

#[derive(Template)]
#[template(path = "evidence.html")]
struct EvidencePage<'a> {
    base: Base,
    w: &'static Words,
    snapshot: &'a Snapshot,
    doctor: Option<Answerable<'a>>,
    judged: Option<Judged<'a>>,
    quarter: Quarter,
}

/// What the data can answer.
struct Answerable<'a> {
    at: &'a str,
    verdict: &'a str,
    is_old: bool,
    /// what answers would or may mislead by
    findings: Vec<&'a Finding>,
}

/// Whether the ranking finds the right people.
struct Judged<'a> {
    at: &'a str,
    is_old: bool,
    evidence: &'a Evidence,
    told: String,
}

/// The files that evidence is of: the study, and the model that would be used.
fn judged_stamp(desk: &Desk, model: Option<&str>) -> String {
    let programme = &desk.snapshot().programme;
    let models = programme.models_folder();
    stamp(&[programme.study(), model.map_or(models.clone(), |name| models.join(name))])
}

/// What is known.
pub(crate) async fn show(Viewer(_): Viewer, State(desk): State<App>, base: Base) -> Answer {
    let snapshot = desk.snapshot();
    let (shown, now) = (desk.clone(), snapshot.clone());
    let read = tokio::task::spawn_blocking(move || {
        let weeks = now.programme.weeks_told(&now.backdrop, quarter::WEEKS);
        let name = now.status.model.as_ref().map(|(name, _)| name.as_str());
        (weeks.unwrap_or_default(), study_stamp(&shown), judged_stamp(&shown, name))
    });
    let (weeks, study, model) = read.await.map_err(|_| Refusal::ours())?;
    let doctor = desk.answers.doctor.get();
    let judged = desk.answers.evidence.get();
    page(&EvidencePage {
        w: base.w,
        snapshot: &snapshot,
        doctor: doctor.as_deref().map(|kept| answerable(kept, &study)),
        judged: judged.as_deref().map(|kept| Judged {
            at: &kept.at,
            is_old: kept.is_old(&model),
            told: told::sections(&kept.of.page, 3),
            evidence: &kept.of,
        }),
        quarter: Quarter::of(weeks),
        base,
    })
}

fn answerable<'a>(kept: &'a Kept<Looked>, now: &str) -> Answerable<'a> {
    let counts = |finding: &&Finding| matches!(finding.grave, Grave::Warning | Grave::Serious);
    Answerable {
        at: &kept.at,
        verdict: &kept.of.verdict,
        is_old: kept.is_old(now),
        findings: kept.of.findings.iter().filter(counts).collect(),
    }
}
