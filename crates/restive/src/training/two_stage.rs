//! Two-stage training: fit the transitions first, plan afterwards.
//!
//! A network takes one Adam step per training instance, in the order given, down the [predictive loss](mod@crate::evaluation::likelihood) of that instance; a pass
//! over all instances is an epoch. The effect model is fitted by one Newton solve, which counts as one epoch. Nothing random is
//! carried from step to step (dropout has a stream for each step), so the parameters, the moments of the gradient and a few
//! counters are the whole state: [`TwoStage::snapshot`] takes it, [`TwoStage::restore`] brings it back, and training
//! goes on as if it had never stopped, bit for bit.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::training::{Config, TwoStage};
//!
//! let domain = Domain { instances: 2, arms: 20, budget: 4, trajectories: 10, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! let (train, validation) = instances.split_at(1);
//! let mut training = TwoStage::new(Config::published(), train, validation)?;
//! training.epoch();
//! let snapshot = training.snapshot();
//! let mut restored = TwoStage::restore(Config::published(), train, validation, &snapshot)?;
//! assert_eq!(training.epoch(), restored.epoch());
//! # Ok::<(), restive::Error>(())
//! ```

use super::config::{Config, Keep};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::evaluation::likelihood;
use crate::instance::{Counts, Instance};
use crate::predictor::adam::Adam;
use crate::predictor::{Architecture, Kind, Predictor, effect};
use crate::random::stream;
use ndarray::{Array2, Array4, Axis, concatenate};
use rand::RngExt;

/// The stream of dropout: no other use of a seed begins with it.
const DROPOUT: u64 = 0x6472_6f70_6f75;

/// One epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// from 0
    pub epoch: usize,
    /// mean over the training instances of the loss, each as its step met it
    pub train_loss: f64,
    /// mean over the validation instances of the loss after the epoch
    pub validation_loss: Option<f64>,
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

/// What is known of one instance.
struct Arms {
    features: Array2<f64>,
    counts: Counts,
}

/// Two-stage training between two epochs.
pub struct TwoStage {
    pub(super) config: Config,
    train: Vec<Arms>,
    validation: Vec<Arms>,
    pub(super) predictor: Predictor,
    pub(super) adam: Adam,
    pub(super) kept: Vec<f64>,
    pub(super) history: Vec<EpochReport>,
    pub(super) status: Status,
}

impl TwoStage {
    /// Checks that there is something to train on and that all instances have as many features and states.
    pub fn new(config: Config, train: &[Instance], validation: &[Instance]) -> Result<Self> {
        config.check()?;
        let Some(first) = train.first() else {
            let expected = "at least one instance to train on".into();
            return Err(Error::Shape { what: "training instances", expected, found: vec![0] });
        };
        let (f, m) = (first.features().ncols(), first.states());
        let take = |instance: &Instance| {
            let found = [instance.features().ncols(), instance.states()];
            if found != [f, m] {
                let expected = format!("{f} features and {m} states in every instance");
                return Err(Error::Shape { what: "instance", expected, found: found.to_vec() });
            }
            Ok(Arms { features: instance.features().to_owned(), counts: instance.trajectories().counts() })
        };
        let train = train.iter().map(take).collect::<Result<_>>()?;
        let validation = validation.iter().map(take).collect::<Result<Vec<_>>>()?;
        if let Kind::Effect { precision: effect::Precision::HeldOut { .. } } = config.kind
            && validation.is_empty()
        {
            let expected = "at least one instance to choose the precision on".into();
            return Err(Error::Shape { what: "validation instances", expected, found: vec![0] });
        }
        let architecture = Architecture { features: f, states: m, kind: config.kind.clone() };
        let predictor = Predictor::new(&architecture, config.seed)?;
        let adam = Adam::new(predictor.flat().len(), config.epsilon);
        let (kept, history, status) = (predictor.flat().to_vec(), Vec::new(), Status::Running);
        Ok(Self { config, train, validation, predictor, adam, kept, history, status })
    }

    /// Where a [`TwoStage::snapshot`] left off. Sizes are checked; that configuration and instances are the same is for
    /// the caller to know.
    pub fn restore(
        config: Config,
        train: &[Instance],
        validation: &[Instance],
        snapshot: &Snapshot,
    ) -> Result<Self> {
        let mut training = Self::new(config, train, validation)?;
        training.apply(snapshot)?;
        Ok(training)
    }

    /// Whether no epoch is left.
    pub fn is_finished(&self) -> bool {
        self.status != Status::Running
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochReport] {
        &self.history
    }

