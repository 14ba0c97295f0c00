//! Assignment of pulls: declared by the study, recorded in the log, or requested by the caller.
//!
//! If a log records the propensities of some decisions only, these are used, and the declaration holds for the rest; with `none` or
//! `logged` the rest is left out. If it records those of all decisions, `estimated` and `none` become `logged`; `uniform` and `rota`
//! stay as declared.

use super::objection::Refusal;
use crate::error::{Result, refuse};
use crate::message::{Opt, message};
use restive::evidence::{Design, EvidenceSettings};
use restive::instance::{Assignment, Observation};
use restive::planning::Ending;
use restive_tables::{Study, StudyBehaviour};

restive_tables::choices! {
    /// Source of propensities.
    BehaviourName {
        /// The column propensity
        Logged = "logged",
        /// K of N arms at random
        Uniform = "uniform",
        /// In turn, everybody once before anybody twice, in an order that has nothing to do with outcomes
        Rota = "rota",
        /// By a model of who was pulled; for importance sampling, the share of arms pulled at each step
        Estimated = "estimated",
        /// Nobody knows: no evidence, no importance sampling
        None = "none",
    }
}

/// Assignment of pulls as requested, or as the study declares it. A refusal if the log cannot show the effect of pulls.
pub(super) fn design(
    study: &Study,
    asked: Option<BehaviourName>,
) -> Result<std::result::Result<Design, Refusal>> {
    if study.settings.observation != Observation::Full {
        return Ok(Err(Refusal::contradicted(
            "states are seen at pulls only, so what became of those who were not pulled is not known, and nobody can be held against \
             those who were",
            message!(
                "try the plan beside random pulls, and compare; ",
                Opt("estimators"),
                " published simulates what the log says of the arms, which is no evidence"
            ),
        )));
    }
    let design = match asked {
        Some(BehaviourName::Logged) => Some(Design::Logged),
        Some(BehaviourName::Uniform) => Some(Design::Uniform),
        Some(BehaviourName::Rota) => Some(Design::Rota),
        Some(BehaviourName::Estimated) => Some(Design::Estimated),
        Some(BehaviourName::None) => None,
        None => match study.settings.behaviour {
            StudyBehaviour::Logged => Some(Design::Logged),
            StudyBehaviour::Uniform => Some(Design::Uniform),
            StudyBehaviour::Estimated => Some(Design::Estimated),
            StudyBehaviour::RoundRobinAsUniform => Some(Design::Rota),
            StudyBehaviour::None => None,
        },
    };
    let has_column = study.instances.iter().all(|instance| instance.trajectories.propensity().is_some());
    let (known, actions) = known_propensities(study);
    let design = match design {
        None if known > 0 && has_column => Some(Design::Logged),
        // recorded propensities of all decisions replace estimates, unless the caller requests estimates
        Some(Design::Estimated) if asked.is_none() && known > 0 && known == actions => Some(Design::Logged),
        design => design,
    };
    if study.settings.assignment == Assignment::PerPerson && design == Some(Design::Rota) {
        let why =
            " rota: found assignment = \"per-person\" in study.toml, expected uniform, logged or estimated";
        refuse!(Opt("behaviour"), why);
    }
    if design == Some(Design::Logged) && !has_column {
        let why = " logged: found no column propensity in the trajectories, expected one";
        refuse!(Opt("behaviour"), why);
    }
    Ok(design.ok_or_else(|| {
        Refusal::unknown(
            "nobody says how those who were pulled were chosen, so they may have been chosen for what would have become of them anyway",
            message!(
                "say it, in study.toml or by ",
                Opt("behaviour"),
                ": uniform where it was by lot, rota where everybody was pulled in turn in an order that has nothing to do with them, estimated \
                 where the choice looked at nothing that the tables do not show"
            ),
        )
    }))
}

/// Assignment of pulls as the study declares it; `None` if it declares none that the log could show.
pub(crate) fn declared_design(study: &Study) -> Option<Design> {
    design(study, None).ok().and_then(std::result::Result::ok)
}

/// Settings of the evidence of a study under a design.
pub(crate) fn settings_of(study: &Study, design: Design, seed: u64) -> EvidenceSettings {
    let (known, actions) = known_propensities(study);
    let uses_recorded = known > 0 && known < actions;
    let horizon = study.settings.horizon;
    EvidenceSettings {
        design,
        uses_recorded,
        horizon,
        ending: Ending::State,
        seed,
        assignment: study.settings.assignment,
    }
}

/// Number of actions with a recorded propensity, and of all actions.
fn known_propensities(study: &Study) -> (usize, usize) {
    let each = study.instances.iter().map(|instance| instance.trajectories.known_propensities());
    each.fold((0, 0), |(known, actions), one| (known + one.0, actions + one.1))
}

/// Assignment in a few words.
pub(crate) fn design_words(design: Design) -> &'static str {
    match design {
        Design::Uniform => "dealt by lot",
        Design::Rota => "made in turn",
        Design::Logged => "made with logged propensities",
        Design::Estimated => "chosen by what the tables show",
    }
}

/// Assumption that the answers rest on.
pub(crate) fn assumption(design: Design) -> &'static str {
    match design {
        Design::Uniform => "pulls were dealt by lot among all",
        Design::Rota => "the order of the rota has nothing to do with outcomes",
        Design::Logged => "the logged propensities are those by which pulls were drawn",
        Design::Estimated => {
            "whoever chose looked at nothing that bears on outcomes and that the tables do not show"
        }
    }
}
