//! Whittle indices: how much would it take to leave an arm alone?
//!
//! Pay a *subsidy* m for every step in which an arm is left passive. The Whittle index W(s) of a state is the
//! smallest subsidy at which passivity is as good as a pull in that state (Definition 1 of the paper). It is
//! the price of a pull, so the arms with the highest index are pulled.
//!
//! Three roads lead to it, chosen by [`Algorithm`]:
//!
//! | road | arms | cost of all M indices and their gradient | answer |
//! |---|---|---|---|
//! | [`two_state`] | M = 2 | a few nanoseconds | exact, closed form |
//! | [`general`] | any M | O(M³) | exact, with an indexability verdict |
//! | [`bisection`] | any M, γ < 1 | M bisections over value iteration, then M solves | approximate, as in the paper |
//!
//! Arms whose state is seen only at pulls have roads of their own: [`collapsing`].
//!
//! # The gradient lives on the simplex
//! A row P(s, a, ·) sums to 1, so only directions that keep the sum have a meaning. Every pullback to
//! transitions returns, row by row, entries that sum to zero: the projection of any free-entry gradient onto
//! the directions that count. Behind a softmax layer this gives the same parameter gradient.

mod batch;
pub mod bisection;
pub mod collapsing;
mod differentiable;
pub mod general;
pub mod two_state;

pub use differentiable::{DifferentiableIndex, differentiable_index};

use crate::error::{Error, Result};
use ndarray::{Array, Array1, Array2, ArrayView2, ArrayView4, Ix4};

/// How far an arm's answer can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// correct to rounding: the residual is at most 1e-9, and usually near 1e-15
    Exact,
    /// correct to the tolerance that was asked for (the bisection road)
    Approximate,
    /// computed, but so ill-conditioned that digits were lost: see the arm's residual
    IllConditioned,
    /// no indices could be determined; they are NaN
    Undetermined,
}

impl Status {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Exact => "exact",
            Status::Approximate => "approximate",
            Status::IllConditioned => "ill-conditioned",
            Status::Undetermined => "undetermined",
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
    pub status: Vec<Status>,
    /// `[N]`: an estimate of the error of the arm's indices, relative to the larger of the largest index and the span of
    /// the rewards; NaN where the arm is undetermined
    pub residual: Array1<f64>,
}

impl Indices {
    /// Whether arm i is indexable; `None` where it is undetermined, or bisection did not look.
    pub fn verdict(&self, i: usize) -> Option<bool> {
        match self.status[i] {
            Status::Exact | Status::IllConditioned => Some(self.is_indexable[i]),
            Status::Approximate | Status::Undetermined => None,
        }
    }
}

/// What a cotangent of the indices becomes on their inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cotangent<D: ndarray::Dimension = Ix4> {
    /// in the shape of the transitions; rows sum to zero
    pub d_transition: Array<f64, D>,
    /// `[M,2]`, summed over the arms; for a reward R(s) add its two columns
    pub d_reward: Array2<f64>,
    /// summed over the arms
    pub d_discount: f64,
}

/// The road to the indices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Algorithm {
    /// [`Algorithm::TwoState`] for two states, [`Algorithm::General`] otherwise
    #[default]
    Auto,
    /// the closed form, M = 2 only
    TwoState,
    /// the sweep over subsidies
    General,
    /// the paper's road, γ < 1 only
    Bisection(bisection::Tolerance),
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]`.
///
/// Shapes are asserted. The algorithm must fit the arms: the closed form takes two states, bisection takes
/// a discount below 1; [`Algorithm::check`] says so beforehand as an error.
///
/// ```
/// use restive::{Layout, Reward, Transition, index};
///
/// let transition = ndarray::Array4::from_elem((1, 3, 2, 3), 1.0 / 3.0);
/// let arm = Transition::new(transition, Layout::Nsas)?;
/// let solved = index::whittle_index(arm.view(), Reward::linear(3).view(), 0.9, index::Algorithm::Auto);
/// assert!(solved.is_indexable[0]);
/// assert!(solved.index.iter().all(|w| w.abs() < 1e-15)); // a pull changes nothing: it is worth nothing
/// # Ok::<(), restive::Error>(())
/// ```
pub fn whittle_index(
    transition: ArrayView4<'_, f64>,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    algorithm: Algorithm,
) -> Indices {
    match algorithm.resolve(reward.nrows()) {
        Algorithm::TwoState => two_state::index(transition, reward, discount),
        Algorithm::Bisection(tolerance) => bisection::index(transition, reward, discount, tolerance),
        Algorithm::General | Algorithm::Auto => general::index(transition, reward, discount),
    }
}

impl Algorithm {
    /// The road that `Auto` stands for.
    pub fn resolve(self, states: usize) -> Self {
        match self {
            Algorithm::Auto if states == 2 => Algorithm::TwoState,
            Algorithm::Auto => Algorithm::General,
            other => other,
        }
    }

    /// Whether the algorithm can take arms of that many states at that discount.
    pub fn check(self, states: usize, discount: f64) -> Result<()> {
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        match self {
            Algorithm::TwoState if states != 2 => {
                range("states", "2 for the two-state algorithm", states as f64)
            }
            Algorithm::Bisection(_) if discount >= 1.0 => {
                range("discount", "a number below 1 for bisection over value iteration", discount)
            }
            _ => Ok(()),
        }
    }
}
