//! The softmax over the next state, row by row of M logits, in place.
//!
//! P = exp(z − max z)/Σ, and back: d_z = P·(d_P − Σ P·d_P). Logits more than 700 below the largest count as 700 below, so
//! that every probability stays above 1e-305, and its logarithm and reciprocal stay finite.

use crate::simd::exp;

pub(super) fn softmax(logits: &mut [f64], m: usize) {
    for row in logits.chunks_exact_mut(m) {
        let top = row.iter().fold(f64::NEG_INFINITY, |a, &z| if z > a || z.is_nan() { z } else { a });
        let mut sum = 0.0;
        for z in row.iter_mut() {
            // not `max`, which would make a number of a NaN
            let below = *z - top;
            *z = if below < -700.0 {
                exp(-700.0)
            } else if below.is_nan() {
                f64::NAN
            } else {
                exp(below)
            };
            sum += *z;
        }
        let scale = 1.0 / sum;
        row.iter_mut().for_each(|p| *p *= scale);
    }
}

/// d_P becomes d_z, in place.
pub(super) fn pull_back(p: &[f64], d: &mut [f64], m: usize) {
    for (p, d) in p.chunks_exact(m).zip(d.chunks_exact_mut(m)) {
        let mean: f64 = p.iter().zip(&*d).map(|(p, d)| p * d).sum();
        p.iter().zip(d).for_each(|(p, d)| *d = p * (*d - mean));
    }
}
