//! Whittle indices of two-state arms, in closed form.
//!
//! # What it is
//! Write p_a(s) for the probability of moving to state 1 from state s under action a, γ for the discount,
//! δ_s = p_1(s) − p_0(s) for what a pull changes, and Δ_s = R(s,1) − R(s,0). While every state is active the
//! two states differ in value by x₁ = (R(1,1) − R(0,1)) / d₁ with d₁ = 1 − γ(p_1(1) − p_1(0)); while every
//! state is passive by x₀ = (R(1,0) − R(0,0)) / d₀ with d₀ = 1 − γ(p_0(1) − p_0(0)); the subsidy cancels.
//!
//! As the subsidy grows from −∞, the first state to turn passive does so while the other is still active, the
//! second while the other is already passive. No other case exists, so with a_s = Δ_s + γ δ_s x₁
//!
//! ```text
//! the state with the smaller a_s (the lower one):   W_s = Δ_s + γ δ_s x₁
//! the other state            (the upper one):       W_s = Δ_s + γ δ_s x₀
//! ```
//!
//! # Every two-state arm is indexable
//! for any R(s,a) and any γ < 1. With K = γ(P₁−P₀)(I−γP₁)⁻¹ the slopes of the advantage of acting by the
//! subsidy are −1 when no state is passive, and −1/(1+K_ss) and −det(I+K)/(1+K_ss) when state s is. Both are
//! negative: 1+K_ss and det(I+K) are ratios of determinants of I−γP matrices, which are positive. So the
//! passive set only grows. The same holds at γ = 1 as long as d₁ and d₀ are not 0.
//!
//! # Discount 1
//! is the average reward per step. d₁ or d₀ is then 0 exactly when both states are absorbing under that action, and
//! the average depends on the starting state. Both indices of such an arm are NaN, it has no gradient, and [`index`]
//! gives it [`IndexStatus::Undetermined`](super::IndexStatus).
//!
//! # Rounding
//! d is a difference of numbers of size 1, so indices are good to about ε/d, relative to the larger of index and rewards.
//! d is at least 1 − γ; only near γ = 1, and for arms that hardly move, can this pass 1e-9.
//!
//! # Its pullback
//! Let c_s be the cotangent of W_s; l is the lower and u the upper state. With T_s = c_s γ x (x of that state's
//! line above), A = c_l (γ δ_l/d₁) γ x₁ and B = c_u (γ δ_u/d₀) γ x₀:
//!
//! ```text
//! d p_0(0) = −T_0 − B     d p_1(0) = T_0 − A     d p_0(1) = −T_1 + B     d p_1(1) = T_1 + A
//! ```
//!
//! Where the two a_s are equal the index is continuous with a kink; state 0 then counts as the lower one, which
//! gives a one-sided derivative. In the full layout `[N,2,2,2]` the gradient lives on the simplex: a row is
//! (−d/2, d/2), whose entries sum to zero and whose product with a tangent (−t, t) is d·t.
//!
//! # An example
//! The paper's worked example, γ = 0.5. Its equations solve to 6/17 in state 0 and 0 in state 1; the values
//! printed there (0.25 and 0.20) do not satisfy the equations printed beside them.
//!
//! ```
//! use restive::{CompactTransition, Reward, index::two_state};
//!
//! // the probability of moving to state 1 from: 0 passive, 0 active, 1 passive, 1 active
//! let arm = CompactTransition::new(ndarray::array![[0.2, 0.8, 0.5, 0.5]])?;
//! let solved = two_state::index_compact(arm.view(), Reward::linear(2).view(), 0.5);
//! assert!((solved.index[[0, 0]] - 6.0 / 17.0).abs() < 1e-15);
//! assert_eq!(solved.index[[0, 1]], 0.0);
//! # Ok::<(), restive::Error>(())
//! ```

mod kernel;
mod per_arm;

use super::{Discounts, ILL_CONDITIONED, IndexCotangent, IndexStatus, Indices, PerArmCotangent, Rewards};
use crate::interrupt;
use crate::simd::fence;
use kernel::{
    Shared, are_pairs, are_probabilities, both_of_compact_arms, both_of_full_arms, index_compact_arms,
    index_full_arms, pull_back_compact_arms, pull_back_full_arms,
};
use ndarray::{Array, Array1, Array2, Array3, ArrayView, ArrayView2, ArrayView4, Dimension, Ix2, Ix4};
pub use per_arm::Cotangents;
use per_arm::{Own, Spread, index_own_arms, pull_back_own_arms};
use rayon::prelude::*;

