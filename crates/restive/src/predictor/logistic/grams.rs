//! The Gram matrices of all arms, of which the [Hessian](super::arrow) is made: one for each state and pair of log-odds, with the weights
//! n·(P_k·[k = l] − P_k·P_l). Parts are added up in groups side by side, and these in order.

use super::arrow::Grams;
use super::problem::{Part, Point, Problem};
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// Groups of parts whose Gram matrices are added up side by side; part of the arithmetic.
const GROUPS: usize = 8;

/// By state, and within it by pair k ≥ l.
pub(super) fn all_grams(problem: &Problem, point: &Point) -> Vec<Grams> {
    let (m, q) = (problem.layout.states, problem.layout.odds());
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
    let (m, columns) = (problem.layout.states, problem.columns.len());
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
