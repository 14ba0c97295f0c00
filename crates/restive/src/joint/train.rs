//! Training a predictor through a joint plan.
//!
//! One Adam step per instance and epoch, in the order given, up
//!
//! ```text
//! (value_weight · value − loss_weight · loss)/N
//! ```
//!
//! with the value of the [`Objective`] and the predictive loss of the log: the mixture of decision-focused training, so that the two can be held
//! against each other; no dropout. Parameters w → transitions P → plan → value, and back: dvalue/dw = dvalue/dP · dP/dw.

use super::cost::Limit;
use super::objective::Objective;
use super::plan::{PlanStatus, Planner};
use crate::error::{Error, Result};
use crate::evaluation::Record;
use crate::instance::Instance;
use crate::predictor::Predictor;
use crate::predictor::adam::Adam;
use ndarray::Array2;

/// Everything that decides joint training, but for data and predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSettings {
    /// how it is planned
    pub planner: Planner,
    /// of the soft plan, in units of reward
    pub temperature: f64,
    /// of the value
    pub value_weight: f64,
    /// of the predictive loss
    pub loss_weight: f64,
    /// passes over the instances
    pub epochs: usize,
    /// of Adam
    pub learning_rate: f64,
    /// what a joint problem may cost
    pub limit: Limit,
}

impl JointSettings {
    /// As decision-focused training is published: 50 epochs at 0.01, value 0.9 and loss 0.1. The temperature, 0.3, is ours: the
    /// warmer the plan, the less the value says and the nearer the result is to two-stage training
    /// (docs/MEASUREMENTS.md).
    pub fn published(planner: Planner) -> Self {
        Self {
            planner,
            temperature: 0.3,
            value_weight: 0.9,
            loss_weight: 0.1,
            epochs: 50,
            learning_rate: 0.01,
            limit: Limit::default(),
        }
    }
}

/// One instance, ready for gradient steps.
pub struct JointTask {
    features: Array2<f64>,
    record: Record,
    objective: Objective,
    value_weight: f64,
    loss_weight: f64,
}

/// What an instance says of a predictor.
#[derive(Debug, Clone, PartialEq)]
pub struct JointGradient {
    /// (value_weight · value − loss_weight · loss)/N
    pub objective: f64,
    /// of the soft plan
    pub value: f64,
    /// per trajectory
    pub loss: f64,
    /// of the objective by the parameters
    pub gradient: Vec<f64>,
    /// whether plan and gradient were found
    pub status: PlanStatus,
    /// of the joint ratios at the last step
    pub effective_sample_size: f64,
    /// sweeps there and back
    pub sweeps: usize,
}

/// The end of training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// with the parameters of the last epoch whose numbers were finite
    pub predictor: Predictor,
    /// the mean objective over the instances in each epoch, each as its step met it
    pub history: Vec<f64>,
    /// whether all plans and gradients were found
    pub status: PlanStatus,
}

impl JointTask {
    /// Of an instance; an error where it does not fit.
    pub fn new(instance: &Instance, settings: &JointSettings) -> Result<Self> {
        for (what, weight) in [("value weight", settings.value_weight), ("loss weight", settings.loss_weight)]
        {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(Error::Range { what, expected: "a number of at least 0", found: weight });
            }
        }
        Ok(Self {
            features: instance.features().to_owned(),
            record: Record::new(instance),
            objective: Objective::new(instance, settings.planner, settings.temperature, &settings.limit)?,
            value_weight: settings.value_weight,
            loss_weight: settings.loss_weight,
        })
    }

    /// The objective of a predictor, and its gradient.
    pub fn objective(&self, predictor: &Predictor) -> JointGradient {
        let forward = predictor.forward(self.features.view());
        let transition = forward.transition.view();
        let judged = self.objective.objective(transition);
        let loss = self.record.loss(transition);
        let per_arm = 1.0 / self.features.nrows() as f64;
        let (value_weight, loss_weight) = (per_arm * self.value_weight, per_arm * self.loss_weight);
        let d_transition = judged.d_transition * value_weight + loss.pullback(-loss_weight).d_transition;
        JointGradient {
            objective: value_weight * judged.value - loss_weight * loss.per_trajectory,
            value: judged.value,
            loss: loss.per_trajectory,
            gradient: forward.pullback(d_transition.view()).d_params,
            status: judged.status,
            effective_sample_size: judged.effective_sample_size,
            sweeps: judged.sweeps,
        }
    }
}

/// Trains a predictor, from where it stands, on these instances.
///
/// ```
/// use restive::data::domain::Domain;
/// use restive::joint::{Planner, JointSettings, train};
/// use restive::predictor::{Architecture, PredictorKind, Predictor};
///
/// let domain = Domain { instances: 2, arms: 3, budget: 1, trajectories: 30, ..Domain::two_state() };
/// let kind = PredictorKind::Network { hidden: vec![16], dropout: 0.0 };
/// let predictor = Predictor::new(&Architecture { features: 16, states: 2, kind }, 1)?;
/// let settings = JointSettings { epochs: 10, ..JointSettings::published(Planner::Unrolled { sweeps: 5 }) };
/// let trained = train(&domain.generate(1)?, predictor, &settings)?;
/// assert!(trained.history[9] > trained.history[0]);
/// # Ok::<(), restive::Error>(())
/// ```
pub fn train(instances: &[Instance], mut predictor: Predictor, settings: &JointSettings) -> Result<Trained> {
    let architecture = predictor.architecture();
    let mut tasks = Vec::with_capacity(instances.len());
    for instance in instances {
        let (features, states) = (instance.features().ncols(), instance.states());
        if (features, states) != (architecture.features, architecture.states) {
            let found = format!("{features} features and {states} states");
            let expected = format!("{} and {}, as the predictor", architecture.features, architecture.states);
            return Err(Error::Unsuitable { what: "instance", found, expected });
        }
        tasks.push(JointTask::new(instance, settings)?);
    }
    if tasks.is_empty() {
        let (found, expected) = ("none".into(), "at least one".into());
        return Err(Error::Unsuitable { what: "training instances", found, expected });
    }
    let mut adam = Adam::new(predictor.flat().len(), 1e-7);
    let mut trained =
        Trained { predictor: predictor.clone(), history: Vec::new(), status: PlanStatus::Converged };
    for _ in 0..settings.epochs {
        let mut mean = 0.0;
        for task in &tasks {
            let said = task.objective(&predictor);
            mean += said.objective / tasks.len() as f64;
            if said.status == PlanStatus::NotConverged {
                trained.status = PlanStatus::NotConverged;
            }
            let down: Vec<f64> = said.gradient.iter().map(|g| -g).collect();
            predictor.update(|params| adam.step(params, &down, settings.learning_rate));
        }
        trained.history.push(mean);
        if !mean.is_finite() || predictor.flat().iter().any(|x| !x.is_finite()) {
            trained.status = PlanStatus::NotConverged;
            return Ok(trained);
        }
        trained.predictor.update(|params| params.copy_from_slice(&predictor.flat()));
    }
    Ok(trained)
}
