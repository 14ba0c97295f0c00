//! The policies by name, what each makes of the current states, and how its choice is drawn.
//!
//! | policy | pulls |
//! |---|---|
//! | no action | nobody |
//! | random | K of N arms, uniformly without replacement |
//! | round robin | the arms in turn, K at each step |
//! | strict | the K arms with the highest score, ties broken at random |
//! | horizon | the same, by a table of its own at every step |
//! | soft | K arms with the probabilities of [`soft_top_k`] |
//!
//! A table of indices, `[N,M]`, makes a score out of a state. It may hold Whittle indices of predicted or true
//! transitions, or the one-step gains of [`myopic_index`].
//!
//! **Availability.** [`Chooser::choose_available`] and [`Chooser::inclusion_available`] choose among the arms that can be pulled at the
//! step: all policies pull min(K, number of available arms). Round robin passes the turn of an unavailable arm to the next available arm.
//!
//! The soft policy draws by **systematic sampling**: with one uniform number u, arm i is pulled when a whole number lies
//! between u + Σ_{j<i} pull_j and u + Σ_{j≤i} pull_j. Every arm is then included with exactly its probability, and exactly K
//! arms are pulled; drawing one after the other without replacement would not honour the probabilities.

use super::soft_top_k::soft_top_k;
use super::strict::Cut;
use crate::random::Random;
use ndarray::{Array2, Array3, ArrayView2, ArrayView4, Axis};
use rand::RngExt;
use rand::seq::index;

/// Who is pulled, by name.
#[derive(Debug, Clone, PartialEq)]
pub enum Policy {
    /// nobody
    NoAction,
    /// K of N arms uniformly, without replacement
    Random,
    /// the arms in turn, K at each step
    RoundRobin,
    /// the K highest scores, from a table of indices `[N,M]`
    Strict(Array2<f64>),
    /// the K highest scores, at step t from the t-th of H tables `[H,N,M]`; from step H on, the last
    Horizon(Array3<f64>),
    /// soft top-k of the scores from a table of indices `[N,M]`, at a temperature
    Soft(Array2<f64>, f64),
}

impl Policy {
    /// The policy for some of the arms, in the given order and perhaps repeated.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        match self {
            Policy::Strict(table) => Policy::Strict(table.select(Axis(0), arms)),
            Policy::Horizon(tables) => Policy::Horizon(tables.select(Axis(1), arms)),
            Policy::Soft(table, temperature) => Policy::Soft(table.select(Axis(0), arms), *temperature),
            other => other.clone(),
        }
    }
}

/// The myopic index of each state: what a pull brings at this step and the next, `[N,M]`.
///
/// R(s,1) − R(s,0) + γ Σ_s′ (P(s,1,s′) − P(s,0,s′)) R(s′,0)
pub fn myopic_index(
    transition: ArrayView4<'_, f64>,
    reward: ArrayView2<'_, f64>,
    discount: f64,
) -> Array2<f64> {
    let (n, m) = (transition.shape()[0], transition.shape()[1]);
    Array2::from_shape_fn((n, m), |(i, s)| {
        let gain: f64 =
            (0..m).map(|t| (transition[[i, s, 1, t]] - transition[[i, s, 0, t]]) * reward[[t, 0]]).sum();
        reward[[s, 1]] - reward[[s, 0]] + discount * gain
    })
}

/// A policy with the memory that applying it needs: one per thread.
pub struct Chooser<'a> {
    policy: &'a Policy,
    budget: usize,
    score: Vec<f64>,
    cut: Cut,
}

impl<'a> Chooser<'a> {
    /// The policy with a budget of K pulls per step (all arms, where there are fewer).
    pub fn new(policy: &'a Policy, budget: usize) -> Self {
        Self { policy, budget, score: Vec::new(), cut: Cut::default() }
    }

