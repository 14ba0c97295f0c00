//! One instance judged by importance sampling: CWPDIS, or the segmented variant of a single trajectory.

use super::bootstrap::Units;
use super::draws::{Draws, Seeds};
use super::evaluate::{Case, EvaluationSettings};
use super::{
    Decisions, Estimator, Propensity, RatioUpTo, bootstrap, cwpdis, known_states, segmented, target_log_odds,
    target_log_odds_available, times_drawn, without_overlap,
};
use crate::instance::Instance;
use crate::policy::Policy;
use ndarray::Array3;

/// CWPDIS, or the segmented variant of a single trajectory.
pub(super) fn ratio_draws(
    case: &Case<'_>,
    settings: &EvaluationSettings,
    propensity: &Propensity,
    seeds: Seeds,
) -> (Estimator, Vec<Draws>) {
    let (instance, log) = (case.instance, case.instance.trajectories());
    let decisions = Decisions::new(log, instance.reward(), propensity);
    let states = known_states(log, instance.observation());
    let discount = instance.discount();
    let is_single = log.trajectories() == 1;
    let target = |policy: &Policy| match log.available() {
        None => target_log_odds(states.view(), policy, instance.budget()),
        Some(available) => target_log_odds_available(states.view(), available, policy, instance.budget()),
    };
    let targets: Vec<Array3<f64>> = case.policies.iter().map(|(_, policy)| target(policy)).collect();
    let units = Units::new(instance);
    // a dropped term counts as an average reward; at worst it was the smallest, at best the largest
    let (mean, smallest, largest) = decisions.reward_moments();
    let slack = |terms: f64| [terms * (mean - smallest), terms * (largest - mean)];
    let draws = targets.iter().map(|log_odds| {
        let missed = without_overlap(log, propensity, log_odds.view());
        if is_single {
            let solved = segmented(&decisions, log_odds.view(), discount);
            let terms: f64 = (0..log.steps() - 1).map(|t| discount.powi(t as i32)).sum();
            let fill = terms * mean;
            let arm: Vec<f64> = (0..log.arms())
                .map(|i| solved.arm_value[[0, i]] + fill * f64::from(solved.is_dropped(0, i)))
                .collect();
            let sum = |which: &[usize], _| {
                let drawn = units.arms(which);
                drawn.iter().map(|&i| arm[i]).sum::<f64>() * units.scale(drawn.len())
            };
            return Draws {
                value: arm.iter().sum(),
                resamples: bootstrap(units.count(), settings.resamples, seeds.resamples, sum),
                slack: slack(terms * solved.dropped as f64),
                effective_sample_size: Some(solved.effective_sample_size),
                dropped: solved.dropped,
                is_imputed: solved.dropped == log.arms(),
                without_overlap: missed,
                ..Draws::default()
            };
        }
        let up_to =
            if reward_depends_on_action(instance) { RatioUpTo::ThisStep } else { settings.ratio_up_to };
        let solved = cwpdis(&decisions, log_odds.view(), discount, up_to);
        let fill = solved.dropped_discount * mean;
        let j = log.trajectories();
        let resample = |which: &[usize], _| solved.resampled(&times_drawn(which, j)) + fill;
        Draws {
            value: solved.arm_value.sum() + fill,
            resamples: bootstrap(j, settings.resamples, seeds.resamples, resample),
            slack: slack(solved.dropped_discount),
            effective_sample_size: Some(solved.effective_sample_size),
            dropped: solved.dropped,
            is_imputed: solved.dropped == (log.steps() - 1) * log.arms(),
            without_overlap: missed,
            ..Draws::default()
        }
    });
    let draws = draws.collect();
    (if is_single { Estimator::Segmented } else { Estimator::Is }, draws)
}

/// Whether R(s, 0) and R(s, 1) differ anywhere, or rewards were logged.
fn reward_depends_on_action(instance: &Instance) -> bool {
    let table = instance.reward().view();
    table.column(0) != table.column(1) || instance.trajectories().reward().is_some()
}
