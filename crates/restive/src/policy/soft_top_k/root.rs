//! One threshold: the root of Σ pull = K, and the gradient through it.

use crate::simd::{exp, for_cpu};
use rayon::prelude::*;

/// Scores summed by one thread at a time; sums are added chunk by chunk in order.
const CHUNK: usize = 1 << 14;
/// Running sums side by side.
const LANES: usize = 8;
/// Scores from which a start is found.
const SAMPLE: usize = 512;
/// Below this Σ pull(1−pull)/K, the sum of the pulls no longer fixes the threshold to full precision.
pub(super) const SATURATED: f64 = 1e-3;

/// The threshold of a solved problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Root {
    pub(super) threshold: f64,
    /// an actual score near the threshold, and (threshold − reference)/temperature
    reference: f64,
    theta: f64,
    kind: Kind,
}

/// What the pulls of a solved problem are like, which decides how their slopes are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// pull(1−pull) is accurate as it stands
    Smooth,
    /// nearly strict: slopes must be computed from their logarithms
    Saturated,
    /// pulls that do not move with the scores: all 0, all 1, all K/N, or strict
    Fixed,
}

/// An actual score near the threshold: the K-th largest of a sample.
pub(super) fn reference(score: &[f64], budget: f64) -> f64 {
    let n = score.len();
    if n == 0 {
        return 0.0;
    }
    let mut sample: Vec<f64> = score.iter().step_by(n.div_ceil(SAMPLE)).copied().collect();
    let rank = (budget / n as f64 * sample.len() as f64) as usize;
    let rank = rank.min(sample.len() - 1);
    *sample.select_nth_unstable_by(rank, |a, b| b.total_cmp(a)).1
}

/// exp((x − reference)/temperature) of every score; the exponent is held within ±708.
pub(super) fn exponentials(score: &[f64], reference: f64, temperature: f64, out: &mut [f64]) {
    let inverse = 1.0 / temperature;
    score.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK)).for_each(|(x, out)| {
        exponentials_for_cpu(x, reference, inverse, out);
    });
}

for_cpu!(fn exponentials_for_cpu(score: &[f64], reference: f64, inverse: f64, out: &mut [f64]) = exponentials_loop);

#[inline(always)]
fn exponentials_loop(score: &[f64], reference: f64, inverse: f64, out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(score) {
        *out = exp((x - reference) * inverse);
    }
}