    /// The probability that each arm is pulled, given the states at a step (`[N]`).
    pub fn inclusion(&mut self, state: &[u16], step: usize, pull: &mut [f64]) {
        let n = state.len();
        let budget = self.budget.min(n);
        match self.policy {
            Policy::NoAction => pull.fill(0.0),
            Policy::Random => pull.fill(budget as f64 / n as f64),
            Policy::RoundRobin => (0..n).for_each(|i| pull[i] = f64::from(is_turn(i, step, budget, n))),
            Policy::Strict(table) => {
                self.look_up(table.view(), state);
                self.cut.find(&self.score, budget);
                self.cut.inclusion(&self.score, pull);
            }
            Policy::Horizon(tables) => {
                self.look_up(table_at(tables, step), state);
                self.cut.find(&self.score, budget);
                self.cut.inclusion(&self.score, pull);
            }
            Policy::Soft(table, temperature) => {
                self.look_up(table.view(), state);
                pull.copy_from_slice(&soft_top_k(&self.score, budget as f64, *temperature).pull);
            }
        }
    }

    /// Draws who is pulled, given the states at a step (`[N]`): never more than the budget.
    pub fn choose(&mut self, state: &[u16], step: usize, random: &mut Random, pull: &mut [bool]) {
        let n = state.len();
        let budget = self.budget.min(n);
        match self.policy {
            Policy::NoAction => pull.fill(false),
            Policy::Random => {
                pull.fill(false);
                index::sample(random, n, budget).into_iter().for_each(|i| pull[i] = true);
            }
            Policy::RoundRobin => (0..n).for_each(|i| pull[i] = is_turn(i, step, budget, n)),
            Policy::Strict(table) => {
                self.look_up(table.view(), state);
                self.cut.find(&self.score, budget);
                self.cut.draw(&self.score, random, pull);
            }
            Policy::Horizon(tables) => {
                self.look_up(table_at(tables, step), state);
                self.cut.find(&self.score, budget);
                self.cut.draw(&self.score, random, pull);
            }
            Policy::Soft(table, temperature) => {
                self.look_up(table.view(), state);
                let soft = soft_top_k(&self.score, budget as f64, *temperature);
                systematic(&soft.pull, random.random(), pull);
            }
        }
    }

    /// Like [`inclusion`](Self::inclusion), but among the arms that are available (`[N]`); the probability of the others is 0.
    ///
    /// ```
    /// use restive::policy::{Chooser, Policy};
    ///
    /// let mut pull = [0.0; 4];
    /// Chooser::new(&Policy::Random, 1).inclusion_available(&[0; 4], &[true, false, true, false], 0, &mut pull);
    /// assert_eq!(pull, [0.5, 0.0, 0.5, 0.0]);
    /// ```
    pub fn inclusion_available(&mut self, state: &[u16], available: &[bool], step: usize, pull: &mut [f64]) {
        let among = positions(available, state.len());
        let budget = self.budget.min(among.len());
        let mut chance = vec![0.0; among.len()];
        match (self.policy, self.ranking(step)) {
            (_, Some((table, temperature))) => {
                self.look_up_some(table, state, &among);
                match temperature {
                    None => {
                        self.cut.find(&self.score, budget);
                        self.cut.inclusion(&self.score, &mut chance);
                    }
                    Some(e) => chance.copy_from_slice(&soft_top_k(&self.score, budget as f64, e).pull),
                }
            }
            (Policy::Random, _) => chance.fill(budget as f64 / among.len() as f64),
            (Policy::RoundRobin, _) => {
                self.in_turn(&among, step, state.len()).take(budget).for_each(|k| chance[k] = 1.0);
            }
            (_, None) => (),
        }
        pull.fill(0.0);
        among.iter().zip(chance).for_each(|(&i, chance)| pull[i] = chance);
    }

