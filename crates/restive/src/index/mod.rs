//! Whittle indices: how much would it take to leave an arm alone?
//!
//! Pay a *subsidy* m for every step in which an arm is left passive. The Whittle index W(s) of a state is the
//! smallest subsidy at which passivity is as good as a pull in that state (Definition 1 of the paper). It is
//! the price of a pull, so the arms with the highest index are pulled.
//!
//! [`whittle_index`] computes it, and [`differentiable_index`] computes it ready for a pullback. What both are told is the
//! [`Observation`](crate::belief::Observation) of the arms, and they take the best kernel for it; or an [`Algorithm`] by name:
//!
//! | kernel | arms | cost of all M indices and their gradient | answer |
//! |---|---|---|---|
//! | [`two_state`] | M = 2 | a few nanoseconds | exact, closed form |
//! | [`general`] | any M | O(M³) | exact, with an indexability verdict |
//! | [`bisection`] | any M, γ < 1 | M bisections over value iteration, then M solves | approximate, as in the paper |
//! | [`collapsing`] | the state is seen only at pulls, γ < 1 | see there | exact, with an indexability verdict |
//!
//! Rewards and discounts are those of all arms, or each arm's own: [`Rewards`], [`Discounts`].
//! [`actions`] does the same for arms with more than two actions of different costs.
//!
//! # The gradient lives on the simplex
//! A row P(s, a, ·) sums to 1, so only directions that keep the sum have a meaning. Every pullback to
//! transitions returns, row by row, entries that sum to zero: the projection of any free-entry gradient onto
//! the directions that count. Behind a softmax layer this gives the same parameter gradient.

pub mod actions;
mod algorithm;
mod batch;
pub mod bisection;
pub mod collapsing;
mod differentiable;
pub mod general;
mod inputs;
pub mod two_state;

pub use algorithm::{Algorithm, whittle_index};
pub use differentiable::{DifferentiableIndex, differentiable_index};
pub use inputs::{Discounts, Rewards};

use ndarray::{Array, Array1, Array2, Array3, Array4, Axis, Ix4};

/// How far an arm's answer can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexStatus {
    /// correct to rounding: the residual is at most 1e-9, and usually near 1e-15
    Exact,
    /// correct to the tolerance that was asked for (bisection)
    Approximate,
    /// computed, but so ill-conditioned that digits were lost: see the arm's residual
    IllConditioned,
    /// no indices could be determined; they are NaN
    Undetermined,
}

impl IndexStatus {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            IndexStatus::Exact => "exact",
            IndexStatus::Approximate => "approximate",
            IndexStatus::IllConditioned => "ill-conditioned",
            IndexStatus::Undetermined => "undetermined",
        }
    }
}

/// An arm whose indices may be off by more than this, relative to rewards and indices, is ill-conditioned.
const ILL_CONDITIONED: f64 = 1e-9;

/// The indices of N arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Indices {
    /// `[N,M]`: the smallest subsidy at which each state turns passive (Definition 1: the index)
    pub index: Array2<f64>,
    /// `[N,M]`: the subsidy from which each state stays passive; differs from `index` only in states of
    /// arms that are not indexable
    pub last: Array2<f64>,
    /// `[N]`: whether the passive set only grows with the subsidy; false also where that is not known
    /// (see [`Indices::verdict`])
    pub is_indexable: Array1<bool>,
    /// `[N]`
    pub status: Vec<IndexStatus>,
    /// `[N]`: an estimate of the error of the arm's indices, relative to the larger of the largest index and the span of
    /// the rewards; NaN where the arm is undetermined
    pub residual: Array1<f64>,
}

impl Indices {
    /// Whether arm i is indexable; `None` where it is undetermined, or bisection did not look.
    pub fn verdict(&self, i: usize) -> Option<bool> {
        match self.status[i] {
            IndexStatus::Exact | IndexStatus::IllConditioned => Some(self.is_indexable[i]),
            IndexStatus::Approximate | IndexStatus::Undetermined => None,
        }
    }
}

/// What a cotangent of the indices becomes on all their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexCotangent<D: ndarray::Dimension = Ix4> {
    /// in the shape of the transitions; rows sum to zero
    pub d_transition: Array<f64, D>,
    /// `[M,2]`, summed over the arms; for a reward R(s) add its two columns
    pub d_reward: Array2<f64>,
    /// summed over the arms
    pub d_discount: f64,
}

/// What a cotangent of the indices becomes on all their inputs, arm by arm: what an arm adds where arms share an input.
#[derive(Debug, Clone, PartialEq)]
pub struct PerArmCotangent<D: ndarray::Dimension = Ix4> {
    /// in the shape of the transitions; rows sum to zero
    pub d_transition: Array<f64, D>,
    /// `[N,M,2]`; for a reward R(s) add its two columns
    pub d_reward: Array3<f64>,
    /// `[N]`
    pub d_discount: Array1<f64>,
}

impl<D: ndarray::Dimension> PerArmCotangent<D> {
    /// Of a reward and a discount that all arms share: summed over them, in their order.
    pub fn summed(self) -> IndexCotangent<D> {
        let Self { d_transition, d_reward, d_discount } = self;
        let (_, m, _) = d_reward.dim();
        let sum = |mut total: Array2<f64>, arm| {
            total += &arm;
            total
        };
        let d_reward = d_reward.axis_iter(Axis(0)).fold(Array2::zeros((m, 2)), sum);
        IndexCotangent { d_transition, d_reward, d_discount: d_discount.iter().sum() }
    }
}

/// What a cotangent of the indices becomes on the transitions: what every kernel can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionCotangent {
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
}
