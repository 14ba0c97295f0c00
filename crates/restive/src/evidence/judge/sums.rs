//! The likelihood of everybody with its gradient and its curvature.
//!
//! A person enters it by few numbers: moves of one person from one state, called or not, differ in nothing, and features act
//! through three directions only (β, γ, β₀). So each person has a small gradient (and where it is asked for a small matrix) over
//! (levels, δ, σ, σ₀ and the three directions), and only their sums with x and x·xᵀ are large: products of matrices. By Fisher's
//! identity the gradient of a person, at the weights that his record leaves, is that of the likelihood itself.

use super::Places;
use super::people::People;
use super::person::Person;
use super::two_state::{self, TwoState};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, s};
use rayon::prelude::*;

/// People of a chunk; part of the order of sums.
const CHUNK: usize = 1024;

/// What is summed beside the gradient.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Curvature {
    /// nothing
    None,
    /// minus the second derivative, given the weights of the nodes
    Newton,
    /// the square of each person's gradient
    Scores,
}

/// The log-likelihood, its gradient `[D]` and the curvature `[D,D]` (its lower half) of one person of `every`.
pub(super) fn sums(
    place: Places,
    theta: &Array1<f64>,
    scale: &[f64],
    people: &People,
    every: usize,
    curvature: Curvature,
) -> (f64, Array1<f64>, Array2<f64>) {
    let theta = theta.as_slice().expect("contiguous");
    let n = people.len().div_ceil(every);
    let parts: Vec<_> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|k| {
            let whom = k * CHUNK..((k + 1) * CHUNK).min(n);
            chunk(place, theta, scale, people, whom, every, curvature)
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut all = parts.next().expect("some people");
    for (value, slope, matrix) in parts {
        all.0 += value;
        all.1 += &slope;
        all.2 += &matrix;
    }
    all
}

/// The same of some people: the k-th of them is number k·`every`.
fn chunk(
    place: Places,
    theta: &[f64],
    scale: &[f64],
    people: &People,
    whom: std::ops::Range<usize>,
    every: usize,
    curvature: Curvature,
) -> (f64, Array1<f64>, Array2<f64>) {
    let (head, f, n) = (place.head(), place.features, whom.len());
    let x = people.x.slice(s![whom.start * every..((whom.end - 1) * every + 1); every, ..]);
    let along = [0, 1, 2].map(|which| x.dot(&ndarray::aview1(&theta[place.block(which)])));
    let is_curved = curvature != Curvature::None;
    let size = if is_curved { place.all() } else { 0 };
    let (mut value, mut gradient, mut matrix) =
        (0.0, Array1::zeros(place.all()), Array2::zeros((size, size)));
    // of each person: of the three directions, those with the head, and among themselves (ββ, βγ, γγ, β₀β₀ and the crosses with β₀)
    let mut direction = Array2::zeros((n, 3));
    let curved = if is_curved { n } else { 0 };
    let mut beside = [0, 1, 2].map(|_| Array2::<f64>::zeros((curved, head)));
    let mut among = Array2::zeros((curved, 6));
    let mut person = Person::new(place);
    let is_quick = place.states == 2 && curvature != Curvature::Newton;
    let mut slopes = vec![0.0; if is_quick { n * two_state::SMALL } else { 0 }];
    if is_quick {
        let seen = two_state::Seen {
            moves: people.moves.as_slice().expect("row-major"),
            firsts: people.first.as_slice().expect("row-major"),
            first: whom.start * every,
            every,
            along: along.each_ref().map(|along| along.as_slice().expect("contiguous")),
        };
        value = two_state::slopes(&TwoState::new(place, theta, scale), &seen, &mut slopes);
    }
    for (k, i) in whom.map(|k| k * every).enumerate() {
        if is_quick {
            person.gradient.copy_from_slice(&slopes[k * two_state::SMALL..][..two_state::SMALL]);
        } else {
            let along = along.each_ref().map(|along| along[k]);
            value += person.add_up(theta, scale, people, i, along, curvature == Curvature::Newton);
        }
        for a in 0..head {
            gradient[a] += person.gradient[a];
        }
        for which in 0..3 {
            direction[[k, which]] = person.gradient[head + which];
        }
        if !is_curved {
            continue;
        }
        if curvature == Curvature::Scores {
            person.square();
        }
        for a in 0..head {
            let row = person.matrix.row(a);
            for b in 0..=a {
                matrix[[a, b]] += row[b];
            }
        }
        for which in 0..3 {
            for a in 0..head {
                beside[which][[k, a]] = person.matrix[[head + which, a]];
            }
        }
        for (at, (a, b)) in PAIRS.into_iter().enumerate() {
            among[[k, at]] = person.matrix[[head + a, head + b]];
        }
    }
    let along = x.t().dot(&direction);
    for which in 0..3 {
        let block = place.block(which);
        gradient.slice_mut(s![block.clone()]).assign(&along.column(which));
        if is_curved {
            let mut rows = matrix.slice_mut(s![block, ..head]);
            general_mat_mul(1.0, &x.t(), &beside[which], 0.0, &mut rows);
        }
    }
    if !is_curved {
        return (value, gradient, matrix);
    }
    let mut weighted = Array2::zeros((n, f));
    for (at, (a, b)) in PAIRS.into_iter().enumerate() {
        let weights = among.column(at);
        if weights.iter().all(|w| *w == 0.0) {
            continue;
        }
        ndarray::Zip::from(weighted.rows_mut()).and(x.rows()).and(weights).for_each(|mut row, x, w| {
            row.assign(&x);
            row *= *w;
        });
        let mut square = matrix.slice_mut(s![place.block(a), place.block(b)]);
        general_mat_mul(1.0, &x.t(), &weighted, 0.0, &mut square);
    }
    (value, gradient, matrix)
}

/// The directions that meet: the lower half.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];
