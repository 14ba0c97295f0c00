//! The fluid (mean-field) value of a policy: deterministic, differentiable, without a single random number.
//!
//! # What it is
//! Every arm i becomes a distribution μ_i over its states, and the budget holds on average: at each step
//!
//! ```text
//! τ solves Σ_i Σ_s μ_i(s) p_i(s) = K,   p_i(s) = σ((W_i(s) − τ)/e)
//! value += γ^t Σ μ (p R(·,1) + (1 − p) R(·,0)),    μ ← (μ p) P₁ + (μ (1 − p)) P₀
//! ```
//!
//! It is the limit of many arms. With N arms it differs from the expected value of the soft policy by O(1/N), and always
//! upwards in our experience (some percent of the gain at N = 5, a third of a percent at N = 100): a threshold that is right
//! on average beats one that must count. Temperature 0 is the **strict** policy, with the tied sharing what is left.
//! Use it for training and for comparing; simulate to report.
//!
//! # Its pullback
//! Backwards in t, with L the cotangent of the next μ, q_a = P_a L, Δ = q₁ − q₀ + γ^t (R₁ − R₀), s = p(1 − p), and
//! g = Σ μ Δ s/Σ μ s, the price of a pull:
//!
//! ```text
//! d W += s μ (Δ − g)/e      d P_a += (μ p_a) ⊗ L      d R_a += γ^t μ p_a      d K += g      d γ += t γ^(t−1) (earned at t)
//! L ← p (q₁ + γ^t R₁) + (1 − p)(q₀ + γ^t R₀) − p g
//! ```
//!
//! O(H N M²) for both; with [labels](crate::belief) for states, L = M·T of them, O(H N L M). The strict limit has no gradient by W, and the one that it has by transitions, reward and budget
//! holds the shares of the tied fixed but for the budget.
//!
//! # An example
//! ```
//! use ndarray::{Array2, array};
//! use restive::Reward;
//! use restive::evaluation::{MeanField, fluid};
//!
//! // two arms of which a pull helps the second more
//! let p = array![
//!     [[[0.8, 0.2], [0.7, 0.3]], [[0.5, 0.5], [0.4, 0.6]]],
//!     [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]]],
//! ];
//! let (index, start) = (array![[0.0, 0.0], [0.1, 0.1]], Array2::from_elem((2, 2), 0.5));
//! let reward = Reward::linear(2);
//! let field = MeanField {
//!     motion: p.view().into(),
//!     reward: (&reward).into(),
//!     initial: start.view(),
//!     discount: 0.99,
//!     budget: 1.0,
//! };
//! let soft = fluid(index.view(), &field, 0.1, 9);
//! let gradient = soft.pullback(1.0);
//! assert!(gradient.d_index.row(1).sum() > 0.0); // prefer the second still more
//! assert!(gradient.d_budget > 0.0);
//! ```

use super::flow::{MeanField, flow};
use crate::belief::{Belief, Motion};
use crate::instance::RewardView;
use crate::interrupt;
use crate::policy::soft_top_k::{Crowd, CrowdThreshold};
use ndarray::{Array, Array2, Array3, Array4, ArrayView2, ArrayView3, Axis, Dimension, Ix2, Ix3};

/// The fluid value of a policy.
pub struct Fluid<'a> {
    /// Σ_t γ^t Σ_i E R
    pub value: f64,
    /// `[H,N,M]`: the distribution of each arm at each step
    pub mass: Array3<f64>,
    /// `[H,N,M]`: the probability of a pull in each state
    pub pull: Array3<f64>,
    /// `[H]`: the price of a pull, as an index
    pub threshold: Vec<f64>,
    /// `[S]`: one for each table
    crowds: Vec<Crowd>,
    motion: Motion<'a>,
    reward: RewardView<'a>,
    discount: f64,
    solved: Vec<CrowdThreshold>,
}

