//! Availability in simulation: whether each arm can be pulled at each step of a run.
//!
//! Availability v of an arm is 1 or 0. It follows a two-state Markov chain that all arms share and that does not depend on states and
//! actions:
//!
//! ```text
//! P(1 | 1) = stays      P(1 | 0) = returns      stationary probability of 1: π = returns/(1 − stays + returns)
//! ```
//!
//! [`AvailabilityChain::fit`] estimates the chain by pooled counts with add-one (Laplace) smoothing: with n(v, v′) the number of pairs of
//! consecutive logged steps of an arm, P(1 | v) = (n(v, 1) + 1)/(n(v, 0) + n(v, 1) + 2). A step is logged if its state or its action is
//! recorded, or if the arm was not available.
//!
//! A run has a stream of random numbers for its availability, one number per arm and step. States therefore meet the same noise with
//! and without availability, and all policies meet the same availability. Policies choose among the available arms
//! ([`Chooser::choose_available`]).
//!
//! Limits: arms that differ in their availability, and availability that depends on states or actions, are replaced by the average arm.
//!
//! ```
//! use restive::policy::Policy;
//! use restive::simulation::{Availability, AvailabilityChain, Initial, Setting, values, values_available};
//! use restive::{Layout, Reward, Transition};
//!
//! let arm = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arms = Transition::new(arm, Layout::Nsas)?.select_arms(&[0; 10]);
//! let reward = Reward::linear(2);
//! let setting =
//!     Setting { motion: arms.view().into(), reward: (&reward).into(), discount: 0.99, budget: 10, horizon: 9 };
//! let chain = AvailabilityChain { stays: 0.6, returns: 0.3 };
//! let availability = Availability { initial: vec![true; 10], chain };
//! let always = values(&setting, &Initial::Uniform, &Policy::Random, 200, 1).mean().unwrap();
//! let available = values_available(&setting, &Initial::Uniform, &availability, &Policy::Random, 200, 1);
//! assert!(available.mean().unwrap() < always); // some pulls cannot be made
//! # Ok::<(), restive::Error>(())
//! ```

use super::{Initial, ROLLOUT, Setting, end_value, values_and_ends, values_under};
use crate::instance::{NO_ACTION, Trajectories, UNSEEN};
use crate::policy::{Chooser, Policy};
use crate::random::{Random, stream};
use ndarray::{Array1, Array3, ArrayView2, Axis};
use rand::RngExt;

/// Two-state Markov chain of availability, shared by all arms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AvailabilityChain {
    /// Probability that an available arm is available at the next step.
    pub stays: f64,
    /// Probability that an unavailable arm is available at the next step.
    pub returns: f64,
}

/// Availability of arms from now on: known now, by a chain at later steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Availability {
    /// Whether each arm is available at the first step, `[N]`.
    pub initial: Vec<bool>,
    /// Chain of the later steps.
    pub chain: AvailabilityChain,
}

/// Numbers of transitions of an arm from availability v to v′: `[v][v′]`.
pub(crate) type AvailabilityMoves = [[f64; 2]; 2];

impl AvailabilityChain {
    /// Fits the chain to logs by pooled counts with add-one smoothing. Logs without availability are left out; `None` if no log has it.
    ///
    /// ```
    /// use ndarray::array;
    /// use restive::instance::{Logged, NO_ACTION, Trajectories};
    /// use restive::simulation::AvailabilityChain;
    ///
    /// // one arm, available at the first, second and fourth step
    /// let state = array![[[0], [0], [0], [0]]];
    /// let action = array![[[1], [0], [0], [NO_ACTION]]];
    /// let available = Some(array![[[true], [true], [false], [true]]]);
    /// let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available }, 2)?;
    /// let chain = AvailabilityChain::fit(&[&log]).unwrap();
    /// assert_eq!((chain.stays, chain.returns), (2.0 / 4.0, 2.0 / 3.0));
    /// # Ok::<(), restive::Error>(())
    /// ```
    pub fn fit(logs: &[&Trajectories]) -> Option<Self> {
        let moves: Vec<_> = logs.iter().filter_map(|log| availability_moves(log)).collect();
        (!moves.is_empty()).then(|| Self::of_moves(moves.iter().flatten().map(|moves| (moves, 1.0))))
    }

