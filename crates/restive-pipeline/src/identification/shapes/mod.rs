//! Shapes of an assignment that a study has to declare: availability, clusters, pulls per person.
//!
//! | file | question | declaration |
//! |---|---|---|
//! | `lasting` | do actions of an arm hardly ever change? | `assignment = "per-person"` |
//! | `clusters` | are arms with the same value of a column pulled together? | `cluster = "COLUMN"` |
//! | `availability` | are pulls of an arm serially dependent? | the column `available` |
//! | `decisions` | decisions of a log with the chance of a pull | |
//!
//! A shape that is found and not declared is a reason not to state effects. Serial dependence is not tested if one of
//! the other two is found, if pulls are assigned per person, or if they were made in turn. The thresholds are far from what chance makes of
//! an honest log (4 standard errors and more).

mod availability;
mod clusters;
mod decisions;
mod lasting;

pub(crate) use availability::{MOST_Z, Residual};
pub(crate) use clusters::Agreements;
pub(crate) use lasting::Changes;

use super::assignment::{design_words, settings_of};
use super::objection::{BY_LOT, Refusal};
use crate::message::message;
use crate::words::{counted, grouped};
use decisions::Decisions;
use restive::evidence::Design;
use restive::instance::Assignment;
use restive_tables::{Study, show};

/// Shapes of the assignment of a study whose states are seen at every step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shapes {
    design: Design,
    /// Whether the trajectories have a column `available`.
    pub(crate) has_available: bool,
    /// Whether pulls are assigned per person, as the study declares.
    pub(crate) is_per_person: bool,
    /// Changes of actions.
    pub(crate) changes: Changes,
    /// Columns whose values are pulled together; `None` if the study declares clusters.
    pub(crate) agreements: Option<Agreements>,
    /// z of the serial dependence of pulls; `None` if it is not tested.
    pub(crate) dependence: Option<f64>,
}

impl Shapes {
    /// Shapes of a study under a design.
    pub(crate) fn new(study: &Study, design: Design) -> Self {
        let decisions = |assignment: Assignment| -> Vec<Decisions<'_>> {
            let logs = study.instances.iter().map(|instance| &instance.trajectories);
            logs.map(|log| Decisions::new(log, assignment)).collect()
        };
        let assignment = study.settings.assignment;
        let all = decisions(Assignment::PerDecision);
        let mut found = Self {
            design,
            has_available: study.instances.iter().any(|there| there.trajectories.available().is_some()),
            is_per_person: assignment == Assignment::PerPerson,
            changes: Changes::count(&all),
            agreements: study.settings.cluster.is_none().then(|| match assignment {
                Assignment::PerDecision => Agreements::find(study, &all),
                Assignment::PerPerson => Agreements::find(study, &decisions(assignment)),
            }),
            dependence: None,
        };
        if found.is_testable() {
            let uses_recorded = design == Design::Logged || settings_of(study, design, 0).uses_recorded;
            let mut residuals = availability::residuals(&all, design, uses_recorded);
            if design == Design::Estimated {
                residuals.extend(crate::doctor::residuals(study));
            }
            found.dependence = availability::dependence(residuals, &clusters_of(study));
        }
        found
    }

    /// Whether the serial dependence of pulls can be tested.
    pub(crate) fn is_testable(&self) -> bool {
        let has_other = self.is_lasting() || self.together().is_some();
        !has_other && !self.is_per_person && self.design != Design::Rota
    }

    /// Whether actions hardly ever change and the study does not declare it.
    pub(crate) fn is_lasting(&self) -> bool {
        !self.is_per_person && self.changes.are_lasting()
    }

    /// Whether the study declares an assignment per person and the log contradicts it.
    pub(crate) fn is_changing(&self) -> bool {
        self.is_per_person && self.changes.contradict_per_person()
    }

    /// Column whose values are pulled together although the study declares no clusters.
    pub(crate) fn together(&self) -> Option<&clusters::Agreement> {
        self.agreements.as_ref()?.together.as_ref()
    }

    /// z of the serial dependence of pulls, if it exceeds what chance makes.
    pub(crate) fn is_dependent(&self) -> Option<f64> {
        self.dependence.filter(|z| *z > MOST_Z)
    }

    /// Refusal because of the assignment or of clusters, before anything else is checked.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let Changes { expected, observed, followed, changed } = self.changes;
        if self.is_changing() {
            let (changed, followed) = (grouped(changed as u64), grouped(followed as u64));
            return Some(Refusal::contradicted(
                format!(
                    "the action changes for {changed} of {followed} arms with two or more decisions, about as often as under random assignment at \
                     every decision: assignment was not per person, as study.toml says"
                ),
                "if pulls were assigned at every decision, remove assignment = \"per-person\" from study.toml",
            ));
        }
        if self.is_lasting() {
            return Some(Refusal::contradicted(
                format!(
                    "actions of an arm hardly ever change: {} between decisions, and random assignment at every decision would have made about {}; \
                     pulls were not assigned at every decision",
                    counted(observed as u64, "change"),
                    grouped(expected.round() as u64)
                ),
                message!(
                    "if pulls were assigned at random once per arm and last, declare assignment = \"per-person\" in study.toml; otherwise ",
                    BY_LOT
                ),
            ));
        }
        let together = self.together()?;
        let column = show::quoted_name(&together.column);
        Some(Refusal::contradicted(
            format!(
                "arms with the same {} are pulled together: {} of them differ at a decision, and random assignment by arm would have made about {}; an \
                 interval by arm would be too narrow",
                show::name(&together.column),
                counted(together.observed.round() as u64, "pair"),
                grouped(together.expected.round() as u64)
            ),
            message!(
                format!(
                    "if whole groups were drawn at random, declare cluster = {column} in study.toml; otherwise the choice looked at this column: "
                ),
                BY_LOT
            ),
        ))
    }

    /// Refusal because pulls are serially dependent.
    pub(super) fn availability(&self) -> Option<Refusal> {
        let z = self.is_dependent()?;
        let design = design_words(self.design);
        let lasting = "the choice looked at something that lasts some time and that the tables do not show";
        let (why, what_to_do) = match self.has_available {
            true => (lasting.to_string(), message!(BY_LOT)),
            false => (
                format!("either arms could not be pulled at some decisions, or {lasting}"),
                message!(
                    "if arms could not be pulled at some decisions, declare these in a column available (0 or 1) of the trajectories; \
                     otherwise ",
                    BY_LOT
                ),
            ),
        };
        let found = format!(
            "pulls of an arm come in runs, by {z:.1} standard errors more than pulls that were {design}: {why}"
        );
        Some(Refusal::contradicted(found, what_to_do))
    }
}

/// Number of the cluster of each arm over all instances; without declared clusters each arm is one.
fn clusters_of(study: &Study) -> Vec<u32> {
    let arms = study.arms().iter().sum::<usize>() as u32;
    study.cluster_numbers().map_or_else(|| (0..arms).collect(), |numbers| numbers.concat())
}
