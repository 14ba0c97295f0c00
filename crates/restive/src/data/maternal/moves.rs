//! How the people of a synthetic programme move, and how much of it their features say.
//!
//! Person i has a baseline b_i and an effect c_i. In state s (0 not engaging, 1 engaging) the log-odds of engaging next are
//!
//! > passive: logit p_s + b_i,  active: logit p_s + b_i + c_i
//!
//! with p_s that of a typical person. With e the share that features explain and σ the spread over people,
//!
//! > b_i = σ_b (√e_b · x_i·β + √(1−e_b) · ε_i),  c_i = mean + σ_c (√e_c · x_i·η + √(1−e_c) · ζ_i),
//!
//! ε and ζ standard normal and a person's own. The scores x·β and x·η are linear in the encoded features and have mean 0 and
//! variance 1 in a reference population, so the shares are what they say. The coefficients are drawn anew with each seed: a
//! normal number per standard deviation of a feature, or per unit where that is less than 1, so that a rare category or count
//! weighs on those who have it and no more.
//!
//! What features allow at best, E[P given x], averages the logistic curve over ε and ζ: log-odds are normal given x.

use super::Maternal;
use crate::data::domain::normal;
use crate::data::encoding::{Encoding, Kind};
use crate::error::Result;
use crate::instance::{Layout, Transition};
use crate::random::Random;
use ndarray::{Array1, Array2, Array4, ArrayView2};

/// A score of people that is linear in their encoded features: mean 0, variance 1 in the reference population.
pub(super) struct Score {
    /// `[F]`
    coefficients: Array1<f64>,
    offset: f64,
}

impl Score {
    /// Draws coefficients; `reference` holds the encoded features of the reference population, `[N,F]`.
    pub(super) fn draw(encoding: &Encoding, reference: ArrayView2<'_, f64>, random: &mut Random) -> Self {
        let scales = encoding.columns.iter().flat_map(|column| match &column.kind {
            Kind::Number { sd, .. } => vec![sd.min(1.0)],
            Kind::Text { categories } => vec![1.0; categories.len()],
        });
        let coefficients: Array1<f64> = scales.map(|scale| scale * normal(random)).collect();
        let scores = reference.dot(&coefficients);
        let (mean, sd) = (scores.mean().expect("a population"), scores.std(0.0));
        Self { coefficients: coefficients / sd, offset: -mean / sd }
    }

    /// `[N]`
    fn of(&self, features: ArrayView2<'_, f64>) -> Array1<f64> {
        features.dot(&self.coefficients) + self.offset
    }
}

/// The true transitions of some people and the best prediction that their features allow, from features `[N,F]`.
pub(super) fn transitions(
    maternal: &Maternal,
    [baseline, effect]: [&Score; 2],
    features: ArrayView2<'_, f64>,
    random: &mut Random,
) -> Result<[Transition; 2]> {
    let Maternal { baseline_spread, effect_spread, explained_baseline, explained_effect, .. } = *maternal;
    let typical = [1.0 - maternal.stay_disengaged, maternal.stay_engaged].map(|p| (p / (1.0 - p)).ln());
    let (known, own) = (explained_baseline.sqrt(), (1.0 - explained_baseline).sqrt() * baseline_spread);
    let (known_effect, own_effect) =
        (explained_effect.sqrt(), (1.0 - explained_effect).sqrt() * effect_spread);
    let (baseline, effect) = (baseline.of(features), effect.of(features));
    let n = features.nrows();
    let mut engaging = [Array2::zeros((n, 4)), Array2::zeros((n, 4))]; // column 2s + a
    for i in 0..n {
        let b = baseline_spread * known * baseline[i];
        let c = maternal.effect + effect_spread * known_effect * effect[i];
        let (own_b, own_c) = (own * normal(random), own_effect * normal(random));
        for s in 0..2 {
            engaging[0][[i, 2 * s]] = logistic(typical[s] + b + own_b);
            engaging[0][[i, 2 * s + 1]] = logistic(typical[s] + b + own_b + c + own_c);
            engaging[1][[i, 2 * s]] = expected_logistic(typical[s] + b, own);
            engaging[1][[i, 2 * s + 1]] = expected_logistic(typical[s] + b + c, own.hypot(own_effect));
        }
    }
    let [truth, best] = engaging.map(|engaging| {
        let p = Array4::from_shape_fn((n, 2, 2, 2), |(i, s, a, next)| {
            let q = engaging[[i, 2 * s + a]];
            if next == 1 { q } else { 1.0 - q }
        });
        Transition::new(p, Layout::Nsas)
    });
    Ok([truth?, best?])
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// E[logistic(mean + sd·z)], z standard normal: the trapezoidal rule, whose error for so smooth a curve is far below 1e-6.
fn expected_logistic(mean: f64, sd: f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for k in -32..=32 {
        let z = 0.25 * f64::from(k);
        let weight = (-0.5 * z * z).exp();
        sum += weight * logistic(mean + sd * z);
        weights += weight;
    }
    sum / weights
}
