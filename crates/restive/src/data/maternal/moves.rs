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
//! **What features allow at best** is what endlessly many such logs would teach: E[P(s, a, ·) given x and s]. People who are seen
//! engaging are more often those whose own ε is high, so each ε counts by its density times the probability that the passive
//! chain of that person is in s.

use super::Maternal;
use crate::data::domain::normal;
use crate::data::encoding::{ColumnKind, Encoding};
use crate::error::Result;
use crate::instance::{Layout, Transition};
use crate::random::Random;
use ndarray::{Array1, Array4, ArrayView2};

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
            ColumnKind::Number { sd, .. } => vec![sd.min(1.0)],
            ColumnKind::Binary { .. } => vec![1.0],
            ColumnKind::Text { categories } => vec![1.0; categories.len()],
        });
        let coefficients: Array1<f64> = scales.map(|scale| scale * normal(random)).collect();
        let scores = reference.dot(&coefficients);
        let (mean, sd) = (scores.mean().expect("a population"), scores.std(0.0));
        Self { coefficients: coefficients / sd, offset: -mean / sd }
    }

    /// `[N]`
    fn predict(&self, features: ArrayView2<'_, f64>) -> Array1<f64> {
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
    let (known_b, own_b) = parts(baseline_spread, explained_baseline);
    let (known_c, own_c) = parts(effect_spread, explained_effect);
    let (baseline, effect) = (baseline.predict(features), effect.predict(features));
    let n = features.nrows();
    let (mut truth, mut best) = (Array4::zeros((n, 2, 2, 2)), Array4::zeros((n, 2, 2, 2)));
    for i in 0..n {
        let (b, c) = (known_b * baseline[i], maternal.effect + known_c * effect[i]);
        let (eps, zeta) = (own_b * normal(random), own_c * normal(random));
        let shift = [b + eps, b + eps + c + zeta];
        let expected = expected(typical, b, own_b, c, own_c);
        for (s, a) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let both = [(&mut truth, logistic(typical[s] + shift[a])), (&mut best, expected[s][a])];
            for (p, engaging) in both {
                p[[i, s, a, 0]] = 1.0 - engaging;
                p[[i, s, a, 1]] = engaging;
            }
        }
    }
    Ok([Transition::new(truth, Layout::Nsas)?, Transition::new(best, Layout::Nsas)?])
}

/// A spread over people, divided into what features explain and what is a person's own.
fn parts(spread: f64, explained: f64) -> (f64, f64) {
    (spread * explained.sqrt(), spread * (1.0 - explained).sqrt())
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// E[P(s, a, 1) given x and s] where b and c are known but for normal parts with these standard deviations, by the
/// trapezoidal rule: its error for curves as smooth as these is far below 1e-6.
fn expected(typical: [f64; 2], b: f64, own_b: f64, c: f64, own_c: f64) -> [[f64; 2]; 2] {
    let (mut sums, mut weights) = ([[0.0; 2]; 2], [0.0; 2]);
    for (z, density) in nodes() {
        let passive = typical.map(|typical| typical + b + own_b * z);
        let [rise, stay] = passive.map(logistic);
        let engaged = rise / (rise + 1.0 - stay);
        for s in 0..2 {
            let weight = density * [1.0 - engaged, engaged][s];
            let (mut active, mut all) = (0.0, 0.0);
            for (z, density) in nodes() {
                active += density * logistic(passive[s] + c + own_c * z);
                all += density;
            }
            sums[s][0] += weight * [rise, stay][s];
            sums[s][1] += weight * active / all;
            weights[s] += weight;
        }
    }
    [0, 1].map(|s| sums[s].map(|sum| sum / weights[s]))
}

/// Places of a standard normal number and its density there, up to a factor.
fn nodes() -> impl Iterator<Item = (f64, f64)> {
    (-16..=16).map(|k| 0.4 * f64::from(k)).map(|z| (z, (-0.5 * z * z).exp()))
}
