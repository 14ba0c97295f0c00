//! The tableau of the sweep: U_B, α and β for the current passive set B, and how it moves.
//!
//! See the parent module for the formulas. Rewards are held relative to their mid-range: a constant added to
//! every reward cannot change an index, and so it does not cost digits either.

use super::classes::Classes;
use crate::lu::{Lu, dot, subtract};
use crate::product::{Block, Left, Product};
use ndarray::ArrayView2;

/// Up to this many states pivots are applied one by one.
const PLAIN: usize = 64;
/// Above that, this many are collected and applied as one matrix product.
const COLLECTED: usize = 32;

/// The arm and its tableau, in memory that is reused from arm to arm.
pub(super) struct Tableau {
    pub(super) states: usize,
    discount: f64,
    /// R(·,0) and R(·,1), less their common mid-range
    reward: [Vec<f64>; 2],
    /// R(·,1) − R(·,0)
    gain: Vec<f64>,
    /// D = P₁ − P₀, rows summing to zero, `[M,M]`
    difference: Vec<f64>,
    /// factors of I − γP₁ + γ·1·pᵀ
    base: Lu,
    /// factors for a fresh start at the current passive set
    fresh: Lu,
    /// U without the collected pivots, `[M,M]`
    tableau: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    pub(super) beta: Vec<f64>,
    /// the collected pivots: f·U[:,j] and U[j,:], `[limit,M]` each
    columns: Vec<f64>,
    rows: Vec<f64>,
    collected: usize,
    product: Product,
    /// how large the arm's subsidies are
    pub(super) scale: f64,
    /// one value per state
    scratch: Vec<f64>,
    /// the largest difference between rewards
    pub(super) span: f64,
    /// for γ = 1: whether a passive set has a unique average reward
    classes: Classes,
}

/// +1 for a state that enters the passive set, −1 for one that leaves it.
pub(super) type Direction = f64;

