//! Soft top-k of a crowd: scores that stand for masses instead of single arms.
//!
//! # What it is
//! In the mean-field limit each entry k of a table of scores x carries a mass μ_k ≥ 0 (the share of an arm in a state), and
//! the threshold τ solves
//!
//! ```text
//! Σ_k μ_k pull_k = K,     pull_k = σ((x_k − τ)/e)
//! ```
//!
//! The scores stay and the masses change from step to step, so a [`Crowd`] keeps the exponentials and the order of the
//! scores. Temperature 0 is the strict limit: 1 above the threshold, 0 below, and the scores equal to it share what is left.
//!
//! # How it is computed
//! As for single arms: Newton's method in θ = (τ − ref)/e on Σ μ E/(E + e^θ) = K where that determines θ, else on the
//! *log-balance* of the masses above and below the threshold, which stays exact however small the temperature.
//!
//! # Its pullback
//! With s = pull(1 − pull), S = Σ μ s and g = Σ c s/S for a cotangent c of the pulls:
//! d_score = s(c − μ g)/e, d_mass = −pull·g, d_budget = g, d_temperature = −Σ d_score (x − τ)/e.
//!
//! ```
//! use restive::policy::soft_top_k::Crowd;
//!
//! let crowd = Crowd::new(&[0.9, 0.1, 0.4], 0.1);
//! let mut pull = [0.0; 3];
//! crowd.solve(&[0.5, 1.0, 1.5], 1.0, &mut pull);
//! assert!((0.5 * pull[0] + pull[1] + 1.5 * pull[2] - 1.0).abs() < 1e-14);
//! ```

use super::log_balance::{balance, log_sigmoid, log_sum};
use super::root::{Kind, SATURATED};

/// A table of scores at a temperature, to be solved for many masses.
pub struct Crowd {
    score: Vec<f64>,
    temperature: f64,
    /// positions, highest score first
    order: Vec<usize>,
    /// a score in the middle, and exp((x − reference)/e), infinite and 0 where it leaves the numbers
    reference: f64,
    exponential: Vec<f64>,
}

/// The threshold τ = reference + temperature·θ of one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdThreshold {
    /// τ; infinite where nobody or everybody is pulled
    pub threshold: f64,
    reference: f64,
    theta: f64,
    kind: Kind,
}

/// What a cotangent of the pulls of a crowd becomes, beside d_score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdCotangent {
    /// by the budget; d_mass is −pull times it
    pub d_budget: f64,
    /// by the temperature
    pub d_temperature: f64,
}

impl Crowd {
    /// Scores (finite) at a temperature of at least 0.
    pub fn new(score: &[f64], temperature: f64) -> Self {
        assert!(temperature >= 0.0, "temperature: at least 0, not {temperature}");
        let mut order: Vec<usize> = (0..score.len()).collect();
        order.sort_by(|&a, &b| score[b].total_cmp(&score[a]));
        let reference = order.get(order.len() / 2).map_or(0.0, |&k| score[k]);
        let exponential = score.iter().map(|x| ((x - reference) / temperature).exp()).collect();
        Self { score: score.to_vec(), temperature, order, reference, exponential }
    }

    /// Writes the pulls for these masses (both in the shape of the scores).
    pub fn solve(&self, mass: &[f64], budget: f64, pull: &mut [f64]) -> CrowdThreshold {
        assert!(mass.len() == self.score.len() && pull.len() == mass.len(), "mass, pull: as the scores");
        let fixed =
            |threshold| CrowdThreshold { threshold, reference: threshold, theta: 0.0, kind: Kind::Fixed };
        let total: f64 = mass.iter().sum();
        if budget <= 0.0 {
            pull.fill(0.0);
            return fixed(f64::INFINITY);
        }
        if budget >= total {
            pull.fill(1.0);
            return fixed(f64::NEG_INFINITY);
        }
        if self.temperature == f64::INFINITY {
            pull.fill(budget / total);
            return fixed(self.reference);
        }
        let (marginal, above) = self.marginal(mass, budget);
        if self.temperature >= f64::MIN_POSITIVE {
            let found = (self.newton(mass, budget, self.score[self.order[marginal]]))
                .map(|theta| (self.reference, theta, Kind::Smooth))
                .or_else(|| self.log_balance(mass, budget, marginal, above));
            if let Some((reference, theta, kind)) = found {
                if kind == Kind::Smooth {
                    let c = theta.exp();
                    pull.iter_mut().zip(&self.exponential).for_each(|(p, &e)| *p = part(e, c));
                } else {
                    for (p, x) in pull.iter_mut().zip(&self.score) {
                        *p = 1.0 / (1.0 + (theta - (x - reference) / self.temperature).exp());
                    }
                }
                let threshold = reference + self.temperature * theta;
                return CrowdThreshold { threshold, reference, theta, kind };
            }
        }
        fixed(self.strict(mass, budget, marginal, pull))
    }

