//! The joint process: how joint states and joint actions are numbered, and what they earn.
//!
//! The joint state of arms in states s₀ … s_{N−1} is the number with these digits to the base M, arm 0 first. Joint actions are
//! the subsets of exactly K arms, in ascending order of the number whose binary digits say who is pulled, arm 0 first. A joint state
//! and action earn Σ_i R(s_i, a_i), kept as what passive arms earn and what each pull adds.

use super::cost::{Cost, Limit};
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation, Reward};
use ndarray::ArrayView2;

/// N arms as one Markov decision process; the transitions are given apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    pub(super) arms: usize,
    pub(super) states: usize,
    pub(super) budget: usize,
    pub(super) discount: f64,
    /// what passive arms earn in each joint state, `[M^N]`
    pub(super) passive: Vec<f64>,
    /// what a pull adds in each state of an arm, `[M]`; absent where nowhere anything
    gain: Option<Vec<f64>>,
    /// who is pulled, arm 0 in the highest of N bits
    masks: Vec<u64>,
    cost: Cost,
}

impl Joint {
    /// So many arms under one reward, a discount below 1, and a budget of exactly K pulls; an error where it does not fit in
    /// memory.
    pub fn new(reward: &Reward, arms: usize, budget: usize, discount: f64, limit: &Limit) -> Result<Self> {
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        if !(0.0..1.0).contains(&discount) {
            return range("discount of a joint problem", "at least 0 and below 1", discount);
        }
        if !(1..=63).contains(&arms) {
            return range("arms of a joint problem", "from 1 to 63", arms as f64);
        }
        if budget > arms {
            return range("budget", "at most the number of arms", budget as f64);
        }
        let states = reward.states();
        let cost = Cost::new(arms, states, budget);
        cost.check(limit)?;
        let table = reward.view();
        let mut passive = vec![0.0];
        for _ in 0..arms {
            passive = passive.iter().flat_map(|sum| (0..states).map(move |s| sum + table[[s, 0]])).collect();
        }
        let gain: Vec<f64> = (0..states).map(|s| table[[s, 1]] - table[[s, 0]]).collect();
        let gain = gain.iter().any(|g| *g != 0.0).then_some(gain);
        let mut masks = Vec::new();
        subsets(arms, budget, 0, &mut masks);
        Ok(Self { arms, states, budget, discount, passive, gain, masks, cost })
    }

    /// The joint problem of an instance whose states are seen at every step.
    pub fn from_instance(instance: &Instance, limit: &Limit) -> Result<Self> {
        if instance.observation() != Observation::Full {
            let found = "states seen at pulls only".into();
            let expected = "states seen at every step: labels would be the states of a joint problem".into();
            return Err(Error::Unsuitable { what: "joint problem", found, expected });
        }
        Self::new(instance.reward(), instance.arms(), instance.budget(), instance.discount(), limit)
    }

    /// M^N
    pub fn joint_states(&self) -> usize {
        self.passive.len()
    }

    /// C(N, K)
    pub fn joint_actions(&self) -> usize {
        self.masks.len()
    }

    /// What it costs.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// γ
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The number of a joint state, from the states of the arms, `[N]`.
    pub fn state_code(&self, state: &[u16]) -> usize {
        assert_eq!(state.len(), self.arms, "state: [N]");
        state.iter().fold(0, |code, &s| {
            assert!(usize::from(s) < self.states, "a state below M");
            code * self.states + usize::from(s)
        })
    }

    /// The states of the arms, `[N]`, of a joint state.
    pub fn state(&self, mut code: usize) -> Vec<u16> {
        let mut state = vec![0; self.arms];
        for s in state.iter_mut().rev() {
            *s = (code % self.states) as u16;
            code /= self.states;
        }
        state
    }

    /// The number of a joint action; none where not exactly K arms are pulled.
    pub fn action_code(&self, pull: &[bool]) -> Option<usize> {
        assert_eq!(pull.len(), self.arms, "pull: [N]");
        let mask = pull.iter().fold(0, |mask, &pulled| mask << 1 | u64::from(pulled));
        self.masks.binary_search(&mask).ok()
    }

    /// Who is pulled, `[N]`, in a joint action.
    pub fn action(&self, code: usize) -> Vec<bool> {
        (0..self.arms).map(|i| self.is_pulled(code, i)).collect()
    }

    fn is_pulled(&self, code: usize, i: usize) -> bool {
        self.masks[code] >> (self.arms - 1 - i) & 1 == 1
    }

    /// The distribution over joint states of arms that start apart from each other, each by its row of `[N,M]`.
    pub fn start(&self, mass: ArrayView2<'_, f64>) -> Vec<f64> {
        assert_eq!(mass.dim(), (self.arms, self.states), "mass: [N,M]");
        mass.outer_iter()
            .fold(vec![1.0], |all, arm| all.iter().flat_map(|p| arm.iter().map(move |q| p * q)).collect())
    }

    /// q ← R(·, a) + γ q
    pub(super) fn earn(&self, action: usize, q: &mut [f64]) {
        for (q, reward) in q.iter_mut().zip(&self.passive) {
            *q = reward + self.discount * *q;
        }
        let Some(gain) = &self.gain else { return };
        for i in (0..self.arms).filter(|i| self.is_pulled(action, *i)) {
            let inner = self.states.pow((self.arms - 1 - i) as u32);
            for (block, q) in q.chunks_exact_mut(inner).enumerate() {
                q.iter_mut().for_each(|q| *q += gain[block % self.states]);
            }
        }
    }
}

/// The masks of `arms` more bits with `pulls` ones, after the bits of `begun`, in ascending order.
fn subsets(arms: usize, pulls: usize, begun: u64, masks: &mut Vec<u64>) {
    if arms == 0 {
        masks.push(begun);
        return;
    }
    if pulls < arms {
        subsets(arms - 1, pulls, begun << 1, masks);
    }
    if pulls > 0 {
        subsets(arms - 1, pulls - 1, begun << 1 | 1, masks);
    }
}