/// Arms handed to one thread at a time. Sums over arms are taken chunk by chunk in order, so that they do not
/// depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// Cotangents of more numbers than this (16 MB) go past the caches when both passes are one.
const STREAMED: usize = 1 << 21;

/// How the probabilities of one arm lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// `[N,4]`: the four probabilities of moving to state 1
    Compact,
    /// `[N,2,2,2]`
    Full,
}

impl Packing {
    /// Numbers per arm.
    pub const fn width(self) -> usize {
        match self {
            Packing::Compact => 4,
            Packing::Full => 8,
        }
    }
}

/// Whether raw arms can be used where they lie: what the border would neither refuse nor change. One pass without branches, on
/// this thread.
///
/// ```
/// use restive::index::two_state::{Packing, are_ready};
///
/// assert!(are_ready(&[0.2, 0.8, 0.5, 0.5], Packing::Compact));
/// assert!(!are_ready(&[0.2, f64::NAN, 0.5, 0.5], Packing::Compact));
/// assert!(!are_ready(&[0.8, 0.2, 0.2, 0.8, 0.5, 0.5, 0.5, 0.4], Packing::Full)); // a row sums to 0.9
/// ```
pub fn are_ready(transition: &[f64], packing: Packing) -> bool {
    match packing {
        Packing::Compact => are_probabilities(transition),
        Packing::Full => are_pairs(transition),
    }
}

/// Writes the indices of a batch into `index` (`[N,2]`), without allocating.
///
/// `transition` holds N arms in the given packing, contiguous; `reward` is `[2,2]` or each arm's own, `[N,2,2]`, `discount` a
/// number or `[N]`. Large batches are shared among threads.
pub fn index_into<'a>(
    transition: &[f64],
    packing: Packing,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    index: &mut [f64],
) {
    let (width, rewards, discounts) = (packing.width(), reward.into(), discount.into());
    assert_eq!(transition.len() / width * 2, index.len(), "index: [N,2]");
    let arms = transition.par_chunks(CHUNK * width).zip(index.par_chunks_mut(CHUNK * 2));
    if let (Rewards::Shared(reward), Discounts::Shared(discount)) = (&rewards, &discounts) {
        let shared = Shared::new(reward.view(), *discount);
        return arms.for_each(|(p, w)| {
            interrupt::check();
            match packing {
                Packing::Compact => index_compact_arms(p, shared, w),
                Packing::Full => index_full_arms(p, shared, w),
            }
        });
    }
    check_own(&rewards, &discounts, transition.len() / width);
    let spread = Spread::new(&rewards, &discounts);
    let own = Own::new(&rewards, &discounts, &spread);
    arms.enumerate().for_each(|(chunk, (p, w))| {
        interrupt::check();
        index_own_arms(p, packing, own.from(chunk * CHUNK), w);
    });
}

fn check_own(rewards: &Rewards<'_>, discounts: &Discounts<'_>, arms: usize) {
    assert_eq!(rewards.check(arms), 2, "reward: [2,2] or [N,2,2]");
    discounts.check(arms);
}

/// What a cotangent of the indices becomes on what all arms share.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedCotangent {
    /// `[2,2]`, summed over the arms
    pub d_reward: Array2<f64>,
    /// summed over the arms
    pub d_discount: f64,
}

/// Writes the cotangent of the transitions into `d_transition`, in their packing, and returns that of what the arms
/// share. Allocates only one small row per 16,384 arms.
pub fn pullback_into(
    transition: &[f64],
    packing: Packing,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    d_index: &[f64],
    d_transition: &mut [f64],
) -> SharedCotangent {
    let (width, shared) = (packing.width(), Shared::new(reward, discount));
    assert_eq!(transition.len() / width * 2, d_index.len(), "d_index: [N,2]");
    assert_eq!(transition.len(), d_transition.len(), "d_transition: the shape of transition");
    let arms = transition.par_chunks(CHUNK * width).zip(d_index.par_chunks(CHUNK * 2));
    let sums: Vec<[f64; 5]> = arms
        .zip(d_transition.par_chunks_mut(CHUNK * width))
        .map(|((p, c), d)| {
            interrupt::check();
            match packing {
                Packing::Compact => pull_back_compact_arms(p, shared, c, d),
                Packing::Full => pull_back_full_arms(p, shared, c, d),
            }
        })
        .collect();
    summed(&sums)
}

