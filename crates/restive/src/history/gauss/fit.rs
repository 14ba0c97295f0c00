//! The numbers of [`Gauss`], from people that the predictor has not been trained on.
//!
//! By expectation–maximisation. In each round the posterior of every held-out person with a record is computed as if the numbers
//! were right; then A becomes the mean of E wwᵀ, with a prior that is worth two people, and θ = (o, λ − 1, b) makes one
//! step of penalised scoring on the marginal likelihood,
//!
//! ```text
//! θ ← θ + (information + Π)⁻¹ (slope − Πθ)
//! ```
//!
//! where Π is the precision of the prior: a state's offset has the standard deviation 1,
//! the difference between its two actions ¼, λ − 1 ¼ and b 1. Rounds end when A moves by less than 5 in 10,000, or after
//! [`MOST_ROUNDS`]. Where |b| is less than 2.5 of its standard errors, first states tell nothing, and the fit is made again without b.

use super::factor::{Matrix, dot, inverse_root, solve, square};
use super::mode::Seen;
use super::sums::sums;
use super::{Gauss, Ready, check_shapes, seen};
use ndarray::ArrayView4;

/// A before anything is seen: (u₀, u₁) and (v₀, v₁).
const PRIOR_COVARIANCE: Matrix<4> =
    [[0.3725, 0.25, 0.0, 0.0], [0.25, 0.3725, 0.0, 0.0], [0.0, 0.0, 0.3125, 0.25], [0.0, 0.0, 0.25, 0.3125]];
/// How many people it is worth.
const PRIOR_ARMS: f64 = 2.0;
/// Π
const PRIOR_PRECISION: Matrix<6> = [
    [17.0, -16.0, 0.0, 0.0, 0.0, 0.0],
    [-16.0, 16.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 17.0, -16.0, 0.0, 0.0],
    [0.0, 0.0, -16.0, 16.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 16.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
];
/// The most rounds of a fit, unless its caller says otherwise.
pub const MOST_ROUNDS: usize = 150;
const LEAST_ROUNDS: usize = 7;
const TOLERANCE: f64 = 5e-4;
/// The least |b| in standard errors that is believed.
pub(crate) const LEAST_T: f64 = 2.5;

/// A [`Gauss`], and how it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussFit {
    /// the rule; that of the prior where nobody was seen
    pub gauss: Gauss,
    /// b in its standard errors, when it was last free
    pub t: f64,
    /// rounds of expectation–maximisation, of the last fit
    pub rounds: usize,
    /// how they ended
    pub end: GaussEnd,
    /// people with a record
    pub arms: usize,
}

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaussEnd {
    /// nothing moves any more
    Settled,
    /// at the most rounds that were allowed: usable, and not quite settled
    Rounds,
    /// at a number that is not finite; the rule is the last one before
    Failed,
    /// nobody has a record
    Nobody,
}

/// The rule that suits held-out counts and predictions (`[N,2,2,2]`) and f (`[N]`); without b, where b is not sure.
pub fn fit_gauss(
    counts: ArrayView4<'_, f64>,
    first: &[Option<f64>],
    prediction: ArrayView4<'_, f64>,
    rounds: usize,
) -> GaussFit {
    let with = fit_gauss_with(counts, first, prediction, true, rounds);
    if with.t.abs() >= LEAST_T {
        return with;
    }
    GaussFit { t: with.t, ..fit_gauss_with(counts, first, prediction, false, rounds) }
}