    /// Like [`choose`](Self::choose), but among the arms that are available (`[N]`): never more than the budget.
    pub fn choose_available(
        &mut self,
        state: &[u16],
        available: &[bool],
        step: usize,
        random: &mut Random,
        pull: &mut [bool],
    ) {
        let among = positions(available, state.len());
        let budget = self.budget.min(among.len());
        let mut chosen = vec![false; among.len()];
        match (self.policy, self.ranking(step)) {
            (_, Some((table, temperature))) => {
                self.look_up_some(table, state, &among);
                match temperature {
                    None => {
                        self.cut.find(&self.score, budget);
                        self.cut.draw(&self.score, random, &mut chosen);
                    }
                    Some(e) => {
                        let soft = soft_top_k(&self.score, budget as f64, e);
                        systematic(&soft.pull, random.random(), &mut chosen);
                    }
                }
            }
            (Policy::Random, _) => {
                index::sample(random, among.len(), budget).into_iter().for_each(|k| chosen[k] = true);
            }
            (Policy::RoundRobin, _) => {
                self.in_turn(&among, step, state.len()).take(budget).for_each(|k| chosen[k] = true);
            }
            (_, None) => (),
        }
        pull.fill(false);
        among.iter().zip(chosen).for_each(|(&i, chosen)| pull[i] = chosen);
    }

    /// Table of indices at a step, with the temperature of a soft policy; `None` for policies without a table.
    fn ranking(&self, step: usize) -> Option<(ArrayView2<'a, f64>, Option<f64>)> {
        match self.policy {
            Policy::NoAction | Policy::Random | Policy::RoundRobin => None,
            Policy::Strict(table) => Some((table.view(), None)),
            Policy::Horizon(tables) => Some((table_at(tables, step), None)),
            Policy::Soft(table, temperature) => Some((table.view(), Some(*temperature))),
        }
    }

    /// Positions in `among` in the order of the rota at a step.
    fn in_turn(&self, among: &[usize], step: usize, n: usize) -> impl Iterator<Item = usize> {
        let first = step * self.budget.min(n) % n;
        let split = among.partition_point(|&i| i < first);
        (split..among.len()).chain(0..split)
    }

    /// The score of some arms in their states.
    fn look_up_some(&mut self, table: ArrayView2<'_, f64>, state: &[u16], among: &[usize]) {
        assert_eq!(table.nrows(), state.len(), "a table of indices has a row per arm");
        self.score.clear();
        self.score.extend(among.iter().map(|&i| table[[i, usize::from(state[i])]]));
    }

    /// The score of each arm in its state.
    fn look_up(&mut self, table: ArrayView2<'_, f64>, state: &[u16]) {
        assert_eq!(table.nrows(), state.len(), "a table of indices has a row per arm");
        self.score.clear();
        self.score.extend(state.iter().enumerate().map(|(i, &s)| table[[i, usize::from(s)]]));
    }
}

/// The table of a step.
fn table_at(tables: &Array3<f64>, step: usize) -> ArrayView2<'_, f64> {
    tables.index_axis(Axis(0), step.min(tables.len_of(Axis(0)) - 1))
}

/// Positions of the available arms.
fn positions(available: &[bool], n: usize) -> Vec<usize> {
    assert_eq!(available.len(), n, "available: [N], as the states");
    (0..n).filter(|&i| available[i]).collect()
}

fn is_turn(i: usize, step: usize, budget: usize, n: usize) -> bool {
    budget > 0 && (i + n - (step * budget) % n) % n < budget
}

/// Draws arms with exactly these probabilities, which sum to a whole number, from one uniform number.
fn systematic(pull: &[f64], uniform: f64, chosen: &mut [bool]) {
    let total = pull.iter().sum::<f64>().round();
    let mut reached = uniform;
    let mut left = total as usize;
    for (i, (p, chosen)) in pull.iter().zip(chosen.iter_mut()).enumerate() {
        let next = reached + p;
        // rounding of the sum must neither lose the last pull nor make one too many
        let is_forced = left == pull.len() - i;
        *chosen = left > 0 && (is_forced || next.floor() > reached.floor());
        left -= usize::from(*chosen);
        reached = next;
    }
}
