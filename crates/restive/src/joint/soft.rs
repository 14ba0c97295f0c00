//! The soft maximum over joint actions: V(x) = τ ln Σ_a exp(Q(x, a)/τ), and the policy π(x, a) = exp((Q(x, a) − V(x))/τ).
//!
//! The policy is the gradient of the maximum. Back from the policy: d_Q(x, b) = π(x, b)/τ·(d_π(x, b) − Σ_a π(x, a) d_π(x, a)).
//! Q lies action by action, `[A,X]`, so that every loop runs along joint states; blocks of them stay in cache.

use crate::simd::{exp, for_cpu};

const BLOCK: usize = 512;

/// V of Q (`[A,X]`).
pub(super) fn maximum(q: &[f64], temperature: f64, value: &mut [f64]) {
    let x = value.len();
    let mut top = [0.0; BLOCK];
    for (block, value) in value.chunks_mut(BLOCK).enumerate() {
        let (start, width) = (block * BLOCK, value.len());
        let top = &mut top[..width];
        top.fill(f64::NEG_INFINITY);
        for q in q.chunks_exact(x) {
            top.iter_mut().zip(&q[start..]).for_each(|(top, q)| *top = if *q > *top { *q } else { *top });
        }
        value.fill(0.0);
        for q in q.chunks_exact(x) {
            add(&q[start..start + width], top, 1.0 / temperature, value);
        }
        value.iter_mut().zip(&*top).for_each(|(value, top)| *value = top + temperature * value.ln());
    }
}

for_cpu!(fn add(q: &[f64], top: &[f64], inverse: f64, sum: &mut [f64]) = add_loop);
for_cpu!(pub(super) fn probability(q: &[f64], value: &[f64], temperature: f64, out: &mut [f64]) = probability_loop);

/// sum += exp((q − top)/τ)
#[inline(always)]
fn add_loop(q: &[f64], top: &[f64], inverse: f64, sum: &mut [f64]) {
    let n = sum.len();
    let (q, top) = (&q[..n], &top[..n]);
    for k in 0..n {
        sum[k] += exp((q[k] - top[k]) * inverse);
    }
}

/// out = exp((q − V)/τ): the policy of one joint action.
#[inline(always)]
fn probability_loop(q: &[f64], value: &[f64], temperature: f64, out: &mut [f64]) {
    let n = out.len();
    let (q, value, inverse) = (&q[..n], &value[..n], 1.0 / temperature);
    for k in 0..n {
        out[k] = exp((q[k] - value[k]) * inverse);
    }
}
