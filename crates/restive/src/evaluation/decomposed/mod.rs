//! The decomposed value: arms apart from each other, each paying for its pulls.
//!
//! # What it is
//! Relax the budget to hold on average and give every pull a price, the *charge* λ: the arms fall apart, and each earns
//! its own reward less its own charges. This is the value of a soft policy in that world (in the spirit of Shah et al.,
//! 2024), a smooth function of the indices that costs one small solve per arm. It serves training; it is no estimate of
//! what a programme earns.
//!
//! The [`Relaxation`] is taken once from the [fluid](super::fluid()) world that the policy is to serve: the charge λ is the mean of its
//! thresholds, μ_i(s) the mean occupancy of state s. Then, for indices W at temperature e,
//!
//! ```text
//! τ solves Σ μ_i(s) π_i(s) = K,    π_i(s) = σ((W_i(s) − τ)/e)
//! P^π = (1 − π) P₀ + π P₁,         r^π = (1 − π) R₀ + π (R₁ − λ)
//! J_i = (1 − γ) μ⁰·V_i,            V_i = r^π + γ P^π V_i
//! value = Σ_i J_i + λ K
//! ```
//!
//! J_i is arm i's earning per step, discounted from its initial distribution μ⁰; λK gives back what was charged.
//!
//! # How it is computed
//! With h the solution of (I − γP^π + γ 1 μ⁰ᵀ) h = r^π, V is h plus a constant and J = μ⁰·h: no 1/(1 − γ) anywhere, and γ = 1 is
//! the average reward of arms with one recurrent class. For two states, with a_s = P^π(s, 1) and D = (r₁ − r₀)/(1 − γ(a₁ − a₀)),
//! J = r₀ + (γ a₀ + (1 − γ) μ⁰(1)) D. The labels of arms seen at pulls only are eliminated along their chains (`chains`).
//!
//! # Its pullback
//! y solves yᵀ(I − γP^π + γ 1 μ⁰ᵀ) = μ⁰ᵀ: the discounted time in each state. Then
//!
//! ```text
//! dJ/dπ(s) = y(s) (R₁(s) − R₀(s) − λ + γ (P₁ − P₀)(s)·h)
//! ```
//!
//! the advantage of a pull where the arm is, and it goes on through the threshold as in [`Crowd`]. Charge, occupancy
//! and transitions are constants there; [`Decomposed::pullback_to_world`] answers for them too. O(N M³), and a few nanoseconds per arm for two states; O(N (L·M + M³)) for L labels.
//!
//! # An example
//! ```
//! use ndarray::{Array2, array};
//! use restive::Reward;
//! use restive::evaluation::{MeanField, Relaxation, decomposed, fluid};
//!
//! // two arms of which a pull helps the second more
//! let p = array![
//!     [[[0.8, 0.2], [0.7, 0.3]], [[0.5, 0.5], [0.4, 0.6]]],
//!     [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]]],
//! ];
//! let (reward, start) = (Reward::linear(2), Array2::from_elem((2, 2), 0.5));
//! let own = array![[0.1, 0.1], [0.6, 0.4]];
//! let field = MeanField {
//!     motion: p.view().into(),
//!     reward: (&reward).into(),
//!     initial: start.view(),
//!     discount: 0.99,
//!     budget: 1.0,
//! };
//! let relaxation = Relaxation::from_run(&fluid(own.view(), &field, 0.1, 9));
//! let wrong = array![[0.2, 0.2], [0.1, 0.1]]; // ranks the arms the other way round
//! let solved = decomposed(wrong.view(), &MeanField { discount: 0.9, ..field }, 0.1, &relaxation);
//! let d_index = solved.pullback(1.0).d_index;
//! assert!(d_index.row(1).sum() > 0.0 && d_index.row(0).sum() < 0.0);
//! ```

mod chains;
mod world;

pub use world::WorldCotangent;

use super::{Fluid, MeanField};
use crate::belief::{Belief, Motion};
use crate::instance::RewardView;
use crate::lu::{Lu, dot};
use crate::policy::soft_top_k::{Crowd, CrowdThreshold};
use chains::Chains;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// Arms computed by one thread at a time.
const CHUNK: usize = 256;

/// The world with the budget held on average.
#[derive(Debug, Clone, PartialEq)]
pub struct Relaxation {
    /// λ: the price of a pull
    pub charge: f64,
    /// μ `[N,M]`: how much of its time each arm spends in each state
    pub mass: Array2<f64>,
}

