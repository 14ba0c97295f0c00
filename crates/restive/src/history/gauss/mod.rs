//! People who differ from their predictions on the scale of log-odds. Two states, seen at every step.
//!
//! # What it is
//! With m the prediction of the chance of state 1 after (s, a), person i has
//!
//! ```text
//! logit P_i(s, a) = o(s, a) + λ logit m_i(s, a) + b (f_i − f̄) + u_is + a v_is        (u₀, u₁, v₀, v₁) ~ N(0, A)
//! ```
//!
//! u is how they differ when left alone, v how a call moves them otherwise than predicted, and A says how much of either there is and
//! what one tells of the others: the record of an uncalled person moves what a call is expected to do by as much as people have
//! shown. f is the [share](super::Past) of their trajectories that begin in state 1: those who are seen engaged are those of
//! high u, which predictions by state contain already, and without b the variance of u comes out much too small.
//! A person is planned for by the posterior mean of P_i (the index of the mean, which did better than the mean of the index).
//!
//! # How it is computed
//! The mode of each posterior by Newton's method (`mode.rs`), then 81 points around it (`nodes.rs`); 2 µs for a person, no allocation.
//! [`fit_gauss`] finds o, λ, b and A on held-out people. A person whose posterior cannot be computed (which takes numbers that are
//! not finite) keeps the prediction.

mod factor;
mod fit;
mod mode;
mod nodes;
mod spread;
mod sums;
#[cfg(test)]
mod tests;

pub(super) use fit::LEAST_T;
pub use fit::{GaussEnd, GaussFit, MOST_ROUNDS, fit_gauss, fit_gauss_with};

use crate::instance::{Layout, Transition};
use crate::interrupt;
use crate::simd::for_cpu;
use factor::{Matrix, inverse_root, square};
use mode::{Seen, mode};
use ndarray::ArrayView4;
use nodes::nodes;
use rayon::prelude::*;

/// Arms that a thread takes at once; part of the arithmetic, because sums over arms are made chunk by chunk.
const CHUNK: usize = 256;
/// Predicted chances are held above this and below one minus it.
const LEAST: f64 = 1e-6;

/// The rule and its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauss {
    /// o(s, a) in the order (0,0), (0,1), (1,0), (1,1)
    pub offset: [f64; 4],
    /// λ
    pub slope: f64,
    /// b
    pub first: f64,
    /// f̄, which stands for people of whom nothing was seen
    pub mean_first: f64,
    /// A: covariance of (u₀, u₁, v₀, v₁), positive definite
    pub covariance: [[f64; 4]; 4],
}

impl Gauss {
    /// Posterior-mean transitions by counts and a prediction, both `[N,2,2,2]`, and f, `[N]`.
    pub fn apply(
        &self,
        counts: ArrayView4<'_, f64>,
        first: &[Option<f64>],
        prediction: ArrayView4<'_, f64>,
    ) -> Transition {
        check_shapes(counts, first, prediction);
        let ready = Ready::new(self);
        let mut p = prediction.as_standard_layout().into_owned();
        if let Some(ready) = ready {
            let counts = counts.as_standard_layout();
            (p.as_slice_mut().expect("row-major").par_chunks_mut(8 * CHUNK))
                .zip(counts.as_slice().expect("row-major").par_chunks(8 * CHUNK))
                .zip(first.par_chunks(CHUNK))
                .for_each(|((p, counts), first)| {
                    interrupt::check();
                    posteriors(&ready, counts, first, p);
                });
        }
        Transition::new(p, Layout::Nsas).expect("chances and their complements")
    }
}

fn check_shapes(counts: ArrayView4<'_, f64>, first: &[Option<f64>], prediction: ArrayView4<'_, f64>) {
    assert_eq!(&counts.shape()[1..], [2, 2, 2], "counts: [N,2,2,2]");
    assert_eq!(counts.shape(), prediction.shape(), "prediction: [N,2,2,2], as the counts");
    assert_eq!(first.len(), counts.shape()[0], "first: [N]");
}

/// A rule with the inverse of its covariance.
pub(super) struct Ready {
    gauss: Gauss,
    precision: Matrix<4>,
}

impl Ready {
    /// None where the covariance is not positive definite or a number not finite.
    pub(super) fn new(gauss: &Gauss) -> Option<Self> {
        let Gauss { offset, slope, first, mean_first, covariance } = gauss;
        let mut numbers = offset.iter().chain([slope, first, mean_first]);
        let precision = inverse_root(covariance).map(|root| square(&root))?;
        numbers.all(|x| x.is_finite()).then_some(Self { gauss: *gauss, precision })
    }

    /// Log-odds without deviations.
    #[inline(always)]
    fn center(&self, seen: &Seen) -> [f64; 4] {
        let Gauss { offset, slope, first, .. } = &self.gauss;
        let mut c = [0.0; 4];
        for r in 0..4 {
            c[r] = offset[r] + slope * seen.logit[r] + first * seen.first;
        }
        c
    }

    /// The posterior mean of the chance of state 1 after each (s, a), by counts and a prediction (`[2,2,2]`) and f.
    pub(super) fn chances(&self, n: &[f64], first: Option<f64>, prediction: &[f64]) -> Option<[f64; 4]> {
        posterior(self, &seen(n, first, prediction, self.gauss.mean_first))
    }
}

/// One person by counts and a prediction, both `[2,2,2]`.
#[inline(always)]
fn seen(n: &[f64], first: Option<f64>, prediction: &[f64], mean_first: f64) -> Seen {
    let mut seen = Seen {
        to_one: [0.0; 4],
        total: [0.0; 4],
        logit: [0.0; 4],
        first: first.map_or(0.0, |f| f - mean_first),
    };
    for r in 0..4 {
        seen.to_one[r] = n[2 * r + 1];
        seen.total[r] = n[2 * r] + n[2 * r + 1];
        seen.logit[r] = (prediction[2 * r + 1].max(LEAST) / prediction[2 * r].max(LEAST)).ln();
    }
    seen
}

for_cpu!(fn posterior(ready: &Ready, seen: &Seen) -> Option<[f64; 4]> = chances_of);

#[inline(always)]
fn chances_of(ready: &Ready, seen: &Seen) -> Option<[f64; 4]> {
    let c = ready.center(seen);
    let mode = mode(seen, &c, &ready.precision)?;
    let chances = nodes(seen, &c, &ready.precision, &mode).chances();
    chances.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)).then_some(chances)
}

for_cpu!(fn posteriors(ready: &Ready, counts: &[f64], first: &[Option<f64>], p: &mut [f64]) = posteriors_loop);

/// Predictions (`[…,2,2,2]`) become posterior means.
#[inline(always)]
fn posteriors_loop(ready: &Ready, counts: &[f64], first: &[Option<f64>], p: &mut [f64]) {
    for ((p, n), f) in p.chunks_exact_mut(8).zip(counts.chunks_exact(8)).zip(first) {
        if let Some(chances) = chances_of(ready, &seen(n, *f, p, ready.gauss.mean_first)) {
            for r in 0..4 {
                p[2 * r + 1] = chances[r].min(1.0);
                p[2 * r] = 1.0 - p[2 * r + 1];
            }
        }
    }
}
