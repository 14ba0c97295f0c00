//! Whittle indices of arms with any number of states, exactly, in O(M³).
//!
//! # What it is
//! Let D = P₁ − P₀, Δ = R(·,1) − R(·,0), and let the subsidy m grow from −∞ to +∞. At first every state is
//! active, at last every state is passive. Between, the optimal *passive set* B changes at a few subsidies, and
//! the first at which a state joins it is that state's index. The sweep follows this path exactly.
//!
//! # How it is computed
//! With A = I − γP₁ and K = γ D A⁻¹, the advantage of acting under passive set B is affine in the subsidy:
//!
//! ```text
//! Adv(m) = (I + K E_B)⁻¹ (a − m·1) = α − m β,     a = Δ + K R(·,1),     E_B = diag(1_B)
//! ```
//!
//! The next event is the smallest m ahead at which an active state's advantage falls to zero (it enters B) or a
//! passive state's rises to zero (it leaves B). Either is one principal pivot of the tableau
//! U_B = (I + K E_B)⁻¹ K = γ D (I − γP^B)⁻¹, a rank-one update of U, α and β:
//!
//! ```text
//! f = −1/(1 + U_jj) when j enters, +1/(1 − U_jj) when it leaves
//! U += f·U[:,j]·U[j,:]      α += f·α_j·U[:,j]      β += f·β_j·U[:,j]
//! ```
//!
//! **The shift.** D·1 = 0, so A may be replaced by A + γ·1·pᵀ for any p that sums to 1 (here the mean row of P₁)
//! without changing K. That removes the eigenvalue 1/(1−γ), so nothing blows up as γ → 1, and γ = 1, the average
//! reward of unichain arms, is the same computation.
//!
//! **Ties** are taken as a group: events within rounding of each other happen at one subsidy, least state first,
//! and only the passive sets before and after the group count. **Verdict:** the arm is indexable when no state
//! that was passive before a group is active after it. If one is, the sweep simply goes on, and the arm has a first and
//! a last crossing for it; the index is the first, as in Definition 1. A state that is indifferent on a whole interval
//! of subsidies counts as passive there; one whose advantage only touches zero and rises again does not.
//!
//! **Drift.** Rank-one updates lose digits after a very small or very large pivot; U is then factored anew. Every
//! few pivots, and at the end, the advantages are held against the arm's own optimality equations (O(M²)); where they
//! are violated and a fresh tableau mends it, the arm is solved again with fresh tableaux every few pivots.
//!
//! **Cost.** The factors of A take ⅔M³ flops, K = γ D A⁻¹ takes 2M³ and M pivots take 2M³, because the whole row λ of a pivot
//! is needed, for error estimates as for gradients. One by one, each pivot would read and write all of U: at M = 1,000 that is
//! 16 MB for 2 Mflop, and memory decides. So for many states 32 pivots are collected, brought to bear on the row and
//! column that the next one needs (2M·32 flops at most), and applied as one matrix product (`product`): 16 MB for 64 Mflop.
//! Factors and K are products as well (`lu`). Of the 4.7 Gflop at M = 1,000, 4.5 are products, at the rate of the processor's
//! multiply-adds; what is left waits for memory: columns of U, and the 16 MB of A and D at each of 31 looks at the residual.
//!
//! **How far to trust it.** The arm's `residual` estimates the error of its indices relative to the larger of the largest
//! index and the span of the rewards: the worst violation seen, or what rounding of the equations can do, ε·Σ|ν|·(span of
//! the values) with the ν of the pullback below, whichever is larger. Arms with nearly absorbing classes at γ near 1
//! amplify rounding; where 1e-9 is passed the status says so. At γ = 1 every passive set on the path must have one
//! recurrent class (a search over the entries that are not 0 decides); otherwise the arm is undetermined.
//!
//! # Its pullback
//! At m = W_u, with passive set B_u, the row `λ = U[u,:]` and the slope β_u of the sweep are already the adjoint of
//! the arm's equations. With the values h (up to a constant) of the states at that subsidy,
//!
//! ```text
//! dW_u/dP_a(s,s′) = γ ν_a(s) h(s′)      dW_u/dR(s,a) = ν_a(s)      dW_u/dγ = Σ_a Σ_s ν_a(s) (P_a h)(s)
//! ν_a(s) = [λ(s)·1{a is the action of s} + 1{s=u}·(±1)] / β_u     (+1 for a = 1, −1 for a = 0)
//! ```
//!
//! and the values of all u come from one solve with M right-hand sides: A h_u = R(·,1) + max(0, −Adv_u) on B_u.
//! All M gradients together cost O(M³), where one linear system per state costs O(M⁴). h is centred, so that the
//! gradient's rows sum to zero. On a kink (a tie between states) the gradient is that of the side on which the
//! sweep took the states, least first; a state that is indifferent on a whole interval has gradient 0. For arms that are not indexable it is the gradient of the first crossing.
//!
//! ```
//! use restive::{Layout, Reward, Transition, index::general};
//!
//! // the paper's worked example as a general arm: P[state][action][next]
//! let p = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arm = Transition::new(p, Layout::Nsas)?;
//! let reward = Reward::linear(2);
//! let solved = general::differentiable_index(arm.view(), reward.view(), 0.5);
//! assert!((solved.indices.index[[0, 0]] - 6.0 / 17.0).abs() < 1e-15);
//!
//! let gradient = solved.pullback(ndarray::array![[1.0, 0.0]].view()); // of the index of state 0
//! assert!(gradient.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-15));
//! # Ok::<(), restive::Error>(())
//! ```

