//! The Hessian, exactly: it is an arrow.
//!
//! What belongs to one state (B_s, b_s and its own shift) meets other states only through the common shift c. Ordered by state,
//! with c last, the Hessian is a row of blocks A_s along the diagonal and one border C_s beside them, over a corner E:
//!
//! A_s·x_s + C_s·x_c = g_s, Σ C_sᵀ·x_s + E·x_c = g_c.
//!
//! With A_s = L_s·L_sᵀ and Y_s = L_s⁻¹·C_s the states are eliminated one by one, (E − Σ Y_sᵀ·Y_s)·x_c = g_c − Σ Y_sᵀ·L_s⁻¹·g_s,
//! and found again by L_sᵀ·x_s = L_s⁻¹·g_s − Y_s·x_c. With b = (F + 2)(M − 1) numbers to a state, or 2(F + 1)(M − 1) where it has
//! weights for its own shift, that costs about M·b³ operations, against M³·b³ of a Hessian that does not know its form. The blocks
//! are made of Gram matrices of the features, one for each state, action and pair of next states, with the weights
//! n·(P_k·[k = l] − P_k·P_l).
//!
//! **The diagonal of its inverse**, which evidence asks for: with R·Rᵀ = E − Σ Y_sᵀ·Y_s that of c is R⁻ᵀ·R⁻¹, that of a state
//! L⁻ᵀ·L⁻¹ + UᵀU, U = R⁻¹·Yᵀ·L⁻¹.

use super::layout::Layout;
use super::ridge::Ridge;
use crate::cholesky::Cholesky;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1};
use rayon::prelude::*;
use std::ops::Range;

/// The factors of a Hessian.
pub(super) struct Arrow {
    states: Vec<Eliminated>,
    /// R
    corner: Cholesky,
}

/// A state without what it shares: L, and L⁻¹·C.
struct Eliminated {
    l: Cholesky,
    border: Array2<f64>,
}

/// Gram matrices `[F+1,F+1]` of one state and pair of next states: over both actions, and over pulls alone.
pub(super) struct Grams {
    pub both: Array2<f64>,
    pub active: Array2<f64>,
}

/// How parameters are ordered: of a state (k, g), g a column and behind them a column of its own shift; of c (k, g), g from its
/// first column.
struct Order {
    /// F + 1
    columns: usize,
    /// columns of a state's own shift: all of them, or the intercept
    own: usize,
    /// the first column of the common shift: the intercept, or the one behind it
    first: usize,
}

impl Order {
    fn new(layout: &Layout) -> Self {
        let columns = layout.columns;
        let (own, first) = if layout.is_by_state { (columns, 0) } else { (1, 1) };
        Self { columns, own, first }
    }

    /// Numbers of a state to each log-odds.
    fn block(&self) -> usize {
        self.columns + self.own
    }

    /// Numbers of c to each log-odds.
    fn common(&self) -> usize {
        self.columns - self.first
    }

    /// Where a number of a state lies in the layout of the fit.
    fn place(&self, layout: &Layout, s: usize, at: usize) -> usize {
        let (k, g) = (at / self.block(), at % self.block());
        match g.checked_sub(self.columns) {
            Some(g) => layout.own(g, s, k),
            None => g * layout.width() + s * layout.odds() + k,
        }
    }

    /// And one of c.
    fn common_place(&self, layout: &Layout, at: usize) -> usize {
        let (k, g) = (at / self.common(), at % self.common());
        (g + self.first) * layout.width() + layout.states * layout.odds() + k
    }
}

impl Arrow {
    /// From the Gram matrices by state, and within it by pair k ≥ l; nothing where the Hessian is not positive definite.
    pub(super) fn new(layout: &Layout, ridge: &Ridge, grams: &[Grams]) -> Option<Self> {
        let (m, q) = (layout.states, layout.odds());
        let order = Order::new(layout);
        let (columns, block, common, first) = (order.columns, order.block(), order.common(), order.first);
        let pairs = q * (q + 1) / 2;
        let gram = |s: usize, k: usize, l: usize| {
            let (high, low) = (k.max(l), k.min(l));
            &grams[s * pairs + high * (high + 1) / 2 + low]
        };
        let eliminate = |s: usize| {
            let mut a = Array2::zeros((q * block, q * block));
            let mut border = Array2::zeros((q * block, q * common));
            for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
                let Grams { both, active } = gram(s, k, l);
                for at in 0..block {
                    let row = k * block + at;
                    // a shift is the same column at pulls alone
                    let (g, is_own) = if at < columns { (at, false) } else { (at - columns, true) };
                    let from = if is_own { active.row(g) } else { both.row(g) };
                    (0..columns).for_each(|h| a[[row, l * block + h]] = from[h]);
                    (0..order.own).for_each(|h| a[[row, l * block + columns + h]] = active[[g, h]]);
                    (0..common).for_each(|h| border[[row, l * common + h]] = active[[g, h + first]]);
                    let rho = if is_own { ridge.own(g) } else { ridge.passive(g) };
                    a[[row, l * block + at]] += rho * ridge.form(k, l);
                }
            }
            let l = Cholesky::new(a)?;
            l.forward(border.view_mut());
            Some(Eliminated { l, border })
        };
        let states = (0..m).into_par_iter().map(eliminate).collect::<Option<Vec<Eliminated>>>()?;

