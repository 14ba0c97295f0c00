//! One threshold: the root of Σ μ pull = K, where every score counts for one arm or for a mass μ.
//!
//! Both problems are the same but for the sums, so they share the bracketed Halley iteration, the guards around it and the
//! strict limit; [`slopes`](super::slopes) holds the gradient. Loops are compiled with and without masses: single arms do not
//! pay for reading a million ones.

use crate::policy::odds::{log_odds, sigmoid};
use crate::simd::{exp, for_cpu};
use rayon::prelude::*;

/// Scores summed by one thread at a time; sums are added chunk by chunk in order.
pub(super) const CHUNK: usize = 1 << 14;
/// Running sums side by side.
pub(super) const LANES: usize = 8;
/// Scores from which a start is found.
pub(super) const SAMPLE: usize = 512;
/// Below this Σ pull(1−pull)/K, the sum of the pulls no longer fixes the threshold to full precision.
const SATURATED: f64 = 1e-3;

/// Exponents are held within ±708: thresholds up to here are far enough from those for a pull there to be 0 or 1.
const FARTHEST: f64 = 600.0;

/// The threshold of a solved problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Root {
    pub(super) threshold: f64,
    /// an actual score near the threshold, and (threshold − reference)/temperature
    pub(super) reference: f64,
    pub(super) theta: f64,
    pub(super) regime: Regime,
}

/// What the pulls of a solved problem are like, which decides how they and their slopes are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Regime {
    /// pull(1−pull) is accurate as it stands
    Smooth,
    /// nearly strict: slopes must be computed from their logarithms
    Saturated,
    /// 1 above the threshold, 0 below, this share at it: pulls that do not move with the scores
    Strict { share: f64 },
    /// this share, K/N, for every score: the temperature is infinite
    Even { share: f64 },
}

impl Root {
    /// The log-odds of pulling each of these scores, in which no digit of a pull near 1 is lost.
    pub(super) fn log_odds(&self, score: &[f64], temperature: f64, out: &mut [f64]) {
        let &Self { threshold, reference, theta, regime } = self;
        match regime {
            Regime::Smooth | Regime::Saturated => {
                out.iter_mut().zip(score).for_each(|(z, x)| *z = (x - reference) / temperature - theta);
            }
            Regime::Strict { share } => {
                let tied = log_odds(share);
                for (z, x) in out.iter_mut().zip(score) {
                    *z = if *x == threshold { tied } else { f64::INFINITY.copysign(*x - threshold) };
                }
            }
            Regime::Even { share } => out.fill(log_odds(share)),
        }
    }

    /// The pulls of these scores, in the place of their exponentials.
    pub(super) fn pulls(&self, score: &[f64], temperature: f64, exponentials: &mut [f64]) {
        let &Self { threshold, reference, theta, regime } = self;
        match regime {
            Regime::Smooth => pulls(exponentials, theta.exp()),
            Regime::Saturated => {
                for (p, x) in exponentials.iter_mut().zip(score) {
                    *p = sigmoid((x - reference) / temperature - theta);
                }
            }
            Regime::Strict { share } => {
                for (p, x) in exponentials.iter_mut().zip(score) {
                    *p = if *x > threshold { 1.0 } else { f64::from(*x == threshold) * share };
                }
            }
            Regime::Even { share } => exponentials.fill(share),
        }
    }
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
    if score.len() <= CHUNK {
        return exponentials_for_cpu(score, reference, inverse, out);
    }
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

/// One problem: scores, what each stands for (nothing: one arm), budget and temperature, and a score near the threshold.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) score: &'a [f64],
    pub(super) mass: Option<&'a [f64]>,
    pub(super) budget: f64,
    pub(super) temperature: f64,
    pub(super) reference: f64,
}

impl Problem<'_> {
    /// Finds the threshold from the exponentials. `start` guesses (threshold − reference)/temperature,
    /// `nearly_strict` solves the log-balance for (reference, θ), `strict` finds the threshold of the strict limit.
    pub(super) fn solve(
        &self,
        exponentials: &[f64],
        start: impl FnOnce(&[f64]) -> Option<f64>,
        nearly_strict: impl FnOnce() -> Option<(f64, f64)>,
        strict: impl FnOnce() -> f64,
    ) -> Root {
        let &Self { score, mass, budget, temperature, reference } = self;
        let total = mass.map_or(score.len() as f64, |mass| mass.iter().sum());
        let root = |reference, theta, regime| {
            let threshold = reference + temperature * theta;
            Root { threshold, reference, theta, regime }
        };
        let fixed = |threshold, regime| Root { threshold, reference, theta: 0.0, regime };
        if budget <= 0.0 {
            return fixed(f64::INFINITY, Regime::Strict { share: 0.0 });
        }
        if budget >= total {
            return fixed(f64::NEG_INFINITY, Regime::Strict { share: 1.0 });
        }
        if temperature == f64::INFINITY {
            return fixed(reference, Regime::Even { share: budget / total });
        }
        // below the normal numbers 1/temperature overflows: that is the strict limit
        if temperature >= f64::MIN_POSITIVE {
            if let Some(theta) =
                start(exponentials).and_then(|theta| halley(exponentials, mass, budget, theta))
            {
                return root(reference, theta, Regime::Smooth);
            }
            if let Some((reference, theta)) = nearly_strict() {
                return root(reference, theta, Regime::Saturated);
            }
        }
        let threshold = strict();
        fixed(threshold, Regime::Strict { share: self.share_at(threshold) })
    }

    /// What is left of the budget at the threshold of the strict limit, shared equally by the scores that are equal to it.
    fn share_at(&self, threshold: f64) -> f64 {
        let (mut above, mut tied) = (0.0, 0.0);
        for (i, x) in self.score.iter().enumerate() {
            let mass = self.mass.map_or(1.0, |mass| mass[i]);
            above += if *x > threshold { mass } else { 0.0 };
            tied += if *x == threshold { mass } else { 0.0 };
        }
        ((self.budget - above) / tied).clamp(0.0, 1.0)
    }
}

