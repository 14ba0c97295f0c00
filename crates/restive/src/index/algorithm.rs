//! The door to the indices: which kernel computes them.

use super::{Discounts, Indices, Rewards, bisection, collapsing, general, two_state};
use crate::belief::{Chain, Observation};
use crate::error::{Error, Result};
use ndarray::ArrayView4;

/// The kernel that computes the indices. An [`Observation`] becomes the best one for it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Algorithm {
    /// [`Algorithm::TwoState`] for two states, [`Algorithm::General`] otherwise
    #[default]
    Auto,
    /// the closed form, M = 2 only
    TwoState,
    /// the sweep over subsidies
    General,
    /// bisection as in the paper, γ < 1 only
    Bisection(bisection::Tolerance),
    /// the kernels for beliefs, where the state is seen only at pulls
    Collapsing(Chain),
}

impl From<Observation> for Algorithm {
    fn from(observation: Observation) -> Self {
        match observation {
            Observation::Full => Algorithm::Auto,
            Observation::Collapsing(chain) => Algorithm::Collapsing(chain),
        }
    }
}

impl Algorithm {
    /// The kernel that `Auto` stands for.
    pub fn resolve(self, states: usize) -> Self {
        match self {
            Algorithm::Auto if states == 2 => Algorithm::TwoState,
            Algorithm::Auto => Algorithm::General,
            other => other,
        }
    }

    /// Whether the kernel can take arms with these rewards (`[M,2]` or `[N,M,2]`) at these discounts.
    pub fn check<'a>(
        self,
        rewards: impl Into<Rewards<'a>>,
        discounts: impl Into<Discounts<'a>>,
    ) -> Result<()> {
        let (rewards, discount) = (rewards.into(), discounts.into().largest());
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        match self {
            Algorithm::TwoState if rewards.states() != 2 => {
                range("states", "2 for the two-state algorithm", rewards.states() as f64)
            }
            Algorithm::Bisection(_) if discount >= 1.0 => {
                range("discount", "a number below 1 for bisection over value iteration", discount)
            }
            Algorithm::Collapsing(chain) => rewards.distinct().try_for_each(|reward| chain.check(reward)),
            _ => Ok(()),
        }
    }
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]` or one for each arm, `[N,M,2]`, and a discount or one for
/// each arm, `[N]`: `[N,M]`, or `[N,M·T]` for the labels of chains of T.
///
/// The last argument is the [`Observation`] of the arms, or an [`Algorithm`] by name. Shapes are asserted, and the algorithm
/// must fit the arms; [`Algorithm::check`] says so beforehand as an error. Two-state arms in their compact form have a door
/// of their own, [`two_state::index_compact`].
///
/// ```
/// use restive::belief::{Chain, Observation};
/// use restive::{Layout, Reward, Transition, index::whittle_index};
///
/// let transition = ndarray::Array4::from_elem((1, 3, 2, 3), 1.0 / 3.0);
/// let (arm, reward) = (Transition::new(transition, Layout::Nsas)?, Reward::linear(3));
/// let seen = whittle_index(arm.view(), reward.view(), 0.9, Observation::Full);
/// assert!(seen.is_indexable[0]);
/// assert!(seen.index.iter().all(|w| w.abs() < 1e-15)); // a pull changes nothing: it is worth nothing
///
/// let unseen = whittle_index(arm.view(), reward.view(), 0.9, Observation::Collapsing(Chain::Finite(4)));
/// assert_eq!(unseen.index.dim(), (1, 12)); // one index for each belief
/// # Ok::<(), restive::Error>(())
/// ```
pub fn whittle_index<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    algorithm: impl Into<Algorithm>,
) -> Indices {
    let (reward, discount) = (reward.into(), discount.into());
    match algorithm.into().resolve(reward.states()) {
        Algorithm::TwoState => two_state::index(transition, reward, discount),
        Algorithm::General | Algorithm::Auto => general::index(transition, reward, discount),
        Algorithm::Bisection(tolerance) => bisection::index(transition, reward, discount, tolerance),
        Algorithm::Collapsing(chain) => collapsing::index(transition, reward, discount, chain),
    }
}
