//! Whittle indices of arms whose state is seen only when they are pulled (*collapsing* bandits).
//!
//! # What it is
//! A pull shows the state s of the arm, which then moves by P₁. From there on the arm is known by its *belief*: after h
//! further steps without a pull it is distributed as `b(s,h) = P₁[s]·P₀ʰ`. Left alone, (s,h) becomes (s,h+1); a pull finds s′
//! with probability `b(s,h)[s′]` and leads to (s′,0). The reward is the expected one, b·R. This is a fully observed arm whose
//! states are beliefs, M *chains* of them, and its indices are those of beliefs, `[N,M·T]`, (s,h) at s·T + h.
//!
//! Where a chain ends is the modeller's choice, [`Chain`]:
//!
//! | chain | states | cost of all indices and their gradient | verdict |
//! |---|---|---|---|
//! | [`Chain::Finite`], as published: the last belief stays as it is | any M | O(M³T²), small constants; O(T²) for M = 2 | yes |
//! | [`Chain::Infinite`]: beliefs go on to their limit | M = 2, R(s) | O(1) per belief | always indexable |
//!
//! against O(M³T³) for the [general](super::general) kernel on the M·T beliefs, from which the finite kernel differs by
//! rounding only. The infinite chain is the cleaner model: freezing the last belief destroys the threshold structure of most
//! arms and makes some of them not indexable (3.6 % of arms on which a pull never harms, drawn at random, at T = 10 and
//! γ = 0.99). For M > 2 no threshold is known; take a finite chain that is long enough for beliefs to settle.
//!
//! # How it is computed
//! Finite: by the same sweep over subsidies as the general kernel, with its ties and its verdict, but advantages come from
//! the structure of the chains (`chains`), anew after every move. Infinite: by a closed form (`infinite`). At discount 1 no
//! arm is determined: the frozen ends of finite chains are absorbing, and the closed form of infinite ones is 0/0.
//!
//! # Its pullback
//! goes through beliefs and their chains to the transitions of the observed states (`pullback`); rows sum to zero. Rewards
//! and discount have theirs from the same runs (`by_inputs`); infinite chains know a reward R(s) only, whose cotangent is halved
//! between its two columns, and 0 where the reward distinguishes nothing. On a
//! kink, or where an arm is not indexable, it is that of the general kernel: the side on which the sweep took the beliefs,
//! the first crossing.
//!
//! ```
//! use ndarray::Array2;
//! use restive::belief::Chain;
//! use restive::index::collapsing::differentiable_index;
//! use restive::{Layout, Reward, Transition};
//!
//! // P[state][action][next]: whoever is left alone drifts away, a call helps
//! let p = ndarray::array![[[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]];
//! let (arm, reward) = (Transition::new(p, Layout::Nsas)?, Reward::linear(2));
//! let solved = differentiable_index(arm.view(), reward.view(), 0.9, Chain::Infinite { beliefs: 4 });
//! let w = solved.indices.index.row(0);
//! assert!(w[0] < w[1] && w[1] < w[2]); // the longer nobody has called, the more a call is worth
//!
//! let long = differentiable_index(arm.view(), reward.view(), 0.9, Chain::Finite(100));
//! assert!((long.indices.index[[0, 3]] - w[3]).abs() < 1e-9);
//! let d = solved.pullback(Array2::ones((1, 8)).view());
//! assert!(d.d_transition[[0, 0, 1, 1]] > 0.0); // a pull that helps more is worth more
//! # Ok::<(), restive::Error>(())
//! ```

mod by_inputs;
mod chains;
mod infinite;
mod pullback;
mod rewards;
mod sweep;

use super::batch::Buffers;
use super::inputs::Inputs;
use super::{Discounts, Indices, PerArmCotangent, Rewards, TransitionCotangent};
use crate::belief::Chain;
use by_inputs::Slopes;
use infinite::{Closed, Gradient};
use ndarray::{Array1, Array3, Array4, ArrayView2, ArrayView4, CowArray, Ix4};
use pullback::{ArmTape, Return};
use rayon::prelude::*;
use sweep::{Sweep, Tape};

/// Indices of N arms that remember how they came about.
pub struct Collapsing<'a> {
    /// the indices, their crossings and verdicts, over M·T beliefs
    pub indices: Indices,
    transition: CowArray<'a, f64, Ix4>,
    inputs: Inputs<'a>,
    beliefs: usize,
    tape: Taped,
}