/// What a cotangent of a fluid value becomes on its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct FluidCotangent<D: Dimension = Ix2> {
    /// `[N,M]`, or `[S,N,M]` of S tables
    pub d_index: Array<f64, D>,
    /// `[N,M,2,M]`; rows sum to zero. Beliefs are constants: none where what moves are labels
    pub d_transition: Option<Array4<f64>>,
    /// `[N,M,2]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[N,M]`
    pub d_initial: Array2<f64>,
    /// by the budget K
    pub d_budget: f64,
    /// by the temperature e
    pub d_temperature: f64,
    /// by the discount γ
    pub d_discount: f64,
}

/// The fluid value of soft top-k on a table of indices `[N,M]` of states (or of labels, where those move); temperature 0 is
/// strict.
pub fn fluid<'a>(
    index: ArrayView2<'_, f64>,
    field: &MeanField<'a>,
    temperature: f64,
    horizon: usize,
) -> Fluid<'a> {
    fluid_of_tables(index.insert_axis(Axis(0)), field, temperature, horizon)
}

/// The same where scores change from step to step: the t-th of S tables `[S,N,M]` at step t; from step S on, the last.
pub fn fluid_of_tables<'a>(
    index: ArrayView3<'_, f64>,
    field: &MeanField<'a>,
    temperature: f64,
    horizon: usize,
) -> Fluid<'a> {
    let &MeanField { motion, reward, initial, discount, budget } = field;
    let (tables, n, m) = index.dim();
    assert!(tables > 0, "index: [S,N,M], one table at least");
    assert_eq!(initial.dim(), (n, m), "initial: [N,M], as the index");
    let used = tables.min(horizon.max(1));
    let tables = index.outer_iter().take(used).map(|table| {
        let table: Vec<f64> = table.iter().copied().collect();
        Crowd::new(&table, temperature)
    });
    let crowds: Vec<Crowd> = tables.collect();
    let mut solved = Vec::with_capacity(horizon);
    let (value, mass, pull) = flow(field, horizon, |t, mass, pull| {
        solved.push(crowds[t.min(used - 1)].solve(mass, budget, pull));
    });
    let threshold = solved.iter().map(|solved| solved.threshold).collect();
    Fluid { value, mass, pull, threshold, crowds, motion, reward, discount, solved }
}

impl Fluid<'_> {
    /// What a cotangent of the value of one table becomes on indices, transitions, reward, initial distribution, budget, temperature and
    /// discount.
    pub fn pullback(&self, d_value: f64) -> FluidCotangent {
        assert_eq!(self.crowds.len(), 1, "one table; of several, pullback_by_step");
        let d = self.pullback_by_step(d_value);
        FluidCotangent {
            d_index: d.d_index.index_axis_move(Axis(0), 0),
            d_transition: d.d_transition,
            d_reward: d.d_reward,
            d_initial: d.d_initial,
            d_budget: d.d_budget,
            d_temperature: d.d_temperature,
            d_discount: d.d_discount,
        }
    }

    /// The same with a cotangent for each table that was used, `[S,N,M]`: of H steps at most H.
    pub fn pullback_by_step(&self, d_value: f64) -> FluidCotangent<Ix3> {
        let (horizon, n, m) = self.mass.dim();
        let mut d = FluidCotangent {
            d_index: Array3::zeros((self.crowds.len(), n, m)),
            d_transition: None,
            d_reward: Array3::zeros((n, m, 2)),
            d_initial: Array2::zeros((n, m)),
            d_budget: 0.0,
            d_temperature: 0.0,
            d_discount: 0.0,
        };
        let rows = match &self.motion {
            Motion::Rows(transition) => {
                d.d_transition = Some(Array4::zeros((n, m, 2, m)));
                Some(transition.as_standard_layout())
            }
            Motion::Chains(_) => None,
        };
        let d_index = d.d_index.as_slice_mut().expect("standard layout");
        let (mut next, mut here) = (vec![0.0; n * m], vec![0.0; n * m]);
        let mut d_pull = vec![0.0; n * m];
        for t in (0..horizon).rev() {
            interrupt::check();
            let (mass, pull) = (self.mass.index_axis(Axis(0), t), self.pull.index_axis(Axis(0), t));
            let (mass, pull) = (mass.to_slice().expect("contiguous"), pull.to_slice().expect("contiguous"));
            let mut step = StepBack {
                reward: self.reward,
                weight: d_value * self.discount.powi(t as i32),
                mass,
                pull,
                next: &next,
                here: &mut here,
                d_pull: &mut d_pull,
                d_reward: d.d_reward.as_slice_mut().expect("row-major"),
                earned: 0.0,
            };
            match (self.motion, &rows, &mut d.d_transition) {
                (Motion::Chains(belief), _, _) => step.chains(belief),
                (_, Some(p), Some(d_p)) => {
                    step.rows(p.as_slice().expect("row-major"), d_p.as_slice_mut().expect("row-major"), m)
                }
                _ => unreachable!("rows have a cotangent"),
            }
            if t > 0 {
                d.d_discount += d_value * t as f64 * self.discount.powi(t as i32 - 1) * step.earned;
            }
            let table = t.min(self.crowds.len() - 1);
            let d_table = &mut d_index[table * n * m..][..n * m];
            let step = self.crowds[table].pullback_into(&self.solved[t], mass, pull, &d_pull, d_table);
            d.d_budget += step.d_budget;
            d.d_temperature += step.d_temperature;
            here.iter_mut().zip(pull).for_each(|(d_mass, pull)| *d_mass -= pull * step.d_budget);
            std::mem::swap(&mut next, &mut here);
        }
        d.d_initial.as_slice_mut().expect("standard layout").copy_from_slice(&next);
        d
    }
}

