//! Predictors: from the features of an arm to its transitions, and back.
//!
//! A [`Network`] is the paper's predictor: hidden layers of ReLU units and a softmax over the next state; without hidden
//! layers it is the *linear* predictor. An [`Effect`] model learns how arms move when they are left alone, and what a pull
//! changes, as a shrunken shift: the choice for data with few pulls. [`Predictor`] is either; [`Ensemble`] averages several.
//!
//! **Forward and pullback.** [`Predictor::forward`] turns features `[N,F]` into transitions `[N,M,2,M]`, and
//! [`Forward::pullback`] turns a cotangent of the transitions, whatever it comes from (a likelihood, a decision), into the
//! gradient by the parameters. Parameters lie in one flat vector, of which [`Predictor::params`] gives the named blocks.
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
mod cholesky;
mod chunks;
pub mod effect;
mod network;
mod params;
mod softmax;

pub use effect::{Effect, Precision};
pub use network::Network;

use crate::error::{Error, Result};
use ndarray::{Array4, ArrayD, ArrayView2, ArrayView4, ArrayViewD};

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
    /// see [`Effect`]
    Effect {
        /// how strongly the effect of a pull is held to be the same for all arms
        precision: Precision,
    },
}

/// Features → transitions.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictor {
    /// layers and a softmax
    Network(Network),
    /// a logistic model with a shrunken shift for a pull
    Effect(Effect),
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
            PredictorKind::Effect { precision } => Self::Effect(Effect::new(*features, *states, *precision)?),
        })
    }

    /// What this predictor is.
    pub fn architecture(&self) -> Architecture {
        match self {
            Self::Network(network) => network.architecture(),
            Self::Effect(effect) => effect.architecture(),
        }
    }

    /// Transitions `[N,M,2,M]` of arms with these features `[N,F]`, without a tape: memory in proportion to the answer.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        match self {
            Self::Network(network) => network.predict(features),
            Self::Effect(effect) => effect.predict(features),
        }
    }

    /// Transitions of arms with these features `[N,F]`, ready to be pulled back.
    pub fn forward<'a>(&'a self, features: ArrayView2<'a, f64>) -> Forward<'a> {
        match self {
            Self::Network(network) => network.forward(features),
            Self::Effect(effect) => effect.forward(features),
        }
    }

    /// The forward pass of a training step: with dropout, drawn from the seed, where the predictor has it.
    pub fn forward_with_dropout<'a>(&'a self, features: ArrayView2<'a, f64>, seed: u64) -> Forward<'a> {
        match self {
            Self::Network(network) => network.forward_with_dropout(features, seed),
            Self::Effect(effect) => effect.forward(features),
        }
    }

    /// All parameters in a row, in the order of [`Predictor::params`].
    pub fn flat(&self) -> &[f64] {
        match self {
            Self::Network(network) => network.flat(),
            Self::Effect(effect) => effect.flat(),
        }
    }

    /// All parameters in a row, to be changed by an optimiser.
    pub fn flat_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Network(network) => network.flat_mut(),
            Self::Effect(effect) => effect.flat_mut(),
        }
    }

    /// The parameters by name.
    pub fn params(&self) -> Vec<(String, ArrayViewD<'_, f64>)> {
        params::views(&self.blocks(), self.flat())
    }

    /// Takes parameters by name, in any order: each name once, in its shape, with finite numbers.
    pub fn set_params(&mut self, named: &[(String, ArrayD<f64>)]) -> Result<()> {
        let flat = params::flatten(&self.blocks(), named)?;
        self.flat_mut().copy_from_slice(&flat);
        Ok(())
    }

    fn blocks(&self) -> Vec<params::Block> {
        match self {
            Self::Network(network) => network.blocks(),
            Self::Effect(effect) => effect.blocks(),
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
    Effect(effect::Tape<'a>),
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
            Tape::Effect(tape) => tape.d_params(self.transition.view(), d_transition),
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
