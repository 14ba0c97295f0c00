//! Transitions of arms that are seen at pulls only, fitted to what their pulls saw.
//!
//! # What it is
//! A log of such arms says how often a pull at a [label](crate::belief) l showed each state x: n(l, x). Each label's shares are
//! an estimate of its belief, but a poor one: most labels are rare, and all beliefs of an arm follow from the same few
//! transitions. So the transitions of each arm are what maximises
//!
//! ```text
//! Σ n(l, x) ln b_P(l)(x)  +  Σ κ_a m(s, a, x) ln P(s, a, x)
//! ```
//!
//! (or a stationary point near the prior, where there are several): the likelihood of its sightings, and a prior that is worth κ_a transitions of each row: a prediction m; or, where there is none,
//! the transitions that suit the sightings of all arms together, worth [`POOLED_STRENGTH`]. Rows of which the log says nothing are
//! then those of the prior.
//!
//! # How it is computed
//! By expectation–maximisation. The moves that the log does not show have an expected number, given the sightings:
//! P ⊙ ∂ ln-likelihood/∂P, one pass along the chains and one back (the pullback of [`beliefs`](crate::belief::beliefs) before it is
//! centred). With the prior's own moves they make the next P. Every such step raises the objective, but slowly; so two steps r and
//! r + v are followed by a leap along P − 2αr + α²v, α = −|r|/|v| (squared extrapolation), which is taken back where it lowers the objective. They end
//! when no probability moves by more than 1e-8 in a step, or after 1,000 leaps. O(M²) for each label up to the longest gap, for each arm and step.
//!
//! # An example
//! ```
//! use ndarray::Array3;
//! use restive::evaluation::fitted;
//! use restive::belief::beliefs;
//!
//! // so many sightings at every label that the truth shows
//! let p = ndarray::array![[[[0.8, 0.2], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]];
//! let seen: Array3<f64> = beliefs(p.view(), 5).belief.view().mapv(|b| 1e6 * b);
//! let found = fitted(seen.view(), None);
//! assert!(found.view().iter().zip(&p).all(|(found, p)| (found - p).abs() < 1e-3));
//! ```

use crate::belief::{backward, forward};
use crate::instance::{Layout, Transition};
use crate::interrupt;
use ndarray::{Array4, ArrayView3, ArrayView4, Axis};
use rayon::prelude::*;

/// How many transitions of each row the transitions that suit all arms are worth, where there is no prediction.
pub const POOLED_STRENGTH: f64 = 0.1;
const MOST_LEAPS: usize = 1000;
const TOLERANCE: f64 = 1e-8;

/// The transitions of arms with the given sightings (`[N,L,M]`, L = M·T), and a prediction (`[N,M,2,M]`) with its strength
/// for each action.
pub fn fitted(seen: ArrayView3<'_, f64>, prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>) -> Transition {
    let (n, labels, m) = seen.dim();
    assert_eq!(labels % m, 0, "seen: [N,M·T,M]");
    let chain = labels / m;
    let is_known =
        |h: &usize| (0..m).any(|s| seen.index_axis(Axis(1), s * chain + h).iter().any(|n| *n > 0.0));
    let kept = (0..chain).rev().find(is_known).map_or(1, |h| h + 1);
    let short = |all: &[f64]| -> Vec<f64> {
        all.chunks_exact(chain * m).flat_map(|chain| &chain[..kept * m]).copied().collect()
    };
    let seen = seen.as_standard_layout();
    let arms: Vec<&[f64]> = seen.as_slice().expect("row-major").chunks_exact(labels * m).collect();
    let mut p = Array4::zeros((n, m, 2, m));
    let rows = p.as_slice_mut().expect("row-major").par_chunks_mut(2 * m * m).zip(&arms).enumerate();
    match prediction {
        Some((prediction, strength)) => {
            assert_eq!(prediction.dim(), (n, m, 2, m), "prediction: [N,M,2,M]");
            let prediction = prediction.as_standard_layout();
            let prior = prediction.as_slice().expect("row-major");
            rows.for_each(|(i, (p, seen))| {
                fit(&short(seen), m, kept, &prior[i * 2 * m * m..][..2 * m * m], strength, p);
            });
        }
        None => {
            let total = seen.sum_axis(Axis(0));
            let pooled = pooled(&short(total.as_slice().expect("row-major")), m, kept);
            rows.for_each(|(_, (p, seen))| {
                fit(&short(seen), m, kept, &pooled, [POOLED_STRENGTH; 2], p);
            });
        }
    }
    Transition::new(p, Layout::Nsas).expect("rows that sum to 1")
}

