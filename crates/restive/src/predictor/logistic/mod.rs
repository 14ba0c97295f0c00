//! Logistic models: how arms move when left alone, and what a pull changes.
//!
//! **What they are.** Next states are measured by their log-odds against state 0, z(s′) = ln P(s′)/P(0). Left alone, an arm with
//! features x moves from s by a multinomial logistic model, z = b_s + x·B_s. A pull shifts that:
//!
//! | model | shift | |
//! |---|---|---|
//! | effect | δ_s + x·c | its dependence on the features is shared by all states |
//! | hierarchical | (c₀ + δ_s) + x·(c + D_s) | each state may depart from what is shared |
//!
//! Pulls are scarce in programme data; everything the passive steps teach is used for the active ones too, and c is
//! shrunk towards an effect that is the same for everybody. With two states, logit active = logit passive + δ_s + x·c.
//!
//! **How they are fitted.** By penalised maximum likelihood, a convex problem solved by Newton's method ([`fit`](fn@fit)), whose
//! steps are found state by state, or without a Hessian where that would be too large; of arms that pass by in pieces by a [`Passing`]. The
//! penalty is ½·precision·Q(c_f) for each feature f, where Q sums the squared differences of c_f over all pairs of next states,
//! times 2/M: it does not depend on which state is the reference, and is c_f² with two states. The *precision* is that of
//! a normal prior, 100 by default on features scaled to standard deviation 1. In the effect model B_s has a precision of 10⁻³ and
//! b_s, δ_s of 10⁻⁶, only so that the answer exists and is unique where features repeat each other or an outcome was never seen.
//!
//! **The hierarchical model** has three [penalties](Penalties): on B, on c and on D. A large one on D makes it the effect model,
//! small ones all around a linear predictor; the evidence (`evidence.rs`) says where between them the data lie. c₀ and b_s are held by
//! 10⁻⁴, δ_s by 1.
//!
//! **Their pullback.** d_B_s = Σ x·(d_z passive + d_z active), d_c = Σ x·d_z active over all states, and so on: linear in x.
//!
//! ```
//! use ndarray::{Array2, Array4};
//! use restive::predictor::logistic::{Penalties, Precision, fit};
//!
//! // 30 arms with one feature; in 20 passive and 5 active steps from each state some number of them led to state 1
//! let features = Array2::from_shape_fn((30, 1), |(i, _)| (i as f64 - 14.5) / 8.7);
//! let counts = Array4::from_shape_fn((30, 2, 2, 2), |(i, s, a, next)| {
//!     let to_one = if a == 0 { 5.0 + (i % 3) as f64 } else { 2.0 + (i / 10 + s) as f64 };
//!     if next == 1 { to_one } else { [20.0, 5.0][a] - to_one }
//! });
//! let fitted = fit(features.view(), counts.view(), Precision::Fixed(100.0), None)?;
//! let p = fitted.model.predict(features.view());
//! assert!(p[[29, 0, 1, 1]] - p[[29, 0, 0, 1]] > p[[0, 0, 1, 1]] - p[[0, 0, 0, 1]]); // a pull does more there
//! let by_evidence = fit(features.view(), counts.view(), Penalties::Evidence, None)?;
//! assert!(by_evidence.model.penalties().is_some_and(|[_, common, by_state]| by_state > common));
//! # Ok::<(), restive::Error>(())
//! ```

mod arrow;
mod conjugate;
mod cost;
mod course;
mod design;
mod evidence;
mod fit;
mod grams;
mod layout;
mod map;
mod newton;
mod passing;
mod preconditioner;
mod problem;
mod ridge;
mod search;

pub use cost::operations;
pub use fit::{Fit, FitProgress, FitStatus, Fitting, fit};
pub use passing::{Passing, Question, Sums};

use super::chunks::{CHUNK, in_order, rows_mut, sum};
use super::params::Block;
use super::{Architecture, Forward, PredictorKind, softmax};
use crate::error::{Error, Result};
use ndarray::{Array2, Array4, ArrayView1, ArrayView2, ArrayView4, ArrayViewMut2, Axis, CowArray, Ix2, s};

/// Features `[N,F]` and counts `[N,M,2,M]` of some arms.
type Arms<'a> = (ArrayView2<'a, f64>, ArrayView4<'a, f64>);

/// Precisions that are tried on held-out arms, as far as the cap allows, and the cap.
const GRID: [f64; 7] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// The strength of the belief that the effect of a pull is the same for all arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// this precision
    Fixed(f64),
    /// the precision up to the cap under which held-out arms are most likely
    HeldOut {
        /// a large precision makes the effect the same for all arms, which is worth nothing: 300 is a sensible cap
        cap: f64,
    },
}

/// The penalties of a hierarchical model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalties {
    /// on passive weights, on the common shift, on the states' own shifts
    Fixed([f64; 3]),
    /// those that the evidence asks for
    Evidence,
}

