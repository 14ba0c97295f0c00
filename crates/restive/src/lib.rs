//! Decision-focused learning for restless bandits.
//!
//! A planner has N arms and may pull only K of them at each step, while the state of every arm keeps moving whether
//! it is pulled or not. This crate turns the transition probabilities of the arms into exact [Whittle
//! indices](index), the indices into a [policy], and gives both a gradient, so that a model of the transitions can
//! be trained through the decision it leads to.
//!
//! Values flow one way: [instance] → [predictor] → [index] → [policy] → [evaluation]. Gradients flow back through
//! `pullback`s. [training] fits a predictor to what was logged, [history] puts a person's own record beside its prediction,
//! [planning] ranks the arms of a programme that ends, [allocation] gives its places under a planner's rules, [fairness] tells whom they
//! [planning] ranks the arms of a programme that ends, [allocation] gives its places under a planner's rules, [statistics] tests
//! served, and [statistics] tests what came of it.
//! what came of it, and [trial] says how a policy is put to the test.
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
//! // both arms are in state 0: whom to call?
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
