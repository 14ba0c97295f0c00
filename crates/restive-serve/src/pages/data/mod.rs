//! *Data*: what the last import took and left, what the data can answer, whether anything has drifted, and an import again.
//!
//! Files, lines and reasons are shown, and no cell of anybody's row: reasons name columns. What the data can answer takes a job, because
//! it looks at everybody; the answer is kept until the data are others, and is said to be old from then on.

mod import;

use crate::desk::{App, Desk, Finding, Grave, Kept, Looked, Snapshot, stamp};
use crate::look::answer::{Answer, page, see};
use crate::look::base::Base;
use crate::look::refusal::Refusal;
use crate::look::told;
use crate::look::words::Words;
use crate::security::role::{Planner, Viewer};
use askama::Template;
use axum::extract::State;
use import::Import;
use restive_pipeline::Doctor;
use restive_programme::{Programme, Refused};
use std::path::Path;

/// Rows of the quarantine that are shown.
const ROWS: usize = 20;

/// The checks that hold earlier periods against later ones.
const DRIFT: [&str; 4] = ["drift", "coverage", "joining-and-leaving", "not-seen-for-long"];

#[derive(Template)]
#[template(path = "data.html")]
struct DataPage<'a> {
    base: Base,
    w: &'static Words,
    snapshot: &'a Snapshot,
    import: Import<'a>,
    /// the mapping, for planners
    mapping: Option<String>,
    quarantined: Vec<Refused>,
    /// all that are listed
    listed: u64,
    doctor: Option<Look<'a>>,
}

/// What the data can answer.
struct Look<'a> {
    at: &'a str,
    is_old: bool,
    verdict: &'a str,
    findings: String,
    drift: Vec<&'a Finding>,
}

/// The files that answer what the data can answer.
pub(crate) fn study_stamp(desk: &Desk) -> String {
    stamp(&[desk.snapshot().programme.study()])
}

/// What came of the last import.
pub(crate) async fn show(Viewer(_): Viewer, State(desk): State<App>, base: Base) -> Answer {
    let snapshot = desk.snapshot();
    let shown = desk.clone();
    let read = tokio::task::spawn_blocking(move || {
        let programme = &shown.snapshot().programme;
        // an import that exchanges its pieces just now is no reason to show nothing
        (
            programme.quarantine(ROWS).unwrap_or_default(),
            programme.exports().ok().flatten(),
            study_stamp(&shown),
        )
    });
    let (quarantined, exports, now) = read.await.map_err(|_| Refusal::ours())?;
    let kept = desk.answers.doctor.get();
    // where it lies in the programme's own folder or beside it, that is said from there
    let folder = std::path::absolute(desk.folder()).unwrap_or_default();
    let within =
        |path: &Path| match (path.strip_prefix(&folder), folder.parent().map(|up| path.strip_prefix(up))) {
            (Ok(inside), _) => inside.display().to_string(),
            (_, Some(Ok(beside))) => Path::new("..").join(beside).display().to_string(),
            _ => path.display().to_string(),
        };
    let mapping = exports.filter(|_| base.is_planner()).map(|exports| within(&exports.mapping));
    let summary = &snapshot.programme.summary;
    page(&DataPage {
        w: base.w,
        import: Import::of(&snapshot, desk.folder()),
        mapping,
        quarantined,
        listed: summary.reasons.iter().map(|reason| reason.rows).sum(),
        doctor: kept.as_deref().map(|kept| look(kept, &now)),
        snapshot: &snapshot,
        base,
    })
}

fn look<'a>(kept: &'a Kept<Looked>, now: &str) -> Look<'a> {
    let drift = kept.of.findings.iter().filter(|finding| DRIFT.contains(&finding.name.as_str()));
    Look {
        at: &kept.at,
        is_old: kept.is_old(now),
        verdict: &kept.of.page.verdict,
        findings: told::sections(&kept.of.page, 3),
        drift: drift.collect(),
    }
}

/// Looks the data through.
pub(crate) async fn doctor(Planner(session): Planner, State(desk): State<App>) -> Answer {
    let at = desk.start(&session, "job.doctor", "/data", false, |desk, progress| {
        progress.say(0.05, "");
        let stamp = study_stamp(desk);
        let (doctor, _) = Doctor::of_folder(&Programme::open(desk.folder())?.study())?;
        let verdict = doctor.verdict();
        desk.answers.doctor.put(stamp, Looked::of(&doctor));
        Ok(verdict)
    });
    see(&at)
}

/// Imports what the exports say now.
pub(crate) async fn again(Planner(session): Planner, State(desk): State<App>) -> Answer {
    let at = desk.start(&session, "job.import", "/data", false, |desk, progress| {
        progress.say(0.0, "");
        let programme = Programme::open(desk.folder())?;
        programme.import_again(|what, share| progress.say(share, what))?;
        Ok(String::new())
    });
    see(&at)
}

impl DataPage<'_> {
    /// What was refused: a row, a cell of it, or another id of somebody.
    fn what(&self, what: &str) -> &str {
        match what {
            "merged" => self.w.t("data.what_merged"),
            "cell" => self.w.t("data.what_cell"),
            _ => self.w.t("data.what_row"),
        }
    }

    /// What the time on record is counted in.
    fn periods(&self) -> &str {
        match self.snapshot.status.period.as_str() {
            "week" => self.w.t("data.weeks"),
            "month" => self.w.t("data.months"),
            _ => self.w.t("data.periods"),
        }
    }

    /// How grave a finding is.
    fn grave(&self, finding: &Finding) -> &str {
        match finding.grave {
            Grave::Silenced => self.w.t("data.silenced"),
            Grave::Serious => self.w.t("data.serious"),
            Grave::Warning => self.w.t("data.warning"),
            Grave::Note => self.w.t("data.note"),
            Grave::Fine => self.w.t("data.fine"),
        }
    }
}
