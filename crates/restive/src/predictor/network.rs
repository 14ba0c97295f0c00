//! The paper's predictor: layers of ReLU units, and a softmax over the next state.
//!
//! **What it is.** Features `[N,F]` → hidden layers h ← relu(h·W + b) → 2M² logits, in the order state, action, next state →
//! a softmax over the next state → transitions `[N,M,2,M]`. The paper has one hidden layer of 64 units; without hidden layers
//! the predictor is linear in the logits. Weights start Glorot-uniform, ±√(6/(from + to)), biases at zero.
//!
//! **Dropout** (in training only): each hidden unit is left out with the given probability and the others are scaled up by
//! 1/(1 − dropout), so that prediction needs no scaling.
//!
//! **Its pullback.** d_W = hᵀ·d_z, d_b = Σ d_z, d_h = d_z·Wᵀ, and through a ReLU with dropout d_z = d_h/(1 − dropout) where
//! h > 0 and 0 elsewhere: the activations are all the tape there is. All products are matrix products over chunks of arms:
//! 6 flops per weight and arm, there and back.
//!
//! ```
//! use restive::predictor::Network;
//!
//! let network = Network::new(16, 2, &[64], 0.0, 7)?;
//! let transition = network.predict(ndarray::Array2::ones((5, 16)).view());
//! assert_eq!(transition.shape(), [5, 2, 2, 2]);
//! assert!((transition.sum() - 20.0).abs() < 1e-12); // 5 arms × 4 rows
//! # Ok::<(), restive::Error>(())
//! ```

use super::chunks::{CHUNK, in_order, rows_mut, sum};
use super::params::Block;
use super::{Architecture, Forward, PredictorKind, softmax};
use crate::error::{Error, Result};
use crate::random::stream;
use ndarray::linalg::general_mat_mul;
use ndarray::{
    Array1, Array2, Array4, ArrayView1, ArrayView2, ArrayView4, ArrayViewMut2, Axis, CowArray, Ix2,
};
use rand::RngExt;

/// The stream of the initial weights: no other use of a seed begins with it, not even the network that makes the features of
/// a synthetic domain.
const WEIGHTS: u64 = 0x7765_6967_6874;

/// Layers of ReLU units and a softmax.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    features: usize,
    states: usize,
    hidden: Vec<usize>,
    dropout: f64,
    params: Vec<f64>,
}

impl Network {
    /// F features, M states, the units of each hidden layer, dropout from 0 to below 1; the seed draws the weights.
    pub fn new(features: usize, states: usize, hidden: &[usize], dropout: f64, seed: u64) -> Result<Self> {
        if !(0.0..1.0).contains(&dropout) {
            return Err(Error::Range { what: "dropout", expected: "at least 0 and below 1", found: dropout });
        }
        if hidden.contains(&0) {
            return Err(Error::Range {
                what: "hidden units",
                expected: "at least 1 in every layer",
                found: 0.0,
            });
        }
        let mut network = Self { features, states, hidden: hidden.to_vec(), dropout, params: Vec::new() };
        for (layer, [from, to]) in network.layers().into_iter().enumerate() {
            let mut random = stream(seed, &[WEIGHTS, layer as u64]);
            let limit = (6.0 / (from + to) as f64).sqrt();
            let weights = (0..from * to).map(|_| limit * (2.0 * random.random::<f64>() - 1.0));
            network.params.extend(weights);
            network.params.extend(std::iter::repeat_n(0.0, to));
        }
        Ok(network)
    }

