//! What the demo leaves: a folder that appears whole.

use super::findings::{METHODS, value};
use super::{Demo, page};
use crate::experiment::rows::{Key, Row, write};
use crate::{Method, Metric};
use restive_pipeline::Objective;
use restive_tables::model::Model;
use restive_tables::{FolderDraft, Format, Study};
use std::path::Path;

const REPORT: &str = "report.html";
const FIGURE: &str = "figure.svg";
const RESULTS: &str = "results.csv";
const PLAN: &str = "plan.csv";
pub(super) const STUDY: &str = "study";
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

impl Demo {
    /// Leaves a folder with everything; `command` is what to type to see it again.
    pub fn write(&self, replace: bool, command: &str) -> anyhow::Result<()> {
        let (out, findings) = (&self.out, self.findings());
        check(out, replace)?;
        let draft = FolderDraft::create(out, replace, &OWN)?;
        let report = page::page(&findings, &self.plan, command, out).html();
        std::fs::write(draft.file(REPORT), report).map_err(draft.refused(REPORT))?;
        let figure = page::figure(&findings).svg();
        std::fs::write(draft.file(FIGURE), figure).map_err(draft.refused(FIGURE))?;
        write(&draft.file(RESULTS), &self.rows(), None)?;
        self.plan.write(&draft.file(PLAN))?;
        self.study.write(&draft.file(STUDY), Format::Parquet, false, |_| {})?;
        for (name, trained) in MODELS.iter().zip(&self.models) {
            trained.model.write(&draft.file(name), false)?;
        }
        Ok(draft.put_in_place()?)
    }

    /// Every number.
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (run, found) in self.runs.iter().enumerate() {
            let mut push = |method, metric, value| {
                let key = Key::new(self.name.into(), method, metric);
                rows.push(Row { key, run, seed: found.seed, value });
            };
            for method in METHODS {
                Metric::WORTH.iter().for_each(|metric| push(method, *metric, value(found, method, *metric)));
            }
            push(Method::OracleMatched, Metric::StrictTrue, found.matched_oracle);
        }
        rows
    }
}