/// [`index_into`] and [`pullback_into`] in one pass, for a caller who knows the cotangent beforehand: the arms are read and solved
/// once, and answers too large for the caches do not pass through them. The same bits as the two.
///
/// ```
/// use restive::Reward;
/// use restive::index::two_state::{Packing, index_and_pullback_into};
///
/// let (arm, d_index) = ([0.2, 0.8, 0.5, 0.5], [1.0, 0.0]);
/// let (mut index, mut d_arm) = ([0.0; 2], [0.0; 4]);
/// index_and_pullback_into(&arm, Packing::Compact, Reward::linear(2).view(), 0.5, &d_index, &mut index, &mut d_arm);
/// assert!((index[0] - 6.0 / 17.0).abs() < 1e-15);
/// ```
pub fn index_and_pullback_into(
    transition: &[f64],
    packing: Packing,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    d_index: &[f64],
    index: &mut [f64],
    d_transition: &mut [f64],
) -> SharedCotangent {
    let (width, shared) = (packing.width(), Shared::new(reward, discount));
    assert_eq!(transition.len() / width * 2, index.len(), "index: [N,2]");
    assert_eq!(index.len(), d_index.len(), "d_index: [N,2]");
    assert_eq!(transition.len(), d_transition.len(), "d_transition: the shape of transition");
    let is_streamed = transition.len() > STREAMED;
    let given = transition.par_chunks(CHUNK * width).zip(d_index.par_chunks(CHUNK * 2));
    let wanted = index.par_chunks_mut(CHUNK * 2).zip(d_transition.par_chunks_mut(CHUNK * width));
    let sums: Vec<[f64; 5]> = given
        .zip(wanted)
        .map(|((p, c), (w, d))| {
            interrupt::check();
            let sums = match packing {
                Packing::Compact => both_of_compact_arms(p, shared, c, w, d, is_streamed),
                Packing::Full => both_of_full_arms(p, shared, c, w, d, is_streamed),
            };
            fence();
            sums
        })
        .collect();
    summed(&sums)
}

/// Adds up what chunks of arms add to the shared cotangents, in order.
fn summed(sums: &[[f64; 5]]) -> SharedCotangent {
    let total = sums.iter().fold([0.0; 5], |t, s| std::array::from_fn(|k| t[k] + s[k]));
    let d_reward = Array2::from_shape_fn((2, 2), |(s, a)| total[2 * s + a]);
    SharedCotangent { d_reward, d_discount: total[4] }
}

/// Writes the cotangents of every arm's transitions (in their packing), reward (`[N,2,2]`) and discount (`[N]`), without
/// allocating; where arms share a reward or a discount, each writes what it adds.
pub fn pullback_per_arm_into<'a>(
    transition: &[f64],
    packing: Packing,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    d_index: &[f64],
    out: Cotangents<'_>,
) {
    let Cotangents { d_transition, d_reward, d_discount } = out;
    let (width, rewards, discounts) = (packing.width(), reward.into(), discount.into());
    let arms = transition.len() / width;
    check_own(&rewards, &discounts, arms);
    assert_eq!(2 * arms, d_index.len(), "d_index: [N,2]");
    assert_eq!(transition.len(), d_transition.len(), "d_transition: the shape of transition");
    assert_eq!((4 * arms, arms), (d_reward.len(), d_discount.len()), "d_reward: [N,2,2]; d_discount: [N]");
    let spread = Spread::new(&rewards, &discounts);
    let own = Own::new(&rewards, &discounts, &spread);
    let arms = transition.par_chunks(CHUNK * width).zip(d_index.par_chunks(CHUNK * 2));
    let own_out = d_reward.par_chunks_mut(CHUNK * 4).zip(d_discount.par_chunks_mut(CHUNK));
    let out = d_transition.par_chunks_mut(CHUNK * width).zip(own_out);
    arms.zip(out).enumerate().for_each(|(chunk, ((p, c), (d_transition, (d_reward, d_discount))))| {
        interrupt::check();
        let out = Cotangents { d_transition, d_reward, d_discount };
        pull_back_own_arms(p, packing, own.from(chunk * CHUNK), c, out);
    });
}

/// The indices of arms in the full layout, `[N,2,2,2]`, with reward `[2,2]` or each arm's own, `[N,2,2]`.
pub fn index<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
) -> Indices {
    assert_eq!(transition.shape()[1..], [2, 2, 2], "transition: [N,2,2,2]");
    let contiguous = transition.as_standard_layout();
    index_batch(
        contiguous.as_slice().expect("standard layout"),
        Packing::Full,
        reward.into(),
        discount.into(),
    )
}

