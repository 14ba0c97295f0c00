//! The world that a policy meets: how what is told apart of the arms moves, and what it earns.
//!
//! With full observation these are the transitions and the reward as they stand. Where states are seen at pulls only, what is
//! told apart are [labels](crate::belief), and both are made of beliefs, which follow from transitions.

use super::{Record, empirical};
use crate::belief::{Belief, beliefs};
use crate::instance::{Layout, Observation, Reward, RewardView, Transition};
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

    /// The world of transitions that a record [speaks of](Record::transition).
    pub fn estimated(
        observation: Observation,
        reward: &Reward,
        record: &Record,
        prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>,
    ) -> Self {
        Self::new(observation, reward, &record.transition(prediction))
    }

    /// The world of shares, as published: also the beliefs are those counted, every label by itself, and uniform where nobody was pulled.
    pub fn counted(reward: &Reward, record: &Record) -> Self {
        match record {
            Record::Moves(counts) => Self::full(reward, empirical(counts.view())),
            Record::Sightings { seen, .. } => {
                let (mut shares, uniform) = (seen.clone(), 1.0 / reward.states() as f64);
                for mut row in shares.rows_mut() {
                    let sum = row.sum();
                    if sum > 0.0 { row /= sum } else { row.fill(uniform) }
                }
                Self::of_beliefs(reward, &Belief::new(shares))
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
