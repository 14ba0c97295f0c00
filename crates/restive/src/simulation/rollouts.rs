//! Rollouts that go forward together, a step at a time, so that whoever holds them decides between the steps.
//!
//! The streams of random numbers are those of [`values`](super::values()): the same policy meets the same noise, bit for bit. What is more than
//! there: pulls may come from anywhere (a function of the caller's, scores of the moment), and arms may move by other transitions at every
//! step. The states of all runs are kept, R·N numbers.
//!
//! ```
//! use restive::policy::Policy;
//! use restive::simulation::{Initial, Rollouts, Setting, values};
//! use restive::{Layout, Reward, Transition};
//!
//! let arm = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arms = Transition::new(arm, Layout::Nsas)?.select_arms(&[0; 10]);
//! let reward = Reward::linear(2);
//! let setting =
//!     Setting { motion: arms.view().into(), reward: (&reward).into(), discount: 0.99, budget: 3, horizon: 9 };
//! let mut rollouts = Rollouts::new(&setting, &Initial::Uniform, 20, 1);
//! for _ in 0..9 {
//!     let decision = rollouts.by_policy(&Policy::Random);
//!     rollouts.step(setting.motion, decision.pull.view());
//! }
//! assert_eq!(rollouts.values(), values(&setting, &Initial::Uniform, &Policy::Random, 20, 1));
//! # Ok::<(), restive::Error>(())
//! ```

use super::arms::Arms;
use super::{Initial, ROLLOUT, Setting};
use crate::belief::Motion;
use crate::instance::RewardView;
use crate::interrupt;
use crate::policy::{Chooser, Policy};
use crate::random::{Random, stream};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// Runs that are rolled forward together.
pub struct Rollouts<'a> {
    reward: RewardView<'a>,
    discount: f64,
    budget: usize,
    /// steps so far
    t: usize,
    /// γ^t
    weight: f64,
    /// `[R,N]`
    state: Array2<u16>,
    runs: Vec<Run>,
}

struct Run {
    noise: Random,
    tie_break: Random,
    value: f64,
}

/// Who is pulled in each run, and how likely that was: `[R,N]` each.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// whether each arm is pulled
    pub pull: Array2<bool>,
    /// the probability of that, before the draw
    pub inclusion: Array2<f64>,
}

impl<'a> Rollouts<'a> {
    /// Runs at their start; the horizon of the setting is the caller's to keep.
    pub fn new(setting: &Setting<'a>, initial: &Initial, runs: usize, seed: u64) -> Self {
        let n = setting.motion.arms();
        let labels = setting.motion.states();
        let mut state = Array2::zeros((runs, n));
        let rows: Vec<_> = state.axis_iter_mut(Axis(0)).enumerate().collect();
        let start = |(run, mut state): (usize, ndarray::ArrayViewMut1<'_, u16>)| {
            interrupt::check();
            let mut noise = stream(seed, &[ROLLOUT, run as u64, 0]);
            let tie_break = stream(seed, &[ROLLOUT, run as u64, 1]);
            match initial {
                Initial::Uniform => state
                    .iter_mut()
                    .zip(Arms::uniform(n, labels, &mut noise))
                    .for_each(|(s, drawn)| *s = drawn),
                Initial::States(rows) => state.assign(&rows.row(run % rows.nrows())),
            }
            Run { noise, tie_break, value: 0.0 }
        };
        let runs = rows.into_par_iter().map(start).collect();
        let &Setting { reward, discount, budget, .. } = setting;
        Self { reward, discount, budget, t: 0, weight: 1.0, state, runs }
    }

    /// The states (or labels) of all runs at this moment, `[R,N]`.
    pub fn state(&self) -> ArrayView2<'_, u16> {
        self.state.view()
    }

    /// The discounted rewards of each run so far, `[R]`.
    pub fn values(&self) -> Array1<f64> {
        self.runs.iter().map(|run| run.value).collect()
    }

    /// Whom a policy pulls now.
    pub fn by_policy(&mut self, policy: &Policy) -> Decision {
        let t = self.t;
        self.decide(|_, state, budget, tie_break, pull, inclusion| {
            let mut chooser = Chooser::new(policy, budget);
            chooser.inclusion(state, t, inclusion);
            chooser.choose(state, t, tie_break, pull);
        })
    }

    /// Whom the highest scores of this moment (`[R,N]`, finite) pull, ties broken at random.
    pub fn by_scores(&mut self, score: ArrayView2<'_, f64>) -> Decision {
        assert_eq!(score.dim(), self.state.dim(), "score: [R,N]");
        self.decide(|run, state, budget, tie_break, pull, inclusion| {
            // a table of one column, and everybody in that state
            let table = Policy::Strict(score.row(run).to_owned().insert_axis(Axis(1)));
            let (mut chooser, state) = (Chooser::new(&table, budget), vec![0; state.len()]);
            chooser.inclusion(&state, 0, inclusion);
            chooser.choose(&state, 0, tie_break, pull);
        })
    }

    /// `choose(run, state, budget, tie_break, pull, inclusion)` for every run.
    fn decide(
        &mut self,
        choose: impl Fn(usize, &[u16], usize, &mut Random, &mut [bool], &mut [f64]) + Sync,
    ) -> Decision {
        let mut decision = Decision {
            pull: Array2::from_elem(self.state.raw_dim(), false),
            inclusion: Array2::zeros(self.state.raw_dim()),
        };
        let n = self.state.ncols();
        let outputs = (decision.pull.as_slice_mut().expect("row-major").par_chunks_mut(n))
            .zip(decision.inclusion.as_slice_mut().expect("row-major").par_chunks_mut(n));
        let states = self.state.as_slice().expect("row-major").par_chunks(n);
        let budget = self.budget;
        (self.runs.par_iter_mut().zip(states.zip(outputs))).enumerate().for_each(
            |(k, (run, (state, (pull, inclusion))))| {
                interrupt::check();
                choose(k, state, budget, &mut run.tie_break, pull, inclusion);
            },
        );
        decision
    }

    /// Collects what these pulls (`[R,N]`) earn, and moves every arm by this step's motion.
    pub fn step(&mut self, motion: Motion<'_>, pull: ArrayView2<'_, bool>) {
        assert_eq!(pull.dim(), self.state.dim(), "pull: [R,N]");
        let (n, reward, weight) = (self.state.ncols(), self.reward, self.weight);
        assert_eq!(motion.arms(), n, "motion: of as many arms");
        let (arms, pull) = (Arms::new(motion), pull.as_standard_layout());
        let pulls = pull.as_slice().expect("row-major").par_chunks(n);
        let states = self.state.as_slice_mut().expect("row-major").par_chunks_mut(n);
        self.runs.par_iter_mut().zip(states.zip(pulls)).for_each(|(run, (state, pull))| {
            interrupt::check();
            let each = state.iter().zip(pull).enumerate();
            let earned: f64 = each.map(|(i, (&s, &a))| reward.at(i, usize::from(s), usize::from(a))).sum();
            run.value += weight * earned;
            arms.step(state, pull, &mut run.noise);
        });
        self.weight *= self.discount;
        self.t += 1;
    }
}