    /// The chain of arms with weights.
    pub(crate) fn of_moves<'a>(arms: impl Iterator<Item = (&'a AvailabilityMoves, f64)>) -> Self {
        let mut sum = [[0.0; 2]; 2];
        for (moves, weight) in arms {
            for (sum, moves) in sum.as_flattened_mut().iter_mut().zip(moves.as_flattened()) {
                *sum += weight * moves;
            }
        }
        let [returns, stays] = sum.map(|[absent, present]| (present + 1.0) / (absent + present + 2.0));
        Self { stays, returns }
    }

    /// Stationary probability that an arm is available; 1 for a chain that never moves.
    pub fn stationary(&self) -> f64 {
        let leaves = 1.0 - self.stays;
        if leaves + self.returns > 0.0 { self.returns / (leaves + self.returns) } else { 1.0 }
    }

    /// Probability of availability at the next step, for a probability at this step.
    pub(crate) fn next(&self, available: f64) -> f64 {
        self.stays * available + self.returns * (1.0 - available)
    }
}

/// Availability at each logged step, `None` at a step without a record: `[J,T,N]`. `None` if the log has no availability.
pub(crate) fn logged_availability(log: &Trajectories) -> Option<Array3<Option<bool>>> {
    let available = log.available()?;
    let (state, action) = (log.state(), log.action());
    let at = |at: (usize, usize, usize)| {
        let is_logged = state[at] != UNSEEN || action[at] != NO_ACTION || !available[at];
        is_logged.then_some(available[at])
    };
    Some(Array3::from_shape_fn(available.dim(), at))
}

/// Moves of the availability of each arm between consecutive logged steps, `[N]`. `None` if the log has no availability.
pub(crate) fn availability_moves(log: &Trajectories) -> Option<Vec<AvailabilityMoves>> {
    let logged = logged_availability(log)?;
    let mut moves = vec![AvailabilityMoves::default(); log.arms()];
    for steps in logged.outer_iter() {
        for (before, after) in steps.outer_iter().zip(steps.outer_iter().skip(1)) {
            for (moves, pair) in moves.iter_mut().zip(before.iter().zip(after)) {
                if let (Some(before), Some(after)) = pair {
                    moves[usize::from(*before)][usize::from(*after)] += 1.0;
                }
            }
        }
    }
    Some(moves)
}

/// Availability over the steps of simulated runs: known values at the first steps, a chain for all unknown values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AvailabilityCourse {
    /// Availability where it is known, `[R,S,N]`: run r follows row r modulo R for S steps.
    pub(crate) known: Array3<Option<bool>>,
    /// Chain of all other steps; the first step is drawn from its stationary distribution.
    pub(crate) chain: AvailabilityChain,
}

impl From<&Availability> for AvailabilityCourse {
    fn from(availability: &Availability) -> Self {
        let Availability { initial, chain } = availability;
        let known = Array3::from_shape_fn((1, 1, initial.len()), |(_, _, i)| Some(initial[i]));
        Self { known, chain: *chain }
    }
}

impl AvailabilityCourse {
    /// R
    pub(crate) fn rows(&self) -> usize {
        self.known.len_of(Axis(0))
    }

    fn at(&self, run: usize, t: usize, i: usize) -> Option<bool> {
        self.known.get([run % self.rows(), t, i]).copied().flatten()
    }

    /// Probability that an arm is available at the first step of a run.
    pub(crate) fn first(&self, run: usize, i: usize) -> f64 {
        self.at(run, 0, i).map_or_else(|| self.chain.stationary(), f64::from)
    }

