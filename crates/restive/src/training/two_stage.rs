//! Two-stage training: fit the transitions first, plan afterwards.
//!
//! A network takes one Adam step per training instance, in the order given, down the [predictive loss](mod@crate::evaluation::likelihood) of that instance; a pass
//! over all instances is an epoch. Of instances with very many arms a step takes a [minibatch](Config::batch). A logistic model is fitted by Newton's method, which counts as one epoch;
//! [`TwoStage::advance`] makes a step of it at a time, and a fit that is left half-way begins anew. Nothing random is carried
//! from step to step (dropout has a stream for each step), so the parameters, the moments of the gradient and a few counters
//! are the whole state: [`TwoStage::snapshot`] takes it, [`TwoStage::restore`] brings it back, and training goes on as if it had
//! never stopped, bit for bit.
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
//! let mut restored = TwoStage::new(Config::published(), train, validation)?;
//! restored.restore(&snapshot)?;
//! assert_eq!(training.epoch(), restored.epoch());
//! # Ok::<(), restive::Error>(())
//! ```

use super::batches::{self, Piece, pieces};
use super::config::Config;
use super::descent::{Descent, EpochReport, Fitted, Status, Step};
use super::prepared::{Prepared, prepare};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::predictor::logistic::Form;
use crate::predictor::{Architecture, Predictor, PredictorKind, logistic};
use crate::random::stream;
use ndarray::{Array2, Array4, Axis, concatenate};
use rand::RngExt;
use std::sync::Arc;

/// The stream of dropout: no other use of a seed begins with it.
const DROPOUT: u64 = 0x6472_6f70_6f75;

/// What draws the dropout of a step.
pub(super) fn dropout_seed(seed: u64, steps: u64) -> u64 {
    stream(seed, &[DROPOUT, steps]).random()
}

/// Two-stage training between two epochs.
pub struct TwoStage {
    pub(super) descent: Descent,
    train: Vec<Arc<Prepared>>,
    validation: Vec<Arc<Prepared>>,
    /// a logistic model on its way
    fitting: Option<logistic::Fitting>,
}

impl TwoStage {
    /// Checks that there is something to train on and that all instances have as many features and states.
    pub fn new(config: Config, train: &[Instance], validation: &[Instance]) -> Result<Self> {
        let [train, validation] = prepare(train, validation, None)?;
        Self::from_prepared(config, train, validation)
    }

    pub(super) fn from_prepared(
        config: Config,
        train: Vec<Arc<Prepared>>,
        validation: Vec<Arc<Prepared>>,
    ) -> Result<Self> {
        config.check()?;
        if let PredictorKind::Effect { precision: logistic::Precision::HeldOut { .. } } = config.kind
            && validation.is_empty()
        {
            let (found, expected) = ("none".into(), "at least one to choose the precision on".into());
            return Err(Error::Unsuitable { what: "validation instances", found, expected });
        }
        if form(&config.kind).is_some() && train[0].observation != Observation::Full {
            let found = "states seen at pulls only".into();
            let expected = "states seen at every step: it is fitted to moves".into();
            return Err(Error::Unsuitable { what: "logistic model", found, expected });
        }
        let (features, states) = (train[0].features.ncols(), train[0].reward.states());
        let architecture = Architecture { features, states, kind: config.kind.clone() };
        let predictor = Predictor::new(&architecture, config.seed)?;
        Ok(Self { descent: Descent::new(config, predictor), train, validation, fitting: None })
    }

