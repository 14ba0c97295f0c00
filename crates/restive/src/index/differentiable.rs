//! Exact indices with a way back, whatever the number of states.
//!
//! The closed form for two states, the sweep for more, the kernels for beliefs, behind one door: what training through a decision asks for.
//!
//! ```
//! use ndarray::{Array2, Array4};
//! use restive::{Reward, index::differentiable_index};
//!
//! let transition = Array4::from_elem((4, 3, 2, 3), 1.0 / 3.0);
//! let reward = Reward::linear(3);
//! let indices = differentiable_index(transition.view(), reward.view(), 0.9, None);
//! let d_transition = indices.pullback(Array2::ones((4, 3)).view());
//! assert!(d_transition[[0, 0, 1, 2]] > 0.0); // a pull that leads to the best state is worth more
//! ```

use super::collapsing::{self, Collapsing};
use super::general::{self, General};
use super::two_state;
use crate::belief::Chain;
use ndarray::{Array2, Array4, ArrayView2, ArrayView4};

/// Indices that remember how they came about.
pub struct DifferentiableIndex<'a>(Road<'a>);

enum Road<'a> {
    TwoState {
        index: Array2<f64>,
        transition: ArrayView4<'a, f64>,
        reward: ArrayView2<'a, f64>,
        discount: f64,
    },
    General(Box<General<'a>>),
    Collapsing(Box<Collapsing<'a>>),
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]`; of the labels of their chains, where states are seen at
/// pulls only.
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: ArrayView2<'a, f64>,
    discount: f64,
    chain: Option<Chain>,
) -> DifferentiableIndex<'a> {
    DifferentiableIndex(match (chain, reward.nrows()) {
        (Some(chain), _) => {
            Road::Collapsing(Box::new(collapsing::differentiable_index(transition, reward, discount, chain)))
        }
        (None, 2) => {
            let index = two_state::index(transition, reward, discount).index;
            Road::TwoState { index, transition, reward, discount }
        }
        (None, _) => Road::General(Box::new(general::differentiable_index(transition, reward, discount))),
    })
}

impl DifferentiableIndex<'_> {
    /// `[N,M]`, or `[N,M·T]` for chains of T labels; NaN where they could not be determined
    pub fn index(&self) -> ArrayView2<'_, f64> {
        match &self.0 {
            Road::TwoState { index, .. } => index.view(),
            Road::General(general) => general.indices.index.view(),
            Road::Collapsing(collapsing) => collapsing.index(),
        }
    }

    /// What a cotangent of the indices becomes on the transitions, `[N,M,2,M]`; rows sum to zero.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> Array4<f64> {
        match &self.0 {
            Road::TwoState { transition, reward, discount, .. } => {
                two_state::pullback(*transition, *reward, *discount, d_index).d_transition
            }
            Road::General(general) => general.pullback(d_index).d_transition,
            Road::Collapsing(collapsing) => collapsing.pullback(d_index),
        }
    }
}
