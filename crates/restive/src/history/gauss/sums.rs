//! What one round of expectation–maximisation needs to know of all people.
//!
//! With p the posterior mean of a person's chances, W = n p (1 − p), D the covariates of the four rows by θ = (o, λ − 1, b) and H
//! minus the Hessian at the mode:
//!
//! ```text
//! E wwᵀ        slope = Σ Dᵀ(n₁ − n p)        information = Σ Dᵀ(W − W X H⁻¹ Xᵀ W)D
//! ```
//!
//! The slope is that of the marginal log-likelihood. Sums are made over chunks of people, in their order: the same bits for every
//! number of threads.

use super::factor::{Matrix, dot};
use super::mode::{Seen, mode, rows};
use super::nodes::nodes;
use super::{CHUNK, Ready};
use crate::interrupt;
use crate::simd::for_cpu;
use rayon::prelude::*;

/// Sums over people.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    /// E wwᵀ
    pub(super) second: Matrix<4>,
    /// by θ, without its prior
    pub(super) information: Matrix<6>,
    /// likewise
    pub(super) slope: [f64; 6],
}

pub(super) fn sums(people: &[Seen], ready: &Ready) -> Sums {
    let chunk = |people: &[Seen]| {
        interrupt::check();
        chunk_sums(people, ready)
    };
    let chunks: Vec<Sums> = people.par_chunks(CHUNK).map(chunk).collect();
    let mut total = Sums { second: [[0.0; 4]; 4], information: [[0.0; 6]; 6], slope: [0.0; 6] };
    for chunk in &chunks {
        for i in 0..4 {
            (0..4).for_each(|j| total.second[i][j] += chunk.second[i][j]);
        }
        for p in 0..6 {
            total.slope[p] += chunk.slope[p];
            (0..6).for_each(|q| total.information[p][q] += chunk.information[p][q]);
        }
    }
    total
}

for_cpu!(fn chunk_sums(people: &[Seen], ready: &Ready) -> Sums = chunk_loop);

#[inline(always)]
fn chunk_loop(people: &[Seen], ready: &Ready) -> Sums {
    let mut sums = Sums { second: [[0.0; 4]; 4], information: [[0.0; 6]; 6], slope: [0.0; 6] };
    for seen in people {
        let c = ready.center(seen);
        let Some(mode) = mode(seen, &c, &ready.precision) else {
            // not a finite number: the round fails
            sums.slope[0] = f64::NAN;
            continue;
        };
        let nodes = nodes(seen, &c, &ready.precision, &mode);
        let second = nodes.second_moment(&mode);
        for i in 0..4 {
            for j in 0..4 {
                sums.second[i][j] += second[i][j];
            }
        }
        let p = nodes.chances();
        // Y = W X L, of which Y·Yᵀ is W X H⁻¹ Xᵀ W
        let mut y = [[0.0; 4]; 4];
        let (mut rest, mut weight) = ([0.0; 4], [0.0; 4]);
        for r in 0..4 {
            rest[r] = seen.to_one[r] - seen.total[r] * p[r];
            weight[r] = seen.total[r] * p[r] * (1.0 - p[r]);
        }
        for k in 0..4 {
            let column = rows(&[mode.root[0][k], mode.root[1][k], mode.root[2][k], mode.root[3][k]]);
            for r in 0..4 {
                y[r][k] = weight[r] * column[r];
            }
        }
        for r in 0..4 {
            let (mut by_logit, mut by_first) = (0.0, 0.0);
            for s in 0..4 {
                let own = if r == s { weight[r] } else { 0.0 };
                let information = own - dot(&y[r], &y[s]);
                sums.information[r][s] += information;
                by_logit += information * seen.logit[s];
                by_first += information * seen.first;
            }
            sums.information[r][4] += by_logit;
            sums.information[4][r] += by_logit;
            sums.information[r][5] += by_first;
            sums.information[5][r] += by_first;
            sums.information[4][4] += seen.logit[r] * by_logit;
            sums.information[4][5] += seen.logit[r] * by_first;
            sums.information[5][4] += seen.logit[r] * by_first;
            sums.information[5][5] += seen.first * by_first;
            sums.slope[r] += rest[r];
            sums.slope[4] += seen.logit[r] * rest[r];
            sums.slope[5] += seen.first * rest[r];
        }
    }
    sums
}
