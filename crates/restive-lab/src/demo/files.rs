//! What the demo leaves: a folder that appears whole.
//!
//! The models of the recommended profile are those that `restive train` would write from the same study: its own code makes
//! their cards.

use super::findings::{METHODS, value};
use crate::compare::Comparison;
use crate::experiment::rows::{Key, Row, write};
use crate::{DomainName, Method, Metric};
use restive::training::{Finished, Selected};
use restive_pipeline::card::member_history;
use restive_pipeline::{Asked, Objective, Plan, Training};
use restive_tables::model::Model;
use restive_tables::{FolderDraft, Format, Study};
use std::path::Path;

const REPORT: &str = "report.html";
const FIGURE: &str = "figure.svg";
const RESULTS: &str = "results.csv";
const PLAN: &str = "plan.csv";
const STUDY: &str = "study";
/// The models, by their objective.
const MODELS: [&str; 2] = [Objective::TwoStage.name(), Objective::DecisionFocused.name()];

const OWN: [&str; 7] = [REPORT, FIGURE, RESULTS, PLAN, STUDY, MODELS[0], MODELS[1]];

/// Whether the folder could be written, before there is anything to write.
pub fn check(out: &Path, replace: bool) -> restive_tables::Result<()> {
    // a draft that is made and dropped: the place can be written to
    FolderDraft::create(out, replace, &OWN).map(drop)?;
    if replace {
        // what others put into its folders is not ours to remove
        Study::check_folder(&folder_or_new(out, STUDY), true)?;
        MODELS.iter().try_for_each(|name| Model::check_folder(&folder_or_new(out, name), true))?;
    }
    Ok(())
}

/// A folder within, or the outer one's place where that is not there yet.
fn folder_or_new(out: &Path, name: &str) -> std::path::PathBuf {
    if out.is_dir() { out.join(name) } else { out.into() }
}

/// Everything that goes into the folder.
pub(crate) struct Contents<'a> {
    pub(crate) domain: DomainName,
    pub(crate) runs: &'a [Comparison],
    pub(crate) study: &'a Study,
    pub(crate) plan: &'a Plan,
    pub(crate) report: String,
    pub(crate) figure: String,
}

impl Contents<'_> {
    pub(crate) fn write(&self, out: &Path, replace: bool) -> anyhow::Result<()> {
        check(out, replace)?;
        let models = Objective::ALL.iter().map(|objective| self.model(out, *objective));
        let draft = FolderDraft::create(out, replace, &OWN)?;
        std::fs::write(draft.file(REPORT), &self.report).map_err(draft.refused(REPORT))?;
        std::fs::write(draft.file(FIGURE), &self.figure).map_err(draft.refused(FIGURE))?;
        self.results(&draft.file(RESULTS))?;
        self.plan.write(&draft.file(PLAN))?;
        self.study.write(&draft.file(STUDY), Format::Parquet, false, |_| {})?;
        for (name, model) in MODELS.iter().zip(models) {
            model?.write(&draft.file(name), false)?;
        }
        Ok(draft.put_in_place()?)
    }

    /// One number per row.
    fn results(&self, path: &Path) -> restive_tables::Result<()> {
        let mut rows = Vec::new();
        for (run, found) in self.runs.iter().enumerate() {
            let mut push = |method, metric, value| {
                let key = Key::new(self.domain.into(), method, metric);
                rows.push(Row { key, run, seed: found.seed, value });
            };
            for method in METHODS {
                Metric::WORTH.iter().for_each(|metric| push(method, *metric, value(found, method, *metric)));
            }
            push(Method::OracleMatched, Metric::StrictTrue, found.matched_oracle);
        }
        write(path, &rows, None)
    }

    /// The model of the first run, as `restive train` would write it.
    fn model(&self, out: &Path, objective: Objective) -> anyhow::Result<Model> {
        let (run, study) = (&self.runs[0], self.study);
        let asked = Asked { objective, seed: run.seed, ..Asked::default() };
        let training = Training::new(study, &asked, &out.join(STUDY).display().to_string())?;
        let Selected { fitted, two_stage, verdict } = run.selected.clone();
        let finished = match objective {
            Objective::TwoStage => Finished { fitted: two_stage, selection: None },
            Objective::DecisionFocused => Finished { fitted, selection: Some((verdict, two_stage)) },
        };
        let history = member_history(run.seed, &finished);
        Ok(training.model(vec![finished.fitted.predictor], vec![history]))
    }
}
