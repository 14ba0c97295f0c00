//! Carrying what a record says of being left alone to what a pull would do. Any number of states, closed form.
//!
//! # What it is
//! Smoothing every row apart ([`smoothed`](crate::evaluation::smoothed)) lets the passive rows of people who were never pulled
//! follow their records while their active rows stay where they were predicted, and the difference between the two is what a
//! pull is thought to be worth. Someone who has been doing better than predicted then seems to gain nothing. With n the counts of a
//! row, m its prediction and κ_a the [strength](crate::evaluation::strength()) of predictions:
//!
//! ```text
//! p₀ = (n₀ + κ₀ m₀)/(|n₀| + κ₀)      m₁′ ∝ m₁ (p₀/m₀)^ρ      p₁ = (n₁ + κ₁ m₁′)/(|n₁| + κ₁)
//! ```
//!
//! For ρ = 1 the record moves both rows alike on the scale of log-odds, where effects live; ρ = 0 is plain smoothing, bit for bit.
//!
//! # How it is computed
//! p₀/m₀ = (n₀/m₀ + κ₀)/(|n₀| + κ₀), and the denominator cancels: m₁′ ∝ m₁ (κ₀ + n₀/m₀)^ρ, which is defined for m₀ = 0 as well
//! (held above 1e-12). A state without passive moves keeps its prediction exactly. O(M) for each row.

use crate::instance::{Layout, Transition};
use crate::interrupt;
use ndarray::{Array4, ArrayView4};
use rayon::prelude::*;

/// The least prediction by which a count is divided.
const LEAST: f64 = 1e-12;
/// Arms that a thread takes at once.
const CHUNK: usize = 1024;

/// The rule and its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carry {
    /// κ for each action, above 0
    pub strength: [f64; 2],
    /// ρ, from 0 to 1: how much of what a record says of passive rows is carried to active ones
    pub rho: f64,
}

impl Carry {
    /// Transitions by counts and a prediction, both `[N,M,2,M]`.
    pub fn apply(&self, counts: ArrayView4<'_, f64>, prediction: ArrayView4<'_, f64>) -> Transition {
        assert_eq!(counts.shape(), prediction.shape(), "prediction: [N,M,2,M], as the counts");
        self.check();
        let m = counts.shape()[3];
        let mut p = Array4::zeros(counts.raw_dim());
        let (counts, prediction) = (counts.as_standard_layout(), prediction.as_standard_layout());
        let size = CHUNK * 2 * m * m;
        (p.as_slice_mut().expect("row-major").par_chunks_mut(size))
            .zip(counts.as_slice().expect("row-major").par_chunks(size))
            .zip(prediction.as_slice().expect("row-major").par_chunks(size))
            .for_each(|((p, n), prediction)| {
                interrupt::check();
                let states = p.chunks_exact_mut(2 * m).zip(n.chunks_exact(2 * m));
                for ((p, n), prediction) in states.zip(prediction.chunks_exact(2 * m)) {
                    self.rows(n, prediction, p);
                }
            });
        Transition::new(p, Layout::Nsas).expect("counts and predictions make rows that sum to 1")
    }

    pub(super) fn check(&self) {
        assert!(self.strength.iter().all(|k| *k > 0.0 && k.is_finite()), "strength: above 0");
        assert!((0.0..=1.0).contains(&self.rho), "rho: from 0 to 1");
    }

    /// Both rows of one state, `[2,M]`, by counts and a prediction of that state.
    #[inline]
    pub(super) fn rows(&self, n: &[f64], prediction: &[f64], p: &mut [f64]) {
        let m = p.len() / 2;
        let ((n0, n1), (m0, m1)) = (n.split_at(m), prediction.split_at(m));
        let (p0, p1) = p.split_at_mut(m);
        p0.copy_from_slice(m0);
        smooth(n0, self.strength[0], p0);
        carried([n0, m0, m1], self.strength[0], self.rho, p1);
        smooth(n1, self.strength[1], p1);
    }
}

/// From the mean of a row to the row itself.
#[inline]
fn smooth(n: &[f64], strength: f64, p: &mut [f64]) {
    let total = n.iter().sum::<f64>() + strength;
    p.iter_mut().zip(n).for_each(|(p, n)| *p = (n + strength * *p) / total);
}

/// m₁′ of one state by n₀, m₀ and m₁.
#[inline]
pub(super) fn carried([n0, m0, m1]: [&[f64]; 3], strength: f64, rho: f64, out: &mut [f64]) {
    out.copy_from_slice(m1);
    if rho == 0.0 || n0.iter().all(|n| *n == 0.0) {
        return;
    }
    let mut sum = 0.0;
    for ((out, n), m) in out.iter_mut().zip(n0).zip(m0) {
        let ratio = strength + n / m.max(LEAST);
        *out *= if rho == 1.0 { ratio } else { ratio.powf(rho) };
        sum += *out;
    }
    out.iter_mut().for_each(|p| *p /= sum);
}