/// The threshold of single arms. `start` is a guess of (threshold − reference)/temperature.
pub(super) fn solve(
    score: &[f64],
    budget: f64,
    temperature: f64,
    reference: f64,
    start: Option<f64>,
    exponentials: &[f64],
) -> Root {
    Problem { score, mass: None, budget, temperature, reference }.solve(
        exponentials,
        |exponentials| start.or_else(|| sampled_start(exponentials, budget)),
        || super::log_balance::solve(score, budget, temperature),
        || strict_threshold(score, budget),
    )
}

/// The root for a sample of the exponentials, from 0.
fn sampled_start(exponentials: &[f64], budget: f64) -> Option<f64> {
    let n = exponentials.len();
    let step = n.div_ceil(SAMPLE);
    if step == 1 {
        return Some(0.0);
    }
    let sample: Vec<f64> = exponentials.iter().step_by(step).copied().collect();
    halley(&sample, None, budget * sample.len() as f64 / n as f64, 0.0)
}

/// The root θ of Σ μ E/(E + e^θ) = K by Halley's method; none where it is not well determined or not reached.
pub(super) fn halley(exponentials: &[f64], mass: Option<&[f64]>, budget: f64, start: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut theta = start;
    for _ in 0..30 {
        if !(theta.abs() < FARTHEST) {
            return None;
        }
        let [sum, slope, curve] = sums(exponentials, mass, theta.exp());
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

/// The masses that belong to a chunk of the scores.
pub(super) fn chunk_of(mass: Option<&[f64]>, chunk: usize) -> Option<&[f64]> {
    mass.map(|mass| &mass[chunk * CHUNK..mass.len().min((chunk + 1) * CHUNK)])
}

/// Σ μp, Σ μp(1−p) and Σ μp(1−p)(1−2p) for p = E/(E+c).
fn sums(exponentials: &[f64], mass: Option<&[f64]>, c: f64) -> [f64; 3] {
    let part = |e: &[f64], mass: Option<&[f64]>| match mass {
        None => sums_for_cpu(e, &[], c),
        Some(mass) => weighted_sums_for_cpu(e, mass, c),
    };
    if exponentials.len() <= CHUNK {
        return part(exponentials, mass);
    }
    let chunks = exponentials.par_chunks(CHUNK).enumerate();
    let chunks: Vec<[f64; 3]> = chunks.map(|(chunk, e)| part(e, chunk_of(mass, chunk))).collect();
    chunks.iter().fold([0.0; 3], |t, s| std::array::from_fn(|k| t[k] + s[k]))
}

for_cpu!(fn sums_for_cpu(exponentials: &[f64], mass: &[f64], c: f64) -> [f64; 3] = sums_loop::<false>);
for_cpu!(fn weighted_sums_for_cpu(exponentials: &[f64], mass: &[f64], c: f64) -> [f64; 3] = sums_loop::<true>);

/// Without masses `mass` is not looked at.
#[inline(always)]
fn sums_loop<const HAS_MASS: bool>(exponentials: &[f64], mass: &[f64], c: f64) -> [f64; 3] {
    let mut lanes = [[0.0; LANES]; 3];
    let mut add = |lane: usize, e: f64, mass: f64| {
        let inverse = 1.0 / (e + c);
        let (p, q) = (e * inverse, c * inverse);
        let p_mass = if HAS_MASS { mass * p } else { p };
        let slope = p_mass * q;
        lanes[0][lane] += p_mass;
        lanes[1][lane] += slope;
        lanes[2][lane] += slope * (q - p);
    };
    let whole = exponentials.len() / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        let e = &exponentials[start..][..LANES];
        let mass = if HAS_MASS { &mass[start..][..LANES] } else { e };
        for lane in 0..LANES {
            add(lane, e[lane], mass[lane]);
        }
    }
    for i in whole..exponentials.len() {
        add(i - whole, exponentials[i], if HAS_MASS { mass[i] } else { 1.0 });
    }
    lanes.map(|lanes| lanes.iter().sum())
}

/// Replaces exponentials by pulls.
fn pulls(exponentials: &mut [f64], c: f64) {
    if exponentials.len() <= CHUNK {
        return pulls_for_cpu(exponentials, c);
    }
    exponentials.par_chunks_mut(CHUNK).for_each(|chunk| pulls_for_cpu(chunk, c));
}

for_cpu!(fn pulls_for_cpu(exponentials: &mut [f64], c: f64) = pulls_loop);

#[inline(always)]
fn pulls_loop(exponentials: &mut [f64], c: f64) {
    for e in exponentials {
        *e /= *e + c;
    }
}

/// The score that takes the last place of the strict top K.
fn strict_threshold(score: &[f64], budget: f64) -> f64 {
    let mut order = score.to_vec();
    let rank = (budget.ceil() as usize).clamp(1, order.len()) - 1;
    *order.select_nth_unstable_by(rank, |a, b| b.total_cmp(a)).1
}
