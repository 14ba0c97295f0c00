//! The numbers of [`Carry`], from people that the predictor has not been trained on.
//!
//! κ₀ is that of [`fit_strength`] for passive rows. ρ and κ₁ are then chosen together, on {0, ⅛, …, 1} and the
//! [`GRID`]: if every active row is drawn from a Dirichlet distribution with mean m₁′(ρ) and
//! concentration κ₁, the active counts of held-out people have a [likelihood](crate::evaluation::log_likelihood), and
//!
//! ```text
//! ln-likelihood + weak prior of κ₁ − 2 (1 − ρ)²
//! ```
//!
//! is largest at the choice. Without the last term, which prefers records that move both rows alike, few calls decide little and
//! often wrongly. Of equals the largest ρ, then the largest κ, is taken: where nobody is called twice nothing speaks of κ₁, and
//! a small one would trust single calls. A model of effects is of the form ρ = 1, which its caller says.

use super::Carry;
use super::carry::carried;
use crate::evaluation::{GRID, Strength, fit_strength, log_likelihood, log_prior};
use ndarray::{Array4, ArrayView4, Axis};
use rayon::prelude::*;

/// Steps from ρ = 0 to ρ = 1.
const RHO_STEPS: usize = 8;

/// A [`Carry`], and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarryFit {
    /// the rule
    pub carry: Carry,
    /// κ for each action, and how many held-out transitions speak of it
    pub strength: [Strength; 2],
}

/// The values of ρ that are tried: all, or the known one.
pub(super) fn rhos(known: Option<f64>) -> Vec<f64> {
    known.map_or_else(|| (0..=RHO_STEPS).map(|k| k as f64 / RHO_STEPS as f64).collect(), |rho| vec![rho])
}

/// What the log-likelihood of a ρ is lowered by.
pub(super) fn penalty(rho: f64) -> f64 {
    2.0 * (1.0 - rho) * (1.0 - rho)
}

/// The rule that suits held-out counts and predictions (`[N,M,2,M]`); with ρ chosen, or known.
pub fn fit_carry(counts: ArrayView4<'_, f64>, prediction: ArrayView4<'_, f64>, rho: Option<f64>) -> CarryFit {
    let [passive, active] = fit_strength(&[(counts, prediction)]);
    let called = Called::new(counts, prediction);
    let score = |rho: f64| {
        let mean = called.carried(passive.value, rho);
        GRID.map(|strength| {
            let likelihood = log_likelihood(called.n1.view(), mean.view(), 0, strength);
            (likelihood + log_prior(strength) - penalty(rho), rho, strength)
        })
    };
    let tried: Vec<_> = rhos(rho).into_par_iter().map(score).collect();
    let better = |best: (f64, f64, f64), next: &(f64, f64, f64)| if next.0 >= best.0 { *next } else { best };
    let (_, rho, value) = tried.iter().flatten().fold((f64::NEG_INFINITY, 1.0, active.value), better);
    let is_at_edge = value == GRID[0] || value == GRID[GRID.len() - 1];
    let strength = [passive, Strength { value, is_at_edge, ..active }];
    CarryFit { carry: Carry { strength: strength.map(|strength| strength.value), rho }, strength }
}

/// The states in which somebody was called, R of them: both rows of counts and predictions.
struct Called {
    n0: Vec<f64>,
    m0: Vec<f64>,
    m1: Vec<f64>,
    /// `[R,1,1,M]`
    n1: Array4<f64>,
}

impl Called {
    fn new(counts: ArrayView4<'_, f64>, prediction: ArrayView4<'_, f64>) -> Self {
        let m = counts.shape()[3];
        let [mut n0, mut n1, mut m0, mut m1] = [const { Vec::new() }; 4];
        let [passive, active] = [0, 1].map(|a| counts.index_axis_move(Axis(2), a));
        let [mean0, mean1] = [0, 1].map(|a| prediction.index_axis_move(Axis(2), a));
        let rows = passive.rows().into_iter().zip(active.rows());
        let means = mean0.rows().into_iter().zip(mean1.rows());
        for ((row0, row1), (mean0, mean1)) in rows.zip(means) {
            if row1.sum() > 0.0 {
                n0.extend(row0);
                n1.extend(row1);
                m0.extend(mean0);
                m1.extend(mean1);
            }
        }
        let n1 = Array4::from_shape_vec((n1.len() / m, 1, 1, m), n1).expect("rows of M");
        Self { n0, m0, m1, n1 }
    }

    /// m₁′ of all of them, `[R,1,1,M]`.
    fn carried(&self, strength: f64, rho: f64) -> Array4<f64> {
        let m = self.n1.shape()[3];
        let mut mean = Array4::zeros(self.n1.raw_dim());
        let out = mean.as_slice_mut().expect("row-major").chunks_exact_mut(m);
        let passive = self.n0.chunks_exact(m).zip(self.m0.chunks_exact(m));
        for ((out, (n0, m0)), m1) in out.zip(passive).zip(self.m1.chunks_exact(m)) {
            carried([n0, m0, m1], strength, rho, out);
        }
        mean
    }
}