impl Relaxation {
    /// The mean threshold and the mean occupancy of a fluid run. A budget of nobody or of everybody has no threshold, and no
    /// charge.
    pub fn from_run(fluid: &Fluid<'_>) -> Self {
        let finite: Vec<f64> = fluid.threshold.iter().copied().filter(|t| t.is_finite()).collect();
        let charge = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
        Self { charge, mass: fluid.mass.mean_axis(Axis(0)).expect("at least one step") }
    }
}

/// The decomposed value of a soft policy.
pub struct Decomposed<'a> {
    /// earnings per step of all arms
    pub value: f64,
    /// `[N,M]`: the probability of a pull in each state
    pub pull: Array2<f64>,
    relaxation: &'a Relaxation,
    crowd: Crowd,
    solved: CrowdThreshold,
    /// dJ/dπ, `[N·M]`
    advantage: Vec<f64>,
}

/// What a cotangent of a decomposed value becomes on its inputs; charge, occupancy and transitions are constants.
#[derive(Debug, Clone, PartialEq)]
pub struct DecomposedCotangent {
    /// `[N,M]`
    pub d_index: Array2<f64>,
    /// by the temperature e
    pub d_temperature: f64,
}

/// The value of indices `[N,M]` of states (or of labels, where those move) at a temperature.
pub fn decomposed<'a>(
    index: ArrayView2<'_, f64>,
    field: &MeanField<'_>,
    temperature: f64,
    relaxation: &'a Relaxation,
) -> Decomposed<'a> {
    let (n, m) = index.dim();
    let &MeanField { motion, reward, initial, discount, budget } = field;
    assert_eq!((motion.arms(), motion.states()), (n, m), "transition: [N,M,2,M], as the index");
    assert_eq!(reward.states(), m, "reward: [M,2]");
    assert_eq!(initial.dim(), (n, m), "initial: [N,M]");
    let index = index.as_standard_layout();
    let crowd = Crowd::new(index.as_slice().expect("standard layout"), temperature);
    let mut pull = Array2::zeros((n, m));
    let pulls = pull.as_slice_mut().expect("standard layout");
    let mass = relaxation.mass.as_slice().expect("standard layout");
    let solved = crowd.solve(mass, budget, pulls);
    let initial = initial.as_standard_layout();
    let arms = Arms { states: m, reward, discount, charge: relaxation.charge };
    let mut advantage = vec![0.0; n * m];
    let chunks = (initial.as_slice().expect("standard layout").par_chunks(CHUNK * m))
        .zip(pulls.par_chunks(CHUNK * m).zip(advantage.par_chunks_mut(CHUNK * m)))
        .enumerate();
    let sums: Vec<f64> = match motion {
        Motion::Rows(transition) => {
            let transition = transition.as_standard_layout();
            let p = transition.as_slice().expect("standard layout").par_chunks(CHUNK * 2 * m * m);
            let solve = |((chunk, (start, (pull, advantage))), p): ((usize, _), &[f64])| match m {
                2 => arms.two_state(chunk * CHUNK, p, start, pull, advantage),
                _ => arms.general(chunk * CHUNK, p, start, pull, advantage),
            };
            chunks.zip(p).map(solve).collect()
        }
        Motion::Chains(belief) => chunks
            .map(|(chunk, (start, (pull, advantage)))| {
                arms.chains(chunk * CHUNK, belief, start, pull, advantage)
            })
            .collect(),
    };
    let value = sums.iter().sum::<f64>() + relaxation.charge * budget.clamp(0.0, n as f64);
    Decomposed { value, pull, relaxation, crowd, solved, advantage }
}

impl Decomposed<'_> {
    /// What a cotangent of the value becomes on indices and temperature.
    pub fn pullback(&self, d_value: f64) -> DecomposedCotangent {
        let mut d_index = Array2::zeros(self.pull.raw_dim());
        let d_pull: Vec<f64> = self.advantage.iter().map(|a| d_value * a).collect();
        let back = self.crowd.pullback_into(
            &self.solved,
            self.relaxation.mass.as_slice().expect("standard layout"),
            self.pull.as_slice().expect("standard layout"),
            &d_pull,
            d_index.as_slice_mut().expect("standard layout"),
        );
        DecomposedCotangent { d_index, d_temperature: back.d_temperature }
    }
}

/// What all arms share.
struct Arms<'a> {
    states: usize,
    reward: RewardView<'a>,
    discount: f64,
    charge: f64,
}