/// The indices of arms in the compact layout, `[N,4]`, with reward `[2,2]` or each arm's own, `[N,2,2]`.
pub fn index_compact<'a>(
    transition: ArrayView2<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
) -> Indices {
    assert_eq!(transition.ncols(), 4, "transition: [N,4]");
    let contiguous = transition.as_standard_layout();
    index_batch(
        contiguous.as_slice().expect("standard layout"),
        Packing::Compact,
        reward.into(),
        discount.into(),
    )
}

/// The pullback of [`index`]: `d_index` is `[N,2]`. It needs nothing but the inputs, because solving an arm
/// again is cheaper than reading what the forward pass could have kept.
pub fn pullback(
    transition: ArrayView4<'_, f64>,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    d_index: ArrayView2<'_, f64>,
) -> IndexCotangent<Ix4> {
    pull_back_batch(transition, Packing::Full, reward, discount, d_index)
}

/// The pullback of [`index_compact`]: the plain derivative by each of the four probabilities.
pub fn pullback_compact(
    transition: ArrayView2<'_, f64>,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    d_index: ArrayView2<'_, f64>,
) -> IndexCotangent<Ix2> {
    pull_back_batch(transition, Packing::Compact, reward, discount, d_index)
}

/// The pullback of [`index`] with rewards or discounts of the arms' own, arm by arm.
pub fn pullback_per_arm<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    d_index: ArrayView2<'_, f64>,
) -> PerArmCotangent<Ix4> {
    let (n, mut d_transition) = (transition.shape()[0], Array::zeros(transition.raw_dim()));
    let (mut d_reward, mut d_discount) = (Array3::zeros((n, 2, 2)), Array1::zeros(n));
    pullback_per_arm_into(
        transition.as_standard_layout().as_slice().expect("standard layout"),
        Packing::Full,
        reward,
        discount,
        d_index.as_standard_layout().as_slice().expect("standard layout"),
        Cotangents {
            d_transition: d_transition.as_slice_mut().expect("standard layout"),
            d_reward: d_reward.as_slice_mut().expect("standard layout"),
            d_discount: d_discount.as_slice_mut().expect("standard layout"),
        },
    );
    PerArmCotangent { d_transition, d_reward, d_discount }
}

fn index_batch(
    transition: &[f64],
    packing: Packing,
    rewards: Rewards<'_>,
    discounts: Discounts<'_>,
) -> Indices {
    let mut index = Array2::zeros((transition.len() / packing.width(), 2));
    let out = index.as_slice_mut().expect("standard layout");
    index_into(transition, packing, rewards.borrow(), discounts.borrow(), out);
    let arms = transition.chunks_exact(packing.width());
    let residual: Array1<f64> = arms
        .zip(index.rows())
        .enumerate()
        .map(|(i, (arm, w))| {
            let discount = discounts.of(i);
            let p = match packing {
                Packing::Compact => [arm[0], arm[1], arm[2], arm[3]],
                Packing::Full => [arm[1], arm[3], arm[5], arm[7]],
            };
            let smallest = (1.0 - discount * (p[2] - p[0])).min(1.0 - discount * (p[3] - p[1])).min(1.0);
            if w[0].is_nan() { f64::NAN } else { f64::EPSILON / smallest }
        })
        .collect();
    let status = residual.iter().map(|residual| match residual {
        r if r.is_nan() => IndexStatus::Undetermined,
        r if *r > ILL_CONDITIONED => IndexStatus::IllConditioned,
        _ => IndexStatus::Exact,
    });
    Indices {
        last: index.clone(),
        status: status.collect(),
        is_indexable: residual.mapv(|residual| !residual.is_nan()),
        residual,
        index,
    }
}

fn pull_back_batch<D: Dimension>(
    transition: ArrayView<'_, f64, D>,
    packing: Packing,
    reward: ArrayView2<'_, f64>,
    discount: f64,
    d_index: ArrayView2<'_, f64>,
) -> IndexCotangent<D> {
    let mut d_transition = Array::zeros(transition.raw_dim());
    let SharedCotangent { d_reward, d_discount } = pullback_into(
        transition.as_standard_layout().as_slice().expect("standard layout"),
        packing,
        reward,
        discount,
        d_index.as_standard_layout().as_slice().expect("standard layout"),
        d_transition.as_slice_mut().expect("standard layout"),
    );
    IndexCotangent { d_transition, d_reward, d_discount }
}