    /// Goes on where a snapshot of the same training left off. Sizes are checked; that configuration and instances are the
    /// same is for the caller to know.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.descent.apply(snapshot, !self.validation.is_empty())
    }

    /// The state of training, to be saved.
    pub fn snapshot(&self) -> Snapshot {
        self.descent.snapshot()
    }

    /// Whether no epoch is left.
    pub fn is_finished(&self) -> bool {
        self.descent.status != Status::Running
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.descent.status
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochReport] {
        &self.descent.history
    }

    /// The predictor as it stands.
    pub fn predictor(&self) -> &Predictor {
        &self.descent.predictor
    }

    /// One pass over the training instances. Training must not be finished.
    pub fn epoch(&mut self) -> EpochReport {
        loop {
            if let Some(report) = self.advance() {
                return report;
            }
        }
    }

    /// One pass over the training instances, or of a logistic model a step of its fit; the epoch that this ended, if it did.
    /// Training must not be finished.
    pub fn advance(&mut self) -> Option<EpochReport> {
        assert!(!self.is_finished(), "training is finished");
        match form(&self.descent.config.kind) {
            None => Some(self.network_epoch()),
            Some(form) => self.logistic_step(form),
        }
    }

    /// How far the fit of a logistic model has come, while it is on its way.
    pub fn fitting(&self) -> Option<logistic::FitProgress> {
        self.fitting.as_ref().map(logistic::Fitting::progress)
    }

    /// How many epochs were made, and how many there will be at most.
    pub fn progress(&self) -> (usize, usize) {
        match form(&self.descent.config.kind) {
            None => self.descent.progress(),
            Some(_) => (self.descent.history.len(), 1),
        }
    }

    /// The predictor with the parameters that are kept so far.
    pub fn best(&self) -> Predictor {
        self.descent.best()
    }

    /// The predictor with the parameters that are kept.
    pub fn finish(self) -> Fitted {
        self.descent.finish()
    }

    fn network_epoch(&mut self) -> EpochReport {
        let Self { descent, train, validation, .. } = self;
        let (seed, epoch) = (descent.config.seed, descent.history.len());
        let cut = pieces(train, descent.config.batch, seed, epoch);
        // a mean over pieces of this is the mean over instances of the sum of their pieces
        let each = cut.len() as f64 / train.len() as f64;
        let step = |predictor: &Predictor, k: usize, steps: u64| {
            let Piece { instance, arms } = &cut[k];
            let (loss, gradient) = batches::step(predictor, &train[*instance], arms.as_deref(), seed, steps);
            Step { loss: each * loss, value: None, gradient }
        };
        descent.epoch(cut.len(), step, |predictor| mean_loss(predictor, validation))
    }

    fn logistic_step(&mut self, form: Form) -> Option<EpochReport> {
        match &mut self.fitting {
            Some(fitting) => fitting.advance(),
            None => {
                let (features, counts) = together(&self.train).expect("at least one instance");
                let held_out = together(&self.validation);
                let begun = logistic::Fitting::new(features.view(), counts.view(), form, held_out);
                self.fitting = Some(begun.expect("penalties were checked when training began"));
            }
        }
        let fitted = self.fitting.take_if(|fitting| fitting.is_finished())?.finish();
        let descent = &mut self.descent;
        descent.status = match fitted.status {
            logistic::FitStatus::Converged => Status::Converged,
            logistic::FitStatus::NotConverged => Status::NotConverged,
        };
        descent.predictor = Predictor::Logistic(fitted.model);
        descent.kept.copy_from_slice(&descent.predictor.flat());
        let report = EpochReport {
            epoch: 0,
            train_loss: mean_loss(&descent.predictor, &self.train).expect("at least one instance"),
            validation_loss: mean_loss(&descent.predictor, &self.validation),
            train_value: None,
            learning_rate: 0.0,
            is_best: true,
        };
        descent.history.push(report);
        Some(report)
    }
}

/// The logistic model of a kind, where it is one: fitted by Newton's method.
pub(super) fn form(kind: &PredictorKind) -> Option<Form> {
    match kind {
        PredictorKind::Network { .. } | PredictorKind::Pool { .. } => None,
        PredictorKind::Effect { precision } => Some((*precision).into()),
        PredictorKind::Hierarchical { penalties } => Some((*penalties).into()),
    }
}

/// The mean predictive loss over some instances, where there are any.
pub(super) fn mean_loss(predictor: &Predictor, prepared: &[Arc<Prepared>]) -> Option<f64> {
    let one = |prepared: &Arc<Prepared>| {
        let transition = predictor.predict(prepared.features.view());
        prepared.record.loss(transition.view()).per_trajectory
    };
    (!prepared.is_empty()).then(|| prepared.iter().map(one).sum::<f64>() / prepared.len() as f64)
}

/// The arms of all instances, one after the other.
fn together(prepared: &[Arc<Prepared>]) -> Option<(Array2<f64>, Array4<f64>)> {
    let features: Vec<_> = prepared.iter().map(|prepared| prepared.features.view()).collect();
    let counts: Vec<_> = prepared
        .iter()
        .map(|prepared| prepared.record.moves().expect("states are seen at every step").view())
        .collect();
    let join = "instances have as many features and states";
    (!prepared.is_empty())
        .then(|| (concatenate(Axis(0), &features).expect(join), concatenate(Axis(0), &counts).expect(join)))
}
