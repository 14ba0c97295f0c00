//! How to train: the published protocol, the paper's text, and what we recommend.

use super::batches::pieces_of;
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::predictor::PredictorKind;
use crate::random::stream;
use rand::RngExt;

/// The stream of the seeds of an ensemble: no other use of a seed begins with it.
const MEMBER: u64 = 0x6d65_6d62_6572;

/// The learning rate of each epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// always the same
    Constant(f64),
    /// from this rate to nearly zero along half a cosine
    Cosine(f64),
}

impl Rate {
    /// The rate of an epoch out of so many.
    pub fn at(self, epoch: usize, epochs: usize) -> f64 {
        match self {
            Self::Constant(rate) => rate,
            Self::Cosine(rate) => {
                let progress = epoch as f64 / epochs as f64;
                0.5 * rate * (1.0 + (std::f64::consts::PI * progress).cos())
            }
        }
    }
}

/// Which parameters are kept at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// those of the last epoch
    Last,
    /// those with the lowest validation loss; training stops after so many epochs without a new one. Without validation
    /// instances: those of the last epoch.
    Best {
        /// epochs without improvement
        patience: usize,
    },
}

/// The published experiments, which differ in how long they trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// two and five states, seen at every step
    FullyObserved,
    /// states seen at pulls only
    Collapsing,
    /// the maternal programme
    Maternal,
}

impl Protocol {
    /// That of the synthetic domains.
    pub fn of_domain(observation: Observation) -> Self {
        match observation {
            Observation::Full => Self::FullyObserved,
            Observation::Collapsing(_) => Self::Collapsing,
        }
    }
}

/// Everything that decides a training run, but for the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// the predictor and its settings
    pub kind: PredictorKind,
    /// draws the initial weights and the dropout
    pub seed: u64,
    /// passes over the training instances, one step per instance in the order given; at most that many
    pub epochs: usize,
    /// arms of a step of two-stage training, at most: instances with more are met in pieces, in an order drawn for each epoch, the
    /// gradient of a piece scaled to the whole; none: whole instances. Decision-focused training always takes whole ones.
    pub batch: Option<usize>,
    /// whether epoch 0 only measures the untrained predictor, as in the published code
    pub has_idle_epoch: bool,
    /// the learning rate
    pub rate: Rate,
    /// ε of Adam
    pub epsilon: f64,
    /// what is kept
    pub keep: Keep,
}

impl Config {
    /// As the published results on fully observed arms were made: 50 epochs of which the first makes no step, no dropout, the
    /// last epoch.
    pub fn published() -> Self {
        Self {
            kind: PredictorKind::Network { hidden: vec![64], dropout: 0.0 },
            seed: 0,
            epochs: 50,
            batch: None,
            has_idle_epoch: true,
            rate: Rate::Constant(0.01),
            epsilon: 1e-7,
            keep: Keep::Last,
        }
    }

    /// As the paper's text says: 50 epochs, dropout 0.2.
    pub fn paper() -> Self {
        let kind = PredictorKind::Network { hidden: vec![64], dropout: 0.2 };
        Self { kind, has_idle_epoch: false, ..Self::published() }
    }

    /// [`Config::published`], as long as that experiment trained.
    pub fn published_in(protocol: Protocol) -> Self {
        let epochs = match protocol {
            Protocol::FullyObserved => 50,
            Protocol::Collapsing => 20,
            Protocol::Maternal => 30,
        };
        Self { epochs, ..Self::published() }
    }

    /// [`Config::paper`], as long as that experiment trained.
    pub fn paper_in(protocol: Protocol) -> Self {
        let epochs = match protocol {
            Protocol::Collapsing => 18,
            other => Self::published_in(other).epochs,
        };
        Self { epochs, ..Self::paper() }
    }

    /// To convergence: a cosine from 0.03 (0.01 with fewer than five trajectories per instance, 0.003 with five states or
    /// more), about [`Config::STEPS`] steps whatever the number of instances, the best validation loss. Where an instance has more than
    /// [`Config::MANY`] arms, steps take [`Config::BATCH`] of them.
    pub fn recommended(train: &[Instance]) -> Self {
        let trajectories: usize = train.iter().map(|instance| instance.trajectories().trajectories()).sum();
        let rate = if train.iter().any(|instance| instance.states() >= 5) {
            0.003
        } else if trajectories < 5 * train.len() {
            0.01
        } else {
            0.03
        };
        let arms: Vec<usize> = train.iter().map(Instance::arms).collect();
        let (batch, epochs) = Self::passes(&arms);
        Self {
            epochs,
            batch,
            has_idle_epoch: false,
            rate: Rate::Cosine(rate),
            epsilon: 1e-8,
            keep: Keep::Best { patience: epochs.div_ceil(5) },
            ..Self::published()
        }
    }

    /// Arms of a step, and epochs, of the recommended profile on instances with so many arms.
    pub fn passes(arms: &[usize]) -> (Option<usize>, usize) {
        let batch = arms.iter().any(|arms| *arms > Self::MANY).then_some(Self::BATCH);
        let steps: usize = arms.iter().map(|arms| pieces_of(*arms, batch)).sum();
        (batch, Self::STEPS.div_ceil(steps.max(1)))
    }

    /// Steps of the recommended profile, at most.
    pub const STEPS: usize = 7000;

    /// Training arms of an instance up to which its steps take all of them.
    pub const MANY: usize = 20_000;

    /// Arms of a step beyond that.
    pub const BATCH: usize = 4_096;

    /// The k-th member of an ensemble: the same but for the seed. Member 0 is this configuration itself. (Fits of the
    /// effect model do not depend on the seed.)
    pub fn member(&self, k: usize) -> Self {
        let seed = if k == 0 { self.seed } else { stream(self.seed, &[MEMBER, k as u64]).random() };
        Self { seed, ..self.clone() }
    }

    pub(super) fn check(&self) -> Result<()> {
        let (Rate::Constant(rate) | Rate::Cosine(rate)) = self.rate;
        let above_zero = |what, found: f64| {
            if found > 0.0 && found.is_finite() {
                return Ok(());
            }
            Err(Error::Range { what, expected: "a number above 0", found })
        };
        above_zero("learning rate", rate)?;
        above_zero("epsilon", self.epsilon)?;
        above_zero("arms of a step", self.batch.map_or(1.0, |batch| batch as f64))?;
        above_zero("epochs", self.epochs as f64)
    }
}
