//! Propensities, overlap and drift, on constructed data.

use crate::arms::{Kind, random, transitions};
use ndarray::{Array2, Array3};
use rand::RngExt;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Logged, NO_ACTION, Observation, OverBudget, Parts};
use restive::policy::Policy;
use restive::{Instance, Reward, Trajectories};

#[test]
fn overlap_and_zero_propensities_are_seen() {
    let domain = Domain { instances: 1, arms: 6, budget: 2, trajectories: 3, ..Domain::two_state() };
    let instance = &domain.generate(3).unwrap()[0];
    let log = instance.trajectories();
    let error = Propensity::new(log, Behaviour::Uniform, 6).unwrap_err().to_string();
    assert!(
        error.contains("found 0, expected above 0 for an action that was taken (uniform behaviour)"),
        "{error}"
    );
    // a log whose propensities say that nothing was left to chance
    let certain = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: Some(Array3::ones(log.state().dim())),
        reward: None,
        available: None,
    };
    let certain = Trajectories::new(certain, 2).unwrap();
    let propensity = Propensity::new(&certain, Behaviour::Logged, 2).unwrap();
    let random = target_log_odds(known_states(&certain, Observation::Full).view(), &Policy::Random, 2);
    assert_eq!(without_overlap(&certain, &propensity, random.view()), 3 * 9 * 6);
    let passive = target_log_odds(known_states(&certain, Observation::Full).view(), &Policy::NoAction, 2);
    assert_eq!(without_overlap(&certain, &propensity, passive.view()), 3 * 9 * 2);
    let none = Logged {
        propensity: None,
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        reward: None,
        available: None,
    };
    assert!(Propensity::new(&Trajectories::new(none, 2).unwrap(), Behaviour::Logged, 2).is_err());
    let parts = Parts { trajectories: certain, truth: None, ..instance.parts().clone() };
    let certain = Instance::new(parts).unwrap();
    let case =
        || Case { instance: &certain, policies: vec![("random".into(), Policy::Random)], prediction: None };
    let settings = EvaluationSettings { runs: 20, resamples: 4, ..EvaluationSettings::new(9) };
    let evaluation = evaluate(&[case()], &settings).unwrap();
    assert_eq!(evaluation.evidence.hindrance, Some(Hindrance::Certain));
    assert!(evaluation.score("random", Estimator::Is).is_none());
    assert!(evaluation.score("random", Estimator::Simulated).is_some());
    // it counts as uniform where somebody says so, and may be left unjudged by ratios
    for behaviour in [Some(Behaviour::Uniform), None] {
        let evaluation = evaluate(&[case()], &EvaluationSettings { behaviour, ..settings.clone() }).unwrap();
        assert_eq!(evaluation.evidence.behaviour, behaviour);
        assert_eq!(evaluation.evidence.hindrance, None);
        assert_eq!(evaluation.score("random", Estimator::Is).is_some(), behaviour.is_some());
        assert!(evaluation.score("random", Estimator::True).is_none());
    }
}

/// Every way to pull 2 of 4 arms at one step and 3 of them at the next, once each: as likely as K of N at random makes them. Weighed
/// by the propensities of its actions each arm must then count once, pulled and left alone.
#[test]
fn a_step_with_more_pulls_than_the_budget_is_weighed_by_the_pulls_that_were_made() {
    let subsets = |size: u32| (0u32..16).filter(move |set| set.count_ones() == size);
    let runs: Vec<[u32; 2]> =
        subsets(2).flat_map(|first| subsets(3).map(move |next| [first, next])).collect();
    let action = Array3::from_shape_fn((24, 3, 4), |(j, t, i)| match t {
        2 => NO_ACTION,
        _ => (runs[j][t] >> i & 1) as u8,
    });
    let logged =
        Logged { state: Array3::zeros((24, 3, 4)), action, propensity: None, reward: None, available: None };
    let parts = Parts {
        features: Array2::zeros((4, 1)),
        trajectories: Trajectories::new(logged, 2).unwrap(),
        reward: Reward::linear(2),
        budget: 2,
        discount: 0.9,
        truth: None,
        observation: Observation::Full,
        clusters: None,
    };
    let instance = Instance::new(parts).unwrap();
    let log = instance.trajectories();
    assert_eq!(log.over_budget(2), Some(OverBudget { steps: 24, most: 3 }));
    assert_eq!((log.over_budget(3), log.most_pulls()), (None, 3));
    let weight = |propensity: &Propensity, t: usize, i: usize, a: u8| {
        let runs = (0..24).filter(|j| log.action()[[*j, t, i]] == a);
        runs.map(|j| 1.0 / propensity.values[[j, t, i]]).sum::<f64>() / 24.0
    };
    let right = Propensity::of_instance(&instance, Behaviour::Uniform).unwrap();
    for (t, i, a) in (0..16).map(|k| (k / 8, k / 2 % 4, (k % 2) as u8)) {
        // 12 or 18 equal terms
        assert!((weight(&right, t, i, a) - 1.0).abs() < 1e-14, "step {t}, arm {i}, action {a}");
    }
    // today's budget for the step that had more: arms pulled then would count one and a half times
    let wrong = Propensity::new(log, Behaviour::Uniform, 2).unwrap();
    assert!((weight(&wrong, 1, 0, 1) - 1.5).abs() < 1e-14);
}

#[test]
fn drift_is_seen_where_it_is_and_not_where_it_is_not() {
    let steady = Array3::from_shape_fn((1, 8, 600), |(_, t, i)| ((i + 7 * t * (i % 3)) % 2) as u16);
    let falling = Array3::from_shape_fn((1, 8, 600), |(_, t, i)| u16::from(i % 10 > t));
    for (state, is_drifting) in [(steady, false), (falling, true)] {
        let action = Array3::from_elem(state.dim(), 0u8);
        let log =
            Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)
                .unwrap();
        assert_eq!(drift(&log).is_visible(), is_drifting, "{:?}", drift(&log));
    }
    // a stationary chain, seen many times: false alarms must be rare
    let p = transitions(Kind::Dense, 1, 2, &mut random(67));
    let (a, b) = (p[[0, 0, 0, 1]], p[[0, 1, 0, 0]]);
    let mut alarms = 0;
    let mut random = random(68);
    for _ in 0..200 {
        let mut state = Array3::zeros((1, 8, 500));
        for i in 0..500 {
            let mut s = u16::from(random.random_bool(a / (a + b)));
            for t in 0..8 {
                state[[0, t, i]] = s;
                s = if random.random_bool(if s == 0 { a } else { b }) { 1 - s } else { s };
            }
        }
        let action = Array3::from_elem(state.dim(), 0u8);
        let log =
            Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)
                .unwrap();
        alarms += usize::from(drift(&log).is_visible());
    }
    assert!(alarms <= 10, "{alarms} false alarms in 200");
}
