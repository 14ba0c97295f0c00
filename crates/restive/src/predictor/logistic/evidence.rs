//! Penalties by evidence: how firmly weights are held is read off the data (MacKay, 1992).
//!
//! The weights w of a group (passive, of the common shift, of the states' own shifts) are normal with precision λ. The evidence for
//! λ, the likelihood with w integrated out by Laplace's method, is largest where λ·wᵀQw is the number of parameters that the data
//! decide, γ = parameters − λ·trace(Q·H⁻¹). With a gamma prior of some strength around a centre that is the update
//!
//! ```text
//! λ ← (γ + strength)/(wᵀQw + strength/centre)
//! ```
//!
//! and rounds of fitting and updating go on until no λ moves by more than 2 %, 25 at most. Centres: 10 for passive weights, 50 for
//! the common shift, 3,000 for the states' own; without much data the model is nearly the effect model.
//!
//! **The trace.** Exactly, from the [factors](super::arrow) of the Hessian. Where these would take too long, column by column, as if features did
//! not overlap: exact for the categories of one feature but for the intercept, and it holds weights a little less firmly
//! otherwise.

use super::super::chunks::{in_order, sum};
use super::arrow::Arrow;
use super::cost::{Road, Size};
use super::grams::all_grams;
use super::layout::Layout;
use super::problem::{Part, Point, Problem};
use super::ridge::Ridge;
use crate::cholesky::Cholesky;
use ndarray::Array2;
use rayon::prelude::*;

/// Where penalties begin, in the order passive, common, by state; and how many parameters that belief is worth.
pub(super) const CENTRES: [f64; 3] = [10.0, 50.0, 3000.0];
const STRENGTHS: [f64; 3] = [1.0, 4.0, 2.0];
/// Penalties stay within.
const RANGE: [f64; 2] = [1e-3, 1e5];
/// Rounds, at most and as they usually are.
pub(super) const MOST_ROUNDS: usize = 25;
pub(super) const USUAL_ROUNDS: f64 = 8.0;
/// Change of a logarithm that counts as none.
const STEADY: f64 = 0.02;
/// Operations of a round for which an exact trace is worth waiting.
const DEAR: f64 = 2e10;

/// Whether a round changed nothing.
pub(super) fn is_steady(before: [f64; 3], after: [f64; 3]) -> bool {
    before.iter().zip(after).all(|(before, after)| (after / before).ln().abs() < STEADY)
}

/// The penalties that the evidence asks for at parameters that were fitted with those of the ridge, where the inverse of the Hessian
/// has these traces.
pub(super) fn penalties(layout: &Layout, ridge: &Ridge, params: &[f64], traces: [f64; 3]) -> [f64; 3] {
    let (m, q, f) = (layout.states, layout.odds(), layout.columns - 1);
    let stretches = [m * f, f, m * f];
    let now = [ridge.passive(1), ridge.common(1), ridge.own(1)];
    let sizes = sizes(layout, ridge, params);
    std::array::from_fn(|group| {
        let (strength, centre) = (STRENGTHS[group], CENTRES[group]);
        let decided = (stretches[group] * q) as f64 - now[group] * traces[group];
        ((decided + strength) / (sizes[group] + strength / centre)).clamp(RANGE[0], RANGE[1])
    })
}

/// The traces at a point; nothing where the Hessian is not positive definite.
pub(super) fn traces(problem: &Problem, point: &Point, road: Road) -> Option<[f64; 3]> {
    let is_dear = Size::of_problem(problem).exact() > DEAR;
    match road {
        Road::Exact if !is_dear => Some(exact(problem, point)?.traces(&problem.layout, &problem.ridge)),
        _ => by_column(problem, point),
    }
}

/// The factors of the Hessian at a point.
pub(super) fn exact(problem: &Problem, point: &Point) -> Option<Arrow> {
    Arrow::new(&problem.layout, &problem.ridge, &all_grams(problem, point))
}

/// wᵀQw of each group, over the features.
fn sizes(layout: &Layout, ridge: &Ridge, params: &[f64]) -> [f64; 3] {
    let (m, q, width) = (layout.states, layout.odds(), layout.width());
    let mut sizes = [0.0; 3];
    for row in params[..layout.levels()].chunks_exact(width.max(1)).skip(1) {
        for (at, stretch) in row.chunks_exact(q.max(1)).enumerate() {
            let group = match at {
                at if at < m => 0,
                at if at == m => 1,
                _ => 2,
            };
            sizes[group] += ridge.size(stretch);
        }
    }
    sizes
}

