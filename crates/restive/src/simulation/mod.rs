//! Rolls arms forward under any policy.
//!
//! At each of H steps every arm is in a state, the policy draws who is pulled, rewards R(s, a) are collected, and every arm
//! moves by its own P(s, a, ·), pulled or not; where states are seen at pulls only, what moves are
//! [labels](crate::belief). The *value* of a run is Σ_{t<H} γ^t Σ_i R(s_ti, a_ti).
//!
//! Each run has two streams of random numbers: one moves the arms, one number per arm and step whatever the action; the
//! other serves the policy. Two policies simulated with one seed therefore meet the same noise, and their difference is far
//! less noisy than either value. Runs are independent of each other and of the number of threads.
//!
//! **Availability.** If arms can be pulled at some steps only, [`values_available`] draws the [`Availability`] of each run from a third stream.
//!
//! ```
//! use restive::policy::Policy;
//! use restive::simulation::{Initial, Setting, values};
//! use restive::{Layout, Reward, Transition};
//!
//! // ten copies of the paper's worked example; the tables of indices that rank them are all alike
//! let arm = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arms = Transition::new(arm, Layout::Nsas)?.select_arms(&[0; 10]);
//! let reward = Reward::linear(2);
//! let setting =
//!     Setting { motion: arms.view().into(), reward: (&reward).into(), discount: 0.99, budget: 3, horizon: 9 };
//! let value = |policy: &Policy| values(&setting, &Initial::Uniform, policy, 200, 1).mean().unwrap();
//! let index = ndarray::Array2::from_shape_fn((10, 2), |(_, s)| if s == 0 { 6.0 / 17.0 } else { 0.0 });
//! assert!(value(&Policy::Strict(index)) > value(&Policy::Random));
//! assert!(value(&Policy::Random) > value(&Policy::NoAction));
//! # Ok::<(), restive::Error>(())
//! ```

mod arms;
mod availability;
mod rollouts;

pub use availability::{Availability, AvailabilityChain, values_available};
pub(crate) use availability::{
    AvailabilityCourse, availability_moves, logged_availability, values_to_the_end_available,
};
pub use rollouts::{Decision, Rollouts};

use crate::belief::Motion;
use crate::instance::{Logged, NO_ACTION, RewardView, Trajectories};
use crate::interrupt;
use crate::policy::{Chooser, Policy};
use crate::random::{Random, stream};
use arms::Arms;
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis};
use rayon::prelude::*;

/// The streams of a rollout: no other use of a seed begins with it.
const ROLLOUT: u64 = 0x726f_6c6c;
/// More tasks than any machine has threads.
const MOST_TASKS: usize = 4096;

/// Whose arms are rolled forward, and for what.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// how they move: transitions `[N,M,2,M]`, or beliefs
    pub motion: Motion<'a>,
    /// R(s, a), shared or of each arm
    pub reward: RewardView<'a>,
    /// γ of the value
    pub discount: f64,
    /// K
    pub budget: usize,
    /// H, the number of decisions
    pub horizon: usize,
}

/// Where the arms start.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial {
    /// every state equally likely, independently for each arm
    Uniform,
    /// run r starts in the states of row r, modulo the number of rows: `[R,N]`
    States(Array2<u16>),
}

impl Initial {
    /// The starts of some of the arms, in the given order and perhaps repeated.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        match self {
            Initial::Uniform => Initial::Uniform,
            Initial::States(rows) => Initial::States(rows.select(Axis(1), arms)),
        }
    }

    /// The distribution over the M states in which each of N arms starts: `[N,M]`.
    pub fn mass(&self, n: usize, m: usize) -> Array2<f64> {
        match self {
            Initial::Uniform => Array2::from_elem((n, m), 1.0 / m as f64),
            Initial::States(rows) => {
                let mut mass = Array2::zeros((n, m));
                let share = 1.0 / rows.nrows() as f64;
                for ((_, i), &s) in rows.indexed_iter() {
                    mass[[i, usize::from(s)]] += share;
                }
                mass
            }
        }
    }
}