/// The same with b, however unsure, or without.
pub fn fit_gauss_with(
    counts: ArrayView4<'_, f64>,
    first: &[Option<f64>],
    prediction: ArrayView4<'_, f64>,
    is_first_used: bool,
    rounds: usize,
) -> GaussFit {
    check_shapes(counts, first, prediction);
    let (people, mean_first) = people(counts, first, prediction);
    let mut theta = [0.0; 6];
    let mut fit = GaussFit {
        gauss: gauss(&theta, PRIOR_COVARIANCE, mean_first),
        t: 0.0,
        rounds: 0,
        end: if people.is_empty() { GaussEnd::Nobody } else { GaussEnd::Rounds },
        arms: people.len(),
    };
    while !people.is_empty() && fit.rounds < rounds {
        let Some(round) = round(&people, &fit.gauss, &theta, is_first_used) else {
            fit.end = GaussEnd::Failed;
            break;
        };
        fit.rounds += 1;
        theta = round.theta;
        fit.t = round.t;
        let change =
            largest(&round.covariance, &fit.gauss.covariance) / largest(&round.covariance, &[[0.0; 4]; 4]);
        fit.gauss = gauss(&theta, round.covariance, mean_first);
        if change < TOLERANCE && fit.rounds >= LEAST_ROUNDS {
            fit.end = GaussEnd::Settled;
            break;
        }
    }
    fit
}

fn gauss(theta: &[f64; 6], covariance: Matrix<4>, mean_first: f64) -> Gauss {
    let [o00, o01, o10, o11, slope, first] = *theta;
    Gauss { offset: [o00, o01, o10, o11], slope: 1.0 + slope, first, mean_first, covariance }
}

/// Those with a record, and f̄ over them.
fn people(
    counts: ArrayView4<'_, f64>,
    first: &[Option<f64>],
    prediction: ArrayView4<'_, f64>,
) -> (Vec<Seen>, f64) {
    let (counts, prediction) = (counts.as_standard_layout(), prediction.as_standard_layout());
    let (n, m) = (counts.as_slice().expect("row-major"), prediction.as_slice().expect("row-major"));
    let arms = n.chunks_exact(8).zip(m.chunks_exact(8)).zip(first);
    let with_record: Vec<_> = arms.filter(|((n, _), _)| n.iter().any(|n| *n > 0.0)).collect();
    let (known, sum) = (with_record.iter().filter_map(|(_, f)| **f))
        .fold((0.0, 0.0), |(known, sum), f| (known + 1.0, sum + f));
    let mean_first = if known > 0.0 { sum / known } else { 0.5 };
    let people = with_record.into_iter().map(|((n, m), f)| seen(n, *f, m, mean_first)).collect();
    (people, mean_first)
}

fn largest(a: &Matrix<4>, b: &Matrix<4>) -> f64 {
    let gaps = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs());
    gaps.fold(0.0, f64::max)
}

/// What comes of a round.
struct Round {
    theta: [f64; 6],
    covariance: Matrix<4>,
    t: f64,
}

fn round(people: &[Seen], gauss: &Gauss, theta: &[f64; 6], is_first_used: bool) -> Option<Round> {
    let sums = sums(people, &Ready::new(gauss)?);
    let arms = PRIOR_ARMS + people.len() as f64;
    let covariance: Matrix<4> = std::array::from_fn(|i| {
        std::array::from_fn(|j| (PRIOR_ARMS * PRIOR_COVARIANCE[i][j] + sums.second[i][j]) / arms)
    });
    let mut information = sums.information;
    let mut slope = sums.slope;
    for p in 0..6 {
        slope[p] -= dot(&PRIOR_PRECISION[p], theta);
        (0..6).for_each(|q| information[p][q] += PRIOR_PRECISION[p][q]);
    }
    let root = inverse_root(&information)?;
    let variance = square(&root)[5][5];
    let step = if is_first_used {
        solve(&root, &slope)
    } else {
        // b stays where it is: its row and column leave the system
        (0..6).for_each(|p| (information[p][5], information[5][p]) = (0.0, 0.0));
        (information[5][5], slope[5]) = (1.0, 0.0);
        solve(&inverse_root(&information)?, &slope)
    };
    let theta: [f64; 6] = std::array::from_fn(|p| theta[p] + step[p]);
    let is_finite = theta.iter().chain(covariance.iter().flatten()).all(|x| x.is_finite());
    is_finite.then(|| Round { theta, covariance, t: theta[5] / variance.sqrt() })
}
