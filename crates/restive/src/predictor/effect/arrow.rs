//! Newton's step, exactly: the Hessian is an arrow.
//!
//! What belongs to one state (B_s, b_s, δ_s) meets other states only through c, which all share. Ordered by state, with c last,
//! the Hessian is a row of blocks A_s along the diagonal and one border C_s beside them, over a corner E:
//!
//! A_s·x_s + C_s·x_c = g_s, Σ C_sᵀ·x_s + E·x_c = g_c.
//!
//! With A_s = L_s·L_sᵀ and Y_s = L_s⁻¹·C_s the states are eliminated one by one, (E − Σ Y_sᵀ·Y_s)·x_c = g_c − Σ Y_sᵀ·L_s⁻¹·g_s,
//! and found again by L_sᵀ·x_s = L_s⁻¹·g_s − Y_s·x_c. With b = (F + 2)(M − 1) numbers to a state that costs about M·b³ operations,
//! against M³·b³ of a Hessian that does not know its form. The blocks are made of Gram matrices of the features, one for each
//! state, action and pair of next states, with the weights n·(P_k·[k = l] − P_k·P_l).

use super::super::cholesky::Cholesky;
use super::problem::{Part, Point, Problem};
use ndarray::{Array2, ArrayView1, ArrayViewMut1};
use rayon::prelude::*;
use std::ops::Range;

/// Groups of parts whose Gram matrices are added up side by side; part of the arithmetic.
const GROUPS: usize = 8;

/// A state without what it shares: L, L⁻¹·C and L⁻¹·g.
struct Eliminated {
    l: Cholesky,
    border: Array2<f64>,
    right: Vec<f64>,
}

/// Gram matrices `[F+1,F+1]` of one state and pair of next states: over both actions, and over pulls alone.
struct Grams {
    both: Array2<f64>,
    active: Array2<f64>,
}

/// x with H·x = `slope`, in the layout of the problem; nothing where H is not positive definite.
pub(super) fn solve(problem: &Problem, point: &Point, slope: &[f64]) -> Option<Vec<f64>> {
    let (m, q, columns) = (problem.states, problem.odds(), problem.columns.len());
    let (f, width, levels) = (columns - 1, problem.width(), problem.levels());
    let ridge = &problem.ridge;
    let grams = all_grams(problem, point);
    let pairs = q * (q + 1) / 2;
    let gram = |s: usize, k: usize, l: usize| {
        let (high, low) = (k.max(l), k.min(l));
        &grams[s * pairs + high * (high + 1) / 2 + low]
    };

    // of a state: (k, g) with g a column, or the level behind them; of c: (k, g) with g a column but the intercept
    let block = columns + 1;
    let eliminate = |s: usize| {
        let mut a = Array2::zeros((q * block, q * block));
        let mut border = Array2::zeros((q * block, q * f));
        for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
            let Grams { both, active } = gram(s, k, l);
            for g in 0..block {
                let (row, is_level) = (k * block + g, g == columns);
                // a level is the intercept of pulls alone
                let from = if is_level { active.row(0) } else { both.row(g) };
                let shift = active.row(if is_level { 0 } else { g });
                (0..columns).for_each(|h| a[[row, l * block + h]] = from[h]);
                a[[row, l * block + columns]] = shift[0];
                (0..f).for_each(|h| border[[row, l * f + h]] = shift[h + 1]);
                let rho = if is_level { ridge.level() } else { ridge.passive(g) };
                a[[row, l * block + g]] += rho * ridge.form(k, l);
            }
        }
        let l = Cholesky::new(a)?;
        l.forward(border.view_mut());
        let place = |at: usize| match (at / block, at % block) {
            (k, g) if g == columns => levels + s * q + k,
            (k, g) => g * width + s * q + k,
        };
        let mut right: Vec<f64> = (0..q * block).map(|at| slope[place(at)]).collect();
        l.forward_one(&mut right);
        Some(Eliminated { l, border, right })
    };
    let states = (0..m).into_par_iter().map(eliminate).collect::<Option<Vec<Eliminated>>>()?;

    let shift_place = |at: usize| (at % f.max(1) + 1) * width + m * q + at / f.max(1);
    let mut shift: Vec<f64> = (0..q * f).map(|at| slope[shift_place(at)]).collect();
    let mut corner = Array2::zeros((q * f, q * f));
    for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
        for g in 0..f {
            let mut row = corner.row_mut(k * f + g);
            (0..m).for_each(|s| (0..f).for_each(|h| row[l * f + h] += gram(s, k, l).active[[g + 1, h + 1]]));
            row[l * f + g] += ridge.shift() * ridge.form(k, l);
        }
    }
    for Eliminated { border, right, .. } in &states {
        ndarray::linalg::general_mat_mul(-1.0, &border.t(), border, 1.0, &mut corner);
        let taken = border.t().dot(&ArrayView1::from(right));
        shift.iter_mut().zip(&taken).for_each(|(shift, taken)| *shift -= taken);
    }
    Cholesky::new(corner)?.solve(&mut shift);

    let mut step = vec![0.0; slope.len()];
    for (s, Eliminated { l, border, mut right }) in states.into_iter().enumerate() {
        ArrayViewMut1::from(&mut right).scaled_add(-1.0, &border.dot(&ArrayView1::from(&shift)));
        l.backward_one(&mut right);
        for (k, x) in right.chunks_exact(block).enumerate() {
            (0..columns).for_each(|g| step[g * width + s * q + k] = x[g]);
            step[levels + s * q + k] = x[columns];
        }
    }
    shift.iter().enumerate().for_each(|(at, x)| step[shift_place(at)] = *x);
    Some(step)
}