/// One step backwards: from the cotangent of the next masses to those of these masses, of pulls and of what moved them.
struct StepBack<'a> {
    reward: RewardView<'a>,
    weight: f64,
    mass: &'a [f64],
    pull: &'a [f64],
    next: &'a [f64],
    here: &'a mut [f64],
    d_pull: &'a mut [f64],
    /// `[N,M,2]`
    d_reward: &'a mut [f64],
    /// what all arms earn at this step
    earned: f64,
}

impl StepBack<'_> {
    fn rows(&mut self, p: &[f64], d_p: &mut [f64], m: usize) {
        for k in 0..self.mass.len() {
            let (i, s) = (k / m, k % m);
            let (rows, next) = (&p[2 * k * m..2 * (k + 1) * m], &self.next[k - s..k - s + m]);
            let (active, passive) = (self.mass[k] * self.pull[k], self.mass[k] * (1.0 - self.pull[k]));
            let centre = next.iter().sum::<f64>() / m as f64;
            let d_rows = &mut d_p[2 * k * m..2 * (k + 1) * m];
            let mut q = [0.0; 2];
            for to in 0..m {
                q[0] += rows[to] * next[to];
                q[1] += rows[m + to] * next[to];
                d_rows[to] += passive * (next[to] - centre);
                d_rows[m + to] += active * (next[to] - centre);
            }
            self.finish(k, i, s, q);
        }
    }

    fn chains(&mut self, belief: &Belief) {
        let (labels, m, chain) = (belief.labels(), belief.states(), belief.chain());
        for (k, b) in belief.view().to_slice().expect("row-major").chunks_exact(m).enumerate() {
            let (i, l) = (k / labels, k % labels);
            let next = &self.next[k - l..][..labels];
            let pulled = b.iter().zip(next.iter().step_by(chain)).map(|(b, next)| b * next).sum();
            let q = [next[Belief::later(l, chain)], pulled];
            self.finish(k, i, l, q);
        }
    }

    /// With q_a = P_a L of the state s of arm i, which is the k-th of all.
    #[inline(always)]
    fn finish(&mut self, k: usize, i: usize, s: usize, q: [f64; 2]) {
        let reward = [self.reward.at(i, s, 0), self.reward.at(i, s, 1)];
        let q = [q[0] + self.weight * reward[0], q[1] + self.weight * reward[1]];
        let (mass, pull) = (self.mass[k], self.pull[k]);
        let (passive, active) = (mass * (1.0 - pull), mass * pull);
        self.d_reward[2 * k] += self.weight * passive;
        self.d_reward[2 * k + 1] += self.weight * active;
        self.earned += passive * reward[0] + active * reward[1];
        self.d_pull[k] = mass * (q[1] - q[0]);
        self.here[k] = pull * q[1] + (1.0 - pull) * q[0];
    }
}
