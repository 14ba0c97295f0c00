//! *Record*: every list with its days, what was changed by hand, who did what at the desk, and whether all of it is still as it was written.
//!
//! | file | what happens there |
//! |---|---|
//! | `week` | the week of one plan |
//! | `verify` | the whole record verified, by a job |
//! | `archive` | a week as one file |

pub(crate) mod archive;
pub(crate) mod verify;
pub(crate) mod week;

use crate::desk::{App, Checked, Entry as Done, Kept, Standing};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::words::Words;
use crate::security::role::Viewer;
use askama::Template;
use axum::extract::State;
use restive_programme::{Entry, Programme};
use std::sync::Arc;

/// Lines of what was done at the desk.
const LINES: usize = 100;

#[derive(Template)]
#[template(path = "record.html")]
struct RecordPage {
    base: Base,
    w: &'static Words,
    /// the latest first
    plans: Vec<PlanLine>,
    done: Vec<DoneLine>,
    /// the last link of the chain; empty where there is none
    head: String,
    /// the last verification of this run, where it has nothing to say: how it stands, and why
    verifying: Option<(&'static str, String)>,
    /// what the last one said
    verified: Option<Arc<Kept<Checked>>>,
    is_old: bool,
}

/// A plan.
struct PlanLine {
    entry: Entry,
    made: String,
    share: String,
}

/// Something that was done.
struct DoneLine {
    at: String,
    who: String,
    role: &'static str,
    what: String,
    of: String,
}

/// A moment as pages have it.
pub(super) fn moment(at: &str) -> String {
    at.replace('T', " ").replace('Z', " UTC")
}

/// Runs what reads the record where it may block.
async fn read<T: Send + 'static>(
    desk: &App,
    work: impl FnOnce(&Programme) -> restive_programme::Result<T> + Send + 'static,
) -> Result<T, Refusal> {
    let desk = desk.clone();
    match tokio::task::spawn_blocking(move || work(&desk.snapshot().programme)).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Refusal::programme(&error)),
        Err(_) => Err(Refusal::ours()),
    }
}

/// The record.
pub(crate) async fn show(Viewer(_): Viewer, State(desk): State<App>, base: Base) -> Answer {
    let (plans, head) = read(&desk, |programme| match programme.ledger().exists() {
        true => Ok((programme.audit_list()?, programme.head()?)),
        false => Ok((Vec::new(), None)),
    })
    .await?;
    let asked = desk.clone();
    let done =
        tokio::task::spawn_blocking(move || asked.entries(LINES)).await.map_err(|_| Refusal::ours())?;
    let verifying = desk.latest_job(verify::KIND).and_then(|job| match job.standing {
        Standing::Running | Standing::Stopping => Some(("record.verify_runs", String::new())),
        Standing::Done(_) => None,
        Standing::Failed(why) => Some(("record.verify_failed", why)),
        Standing::Stopped => Some(("record.verify_stopped", String::new())),
    });
    let verified = desk.answers.verified.get();
    let head = head.unwrap_or_default();
    let line = |entry: Entry| PlanLine {
        made: moment(&entry.made_at),
        share: entry.share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share)),
        entry,
    };
    page(&RecordPage {
        w: base.w,
        plans: plans.into_iter().rev().map(line).collect(),
        done: done.into_iter().map(|entry| DoneLine::new(entry, base.w)).collect(),
        is_old: verified.as_ref().is_some_and(|kept| kept.is_old(&head)),
        head,
        verifying,
        verified,
        base,
    })
}

impl DoneLine {
    fn new(entry: Done, w: &'static Words) -> Self {
        let role = match entry.role.as_str() {
            "planner" => w.t("record.planner"),
            "caller" => w.t("record.caller"),
            _ => w.t("record.viewer"),
        };
        let what = match entry.what.as_str() {
            "enter" => w.t("record.did_enter"),
            "move up" => w.t("record.did_up"),
            "leave out" => w.t("record.did_out"),
            "add" => w.t("record.did_add"),
            "finalise" => w.t("record.did_final"),
            "download" => w.t("record.did_download"),
            "print" => w.t("record.did_print"),
            "archive" => w.t("record.did_archive"),
            "look for" => w.t("record.did_look"),
            "outcome" => w.t("record.did_outcome"),
            "take back" => w.t("record.did_back"),
            "capacity" => w.t("record.did_capacity"),
            // work in the background has words of its own; a word that nobody knows is shown as it is
            other => w.t(other),
        };
        Self { at: moment(&entry.at), who: entry.who, role, what: what.into(), of: entry.of }
    }
}