enum Taped {
    /// see [`Tape`]: `[N,M·T,2M]`, `[N,M·T,M+1]`
    Finite(Vec<f64>, Vec<u32>),
    /// `[N,2·T]`
    Infinite(Vec<Gradient>),
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]` or each arm's own, `[N,M,2]`, forward only: `[N,M·T]`.
///
/// Shapes are asserted, and the chain must suit the reward: [`Chain::check`] says so beforehand as an error.
pub fn index<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    chain: Chain,
) -> Indices {
    let inputs = Inputs::new(reward, discount);
    let (n, m, t) = check(transition, &inputs, chain);
    let contiguous = transition.as_standard_layout();
    let arms = contiguous.as_slice().expect("standard layout").par_chunks(2 * m * m);
    let mut out = Buffers::new(n, m * t);
    let tasks = arms.zip(out.par_arms(m * t)).enumerate().with_min_len(arms_per_task(m, chain));
    match chain {
        Chain::Finite(_) => tasks.for_each_init(
            || sweep_for(&inputs, m, t),
            |sweep, (i, (arm, ((index, last), outcome)))| {
                if !inputs.is_shared() {
                    sweep.take(inputs.of(i));
                }
                *outcome = sweep.run(arm, index, last, None);
            },
        ),
        Chain::Infinite { .. } => tasks.for_each(|(i, (arm, ((index, last), outcome)))| {
            *outcome = Closed::new(inputs.of(i), t).run(arm, index, None);
            last.copy_from_slice(index);
        }),
    }
    out.finish()
}

/// The indices of a batch of arms, ready for [`Collapsing::pullback`]. Keeps a few numbers per belief and observed state.
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    chain: Chain,
) -> Collapsing<'a> {
    let inputs = Inputs::new(reward, discount);
    let (n, m, t) = check(transition, &inputs, chain);
    let contiguous = transition.as_standard_layout();
    let arms = contiguous.as_slice().expect("standard layout").par_chunks(2 * m * m);
    let mut out = Buffers::new(n, m * t);
    let (tasks, fewest) = (arms.zip(out.par_arms(m * t)), arms_per_task(m, chain));
    let tape = match chain {
        Chain::Finite(_) => {
            let (numbers_each, ends_each) = (m * t * 2 * m, m * t * (m + 1));
            let (mut numbers, mut ends) = (vec![0.0; n * numbers_each], vec![0; n * ends_each]);
            let tapes = numbers.par_chunks_mut(numbers_each).zip(ends.par_chunks_mut(ends_each));
            tasks.zip(tapes).enumerate().with_min_len(fewest).for_each_init(
                || sweep_for(&inputs, m, t),
                |sweep, (i, ((arm, ((index, last), outcome)), (numbers, ends)))| {
                    if !inputs.is_shared() {
                        sweep.take(inputs.of(i));
                    }
                    *outcome = sweep.run(arm, index, last, Some(Tape { numbers, ends }));
                },
            );
            Taped::Finite(numbers, ends)
        }
        Chain::Infinite { .. } => {
            let mut gradients = vec![[0.0; 5]; n * m * t];
            let tasks = tasks.zip(gradients.par_chunks_mut(m * t)).enumerate().with_min_len(fewest);
            tasks.for_each(|(i, ((arm, ((index, last), outcome)), gradients))| {
                *outcome = Closed::new(inputs.of(i), t).run(arm, index, Some(gradients));
                last.copy_from_slice(index);
            });
            Taped::Infinite(gradients)
        }
    };
    Collapsing { indices: out.finish(), transition: transition.into(), inputs, beliefs: t, tape }
}

/// One thread's memory, ready where all arms share reward and discount.
fn sweep_for(inputs: &Inputs<'_>, m: usize, beliefs: usize) -> Sweep {
    let mut sweep = Sweep::new(m, beliefs);
    if inputs.is_shared() {
        sweep.take(inputs.of(0));
    }
    sweep
}

impl Collapsing<'_> {
    /// The same with transitions, rewards and discounts copied, to be kept for as long as one likes.
    pub fn into_owned(self) -> Collapsing<'static> {
        let Self { indices, transition, inputs, beliefs, tape } = self;
        let (transition, inputs) = (transition.into_owned().into(), inputs.into_owned());
        Collapsing { indices, transition, inputs, beliefs, tape }
    }

    /// What a cotangent of the indices (`[N,M·T]`) becomes on the transitions.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> TransitionCotangent {
        TransitionCotangent { d_transition: self.pull_back(d_index, false).d_transition }
    }

    /// What a cotangent of the indices (`[N,M·T]`) becomes on transitions, rewards and discounts, arm by arm.
    pub fn pullback_per_arm(&self, d_index: ArrayView2<'_, f64>) -> PerArmCotangent {
        self.pull_back(d_index, true)
    }

    /// To the transitions, and where it is asked for to rewards and discounts, which are 0 otherwise.
    fn pull_back(&self, d_index: ArrayView2<'_, f64>, has_inputs: bool) -> PerArmCotangent {
        assert_eq!(d_index.shape(), self.indices.index.shape(), "d_index: [N,M·T]");
        let (inputs, t) = (&self.inputs, self.beliefs);
        let (n, m, positions) = (d_index.nrows(), inputs.rewards.states(), d_index.ncols());
        let cotangents = d_index.as_standard_layout();
        let cotangents = cotangents.as_slice().expect("standard layout").par_chunks(positions);
        let indices = self.indices.index.as_slice().expect("standard layout").par_chunks(positions);
        let transition = self.transition.as_standard_layout();
        let arms = transition.as_slice().expect("standard layout").par_chunks(2 * m * m);
        let mut d_transition = Array4::zeros(self.transition.raw_dim());
        let (mut d_reward, mut d_discount) = (Array3::zeros((n, m, 2)), Array1::zeros(n));
        let d_arms = d_transition.as_slice_mut().expect("standard layout").par_chunks_mut(2 * m * m);
        let d_rewards = d_reward.as_slice_mut().expect("standard layout").par_chunks_mut(2 * m);
        let d_discounts = d_discount.as_slice_mut().expect("standard layout").par_iter_mut();
        let tasks = d_arms.zip(d_rewards.zip(d_discounts)).zip(arms.zip(cotangents.zip(indices)));
        match &self.tape {
            Taped::Finite(numbers, ends) => {
                let tapes = numbers.par_chunks(positions * 2 * m).zip(ends.par_chunks(positions * (m + 1)));
                let fewest = (20_000 / (m * m * positions)).clamp(1, 1024);
                tasks.zip(tapes).enumerate().with_min_len(fewest).for_each_init(
                    || {
                        let mut back = Return::new(m, t);
                        if inputs.is_shared() {
                            back.take(inputs.of(0));
                        }
                        (back, Slopes::new(m, t))
                    },
                    |(back, slopes), (i, (((d_arm, (d_reward, d_discount)), (arm, (c, w))), tape))| {
                        if !inputs.is_shared() {
                            back.take(inputs.of(i));
                        }
                        let tape = ArmTape { numbers: tape.0, ends: tape.1 };
                        back.run(arm, tape, c, d_arm);
                        if has_inputs {
                            *d_discount = slopes.run(back, tape, w, c, d_reward);
                        }
                    },
                );
            }
            Taped::Infinite(gradients) => {
                let tasks = tasks.zip(gradients.par_chunks(positions)).enumerate().with_min_len(1024);
                tasks.for_each(|(i, (((d_arm, (d_reward, d_discount)), (_, (c, w))), gradients))| {
                    let mut sum = [0.0; 5];
                    for (c, gradient) in c.iter().zip(gradients) {
                        sum.iter_mut().zip(gradient).for_each(|(sum, d)| *sum += c * d);
                    }
                    for (row, d) in d_arm.chunks_exact_mut(2).zip(sum) {
                        row.copy_from_slice(&[-0.5 * d, 0.5 * d]);
                    }
                    let reward = inputs.rewards.of(i);
                    let rise = reward[[1, 0]] - reward[[0, 0]];
                    if rise != 0.0 && !w[0].is_nan() {
                        // indices are proportional to the rise
                        let d = 0.5 * c.iter().zip(w).map(|(c, w)| c * w).sum::<f64>() / rise;
                        d_reward.copy_from_slice(&[-d, -d, d, d]);
                    }
                    *d_discount = sum[4];
                });
            }
        }
        PerArmCotangent { d_transition, d_reward, d_discount }
    }
}

/// N, M and T.
fn check(transition: ArrayView4<'_, f64>, inputs: &Inputs<'_>, chain: Chain) -> (usize, usize, usize) {
    let n = transition.shape()[0];
    let m = inputs.check(n);
    assert_eq!(transition.shape()[1..], [m, 2, m], "transition: [N,M,2,M]");
    if let Err(error) = inputs.rewards.distinct().try_for_each(|reward| chain.check(reward)) {
        panic!("{error}");
    }
    (n, m, chain.beliefs())
}

/// So that a task is worth its thread: some tens of microseconds.
fn arms_per_task(m: usize, chain: Chain) -> usize {
    let t = chain.beliefs();
    let work = match chain {
        Chain::Finite(_) => m * m * m * t * t,
        Chain::Infinite { .. } => 20 * t,
    };
    (20_000 / work).clamp(1, 1024)
}