/// One set of transitions for sightings `[M,T,M]`; what they do not say is that an arm stays where it is, or goes anywhere.
fn pooled(seen: &[f64], m: usize, chain: usize) -> Vec<f64> {
    let uniform = 1.0 / m as f64;
    let stays = |at: usize| 0.5 * (uniform + f64::from(at % m == at / (2 * m)));
    let prior: Vec<f64> = (0..2 * m * m).map(stays).collect();
    let mut p = vec![0.0; 2 * m * m];
    fit(seen, m, chain, &prior, [POOLED_STRENGTH; 2], &mut p);
    p
}

/// The transitions of one arm (`[M,2,M]`) with sightings `[M,T,M]`.
fn fit(seen: &[f64], m: usize, chain: usize, prior: &[f64], strength: [f64; 2], p: &mut [f64]) {
    assert!(strength.iter().all(|k| *k > 0.0 && k.is_finite()), "strength: above 0");
    if seen.iter().all(|n| *n == 0.0) {
        p.copy_from_slice(prior);
        return;
    }
    // a share for every state, so that none is impossible from the start
    p.iter_mut().zip(prior).for_each(|(p, prior)| *p = 0.999 * prior + 0.001 / m as f64);
    let mut arm = Arm {
        seen,
        m,
        chain,
        prior,
        strength,
        b: vec![0.0; seen.len()],
        d_b: vec![0.0; seen.len()],
        d_p: vec![0.0; p.len()],
        scratch: vec![0.0; 2 * m],
    };
    let (mut once, mut twice, mut leap) = (p.to_vec(), p.to_vec(), p.to_vec());
    for _ in 0..MOST_LEAPS {
        interrupt::check();
        once.copy_from_slice(p);
        arm.step(&mut once);
        twice.copy_from_slice(&once);
        let before = arm.step(&mut twice);
        let length = |x: &dyn Fn(usize) -> f64| (0..p.len()).map(|k| x(k) * x(k)).sum::<f64>().sqrt();
        let largest = (0..p.len()).map(|k| (twice[k] - once[k]).abs()).fold(0.0, f64::max);
        if largest < TOLERANCE {
            p.copy_from_slice(&twice);
            return;
        }
        let first = |k: usize| once[k] - p[k];
        let second = |k: usize| twice[k] - once[k] - first(k);
        let stretch = (length(&first) / length(&second)).max(1.0);
        for (k, leap) in leap.iter_mut().enumerate() {
            *leap = (p[k] + 2.0 * stretch * first(k) + stretch * stretch * second(k)).max(1e-12);
        }
        for row in leap.chunks_exact_mut(m) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        // a leap that ends lower than where it began is taken back
        let reached = arm.step(&mut leap);
        p.copy_from_slice(if reached >= before { &leap } else { &twice });
    }
}

/// One arm and what its steps need.
struct Arm<'a> {
    seen: &'a [f64],
    m: usize,
    chain: usize,
    prior: &'a [f64],
    strength: [f64; 2],
    b: Vec<f64>,
    d_b: Vec<f64>,
    d_p: Vec<f64>,
    scratch: Vec<f64>,
}

impl Arm<'_> {
    /// One step of expectation–maximisation; the objective where it began.
    fn step(&mut self, p: &mut [f64]) -> f64 {
        let m = self.m;
        let mut objective = 0.0;
        forward(p, m, self.chain, &mut self.b);
        for ((d, b), n) in self.d_b.iter_mut().zip(&self.b).zip(self.seen) {
            let b = b.max(f64::MIN_POSITIVE);
            *d = if *n > 0.0 { n / b } else { 0.0 };
            objective += if *n > 0.0 { n * b.ln() } else { 0.0 };
        }
        self.d_p.fill(0.0);
        backward(p, m, self.chain, &self.b, &self.d_b, &mut self.d_p, &mut self.scratch);
        let rows = p.chunks_exact_mut(m).zip(self.d_p.chunks_exact(m).zip(self.prior.chunks_exact(m)));
        for (row, (p, (d_p, prior))) in rows.enumerate() {
            let strength = self.strength[row % 2];
            let mut total = 0.0;
            for ((p, d), prior) in p.iter_mut().zip(d_p).zip(prior) {
                let expected = strength * prior;
                objective += if expected > 0.0 { expected * p.max(f64::MIN_POSITIVE).ln() } else { 0.0 };
                *p = d * *p + expected;
                total += *p;
            }
            p.iter_mut().for_each(|p| *p /= total);
        }
        objective
    }
}
