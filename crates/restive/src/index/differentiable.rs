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
use super::inputs::Inputs;
use super::{Algorithm, Discounts, Indices, PerArmCotangent, Rewards, TransitionCotangent, two_state};
use ndarray::{Array4, ArrayView2, ArrayView4, CowArray, Ix4};

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
    inputs: Inputs<'a>,
}

/// The indices of a batch of arms, as [`whittle_index`](super::whittle_index) gives them, ready for
/// [`DifferentiableIndex::pullback`].
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    algorithm: impl Into<Algorithm>,
) -> DifferentiableIndex<'a> {
    let (reward, discount) = (reward.into(), discount.into());
    DifferentiableIndex(match algorithm.into().resolve(reward.states()) {
        Algorithm::TwoState => {
            let indices = two_state::index(transition, reward.borrow(), discount.borrow());
            let (transition, inputs) = (transition.into(), Inputs::new(reward, discount));
            Solved::TwoState(Box::new(TwoState { indices, transition, inputs }))
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
                let TwoState { indices, transition, inputs } = *solved;
                let (transition, inputs) = (transition.into_owned().into(), inputs.into_owned());
                Solved::TwoState(Box::new(TwoState { indices, transition, inputs }))
            }
            Solved::General(solved) => Solved::General(Box::new(solved.into_owned())),
            Solved::Bisection(solved) => Solved::Bisection(Box::new(solved.into_owned())),
            Solved::Collapsing(solved) => Solved::Collapsing(Box::new(solved.into_owned())),
        })
    }

    /// What a cotangent of the indices (in their shape) becomes on the transitions.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> TransitionCotangent {
        let d_transition = match &self.0 {
            Solved::TwoState(solved) => solved.pullback(d_index),
            Solved::General(solved) => solved.pullback_per_arm(d_index).d_transition,
            Solved::Bisection(solved) => solved.pullback_per_arm(d_index).d_transition,
            Solved::Collapsing(solved) => solved.pullback(d_index).d_transition,
        };
        TransitionCotangent { d_transition }
    }

    /// What a cotangent of the indices (in their shape) becomes on transitions, rewards and discounts, arm by arm.
    pub fn pullback_per_arm(&self, d_index: ArrayView2<'_, f64>) -> PerArmCotangent {
        match &self.0 {
            Solved::TwoState(solved) => {
                let (rewards, discounts) = (solved.inputs.rewards.borrow(), solved.inputs.discounts.borrow());
                two_state::pullback_per_arm(solved.transition.view(), rewards, discounts, d_index)
            }
            Solved::General(solved) => solved.pullback_per_arm(d_index),
            Solved::Bisection(solved) => solved.pullback_per_arm(d_index),
            Solved::Collapsing(solved) => solved.pullback_per_arm(d_index),
        }
    }
}

impl TwoState<'_> {
    fn pullback(&self, d_index: ArrayView2<'_, f64>) -> Array4<f64> {
        let (transition, Inputs { rewards, discounts }) = (self.transition.view(), &self.inputs);
        match (rewards, discounts) {
            (Rewards::Shared(reward), Discounts::Shared(discount)) => {
                two_state::pullback(transition, reward.view(), *discount, d_index).d_transition
            }
            _ => {
                let (rewards, discounts) = (rewards.borrow(), discounts.borrow());
                two_state::pullback_per_arm(transition, rewards, discounts, d_index).d_transition
            }
        }
    }
}
