//! What the page cannot know, in plain words, and what would tell.

use super::source::ReportSource;
use super::words::{of_people, percent};
use crate::status::{OLD, people_counted};
use restive_ledger::How;
use restive_pipeline::{Applied, Doctor, Outcome, Severity, StudyContents};
use serde::Serialize;

/// The most findings of the doctor that are told.
const FINDINGS: usize = 2;

/// Standard errors from which on those at the top do not fare as the ranks say.
const OFF: f64 = 2.5;

/// What the page cannot know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unknown {
    /// what the evidence takes for granted
    pub granted: Vec<String>,
    /// what to know before anything is trusted
    pub cautions: Vec<String>,
    /// why nothing is told of reasons, where nothing is
    pub no_reasons: Option<String>,
    /// the share of places that lots fill
    pub by_lot: f64,
}

impl ReportSource {
    pub(super) fn unknown(
        &self,
        applied: &Applied<'_>,
        no_reasons: Option<String>,
        evidence: Option<&Outcome>,
    ) -> Unknown {
        let mut cautions = Vec::new();
        let mut granted = Vec::new();
        if let Some(Outcome::Answer(answer)) = evidence {
            granted.extend(answer.assumptions.iter().map(|said| of_people(said)));
            let is_plain = |said: &&String| !said.contains("standard errors");
            cautions.extend(answer.cautions().iter().filter(is_plain).map(|said| of_people(said)));
            if answer.off_the_line.abs() > OFF {
                let side = if answer.off_the_line > 0.0 { "more" } else { "less" };
                cautions.push(format!(
                    "past calls brought {side} to those at the very top than their rank says: what the list brings is less sure than it looks"
                ));
            }
            let looks = answer.looks.filter(|looks| *looks > 1);
            cautions.extend(looks.map(|looks| {
                format!("{looks} ways to rank were tried on the same people: the best of several looks better than it is, and the page takes that off")
            }));
        }
        let doctor = Doctor::new(&self.study);
        let grave = doctor.findings.iter().filter(|finding| finding.silenced.is_none());
        let grave = grave.filter(|finding| finding.severity >= Severity::Warning).take(FINDINGS);
        cautions.extend(grave.map(|finding| of_people(finding.found.trim_end_matches('.'))));
        if !applied.is_trained_on {
            cautions.push("the model learnt from an earlier state of the study, or from another one".into());
        }
        if let Some(age) = self.model_age.filter(|age| *age > OLD) {
            cautions.push(format!("the model is {age} days old: train it again with what has come since"));
        }
        if self.list.never_seen > 0 {
            let people = people_counted(self.list.never_seen);
            cautions.push(format!(
                "{people} never seen: nothing is known of how they fare, and they are not on the list"
            ));
        }
        if self.outcomes_missing > 0 {
            let people = people_counted(self.outcomes_missing);
            cautions.push(format!(
                "{people} of lists so far without an outcome: nobody knows whether they were called"
            ));
        }
        let unseen = StudyContents::new(&self.study).share_unobserved;
        if unseen > 0.05 && self.study.settings.observation.chain().is_none() {
            cautions.push(format!("{} of what people did is not in the records", percent(unseen)));
        }
        let listed = self.list.people.iter().filter(|person| person.how.is_listed()).count();
        let drawn = self.list.people.iter().filter(|person| person.how == How::Draw).count();
        Unknown { granted, cautions, no_reasons, by_lot: drawn as f64 / listed.max(1) as f64 }
    }
}