    /// Inputs and outputs of each layer.
    fn layers(&self) -> Vec<[usize; 2]> {
        let mut widths = vec![self.features];
        widths.extend(&self.hidden);
        widths.push(2 * self.states * self.states);
        widths.windows(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    /// Weight `[from,to]` and bias `[to]` of each layer.
    fn weights(&self) -> Vec<(ArrayView2<'_, f64>, ArrayView1<'_, f64>)> {
        let mut rest = &self.params[..];
        let mut take = |len| {
            let (head, tail) = rest.split_at(len);
            rest = tail;
            head
        };
        let layer = |[from, to]: [usize; 2]| {
            let weight = ArrayView2::from_shape((from, to), take(from * to)).expect("its length");
            (weight, ArrayView1::from(take(to)))
        };
        self.layers().into_iter().map(layer).collect()
    }

    /// Weight and bias of each layer; of the last one what leads to the logits of both rows of a state, against state 0:
    /// `[2,M−1]`.
    pub(super) fn maps(&self, state: usize) -> Vec<(Array2<f64>, Array1<f64>)> {
        let mut maps: Vec<_> =
            self.weights().iter().map(|(weight, bias)| (weight.to_owned(), bias.to_owned())).collect();
        let (weight, bias) = maps.pop().expect("a last layer");
        let (m, q) = (self.states, self.states - 1);
        // logit k of an action, and that of state 0 there
        let at = |k: usize| (2 * state * m + k / q * m + k % q + 1, 2 * state * m + k / q * m);
        let against_0 = Array2::from_shape_fn((weight.nrows(), 2 * q), |(h, k)| {
            let (logit, zero) = at(k);
            weight[[h, logit]] - weight[[h, zero]]
        });
        let bias_against_0 = Array1::from_shape_fn(2 * q, |k| bias[at(k).0] - bias[at(k).1]);
        maps.push((against_0, bias_against_0));
        maps
    }

    /// What this network is.
    pub fn architecture(&self) -> Architecture {
        let kind = PredictorKind::Network { hidden: self.hidden.clone(), dropout: self.dropout };
        Architecture { features: self.features, states: self.states, kind }
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        let layer = |(l, [from, to]): (usize, [usize; 2])| {
            [
                Block::new(format!("layer_{l}.weight"), &[from, to]),
                Block::new(format!("layer_{l}.bias"), &[to]),
            ]
        };
        self.layers().into_iter().enumerate().flat_map(layer).collect()
    }

    /// All parameters in a row: the weight and the bias of each layer in turn.
    pub fn flat(&self) -> &[f64] {
        &self.params
    }

    /// All parameters in a row, to be changed.
    pub fn flat_mut(&mut self) -> &mut [f64] {
        &mut self.params
    }

    /// Transitions `[N,M,2,M]` of arms with features `[N,F]`, without a tape and without dropout.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        self.run(features, None, |_| ()).0
    }

    /// The same with a tape, so that it can be pulled back.
    pub fn forward<'a>(&'a self, features: impl Into<CowArray<'a, f64, Ix2>>) -> Forward<'a> {
        self.taped(features.into(), None)
    }

    /// The same with dropout, drawn from the seed: every training step has a seed of its own.
    pub fn forward_with_dropout<'a>(
        &'a self,
        features: impl Into<CowArray<'a, f64, Ix2>>,
        seed: u64,
    ) -> Forward<'a> {
        self.taped(features.into(), (self.dropout > 0.0).then_some(seed))
    }

    fn taped<'a>(&'a self, features: CowArray<'a, f64, Ix2>, dropout: Option<u64>) -> Forward<'a> {
        let (transition, activations) = self.run(features.view(), dropout, |activations| activations);
        let scale = if dropout.is_some() { 1.0 / (1.0 - self.dropout) } else { 1.0 };
        let tape = Tape { network: self, features, activations, scale };
        Forward { transition, tape: super::Tape::Network(tape) }
    }

    /// Transitions, and what `keep` keeps of each chunk's activations.
    fn run<T: Send>(
        &self,
        features: ArrayView2<'_, f64>,
        dropout: Option<u64>,
        keep: impl Fn(Vec<Array2<f64>>) -> T + Sync,
    ) -> (Array4<f64>, Vec<T>) {
        assert_eq!(features.ncols(), self.features, "features: [N,F]");
        let m = self.states;
        let mut transition = Array4::zeros((features.nrows(), m, 2, m));
        let work = features.axis_chunks_iter(Axis(0), CHUNK).zip(rows_mut(&mut transition)).collect();
        let kept = in_order(work, |c, (features, out)| {
            keep(self.chunk(features, out, dropout.map(|seed| stream(seed, &[c as u64]))))
        });
        (transition, kept)
    }

    /// One chunk of arms; returns the activations of the hidden layers.
    fn chunk(
        &self,
        features: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
        mut dropout: Option<crate::random::Random>,
    ) -> Vec<Array2<f64>> {
        let weights = self.weights();
        let (last, hidden) = weights.split_last().expect("at least one layer");
        let mut activations: Vec<Array2<f64>> = Vec::with_capacity(hidden.len());
        let scale = 1.0 / (1.0 - self.dropout);
        for (weight, bias) in hidden {
            let input = activations.last().map_or(features, |h| h.view());
            let mut h = bias.broadcast((input.nrows(), bias.len())).expect("a row").to_owned();
            general_mat_mul(1.0, &input, weight, 1.0, &mut h);
            // written so that a NaN stays one
            h.mapv_inplace(|z| if z < 0.0 { 0.0 } else { z });
            if let Some(random) = &mut dropout {
                h.mapv_inplace(|h| if random.random::<f64>() < self.dropout { 0.0 } else { scale * h });
            }
            activations.push(h);
        }
        let input = activations.last().map_or(features, |h| h.view());
        out.assign(&last.1);
        general_mat_mul(1.0, &input, &last.0, 1.0, &mut out);
        softmax::softmax(out.as_slice_mut().expect("contiguous"), self.states);
        activations
    }
}