pub(super) mod classes;
mod sweep;
mod tableau;

use super::batch::Buffers;
use super::inputs::Inputs;
use super::{Discounts, IndexCotangent, Indices, PerArmCotangent, Rewards};
use crate::interrupt;
use crate::product::{Block, Left, Product};
use ndarray::{Array1, Array3, Array4, ArrayView2, ArrayView4, CowArray, Ix4};
use rayon::prelude::*;
use sweep::{Sweep, Tape};

/// From this many states on the pullback is a matrix product.
const PRODUCT: usize = 32;

/// Indices of N arms that remember how they came about.
pub struct General<'a> {
    /// the indices, their crossings and verdicts
    pub indices: Indices,
    transition: CowArray<'a, f64, Ix4>,
    discounts: Discounts<'a>,
    /// λ_u/β_u and centred h_u of every arm, `[N,M,M]`
    adjoint: Vec<f64>,
    values: Vec<f64>,
    /// 1/β_u, `[N,M]`
    inverse_slope: Vec<f64>,
    /// whether s is in B_u, `[N,M,M]`
    passive: Vec<bool>,
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]` or each arm's own, `[N,M,2]`, forward only.
pub fn index<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
) -> Indices {
    let inputs = Inputs::new(reward, discount);
    let m = check(transition, &inputs);
    let contiguous = transition.as_standard_layout();
    let arms = contiguous.as_slice().expect("standard layout").par_chunks(2 * m * m);
    let mut out = Buffers::new(transition.shape()[0], m);
    arms.zip(out.par_arms(m)).enumerate().with_min_len(arms_per_task(m)).for_each_init(
        || sweep_for(&inputs, m, false),
        |sweep, (i, (arm, ((index, last), outcome)))| {
            if !inputs.is_shared() {
                sweep.take(inputs.of(i));
            }
            *outcome = sweep.run(arm, index, last, None);
        },
    );
    out.finish()
}

/// The indices of a batch of arms, ready for [`General::pullback`]. Keeps about as much memory as the arms take.
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
) -> General<'a> {
    let inputs = Inputs::new(reward, discount);
    let m = check(transition, &inputs);
    let n = transition.shape()[0];
    let contiguous = transition.as_standard_layout();
    let arms = contiguous.as_slice().expect("standard layout").par_chunks(2 * m * m);
    let mut out = Buffers::new(n, m);
    let (mut adjoint, mut values) = (vec![0.0; n * m * m], vec![0.0; n * m * m]);
    let (mut inverse_slope, mut passive) = (vec![0.0; n * m], vec![false; n * m * m]);
    let tapes = (adjoint.par_chunks_mut(m * m).zip(values.par_chunks_mut(m * m)))
        .zip(inverse_slope.par_chunks_mut(m).zip(passive.par_chunks_mut(m * m)));
    arms.zip(out.par_arms(m)).zip(tapes).enumerate().with_min_len(arms_per_task(m)).for_each_init(
        || sweep_for(&inputs, m, true),
        |sweep, (i, ((arm, ((index, last), outcome)), ((adjoint, values), (inverse_slope, passive))))| {
            if !inputs.is_shared() {
                sweep.take(inputs.of(i));
            }
            let tape = Tape { adjoint, values, inverse_slope, passive };
            *outcome = sweep.run(arm, index, last, Some(tape));
        },
    );
    let (transition, discounts) = (transition.into(), inputs.discounts);
    General { indices: out.finish(), transition, discounts, adjoint, values, inverse_slope, passive }
}

/// One thread's memory, ready where all arms share reward and discount.
fn sweep_for(inputs: &Inputs<'_>, m: usize, is_taped: bool) -> Sweep {
    let mut sweep = Sweep::new(m, is_taped);
    if inputs.is_shared() {
        sweep.take(inputs.of(0));
    }
    sweep
}

impl General<'_> {
    /// The same with transitions and discounts copied, to be kept for as long as one likes.
    pub fn into_owned(self) -> General<'static> {
        let Self { indices, transition, discounts, adjoint, values, inverse_slope, passive } = self;
        let (transition, discounts) = (transition.into_owned().into(), discounts.into_owned());
        General { indices, transition, discounts, adjoint, values, inverse_slope, passive }
    }

    /// What a cotangent of the indices (`[N,M]`) becomes on transitions, and on a reward and a discount that all arms share.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> IndexCotangent {
        self.pullback_per_arm(d_index).summed()
    }

    /// What a cotangent of the indices (`[N,M]`) becomes on transitions, rewards and discounts, arm by arm.
    pub fn pullback_per_arm(&self, d_index: ArrayView2<'_, f64>) -> PerArmCotangent {
        assert_eq!(d_index.shape(), self.indices.index.shape(), "d_index: [N,M]");
        let (n, m) = d_index.dim();
        let square = m * m;
        let mut d_transition = Array4::zeros(self.transition.raw_dim());
        let (mut d_reward, mut d_discount) = (Array3::zeros((n, m, 2)), Array1::zeros(n));
        let d_arms = d_transition.as_slice_mut().expect("standard layout").par_chunks_mut(2 * square);
        let d_rewards = d_reward.as_slice_mut().expect("standard layout").par_chunks_mut(2 * m);
        let d_discounts = d_discount.as_slice_mut().expect("standard layout").par_iter_mut();
        let cotangents = d_index.as_standard_layout();
        let transition = self.transition.as_standard_layout();
        let arms = transition.as_slice().expect("standard layout").par_chunks(2 * square);
        d_arms
            .zip(arms)
            .zip(d_rewards.zip(d_discounts))
            .enumerate()
            .with_min_len(arms_per_task(m))
            .for_each_init(
                || (vec![0.0; if m < PRODUCT { 0 } else { 2 * square }], Product::default()),
                |(coefficients, product), (i, ((d_arm, arm), (d_reward, d_discount)))| {
                    interrupt::check();
                    let tape = ArmTape {
                        arm,
                        discount: self.discounts.of(i),
                        adjoint: &self.adjoint[i * square..][..square],
                        values: &self.values[i * square..][..square],
                        inverse_slope: &self.inverse_slope[i * m..][..m],
                        passive: &self.passive[i * square..][..square],
                    };
                    let c = &cotangents.as_slice().expect("standard layout")[i * m..][..m];
                    *d_discount = tape.pull_back(c, d_arm, d_reward, coefficients, product);
                },
            );
        PerArmCotangent { d_transition, d_reward, d_discount }
    }
}

/// One arm and its share of the tape.
struct ArmTape<'a> {
    arm: &'a [f64],
    discount: f64,
    adjoint: &'a [f64],
    values: &'a [f64],
    inverse_slope: &'a [f64],
    passive: &'a [bool],
}

impl ArmTape<'_> {
    /// Adds Σ_u c_u dW_u: d_arm is `[M,2,M]`, d_reward `[M,2]`; returns d_discount.
    fn pull_back(
        &self,
        c: &[f64],
        d_arm: &mut [f64],
        d_reward: &mut [f64],
        coefficients: &mut [f64],
        product: &mut Product,
    ) -> f64 {
        let m = c.len();
        // ν of every (u, s, a): at (s, a), each u contributes ν·h_u
        let visit = |each: &mut dyn FnMut(usize, usize, f64)| {
            for (u, &c) in c.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                let adjoint = &self.adjoint[u * m..][..m];
                for (s, (adjoint, passive)) in adjoint.iter().zip(&self.passive[u * m..][..m]).enumerate() {
                    each(u, 2 * s + usize::from(!passive), c * adjoint);
                }
                let own = c * self.inverse_slope[u];
                each(u, 2 * u + 1, own);
                each(u, 2 * u, -own);
            }
        };
        if m < PRODUCT {
            visit(&mut |u, row, nu| {
                d_reward[row] += nu;
                crate::lu::subtract(&mut d_arm[row * m..][..m], -nu, &self.values[u * m..][..m]);
            });
        } else {
            coefficients.fill(0.0);
            visit(&mut |u, row, nu| {
                d_reward[row] += nu;
                coefficients[row * m + u] += nu;
            });
            let left = Block { rows: coefficients, stride: m, columns: 0..m };
            let right = Block { rows: self.values, stride: m, columns: 0..m };
            product.add(1.0, Left::Rows(left), right, d_arm, m, 0..m);
        }
        let d_discount = d_arm.iter().zip(self.arm).map(|(d, p)| d * p).sum();
        d_arm.iter_mut().for_each(|d| *d *= self.discount);
        d_discount
    }
}

fn check(transition: ArrayView4<'_, f64>, inputs: &Inputs<'_>) -> usize {
    let m = inputs.check(transition.shape()[0]);
    assert_eq!(transition.shape()[1..], [m, 2, m], "transition: [N,M,2,M]");
    m
}

/// So that a task is worth its thread: some tens of microseconds.
fn arms_per_task(m: usize) -> usize {
    (50_000 / (m * m * m)).clamp(1, 1024)
}
