//! Decision-focused learning for restless bandits.
//!
//! A planner has N arms and may pull only K of them at each step. The state of every arm can change at each step, whether the
//! arm is pulled or not. This crate turns the transition probabilities of the arms into exact [Whittle indices](index), and the
//! indices into a [policy]. Both have a gradient, so that a model of the transitions can be trained through the decision it
//! leads to.
//!
//! Values flow one way: [instance] → [predictor] → [index] → [policy] → [evaluation]. Gradients flow in the opposite direction,
//! through `pullback` functions. [training] fits a predictor to logged trajectories. [history] combines its prediction with the
//! history of each arm. [planning] ranks arms for a finite horizon. [allocation] assigns the places on a list under the
//! planner's rules. [fairness] reports which groups the lists served. [trial] designs and analyses randomised trials.
//! [evidence] evaluates a ranking by the effects of logged pulls. [statistics] provides intervals and tests.
//!
//! ```
//! use restive::{Reward, Transition, Layout, index, policy};
//!
//! // two arms, two states: P[arm][state][action][next state]
//! let p = ndarray::array![
//!     [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]],
//!     [[[0.7, 0.3], [0.6, 0.4]], [[0.4, 0.6], [0.1, 0.9]]],
//! ];
//! let arms = Transition::new(p, Layout::Nsas)?;
//! let reward = Reward::linear(arms.states()); // 0 in state 0, 1 in state 1
//! let solved = index::whittle_index(arms.view(), reward.view(), 0.99, index::Algorithm::Auto);
//!
//! // both arms are in state 0: which one to pull?
//! let scores = [solved.index[[0, 0]], solved.index[[1, 0]]];
//! let plan = policy::strict::strict_top_k(&scores, 1, 0);
//! assert_eq!(plan.pull, [true, false]);
//! # Ok::<(), restive::Error>(())
//! ```
//!
//! All arithmetic is `f64`. Results are the same bits for every number of threads. Data are checked once, where they
//! enter ([`Transition`], [`Reward`]); the kernels behind assert shapes only.

pub mod allocation;
pub mod belief;
pub mod bytes;
mod cholesky;
pub mod data;
pub mod error;
pub mod evaluation;
pub mod evidence;
pub mod fairness;
pub mod history;
pub mod index;
pub mod instance;
pub mod interrupt;
pub mod joint;
mod lu;
pub mod planning;
pub mod policy;
pub mod predictor;
mod product;
pub mod random;
mod simd;
pub mod simulation;
pub mod statistics;
pub mod sum;
pub mod training;
pub mod trial;
mod twofold;

pub use error::{Error, Result};
pub use instance::{
    CompactTransition, Instance, Layout, Reward, RewardView, Trajectories, Transition, check_discount,
};

/// The examples of README.md, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
