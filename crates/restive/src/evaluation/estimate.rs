//! A number with its interval, and what the interval covers.
//!
//! An interval is only as honest as its label: the noise of 1,000 rollouts says nothing about how well the transitions are
//! known. [`Covers`] names the source of the spread. All intervals are nominal 95 % intervals, of three kinds:
//!
//! - **mean**: mean ± t·s/√n of independent values, with Student's t;
//! - **percentile**: the 2.5 % and 97.5 % quantiles of a [bootstrap](super::bootstrap()), stretched about the value;
//! - **normal**: value ± 1.96 standard errors, where variances of several sources are added.
//!
//! A bootstrap of n units knows a variance too small by (n−1)/n and treats it as certain. [`stretch`] makes up for both:
//! √(n/(n−1)) with n the effective sample size, and Student's t over the normal quantile for the number of units.
//!
//! The improvement of one policy over another is a **paired difference**: both met the same noise, or the same resample of
//! the data, and the differences vary far less than the values.
//!
//! ```
//! use restive::evaluation::{Covers, Estimate, difference};
//!
//! let (strict, random) = ([11.0, 14.0, 9.0, 12.0], [10.0, 12.5, 8.0, 11.0]);
//! let gain = difference(&strict, &random);
//! assert_eq!(gain.value, 1.125);
//! assert!(gain.low > 0.7 && gain.high < 1.6); // the values themselves spread over 5
//! assert!(Estimate::mean(&strict, Covers::Rollouts).high > 14.0);
//! ```

use crate::statistics::student_quantile;

/// What the interval of an estimate covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// the noise of the simulated runs, on transitions taken as given
    Rollouts,
    /// which trajectories happened to be logged
    Trajectories,
    /// which arms happened to be in the programme
    Arms,
    /// which trajectories happened to be logged, through the transitions estimated from them, and the noise of the runs
    TrajectoriesAndRollouts,
    /// which arms happened to be in the programme, and the noise of the runs
    ArmsAndRollouts,
    /// which trajectories happened to be logged, and how well the moves are known that they do not show
    TrajectoriesAndPrediction,
    /// which arms happened to be in the programme, and how well the moves are known that the log does not show
    ArmsAndPrediction,
    /// as [`Covers::TrajectoriesAndPrediction`], and the noise of the runs
    TrajectoriesPredictionAndRollouts,
    /// as [`Covers::ArmsAndPrediction`], and the noise of the runs
    ArmsPredictionAndRollouts,
}

impl Covers {
    /// The words used in tables.
    pub const fn words(self) -> &'static str {
        match self {
            Covers::Rollouts => "rollouts",
            Covers::Trajectories => "trajectories",
            Covers::Arms => "arms",
            Covers::TrajectoriesAndRollouts => "trajectories and rollouts",
            Covers::ArmsAndRollouts => "arms and rollouts",
            Covers::TrajectoriesAndPrediction => "trajectories, and how well moves are known",
            Covers::ArmsAndPrediction => "arms, and how well their moves are known",
            Covers::TrajectoriesPredictionAndRollouts => {
                "trajectories and rollouts, and how well moves are known"
            }
            Covers::ArmsPredictionAndRollouts => "arms and rollouts, and how well their moves are known",
        }
    }
}

/// A number with a nominal 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// the number
    pub value: f64,
    /// the lower end of the interval; NaN where there is too little data for one
    pub low: f64,
    /// the upper end of the interval; NaN where there is too little data for one
    pub high: f64,
    /// how many equally weighted trajectories (or steps) the ratios are worth, where there are ratios
    pub effective_sample_size: Option<f64>,
    /// what the interval covers
    pub covers: Covers,
}

/// The 97.5 % quantile of the standard normal distribution.
pub const NORMAL: f64 = 1.959_963_984_540_054;

impl Estimate {
    /// The mean of independent values with Student's interval.
    pub fn mean(values: &[f64], covers: Covers) -> Self {
        let (mean, variance) = moments(values);
        let n = values.len() as f64;
        let reach = student_quantile(n - 1.0) * (variance / n).sqrt();
        Self { value: mean, low: mean - reach, high: mean + reach, effective_sample_size: None, covers }
    }

    /// A value with a percentile interval from its resamples, stretched about the value by a factor. Where all but 2.5 % of the resamples lie on
    /// one side of the value, resampling is off by more than it scatters, and so may the value be, to the other side: the interval is
    /// widened by its mirror image.
    pub fn percentile(value: f64, resamples: &[f64], stretch: f64, covers: Covers) -> Self {
        let mut sorted = resamples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [low, high] = [0.025, 0.975].map(|share| value + stretch * (quantile(&sorted, share) - value));
        let [low, high] = match (value > high, value < low) {
            (true, _) => [low, 2.0 * value - low],
            (_, true) => [2.0 * value - high, high],
            _ => [low, high],
        };
        Self { value, low, high, effective_sample_size: None, covers }
    }

    /// A value ± 1.96 standard errors.
    pub fn normal(value: f64, variance: f64, covers: Covers) -> Self {
        let reach = NORMAL * variance.sqrt();
        Self { value, low: value - reach, high: value + reach, effective_sample_size: None, covers }
    }
}

/// The mean of a − b, run by run, with Student's interval: both must have met the same noise in the same order.
pub fn difference(a: &[f64], b: &[f64]) -> Estimate {
    assert_eq!(a.len(), b.len(), "paired values: as many of each");
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::mean(&differences, Covers::Rollouts)
}

/// How much wider than its quantiles an interval from a bootstrap of that many units must be, when they are worth an effective
/// sample size (below 2 it counts as 2: nothing can be said with less).
pub fn stretch(units: usize, effective_sample_size: f64) -> f64 {
    let n = effective_sample_size.max(2.0);
    (n / (n - 1.0)).sqrt() * student_quantile(units.max(2) as f64 - 1.0) / NORMAL
}

/// Mean and unbiased variance; the variance of fewer than two values is NaN.
pub fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, if values.len() < 2 { f64::NAN } else { squares / (n - 1.0) })
}

/// The quantile of sorted numbers, linear between them; NaN where there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::{Covers, Estimate};

    #[test]
    fn an_interval_contains_its_value() {
        let resamples: Vec<f64> = (0..=40).map(f64::from).collect();
        let interval = |value: f64| {
            let found = Estimate::percentile(value, &resamples, 1.0, Covers::Trajectories);
            [found.low, found.high]
        };
        assert_eq!(interval(20.0), [1.0, 39.0]);
        assert_eq!(interval(39.0), [1.0, 39.0]);
        assert_eq!(interval(45.0), [1.0, 89.0]);
        assert_eq!(interval(-3.0), [-45.0, 39.0]);
    }
}