/// The value of each run, `[runs]`.
pub fn values(
    setting: &Setting<'_>,
    initial: &Initial,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> Array1<f64> {
    let chooser = || Chooser::new(policy, setting.budget);
    values_under(setting, initial, runs, seed, chooser, |chooser, _, t, state, tie_break, pull| {
        chooser.choose(state, t, tie_break, pull);
    })
}

/// The value of each run where it is known beforehand who is pulled when (`[H,N]`), within the budget or not: `[runs]`. The
/// arms meet the same noise as under a policy with the same seed.
pub fn planned_values(
    setting: &Setting<'_>,
    initial: &Initial,
    plan: ArrayView2<'_, bool>,
    runs: usize,
    seed: u64,
) -> Array1<f64> {
    assert_eq!(plan.dim(), (setting.horizon, setting.motion.arms()), "plan: [H,N]");
    values_under(
        setting,
        initial,
        runs,
        seed,
        || (),
        |_, _, t, _, _, pull| {
            pull.iter_mut().zip(plan.row(t)).for_each(|(pull, planned)| *pull = *planned);
        },
    )
}

/// The value of each run with the state after the last decision counted too, γ^H Σ_i R(s_Hi, passive): `[runs]`. At the first step those
/// are pulled who are said to be (`first`, `[N]`), within the budget or not; where nothing is said, and later, the policy decides.
pub fn values_to_the_end(
    setting: &Setting<'_>,
    initial: &Initial,
    first: Option<&[bool]>,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> Array1<f64> {
    let chooser = || Chooser::new(policy, setting.budget);
    let choose = |chooser: &mut Chooser<'_>,
                  _: usize,
                  t: usize,
                  state: &[u16],
                  tie_break: &mut Random,
                  pull: &mut [bool]| match first {
        Some(first) if t == 0 => pull.copy_from_slice(first),
        _ => chooser.choose(state, t, tie_break, pull),
    };
    values_and_ends(setting, initial, runs, seed, chooser, choose, |state| end_value(setting, state))
}

/// Reward of states without a pull.
fn end_value(setting: &Setting<'_>, state: &[u16]) -> f64 {
    state.iter().enumerate().map(|(i, &s)| setting.reward.at(i, usize::from(s), 0)).sum()
}

/// The value of each run under any rule (`choose(memory, run, t, states, tie_break, pull)`).
fn values_under<C>(
    setting: &Setting<'_>,
    initial: &Initial,
    runs: usize,
    seed: u64,
    memory: impl Fn() -> C + Send + Sync,
    choose: impl Fn(&mut C, usize, usize, &[u16], &mut Random, &mut [bool]) + Send + Sync,
) -> Array1<f64> {
    values_and_ends(setting, initial, runs, seed, memory, choose, |_| 0.0)
}

/// The same, with what the states after the last decision count for.
fn values_and_ends<C>(
    setting: &Setting<'_>,
    initial: &Initial,
    runs: usize,
    seed: u64,
    memory: impl Fn() -> C + Send + Sync,
    choose: impl Fn(&mut C, usize, usize, &[u16], &mut Random, &mut [bool]) + Send + Sync,
    ends: impl Fn(&[u16]) -> f64 + Send + Sync,
) -> Array1<f64> {
    let arms = Arms::new(setting.motion);
    let value = |memory: &mut C, run: usize| {
        let (mut value, mut weight) = (0.0, 1.0);
        let choose = |t: usize, state: &[u16], tie_break: &mut Random, pull: &mut [bool]| {
            choose(&mut *memory, run, t, state, tie_break, pull);
        };
        let last = roll(setting, &arms, initial, choose, run, seed, |_, state, pull| {
            let reward = setting.reward;
            let arms = state.iter().zip(pull).enumerate();
            let step: f64 = arms.map(|(i, (&s, &a))| reward.at(i, usize::from(s), usize::from(a))).sum();
            value += weight * step;
            weight *= setting.discount;
        });
        value + weight * ends(&last)
    };
    // not a task for each of millions of runs: an interruption unwinds through every task
    let tasks = (0..runs).into_par_iter().with_min_len(runs.div_ceil(MOST_TASKS));
    let values: Vec<f64> = tasks.map_init(memory, value).collect();
    values.into()
}

/// The trajectories of some runs, with the propensity of every action: H + 1 steps, of which the last has no actions.
pub fn trajectories(
    setting: &Setting<'_>,
    initial: &Initial,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> Trajectories {
    let arms = Arms::new(setting.motion);
    let (n, m, steps) = (arms.arms(), arms.states(), setting.horizon + 1);
    let mut logged = Logged {
        state: Array3::zeros((runs, steps, n)),
        action: Array3::from_elem((runs, steps, n), NO_ACTION),
        propensity: Some(Array3::from_elem((runs, steps, n), f64::NAN)),
        reward: None,
        available: None,
    };
    let propensity = logged.propensity.as_mut().expect("just made");
    let runs: Vec<_> = (logged.state.axis_iter_mut(Axis(0)))
        .zip(logged.action.axis_iter_mut(Axis(0)))
        .zip(propensity.axis_iter_mut(Axis(0)))
        .enumerate()
        .collect();
    runs.into_par_iter().for_each(|(run, ((mut states, mut actions), mut propensities))| {
        let (mut chooser, mut asked) =
            (Chooser::new(policy, setting.budget), Chooser::new(policy, setting.budget));
        let mut inclusion = vec![0.0; n];
        let choose = |t: usize, state: &[u16], tie_break: &mut Random, pull: &mut [bool]| {
            chooser.choose(state, t, tie_break, pull);
        };
        let last = roll(setting, &arms, initial, choose, run, seed, |t, state, pull| {
            asked.inclusion(state, t, &mut inclusion);
            for i in 0..n {
                states[[t, i]] = state[i];
                actions[[t, i]] = u8::from(pull[i]);
                propensities[[t, i]] = if pull[i] { inclusion[i] } else { 1.0 - inclusion[i] };
            }
        });
        last.iter().enumerate().for_each(|(i, s)| states[[steps - 1, i]] = *s);
    });
    Trajectories::new(logged, m).expect("simulated states and actions are in range")
}

/// One run: `choose(t, states, tie_break, pulls)` says who is pulled, `visit(t, states, pulls)` sees each decision step.
/// Returns the states after the last.
fn roll(
    setting: &Setting<'_>,
    arms: &Arms,
    initial: &Initial,
    mut choose: impl FnMut(usize, &[u16], &mut Random, &mut [bool]),
    run: usize,
    seed: u64,
    mut visit: impl FnMut(usize, &[u16], &[bool]),
) -> Vec<u16> {
    interrupt::check();
    let n = arms.arms();
    let mut noise = stream(seed, &[ROLLOUT, run as u64, 0]);
    let mut tie_break = stream(seed, &[ROLLOUT, run as u64, 1]);
    let mut state = match initial {
        Initial::Uniform => arms.uniform_states(&mut noise),
        Initial::States(rows) => rows.row(run % rows.nrows()).to_vec(),
    };
    let mut pull = vec![false; n];
    for t in 0..setting.horizon {
        interrupt::check();
        choose(t, &state, &mut tie_break, &mut pull);
        visit(t, &state, &pull);
        arms.step(&mut state, &pull, &mut noise);
    }
    state
}