    /// The value of each run of a policy that chooses among the available arms, `[runs]`.
    pub(crate) fn values(
        &self,
        setting: &Setting<'_>,
        initial: &Initial,
        policy: &Policy,
        runs: usize,
        seed: u64,
    ) -> Array1<f64> {
        let memory = || (Chooser::new(policy, setting.budget), Walk::new(self, setting));
        values_under(
            setting,
            initial,
            runs,
            seed,
            memory,
            |(chooser, walk), run, t, state, tie_break, pull| {
                let available = walk.step(self, seed, run, t);
                chooser.choose_available(state, available, t, tie_break, pull);
            },
        )
    }

    /// The value of each run where every available arm is pulled with a given probability (`[H,N]`), independently: `[runs]`.
    pub(crate) fn planned_values(
        &self,
        setting: &Setting<'_>,
        initial: &Initial,
        plan: ArrayView2<'_, f64>,
        runs: usize,
        seed: u64,
    ) -> Array1<f64> {
        assert_eq!(plan.dim(), (setting.horizon, setting.motion.arms()), "plan: [H,N]");
        let memory = || Walk::new(self, setting);
        values_under(setting, initial, runs, seed, memory, |walk, run, t, _, tie_break, pull| {
            let available = walk.step(self, seed, run, t);
            for ((pull, available), planned) in pull.iter_mut().zip(available).zip(plan.row(t)) {
                let uniform: f64 = tie_break.random();
                *pull = *available && uniform < *planned;
            }
        })
    }
}

/// Availability of one run after another, in the memory of a thread.
struct Walk {
    random: Random,
    now: Vec<bool>,
}

impl Walk {
    fn new(course: &AvailabilityCourse, setting: &Setting<'_>) -> Self {
        let n = setting.motion.arms();
        assert_eq!(course.known.len_of(Axis(2)), n, "availability: [N]");
        Self { random: stream(0, &[]), now: vec![true; n] }
    }

    /// Availability at step t of a run, `[N]`; the steps of a run are taken in their order, from 0 on.
    fn step(&mut self, course: &AvailabilityCourse, seed: u64, run: usize, t: usize) -> &[bool] {
        if t == 0 {
            self.random = stream(seed, &[ROLLOUT, run as u64, 2]);
        }
        let AvailabilityChain { stays, returns } = course.chain;
        for (i, now) in self.now.iter_mut().enumerate() {
            let chance = match (t, *now) {
                (0, _) => course.chain.stationary(),
                (_, true) => stays,
                (_, false) => returns,
            };
            let uniform: f64 = self.random.random();
            *now = course.at(run, t, i).unwrap_or(uniform < chance);
        }
        &self.now
    }
}

/// Like [`values`](super::values()), but arms are available at some steps only: the value of each run, `[runs]`.
pub fn values_available(
    setting: &Setting<'_>,
    initial: &Initial,
    availability: &Availability,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> Array1<f64> {
    AvailabilityCourse::from(availability).values(setting, initial, policy, runs, seed)
}

/// Like [`values_to_the_end`](super::values_to_the_end), but arms are available at some steps only.
pub(crate) fn values_to_the_end_available(
    setting: &Setting<'_>,
    initial: &Initial,
    availability: &Availability,
    first: Option<&[bool]>,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> Array1<f64> {
    let course = AvailabilityCourse::from(availability);
    let memory = || (Chooser::new(policy, setting.budget), Walk::new(&course, setting));
    let choose = |(chooser, walk): &mut (Chooser<'_>, Walk),
                  run: usize,
                  t: usize,
                  state: &[u16],
                  tie_break: &mut Random,
                  pull: &mut [bool]| {
        let available = walk.step(&course, seed, run, t);
        match first {
            Some(first) if t == 0 => pull.copy_from_slice(first),
            _ => chooser.choose_available(state, available, t, tie_break, pull),
        }
    };
    values_and_ends(setting, initial, runs, seed, memory, choose, |state| end_value(setting, state))
}
