//! The gradient through a threshold.
//!
//! With s the slopes pull(1 − pull) and μ the masses (1 for single arms), a cotangent c of the pulls becomes
//!
//! ```text
//! g = Σ s c/Σ s μ      d_score = s (c − μ g)/e      d_budget = g      d_temperature = −Σ d_score (x − τ)/e
//! ```
//!
//! One sum for all kinds of solutions: what differs is where the slopes come from. Where the policy is nearly strict they are
//! taken from their logarithms, relative to the largest; where pulls are fixed, g is what a larger budget buys those that
//! share, and the scores have no gradient.

use super::root::{CHUNK, LANES, Regime, Root, chunk_of};
use crate::policy::odds::log_sigmoid;
use crate::simd::{exp, for_cpu};
use rayon::prelude::*;

/// A problem and its solution.
#[derive(Clone, Copy)]
pub(super) struct Solved<'a> {
    pub(super) root: &'a Root,
    pub(super) score: &'a [f64],
    /// 1 each, where there are none
    pub(super) mass: Option<&'a [f64]>,
    pub(super) pull: &'a [f64],
    pub(super) temperature: f64,
}

/// Adds to `d_score` and returns the cotangents of budget and temperature; single arms find zeros in `d_score`.
pub(super) fn pull_back(solved: Solved<'_>, d_pull: &[f64], d_score: &mut [f64]) -> (f64, f64) {
    let Solved { root, score, mass, pull, temperature } = solved;
    if root.regime == Regime::Smooth {
        return smooth(solved, d_pull, d_score);
    }
    let mass = |i: usize| mass.map_or(1.0, |mass| mass[i]);
    let distance = |i: usize| (score[i] - root.reference) / temperature - root.theta;
    let log_slope = |i: usize| {
        let d = distance(i);
        log_sigmoid(d) + log_sigmoid(-d)
    };
    let is_saturated = root.regime == Regime::Saturated;
    let massive = (0..score.len()).filter(|i| is_saturated && mass(*i) > 0.0);
    let top = massive.fold(f64::NEG_INFINITY, |top, i| top.max(log_slope(i)));
    let weight = |i: usize| match is_saturated {
        true => (log_slope(i) - top).exp(),
        false => f64::from(pull[i] > 0.0 && pull[i] < 1.0),
    };
    let (mut gain, mut total) = (0.0, 0.0);
    for (i, &c) in d_pull.iter().enumerate() {
        if mass(i) > 0.0 || c != 0.0 {
            let weight = weight(i);
            gain += weight * c;
            total += weight * mass(i);
        }
    }
    let d_budget = if total > 0.0 { gain / total } else { 0.0 };
    let mut d_temperature = 0.0;
    if is_saturated {
        for (i, (d, &c)) in d_score.iter_mut().zip(d_pull).enumerate() {
            let part = log_slope(i).exp() * (c - mass(i) * d_budget) / temperature;
            *d += part;
            d_temperature -= part * distance(i);
        }
    }
    (d_budget, d_temperature)
}

/// What a cotangent c of the log-odds z becomes, for single arms: writes `d_score` and returns the cotangents of budget and
/// temperature.
///
/// ```text
/// w = s/Σs      d_score = (c − w Σc)/e      d_budget = Σc/Σs      d_temperature = −Σ d_score z
/// ```
///
/// Only w and Σs need the slopes s = p(1 − p) = e^−|z|/(1 + e^−|z|)², which are taken relative to the largest: nothing is lost
/// however strict the policy.
pub(super) fn pull_back_log_odds(
    root: &Root,
    temperature: f64,
    log_odds: &[f64],
    d_log_odds: &[f64],
    d_score: &mut [f64],
) -> (f64, f64) {
    if !matches!(root.regime, Regime::Smooth | Regime::Saturated) {
        d_score.fill(0.0);
        // those at the threshold share what a larger budget buys: dz = dp/(p(1 − p))
        let shared = || log_odds.iter().zip(d_log_odds).filter(|(z, _)| z.is_finite());
        let (count, sum) = shared().fold((0.0, 0.0), |(n, sum), (_, c)| (n + 1.0, sum + c));
        let slope = shared().next().map_or(1.0, |(z, _)| (log_sigmoid(*z) + log_sigmoid(-z)).exp());
        return (if sum == 0.0 { 0.0 } else { sum / (count * slope) }, 0.0);
    }
    let nearest = log_odds.iter().fold(f64::INFINITY, |least, z| least.min(z.abs()));
    let [slopes, sum] = slopes_for_cpu(log_odds, d_log_odds, nearest, d_score);
    let product = pull_back_log_odds_for_cpu(log_odds, d_log_odds, sum / slopes, 1.0 / temperature, d_score);
    (if sum == 0.0 { 0.0 } else { sum / slopes * nearest.exp() }, -product)
}

