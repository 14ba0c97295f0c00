//! What `restive demo` leaves: a folder that appears whole.
//!
//! The models of the recommended profile are those that `restive train` would write from the same study: its own code makes
//! their cards, and the decision-focused one is that training taken up at its end.

use crate::lab::compare::{Method, Run};
use crate::lab::metrics::Metric;
use crate::plan::report;
use restive::training::{Finished, Fit};
use restive_pipeline::card::member_history;
use restive_pipeline::{Asked, Objective, Plan, Training};
use restive_tables::model::Model;
use restive_tables::{Cells, FolderDraft, Format, Study, write_table};
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
pub(crate) fn check(out: &Path, replace: bool) -> restive_tables::Result<()> {
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

/// Run, seed, method, metric, value.
type ResultRow = (usize, u64, &'static str, &'static str, f64);

/// Everything that goes into the folder.
pub(crate) struct Contents<'a> {
    pub(crate) domain: &'static str,
    pub(crate) runs: &'a [Run],
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
        report::write_table(self.plan, &draft.file(PLAN))?;
        self.study.write(&draft.file(STUDY), Format::Parquet, false, |_| {})?;
        for (name, model) in MODELS.iter().zip(models) {
            model?.write(&draft.file(name), false)?;
        }
        Ok(draft.put_in_place()?)
    }

    /// One number per row.
    fn results(&self, path: &Path) -> restive_tables::Result<()> {
        let mut rows: Vec<ResultRow> = Vec::new();
        for (k, run) in self.runs.iter().enumerate() {
            for method in Method::ALL {
                for metric in Metric::ALL {
                    let value = run.value(method, metric);
                    rows.push((k, run.seed, method.name(), metric.name(), value));
                }
            }
            let matched = ("oracle-matched", Metric::StrictTrue.name());
            rows.push((k, run.seed, matched.0, matched.1, run.matched_oracle));
        }
        let text = |of: &dyn Fn(&ResultRow) -> String| Cells::Text(rows.iter().map(of).collect());
        write_table(
            path,
            vec![
                ("domain", text(&|_| self.domain.into())),
                ("run", text(&|row| row.0.to_string())),
                ("seed", text(&|row| row.1.to_string())),
                ("method", text(&|row| row.2.into())),
                ("metric", text(&|row| row.3.into())),
                ("value", Cells::Number(rows.iter().map(|row| row.4).collect())),
            ],
        )
    }

    /// The model of the first run, as `restive train` would write it.
    fn model(&self, out: &Path, objective: Objective) -> anyhow::Result<Model> {
        let (run, study) = (&self.runs[0], self.study);
        let asked = Asked { objective, seed: run.seed, ..Asked::default() };
        let training = Training::new(study, &asked, &out.join(STUDY).display().to_string())?;
        let finished = match objective {
            Objective::TwoStage => Finished { fitted: run.selected.two_stage.clone(), selection: None },
            Objective::DecisionFocused => {
                let [train, validation, _] = &training.parts;
                let mut fit = Fit::new(training.method.clone(), train, validation)?;
                fit.restore(&run.snapshot)?;
                fit.finish()
            }
        };
        let history = member_history(run.seed, &finished);
        Ok(training.model(vec![finished.fitted.predictor], vec![history]))
    }
}