impl Arms<'_> {
    /// Σ J over some arms from number `first` on, and their dJ/dπ.
    fn two_state(&self, first: usize, p: &[f64], start: &[f64], pull: &[f64], advantage: &mut [f64]) -> f64 {
        let g = self.discount;
        let mut sum = 0.0;
        let arms = p.chunks_exact(8).zip(start.chunks_exact(2));
        let arms = arms.zip(pull.chunks_exact(2).zip(advantage.chunks_exact_mut(2)));
        for (i, ((p, start), (pull, advantage))) in arms.enumerate() {
            let r = self.reward.arm(first + i);
            let (passive, gain) = ([r[0], r[2]], [r[1] - self.charge - r[0], r[3] - self.charge - r[2]]);
            let (d0, d1) = (p[3] - p[1], p[7] - p[5]);
            let (a0, a1) = (p[1] + pull[0] * d0, p[5] + pull[1] * d1);
            let (r0, r1) = (passive[0] + pull[0] * gain[0], passive[1] + pull[1] * gain[1]);
            let inverse = 1.0 / (1.0 - g * (a1 - a0));
            let difference = (r1 - r0) * inverse;
            let time = (g * a0 + (1.0 - g) * start[1]) * inverse; // y(1)
            sum += r0 + time * (r1 - r0);
            advantage[0] = (1.0 - time) * (gain[0] + g * d0 * difference);
            advantage[1] = time * (gain[1] + g * d1 * difference);
        }
        sum
    }

    fn general(&self, first: usize, p: &[f64], start: &[f64], pull: &[f64], advantage: &mut [f64]) -> f64 {
        let (m, g) = (self.states, self.discount);
        let mut lu = Lu::new(m);
        let (mut h, mut time) = (vec![0.0; m], vec![0.0; m]);
        let mut sum = 0.0;
        let arms = p.chunks_exact(2 * m * m).zip(start.chunks_exact(m));
        let arms = arms.zip(pull.chunks_exact(m).zip(advantage.chunks_exact_mut(m)));
        for (i, ((p, start), (pull, advantage))) in arms.enumerate() {
            let r = self.reward.arm(first + i);
            for s in 0..m {
                let (passive, active) = p[2 * s * m..2 * (s + 1) * m].split_at(m);
                let row = &mut lu.factors[s * m..(s + 1) * m];
                for to in 0..m {
                    let moved = passive[to] + pull[s] * (active[to] - passive[to]);
                    row[to] = g * (start[to] - moved);
                }
                row[s] += 1.0;
                h[s] = r[2 * s] + pull[s] * (r[2 * s + 1] - self.charge - r[2 * s]);
            }
            if !lu.factor() {
                advantage.fill(f64::NAN);
                sum = f64::NAN;
                continue;
            }
            lu.solve_vector(&mut h);
            time.copy_from_slice(start);
            lu.solve_rows(&mut time);
            sum += dot(start, &h);
            for s in 0..m {
                let (passive, active) = p[2 * s * m..2 * (s + 1) * m].split_at(m);
                let gain = r[2 * s + 1] - self.charge - r[2 * s];
                advantage[s] = time[s] * (gain + g * (dot(active, &h) - dot(passive, &h)));
            }
        }
        sum
    }

    fn chains(
        &self,
        first: usize,
        belief: &Belief,
        start: &[f64],
        pull: &[f64],
        advantage: &mut [f64],
    ) -> f64 {
        let labels = self.states;
        let mut chains = Chains::new(belief.states(), belief.chain());
        let mut earned = vec![0.0; labels];
        let mut sum = 0.0;
        let arms = start.chunks_exact(labels).zip(pull.chunks_exact(labels));
        for (i, ((start, pull), advantage)) in arms.zip(advantage.chunks_exact_mut(labels)).enumerate() {
            let (b, r) = (belief.arm(first + i), self.reward.arm(first + i));
            for (l, earned) in earned.iter_mut().enumerate() {
                *earned = r[2 * l] + pull[l] * (r[2 * l + 1] - self.charge - r[2 * l]);
            }
            let Some(value) = chains.solve(b, &earned, pull, start, self.discount) else {
                advantage.fill(f64::NAN);
                sum = f64::NAN;
                continue;
            };
            sum += value;
            for (l, advantage) in advantage.iter_mut().enumerate() {
                let gain = r[2 * l + 1] - self.charge - r[2 * l];
                *advantage = chains.time[l] * (gain + self.discount * chains.gap(b, l));
            }
        }
        sum
    }
}
