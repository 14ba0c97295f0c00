//! The training door: every [`Method`] begins, advances, is saved and restored, and ends in the same way.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::training::{Config, fit};
//!
//! let domain = Domain { instances: 3, arms: 20, budget: 4, trajectories: 10, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! let config = Config { epochs: 20, ..Config::recommended(&instances[..2]) };
//! let fitted = fit(config, &instances[..2], &instances[2..])?;
//! assert!(fitted.history.last().unwrap().train_loss < fitted.history[0].train_loss);
//! # Ok::<(), restive::Error>(())
//! ```

use super::auto::{self, Auto};
use super::decision_focused::DecisionFocused;
use super::descent::{EpochReport, Fitted};
use super::method::Method;
use super::recipe::Choice;
use super::selection::{Selected, Selection, Verdict};
use super::snapshot::Snapshot;
use super::two_stage::TwoStage;
use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::predictor::Predictor;
use crate::predictor::logistic::FitProgress;
use rayon::ThreadPool;

/// A training between two epochs.
pub enum Fit {
    /// by likelihood
    TwoStage(Box<TwoStage>),
    /// by likelihood, in folds that choose
    Auto(Box<Auto>),
    /// through the decision
    DecisionFocused(Box<DecisionFocused>),
    /// both, and a choice
    Recommended(Box<Selection>),
}

/// The end of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// the answer
    pub fitted: Fitted,
    /// where several predictors were tried: what the folds said of them
    pub choice: Option<auto::Verdict>,
    /// of the recommended training: what the folds said, and two-stage training on the same instances
    pub selection: Option<(Verdict, Fitted)>,
}

impl Finished {
    /// What two-stage training led to, where that was part of the training and is not the answer.
    pub fn before(&self) -> Option<&Fitted> {
        let (verdict, two_stage) = self.selection.as_ref()?;
        (verdict.choice != Choice::TwoStage).then_some(two_stage)
    }
}

/// Trains to the end: by likelihood where a [`Config`](super::Config) is given, as recommended where a
/// [`Recipe`](super::Recipe) is.
pub fn fit(method: impl Into<Method>, train: &[Instance], validation: &[Instance]) -> Result<Fitted> {
    let mut fit = Fit::new(method.into(), train, validation)?;
    fit.run(None, |_, _| Ok::<(), Error>(()))?;
    Ok(fit.finish().fitted)
}

impl Fit {
    /// At its beginning.
    pub fn new(method: Method, train: &[Instance], validation: &[Instance]) -> Result<Self> {
        Ok(match method {
            Method::TwoStage(config) => Self::TwoStage(Box::new(TwoStage::new(config, train, validation)?)),
            Method::Auto(config) => Self::Auto(Box::new(Auto::new(config, train, validation)?)),
            Method::DecisionFocused(config, decision, prior) => Self::DecisionFocused(Box::new(
                DecisionFocused::new(config, decision, prior.as_ref(), train, validation)?,
            )),
            Method::Recommended(recipe) => {
                Self::Recommended(Box::new(Selection::new(recipe, train, validation)?))
            }
        })
    }

