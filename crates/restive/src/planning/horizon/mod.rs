//! Whittle indices of arms with H decisions before them, exactly, at every step.
//!
//! # What it is
//! Pay a subsidy m for every step in which an arm is left alone, until the end:
//!
//! ```text
//! V_H = 0 or R(s, passive) [Ending]        Q_t(s, a) = R(s, a) + m 1{a = passive} + γ Σ_s′ P(s, a, s′) V_{t+1}(s′)
//! ```
//!
//! The index W_t(s) is the smallest constant subsidy at which passivity is as good as a pull at step t in state s. With few steps
//! left a pull has little time to pay: W_{H−1} = R(s,1) − R(s,0), plus what the last state counts. With many, W_0 tends to the
//! [index](crate::index) of the endless problem.
//!
//! # How it is computed
//! V_{t+1}(·; m) is piecewise affine in the subsidy: pieces that all states share, on each of which one policy is best until the end
//! and V_{t+1} = u + m w. There the advantage of a pull is α − m β with α = Δ + γ D u and β = 1 − γ D w (D = P₁ − P₀, Δ = R(·,1) −
//! R(·,0)), and its root is α/β to rounding: no bisection, no grid. The states of step t cut the pieces where their advantages
//! cross zero, which makes the pieces of step t. An arm each of whose states crosses once at each step has at most 1 + (H − t) M
//! pieces, so that all indices of an arm cost O(H² M³). Values are kept relative to their mean: only differences count.
//!
//! **Verdict:** an arm is indexable when every state at every step turns passive once. Where one turns active again, the walk goes on; the
//! index is the first crossing, as for the endless problem, and `last` the last one. A state that is indifferent on a whole interval counts
//! as passive there; one whose advantage only touches zero does not. Pieces can multiply where arms are not indexable: beyond 64 times as
//! many as an indexable arm can have the arm is undetermined (never seen).
//!
//! # Its pullback
//! W_t(s) = α/β on its piece, on which policy and value V_{t+1} = u + W w are known. With y_{t+1} = γ D(s,·)/β, and forwards y_{τ+1} =
//! γ y_τ P^π along the policy of the piece,
//!
//! ```text
//! dW/dR(s, 1) += 1/β   dW/dR(s, 0) −= 1/β   dW/dP_a(s,·) += ±γ V_{t+1}/β      and, at every later step τ with the action a of x,
//! dW/dR(x, a) += y_τ(x)                     dW/dP_a(x,·) += γ y_τ(x) V_{τ+1}     dW/dγ += y_τ(x) P_a(x)·V_{τ+1}
//! ```
//!
//! O(H M²) for an index. The arm is solved again: that costs less than keeping its pieces. On a kink (states that cross together) the
//! gradient is that of the piece below; at a first crossing that is not the last it is the gradient of the first.
//!
//! ```
//! use restive::planning::{Ending, Horizon};
//! use restive::{Layout, Reward, Transition};
//!
//! let p = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arm = Transition::new(p, Layout::Nsas)?;
//! let reward = Reward::linear(2);
//! let horizon = Horizon {
//!     transition: arm.view(),
//!     reward: (&reward).into(),
//!     discount: &[0.5],
//!     decisions: 40,
//!     ending: Ending::Nothing,
//! };
//! let solved = horizon.index();
//! assert_eq!(solved.index[[39, 0, 0]], 0.0); // a last pull brings nothing that counts
//! assert!((solved.index[[38, 0, 0]] - 0.5 * 0.6).abs() < 1e-15); // the next to last brings one step: γ D R
//! assert!((solved.index[[0, 0, 0]] - 6.0 / 17.0).abs() < 1e-10); // the endless problem's
//! # Ok::<(), restive::Error>(())
//! ```

mod pieces;

use super::Ending;
use crate::index::IndexStatus;
use crate::instance::RewardView;
use crate::interrupt;
use ndarray::{Array1, Array3, Array4, ArrayView3, ArrayView4};
use pieces::{Arm, Pieces};
use rayon::prelude::*;

/// Arms with H decisions before them, each on its own: without prices and budgets.
#[derive(Debug, Clone, Copy)]
pub struct Horizon<'a> {
    /// `[N,M,2,M]`
    pub transition: ArrayView4<'a, f64>,
    /// R(s, a), shared or of each arm
    pub reward: RewardView<'a>,
    /// `[1]`, shared, or `[N]`: γ, from 0 to 1
    pub discount: &'a [f64],
    /// H, at least 1
    pub decisions: usize,
    /// what counts after the last
    pub ending: Ending,
}

/// The indices of N arms at every step.
#[derive(Debug, Clone, PartialEq)]
pub struct HorizonIndices {
    /// `[H,N,M]`: the smallest subsidy at which each state turns passive at each step
    pub index: Array3<f64>,
    /// `[H,N,M]`: the subsidy from which it stays passive
    pub last: Array3<f64>,
    /// `[N]`: whether every state turns passive once at every step; false also where that is not known
    pub is_indexable: Array1<bool>,
    /// `[N]`: exact, or undetermined (then the arm's indices are NaN)
    pub status: Vec<IndexStatus>,
}