for_cpu!(fn slopes_for_cpu(log_odds: &[f64], d_log_odds: &[f64], nearest: f64, slope: &mut [f64]) -> [f64; 2] = slopes_loop);
for_cpu!(fn pull_back_log_odds_for_cpu(log_odds: &[f64], d_log_odds: &[f64], price: f64, inverse: f64,
    d_score: &mut [f64]) -> f64 = pull_back_log_odds_loop);

/// Writes the slopes over e^−nearest, and returns their sum and Σc.
#[inline(always)]
fn slopes_loop(log_odds: &[f64], d_log_odds: &[f64], nearest: f64, slope: &mut [f64]) -> [f64; 2] {
    let n = slope.len();
    let (log_odds, d_log_odds) = (&log_odds[..n], &d_log_odds[..n]);
    let mut lanes = [[0.0; LANES]; 2];
    for i in 0..n {
        let distance = log_odds[i].abs();
        let other = 1.0 + exp(-distance);
        slope[i] = exp(nearest - distance) / (other * other);
    }
    for i in 0..n {
        lanes[0][i % LANES] += slope[i];
        lanes[1][i % LANES] += d_log_odds[i];
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// Replaces the slopes by (c − s·price)/e and returns Σ of it times z.
#[inline(always)]
fn pull_back_log_odds_loop(
    log_odds: &[f64],
    d_log_odds: &[f64],
    price: f64,
    inverse: f64,
    d_score: &mut [f64],
) -> f64 {
    let n = d_score.len();
    let (log_odds, d_log_odds) = (&log_odds[..n], &d_log_odds[..n]);
    let mut lanes = [0.0; LANES];
    for i in 0..n {
        d_score[i] = (d_log_odds[i] - d_score[i] * price) * inverse;
        lanes[i % LANES] += d_score[i] * log_odds[i];
    }
    lanes.iter().sum()
}

/// Slopes are accurate as p(1 − p): two passes of vector loops, chunk by chunk.
fn smooth(solved: Solved<'_>, d_pull: &[f64], d_score: &mut [f64]) -> (f64, f64) {
    let Solved { root, score, mass, pull, temperature } = solved;
    let moments = |mass: Option<&[f64]>, p: &[f64], c: &[f64]| match mass {
        None => moments_for_cpu(p, &[], c),
        Some(mass) => weighted_moments_for_cpu(p, mass, c),
    };
    let moved = |mass: Option<&[f64]>, x: &[f64], p: &[f64], c: &[f64], step: Step, d: &mut [f64]| match mass
    {
        None => pull_back_for_cpu(x, &[], p, c, step, d),
        Some(mass) => weighted_pull_back_for_cpu(x, mass, p, c, step, d),
    };
    let step = |[total, gain]: [f64; 2]| {
        let (price, inverse) = (gain / total, 1.0 / temperature);
        Step { price, inverse, reference: root.reference, theta: root.theta }
    };
    if score.len() <= CHUNK {
        // one chunk needs no threads, and there are often thousands of such problems
        let step = step(moments(mass, pull, d_pull));
        return (step.price, -moved(mass, score, pull, d_pull, step, d_score));
    }
    let pairs = pull.par_chunks(CHUNK).zip(d_pull.par_chunks(CHUNK)).enumerate();
    let sums: Vec<[f64; 2]> = pairs.map(|(chunk, (p, c))| moments(chunk_of(mass, chunk), p, c)).collect();
    let step = step(sums.iter().fold([0.0; 2], |t, s| [t[0] + s[0], t[1] + s[1]]));
    let chunks = (d_score.par_chunks_mut(CHUNK).zip(score.par_chunks(CHUNK)))
        .zip(pull.par_chunks(CHUNK).zip(d_pull.par_chunks(CHUNK)))
        .enumerate();
    let sums: Vec<f64> =
        chunks.map(|(chunk, ((d, x), (p, c)))| moved(chunk_of(mass, chunk), x, p, c, step, d)).collect();
    (step.price, -sums.iter().sum::<f64>())
}

for_cpu!(fn moments_for_cpu(pull: &[f64], mass: &[f64], d_pull: &[f64]) -> [f64; 2] = moments_loop::<false>);
for_cpu!(fn weighted_moments_for_cpu(pull: &[f64], mass: &[f64], d_pull: &[f64]) -> [f64; 2] = moments_loop::<true>);

/// Σ s μ and Σ s c for s = p(1−p).
#[inline(always)]
fn moments_loop<const HAS_MASS: bool>(pull: &[f64], mass: &[f64], d_pull: &[f64]) -> [f64; 2] {
    let mut lanes = [[0.0; LANES]; 2];
    let mut add = |lane: usize, p: f64, mass: f64, c: f64| {
        let slope = p * (1.0 - p);
        lanes[0][lane] += if HAS_MASS { slope * mass } else { slope };
        lanes[1][lane] += slope * c;
    };
    let whole = pull.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let (p, c) = (&pull[start..][..LANES], &d_pull[start..][..LANES]);
        let mass = if HAS_MASS { &mass[start..][..LANES] } else { p };
        for lane in 0..LANES {
            add(lane, p[lane], mass[lane], c[lane]);
        }
    }
    for i in whole..pull.len() {
        add(i - whole, pull[i], if HAS_MASS { mass[i] } else { 1.0 }, d_pull[i]);
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// What is the same for all scores: g, 1/e, and where the threshold is.
#[derive(Clone, Copy)]
struct Step {
    price: f64,
    inverse: f64,
    reference: f64,
    theta: f64,
}

for_cpu!(fn pull_back_for_cpu(score: &[f64], mass: &[f64], pull: &[f64], d_pull: &[f64], step: Step,
    d_score: &mut [f64]) -> f64 = pull_back_loop::<false>);
for_cpu!(fn weighted_pull_back_for_cpu(score: &[f64], mass: &[f64], pull: &[f64], d_pull: &[f64], step: Step,
    d_score: &mut [f64]) -> f64 = pull_back_loop::<true>);

/// Writes (adds, where there are masses) s(c − μ g)/e and returns Σ of it times (x − τ)/e.
#[inline(always)]
fn pull_back_loop<const HAS_MASS: bool>(
    score: &[f64],
    mass: &[f64],
    pull: &[f64],
    d_pull: &[f64],
    step: Step,
    d_score: &mut [f64],
) -> f64 {
    let Step { price, inverse, reference, theta } = step;
    let mut lanes = [0.0; LANES];
    let write = |x: f64, mass: f64, p: f64, c: f64, d: &mut f64| {
        let share = if HAS_MASS { mass * price } else { price };
        let part = p * (1.0 - p) * (c - share) * inverse;
        *d = if HAS_MASS { *d + part } else { part };
        part * ((x - reference) * inverse - theta)
    };
    let whole = score.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let (x, p) = (&score[start..][..LANES], &pull[start..][..LANES]);
        let (c, d) = (&d_pull[start..][..LANES], &mut d_score[start..][..LANES]);
        let mass = if HAS_MASS { &mass[start..][..LANES] } else { x };
        for lane in 0..LANES {
            lanes[lane] += write(x[lane], mass[lane], p[lane], c[lane], &mut d[lane]);
        }
    }
    for i in whole..score.len() {
        let mass = if HAS_MASS { mass[i] } else { 1.0 };
        lanes[i - whole] += write(score[i], mass, pull[i], d_pull[i], &mut d_score[i]);
    }
    lanes.iter().sum()
}
