//! Indices with a pullback, whatever is observed of the arms: the differentiable sibling of
//! [`whittle_index`](super::whittle_index), and what training through a decision asks for.
//!
//! ```
//! use ndarray::{Array2, Array4};
//! use restive::{Reward, belief::Observation, index::differentiable_index};
//!
//! let transition = Array4::from_elem((4, 3, 2, 3), 1.0 / 3.0);
//! let reward = Reward::linear(3);
//! let solved = differentiable_index(transition.view(), reward.view(), 0.9, Observation::Full);
//! let d = solved.pullback(Array2::ones((4, 3)).view());
//! assert!(d.d_transition[[0, 0, 1, 2]] > 0.0); // a pull that leads to the best state is worth more
//! ```

use super::bisection::{self, Bisection};
use super::collapsing::{self, Collapsing};
use super::general::{self, General};
use super::{Algorithm, Indices, TransitionCotangent, two_state};
use ndarray::{ArrayView2, ArrayView4, CowArray, Ix2, Ix4};

/// Indices that remember how they came about.
pub struct DifferentiableIndex<'a>(Solved<'a>);

enum Solved<'a> {
    TwoState(Box<TwoState<'a>>),
    General(Box<General<'a>>),
    Bisection(Box<Bisection<'a>>),
    Collapsing(Box<Collapsing<'a>>),
}

/// The closed form is solved again faster than anything kept could be read: its inputs are its tape.
struct TwoState<'a> {
    indices: Indices,
    transition: CowArray<'a, f64, Ix4>,
    reward: CowArray<'a, f64, Ix2>,
    discount: f64,
}

/// The indices of a batch of arms, as [`whittle_index`](super::whittle_index) gives them, ready for
/// [`DifferentiableIndex::pullback`].
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: ArrayView2<'a, f64>,
    discount: f64,
    algorithm: impl Into<Algorithm>,
) -> DifferentiableIndex<'a> {
    DifferentiableIndex(match algorithm.into().resolve(reward.nrows()) {
        Algorithm::TwoState => {
            let indices = two_state::index(transition, reward, discount);
            let (transition, reward) = (transition.into(), reward.into());
            Solved::TwoState(Box::new(TwoState { indices, transition, reward, discount }))
        }
        Algorithm::General | Algorithm::Auto => {
            Solved::General(Box::new(general::differentiable_index(transition, reward, discount)))
        }
        Algorithm::Bisection(tolerance) => {
            let solved = bisection::differentiable_index(transition, reward, discount, tolerance);
            Solved::Bisection(Box::new(solved))
        }
        Algorithm::Collapsing(chain) => {
            let solved = collapsing::differentiable_index(transition, reward, discount, chain);
            Solved::Collapsing(Box::new(solved))
        }
    })
}

impl DifferentiableIndex<'_> {
    /// The indices, their verdicts and statuses.
    pub fn indices(&self) -> &Indices {
        match &self.0 {
            Solved::TwoState(solved) => &solved.indices,
            Solved::General(solved) => &solved.indices,
            Solved::Bisection(solved) => &solved.indices,
            Solved::Collapsing(solved) => &solved.indices,
        }
    }

    /// `[N,M]`, or `[N,M·T]` for chains of T labels; NaN where they could not be determined
    pub fn index(&self) -> ArrayView2<'_, f64> {
        self.indices().index.view()
    }

    /// The same with transitions and rewards copied, to be kept for as long as one likes.
    pub fn into_owned(self) -> DifferentiableIndex<'static> {
        DifferentiableIndex(match self.0 {
            Solved::TwoState(solved) => {
                let TwoState { indices, transition, reward, discount } = *solved;
                let (transition, reward) = (transition.into_owned().into(), reward.into_owned().into());
                Solved::TwoState(Box::new(TwoState { indices, transition, reward, discount }))
            }
            Solved::General(solved) => Solved::General(Box::new(solved.into_owned())),
            Solved::Bisection(solved) => Solved::Bisection(Box::new(solved.into_owned())),
            Solved::Collapsing(solved) => Solved::Collapsing(Box::new(solved.into_owned())),
        })
    }

    /// What a cotangent of the indices (in their shape) becomes on the transitions.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> TransitionCotangent {
        let d_transition = match &self.0 {
            Solved::TwoState(solved) => {
                let (transition, reward) = (solved.transition.view(), solved.reward.view());
                two_state::pullback(transition, reward, solved.discount, d_index).d_transition
            }
            Solved::General(solved) => solved.pullback(d_index).d_transition,
            Solved::Bisection(solved) => solved.pullback(d_index).d_transition,
            Solved::Collapsing(solved) => solved.pullback(d_index).d_transition,
        };
        TransitionCotangent { d_transition }
    }
}