/// Which logistic model, and how firmly its weights are held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// a shift that all states share
    Effect(Precision),
    /// and another of each state
    Hierarchical(Penalties),
}

impl From<Precision> for Form {
    fn from(precision: Precision) -> Self {
        Self::Effect(precision)
    }
}

impl From<Penalties> for Form {
    fn from(penalties: Penalties) -> Self {
        Self::Hierarchical(penalties)
    }
}

impl Form {
    fn check(self) -> Result<()> {
        match self {
            Self::Effect(precision) => precision.check(),
            Self::Hierarchical(Penalties::Evidence) => Ok(()),
            Self::Hierarchical(Penalties::Fixed(all)) => {
                let wrong = all.into_iter().find(|found| !(*found > 0.0 && found.is_finite()));
                let expected = "three numbers above 0";
                wrong.map_or(Ok(()), |found| Err(Error::Range { what: "penalties", expected, found }))
            }
        }
    }
}

/// How firmly one fit holds its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    Effect(f64),
    Hierarchical([f64; 3]),
}

impl Held {
    fn is_by_state(self) -> bool {
        matches!(self, Self::Hierarchical(_))
    }

    fn form(self) -> Form {
        match self {
            Self::Effect(precision) => Precision::Fixed(precision).into(),
            Self::Hierarchical(penalties) => Penalties::Fixed(penalties).into(),
        }
    }
}

impl Precision {
    /// 100, on standardised features.
    pub const DEFAULT: Self = Self::Fixed(100.0);

    fn check(self) -> Result<()> {
        let (Self::Fixed(found) | Self::HeldOut { cap: found }) = self;
        if found > 0.0 && found.is_finite() {
            return Ok(());
        }
        Err(Error::Range { what: "precision", expected: "a number above 0", found })
    }
}

/// A logistic model of passive transitions, and a shift for a pull.
#[derive(Debug, Clone, PartialEq)]
pub struct Logistic {
    features: usize,
    states: usize,
    form: Form,
    params: Vec<f64>,
}

/// Where the blocks lie in the flat vector.
struct Offsets {
    /// B `[M,F,M−1]` lies at 0
    bias: usize,
    /// δ
    level: usize,
    /// c
    weight: usize,
    /// of the hierarchical model: c₀, and behind it D `[M,F,M−1]`
    common: usize,
    len: usize,
}

impl Logistic {
    /// F features, M states; all parameters zero, every next state equally likely.
    pub fn new(features: usize, states: usize, form: impl Into<Form>) -> Result<Self> {
        let form = form.into();
        form.check()?;
        let mut model = Self { features, states, form, params: Vec::new() };
        model.params = vec![0.0; model.offsets().len];
        Ok(model)
    }

    /// What was asked for; once fitted, with the penalties that were used.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Of a hierarchical model, once they are known: on passive weights, on the common shift, on the states' own shifts.
    pub fn penalties(&self) -> Option<[f64; 3]> {
        match self.form {
            Form::Hierarchical(Penalties::Fixed(penalties)) => Some(penalties),
            _ => None,
        }
    }

    fn is_by_state(&self) -> bool {
        matches!(self.form, Form::Hierarchical(_))
    }

    fn offsets(&self) -> Offsets {
        let (f, m, q) = (self.features, self.states, self.states - 1);
        let bias = m * f * q;
        let level = bias + m * q;
        let weight = level + m * q;
        let common = weight + f * q;
        let own = if self.is_by_state() { q + m * f * q } else { 0 };
        Offsets { bias, level, weight, common, len: common + own }
    }

    /// What this model is; once fitted, with the penalties that were used.
    pub fn architecture(&self) -> Architecture {
        let kind = match self.form {
            Form::Effect(precision) => PredictorKind::Effect { precision },
            Form::Hierarchical(penalties) => PredictorKind::Hierarchical { penalties },
        };
        Architecture { features: self.features, states: self.states, kind }
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        let (f, m, q) = (self.features, self.states, self.states - 1);
        let mut blocks = vec![
            Block::new("passive.weight", &[m, f, q]),
            Block::new("passive.bias", &[m, q]),
            Block::new("shift.bias", &[m, q]),
            Block::new("shift.weight", &[f, q]),
        ];
        if self.is_by_state() {
            blocks.push(Block::new("shift.common_bias", &[q]));
            blocks.push(Block::new("shift.weight_by_state", &[m, f, q]));
        }
        blocks
    }

    /// All parameters in a row: B, b, δ, c; and of the hierarchical model c₀, D.
    pub fn flat(&self) -> &[f64] {
        &self.params
    }

    /// All parameters in a row, to be changed.
    pub fn flat_mut(&mut self) -> &mut [f64] {
        &mut self.params
    }

