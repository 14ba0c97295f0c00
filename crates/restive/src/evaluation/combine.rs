//! From the draws of single instances to one estimate: means over the instances, paired differences, intervals.
//!
//! `is`, `segmented`, `fluid`: percentiles of the bootstrap, [stretched](super::stretch()), and mirrored where they exclude the value.
//! Where transitions are fitted to sightings `fluid` has ± 1.96 standard errors of the bootstrap instead, and where [asked for](super::Ends).
//! `true`: the noise of the runs.
//! `simulated`: the variance over the resamples less the part of it that is the noise of their few runs, plus what few logged starts
//! bring in, plus the noise of the runs behind the value itself.

use super::draws::Draws;
use super::{Case, Covers, Estimate, Estimator, moments};

/// What the intervals of an estimator cover.
pub(super) fn covers(estimator: Estimator, cases: &[Case<'_>]) -> Covers {
    let is_single = cases.iter().any(|case| case.instance.trajectories().trajectories() == 1);
    let is_uncertain =
        cases.iter().filter_map(|case| case.prediction).any(|foreseen| foreseen.is_uncertain());
    match (estimator, is_single, is_uncertain) {
        (Estimator::True, ..) => Covers::Rollouts,
        (Estimator::Is, ..) | (Estimator::Fluid, false, false) => Covers::Trajectories,
        (Estimator::Segmented, ..) | (Estimator::Fluid, true, false) => Covers::Arms,
        (Estimator::Fluid, false, true) => Covers::TrajectoriesAndPrediction,
        (Estimator::Fluid, true, true) => Covers::ArmsAndPrediction,
        (Estimator::Simulated, false, false) => Covers::TrajectoriesAndRollouts,
        (Estimator::Simulated, true, false) => Covers::ArmsAndRollouts,
        (Estimator::Simulated, false, true) => Covers::TrajectoriesPredictionAndRollouts,
        (Estimator::Simulated, true, true) => Covers::ArmsPredictionAndRollouts,
    }
}

impl Draws {
    /// The paired difference to another policy.
    pub(super) fn less(&self, other: &Draws) -> Draws {
        let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let pairs = self.resampled_runs.iter().zip(&other.resampled_runs);
        // the terms that two policies drop may be off in opposite directions; against itself a policy gains nothing
        let is_same = std::ptr::eq(self, other);
        let slack = [self.slack[0] + other.slack[1], self.slack[1] + other.slack[0]];
        Draws {
            value: self.value - other.value,
            resamples: minus(&self.resamples, &other.resamples),
            runs: minus(&self.runs, &other.runs),
            start_rows: self.start_rows,
            is_by_errors: self.is_by_errors,
            resampled_runs: pairs.map(|(a, b)| minus(a, b)).collect(),
            slack: if is_same { [0.0; 2] } else { slack },
            ..Draws::default()
        }
    }
}

/// The variance that few logged starts bring into the mean of runs that go through them in turn: that of the means by start,
/// over their number, less the noise in it. Resamples cannot show it, because their runs are too few to separate it from noise.
fn start_variance(runs: &[f64], rows: usize) -> f64 {
    if rows < 2 || runs.len() < 2 * rows {
        return 0.0;
    }
    let by_row: Vec<Vec<f64>> =
        (0..rows).map(|row| runs.iter().skip(row).step_by(rows).copied().collect()).collect();
    let means: Vec<f64> = by_row.iter().map(|runs| moments(runs).0).collect();
    let noise = by_row.iter().map(|runs| moments(runs).1 / runs.len() as f64).sum::<f64>() / rows as f64;
    ((moments(&means).1 - noise) / rows as f64).max(0.0)
}

/// The mean over the instances, with its interval.
pub(super) fn combine<'a>(
    parts: impl Iterator<Item = &'a Draws> + Clone,
    stretch: f64,
    covers: Covers,
) -> Estimate {
    let count = parts.clone().count() as f64;
    let mean = |f: &dyn Fn(&Draws) -> f64| parts.clone().map(f).sum::<f64>() / count;
    let value = mean(&|part| part.value);
    // the variance of a mean of independent instances
    let noise = |runs: &[f64]| moments(runs).1 / runs.len() as f64;
    let rollouts = mean(&|part| noise(&part.runs)) / count;
    let resamples = parts.clone().map(|part| part.resamples.len()).min().unwrap_or(0);
    let resampled: Vec<f64> = (0..resamples).map(|b| mean(&|part| part.resamples[b])).collect();
    let estimate = match covers {
        Covers::Rollouts => Estimate::normal(value, rollouts, covers),
        Covers::TrajectoriesAndRollouts
        | Covers::ArmsAndRollouts
        | Covers::TrajectoriesPredictionAndRollouts
        | Covers::ArmsPredictionAndRollouts => {
            let within = mean(&|part| {
                part.resampled_runs.iter().map(|runs| noise(runs)).sum::<f64>() / resamples as f64
            });
            let sampling = (moments(&resampled).1 - within / count).max(0.0);
            let starts = mean(&|part| start_variance(&part.runs, part.start_rows)) / count;
            Estimate::normal(value, stretch * stretch * sampling + starts + rollouts, covers)
        }
        Covers::Trajectories
        | Covers::Arms
        | Covers::TrajectoriesAndPrediction
        | Covers::ArmsAndPrediction => {
            if parts.clone().any(|part| part.is_by_errors) {
                Estimate::normal(value, stretch * stretch * moments(&resampled).1, covers)
            } else {
                Estimate::percentile(value, &resampled, stretch, covers)
            }
        }
    };
    let slack = [0, 1].map(|side| mean(&|part| part.slack[side]));
    Estimate { low: estimate.low - slack[0], high: estimate.high + slack[1], ..estimate }
}