/// What a cotangent of the indices becomes on their inputs, arm by arm.
#[derive(Debug, Clone, PartialEq)]
pub struct HorizonCotangent {
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
    /// `[N,M,2]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[N]`: where the discount is shared, their sum
    pub d_discount: Array1<f64>,
}

impl Horizon<'_> {
    /// The indices of all arms at all steps.
    pub fn index(&self) -> HorizonIndices {
        let (n, m, h) = (self.arms(), self.states(), self.decisions);
        let (mut index, mut last) = (Array3::zeros((n, h, m)), Array3::zeros((n, h, m)));
        let mut is_indexable: Vec<Option<bool>> = vec![None; n];
        let rows = self.transition.as_standard_layout();
        let outputs = (index.as_slice_mut().expect("row-major").par_chunks_mut(h * m))
            .zip(last.as_slice_mut().expect("row-major").par_chunks_mut(h * m))
            .zip(is_indexable.par_iter_mut());
        (rows.as_slice().expect("row-major").par_chunks(2 * m * m).zip(outputs))
            .enumerate()
            .with_min_len(self.arms_per_task())
            .for_each_init(
                || Pieces::new(m, h),
                |pieces, (i, (p, ((index, last), verdict)))| {
                    interrupt::check();
                    *verdict = pieces.solve(&self.arm(i, p));
                    pieces.write(index, last, verdict.is_some());
                },
            );
        let by_step = |x: Array3<f64>| x.permuted_axes([1, 0, 2]).as_standard_layout().into_owned();
        let status = |verdict: &Option<bool>| match verdict {
            Some(_) => IndexStatus::Exact,
            None => IndexStatus::Undetermined,
        };
        HorizonIndices {
            index: by_step(index),
            last: by_step(last),
            status: is_indexable.iter().map(status).collect(),
            is_indexable: is_indexable.into_iter().map(|verdict| verdict == Some(true)).collect(),
        }
    }

    /// What a cotangent of the indices (`[H,N,M]`) becomes on transitions, rewards and discounts. Undetermined arms have none: 0.
    pub fn pullback(&self, d_index: ArrayView3<'_, f64>) -> HorizonCotangent {
        let (n, m, h) = (self.arms(), self.states(), self.decisions);
        assert_eq!(d_index.dim(), (h, n, m), "d_index: [H,N,M]");
        let mut d = HorizonCotangent {
            d_transition: Array4::zeros((n, m, 2, m)),
            d_reward: Array3::zeros((n, m, 2)),
            d_discount: Array1::zeros(n),
        };
        let rows = self.transition.as_standard_layout();
        let outputs = (d.d_transition.as_slice_mut().expect("row-major").par_chunks_mut(2 * m * m))
            .zip(d.d_reward.as_slice_mut().expect("row-major").par_chunks_mut(2 * m))
            .zip(d.d_discount.as_slice_mut().expect("row-major").par_iter_mut());
        (rows.as_slice().expect("row-major").par_chunks(2 * m * m).zip(outputs))
            .enumerate()
            .with_min_len(self.arms_per_task())
            .for_each_init(
                || Pieces::new(m, h),
                |pieces, (i, (p, ((d_transition, d_reward), d_discount)))| {
                    interrupt::check();
                    let arm = self.arm(i, p);
                    let c = |t: usize, s: usize| d_index[[t, i, s]];
                    let is_asked = (0..h).any(|t| (0..m).any(|s| c(t, s) != 0.0));
                    if is_asked && pieces.solve(&arm).is_some() {
                        *d_discount = pieces.pull_back(&arm, c, d_transition, d_reward);
                    }
                },
            );
        d
    }

    fn arm<'b>(&'b self, i: usize, p: &'b [f64]) -> Arm<'b> {
        let discount = self.discount[if self.discount.len() == 1 { 0 } else { i }];
        Arm { p, reward: self.reward.arm(i), discount, ending: self.ending }
    }

    fn states(&self) -> usize {
        self.transition.shape()[1]
    }

    /// N, once the shapes are known to be right.
    fn arms(&self) -> usize {
        let (n, m) = (self.transition.shape()[0], self.states());
        assert!(m > 0 && self.decisions > 0, "an arm has a state and a decision at least");
        assert_eq!(self.transition.shape()[1..], [m, 2, m], "transition: [N,M,2,M]");
        assert_eq!(self.reward.states(), m, "reward: [M,2], as the transitions");
        assert!(self.discount.len() == 1 || self.discount.len() == n, "discount: [1] or [N]");
        n
    }

    /// So that a task is worth its thread: some tens of microseconds.
    fn arms_per_task(&self) -> usize {
        (50_000 / (self.decisions * self.decisions * self.states().pow(3))).clamp(1, 1024)
    }
}