    /// The place in the order at which the mass from the top passes the budget, and the mass above that place.
    fn marginal(&self, mass: &[f64], budget: f64) -> (usize, f64) {
        let mut above = 0.0;
        for (place, &k) in self.order.iter().enumerate() {
            if above + mass[k] > budget {
                return (place, above);
            }
            above += mass[k];
        }
        // the budget is below the total, but by less than rounding: the last mass is the marginal one
        let last = self.order.iter().rposition(|&k| mass[k] > 0.0).expect("a positive total");
        (last, above - mass[self.order[last]])
    }

    /// θ by Newton's method, held in a bracket; none where it is not well determined.
    fn newton(&self, mass: &[f64], budget: f64, start: f64) -> Option<f64> {
        let mut theta = (start - self.reference) / self.temperature;
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for _ in 0..60 {
            let c = theta.exp();
            if !(c > 1e-300 && c < 1e300) {
                return None;
            }
            let (mut sum, mut slope) = (0.0, 0.0);
            for (&e, &mass) in self.exponential.iter().zip(mass) {
                let p = part(e, c);
                sum += mass * p;
                slope += mass * p * (1.0 - p);
            }
            if !(slope > SATURATED * budget) {
                return None;
            }
            let excess = sum - budget;
            if excess > 0.0 {
                low = theta
            } else {
                high = theta
            }
            let step = excess / slope;
            if step.abs() <= 1e-8 {
                return Some(theta + step); // the error left is below step²
            }
            let next = theta + step.clamp(-3.0, 3.0);
            theta = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        Some(theta)
    }

    /// (reference, θ) from the balance of logarithms; none where scores over the temperature overflow.
    fn log_balance(
        &self,
        mass: &[f64],
        budget: f64,
        marginal: usize,
        above: f64,
    ) -> Option<(f64, f64, Kind)> {
        let (inside, outside) = self.order.split_at(marginal);
        let fraction = (budget - above).max(0.0);
        let reference = self.score[outside[0]];
        let z = |k: usize| (self.score[k] - reference) / self.temperature;
        let (top, bottom) = (z(self.order[0]), z(self.order[self.order.len() - 1]));
        if !top.is_finite() || !bottom.is_finite() {
            return None;
        }
        let share = budget / mass.iter().sum::<f64>();
        let logit = (share / (1.0 - share)).ln();
        let nearest_in = inside.iter().rev().find(|&&k| mass[k] > 0.0);
        let start = match nearest_in {
            Some(&k) if fraction == 0.0 => 0.5 * z(k),
            _ => {
                let part = (fraction / mass[outside[0]]).clamp(1e-15, 1.0 - 1e-15);
                -(part / (1.0 - part)).ln()
            }
        };
        let theta = balance((bottom - logit - 1.0, top - logit + 1.0), start, |theta| {
            let below = log_sum(outside.iter().map(|&k| (mass[k].ln(), z(k) - theta)), 0.0);
            let above = log_sum(inside.iter().map(|&k| (mass[k].ln(), theta - z(k))), fraction);
            (below, above)
        });
        Some((reference, theta, Kind::Saturated))
    }

    /// Temperature 0; returns the threshold.
    fn strict(&self, mass: &[f64], budget: f64, marginal: usize, pull: &mut [f64]) -> f64 {
        let threshold = self.score[self.order[marginal]];
        let (mut above, mut tied) = (0.0, 0.0);
        for (x, mass) in self.score.iter().zip(mass) {
            above += if *x > threshold { *mass } else { 0.0 };
            tied += if *x == threshold { *mass } else { 0.0 };
        }
        let share = ((budget - above) / tied).clamp(0.0, 1.0);
        for (p, x) in pull.iter_mut().zip(&self.score) {
            *p = if *x > threshold { 1.0 } else { f64::from(*x == threshold) * share };
        }
        threshold
    }

    /// Adds to `d_score` what a cotangent of the pulls becomes on the scores.
    pub fn pull_back(
        &self,
        solved: &CrowdThreshold,
        mass: &[f64],
        pull: &[f64],
        d_pull: &[f64],
        d_score: &mut [f64],
    ) -> CrowdCotangent {
        match solved.kind {
            Kind::Smooth => self.pull_back_smooth(solved, mass, pull, d_pull, d_score),
            Kind::Saturated => self.pull_back_saturated(solved, mass, d_pull, d_score),
            Kind::Fixed => {
                // what a larger budget buys goes to the scores that share
                let (mut gain, mut total) = (0.0, 0.0);
                for ((p, c), mass) in pull.iter().zip(d_pull).zip(mass) {
                    if *p > 0.0 && *p < 1.0 {
                        gain += c;
                        total += mass;
                    }
                }
                let d_budget = if total > 0.0 { gain / total } else { 0.0 };
                CrowdCotangent { d_budget, d_temperature: 0.0 }
            }
        }
    }

    fn pull_back_smooth(
        &self,
        solved: &CrowdThreshold,
        mass: &[f64],
        pull: &[f64],
        d_pull: &[f64],
        d_score: &mut [f64],
    ) -> CrowdCotangent {
        let (mut gain, mut total) = (0.0, 0.0);
        for ((p, c), mass) in pull.iter().zip(d_pull).zip(mass) {
            let slope = p * (1.0 - p);
            gain += slope * c;
            total += slope * mass;
        }
        let (d_budget, inverse) = (gain / total, 1.0 / self.temperature);
        let mut d_temperature = 0.0;
        for (k, d) in d_score.iter_mut().enumerate() {
            let part = pull[k] * (1.0 - pull[k]) * (d_pull[k] - mass[k] * d_budget) * inverse;
            *d += part;
            d_temperature -= part * ((self.score[k] - solved.reference) * inverse - solved.theta);
        }
        CrowdCotangent { d_budget, d_temperature }
    }

    fn pull_back_saturated(
        &self,
        solved: &CrowdThreshold,
        mass: &[f64],
        d_pull: &[f64],
        d_score: &mut [f64],
    ) -> CrowdCotangent {
        let distance = |x: f64| (x - solved.reference) / self.temperature - solved.theta;
        let log_slope = |x: f64| {
            let d = distance(x);
            log_sigmoid(d) + log_sigmoid(-d)
        };
        let massive = self.score.iter().zip(mass).filter(|(_, mass)| **mass > 0.0);
        let top = massive.fold(f64::NEG_INFINITY, |top, (&x, _)| top.max(log_slope(x)));
        let (mut gain, mut total) = (0.0, 0.0);
        for ((&x, &mass), &c) in self.score.iter().zip(mass).zip(d_pull) {
            if mass > 0.0 || c != 0.0 {
                let weight = (log_slope(x) - top).exp();
                gain += weight * c;
                total += weight * mass;
            }
        }
        let d_budget = gain / total;
        let mut d_temperature = 0.0;
        for (((d, &x), &mass), &c) in d_score.iter_mut().zip(&self.score).zip(mass).zip(d_pull) {
            let part = log_slope(x).exp() * (c - mass * d_budget) / self.temperature;
            *d += part;
            d_temperature -= part * distance(x);
        }
        CrowdCotangent { d_budget, d_temperature }
    }
}

/// e/(e + c), 1 where e is infinite.
#[inline(always)]
fn part(e: f64, c: f64) -> f64 {
    if e < 1e300 { e / (e + c) } else { 1.0 }
}