        let mut corner = Array2::zeros((q * common, q * common));
        for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
            for g in 0..common {
                let mut row = corner.row_mut(k * common + g);
                for s in 0..m {
                    let active = &gram(s, k, l).active;
                    (0..common).for_each(|h| row[l * common + h] += active[[g + first, h + first]]);
                }
                row[l * common + g] += ridge.common(g + first) * ridge.form(k, l);
            }
        }
        for Eliminated { border, .. } in &states {
            ndarray::linalg::general_mat_mul(-1.0, &border.t(), border, 1.0, &mut corner);
        }
        Some(Self { states, corner: Cholesky::new(corner)? })
    }

    /// x with H·x = `slope`, in the layout of the fit.
    pub(super) fn solve(&self, layout: &Layout, slope: &[f64]) -> Vec<f64> {
        let q = layout.odds();
        let order = Order::new(layout);
        let mut shift: Vec<f64> =
            (0..q * order.common()).map(|at| slope[order.common_place(layout, at)]).collect();
        let mut rights = Vec::new();
        for (s, Eliminated { l, border }) in self.states.iter().enumerate() {
            let mut right: Vec<f64> =
                (0..q * order.block()).map(|at| slope[order.place(layout, s, at)]).collect();
            l.forward_one(&mut right);
            let taken = border.t().dot(&ArrayView1::from(&right));
            shift.iter_mut().zip(&taken).for_each(|(shift, taken)| *shift -= taken);
            rights.push(right);
        }
        self.corner.solve(&mut shift);
        let mut step = vec![0.0; slope.len()];
        for (s, (Eliminated { l, border }, mut right)) in self.states.iter().zip(rights).enumerate() {
            ArrayViewMut1::from(&mut right).scaled_add(-1.0, &border.dot(&ArrayView1::from(&shift)));
            l.backward_one(&mut right);
            right.iter().enumerate().for_each(|(at, x)| step[order.place(layout, s, at)] = *x);
        }
        shift.iter().enumerate().for_each(|(at, x)| step[order.common_place(layout, at)] = *x);
        step
    }

    /// Σ trace(Q·S) over the stretches of the features, S the inverse of the Hessian: of passive weights, of the common shift, and
    /// of the states' own shifts.
    pub(super) fn traces(&self, layout: &Layout, ridge: &Ridge) -> [f64; 3] {
        let q = layout.odds();
        let order = Order::new(layout);
        let (columns, block, common) = (order.columns, order.block(), order.common());
        // the trace of one stretch, whose log-odds lie `stride` apart, from S = Σ VᵀV
        let trace = |roots: &[ArrayView2<'_, f64>], at: usize, stride: usize| -> f64 {
            let cell = |k: usize, l: usize| -> f64 {
                let dot = |v: &ArrayView2<'_, f64>| v.row(k * stride + at).dot(&v.row(l * stride + at));
                ridge.form(k, l) * roots.iter().map(dot).sum::<f64>()
            };
            (0..q).flat_map(|k| (0..q).map(move |l| (k, l))).map(|(k, l)| cell(k, l)).sum()
        };
        let of_state = |Eliminated { l, border }: &Eliminated| {
            let mut inverse = Array2::eye(q * block);
            l.forward(inverse.view_mut());
            let mut beside = border.t().to_owned();
            self.corner.forward(beside.view_mut());
            let beside = beside.dot(&inverse);
            // by rows
            let roots =
                [inverse.t().as_standard_layout().into_owned(), beside.t().as_standard_layout().into_owned()];
            let roots = [roots[0].view(), roots[1].view()];
            let sum = |range: Range<usize>| range.map(|at| trace(&roots, at, block)).sum::<f64>();
            [sum(1..columns), sum(columns + 1..block)]
        };
        let states: Vec<[f64; 2]> = self.states.par_iter().map(of_state).collect();
        let mut inverse = Array2::eye(q * common);
        self.corner.forward(inverse.view_mut());
        let root = inverse.t().as_standard_layout().into_owned();
        let shared = (1 - order.first..common).map(|at| trace(&[root.view()], at, common)).sum();
        let total = |which: usize| states.iter().map(|state| state[which]).sum();
        [total(0), shared, total(1)]
    }
}
