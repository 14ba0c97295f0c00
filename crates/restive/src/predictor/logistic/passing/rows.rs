//! The likelihood of one row (s, a) of some arms: with n moves, c_k of them to state k, and log-odds z,
//!
//! value n·ln Σ eᶻ − Σ c·z,   residual d_k = n·P_k − c_k,   curvature n·(P_k·[k = l] − P_k·P_l).
//!
//! Two states are the usual case and have a loop of their own, in operations that every vector unit has.

use crate::simd::{exp, for_cpu, ln_1p};

/// Lanes in which values are added up; part of the arithmetic.
const LANES: usize = 8;

/// Some arms with moves from one row.
#[derive(Default)]
pub(super) struct Row {
    /// which ones, within the chunk
    pub arms: Vec<usize>,
    /// their moves
    pub moves: Vec<f64>,
    /// those to each state but 0, `[n,M−1]`
    pub seen: Vec<f64>,
    /// log-odds, `[n,M−1]`; behind [`Row::likelihood`] residuals
    pub odds: Vec<f64>,
    /// P of each state but 0, `[n,M−1]`, of more than two states; of two, the curvatures `[n]`
    p: Vec<f64>,
    q: usize,
}

impl Row {
    /// Nobody yet, of so many log-odds.
    pub(super) fn new(q: usize) -> Self {
        Self { q, ..Self::default() }
    }

    /// The value; log-odds become residuals.
    pub(super) fn likelihood(&mut self) -> f64 {
        let Self { moves, seen, odds, p, q, .. } = self;
        p.clear();
        p.resize(odds.len(), 0.0);
        match q {
            1 => two(moves, seen, odds, p),
            _ => many(moves, seen, odds, p, *q),
        }
    }

    /// The curvatures of a pair of log-odds, behind [`Row::likelihood`].
    pub(super) fn curvatures(&self, k: usize, l: usize, out: &mut Vec<f64>) {
        out.clear();
        match self.q {
            1 => out.extend(&self.p),
            q => out.extend(self.moves.iter().zip(self.p.chunks_exact(q)).map(|(n, p)| {
                let rest = if k == l { p[k] - p[k] * p[l] } else { -p[k] * p[l] };
                n * rest
            })),
        }
    }
}

for_cpu! {
    fn two(moves: &[f64], seen: &[f64], odds: &mut [f64], curvature: &mut [f64]) -> f64 = two_states
}

/// With e = exp(−|z|): P = 1/(1 + e) or e/(1 + e), P·(1 − P) = e/(1 + e)², ln(1 + eᶻ) = max(z, 0) + ln(1 + e).
#[inline(always)]
fn two_states(moves: &[f64], seen: &[f64], odds: &mut [f64], curvature: &mut [f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let n = odds.len();
    let (moves, seen, curvature) = (&moves[..n], &seen[..n], &mut curvature[..n]);
    for first in (0..n).step_by(LANES) {
        let mut one = |i: usize, lane: &mut f64| {
            let z = odds[i];
            let e = exp(-z.abs());
            let r = 1.0 / (1.0 + e);
            let p = if z < 0.0 { e * r } else { r };
            *lane += moves[i] * (z.max(0.0) + ln_1p(e)) - seen[i] * z;
            curvature[i] = moves[i] * (e * r * r);
            odds[i] = moves[i] * p - seen[i];
        };
        if first + LANES <= n {
            (0..LANES).for_each(|lane| one(first + lane, &mut lanes[lane]));
        } else {
            (0..n - first).for_each(|lane| one(first + lane, &mut lanes[lane]));
        }
    }
    lanes.iter().sum()
}

fn many(moves: &[f64], seen: &[f64], odds: &mut [f64], p: &mut [f64], q: usize) -> f64 {
    let mut value = 0.0;
    let rows = odds.chunks_exact_mut(q).zip(seen.chunks_exact(q)).zip(p.chunks_exact_mut(q));
    for (((z, seen), p), n) in rows.zip(moves) {
        let top = z.iter().fold(0.0, |top: f64, z| if *z > top || z.is_nan() { *z } else { top });
        let mut sum = exp(-top);
        for (p, z) in p.iter_mut().zip(&*z) {
            *p = exp(*z - top);
            sum += *p;
        }
        value += n * (top + sum.ln());
        for ((p, z), c) in p.iter_mut().zip(z).zip(seen) {
            value -= c * *z;
            *p /= sum;
            *z = n * *p - c;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_are_two_of_many() {
        let z: Vec<f64> = (-40..40).map(|k| f64::from(k) * 0.93).chain([0.0, 650.0, -650.0]).collect();
        let moves: Vec<f64> = (0..z.len()).map(|i| (i % 5 + 1) as f64).collect();
        let seen: Vec<f64> = (0..z.len()).map(|i| (i % 3) as f64 % moves[i]).collect();
        let row =
            || Row { moves: moves.clone(), seen: seen.clone(), odds: z.clone(), q: 1, ..Row::default() };
        let mut vector = row();
        let value = vector.likelihood();
        let mut scalar = row();
        scalar.p = vec![0.0; z.len()];
        let expected = many(&moves, &seen, &mut scalar.odds, &mut scalar.p, 1);
        assert!((value / expected - 1.0).abs() < 1e-14, "{value} {expected}");
        let mut curvatures = Vec::new();
        vector.curvatures(0, 0, &mut curvatures);
        for i in 0..z.len() {
            assert!((vector.odds[i] - scalar.odds[i]).abs() < 1e-14, "{}", z[i]);
            // 1 − P cancels where P is near 1; e/(1 + e)² does not
            let (p, n) = (scalar.p[i], moves[i]);
            assert!((curvatures[i] - n * p * (1.0 - p)).abs() < 4e-16 * n, "{}", z[i]);
        }
    }
}
