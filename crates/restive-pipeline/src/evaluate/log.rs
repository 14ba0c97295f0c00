//! The log that policies are judged by: its instances, of the arms that judge, with how likely each logged action was.
//!
//! Propensities are those of whole instances, whichever part is judged: K of N arms at random is K/N for every arm, also where
//! only a few of the N are looked at.

use super::asked::JudgedPart;
use crate::apply::Applied;
use crate::error::{Error, Result, refuse};
use crate::identification::BehaviourName;
use crate::message::{Opt, message};
use crate::prepare::with_propensity;
use restive::Instance;
use restive::data::split::{Group, Part};
use restive::evaluation::{Behaviour, Propensity};
use restive_tables::StudyBehaviour;

/// Where propensities come from.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// absent: no importance sampling
    pub(super) behaviour: Option<Behaviour>,
    /// whether that takes a fixed rota for chance
    pub(super) is_rota: bool,
}

impl Source {
    pub(super) fn new(applied: &Applied<'_>, asked: Option<BehaviourName>) -> Result<Self> {
        let said = applied.study.settings.behaviour;
        let behaviour = match asked {
            None => said.source(),
            Some(BehaviourName::Logged) => Some(Behaviour::Logged),
            Some(BehaviourName::Uniform | BehaviourName::Rota) => Some(Behaviour::Uniform),
            Some(BehaviourName::Estimated) => Some(Behaviour::Estimated),
            Some(BehaviourName::None) => None,
        };
        let has_column =
            applied.instances.iter().all(|instance| instance.trajectories().propensity().is_some());
        if behaviour == Some(Behaviour::Logged) && !has_column {
            let why = " logged: found no column propensity in the trajectories, expected one";
            refuse!(Opt("behaviour"), why);
        }
        Ok(Self {
            behaviour,
            is_rota: match asked {
                None => said == StudyBehaviour::RoundRobinAsUniform,
                Some(asked) => asked == BehaviourName::Rota,
            },
        })
    }

    /// What study.toml asks to be taken for granted.
    pub(super) fn assumptions(self) -> Vec<&'static str> {
        let rota = "as study.toml says, a fixed rota is taken for K of N arms at random";
        self.is_rota.then_some(rota).into_iter().collect()
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self.behaviour {
            None => "none: no importance sampling",
            Some(Behaviour::Logged) => "logged",
            Some(Behaviour::Uniform) => {
                "uniform, K of N arms at random (at a step with more pulls, that many): an assumption"
            }
            Some(Behaviour::Estimated) => {
                "estimated, the share of arms pulled at each step: right where the choice did not look at the arm"
            }
        }
    }
}

impl Applied<'_> {
    /// The arms of a part, by instance; refused where there are none.
    pub fn groups(&self, part: JudgedPart) -> Result<Vec<Group>> {
        let part = match part {
            JudgedPart::All | JudgedPart::Folds => return Ok(self.all()),
            JudgedPart::Test => Part::Test,
            JudgedPart::Validation => Part::Validation,
            JudgedPart::Train => Part::Train,
        };
        let name = part.name();
        let at = |what: &str| {
            message!(Opt("part"), format!(" {name}: {what}; "), Opt("part"), " all takes every arm")
        };
        let split = self.split().map_err(|error| Error::at(at("cannot split"))(error.into()))?;
        match split.part(part) {
            [] => Err(Error::Data(at("found no arms, expected some"))),
            groups => Ok(groups.to_vec()),
        }
    }

    /// The instances that judge, with the propensities of their logged actions written down; none where the assumed behaviour never
    /// takes an action that was taken.
    pub(super) fn with_propensities(
        &self,
        groups: &[Group],
        source: Option<Behaviour>,
    ) -> Result<Option<Vec<Instance>>> {
        let Some(source) = source else { return Ok(Some(self.select(groups))) };
        let mut judged = Vec::with_capacity(groups.len());
        for group in groups {
            let whole = &self.instances[group.instance];
            match Propensity::of_instance(whole, source) {
                Err(_) if source == Behaviour::Uniform => return Ok(None),
                propensity => {
                    let whole = with_propensity(whole, &propensity?)?;
                    let is_whole = group.arms.len() == whole.arms();
                    judged.push(if is_whole { whole } else { whole.select_arms(&group.arms) });
                }
            }
        }
        Ok(Some(judged))
    }
}
