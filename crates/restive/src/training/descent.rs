//! Descent: Adam steps over instances, epoch by epoch; its state can be saved and restored between any two of them.
//!
//! One epoch takes a step per training instance, in the order given. What a step descends is for the caller to say:
//! [`TwoStage`](super::TwoStage) goes down the predictive loss, [`DecisionFocused`](super::DecisionFocused) up the value
//! of the decision. Nothing random is carried from step to step, so the parameters, the moments of the gradient and a few
//! counters are the whole state.

use super::config::{Config, Keep};
use crate::predictor::Predictor;
use crate::predictor::adam::Adam;

/// One epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// from 0
    pub epoch: usize,
    /// mean over the training instances of the predictive loss, each as its step met it
    pub train_loss: f64,
    /// mean over the validation instances of the predictive loss after the epoch
    pub validation_loss: Option<f64>,
    /// mean over the training instances of the value of the decision, each as its step met it; none in two-stage training
    pub train_value: Option<f64>,
    /// of the epoch's steps; 0 where there were none
    pub learning_rate: f64,
    /// whether these parameters are kept until better ones come; with [`Keep::Last`] always
    pub is_best: bool,
}

/// How training ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// there are epochs to come
    Running,
    /// all epochs were made
    Completed,
    /// the validation loss had stopped falling
    StoppedEarly,
    /// a loss was not a finite number; what is kept are the last parameters for which it was
    Diverged,
    /// the effect model is at its minimum
    Converged,
    /// the effect model is not at its minimum
    NotConverged,
}

/// The end of training.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// with the parameters that were kept
    pub predictor: Predictor,
    /// all epochs
    pub history: Vec<EpochReport>,
    /// how it ended
    pub status: Status,
}

/// What one instance says of the parameters.
pub(super) struct Step {
    pub loss: f64,
    pub value: Option<f64>,
    /// of what is to fall, by the parameters
    pub gradient: Vec<f64>,
}

/// Training between two epochs.
pub(super) struct Descent {
    pub config: Config,
    pub predictor: Predictor,
    pub adam: Adam,
    pub kept: Vec<f64>,
    pub history: Vec<EpochReport>,
    pub status: Status,
}

impl Descent {
    pub fn new(config: Config, predictor: Predictor) -> Self {
        let adam = Adam::new(predictor.flat().len(), config.epsilon);
        let kept = predictor.flat().to_vec();
        Self { config, predictor, adam, kept, history: Vec::new(), status: Status::Running }
    }

    /// One pass: `step` is asked about each of `instances` in turn, `validation_loss` about the parameters afterwards.
    pub fn epoch(
        &mut self,
        instances: usize,
        step: impl Fn(&Predictor, usize, u64) -> Step,
        validation_loss: impl Fn(&Predictor) -> Option<f64>,
    ) -> EpochReport {
        assert!(self.status == Status::Running, "training is finished");
        let epoch = self.history.len();
        let idle = usize::from(self.config.has_idle_epoch);
        let learning_rate = match epoch.checked_sub(idle) {
            None => 0.0,
            Some(active) => self.config.rate.at(active, self.config.epochs.saturating_sub(idle)),
        };
        let (mut train_loss, mut train_value) = (0.0, None);
        for k in 0..instances {
            let said = step(&self.predictor, k, self.adam.steps);
            train_loss += said.loss / instances as f64;
            if let Some(value) = said.value {
                *train_value.get_or_insert(0.0) += value / instances as f64;
            }
            if learning_rate > 0.0 {
                let adam = &mut self.adam;
                self.predictor.update(|params| adam.step(params, &said.gradient, learning_rate));
            }
        }
        let validation_loss = validation_loss(&self.predictor);
        let is_finite = train_loss.is_finite()
            && train_value.is_none_or(f64::is_finite)
            && validation_loss.is_none_or(f64::is_finite)
            && self.predictor.flat().iter().all(|x| x.is_finite());
        let lowest = self.history.iter().filter_map(|e| e.validation_loss).fold(f64::INFINITY, f64::min);
        let is_best = is_finite
            && match self.config.keep {
                Keep::Last => true,
                Keep::Best { .. } => validation_loss.is_none_or(|loss| loss < lowest),
            };
        if is_best {
            self.kept.copy_from_slice(&self.predictor.flat());
        }
        self.history.push(EpochReport {
            epoch,
            train_loss,
            validation_loss,
            train_value,
            learning_rate,
            is_best,
        });
        let best = self.history.iter().rposition(|e| e.is_best);
        self.status = match self.config.keep {
            _ if !is_finite => Status::Diverged,
            _ if epoch + 1 >= self.config.epochs => Status::Completed,
            Keep::Best { patience } if epoch - best.unwrap_or(0) >= patience.max(1) => Status::StoppedEarly,
            _ => Status::Running,
        };
        self.history[epoch]
    }

    /// How many epochs were made, and how many there will be at most.
    pub fn progress(&self) -> (usize, usize) {
        (self.history.len(), self.config.epochs)
    }

    /// The predictor with the parameters that are kept so far.
    pub fn best(&self) -> Predictor {
        let mut predictor = self.predictor.clone();
        predictor.update(|params| params.copy_from_slice(&self.kept));
        predictor
    }

    /// The predictor with the parameters that are kept.
    pub fn finish(mut self) -> Fitted {
        let kept = &self.kept;
        self.predictor.update(|params| params.copy_from_slice(kept));
        Fitted { predictor: self.predictor, history: self.history, status: self.status }
    }
}