impl Tableau {
    pub(super) fn new(m: usize) -> Self {
        let limit = if m <= PLAIN { 1 } else { COLLECTED };
        Self {
            states: m,
            discount: 0.0,
            reward: [vec![0.0; m], vec![0.0; m]],
            gain: vec![0.0; m],
            difference: vec![0.0; m * m],
            base: Lu::new(m),
            fresh: Lu::new(m),
            tableau: vec![0.0; m * m],
            alpha: vec![0.0; m],
            beta: vec![0.0; m],
            columns: vec![0.0; limit * m],
            rows: vec![0.0; limit * m],
            collected: 0,
            product: Product::default(),
            scale: 0.0,
            scratch: vec![0.0; m],
            span: 0.0,
            classes: Classes::new(m),
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arms that follow.
    pub(super) fn take(&mut self, reward: ArrayView2<'_, f64>, discount: f64) {
        let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        let middle = low + 0.5 * (high - low);
        for (s, r) in reward.rows().into_iter().enumerate() {
            self.reward[0][s] = r[0] - middle;
            self.reward[1][s] = r[1] - middle;
            self.gain[s] = r[1] - r[0];
        }
        self.span = high - low;
        self.discount = discount;
    }

    /// Takes up an arm (`[M,2,M]`) with every state active; false where that policy has no unique average reward.
    #[inline(always)]
    pub(super) fn load(&mut self, arm: &[f64]) -> bool {
        let (m, g) = (self.states, self.discount);
        for (s, (row, d)) in arm.chunks_exact(2 * m).zip(self.difference.chunks_exact_mut(m)).enumerate() {
            let (passive, active) = row.split_at(m);
            let mut sum = 0.0;
            for ((d, p1), p0) in d.iter_mut().zip(active).zip(passive) {
                *d = p1 - p0;
                sum += *d;
            }
            d[s] -= sum;
        }
        fill_shifted(&mut self.base.factors, arm, g, &mut self.scratch, |_| 1);
        if !self.base.factor() || !self.has_one_average(arm, |_| false) {
            return false;
        }
        for (u, d) in self.tableau.iter_mut().zip(&self.difference) {
            *u = g * d;
        }
        self.base.solve_rows(&mut self.tableau);
        self.collected = 0;
        self.scale = 0.0;
        for (s, row) in self.tableau.chunks_exact(m).enumerate() {
            let size: f64 = row.iter().zip(&self.reward[1]).map(|(k, r)| (k * r).abs()).sum();
            let a = self.gain[s] + dot(row, &self.reward[1]);
            self.alpha[s] = a;
            self.scale = self.scale.max(size).max(a.abs()).max(self.gain[s].abs());
        }
        self.beta.fill(1.0);
        true
    }

    /// Brings column j and row j of U up to date; returns the pivot 1 ± U_jj.
    #[inline(always)]
    pub(super) fn expose(&mut self, j: usize, direction: Direction) -> f64 {
        let (m, q) = (self.states, self.collected);
        let (columns, column) = self.columns.split_at_mut(q * m);
        let (rows, row) = self.rows.split_at_mut(q * m);
        let (column, row) = (&mut column[..m], &mut row[..m]);
        for (c, u) in column.iter_mut().zip(self.tableau.chunks_exact(m)) {
            *c = u[j];
        }
        row.copy_from_slice(&self.tableau[j * m..][..m]);
        add_combination(column, columns, |q| rows[q * m + j]);
        add_combination(row, rows, |q| columns[q * m + j]);
        1.0 + direction * column[j]
    }

    /// Row j of U as last exposed: the adjoint λ of state j.
    #[inline(always)]
    pub(super) fn exposed_row(&self) -> &[f64] {
        &self.rows[self.collected * self.states..][..self.states]
    }

    /// Moves state j, which was just exposed with this pivot, into or out of the passive set.
    #[inline(always)]
    pub(super) fn pivot(&mut self, j: usize, direction: Direction, pivot: f64) {
        let (m, q) = (self.states, self.collected);
        let column = &mut self.columns[q * m..][..m];
        let f = -direction / pivot;
        column.iter_mut().for_each(|c| *c *= f);
        let (alpha_j, beta_j) = (self.alpha[j], self.beta[j]);
        subtract(&mut self.alpha, -alpha_j, column);
        subtract(&mut self.beta, -beta_j, column);
        self.collected += 1;
        if self.collected * m == self.columns.len() {
            self.apply_collected();
        }
    }

    #[inline(always)]
    fn apply_collected(&mut self) {
        let m = self.states;
        if self.collected == 1 {
            for (u, c) in self.tableau.chunks_exact_mut(m).zip(&self.columns) {
                subtract(u, -c, &self.rows);
            }
        } else {
            let left = Block { rows: &self.columns[..self.collected * m], stride: m, columns: 0..m };
            let right = Block { rows: &self.rows[..self.collected * m], stride: m, columns: 0..m };
            self.product.add(1.0, Left::Transposed(left), right, &mut self.tableau, m, 0..m);
        }
        self.collected = 0;
    }

    /// Computes U, α and β anew for a passive set; false where it has no unique average reward.
    #[inline(always)]
    pub(super) fn refactor(&mut self, arm: &[f64], passive: &[bool]) -> bool {
        let (m, g) = (self.states, self.discount);
        fill_shifted(&mut self.fresh.factors, arm, g, &mut self.scratch, |s| usize::from(!passive[s]));
        if !self.fresh.factor() {
            return false;
        }
        for (u, d) in self.tableau.iter_mut().zip(&self.difference) {
            *u = g * d;
        }
        self.fresh.solve_rows(&mut self.tableau);
        self.collected = 0;
        for s in 0..m {
            self.scratch[s] = self.reward[usize::from(!passive[s])][s];
        }
        for (s, row) in self.tableau.chunks_exact(m).enumerate() {
            self.alpha[s] = self.gain[s] + dot(row, &self.scratch);
            let passive_sum: f64 = row.iter().zip(passive).map(|(u, &is)| if is { *u } else { 0.0 }).sum();
            self.beta[s] = 1.0 - passive_sum;
        }
        true
    }

    /// R(s,1) plus what passivity adds to it at this subsidy: the right-hand side of the value equations.
    #[inline(always)]
    pub(super) fn value_right_side(&self, s: usize, subsidy: f64, is_passive: bool) -> f64 {
        let loss = if is_passive { (subsidy * self.beta[s] - self.alpha[s]).max(0.0) } else { 0.0 };
        self.reward[1][s] + loss
    }

    /// Whether the average reward under a passive set does not depend on the start; below γ = 1 that is not asked.
    #[inline(always)]
    pub(super) fn has_one_average(&mut self, arm: &[f64], is_passive: impl Fn(usize) -> bool) -> bool {
        let m = self.states;
        self.discount < 1.0
            || self.classes.is_unichain(|s| &arm[(2 * s + usize::from(!is_passive(s))) * m..][..m])
    }

    /// The largest violation of Adv = Δ − m + γ D h over all states, and the span of the values h.
    #[inline(always)]
    pub(super) fn residual(&mut self, subsidy: f64, passive: &[bool]) -> (f64, f64) {
        for s in 0..self.states {
            let loss = subsidy * self.beta[s] - self.alpha[s];
            self.scratch[s] = self.reward[1][s] + if passive[s] { loss } else { 0.0 };
        }
        self.base.solve_vector(&mut self.scratch);
        let mut worst = 0.0f64;
        for (s, d) in self.difference.chunks_exact(self.states).enumerate() {
            let advantage = self.alpha[s] - subsidy * self.beta[s];
            let recomputed = self.gain[s] - subsidy + self.discount * dot(d, &self.scratch);
            worst = worst.max((recomputed - advantage).abs());
        }
        let (low, high) = self.scratch.iter().fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
        (worst, high - low)
    }

    /// How strongly an error of the equations, per unit of value, moves the index of the state just exposed: Σ|ν|.
    #[inline(always)]
    pub(super) fn amplification(&self, u: usize) -> f64 {
        let adjoint: f64 = self.exposed_row().iter().map(|lambda| lambda.abs()).sum();
        (adjoint + 2.0) / self.beta[u].abs()
    }

    /// Replaces right-hand sides (`[M,c]`) by values up to a constant; `spare` is memory of the same size.
    #[inline(always)]
    pub(super) fn solve_values(&mut self, columns: &mut [f64], spare: &mut [f64]) {
        self.base.solve_columns(columns, spare);
    }
}

/// y += Σ_q weight(q)·vectors[q], four vectors at a time, so that y is read and written a quarter as often.
#[inline(always)]
fn add_combination(y: &mut [f64], vectors: &[f64], weight: impl Fn(usize) -> f64) {
    let m = y.len();
    let fours = vectors.chunks_exact(4 * m);
    let rest = fours.remainder();
    for (q, four) in fours.enumerate() {
        let w: [f64; 4] = std::array::from_fn(|k| weight(4 * q + k));
        let [(a, b), (c, d)] = [four[..2 * m].split_at(m), four[2 * m..].split_at(m)];
        for ((y, (a, b)), (c, d)) in y.iter_mut().zip(a.iter().zip(b)).zip(c.iter().zip(d)) {
            *y = (((*y + w[0] * a) + w[1] * b) + w[2] * c) + w[3] * d;
        }
    }
    let done = (vectors.len() - rest.len()) / m;
    for (q, vector) in rest.chunks_exact(m).enumerate() {
        subtract(y, -weight(done + q), vector);
    }
}

/// Writes I − γP + γ·1·pᵀ, where row s of P is that of action `action(s)` and p is the mean row of P.
#[inline(always)]
fn fill_shifted(out: &mut [f64], arm: &[f64], g: f64, mean: &mut [f64], action: impl Fn(usize) -> usize) {
    let m = mean.len();
    let row = |s: usize| &arm[(2 * s + action(s)) * m..][..m];
    mean.fill(0.0);
    for s in 0..m {
        subtract(mean, -1.0, row(s));
    }
    let weight = g / m as f64;
    for (s, out) in out.chunks_exact_mut(m).enumerate() {
        for ((o, p), mean) in out.iter_mut().zip(row(s)).zip(&*mean) {
            *o = weight * mean - g * p;
        }
        out[s] += 1.0;
    }
}
