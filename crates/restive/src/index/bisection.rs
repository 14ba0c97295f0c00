//! The textbook method: bisection over value iteration, then one linear system per state.
//!
//! # What it is
//! For each state u, Qian et al. halve an interval of subsidies: at its middle m, value iteration solves the arm
//! with subsidy m, and the half in which state u changes from active to passive is kept. This is what the paper
//! uses in its forward pass. It then *selects* from the Bellman equations at that subsidy the M + 1 that hold with
//! equality, one per state and a second one for u, and solves them for the M values and the subsidy:
//!
//! ```text
//! V(s) − γ P_a(s,·)·V − m·1{a = 0} = R(s,a)     for the better action a of s, and for both actions of u
//! ```
//!
//! # Its pullback
//! The transposed system Aᵀz = e_m gives dW_u/dR(s,a) = z and dW_u/dP_a(s,s′) = γ z V(s′), centred.
//!
//! # When to use it
//! As a baseline. It costs M systems of M+1 equations per arm, O(M⁴), after some twenty halvings of some
//! ln(1/tolerance)/(1−γ) sweeps for each state. It assumes that the arm is indexable and cannot tell; near ties it
//! may select the wrong equations; it cannot take γ = 1. [`general`](super::general) is exact and hundreds of times
//! faster.
//!
//! ```
//! use restive::{Layout, Reward, Transition, index::bisection};
//!
//! let p = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arm = Transition::new(p, Layout::Nsas)?;
//! let solved = bisection::index(arm.view(), Reward::linear(2).view(), 0.5, Default::default());
//! assert!((solved.index[[0, 0]] - 6.0 / 17.0).abs() < 1e-12);
//! # Ok::<(), restive::Error>(())
//! ```

use super::inputs::Inputs;
use super::{Discounts, IndexCotangent, IndexStatus, Indices, PerArmCotangent, Rewards};
use crate::interrupt;
use crate::lu::{Lu, dot, subtract};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, ArrayView4, CowArray, Ix4};
use rayon::prelude::*;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// width of the interval of subsidies that bisection ends with
    pub index: f64,
    /// largest error of the values that value iteration ends with
    pub value: f64,
    /// sweeps of value iteration after which it ends all the same, at every halving
    pub sweeps: usize,
}

impl Tolerance {
    /// As the paper's code stops: ten halvings of an interval of width two, 100 sweeps each. Most indices are close, some are
    /// not, because values are far from optimal after 100 sweeps at a discount near 1.
    pub const fn published() -> Self {
        Self { index: 2.0 / 1024.0, value: 1e-7, sweeps: 100 }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { index: 1e-6, value: 1e-7, sweeps: usize::MAX }
    }
}

/// Indices of N arms with the values and policies at each of them.
pub struct Bisection<'a> {
    /// the indices; verdicts are unknown, statuses approximate
    pub indices: Indices,
    transition: CowArray<'a, f64, Ix4>,
    discounts: Discounts<'a>,
    /// V at W_u, `[N,M,M]`
    values: Vec<f64>,
    /// whether passivity is the better action of s at W_u, `[N,M,M]`
    passive: Vec<bool>,
}

/// The indices of a batch of arms, `[N,M,2,M]`, with reward `[M,2]` or each arm's own, `[N,M,2]`, and γ < 1.
pub fn index<'a>(
    transition: ArrayView4<'_, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    tolerance: Tolerance,
) -> Indices {
    let (rewards, discounts) = (reward.into(), discount.into());
    differentiable_index(transition, rewards.borrow(), discounts.borrow(), tolerance).indices
}

/// The indices of a batch of arms, ready for [`Bisection::pullback`].
pub fn differentiable_index<'a>(
    transition: ArrayView4<'a, f64>,
    reward: impl Into<Rewards<'a>>,
    discount: impl Into<Discounts<'a>>,
    tolerance: Tolerance,
) -> Bisection<'a> {
    let (n, inputs) = (transition.shape()[0], Inputs::new(reward, discount));
    let m = inputs.check(n);
    assert_eq!(transition.shape()[1..], [m, 2, m], "transition: [N,M,2,M]");
    assert!((0.0..1.0).contains(&inputs.discounts.largest()), "bisection takes discounts below 1");
    assert!(tolerance.index > 0.0 && tolerance.value > 0.0, "tolerances are positive");
    let contiguous = transition.as_standard_layout();
    let arms = contiguous.as_slice().expect("standard layout").par_chunks(2 * m * m);
    let mut index = Array2::zeros((n, m));
    let mut residual = vec![0.0; n];
    let (mut values, mut passive) = (vec![0.0; n * m * m], vec![false; n * m * m]);
    let tapes = values.par_chunks_mut(m * m).zip(passive.par_chunks_mut(m * m)).zip(residual.par_iter_mut());
    let rows = index.as_slice_mut().expect("standard layout").par_chunks_mut(m);
    arms.zip(rows).zip(tapes).enumerate().for_each_init(
        || Solver::new(m, tolerance),
        |solver, (i, ((arm, index), ((values, passive), residual)))| {
            solver.take(inputs.of(i));
            let states = values.chunks_exact_mut(m).zip(passive.chunks_exact_mut(m));
            for (u, (values, passive)) in states.enumerate() {
                let (w, violation) = solver.index_of(arm, u, values, passive);
                index[u] = w;
                *residual = violation.max(*residual);
            }
        },
    );
    let indices = Indices {
        last: index.clone(),
        index,
        is_indexable: Array1::from_elem(n, false),
        status: vec![IndexStatus::Approximate; n],
        residual: residual.into(),
    };
    Bisection { indices, transition: transition.into(), discounts: inputs.discounts, values, passive }
}

