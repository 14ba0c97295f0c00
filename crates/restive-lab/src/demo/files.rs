//! What the demo leaves: a folder that appears whole.

use super::findings::{METHODS, value};
use super::{Demo, page};
use crate::experiment::rows::{self, Key, Row};
use crate::{Method, Metric};
use restive_pipeline::{Objective, Plan};
use restive_tables::model::Model;
use restive_tables::{FolderDraft, Format, Study, recognise_names};
use std::path::Path;

const REPORT: &str = "report.html";
const FIGURE: &str = "figure.svg";
const RESULTS: &str = "results.csv";
const PLAN: &str = "plan.csv";
pub(super) const STUDY: &str = "study";
/// The models, by their objective.
const MODELS: [&str; 2] = [Objective::TwoStage.name(), Objective::DecisionFocused.name()];

/// Whether the folder could be written, before there is anything to write.
pub fn check(out: &Path, replace: bool) -> restive_tables::Result<()> {
    FolderDraft::check(out, replace.then_some(recognise))
}

/// Refuses a folder that is not a demo and nothing else: it must hold the results of one, and what is beside them must be what
/// its name says.
fn recognise(out: &Path) -> restive_tables::Result<()> {
    let folders = [STUDY, MODELS[0], MODELS[1]];
    recognise_names(out, &[REPORT, FIGURE, RESULTS, PLAN], &folders)?;
    rows::recognise(&out.join(RESULTS))?;
    let there = |name: &str| Some(out.join(name)).filter(|path| path.exists());
    there(PLAN).map_or(Ok(()), |path| Plan::recognise(&path))?;
    there(STUDY).map_or(Ok(()), |path| Study::recognise(&path))?;
    MODELS.iter().filter_map(|name| there(name)).try_for_each(|path| Model::recognise(&path))
}

impl Demo {
    /// Leaves a folder with everything; `command` is what to type to see it again.
    pub fn write(&self, replace: bool, command: &str) -> anyhow::Result<()> {
        let (out, findings) = (&self.out, self.findings());
        let draft = FolderDraft::create(out, replace.then_some(recognise))?;
        let report = page::page(&findings, &self.plan, command, out).html();
        std::fs::write(draft.file(REPORT), report).map_err(draft.refused(REPORT))?;
        let figure = page::figure(&findings).svg();
        std::fs::write(draft.file(FIGURE), figure).map_err(draft.refused(FIGURE))?;
        rows::write(&draft.file(RESULTS), &self.rows(), None)?;
        self.plan.write(&draft.file(PLAN), false)?;
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
