//! More than two actions: action a costs c_a times the price of a unit, and every state steps down as the price rises.
//!
//! # What it is
//! A visit costs more than a call, a call more than a message, and doing nothing costs nothing: 0 = c₀ < c₁ < … < c_{A−1}. At price m an arm
//! earns R(s, a) − m c_a. At m = −∞ the costliest action is best everywhere, at m = +∞ the one that is free. Between, best actions
//! change at a few prices, and all of them are found. The **threshold** of action k in state s is the smallest price at which the best
//! action of s costs less than c_k: what a planner would have to ask for a unit before k is no longer worth it. With two actions of costs
//! 0 and 1 it is the Whittle index.
//!
//! # How it is computed
//! For a policy π, with p the mean row of the costliest action (a shift that changes no difference of values, and keeps everything bounded
//! as γ → 1; see [`general`](super::general)) and X = (I − γP^π + γ 1 pᵀ)⁻¹, values are u − m w with u = X R^π, w = X c^π up to a constant, and
//! what action b would gain over that of π is affine in the price:
//!
//! ```text
//! gain_b(s) = α − m β,     α = R(s,b) − R(s,π) + γ d·u,     β = c_b − c_π(s) + γ d·w,     d = P_b(s) − P_π(s)
//! ```
//!
//! The next event is the smallest price ahead at which a gain rises to zero: π takes that action, one rank-one update of X. Pivots at one
//! price lower the cost of the policy each time, so that they end; they are a group of which only the policies before and after
//! count. An arm whose states step down one by one takes M (A − 1) pivots of O(A M²) each: O(A² M³) for all thresholds.
//! A cheaper action that is as good on a whole interval of prices is taken there.
//!
//! **Verdict:** indexable when the cost of no state's best action ever rises with the price. If one does, the walk goes on; thresholds are
//! first crossings, `last` the last ones, and `changes` tells the whole path. Where there is no verdict to rely on, the
//! [Lagrangian policy](Actions::lagrangian) needs none. At γ = 1 (the average reward) every policy on the path must have one
//! recurrent class; otherwise the arm is undetermined. Rounding is watched as in `general`: X is computed anew after a
//! pivot far from 1, every few pivots, and where the equations are violated.
//!
//! # Its pullback
//! At the pivot from a to b in state s, with λ = γ d X, β and the values h = u − m w:
//!
//! ```text
//! ν(x, π(x)) = λ(x)/β     ν(s, b) += 1/β     ν(s, a) −= 1/β
//! dm/dP_a(x,·) = γ ν(x, a) h     dm/dR(x, a) = ν(x, a)     dm/dc_a = −m Σ_x ν(x, a)     dm/dγ = Σ ν(x, a) P_a(x)·h
//! ```
//!
//! O(M²) each. Arms are solved again. On a kink the gradient is that of the pivot that the walk took.
//!
//! ```
//! use restive::index::actions::Actions;
//!
//! // a message helps a little, a visit a lot: P[arm][state][action][next]
//! let p = ndarray::array![[[[0.9, 0.1], [0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]]];
//! let reward = ndarray::array![[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]];
//! let arms =
//!     Actions { transition: p.view(), reward: reward.view(), cost: &[0.0, 1.0, 5.0], discount: &[0.9] };
//! let solved = arms.index();
//! assert!(solved.is_indexable[0]);
//! let (message, visit) = (solved.threshold[[0, 0, 0]], solved.threshold[[0, 0, 1]]);
//! assert!(0.0 < visit && visit < message); // visits are the first to go as prices rise
//! ```

mod lagrangian;
mod walk;

pub use lagrangian::{Lagrangian, LagrangianCotangent};

use super::IndexStatus;
use crate::interrupt;
use ndarray::{Array1, Array3, Array4, ArrayView3, ArrayView4};
use rayon::prelude::*;
use walk::{Arm, Walk};

/// Arms with A actions.
#[derive(Debug, Clone, Copy)]
pub struct Actions<'a> {
    /// `[N,M,A,M]`
    pub transition: ArrayView4<'a, f64>,
    /// `[1,M,A]`, shared, or `[N,M,A]`
    pub reward: ArrayView3<'a, f64>,
    /// `[A]`: 0, and then more and more
    pub cost: &'a [f64],
    /// `[1]`, shared, or `[N]`: γ; 1 is the average reward per step
    pub discount: &'a [f64],
}

/// A state's best action changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// at this price
    pub price: f64,
    /// of this state
    pub state: usize,
    /// to this action, which is best from here on
    pub action: usize,
}

/// The thresholds of N arms.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionIndices {
    /// `[N,M,A−1]`: the smallest price at which the best action costs less than action k (at k − 1)
    pub threshold: Array3<f64>,
    /// `[N,M,A−1]`: the price from which it does for good; differs from the first only where the arm is not indexable
    pub last: Array3<f64>,
    /// `[N]`: whether the cost of the best action never rises with the price; false also where that is not known
    pub is_indexable: Array1<bool>,
    /// `[N]`
    pub status: Vec<IndexStatus>,
    /// `[N]`: an estimate of the error of the arm's thresholds, relative to the larger of the largest of them and the span of the
    /// rewards over the largest cost; NaN where the arm is undetermined
    pub residual: Array1<f64>,
    /// `[N]`: all changes of best actions, by price; below the first the costliest action is best everywhere
    pub changes: Vec<Vec<Change>>,
}

