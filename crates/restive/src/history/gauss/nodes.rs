//! The posterior of one person by 3⁴ Gauss–Hermite points around its mode.
//!
//! The points are w + L x, where every x_k is −√3, 0 or √3 and L·Lᵀ = H⁻¹ is the curvature at the mode; each has the weight of the
//! posterior there, divided by that of the Gaussian that placed it. A Laplace approximation, which takes that Gaussian for the
//! posterior, is not enough: a trial with it found 0.33 for a variance of people of 0.56.
//!
//! L is lower triangular, and w is in the order (u₀, u₁, v₀, v₁). So u₀ has 3 values, u₁ 9, v₀ 27 and v₁ 81, and the four log-odds
//! u₀, u₁, u₀ + v₀, u₁ + v₁ need 120 logistic functions in place of 324; they are computed in one loop that vectorises.
//! Sums go from the last number to the first: 81 weights become 27, 9 and 3.

use super::factor::{Matrix, times};
use super::mode::{Mode, Seen};
use crate::simd::{exp, ln_1p};

const ROOT3: f64 = 1.732_050_807_568_877_2;
const X: [f64; 3] = [-ROOT3, 0.0, ROOT3];
/// ln of the weights 1/6, 2/3, 1/6, and ½x².
const LOG_WEIGHT: [f64; 3] =
    [1.5 - 1.791_759_469_228_055, -0.405_465_108_108_164_4, 1.5 - 1.791_759_469_228_055];
/// Where the values of each row begin: (0,0), (1,0), (0,1), (1,1), in the order of their numbers.
const AT: [usize; 4] = [0, 3, 12, 39];
/// The rows (s, a) in that order.
const ROW: [usize; 4] = [0, 2, 1, 3];

/// The weights of the posterior at the points, summed over the last numbers, and the chances of state 1 there.
pub(super) struct Nodes {
    q: ([f64; 3], [f64; 9], [f64; 27], [f64; 81]),
    /// σ(z) of every row's values
    chance: [f64; 120],
}

/// The points around a mode for log-odds c without deviations.
#[inline(always)]
pub(super) fn nodes(seen: &Seen, c: &[f64; 4], precision: &Matrix<4>, mode: &Mode) -> Nodes {
    let (w, l) = (&mode.w, &mode.root);
    let mut z = [0.0; 120];
    for a in 0..3 {
        let u0 = w[0] + l[0][0] * X[a];
        z[a] = c[0] + u0;
        for b in 0..3 {
            let ab = 3 * a + b;
            let u1 = w[1] + l[1][0] * X[a] + l[1][1] * X[b];
            z[AT[1] + ab] = c[2] + u1;
            let v0 = w[2] + l[2][0] * X[a] + l[2][1] * X[b];
            let v1 = w[3] + l[3][0] * X[a] + l[3][1] * X[b];
            for d in 0..3 {
                let abd = 3 * ab + d;
                z[AT[2] + abd] = c[1] + u0 + v0 + l[2][2] * X[d];
                for e in 0..3 {
                    z[AT[3] + 3 * abd + e] = c[3] + u1 + v1 + l[3][2] * X[d] + l[3][3] * X[e];
                }
            }
        }
    }
    // ln-likelihood of each value, in place of it
    let mut chance = [0.0; 120];
    for k in 0..120 {
        let e = exp(-z[k].abs());
        chance[k] = (if z[k] < 0.0 { e } else { 1.0 }) / (1.0 + e);
    }
    for (row, at) in ROW.into_iter().zip(AT.into_iter().zip([3, 12, 39, 120])) {
        let (to_one, total) = (seen.to_one[row], seen.total[row]);
        if total == 0.0 {
            z[at.0..at.1].fill(0.0);
            continue;
        }
        for z in &mut z[at.0..at.1] {
            *z = to_one * *z - total * (z.max(0.0) + ln_1p(exp(-z.abs())));
        }
    }
    let log_weight = log_weights(&z, precision, mode);
    let mut most = f64::NEG_INFINITY;
    for l in log_weight {
        most = if l > most { l } else { most };
    }
    let mut q = ([0.0; 3], [0.0; 9], [0.0; 27], [0.0; 81]);
    for k in 0..81 {
        q.3[k] = exp(log_weight[k] - most);
    }
    fold(&q.3, &mut q.2);
    fold(&q.2, &mut q.1);
    fold(&q.1, &mut q.0);
    let scale = 1.0 / (q.0[0] + q.0[1] + q.0[2]);
    q.0.iter_mut().for_each(|q| *q *= scale);
    q.1.iter_mut().for_each(|q| *q *= scale);
    q.2.iter_mut().for_each(|q| *q *= scale);
    q.3.iter_mut().for_each(|q| *q *= scale);
    Nodes { q, chance }
}

