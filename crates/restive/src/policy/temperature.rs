//! How soft a soft policy is.
//!
//! The temperature e of [`soft_top_k`](super::soft_top_k) has the unit of the scores, and the scores' unit depends on
//! rewards, discount and dynamics. It can be set in three ways, by name:
//!
//! - **absolute**: e itself.
//! - **spread**: e = κ times the standard deviation of the scores (a table of indices, usually). Scale-free: the
//!   policy does not change when all scores are shifted or stretched. κ = 0.1 serves well.
//! - **published**: what the paper's experiments did. The transport cost of every score w, (−w − anchor)² with anchors
//!   0 and 1, is divided by its largest value in the batch before it is regularised by ε: e = ε·max(w², (w+1)²)/2. It
//!   depends on the offset of the scores as well as on their spread, so a model can change how strict its policy is
//!   by shifting its indices without ranking arms any better. It is here to reproduce published numbers (ε = 0.1): there the
//!   gradient runs through the largest cost too, and all of the published gain comes that way (docs/MEASUREMENTS.md).

use std::fmt;

/// How to set the temperature of a soft policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Temperature {
    /// e itself
    Absolute(f64),
    /// e = κ · standard deviation of the scores
    Spread(f64),
    /// e = ε · (largest transport cost of the batch) / 2
    Published(f64),
}

impl fmt::Display for Temperature {
    /// As it is written: `spread:0.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Temperature::Absolute(e) => write!(f, "absolute:{e}"),
            Temperature::Spread(kappa) => write!(f, "spread:{kappa}"),
            Temperature::Published(epsilon) => write!(f, "published:{epsilon}"),
        }
    }
}

impl Temperature {
    /// The temperature e for these scores.
    ///
    /// ```
    /// use restive::policy::Temperature;
    /// let scores = [1.0, 3.0];
    /// assert_eq!(Temperature::Spread(0.1).resolve(&scores), 0.1);
    /// assert_eq!(Temperature::Published(0.1).resolve(&scores), 0.1 * 16.0 / 2.0);
    /// ```
    pub fn resolve(self, scores: &[f64]) -> f64 {
        match self {
            Temperature::Absolute(e) => e,
            Temperature::Spread(kappa) => kappa * moments(scores).1,
            Temperature::Published(epsilon) => {
                let cost = scores.iter().fold(0.0f64, |c, w| c.max(w * w).max((w + 1.0) * (w + 1.0)));
                0.5 * epsilon * cost
            }
        }
    }

    /// Adds to `d_scores` what a cotangent of the temperature becomes on the scores it was resolved from.
    pub fn pullback_into(self, d_temperature: f64, scores: &[f64], d_scores: &mut [f64]) {
        assert_eq!(scores.len(), d_scores.len(), "d_scores: the shape of scores");
        let kappa = match self {
            Temperature::Absolute(_) => return,
            Temperature::Spread(kappa) => kappa,
            Temperature::Published(epsilon) => {
                // of equal costs the first takes all
                let cost = |w: f64| (w * w).max((w + 1.0) * (w + 1.0));
                let dearest =
                    (0..scores.len()).rev().max_by(|&a, &b| cost(scores[a]).total_cmp(&cost(scores[b])));
                if let Some(k) = dearest {
                    let w = scores[k];
                    d_scores[k] += d_temperature * epsilon * if w >= -0.5 { w + 1.0 } else { w };
                }
                return;
            }
        };
        let (mean, deviation) = moments(scores);
        if deviation == 0.0 {
            return; // all scores are equal: a kink, at which the gradient is taken as zero
        }
        let factor = d_temperature * kappa / (deviation * scores.len() as f64);
        for (d, x) in d_scores.iter_mut().zip(scores) {
            *d += factor * (x - mean);
        }
    }
}

/// Mean and standard deviation (of the numbers themselves, divided by their count).
fn moments(scores: &[f64]) -> (f64, f64) {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / n;
    (mean, (scores.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt())
}