    /// One pass over the training instances. Training must not be finished.
    pub fn epoch(&mut self) -> EpochReport {
        assert!(!self.is_finished(), "training is finished");
        match self.config.kind {
            Kind::Network { .. } => self.network_epoch(),
            Kind::Effect { precision } => self.effect_epoch(precision),
        }
    }

    /// The predictor with the parameters that are kept.
    pub fn finish(mut self) -> Fitted {
        self.predictor.flat_mut().copy_from_slice(&self.kept);
        Fitted { predictor: self.predictor, history: self.history, status: self.status }
    }

    fn network_epoch(&mut self) -> EpochReport {
        let epoch = self.history.len();
        let idle = usize::from(self.config.has_idle_epoch);
        let learning_rate = if epoch < idle {
            0.0
        } else {
            self.config.rate.at(epoch - idle, self.config.epochs.saturating_sub(idle))
        };
        let mut train_loss = 0.0;
        for arms in &self.train {
            let luck = stream(self.config.seed, &[DROPOUT, self.adam.steps]).random();
            let forward = self.predictor.forward_with_dropout(arms.features.view(), luck);
            let loss = likelihood(&arms.counts, forward.transition.view());
            train_loss += loss.per_trajectory / self.train.len() as f64;
            if learning_rate > 0.0 {
                let d_params = forward.pullback(loss.pullback(1.0).view());
                self.adam.step(self.predictor.flat_mut(), &d_params, learning_rate);
            }
        }
        let validation_loss = self.validation_loss();
        let is_finite = train_loss.is_finite()
            && validation_loss.is_none_or(f64::is_finite)
            && self.predictor.flat().iter().all(|x| x.is_finite());
        let lowest = self.history.iter().filter_map(|e| e.validation_loss).fold(f64::INFINITY, f64::min);
        let is_best = is_finite
            && match self.config.keep {
                Keep::Last => true,
                Keep::Best { .. } => validation_loss.is_none_or(|loss| loss < lowest),
            };
        if is_best {
            self.kept.copy_from_slice(self.predictor.flat());
        }
        let report = EpochReport { epoch, train_loss, validation_loss, learning_rate, is_best };
        self.history.push(report);
        let best = self.history.iter().rposition(|e| e.is_best);
        self.status = match self.config.keep {
            _ if !is_finite => Status::Diverged,
            _ if epoch + 1 >= self.config.epochs => Status::Completed,
            Keep::Best { patience } if epoch - best.unwrap_or(0) >= patience.max(1) => Status::StoppedEarly,
            _ => Status::Running,
        };
        report
    }

    fn effect_epoch(&mut self, precision: effect::Precision) -> EpochReport {
        let (features, counts) = together(&self.train).expect("at least one instance");
        let held_out = together(&self.validation);
        let held_out = held_out.as_ref().map(|(features, counts)| (features.view(), counts.view()));
        let fitted = effect::fit(features.view(), counts.view(), precision, held_out)
            .expect("the precision was checked when training began");
        self.status = match fitted.status {
            effect::Status::Converged => Status::Converged,
            effect::Status::NotConverged => Status::NotConverged,
        };
        self.predictor = Predictor::Effect(fitted.effect);
        self.kept.copy_from_slice(self.predictor.flat());
        let report = EpochReport {
            epoch: 0,
            train_loss: self.mean_loss(&self.train).expect("at least one instance"),
            validation_loss: self.validation_loss(),
            learning_rate: 0.0,
            is_best: true,
        };
        self.history.push(report);
        report
    }

    pub(super) fn is_without_validation(&self) -> bool {
        self.validation.is_empty()
    }

    fn validation_loss(&self) -> Option<f64> {
        self.mean_loss(&self.validation)
    }

    fn mean_loss(&self, instances: &[Arms]) -> Option<f64> {
        let one = |arms: &Arms| {
            let transition = self.predictor.predict(arms.features.view());
            likelihood(&arms.counts, transition.view()).per_trajectory
        };
        (!instances.is_empty()).then(|| instances.iter().map(one).sum::<f64>() / instances.len() as f64)
    }
}

/// The arms of all instances, one after the other.
fn together(instances: &[Arms]) -> Option<(Array2<f64>, Array4<f64>)> {
    let features: Vec<_> = instances.iter().map(|arms| arms.features.view()).collect();
    let counts: Vec<_> = instances.iter().map(|arms| arms.counts.view()).collect();
    let join = "instances have as many features and states";
    (!instances.is_empty())
        .then(|| (concatenate(Axis(0), &features).expect(join), concatenate(Axis(0), &counts).expect(join)))
}