/// What a cotangent of the thresholds becomes on their inputs, arm by arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionCotangent {
    /// `[N,M,A,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
    /// `[N,M,A]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[A]`, summed over the arms; that of the first, which is 0, is for completeness
    pub d_cost: Vec<f64>,
    /// `[N]`: where the discount is shared, their sum
    pub d_discount: Array1<f64>,
}

impl Actions<'_> {
    /// Thresholds, verdicts and changes of all arms.
    pub fn index(&self) -> ActionIndices {
        let (n, m, a) = self.check();
        let width = m * (a - 1);
        let (mut threshold, mut last) = (Array3::zeros((n, m, a - 1)), Array3::zeros((n, m, a - 1)));
        let rows = self.transition.as_standard_layout();
        let outputs = (threshold.as_slice_mut().expect("row-major").par_chunks_mut(width))
            .zip(last.as_slice_mut().expect("row-major").par_chunks_mut(width));
        let outcomes: Vec<_> = (rows.as_slice().expect("row-major").par_chunks(m * a * m).zip(outputs))
            .enumerate()
            .with_min_len(self.arms_per_task())
            .map_init(
                || Walk::new(m, self.cost, false),
                |walk, (i, (p, (threshold, last)))| {
                    interrupt::check();
                    let outcome = walk.run(&self.arm(i, p), threshold, last);
                    (outcome, std::mem::take(&mut walk.changes))
                },
            )
            .collect();
        ActionIndices {
            threshold,
            last,
            is_indexable: outcomes.iter().map(|(outcome, _)| outcome.is_indexable).collect(),
            status: outcomes.iter().map(|(outcome, _)| outcome.status).collect(),
            residual: outcomes.iter().map(|(outcome, _)| outcome.residual).collect(),
            changes: outcomes.into_iter().map(|(_, changes)| changes).collect(),
        }
    }

    /// What a cotangent of the thresholds (`[N,M,A−1]`) becomes on transitions, rewards, costs and discounts. Undetermined arms have
    /// none: 0.
    pub fn pullback(&self, d_threshold: ArrayView3<'_, f64>) -> ActionCotangent {
        let (n, m, a) = self.check();
        let width = m * (a - 1);
        assert_eq!(d_threshold.dim(), (n, m, a - 1), "d_threshold: [N,M,A−1]");
        let (mut d_transition, mut d_reward) = (Array4::zeros((n, m, a, m)), Array3::zeros((n, m, a)));
        let cotangent = d_threshold.as_standard_layout();
        let rows = self.transition.as_standard_layout();
        let inputs = (rows.as_slice().expect("row-major").par_chunks(m * a * m))
            .zip(cotangent.as_slice().expect("row-major").par_chunks(width));
        let outputs = (d_transition.as_slice_mut().expect("row-major").par_chunks_mut(m * a * m))
            .zip(d_reward.as_slice_mut().expect("row-major").par_chunks_mut(m * a));
        // of costs and discount, `[N,A + 1]`
        let mut shared = vec![0.0; n * (a + 1)];
        (inputs.zip(outputs.zip(shared.par_chunks_mut(a + 1))))
            .enumerate()
            .with_min_len(self.arms_per_task())
            .for_each_init(
                || (Walk::new(m, self.cost, true), vec![0.0; width], vec![0.0; width]),
                |(walk, threshold, last), (i, ((p, c), ((d_transition, d_reward), shared)))| {
                    interrupt::check();
                    if c.iter().any(|c| *c != 0.0) {
                        let arm = self.arm(i, p);
                        walk.run(&arm, threshold, last);
                        walk.pull_back(&arm, c, d_transition, d_reward, shared);
                    }
                },
            );
        let mut d_cost = vec![0.0; a];
        let shared = shared.chunks_exact(a + 1);
        shared.clone().for_each(|arm| d_cost.iter_mut().zip(arm).for_each(|(d, part)| *d += part));
        let d_discount = shared.map(|arm| arm[a]).collect();
        ActionCotangent { d_transition, d_reward, d_cost, d_discount }
    }

    fn arm<'b>(&'b self, i: usize, p: &'b [f64]) -> Arm<'b> {
        let own = |count: usize| if count == 1 { 0 } else { i };
        let (m, a) = (self.reward.shape()[1], self.cost.len());
        let reward = self.reward.as_slice().expect("reward: row-major");
        Arm {
            p,
            reward: &reward[own(self.reward.shape()[0]) * m * a..][..m * a],
            cost: self.cost,
            discount: self.discount[own(self.discount.len())],
        }
    }

    /// N, M and A, once the shapes are known to be right.
    fn check(&self) -> (usize, usize, usize) {
        let &[n, m, a, to] = self.transition.shape() else { unreachable!("four axes") };
        assert!(m == to && m > 0 && a > 1, "transition: [N,M,A,M], with two actions at least");
        assert!(self.reward.shape()[1..] == [m, a], "reward: [1,M,A] or [N,M,A]");
        assert!([1, n].contains(&self.reward.shape()[0]), "reward: [1,M,A] or [N,M,A]");
        assert!(self.reward.is_standard_layout(), "reward: row-major");
        assert!([1, n].contains(&self.discount.len()), "discount: [1] or [N]");
        let rises = self.cost.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(self.cost.len() == a && self.cost[0] == 0.0 && rises, "cost: [A], from 0 and rising");
        (n, m, a)
    }

    /// So that a task is worth its thread: some tens of microseconds.
    fn arms_per_task(&self) -> usize {
        let (m, a) = (self.transition.shape()[1], self.cost.len());
        (50_000 / (m * m * m * a * a)).clamp(1, 1024)
    }
}
