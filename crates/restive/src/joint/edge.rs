//! One edge of the tree: the expectation over one arm's next state.
//!
//! It takes the *first* digit of the vector out and puts the new one *last*,
//!
//! ```text
//! w[r·M + s] = Σ_s′ P(s, s′) u[s′·L + r]      L = M^(N−1)
//! ```
//!
//! so that all arms are the same loop over long rows, and after N edges the digits stand as they began.
//!
//! **Its pullback.** d_u[s′·L + r] += Σ_s P(s, s′) d_w[r·M + s] and d_P(s, s′) += Σ_r d_w[r·M + s] u[s′·L + r]. Sums are in a fixed
//! order.

use crate::simd::for_cpu;

for_cpu!(pub(super) fn contract(p: &[f64], u: &[f64], w: &mut [f64], m: usize) = contract_loop);
for_cpu!(pub(super) fn spread(p: &[f64], d_w: &[f64], d_u: &mut [f64], m: usize) = spread_loop);
for_cpu!(pub(super) fn correlate(d_w: &[f64], u: &[f64], d: &mut [f64], m: usize) = correlate_loop);

/// w[r·M + s] = Σ_s′ P(s, s′) u[s′·L + r]
#[inline(always)]
fn contract_loop(p: &[f64], u: &[f64], w: &mut [f64], m: usize) {
    let l = u.len() / m;
    if let [p00, p01, p10, p11] = *p {
        let (u0, u1) = u.split_at(l);
        for ((w, u0), u1) in w.chunks_exact_mut(2).zip(u0).zip(u1) {
            w[0] = p00 * u0 + p01 * u1;
            w[1] = p10 * u0 + p11 * u1;
        }
        return;
    }
    for (r, w) in w.chunks_exact_mut(m).enumerate() {
        for (w, p) in w.iter_mut().zip(p.chunks_exact(m)) {
            *w = p.iter().enumerate().map(|(next, p)| p * u[next * l + r]).sum();
        }
    }
}

/// d_u[s′·L + r] += Σ_s P(s, s′) d_w[r·M + s]
#[inline(always)]
fn spread_loop(p: &[f64], d_w: &[f64], d_u: &mut [f64], m: usize) {
    let l = d_u.len() / m;
    if let [p00, p01, p10, p11] = *p {
        let (u0, u1) = d_u.split_at_mut(l);
        for ((w, u0), u1) in d_w.chunks_exact(2).zip(u0).zip(u1) {
            *u0 += p00 * w[0] + p10 * w[1];
            *u1 += p01 * w[0] + p11 * w[1];
        }
        return;
    }
    for (next, d_u) in d_u.chunks_exact_mut(l).enumerate() {
        for (d_u, w) in d_u.iter_mut().zip(d_w.chunks_exact(m)) {
            *d_u += w.iter().enumerate().map(|(s, w)| p[s * m + next] * w).sum::<f64>();
        }
    }
}

/// d_P(s, s′) += Σ_r d_w[r·M + s] u[s′·L + r]
#[inline(always)]
fn correlate_loop(d_w: &[f64], u: &[f64], d: &mut [f64], m: usize) {
    let l = u.len() / m;
    // four or eight running sums, so that they need not wait for each other
    if let [d00, d01, d10, d11] = d {
        let (u0, u1) = u.split_at(l);
        let mut sums = [[0.0; 4]; 4];
        for ((w, u0), u1) in d_w.chunks(8).zip(u0.chunks(4)).zip(u1.chunks(4)) {
            for (k, ((w, u0), u1)) in w.chunks_exact(2).zip(u0).zip(u1).enumerate() {
                sums[0][k] += w[0] * u0;
                sums[1][k] += w[0] * u1;
                sums[2][k] += w[1] * u0;
                sums[3][k] += w[1] * u1;
            }
        }
        for (d, sums) in [d00, d01, d10, d11].into_iter().zip(&sums) {
            *d += sums.iter().sum::<f64>();
        }
        return;
    }
    for (next, u) in u.chunks_exact(l).enumerate() {
        for s in 0..m {
            let mut sums = [0.0; 8];
            for (w, u) in d_w.chunks(8 * m).zip(u.chunks(8)) {
                for ((sum, w), u) in sums.iter_mut().zip(w.chunks_exact(m)).zip(u) {
                    *sum += w[s] * u;
                }
            }
            d[s * m + next] += sums.iter().sum::<f64>();
        }
    }
}