/// What the pullback needs: the input of every layer.
pub(super) struct Tape<'a> {
    network: &'a Network,
    features: CowArray<'a, f64, Ix2>,
    /// of each chunk, of each hidden layer: `[≤1024,H]`
    activations: Vec<Vec<Array2<f64>>>,
    /// 1/(1 − dropout) where there was dropout
    scale: f64,
}

impl Tape<'_> {
    pub(super) fn d_params(&self, p: ArrayView4<'_, f64>, d_p: ArrayView4<'_, f64>) -> Vec<f64> {
        let features = self.features.axis_chunks_iter(Axis(0), CHUNK);
        let (p, d_p) = (p.axis_chunks_iter(Axis(0), CHUNK), d_p.axis_chunks_iter(Axis(0), CHUNK));
        let work = features.zip(&self.activations).zip(p.zip(d_p)).collect();
        let gradients = in_order(work, |_, ((features, activations), (p, d_p))| {
            self.chunk(features, activations, p, d_p)
        });
        sum(gradients, self.network.params.len())
    }

    fn chunk(
        &self,
        features: ArrayView2<'_, f64>,
        activations: &[Array2<f64>],
        p: ArrayView4<'_, f64>,
        d_p: ArrayView4<'_, f64>,
    ) -> Vec<f64> {
        let n = features.nrows();
        let mut d_z: Vec<f64> = d_p.iter().copied().collect();
        softmax::pull_back(p.as_slice().expect("contiguous"), &mut d_z, self.network.states);
        let mut d_z = Array2::from_shape_vec((n, d_z.len() / n), d_z).expect("its length");
        let mut gradient = vec![0.0; self.network.params.len()];
        let mut end = gradient.len();
        for (l, (weight, bias)) in self.network.weights().iter().enumerate().rev() {
            let input = if l == 0 { features } else { activations[l - 1].view() };
            let (d_weight, d_bias) =
                gradient[end - weight.len() - bias.len()..end].split_at_mut(weight.len());
            end -= weight.len() + bias.len();
            let mut d_weight = ArrayViewMut2::from_shape(weight.raw_dim(), d_weight).expect("its length");
            general_mat_mul(1.0, &input.t(), &d_z, 0.0, &mut d_weight);
            for row in d_z.rows() {
                d_bias.iter_mut().zip(row).for_each(|(d_bias, d)| *d_bias += d);
            }
            if l > 0 {
                let mut d_h = d_z.dot(&weight.t());
                d_h.zip_mut_with(&activations[l - 1], |d, &h| {
                    *d = if h > 0.0 { *d * self.scale } else { 0.0 }
                });
                d_z = d_h;
            }
        }
        gradient
    }
}
