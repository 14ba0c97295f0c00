//! The world that a policy meets: how what is told apart of the arms moves, and what it earns.
//!
//! With full observation these are the transitions and the reward as they stand. Where states are seen at pulls only, what is
//! told apart are [labels](crate::belief), and both are made of beliefs: those that follow from transitions, or those counted
//! in a log. A pull at label l shows state x, so the share of x among the pulls at l *is* an estimate of the belief; labels
//! at which nobody was pulled are uniform, or as predicted.

use super::{Record, empirical, smoothed};
use crate::belief::{Belief, Motion, beliefs};
use crate::instance::{Chain, Observation, Reward, RewardView, Trajectories, Transition, UNSEEN};
use crate::policy::myopic_index;
use ndarray::{Array2, Array3, ArrayView4};

/// Arms with all that a policy meets: how what is told apart moves, L of them per arm, and its rewards.
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

    /// The world that a record speaks of: shares, uniform where nothing was seen; or weighed against predicted transitions
    /// `[N,M,2,M]` that are worth so many transitions for each action.
    pub fn estimated(
        reward: &Reward,
        record: &Record,
        prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>,
    ) -> Self {
        match (record, prediction) {
            (Record::Moves(counts), None) => Self::new(Observation::Full, reward, &empirical(counts.view())),
            (Record::Moves(counts), Some((p, strength))) => {
                Self::new(Observation::Full, reward, &smoothed(counts.view(), p, strength))
            }
            (Record::Sightings { seen, chain, .. }, prediction) => {
                let mut seen = seen.clone();
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
                Self::of_beliefs(reward, *chain, Belief::new(seen))
            }
        }
    }

    /// Beliefs that no transitions lead to.
    fn of_beliefs(reward: &Reward, chain: Chain, belief: Belief) -> Self {
        let labels = Labels { chain, reward: belief.reward(reward.view()), belief };
        Self { reward: reward.clone(), transition: None, labels: Some(labels) }
    }

    /// How what is told apart moves.
    pub fn motion(&self) -> Motion<'_> {
        match (&self.labels, &self.transition) {
            (Some(labels), _) => (&labels.belief).into(),
            (None, Some(transition)) => transition.view().into(),
            (None, None) => unreachable!("a world has transitions or beliefs"),
        }
    }

    /// R(l, a) of what is told apart, shared or of each arm.
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

    /// The chains of labels, where states are seen at pulls only.
    pub fn chain(&self) -> Option<Chain> {
        self.labels.as_ref().map(|labels| labels.chain)
    }

    /// What a pull brings at this step and the next, `[N,L]`: the [myopic index](myopic_index) of what is told apart.
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
}

/// How often a pull of each arm at each label showed each of the states: `[N,L,M]`.
pub fn seen_at_pulls(log: &Trajectories, chain: Chain, states: usize) -> Array3<f64> {
    let (state, action) = (log.state(), log.action());
    let mut seen = Array3::zeros((log.arms(), log.states(), states));
    for ((j, t, i), &label) in state.indexed_iter() {
        // a pull that shows x leads to the first label of its chain
        if action[[j, t, i]] == 1 && label != UNSEEN && t + 1 < log.steps() && state[[j, t + 1, i]] != UNSEEN
        {
            seen[[i, usize::from(label), usize::from(state[[j, t + 1, i]]) / chain.beliefs()]] += 1.0;
        }
    }
    seen
}
