//! Checked rewards and discounts.

use super::transition::contiguous;
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, ArrayView3, Axis};

/// Rewards beyond this would make values and their squares overflow.
const LARGEST: f64 = 1e100;

/// Reward R(s, a) of every state and action, `[M,2]`, shared by all arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    values: Array2<f64>,
}

impl Reward {
    /// A reward R(s) that does not depend on the action, as in the paper.
    pub fn of_state(values: &[f64]) -> Result<Self> {
        Self::of_state_and_action(Array2::from_shape_fn((values.len(), 2), |(s, _)| values[s]))
    }

    /// A reward R(s, a), `[M,2]`.
    pub fn of_state_and_action(values: Array2<f64>) -> Result<Self> {
        if values.shape()[0] == 0 || values.shape()[1] != 2 {
            return Err(Error::Shape {
                what: "reward",
                expected: "[M, 2] (state, action) with M at least 1".into(),
                found: values.shape().to_vec(),
            });
        }
        if let Some((position, &found)) = values.iter().enumerate().find(|(_, r)| !r.is_finite()) {
            return Err(Error::NotFinite { what: "reward", position, found });
        }
        if let Some(&found) = values.iter().find(|r| r.abs() > LARGEST) {
            return Err(Error::Range { what: "reward", expected: "at most 1e100 in size", found });
        }
        Ok(Self { values: contiguous(values) })
    }

    /// The paper's reward: R(s) = s/(M−1), from 0 in the worst state to 1 in the best; 0 for one state.
    pub fn linear(states: usize) -> Self {
        assert!(states > 0, "an arm has at least one state");
        let top = (states - 1).max(1) as f64;
        Self { values: Array2::from_shape_fn((states, 2), |(s, _)| s as f64 / top) }
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.values.len_of(Axis(0))
    }

    /// The array, `[M,2]`.
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }
}

/// Rewards for a kernel to read: shared by all arms, or each arm's own.
///
/// ```
/// use restive::{Reward, RewardView};
///
/// let shared = Reward::linear(3);
/// assert_eq!(RewardView::from(&shared).at(7, 2, 0), 1.0); // any arm, state 2
/// let own = ndarray::array![[[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [5.0, 5.0]]]; // [N,M,2]
/// assert_eq!(RewardView::by_arm(own.view()).at(1, 1, 0), 5.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardView<'a> {
    values: &'a [f64],
    states: usize,
    /// from one arm's rewards to the next: 0 where they are shared
    stride: usize,
}

impl<'a> RewardView<'a> {
    /// Each arm's own rewards, `[N,M,2]`, row-major.
    pub fn by_arm(values: ArrayView3<'a, f64>) -> Self {
        let (_, states, actions) = values.dim();
        assert_eq!(actions, 2, "reward: [N,M,2]");
        Self { values: values.to_slice().expect("reward: row-major"), states, stride: 2 * states }
    }

    /// M
    pub fn states(&self) -> usize {
        self.states
    }

    /// R(s, a) of arm i.
    #[inline(always)]
    pub fn at(&self, i: usize, s: usize, a: usize) -> f64 {
        self.values[i * self.stride + 2 * s + a]
    }

    /// max R − min R, over all arms.
    pub fn range(&self) -> f64 {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = self.values.iter().fold(ends, |(low, high), r| (low.min(*r), high.max(*r)));
        high - low
    }

    /// The rewards of arm i, `[M,2]` in a row.
    #[inline(always)]
    pub fn arm(&self, i: usize) -> &'a [f64] {
        &self.values[i * self.stride..][..2 * self.states]
    }
}

impl<'a> From<ArrayView2<'a, f64>> for RewardView<'a> {
    fn from(values: ArrayView2<'a, f64>) -> Self {
        let (states, actions) = values.dim();
        assert_eq!(actions, 2, "reward: [M,2]");
        Self { values: values.to_slice().expect("reward: row-major"), states, stride: 0 }
    }
}

impl<'a> From<&'a Reward> for RewardView<'a> {
    fn from(reward: &'a Reward) -> Self {
        reward.view().into()
    }
}

/// Checks a discount: a number from 0 to 1, where 1 means the average reward per step.
pub fn check_discount(discount: f64) -> Result<()> {
    if (0.0..=1.0).contains(&discount) {
        return Ok(());
    }
    Err(Error::Range { what: "discount", expected: "a number from 0 to 1", found: discount })
}
