//! The world that a policy meets: how the states of the arms move, and what they earn.
//!
//! With full observation these are the transitions and the reward as they stand. Where states are seen at pulls only, the
//! states that a policy can distinguish are [labels](crate::belief), and transitions and rewards between labels are made of
//! beliefs, which follow from the transitions of the states.
//!
//! Who believes in a world can act on it: by what a pull brings at once ([`World::myopic_index`]), or by a plan until an end that is
//! known ([`World::horizon_plan`]).

use super::{Record, empirical};
use crate::belief::{Belief, Motion, beliefs};
use crate::instance::{Chain, Observation, Reward, RewardView, Transition};
use crate::planning::{Ending, Programme, advantages, prices};
use crate::policy::{Policy, myopic_index};
use ndarray::{Array2, Array3, ArrayView2, ArrayView4};

/// Arms with all that a policy meets: L distinguishable states of each arm, how they move, and their rewards.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    reward: Reward,
    /// `[N,M,2,M]`; none where beliefs were counted
    transition: Option<Transition>,
    labels: Option<Labels>,
}

/// Where states are seen at pulls only.
#[derive(Debug, Clone, PartialEq)]
struct Labels {
    chain: Chain,
    belief: Belief,
    /// `[N,L,2]`
    reward: Array3<f64>,
}

impl World {
    /// The world of arms that move by transitions `[N,M,2,M]`.
    pub fn new(observation: Observation, reward: &Reward, transition: &Transition) -> Self {
        let labels = observation.chain().map(|chain| {
            let belief = beliefs(transition.view(), chain.beliefs()).belief;
            Labels { chain, reward: belief.reward(reward.view()), belief }
        });
        Self { reward: reward.clone(), transition: Some(transition.clone()), labels }
    }

    /// The world of transitions that a record [speaks of](Record::transition).
    pub fn estimated(
        reward: &Reward,
        record: &Record,
        prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>,
    ) -> Self {
        Self::new(record.observation(), reward, &record.transition(prediction))
    }

    /// The world of shares, as published: also beliefs are counted, those of every label by themselves, and are uniform where
    /// nobody was pulled.
    pub fn counted(reward: &Reward, record: &Record) -> Self {
        match record {
            Record::Moves(counts) => Self::new(Observation::Full, reward, &empirical(counts.view())),
            Record::Sightings { seen, chain, .. } => {
                let (mut shares, uniform) = (seen.clone(), 1.0 / reward.states() as f64);
                for mut row in shares.rows_mut() {
                    let sum = row.sum();
                    if sum > 0.0 { row /= sum } else { row.fill(uniform) }
                }
                Self::from_beliefs(reward, *chain, Belief::new(shares))
            }
        }
    }

    /// Beliefs that no transitions lead to.
    fn from_beliefs(reward: &Reward, chain: Chain, belief: Belief) -> Self {
        let labels = Labels { chain, reward: belief.reward(reward.view()), belief };
        Self { reward: reward.clone(), transition: None, labels: Some(labels) }
    }

    /// How the distinguishable states move.
    pub fn motion(&self) -> Motion<'_> {
        match (&self.labels, &self.transition) {
            (Some(labels), _) => (&labels.belief).into(),
            (None, Some(transition)) => transition.view().into(),
            (None, None) => unreachable!("a world has transitions or beliefs"),
        }
    }

    /// R(l, a) of the distinguishable states, shared or of each arm.
    pub fn reward(&self) -> RewardView<'_> {
        self.labels.as_ref().map_or((&self.reward).into(), |labels| RewardView::by_arm(labels.reward.view()))
    }

    /// The transitions `[N,M,2,M]` of the states, where the world was made of transitions.
    pub fn transition(&self) -> Option<&Transition> {
        self.transition.as_ref()
    }

    /// The reward of the states.
    pub fn state_reward(&self) -> &Reward {
        &self.reward
    }

    /// When states are seen.
    pub fn observation(&self) -> Observation {
        self.labels.as_ref().map_or(Observation::Full, |labels| Observation::Collapsing(labels.chain))
    }

    /// What a pull brings at this step and the next, `[N,L]`: the [myopic index](myopic_index) of the distinguishable states.
    pub fn myopic_index(&self, discount: f64) -> Array2<f64> {
        let belief = match self.motion() {
            Motion::Rows(transition) => return myopic_index(transition, self.reward.view(), discount),
            Motion::Chains(belief) => belief,
        };
        let (reward, chain) = (self.reward(), belief.chain());
        Array2::from_shape_fn((belief.arms(), belief.labels()), |(i, l)| {
            let pulled = belief.row(i, l).iter().enumerate().map(|(x, b)| b * reward.at(i, x * chain, 0));
            let gain = pulled.sum::<f64>() - reward.at(i, Belief::later(l, chain), 0);
            reward.at(i, l, 1) - reward.at(i, l, 0) + discount * gain
        })
    }

    /// The [plan](crate::planning) of `horizon` decisions with `budget` pulls each, for arms that start with masses `[N,L]`: the
    /// prices of its steps are found once, and the policy pulls by the advantages beside them, [`Policy::Horizon`].
    pub fn horizon_plan(
        &self,
        discount: f64,
        budget: f64,
        horizon: usize,
        ending: Ending,
        initial: ArrayView2<'_, f64>,
    ) -> Policy {
        let programme = Programme {
            motion: self.motion(),
            reward: self.reward(),
            discount,
            horizon,
            ending,
            group: None,
            budget: &[budget],
            presence: None,
        };
        let found = prices(&programme, initial);
        Policy::Horizon(advantages(&programme, found.price.view()))
    }
}
