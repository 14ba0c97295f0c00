//! The loops over coalitions, for the widest instructions of the machine. Sums have an order of their own, in eight lanes, and are
//! the same bits on every processor.

use crate::simd::{exp, for_cpu};

const LANES: usize = 8;
/// Logits further below the largest count as this far below, so that every chance stays above 0.
const LOWEST: f64 = -700.0;

for_cpu!(
    /// Every coalition's row of numbers (`[R,w]`, the first is there): that of the one it grows from, plus what is added (`[D,w]`).
    pub(super) fn grow(grown: &[(usize, usize)], added: &[f64], width: usize, rows: &mut [f64]) = grow_loop
);

#[inline(always)]
fn grow_loop(grown: &[(usize, usize)], added: &[f64], width: usize, rows: &mut [f64]) {
    for (at, (from, who)) in grown.iter().enumerate() {
        let (before, own) = rows.split_at_mut((at + 1) * width);
        let from = &before[from * width..(from + 1) * width];
        let more = &added[who * width..(who + 1) * width];
        for ((own, from), more) in own[..width].iter_mut().zip(from).zip(more) {
            *own = from + more;
        }
    }
}

for_cpu!(
    /// relu(rows)·weightᵀ + bias: `[R,from]` and `[to,from]` to `[R,to]`.
    pub(super) fn layer(rows: &[f64], weight: &[f64], bias: &[f64], out: &mut [f64]) = layer_loop
);

#[inline(always)]
fn layer_loop(rows: &[f64], weight: &[f64], bias: &[f64], out: &mut [f64]) {
    let width = weight.len() / bias.len();
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(bias.len())) {
        for ((out, bias), weight) in out.iter_mut().zip(bias).zip(weight.chunks_exact(width)) {
            *out = bias + rectified_dot(row, weight);
        }
    }
}

/// relu(h)·w
#[inline(always)]
fn rectified_dot(h: &[f64], w: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (h_lanes, w_lanes) = (h.chunks_exact(LANES), w.chunks_exact(LANES));
    let mut rest = 0.0;
    for (h, w) in h_lanes.remainder().iter().zip(w_lanes.remainder()) {
        rest += h.max(0.0) * w;
    }
    for (h, w) in h_lanes.zip(w_lanes) {
        for k in 0..LANES {
            lanes[k] += h[k].max(0.0) * w[k];
        }
    }
    let pairs = [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]) + rest
}

for_cpu!(
    /// Rows of M chances by the logits of states 1 to M − 1 against state 0.
    pub(super) fn chances(logits: &[f64], states: usize, out: &mut [f64]) = chances_loop
);

#[inline(always)]
fn chances_loop(logits: &[f64], states: usize, out: &mut [f64]) {
    if states == 2 {
        for (z, out) in logits.iter().zip(out.chunks_exact_mut(2)) {
            let e = exp((-z.abs()).max(LOWEST));
            let (likely, unlikely) = (1.0 / (1.0 + e), e / (1.0 + e));
            out[0] = if *z < 0.0 { likely } else { unlikely };
            out[1] = if *z < 0.0 { unlikely } else { likely };
        }
        return;
    }
    for (z, out) in logits.chunks_exact(states - 1).zip(out.chunks_exact_mut(states)) {
        let top = z.iter().fold(0.0f64, |top, z| top.max(*z));
        out[0] = exp((-top).max(LOWEST));
        let mut sum = out[0];
        for (out, z) in out[1..].iter_mut().zip(z) {
            *out = exp((z - top).max(LOWEST));
            sum += *out;
        }
        out.iter_mut().for_each(|p| *p /= sum);
    }
}