    /// Transitions `[N,M,2,M]` of arms with features `[N,F]`.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        assert_eq!(features.ncols(), self.features, "features: [N,F]");
        let m = self.states;
        let mut transition = Array4::zeros((features.nrows(), m, 2, m));
        let work = features.axis_chunks_iter(Axis(0), CHUNK).zip(rows_mut(&mut transition)).collect();
        in_order(work, |_, (features, out)| self.chunk(features, out));
        transition
    }

    /// The same, so that it can be pulled back.
    pub fn forward<'a>(&'a self, features: impl Into<CowArray<'a, f64, Ix2>>) -> Forward<'a> {
        let features = features.into();
        let transition = self.predict(features.view());
        Forward { transition, tape: super::Tape::Logistic(Tape { model: self, features }) }
    }

    fn chunk(&self, features: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let (f, m, q) = (self.features, self.states, self.states - 1);
        let at = self.offsets();
        let weight = |start: usize| {
            ArrayView2::from_shape((f, q), &self.params[start..start + f * q]).expect("its length")
        };
        let mut shift = features.dot(&weight(at.weight));
        if self.is_by_state() {
            shift += &ArrayView1::from(&self.params[at.common..at.common + q]);
        }
        for s in 0..m {
            let own = self.is_by_state().then(|| features.dot(&weight(at.common + q + s * f * q)));
            let passive = features.dot(&weight(s * f * q));
            let (bias, level) = (&self.params[at.bias + s * q..], &self.params[at.level + s * q..]);
            for i in 0..features.nrows() {
                for k in 0..q {
                    let z = bias[k] + passive[[i, k]];
                    out[[i, 2 * s * m + k + 1]] = z;
                    out[[i, (2 * s + 1) * m + k + 1]] =
                        z + level[k] + shift[[i, k]] + own.as_ref().map_or(0.0, |own| own[[i, k]]);
                }
            }
        }
        softmax::softmax(out.as_slice_mut().expect("contiguous"), m);
    }

    /// The gradient by the parameters from that by the logits, `[≤1024,2M²]`.
    fn pull_logits(&self, features: ArrayView2<'_, f64>, d_z: ArrayView2<'_, f64>) -> Vec<f64> {
        let (f, m, q) = (self.features, self.states, self.states - 1);
        let at = self.offsets();
        let mut gradient = vec![0.0; at.len];
        let mut d_shift = Array2::<f64>::zeros((features.nrows(), q));
        for s in 0..m {
            let passive = d_z.slice(s![.., 2 * s * m + 1..(2 * s + 1) * m]);
            let active = d_z.slice(s![.., (2 * s + 1) * m + 1..(2 * s + 2) * m]);
            let both = &passive + &active;
            d_shift += &active;
            gradient[s * f * q..(s + 1) * f * q].copy_from_slice(product(features, both.view()).as_slice());
            if self.is_by_state() {
                let first = at.common + q + s * f * q;
                gradient[first..first + f * q].copy_from_slice(product(features, active).as_slice());
            }
            for k in 0..q {
                gradient[at.bias + s * q + k] = both.column(k).sum();
                gradient[at.level + s * q + k] = active.column(k).sum();
            }
        }
        gradient[at.weight..at.common].copy_from_slice(product(features, d_shift.view()).as_slice());
        if self.is_by_state() {
            (0..q).for_each(|k| gradient[at.common + k] = d_shift.column(k).sum());
        }
        gradient
    }
}

/// xᵀ·d, row by row.
fn product(x: ArrayView2<'_, f64>, d: ArrayView2<'_, f64>) -> Vec<f64> {
    let mut out = Array2::zeros((x.ncols(), d.ncols()));
    ndarray::linalg::general_mat_mul(1.0, &x.t(), &d, 0.0, &mut out);
    out.into_raw_vec_and_offset().0
}

/// What the pullback needs.
pub(super) struct Tape<'a> {
    model: &'a Logistic,
    features: CowArray<'a, f64, Ix2>,
}

impl Tape<'_> {
    pub(super) fn d_params(&self, p: ArrayView4<'_, f64>, d_p: ArrayView4<'_, f64>) -> Vec<f64> {
        let features = self.features.axis_chunks_iter(Axis(0), CHUNK);
        let (p, d_p) = (p.axis_chunks_iter(Axis(0), CHUNK), d_p.axis_chunks_iter(Axis(0), CHUNK));
        let work = features.zip(p.zip(d_p)).collect();
        let gradients = in_order(work, |_, (features, (p, d_p))| {
            let mut d_z: Vec<f64> = d_p.iter().copied().collect();
            softmax::pull_back(p.as_slice().expect("contiguous"), &mut d_z, self.model.states);
            let shape = (features.nrows(), d_z.len() / features.nrows());
            let d_z = Array2::from_shape_vec(shape, d_z).expect("its length");
            self.model.pull_logits(features, d_z.view())
        });
        sum(gradients, self.model.params.len())
    }
}
