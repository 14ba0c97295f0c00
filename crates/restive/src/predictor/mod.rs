//! Predictors: from the features of an arm to its transitions, and back.
//!
//! A [`Network`] is the paper's predictor: hidden layers of ReLU units and a softmax over the next state; without hidden
//! layers it is the *linear* predictor. A [`Logistic`] model, *effect* or *hierarchical*, learns how arms move when they are left
//! alone, and what a pull changes, as a shrunken shift: the choice for data with few pulls. A [`Pool`] weighs several of them.
//! [`Predictor`] is any of these; [`Ensemble`] averages several. [`contributions`] says which features set an arm apart.
//!
//! **Forward and pullback.** [`Predictor::forward`] turns features `[N,F]` into transitions `[N,M,2,M]`, and
//! [`Forward::pullback`] turns a cotangent of the transitions, whatever it comes from (a likelihood, a decision), into the
//! gradient by the parameters. Parameters are one flat vector, of which [`Predictor::params`] gives the named blocks.
//!
//! Arms are taken 1,024 at a time, each such chunk by whichever thread is free, and gradients are added in the order of the
//! chunks: the same bits for every number of threads.
//!
//! ```
//! use ndarray::{Array2, Array4};
//! use restive::predictor::{Architecture, Predictor, PredictorKind};
//!
//! let kind = PredictorKind::Network { hidden: vec![64], dropout: 0.0 };
//! let predictor = Predictor::new(&Architecture { features: 3, states: 2, kind }, 7)?;
//! let features = Array2::ones((10, 3));
//! let forward = predictor.forward(features.view());
//! let d_transition = Array4::ones((10, 2, 2, 2)); // rows sum to 1 whatever the parameters are …
//! let d_params = forward.pullback(d_transition.view()).d_params;
//! assert!(d_params.iter().all(|d| d.abs() < 1e-12)); // … so their sum has no gradient
//! # Ok::<(), restive::Error>(())
//! ```

pub mod adam;
mod chunks;
pub mod contributions;
pub mod logistic;
mod network;
mod params;
mod pool;
mod scaling;
mod softmax;

pub use logistic::{Logistic, Penalties, Precision};
pub use network::Network;
pub use pool::{Base, BaseKind, Pool, logs, pooled};
pub use scaling::{Scaling, are_uneven, is_uneven};

use crate::error::{Error, Result};
use ndarray::{Array4, ArrayD, ArrayView2, ArrayView4, ArrayViewD, CowArray, Ix2};
use std::borrow::Cow;

/// What a predictor is, before any training: plain data from which an untrained one is built.
#[derive(Debug, Clone, PartialEq)]
pub struct Architecture {
    /// F
    pub features: usize,
    /// M
    pub states: usize,
    /// which predictor, and its settings
    pub kind: PredictorKind,
}

/// The kinds of predictor, with their settings.
#[derive(Debug, Clone, PartialEq)]
pub enum PredictorKind {
    /// see [`Network`]
    Network {
        /// units of each hidden layer; none: the linear predictor
        hidden: Vec<usize>,
        /// share of the hidden units left out at random in each training step
        dropout: f64,
    },
    /// see [`Logistic`]
    Effect {
        /// how strongly the effect of a pull is held to be the same for all arms
        precision: Precision,
    },
    /// see [`Logistic`]
    Hierarchical {
        /// how strongly weights are held
        penalties: Penalties,
    },
    /// see [`Pool`]
    Pool {
        /// at least one
        bases: Vec<BaseKind>,
    },
}

/// Features → transitions.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictor {
    /// layers and a softmax
    Network(Network),
    /// a logistic model with a shrunken shift for a pull
    Logistic(Logistic),
    /// several of them
    Pool(Pool),
}

impl Predictor {
    /// An untrained predictor; the seed draws the network's weights.
    pub fn new(architecture: &Architecture, seed: u64) -> Result<Self> {
        let Architecture { features, states, kind } = architecture;
        if *states == 0 {
            return Err(Error::Range { what: "states", expected: "at least 1", found: 0.0 });
        }
        Ok(match kind {
            PredictorKind::Network { hidden, dropout } => {
                Self::Network(Network::new(*features, *states, hidden, *dropout, seed)?)
            }
            PredictorKind::Effect { precision } => {
                Self::Logistic(Logistic::new(*features, *states, *precision)?)
            }
            PredictorKind::Hierarchical { penalties } => {
                Self::Logistic(Logistic::new(*features, *states, *penalties)?)
            }
            PredictorKind::Pool { bases } => Self::Pool(Pool::untrained(*features, *states, bases, seed)?),
        })
    }

