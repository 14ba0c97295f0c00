//! What training needs to know of one instance, prepared once and shared by all that train on it.

use super::value::{Decision, Value};
use crate::error::{Error, Result};
use crate::evaluation::{Decisions, Propensity, Record, first_mass, known_states};
use crate::instance::{Instance, Observation, Reward};
use ndarray::{Array2, s};
use std::sync::Arc;

/// N arms to learn from.
pub(super) struct Prepared {
    /// `[N,F]`
    pub features: Array2<f64>,
    pub record: Record,
    pub observation: Observation,
    pub reward: Reward,
    pub budget: f64,
    pub discount: f64,
    /// `[N,M]`: where the logged trajectories began
    pub initial: Array2<f64>,
    /// for importance sampling
    pub log: Option<Log>,
}

/// The logged decisions and the states they were taken in, `[J·H,N]`.
pub(super) struct Log {
    pub decisions: Decisions,
    pub states: Array2<u16>,
}

impl Prepared {
    /// With its log where the value is importance sampling.
    pub fn new(instance: &Instance, decision: Option<&Decision>) -> Result<Self> {
        let trajectories = instance.trajectories();
        let log = match decision {
            Some(decision) if decision.value == Value::Is => {
                let propensity = Propensity::new(trajectories, decision.behaviour, instance.budget())?;
                let decisions = Decisions::new(trajectories, instance.reward(), &propensity);
                let (j, h, n) = decisions.dim();
                let states = known_states(trajectories, instance.observation());
                let states = states.slice(s![.., ..h, ..]).as_standard_layout().into_owned();
                Some(Log { decisions, states: states.into_shape_with_order((j * h, n)).expect("J·H rows") })
            }
            _ => None,
        };
        Ok(Self {
            features: instance.features().to_owned(),
            record: Record::new(instance),
            observation: instance.observation(),
            reward: instance.reward().clone(),
            budget: instance.budget().min(instance.arms()) as f64,
            discount: instance.discount(),
            initial: first_mass(trajectories, instance.observation()),
            log,
        })
    }

    /// The same arms, described otherwise; without their log.
    pub fn with_features(&self, features: Array2<f64>) -> Self {
        Self {
            features,
            record: self.record.clone(),
            observation: self.observation,
            reward: self.reward.clone(),
            budget: self.budget,
            discount: self.discount,
            initial: self.initial.clone(),
            log: None,
        }
    }

    pub fn arms(&self) -> usize {
        self.features.nrows()
    }
}

/// Prepares instances; all must have as many features and states as the first of `train`.
pub(super) fn prepare(
    train: &[Instance],
    validation: &[Instance],
    decision: Option<&Decision>,
) -> Result<[Vec<Arc<Prepared>>; 2]> {
    let Some(first) = train.first() else {
        let (found, expected) = ("none".into(), "at least one to train on".into());
        return Err(Error::Unsuitable { what: "training instances", found, expected });
    };
    if let (Some(decision), Some(_)) = (decision, first.observation().chain())
        && decision.index_discount >= 1.0
    {
        let (what, expected) = ("index discount", "below 1 where states are seen at pulls only");
        return Err(Error::Range { what, expected, found: decision.index_discount });
    }
    let (f, m) = (first.features().ncols(), first.states());
    let take = |instance: &Instance, decision| {
        let (features, states) = (instance.features().ncols(), instance.states());
        if (features, states) != (f, m) {
            let found = format!("{features} features and {states} states");
            let expected = format!("{f} features and {m} states in every instance");
            return Err(Error::Unsuitable { what: "instance", found, expected });
        }
        Prepared::new(instance, decision).map(Arc::new)
    };
    Ok([
        train.iter().map(|instance| take(instance, decision)).collect::<Result<_>>()?,
        validation.iter().map(|instance| take(instance, None)).collect::<Result<_>>()?,
    ])
}