/// Replaces the exponentials in `pull` by the pulls. `start` is a guess of (threshold − reference)/temperature.
pub(super) fn solve(
    score: &[f64],
    budget: f64,
    temperature: f64,
    reference: f64,
    start: Option<f64>,
    pull: &mut [f64],
) -> Root {
    let n = score.len() as f64;
    let fixed = |threshold| Root { threshold, reference, theta: 0.0, kind: Kind::Fixed };
    if budget <= 0.0 {
        pull.fill(0.0);
        return fixed(f64::INFINITY);
    }
    if budget >= n {
        pull.fill(1.0);
        return fixed(f64::NEG_INFINITY);
    }
    if temperature == f64::INFINITY {
        pull.fill(budget / n);
        return fixed(reference);
    }
    // below the normal numbers 1/temperature overflows: that is the strict limit
    if temperature >= f64::MIN_POSITIVE {
        let start = start.or_else(|| sampled_start(pull, budget));
        if let Some(theta) = start.and_then(|theta| halley(pull, budget, theta)) {
            pulls(pull, theta.exp());
            return Root { threshold: reference + temperature * theta, reference, theta, kind: Kind::Smooth };
        }
        if let Some((reference, theta)) = super::log_balance::solve(score, budget, temperature) {
            for (p, x) in pull.iter_mut().zip(score) {
                *p = sigmoid((x - reference) / temperature - theta);
            }
            return Root {
                threshold: reference + temperature * theta,
                reference,
                theta,
                kind: Kind::Saturated,
            };
        }
    }
    fixed(strict_limit(score, budget, pull))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The root for a sample of the exponentials, from 0.
fn sampled_start(exponentials: &[f64], budget: f64) -> Option<f64> {
    let n = exponentials.len();
    let step = n.div_ceil(SAMPLE);
    if step == 1 {
        return Some(0.0);
    }
    let sample: Vec<f64> = exponentials.iter().step_by(step).copied().collect();
    halley(&sample, budget * sample.len() as f64 / n as f64, 0.0)
}

/// The root θ of Σ E/(E + e^θ) = K by Halley's method; none where it is not well determined or not reached.
pub(super) fn halley(exponentials: &[f64], budget: f64, start: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut theta = start;
    for _ in 0..30 {
        let [sum, slope, curve] = sums(exponentials, theta.exp());
        if !(slope > SATURATED * budget) {
            return None;
        }
        let excess = sum - budget;
        if excess > 0.0 {
            low = theta
        } else {
            high = theta
        }
        let newton = excess / slope;
        // Halley's step where it is sound; it turns Newton's error from squared to cubed
        let damping = 1.0 - 0.5 * newton * curve / slope;
        let step = if damping > 0.5 { newton / damping } else { newton };
        if step.abs() <= 1e-5 {
            return Some(theta + step); // the error left is below step³
        }
        let next = theta + step.clamp(-4.0, 4.0);
        let is_bracketed = low.is_finite() && high.is_finite();
        theta = if is_bracketed && !(low..=high).contains(&next) { 0.5 * (low + high) } else { next };
    }
    None
}

/// Σ p, Σ p(1−p) and Σ p(1−p)(1−2p) for p = E/(E+c).
fn sums(exponentials: &[f64], c: f64) -> [f64; 3] {
    if exponentials.len() <= CHUNK {
        return sums_for_cpu(exponentials, c);
    }
    let chunks: Vec<[f64; 3]> = exponentials.par_chunks(CHUNK).map(|e| sums_for_cpu(e, c)).collect();
    chunks.iter().fold([0.0; 3], |t, s| std::array::from_fn(|k| t[k] + s[k]))
}

for_cpu!(fn sums_for_cpu(exponentials: &[f64], c: f64) -> [f64; 3] = sums_loop);

#[inline(always)]
fn sums_loop(exponentials: &[f64], c: f64) -> [f64; 3] {
    let mut lanes = [[0.0; LANES]; 3];
    let mut one = |lane: usize, e: f64| {
        let inverse = 1.0 / (e + c);
        let (p, q) = (e * inverse, c * inverse);
        let slope = p * q;
        lanes[0][lane] += p;
        lanes[1][lane] += slope;
        lanes[2][lane] += slope * (q - p);
    };
    let blocks = exponentials.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for lane in 0..LANES {
            one(lane, block[lane]);
        }
    }
    for (lane, &e) in rest.iter().enumerate() {
        one(lane, e);
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// Replaces exponentials by pulls.
fn pulls(exponentials: &mut [f64], c: f64) {
    exponentials.par_chunks_mut(CHUNK).for_each(|chunk| pulls_for_cpu(chunk, c));
}

for_cpu!(fn pulls_for_cpu(exponentials: &mut [f64], c: f64) = pulls_loop);

#[inline(always)]
fn pulls_loop(exponentials: &mut [f64], c: f64) {
    for e in exponentials {
        *e /= *e + c;
    }
}

/// Temperature 0: 1 above the threshold, 0 below, what is left shared equally at it. Returns the threshold.
fn strict_limit(score: &[f64], budget: f64, pull: &mut [f64]) -> f64 {
    let mut order = score.to_vec();
    let rank = (budget.ceil() as usize).clamp(1, order.len()) - 1;
    let threshold = *order.select_nth_unstable_by(rank, |a, b| b.total_cmp(a)).1;
    let above = score.iter().filter(|x| **x > threshold).count() as f64;
    let tied = score.iter().filter(|x| **x == threshold).count() as f64;
    let share = (budget - above) / tied;
    for (p, x) in pull.iter_mut().zip(score) {
        *p = if *x > threshold {
            1.0
        } else if *x == threshold {
            share
        } else {
            0.0
        };
    }
    threshold
}

/// Writes `d_score` and returns the cotangents of budget and temperature.
pub(super) fn pull_back(
    root: &Root,
    score: &[f64],
    pull: &[f64],
    temperature: f64,
    d_pull: &[f64],
    d_score: &mut [f64],
) -> (f64, f64) {
    let inverse = 1.0 / temperature;
    match root.kind {
        Kind::Smooth => {
            let chunks: Vec<[f64; 2]> = pull
                .par_chunks(CHUNK)
                .zip(d_pull.par_chunks(CHUNK))
                .map(|(p, c)| moments_for_cpu(p, c))
                .collect();
            let [slope, weighted] = chunks.iter().fold([0.0; 2], |t, s| [t[0] + s[0], t[1] + s[1]]);
            let mean = weighted / slope;
            let chunks: Vec<f64> = (d_score.par_chunks_mut(CHUNK).zip(score.par_chunks(CHUNK)))
                .zip(pull.par_chunks(CHUNK).zip(d_pull.par_chunks(CHUNK)))
                .map(|((d, x), (p, c))| pull_back_for_cpu(x, p, c, mean, inverse, root.threshold, d))
                .collect();
            (mean, -chunks.iter().sum::<f64>())
        }
        Kind::Saturated => {
            let distance = |x: f64| (x - root.reference) * inverse - root.theta;
            let log_slope = |x: f64| {
                let d = distance(x).abs();
                -d - 2.0 * (-d).exp().ln_1p()
            };
            let top = score.iter().fold(f64::NEG_INFINITY, |top, &x| top.max(log_slope(x)));
            let (mut total, mut weighted) = (0.0, 0.0);
            for (&x, c) in score.iter().zip(d_pull) {
                let weight = (log_slope(x) - top).exp();
                total += weight;
                weighted += weight * c;
            }
            let mean = weighted / total;
            let mut d_temperature = 0.0;
            for ((d, &x), c) in d_score.iter_mut().zip(score).zip(d_pull) {
                *d = log_slope(x).exp() * (c - mean) * inverse;
                d_temperature -= *d * distance(x);
            }
            (mean, d_temperature)
        }
        Kind::Fixed => {
            d_score.fill(0.0);
            let shared: Vec<f64> = pull
                .iter()
                .zip(d_pull)
                .filter(|(p, _)| (0.0..1.0).contains(*p) && **p > 0.0)
                .map(|(_, c)| *c)
                .collect();
            let d_budget =
                if shared.is_empty() { 0.0 } else { shared.iter().sum::<f64>() / shared.len() as f64 };
            (d_budget, 0.0)
        }
    }
}

for_cpu!(fn moments_for_cpu(pull: &[f64], d_pull: &[f64]) -> [f64; 2] = moments_loop);

/// Σ s and Σ s·c for s = p(1−p).
#[inline(always)]
fn moments_loop(pull: &[f64], d_pull: &[f64]) -> [f64; 2] {
    let mut lanes = [[0.0; LANES]; 2];
    let mut one = |lane: usize, p: f64, c: f64| {
        let slope = p * (1.0 - p);
        lanes[0][lane] += slope;
        lanes[1][lane] += slope * c;
    };
    let (blocks, c_blocks) = (pull.chunks_exact(LANES), d_pull.chunks_exact(LANES));
    let rest = blocks.remainder().iter().zip(c_blocks.remainder());
    for (p, c) in blocks.zip(c_blocks) {
        for lane in 0..LANES {
            one(lane, p[lane], c[lane]);
        }
    }
    for (lane, (p, c)) in rest.enumerate() {
        one(lane, *p, *c);
    }
    lanes.map(|lanes| lanes.iter().sum())
}

for_cpu!(fn pull_back_for_cpu(score: &[f64], pull: &[f64], d_pull: &[f64], mean: f64, inverse: f64, threshold: f64,
    d_score: &mut [f64]) -> f64 = pull_back_loop);

/// Writes s(c − mean)/e and returns Σ of it times (x − threshold)/e.
#[inline(always)]
fn pull_back_loop(
    score: &[f64],
    pull: &[f64],
    d_pull: &[f64],
    mean: f64,
    inverse: f64,
    threshold: f64,
    d_score: &mut [f64],
) -> f64 {
    let mut lanes = [0.0; LANES];
    let whole = score.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let (x, p) = (&score[start..][..LANES], &pull[start..][..LANES]);
        let (c, d) = (&d_pull[start..][..LANES], &mut d_score[start..][..LANES]);
        for lane in 0..LANES {
            d[lane] = p[lane] * (1.0 - p[lane]) * (c[lane] - mean) * inverse;
            lanes[lane] += d[lane] * ((x[lane] - threshold) * inverse);
        }
    }
    for i in whole..score.len() {
        d_score[i] = pull[i] * (1.0 - pull[i]) * (d_pull[i] - mean) * inverse;
        lanes[i - whole] += d_score[i] * ((score[i] - threshold) * inverse);
    }
    lanes.iter().sum()
}