/// The traces as if no two columns overlapped: for each column the curvature of its own 2M + 1 stretches, inverted.
fn by_column(problem: &Problem, point: &Point) -> Option<[f64; 3]> {
    let (m, q, columns) = (problem.layout.states, problem.layout.odds(), problem.columns.len());
    let pairs = q * (q + 1) / 2;
    // [2M, pairs, F+1]
    let squares = in_order(problem.parts.iter().collect(), |c, part: &Part| {
        let p = &point.p[c];
        let mut squares = vec![0.0; 2 * m * pairs * columns];
        let mut weight = vec![0.0; part.design.arms()];
        let cells = (0..2 * m).flat_map(|row| (0..q).flat_map(move |k| (0..=k).map(move |l| (row, k, l))));
        for ((row, k, l), out) in cells.zip(squares.chunks_exact_mut(columns)) {
            for (i, weight) in weight.iter_mut().enumerate() {
                let (pk, pl) = (p[[i, row * m + k + 1]], p[[i, row * m + l + 1]]);
                *weight = part.totals[[i, row]] * (if k == l { pk - pk * pl } else { -pk * pl });
            }
            part.design.add_squares(&weight, out);
        }
        squares
    });
    let squares = sum(squares, 2 * m * pairs * columns);
    let square = |row: usize, k: usize, l: usize, g: usize| {
        let (high, low) = (k.max(l), k.min(l));
        squares[(row * pairs + high * (high + 1) / 2 + low) * columns + g]
    };
    let ridge = &problem.ridge;
    let one = |g: usize| {
        let mut h = Array2::<f64>::zeros(((2 * m + 1) * q, (2 * m + 1) * q));
        for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
            let form = ridge.form(k, l);
            for s in 0..m {
                let (passive, active) = (square(2 * s, k, l, g), square(2 * s + 1, k, l, g));
                h[[s * q + k, s * q + l]] = passive + active + ridge.passive(g) * form;
                let (own, common) = ((m + 1 + s) * q, m * q);
                h[[own + k, own + l]] = active + ridge.own(g) * form;
                h[[common + k, common + l]] += active;
                for (from, to) in [(s * q, own), (s * q, common), (own, common)] {
                    h[[from + k, to + l]] = active;
                    h[[to + k, from + l]] = active;
                }
            }
            h[[m * q + k, m * q + l]] += ridge.common(g) * form;
        }
        let mut root = Array2::eye(h.nrows());
        Cholesky::new(h)?.forward(root.view_mut());
        let mut traces = [0.0; 3];
        for at in 0..2 * m + 1 {
            let group = match at {
                at if at < m => 0,
                at if at == m => 1,
                _ => 2,
            };
            for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
                traces[group] += ridge.form(k, l) * root.column(at * q + k).dot(&root.column(at * q + l));
            }
        }
        Some(traces)
    };
    let all = (1..columns).into_par_iter().map(one).collect::<Option<Vec<[f64; 3]>>>()?;
    Some(all.iter().fold([0.0; 3], |sum, one| std::array::from_fn(|k| sum[k] + one[k])))
}

#[cfg(test)]
mod tests {
    use super::super::Held;
    use super::*;
    use crate::random::stream;
    use ndarray::Array4;
    use rand::RngExt;

    /// Entry by entry: the Hessian by differences of the gradient, its inverse by Gauss and Jordan.
    fn textbook(problem: &Problem, point: &Point) -> [f64; 3] {
        let n = point.params.len();
        let column = |j: usize| {
            let moved = |by: f64| {
                let mut params = point.params.clone();
                params[j] += by;
                problem.gradient(&problem.at(params))
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            up.iter().zip(&down).map(|(up, down)| (up - down) / 2e-5).collect::<Vec<f64>>()
        };
        let mut rows: Vec<Vec<f64>> = (0..n).map(column).collect();
        rows.iter_mut().enumerate().for_each(|(j, row)| row.extend((0..n).map(|k| f64::from(j == k))));
        for j in 0..n {
            let pivot = (j..n).max_by(|a, b| rows[*a][j].abs().total_cmp(&rows[*b][j].abs())).unwrap();
            rows.swap(j, pivot);
            let scale = rows[j][j];
            rows[j].iter_mut().for_each(|x| *x /= scale);
            let own = rows[j].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != j) {
                let share = row[j];
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= share * y);
            }
        }
        let (m, q, width) = (problem.layout.states, problem.layout.odds(), problem.layout.width());
        let mut traces = [0.0; 3];
        for (g, at) in (1..problem.columns.len()).flat_map(|g| (0..2 * m + 1).map(move |at| (g, at))) {
            let group = if at < m { 0 } else { 1 + usize::from(at > m) };
            for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
                let place = |k: usize| g * width + at * q + k;
                traces[group] += problem.ridge.form(k, l) * rows[place(k)][n + place(l)];
            }
        }
        traces
    }

    fn problem(m: usize, x: &Array2<f64>) -> (Problem, Point) {
        let mut random = stream(m as u64, &[7]);
        let counts = Array4::from_shape_fn((x.nrows(), m, 2, m), |_| f64::from(random.random_range(0..3u8)));
        let problem = Problem::new((x.view(), counts.view()), Held::Hierarchical([2.0, 9.0, 60.0]));
        let params = (0..problem.layout.len()).map(|_| random.random::<f64>() - 0.5).collect();
        let point = problem.at(params);
        (problem, point)
    }

    #[test]
    fn traces_are_those_of_an_inverse_hessian() {
        for m in [2, 3, 4] {
            let mut random = stream(m as u64, &[8]);
            let x = Array2::from_shape_simple_fn((40, 3), || 2.0 * random.random::<f64>() - 1.0);
            let (problem, point) = problem(m, &x);
            let found = exact(&problem, &point).unwrap().traces(&problem.layout, &problem.ridge);
            let expected = textbook(&problem, &point);
            // differences of the gradient leave about 1e-9 of the Hessian
            found.iter().zip(expected).for_each(|(a, b)| assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}"));
        }
    }

    #[test]
    fn traces_by_column_are_near_for_categories_and_never_above() {
        for (m, categories) in [(2, 30), (3, 12)] {
            let x = Array2::from_shape_fn((300, categories), |(i, g)| f64::from(i * i % categories == g));
            let (problem, point) = problem(m, &x);
            let whole = exact(&problem, &point).unwrap().traces(&problem.layout, &problem.ridge);
            let near = by_column(&problem, &point).unwrap();
            // an inverse of a part is never above that part of the inverse
            whole.iter().zip(near).for_each(|(a, b)| assert!(b <= a * 1.000001 && b > 0.75 * a, "{a} {b}"));
        }
    }
}
