//! Repeated trials: estimators are unbiased, and intervals cover as often as they say.

use super::trial_world::{Setting, trial};
use restive::statistics::mean;
use restive::trial::{Effect, Estimator, Refusal};

/// Bias within 4 standard errors of itself, coverage within 4 of the binomial, standard errors within a fourth of the spread.
fn covers(setting: &Setting, first: u64) {
    const TRIALS: usize = 200;
    let trials: Vec<_> = (0..TRIALS as u64).map(|k| trial(setting, first + k)).collect();
    let truth = mean(&trials.iter().map(|(_, truth)| *truth).collect::<Vec<_>>()).unwrap().mean;
    for estimator in Estimator::ALL {
        let effects: Result<Vec<Effect>, _> = trials.iter().map(|(record, _)| estimator.of(record)).collect();
        if estimator == Estimator::Subgroup && setting.places[1] > 0 {
            assert_eq!(effects, Err(Refusal::AnotherPolicy));
            continue;
        }
        let effects = effects.unwrap();
        let errors: Vec<f64> =
            effects.iter().zip(&trials).map(|(e, (_, truth))| e.estimate - truth).collect();
        let bias = mean(&errors).unwrap();
        let name = estimator.name();
        assert!(
            bias.mean.abs() < 4.0 * bias.standard_error,
            "{name}: bias {bias:?} of {truth} in {setting:?}"
        );
        let covered =
            effects.iter().filter(|e| e.low <= truth && truth <= e.high).count() as f64 / TRIALS as f64;
        let chance = (0.95 * 0.05 / TRIALS as f64).sqrt();
        assert!((covered - 0.95).abs() < 4.0 * chance, "{name}: covers {covered} in {setting:?}");
        let estimates: Vec<f64> = effects.iter().map(|e| e.estimate).collect();
        let spread = mean(&estimates).unwrap().standard_error * (TRIALS as f64).sqrt();
        let said = effects.iter().map(|e| e.se).sum::<f64>() / TRIALS as f64;
        assert!((said / spread - 1.0).abs() < 0.25, "{name}: se {said}, spread {spread} in {setting:?}");
    }
}

#[test]
fn trials_without_and_with_an_effect_cover() {
    covers(&Setting { effect: 0.0, ..Setting::default() }, 1_000);
    covers(&Setting { effect: 0.5, ..Setting::default() }, 2_000);
}

#[test]
fn trials_of_unequal_arms_cover() {
    covers(&Setting { people: [700, 350], places: [60, 0], ..Setting::default() }, 3_000);
}

#[test]
fn trials_with_missing_outcomes_cover() {
    covers(&Setting { missing: [0.1, 0.3], ..Setting::default() }, 4_000);
    covers(&Setting { missing: [0.15, 0.15], ineligible: 0.1, ..Setting::default() }, 5_000);
}

#[test]
fn trials_against_another_policy_cover() {
    covers(&Setting { people: [400, 400], places: [40, 40], effect: 0.5, ..Setting::default() }, 6_000);
    covers(
        &Setting { people: [600, 400], places: [60, 30], missing: [0.1, 0.2], ..Setting::default() },
        7_000,
    );
}
