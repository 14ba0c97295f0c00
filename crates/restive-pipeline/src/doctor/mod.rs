//! What these data can and cannot answer, in plain words.
//!
//! Each check has a name, finds one thing, and says how grave it is, with figures and with what to do. None needs a model: they are
//! counts, slopes within weeks and small tests ([`restive::statistics`]), so that all of them take seconds where a training takes hours.
//! A check without enough data says so. What `silenced` in `study.toml` names is still listed, with its reason, and does not count.
//!
//! | file | checks |
//! |---|---|
//! | `alignment`, `ids` | rows that are off, people that were mixed up |
//! | `states`, `coverage` | what was seen of people, when and of whom |
//! | `chosen`, `odds`, `agreement` | how people were chosen, who could have been, and what study.toml says of it |
//! | `shapes` | shapes of an assignment that have to be declared: availability, clusters, calls per person |
//! | `calls`, `memory`, `drift` | how small an effect could be noticed; whether the past or the date foretells more than the state |
//! | `columns`, `categories`, `texts` | what is wrong with columns of features |
//!
//! Of very many people a sample is looked at, the same one however the study is read, and each finding says so (`sample`).
//!
//! Names of arms never appear, and values of features only where a column has few of them.
//!
//! ```
//! use restive_pipeline::{Doctor, Severity};
//! use restive_tables::Study;
//!
//! let study = Study::read(std::path::Path::new("../../examples/study"))?;
//! let doctor = Doctor::new(&study);
//! assert_eq!(doctor.findings.len(), restive_tables::CHECKS.len());
//! assert!(doctor.worst <= Severity::Warning);
//! # Ok::<(), restive_tables::Error>(())
//! ```

mod agreement;
mod alignment;
mod calls;
mod categories;
mod chosen;
mod columns;
mod coverage;
mod drift;
mod finding;
mod ids;
mod known;
mod log;
mod memory;
mod odds;
mod sample;
mod shapes;
mod states;
mod texts;

pub use finding::{Finding, Severity};
pub(crate) use odds::residuals;

use crate::identification::{Shapes, declared_design};
use chosen::Chosen;
use log::Log;
use restive::evidence::{Alignment, Design};
use restive_tables::{CHECKS, Study};
use serde::Serialize;

/// What was found in a study.
#[derive(Debug, Clone, Serialize)]
pub struct Doctor {
    /// the gravest of what counts
    pub worst: Severity,
    /// one of each check: those that count by severity, then those that are silenced
    pub findings: Vec<Finding>,
}

impl Doctor {
    /// Looks a study through.
    pub fn new(study: &Study) -> Self {
        let log = Log::new(study);
        let chosen = Chosen::new(&log);
        let rows = log.is_full.then(|| Alignment::new(&log.logs, &log.worth));
        // without a declaration the most lenient design: a model of who was called
        let design = || declared_design(study).unwrap_or(Design::Estimated);
        let shapes = log.is_full.then(|| Shapes::new(study, design()));
        let mut findings = vec![
            alignment::alignment(&log, rows.as_ref()),
            ids::ids_shuffled(&log, rows.as_ref()),
            states::states_never_change(&log),
            states::revealed_by_calls(&log),
            agreement::behaviour(&log, &chosen),
            chosen.chosen(),
            chosen.overlap(&log),
            shapes::availability(&log, shapes.as_ref(), &chosen),
            shapes::clusters(&log, shapes.as_ref()),
            shapes::assignment(shapes.as_ref()),
            calls::few_calls(&log, rows.as_ref()),
            memory::memory(&log),
            drift::drift(&log),
            coverage::coverage(&log),
            coverage::joining_and_leaving(&log),
            coverage::not_seen_for_long(&log),
            columns::identifiers(&log),
            categories::near_duplicates(&log),
            texts::numbers_as_text(&log),
            columns::empty_columns(&log),
            columns::outliers(&log),
        ];
        debug_assert!(findings.iter().map(|finding| finding.name).eq(CHECKS));
        for finding in &mut findings {
            finding.silenced = study.settings.silenced.get(finding.name).cloned();
        }
        Self::sorted(findings)
    }

    fn sorted(mut findings: Vec<Finding>) -> Self {
        // stable: within a severity the order is that of the checks
        findings.sort_by_key(|finding| (finding.silenced.is_some(), std::cmp::Reverse(finding.severity)));
        let counts = findings.iter().filter(|finding| finding.silenced.is_none());
        let worst = counts.map(|finding| finding.severity).max().unwrap_or(Severity::Fine);
        Self { worst, findings }
    }

    /// 0 nothing that should stop anybody, 1 a warning, 2 a serious finding.
    pub fn exit_code(&self) -> u8 {
        match self.worst {
            Severity::Fine | Severity::Note => 0,
            Severity::Warning => 1,
            Severity::Serious => 2,
        }
    }

    /// The findings under headings, from the gravest on; what is silenced comes last. A heading may have none.
    pub fn groups(&self) -> Vec<(&'static str, Vec<&Finding>)> {
        let of = |is_wanted: &dyn Fn(&Finding) -> bool| {
            self.findings.iter().filter(|finding| is_wanted(finding)).collect::<Vec<_>>()
        };
        let heading = |severity| match severity {
            Severity::Serious => "Serious: answers would mislead",
            Severity::Warning => "Warnings: answers may mislead",
            Severity::Note => "Worth knowing",
            Severity::Fine => "Fine",
        };
        let group = |severity| {
            (heading(severity), of(&|finding| finding.silenced.is_none() && finding.severity == severity))
        };
        let silenced = ("Silenced in study.toml", of(&|finding| finding.silenced.is_some()));
        Severity::ALL.into_iter().map(group).chain([silenced]).collect()
    }

    /// The whole in one sentence.
    pub fn verdict(&self) -> String {
        let count = |severity| {
            let counts = self.findings.iter().filter(|finding| finding.silenced.is_none());
            counts.filter(|finding| finding.severity == severity).count()
        };
        let (serious, warnings) = (count(Severity::Serious), count(Severity::Warning));
        let of = |count: usize, one: &str, more: &str| match count {
            1 => format!("one {one}"),
            count => format!("{count} {more}"),
        };
        match (serious, warnings) {
            (0, 0) => "Nothing was found that should keep anybody from learning from these data.".into(),
            (0, some) => format!("Usable, with {}.", of(some, "warning", "warnings")),
            (some, 0) => {
                format!(
                    "Not to be learnt from as it is: {}.",
                    of(some, "serious finding", "serious findings")
                )
            }
            (some, more) => format!(
                "Not to be learnt from as it is: {} and {}.",
                of(some, "serious finding", "serious findings"),
                of(more, "warning", "warnings")
            ),
        }
    }
}