/// ln of posterior over Gaussian at every point, but for a constant, by the ln-likelihood of every row's values. The prior is
/// −½ wᵀA⁻¹w − x·g − ½ xᵀBx with g = LᵀA⁻¹w and B = LᵀA⁻¹L.
#[inline(always)]
fn log_weights(likelihood: &[f64; 120], precision: &Matrix<4>, mode: &Mode) -> [f64; 81] {
    let l = &mode.root;
    let pulled = times(precision, &mode.w);
    let (mut g, mut al, mut b) = ([0.0; 4], [[0.0; 4]; 4], [[0.0; 4]; 4]);
    for i in 0..4 {
        for k in 0..4 {
            g[k] += l[i][k] * pulled[i];
            for j in 0..4 {
                al[i][j] += precision[i][k] * l[k][j];
            }
        }
    }
    for k in 0..4 {
        for i in k..4 {
            for j in 0..4 {
                b[k][j] += l[i][k] * al[i][j];
            }
        }
    }
    let own = |k: usize, at: usize, slope: f64| LOG_WEIGHT[at] - X[at] * (slope + 0.5 * b[k][k] * X[at]);
    let mut out = [0.0; 81];
    for i in 0..3 {
        let first = likelihood[i] + own(0, i, g[0]);
        for j in 0..3 {
            let ij = 3 * i + j;
            let second = first + likelihood[AT[1] + ij] + own(1, j, g[1] + b[0][1] * X[i]);
            let (slope2, slope3) =
                (g[2] + b[0][2] * X[i] + b[1][2] * X[j], g[3] + b[0][3] * X[i] + b[1][3] * X[j]);
            for k in 0..3 {
                let ijk = 3 * ij + k;
                let third = second + likelihood[AT[2] + ijk] + own(2, k, slope2);
                let slope3 = slope3 + b[2][3] * X[k];
                for h in 0..3 {
                    out[3 * ijk + h] = third + likelihood[AT[3] + 3 * ijk + h] + own(3, h, slope3);
                }
            }
        }
    }
    out
}

/// Sums of three neighbours.
#[inline(always)]
fn fold(all: &[f64], out: &mut [f64]) {
    for k in 0..out.len() {
        out[k] = all[3 * k] + all[3 * k + 1] + all[3 * k + 2];
    }
}

#[inline(always)]
fn mean(q: &[f64], values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for k in 0..q.len() {
        sum += q[k] * values[k];
    }
    sum
}

impl Nodes {
    /// The posterior mean of the chance of state 1 in each row (s, a).
    #[inline(always)]
    pub(super) fn chances(&self) -> [f64; 4] {
        let (q, p) = (&self.q, &self.chance);
        [
            mean(&q.0, &p[..3]),
            mean(&q.2, &p[AT[2]..AT[3]]),
            mean(&q.1, &p[AT[1]..AT[2]]),
            mean(&q.3, &p[AT[3]..]),
        ]
    }

    /// The posterior mean of wwᵀ.
    #[inline(always)]
    pub(super) fn second_moment(&self, mode: &Mode) -> Matrix<4> {
        self.moments(mode).1
    }

    /// The posterior means of w and of wwᵀ.
    #[inline(always)]
    pub(super) fn moments(&self, mode: &Mode) -> ([f64; 4], Matrix<4>) {
        // of x: E x_k and E x_k x_j, from the weights that are summed over all numbers after the k-th, and then towards the first
        let (mut first, mut second) = ([0.0; 4], [[0.0; 4]; 4]);
        let q: [&[f64]; 4] = [&self.q.0, &self.q.1, &self.q.2, &self.q.3];
        for k in 0..4 {
            let mut moved = [0.0; 27];
            let mut left = q[k].len() / 3;
            for (moved, q) in moved.iter_mut().zip(q[k].chunks_exact(3)) {
                *moved = ROOT3 * (q[2] - q[0]);
                second[k][k] += 3.0 * (q[0] + q[2]);
            }
            for j in (0..k).rev() {
                left /= 3;
                for at in 0..left {
                    second[k][j] += ROOT3 * (moved[3 * at + 2] - moved[3 * at]);
                    moved[at] = moved[3 * at] + moved[3 * at + 1] + moved[3 * at + 2];
                }
            }
            first[k] = moved[0];
        }
        let (w, l) = (&mode.w, &mode.root);
        let shift = times(l, &first);
        let mut half = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..=i {
                    half[i][j] += l[i][k] * if k >= j { second[k][j] } else { second[j][k] };
                }
            }
        }
        let mut out = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..=i {
                let mut sum = w[i] * w[j] + w[i] * shift[j] + shift[i] * w[j];
                for k in 0..=j {
                    sum += half[i][k] * l[j][k];
                }
                out[i][j] = sum;
                out[j][i] = sum;
            }
        }
        (std::array::from_fn(|k| w[k] + shift[k]), out)
    }
}