/// By state, and within it by pair k ≥ l.
fn all_grams(problem: &Problem, point: &Point) -> Vec<Grams> {
    let (m, q) = (problem.states, problem.odds());
    let parts = problem.parts.len();
    let size = parts.div_ceil(GROUPS).max(1);
    let groups: Vec<Range<usize>> =
        (0..parts).step_by(size).map(|first| first..(first + size).min(parts)).collect();
    let pairs: Vec<(usize, usize, usize)> =
        (0..m).flat_map(|s| (0..q).flat_map(move |k| (0..=k).map(move |l| (s, k, l)))).collect();
    let work: Vec<_> = pairs.iter().flat_map(|pair| groups.iter().map(move |group| (*pair, group))).collect();
    let found: Vec<Grams> =
        work.into_par_iter().map(|(pair, group)| some_grams(problem, point, pair, group.clone())).collect();
    let mut found = found.into_iter();
    let columns = problem.columns.len();
    let zeros = || Array2::zeros((columns, columns));
    pairs
        .iter()
        .map(|_| {
            let mut sum = Grams { both: zeros(), active: zeros() };
            for group in found.by_ref().take(groups.len()) {
                sum.both += &group.both;
                sum.active += &group.active;
            }
            mirror(&mut sum.both);
            mirror(&mut sum.active);
            sum
        })
        .collect()
}

fn some_grams(
    problem: &Problem,
    point: &Point,
    (s, k, l): (usize, usize, usize),
    parts: Range<usize>,
) -> Grams {
    let (m, columns) = (problem.states, problem.columns.len());
    let zeros = || Array2::zeros((columns, columns));
    let mut grams = Grams { both: zeros(), active: zeros() };
    let mut weight = Vec::new();
    for c in parts {
        let (Part { design, totals, .. }, p) = (&problem.parts[c], &point.p[c]);
        for (row, gram) in [(2 * s, &mut grams.both), (2 * s + 1, &mut grams.active)] {
            weight.clear();
            weight.extend((0..design.arms()).map(|i| {
                let (pk, pl) = (p[[i, row * m + k + 1]], p[[i, row * m + l + 1]]);
                totals[[i, row]] * (if k == l { pk - pk * pl } else { -pk * pl })
            }));
            design.add_gram(&(0..columns), &weight, gram);
        }
    }
    grams.both += &grams.active;
    grams
}

/// The lower half becomes the upper one too.
fn mirror(gram: &mut Array2<f64>) {
    for g in 0..gram.nrows() {
        (0..g).for_each(|h| gram[[h, g]] = gram[[g, h]]);
    }
}
