//! What lasts: to judge the ranking by past calls, and to train a model anew.

use super::judged_stamp;
use crate::desk::{App, Evidence};
use crate::look::answer::{Answer, see};
use crate::security::role::Planner;
use axum::extract::State;
use jiff::Zoned;
use restive_pipeline::{Asked, EvaluateAsked};
use restive_programme::evidence::{Terms, judge as judged, page};
use restive_programme::{AnalyseAsked, Programme};

/// Judges the ranking by what past calls did, as `restive evaluate` does.
pub(crate) async fn judge(Planner(session): Planner, State(desk): State<App>) -> Answer {
    let at = desk.start(&session, "job.judge", "/evidence", false, |desk, progress| {
        progress.say(0.0, "");
        let programme = Programme::open(desk.folder())?;
        let model = programme.model(None, &programme.rules()?)?.name;
        let stamp = judged_stamp(desk, Some(&model));
        let [model_folder, study] = programme.to_judge()?;
        let found = judged([&model_folder, &study], &EvaluateAsked::default(), |heard| {
            let (fold, folds) = (heard.fold + 1, heard.folds);
            progress.say(heard.share, &format!("{fold} / {folds}"));
            Ok::<_, restive_programme::Error>(())
        })?;
        let about = &found.evaluated.about;
        let notes = about.notes.iter().map(ToString::to_string).chain(about.warnings.iter().cloned());
        let mut notes: Vec<String> = notes.map(|note| Terms::People.say(&note)).collect();
        notes.extend(found.notes);
        let page = page(&found.evaluated, &found.study, Terms::People);
        let verdict = page.verdict.clone();
        let fingerprints = [found.model_fingerprint, found.study_fingerprint];
        let trial = trial(&programme);
        desk.answers.evidence.put(stamp, Evidence { page, model, fingerprints, notes, trial });
        Ok(verdict)
    });
    see(&at)
}

/// How far a trial is, and what it found where its weeks are over; nothing where there is none.
fn trial(programme: &Programme) -> Vec<(String, String)> {
    let Ok(standing) = programme.trial_status(None) else { return Vec::new() };
    let mut lines: Vec<(String, String)> =
        standing.lines().into_iter().map(|(name, said)| (name.into(), said)).collect();
    // before the last week this is refused, and rightly
    if let Ok(found) = programme.analyse_trial(&AnalyseAsked::default()) {
        lines.push(("result".into(), found.sentence));
    }
    lines
}

/// Trains a model by the library's own recipe, as `restive train` does.
pub(crate) async fn train(Planner(session): Planner, State(desk): State<App>) -> Answer {
    let at = desk.start(&session, "job.train", "/evidence", false, |desk, progress| {
        progress.say(0.0, "");
        let programme = Programme::open(desk.folder())?;
        let trained = programme
            .train(&Asked::default(), Zoned::now().date(), |share, what| progress.say(share, what))?;
        let warnings = trained.warnings.iter().map(|warning| format!("; {warning}"));
        Ok(trained.entry.name.clone() + &warnings.collect::<String>())
    });
    see(&at)
}