impl Bisection<'_> {
    /// The same with transitions and discounts copied, to be kept for as long as one likes.
    pub fn into_owned(self) -> Bisection<'static> {
        let Self { indices, transition, discounts, values, passive } = self;
        let (transition, discounts) = (transition.into_owned().into(), discounts.into_owned());
        Bisection { indices, transition, discounts, values, passive }
    }

    /// What a cotangent of the indices (`[N,M]`) becomes on transitions, and on a reward and a discount that all arms share.
    pub fn pullback(&self, d_index: ArrayView2<'_, f64>) -> IndexCotangent {
        self.pullback_per_arm(d_index).summed()
    }

    /// What a cotangent of the indices (`[N,M]`) becomes on transitions, rewards and discounts, arm by arm.
    pub fn pullback_per_arm(&self, d_index: ArrayView2<'_, f64>) -> PerArmCotangent {
        assert_eq!(d_index.shape(), self.indices.index.shape(), "d_index: [N,M]");
        let (n, m) = d_index.dim();
        let mut d_transition = Array4::zeros(self.transition.raw_dim());
        let transition = self.transition.as_standard_layout();
        let arms = transition.as_slice().expect("standard layout").par_chunks(2 * m * m);
        let d_arms = d_transition.as_slice_mut().expect("standard layout").par_chunks_mut(2 * m * m);
        let (mut d_reward, mut d_discount) = (Array3::zeros((n, m, 2)), Array1::zeros(n));
        let d_rewards = d_reward.as_slice_mut().expect("standard layout").par_chunks_mut(2 * m);
        let d_discounts = d_discount.as_slice_mut().expect("standard layout").par_iter_mut();
        arms.zip(d_arms).zip(d_rewards.zip(d_discounts)).enumerate().for_each_init(
            || (Lu::new(m + 1), vec![0.0; m + 1], vec![0.0; m]),
            |(lu, adjoint, centred), (i, ((arm, d_arm), (d_reward, d_discount)))| {
                interrupt::check();
                let discount = self.discounts.of(i);
                for (u, &c) in d_index.row(i).iter().enumerate().filter(|(_, c)| **c != 0.0) {
                    let values = &self.values[(i * m + u) * m..][..m];
                    let passive = &self.passive[(i * m + u) * m..][..m];
                    fill_system(lu, arm, discount, u, passive);
                    if !lu.factor() {
                        continue; // no index, no gradient: the arm's residual is infinite
                    }
                    adjoint.fill(0.0);
                    adjoint[0] = c;
                    lu.solve_rows(adjoint);
                    let mean = values.iter().sum::<f64>() / m as f64;
                    centred.iter_mut().zip(values).for_each(|(c, v)| *c = v - mean);
                    for (row, z) in adjoint.iter().enumerate() {
                        let (s, a) = equation(row, u, passive);
                        let p = &arm[(2 * s + a) * m..][..m];
                        d_reward[2 * s + a] += z;
                        *d_discount += z * dot(p, values);
                        subtract(&mut d_arm[(2 * s + a) * m..][..m], -z * discount, centred);
                    }
                }
            },
        );
        PerArmCotangent { d_transition, d_reward, d_discount }
    }
}

/// State and action of an equation of the system: row s for state s, row M for the active action of u.
fn equation(row: usize, u: usize, passive: &[bool]) -> (usize, usize) {
    let m = passive.len();
    if row == m { (u, 1) } else { (row, usize::from(row != u && !passive[row])) }
}

/// Writes the selected system; its unknowns are the subsidy and the M values.
fn fill_system(lu: &mut Lu, arm: &[f64], discount: f64, u: usize, passive: &[bool]) {
    let m = passive.len();
    for (row, out) in lu.factors.chunks_exact_mut(m + 1).enumerate() {
        let (s, a) = equation(row, u, passive);
        out[0] = if a == 0 { -1.0 } else { 0.0 };
        for (out, p) in out[1..].iter_mut().zip(&arm[(2 * s + a) * m..][..m]) {
            *out = -discount * p;
        }
        out[1 + s] += 1.0;
    }
}