    /// Goes on where a snapshot of the same training left off.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        match self {
            Self::TwoStage(training) => training.restore(snapshot),
            Self::Auto(training) => training.restore(snapshot),
            Self::DecisionFocused(training) => training.restore(snapshot),
            Self::Recommended(training) => training.restore(snapshot),
        }
    }

    /// Its state, to go on from.
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::TwoStage(training) => training.snapshot(),
            Self::Auto(training) => training.snapshot(),
            Self::DecisionFocused(training) => training.snapshot(),
            Self::Recommended(training) => training.snapshot(),
        }
    }

    /// Whether there is nothing left to do.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::TwoStage(training) => training.is_finished(),
            Self::Auto(training) => training.is_finished(),
            Self::DecisionFocused(training) => training.is_finished(),
            Self::Recommended(training) => training.is_finished(),
        }
    }

    /// Advances to the end, on the threads of `pool` (none: rayon's own). `visit` sees the training after every epoch, round of
    /// epochs, or step of an logistic model's fit, in the thread that calls, and may end it by an error of its own.
    pub fn run<E>(
        &mut self,
        pool: Option<&ThreadPool>,
        mut visit: impl FnMut(&Self, Option<(&'static str, EpochReport)>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        while !self.is_finished() {
            let epoch = match pool {
                Some(pool) => pool.install(|| self.advance()),
                None => self.advance(),
            };
            visit(self, epoch)?;
        }
        Ok(())
    }

    /// One epoch, one round of epochs, or a step of an logistic model's fit; the stage and the epoch that was made on all instances, if one was.
    pub fn advance(&mut self) -> Option<(&'static str, EpochReport)> {
        match self {
            Self::TwoStage(training) => training.advance().map(|epoch| ("two-stage", epoch)),
            Self::Auto(training) => {
                training.round();
                None
            }
            Self::DecisionFocused(training) => Some(("decision-focused", training.epoch())),
            Self::Recommended(training) => {
                let before = training.last_epoch();
                training.round();
                training.last_epoch().filter(|now| before.as_ref() != Some(now))
            }
        }
    }

    /// The predictor as it stands: of the recommended training, that of the last stage on all instances.
    pub fn predictor(&self) -> Predictor {
        match self {
            Self::TwoStage(training) => training.predictor().clone(),
            Self::Auto(training) => training.predictor(),
            Self::DecisionFocused(training) => training.predictor().clone(),
            Self::Recommended(training) => training.predictor(),
        }
    }

    /// The last epoch that was made on all instances.
    pub fn last_epoch(&self) -> Option<EpochReport> {
        match self {
            Self::TwoStage(training) => training.history().last().copied(),
            Self::Auto(_) => None,
            Self::DecisionFocused(training) => training.history().last().copied(),
            Self::Recommended(training) => training.last_epoch().map(|(_, report)| report),
        }
    }

    /// How many epochs were made, and how many there will be at most.
    pub fn progress(&self) -> (usize, usize) {
        match self {
            Self::TwoStage(training) => training.progress(),
            Self::Auto(training) => training.progress(),
            Self::DecisionFocused(training) => training.descent.progress(),
            Self::Recommended(training) => training.progress(),
        }
    }

    /// How much of it is done, from 0 to 1: of the epochs, and within the one that a logistic model has, of its fit.
    pub fn share(&self) -> f64 {
        let (made, most) = self.progress();
        let begun = self.fitting().map_or(0.0, |fitting| fitting.share);
        ((made as f64 + begun) / most.max(1) as f64).min(1.0)
    }

    /// How far the fit of a logistic model to all instances has come, while it is on its way.
    pub fn fitting(&self) -> Option<FitProgress> {
        match self {
            Self::TwoStage(training) => training.fitting(),
            Self::Auto(training) => training.fitting(),
            Self::DecisionFocused(_) => None,
            Self::Recommended(training) => training.fitting(),
        }
    }

    /// What the folds of the recommended training said, once they have.
    pub fn verdict(&self) -> Option<&Verdict> {
        match self {
            Self::TwoStage(_) | Self::Auto(_) | Self::DecisionFocused(_) => None,
            Self::Recommended(training) => training.verdict(),
        }
    }

    /// What the folds of the first stage chose, once they have.
    pub fn choice(&self) -> Option<&auto::Verdict> {
        match self {
            Self::TwoStage(_) | Self::DecisionFocused(_) => None,
            Self::Auto(training) => training.verdict(),
            Self::Recommended(training) => training.choice(),
        }
    }

    /// The predictor with the parameters that are kept, and how the training went.
    pub fn finish(self) -> Finished {
        match self {
            Self::TwoStage(training) => Finished { fitted: training.finish(), choice: None, selection: None },
            Self::Auto(training) => {
                Finished { choice: training.verdict().cloned(), fitted: training.finish(), selection: None }
            }
            Self::DecisionFocused(training) => {
                Finished { fitted: training.finish(), choice: None, selection: None }
            }
            Self::Recommended(training) => {
                let choice = training.choice().cloned();
                let Selected { fitted, two_stage, verdict } = training.finish();
                Finished { fitted, choice, selection: Some((verdict, two_stage)) }
            }
        }
    }
}