    /// What this predictor is.
    pub fn architecture(&self) -> Architecture {
        match self {
            Self::Network(network) => network.architecture(),
            Self::Logistic(model) => model.architecture(),
            Self::Pool(pool) => pool.architecture(),
        }
    }

    /// Transitions `[N,M,2,M]` of arms with these features `[N,F]`, without a tape: memory in proportion to the answer.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        match self {
            Self::Network(network) => network.predict(features),
            Self::Logistic(model) => model.predict(features),
            Self::Pool(pool) => pool.predict(features),
        }
    }

    /// Transitions of arms with these features `[N,F]`, ready to be pulled back.
    pub fn forward<'a>(&'a self, features: impl Into<CowArray<'a, f64, Ix2>>) -> Forward<'a> {
        match self {
            Self::Network(network) => network.forward(features),
            Self::Logistic(model) => model.forward(features),
            Self::Pool(pool) => pool.forward(features.into(), None),
        }
    }

    /// The forward pass of a training step: with dropout, drawn from the seed, where the predictor has it.
    pub fn forward_with_dropout<'a>(
        &'a self,
        features: impl Into<CowArray<'a, f64, Ix2>>,
        seed: u64,
    ) -> Forward<'a> {
        match self {
            Self::Network(network) => network.forward_with_dropout(features, seed),
            Self::Logistic(model) => model.forward(features),
            Self::Pool(pool) => pool.forward(features.into(), Some(seed)),
        }
    }

    /// All parameters in a row, in the order of [`Predictor::params`].
    pub fn flat(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Network(network) => network.flat().into(),
            Self::Logistic(model) => model.flat().into(),
            Self::Pool(pool) => pool.flat().into(),
        }
    }

    /// Changes the parameters, all in a row, as an optimiser does.
    pub fn update(&mut self, change: impl FnOnce(&mut [f64])) {
        match self {
            Self::Network(network) => change(network.flat_mut()),
            Self::Logistic(model) => change(model.flat_mut()),
            Self::Pool(pool) => {
                let mut flat = pool.flat();
                change(&mut flat);
                pool.set_flat(&flat);
            }
        }
    }

    /// The parameters by name.
    pub fn params(&self) -> Vec<(String, ArrayViewD<'_, f64>)> {
        match self {
            Self::Network(network) => params::views(&network.blocks(), network.flat()),
            Self::Logistic(model) => params::views(&model.blocks(), model.flat()),
            Self::Pool(pool) => pool.params(),
        }
    }

    /// Takes parameters by name, in any order: each name once, in its shape, with finite numbers.
    pub fn set_params(&mut self, named: &[(String, ArrayD<f64>)]) -> Result<()> {
        let flat = params::flatten(&self.blocks(), named)?;
        self.update(|params| params.copy_from_slice(&flat));
        Ok(())
    }

    fn blocks(&self) -> Vec<params::Block> {
        match self {
            Self::Network(network) => network.blocks(),
            Self::Logistic(model) => model.blocks(),
            Self::Pool(pool) => pool.blocks(),
        }
    }
}

/// Predicted transitions, and what their pullback needs to know.
pub struct Forward<'a> {
    /// `[N,M,2,M]`
    pub transition: Array4<f64>,
    tape: Tape<'a>,
}

enum Tape<'a> {
    Network(network::Tape<'a>),
    Logistic(logistic::Tape<'a>),
    Pool(pool::Tape<'a>),
}

/// What a cotangent of predicted transitions becomes on the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamsCotangent {
    /// in the order of [`Predictor::flat`]
    pub d_params: Vec<f64>,
}

impl Forward<'_> {
    /// What a cotangent of the transitions (`[N,M,2,M]`) becomes on the parameters. Its rows need not sum to zero: only
    /// their part along the simplex matters.
    pub fn pullback(&self, d_transition: ArrayView4<'_, f64>) -> ParamsCotangent {
        assert_eq!(
            d_transition.shape(),
            self.transition.shape(),
            "d_transition: in the shape of the transitions"
        );
        let d_params = match &self.tape {
            Tape::Network(tape) => tape.d_params(self.transition.view(), d_transition),
            Tape::Logistic(tape) => tape.d_params(self.transition.view(), d_transition),
            Tape::Pool(tape) => tape.d_params(self.transition.view(), d_transition),
        };
        ParamsCotangent { d_params }
    }
}

/// Several predictors of the same arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    /// at least one
    pub members: Vec<Predictor>,
}

impl Ensemble {
    /// The mean of the members' transitions, `[N,M,2,M]`.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        let (first, others) = self.members.split_first().expect("an ensemble has at least one member");
        let mut sum = first.predict(features);
        others.iter().for_each(|member| sum += &member.predict(features));
        if !others.is_empty() {
            sum /= self.members.len() as f64;
        }
        sum
    }
}
