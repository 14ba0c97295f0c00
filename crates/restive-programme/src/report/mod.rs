//! One page for a director, from the programme's own study: whom to call, why, what it brings, what is unknown.
//!
//! | file | what happens there |
//! |---|---|
//! | `source` | a programme, or a model and a study, and the list that the page is about |
//! | `columns`, `groups` | people in groups by what is known of them; whom the list serves, by [`restive::fairness`] |
//! | `learnt` | what was learnt, and what moves the worth of a call |
//! | `list` | whom the list calls, against everybody who could be called, and why |
//! | `unknown` | what the page cannot know |
//! | `words` | numbers and policies as a director reads them |
//! | `page`, `worth` | the facts as a page |
//!
//! **Nobody can be found on it.** The page has no names and no ids. A group is described only where it has at least
//! [`LEAST`](restive::fairness::LEAST) people, and its part of the list only where
//! [`suppress`](restive::fairness::suppress()) lets it be printed; so is every group of people with the same reason.
//!
//! **What is promised is told from what was seen.** How much better the list is than lots comes from what past calls did
//! ([`Applied::evaluate`]), with its uncertainty, or the page says that it is not shown. What the model believes of itself is marked as the
//! model's. All numbers of the page are in [`Report`], which is made first: the page is made of it and of nothing else.

mod columns;
mod groups;
mod learnt;
mod list;
mod page;
mod source;
mod unknown;
pub(crate) mod words;
mod worth;

pub use groups::{Group, Grouped, OnList};
pub use learnt::{ByState, Learnt, Moves, Record};
pub use list::{Called, Typical};
pub use source::ReportSource;
pub use unknown::Unknown;

use crate::effects::{RecordedEffects, not_stated_of_people};
use crate::error::{Error, Result};
use groups::Groupings;
use restive_pipeline::identification::store_refusal;
use restive_pipeline::{Applied, Effects, EvaluateAsked, FoldProgress, Identification, Outcome};
use restive_tables::Looks;
use serde::Serialize;

/// What a page is asked for.
#[derive(Debug, Clone, Default)]
pub struct ReportAsked {
    /// the columns by which it is told whom the list serves, three at most; none: the first that people can be grouped by
    pub by: Vec<String>,
    /// whether the evidence of past calls is left out
    pub quick: bool,
    /// of all random numbers
    pub seed: u64,
}

/// The most columns by which it is told whom the list serves.
pub const MOST_BY: usize = 3;

/// All facts of a page.
#[derive(Debug, Serialize)]
pub struct Report {
    /// what the programme or the study is called
    pub name: String,
    /// the version of restive
    pub restive: &'static str,
    /// of all random numbers
    pub seed: u64,
    /// the model by name, and what tells it from any other
    pub model: [String; 2],
    /// what tells the study from any other
    pub study_fingerprint: String,
    /// the day that the study reaches to
    pub until: Option<String>,
    /// what a period is called
    pub period: String,
    /// what is counted
    pub unit: String,
    /// what a good state is called
    pub good: String,
    /// what past calls say of the list, or why nothing; absent where it was left out
    pub evidence: Option<Outcome>,
    /// Expected effects of the list by the model, or why they are not stated.
    #[serde(flatten)]
    pub effects: RecordedEffects,
    /// calls in a period
    pub budget: usize,
    /// what was learnt
    pub learnt: Learnt,
    /// whom the list calls
    pub list: Called,
    /// whom the list serves, by column
    pub fairness: Vec<Grouped>,
    /// what the page cannot know
    pub unknown: Unknown,
    /// Records of the evaluation that could not be written, with the cause and the consequence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ReportSource {
    /// The facts of the page. `looks`, where they are counted, hear of the evaluation; `visit` hears how it goes, and may end it.
    pub fn report<E: From<Error>>(
        &self,
        asked: &ReportAsked,
        looks: Option<&mut Looks>,
        mut visit: impl FnMut(FoldProgress) -> std::result::Result<(), E>,
    ) -> std::result::Result<Report, E> {
        let [model, study] = &self.names;
        let applied = Applied::new(&self.trained, &self.study, model, study).map_err(Error::from)?;
        let groupings = Groupings::new(self, &asked.by)?;
        let (evidence, warning) = match asked.quick {
            true => (None, None),
            false => {
                let asked = EvaluateAsked { seed: asked.seed, ..EvaluateAsked::default() };
                let mut ended = None;
                let evaluated = applied.evaluate(&asked, looks, |progress| {
                    visit(progress).map_err(|error| {
                        ended = Some(error);
                        Error::Refused(String::new())
                    })
                });
                match (evaluated, ended) {
                    (_, Some(error)) => return Err(error),
                    (evaluated, None) => {
                        let evaluated = evaluated?;
                        let store = |refusal| store_refusal(&self.model_folder, refusal);
                        let warning = evaluated.refusal.as_ref().and_then(store);
                        (evaluated.evidence, warning)
                    }
                }
            }
        };
        let report = self.facts(asked, &applied, &groupings, evidence)?;
        Ok(Report { warnings: warning.into_iter().collect(), ..report })
    }

    fn facts(
        &self,
        asked: &ReportAsked,
        applied: &Applied<'_>,
        groupings: &Groupings,
        evidence: Option<Outcome>,
    ) -> Result<Report> {
        let effects = self.effects(applied, evidence.as_ref());
        let reasons = match effects.identified() {
            Some(_) => self.reasons(applied),
            None => Err(not_stated_of_people(effects.identification()).unwrap_or_default()),
        };
        let printed = groupings.printed(self)?;
        Ok(Report {
            name: self.name.clone(),
            restive: env!("CARGO_PKG_VERSION"),
            seed: asked.seed,
            model: [self.model.clone(), self.model_fingerprint.clone()],
            study_fingerprint: self.study.fingerprint(),
            until: self.until.clone(),
            period: self.period.clone(),
            unit: self.study.settings.unit.clone().unwrap_or_else(|| "reward".into()),
            good: self.good(),
            budget: self.list.budget,
            learnt: self.learnt(groupings, reasons.as_deref().ok()),
            list: self.called(groupings, &printed, reasons.as_deref().ok()),
            fairness: groupings.asked_for(&printed),
            unknown: self.unknown(applied, reasons.err(), evidence.as_ref()),
            warnings: Vec::new(),
            evidence,
            effects,
        })
    }

    /// Effects that the list states; none if the model's log or the evaluation for the page does not show what calls do.
    fn effects(&self, applied: &Applied<'_>, evidence: Option<&Outcome>) -> RecordedEffects {
        match (applied.identification(), evidence) {
            (Identification::Identified, Some(Outcome::Refused { reason, .. })) => {
                Effects::Withheld(Identification::NotIdentified { reason: reason.to_string() })
            }
            (Identification::Identified, _) => self.list.effects.clone(),
            (withheld, _) => Effects::Withheld(withheld.clone()),
        }
    }
}
