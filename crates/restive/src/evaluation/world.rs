//! The world that a policy meets: how what is told apart of the arms moves, and what it earns.
//!
//! With full observation these are the transitions and the reward as they stand. Where states are seen at pulls only, what is
//! told apart are [labels](crate::belief), and both are made of beliefs: those that follow from transitions, or those counted
//! in a log. A pull at label l shows state x, so the share of x among the pulls at l *is* an estimate of the belief; labels
//! at which nobody was pulled are uniform, or as predicted.

use super::{empirical, smoothed};
use crate::belief::{Belief, beliefs};
use crate::instance::{Chain, Layout, Observation, Reward, RewardView, Transition};
use crate::policy::myopic_index;
use ndarray::{Array2, Array3, ArrayView2, ArrayView4, Axis, s};

/// Transitions `[N,L,2,L]` between what is told apart, and its rewards.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// `[N,L,2,L]`
    pub transition: Transition,
    shared: Reward,
    /// `[N,L,2]`, where every arm has its own
    own: Option<Array3<f64>>,
}

impl World {
    /// The world of arms that move by transitions `[N,M,2,M]`.
    pub fn new(observation: Observation, reward: &Reward, transition: &Transition) -> Self {
        match observation {
            Observation::Full => Self::full(reward, transition.clone()),
            Observation::Collapsing(chain) => {
                Self::of_beliefs(reward, &beliefs(transition.view(), chain.beliefs()).belief)
            }
        }
    }

    /// The world that the counts `[N,L,2,L]` of a log speak of: shares, uniform where nothing was seen; or weighed against
    /// predicted transitions `[N,M,2,M]` that are worth so many transitions for each action.
    pub fn estimated(
        observation: Observation,
        reward: &Reward,
        counts: ArrayView4<'_, f64>,
        prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>,
    ) -> Self {
        match (observation, prediction) {
            (Observation::Full, None) => Self::full(reward, empirical(counts)),
            (Observation::Full, Some((p, strength))) => Self::full(reward, smoothed(counts, p, strength)),
            (Observation::Collapsing(chain), prediction) => {
                let mut seen = seen_at_pulls(counts, chain, reward.states());
                let m = reward.states() as f64;
                match prediction {
                    None => {
                        for mut row in seen.rows_mut() {
                            let sum = row.sum();
                            if sum > 0.0 { row /= sum } else { row.fill(1.0 / m) }
                        }
                    }
                    Some((p, [_, strength])) => {
                        let prior = beliefs(p, chain.beliefs());
                        for (mut row, b) in seen.rows_mut().into_iter().zip(prior.belief.view().rows()) {
                            let total = row.sum() + strength;
                            row.iter_mut().zip(b).for_each(|(n, b)| *n = (*n + strength * b) / total);
                        }
                    }
                }
                Self::of_beliefs(reward, &Belief::new(seen))
            }
        }
    }

    fn full(reward: &Reward, transition: Transition) -> Self {
        Self { transition, shared: reward.clone(), own: None }
    }

    fn of_beliefs(reward: &Reward, belief: &Belief) -> Self {
        let (transition, own) = belief.world(reward.view());
        let transition = Transition::new(transition, Layout::Nsas).expect("beliefs sum to 1");
        Self { transition, shared: reward.clone(), own: Some(own) }
    }

    /// What a pull brings at this step and the next, `[N,L]`: the [myopic index](myopic_index) of what is told apart.
    pub fn myopic_index(&self, discount: f64) -> Array2<f64> {
        let transition = self.transition.view();
        if let Some(reward) = self.shared_reward() {
            return myopic_index(transition, reward, discount);
        }
        let mut index = Array2::zeros((transition.dim().0, transition.dim().1));
        for (i, mut row) in index.rows_mut().into_iter().enumerate() {
            let arm = transition.slice(s![i..i + 1, .., .., ..]);
            row.assign(&myopic_index(arm, self.arm_reward(i), discount).row(0));
        }
        index
    }

    /// `[L,2]`, where all arms have the same.
    pub fn shared_reward(&self) -> Option<ArrayView2<'_, f64>> {
        self.own.is_none().then(|| self.shared.view())
    }

    /// The rewards of arm i, `[L,2]`.
    pub fn arm_reward(&self, i: usize) -> ArrayView2<'_, f64> {
        self.own.as_ref().map_or(self.shared.view(), |own| own.index_axis(Axis(0), i))
    }

    /// R(l, a), shared or of each arm.
    pub fn reward(&self) -> RewardView<'_> {
        self.own.as_ref().map_or((&self.shared).into(), |own| RewardView::by_arm(own.view()))
    }
}

/// How often a pull of each arm at each label showed each state: `[N,L,M]`.
pub fn seen_at_pulls(counts: ArrayView4<'_, f64>, chain: Chain, states: usize) -> Array3<f64> {
    let (n, labels, _, _) = counts.dim();
    let mut seen = Array3::zeros((n, labels, states));
    for x in 0..states {
        // a pull that shows x leads to the first label of its chain
        let to = counts.slice(s![.., .., 1, x * chain.beliefs()]);
        seen.index_axis_mut(Axis(2), x).assign(&to);
    }
    seen
}