/// One thread's memory.
struct Solver {
    /// `[M,2]`
    reward: Array2<f64>,
    discount: f64,
    tolerance: Tolerance,
    /// an interval of subsidies that holds every index
    bounds: (f64, f64),
    /// the size of the rewards
    scale: f64,
    next: Vec<f64>,
    system: Lu,
    right_side: Vec<f64>,
}

impl Solver {
    fn new(m: usize, tolerance: Tolerance) -> Self {
        Self {
            reward: Array2::zeros((m, 2)),
            discount: 0.0,
            tolerance,
            bounds: (0.0, 0.0),
            scale: 0.0,
            next: vec![0.0; m],
            system: Lu::new(m + 1),
            right_side: vec![0.0; m + 1],
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arm that follows.
    fn take(&mut self, (reward, discount): (ArrayView2<'_, f64>, f64)) {
        let gains = reward.rows().into_iter().map(|r| r[1] - r[0]);
        let (low, high) = gains.fold((f64::MAX, f64::MIN), |(l, h), r| (l.min(r), h.max(r)));
        let span = |a: usize| {
            let column = reward.column(a);
            let (l, h) = column.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
            h - l
        };
        // Below, all states are active: their values differ by at most span/(1−γ). Above, all are passive.
        let reach = |a| discount * span(a) / (1.0 - discount);
        self.bounds = (low - reach(1), high + reach(0));
        self.scale = self.bounds.0.abs().max(self.bounds.1.abs());
        self.reward.assign(&reward);
        self.discount = discount;
    }

    /// Q(s,1) − Q(s,0), given the values.
    fn advantage(&self, arm: &[f64], s: usize, subsidy: f64, values: &[f64]) -> f64 {
        let m = values.len();
        let (passive, active) = arm[2 * s * m..][..2 * m].split_at(m);
        let gain = self.reward[[s, 1]] - self.reward[[s, 0]];
        gain - subsidy + self.discount * (dot(active, values) - dot(passive, values))
    }

    /// Improves the values until they are within the tolerance of the optimal ones.
    fn iterate_values(&mut self, arm: &[f64], subsidy: f64, values: &mut [f64]) {
        let (m, g) = (values.len(), self.discount);
        let enough = if g == 0.0 { f64::INFINITY } else { self.tolerance.value * (1.0 - g) / g };
        for _ in 0..self.tolerance.sweeps {
            interrupt::check();
            let mut change = 0.0f64;
            for s in 0..m {
                let (passive, active) = arm[2 * s * m..][..2 * m].split_at(m);
                let idle = self.reward[[s, 0]] + subsidy + g * dot(passive, values);
                let pull = self.reward[[s, 1]] + g * dot(active, values);
                self.next[s] = idle.max(pull);
                change = change.max((self.next[s] - values[s]).abs());
            }
            values.copy_from_slice(&self.next);
            // values of size v cannot settle below their own rounding
            if change <= enough
                || change <= 4.0 * f64::EPSILON * values.iter().fold(0.0, |a, v| v.abs().max(a))
            {
                return;
            }
        }
    }

    /// The index of state u, with the values and the passive set at it, and the worst violation of the equations.
    fn index_of(&mut self, arm: &[f64], u: usize, values: &mut [f64], passive: &mut [bool]) -> (f64, f64) {
        let (mut low, mut high) = self.bounds;
        values.fill(0.0);
        while high - low > self.tolerance.index {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            self.iterate_values(arm, middle, values);
            let is_active = self.advantage(arm, u, middle, values) > 0.0;
            if is_active { low = middle } else { high = middle }
        }
        let guess = 0.5 * (low + high);
        self.iterate_values(arm, guess, values);
        for s in 0..values.len() {
            passive[s] = self.advantage(arm, s, guess, values) <= 0.0;
        }
        fill_system(&mut self.system, arm, self.discount, u, passive);
        if !self.system.factor() {
            return (guess, f64::INFINITY);
        }
        for row in 0..self.right_side.len() {
            let (s, a) = equation(row, u, passive);
            self.right_side[row] = self.reward[[s, a]];
        }
        self.system.solve_vector(&mut self.right_side);
        let index = self.right_side[0];
        values.copy_from_slice(&self.right_side[1..]);
        let worst = (0..values.len()).fold(0.0f64, |worst, s| {
            let advantage = self.advantage(arm, s, index, values);
            worst.max(if s == u {
                advantage.abs()
            } else if passive[s] {
                advantage
            } else {
                -advantage
            })
        });
        (index, if worst == 0.0 { 0.0 } else { worst / self.scale })
    }
}
