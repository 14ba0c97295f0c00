//! Resamples of whole clusters of arms, against arms that are alike.

use ndarray::{Array2, Array3, Array4};
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::index;
use restive::instance::{
    Instance, Layout, Logged, NO_ACTION, Observation, Parts, Reward, Trajectories, Transition, UNSEEN,
};
use restive::policy::Policy;

const DISCOUNT: f64 = 0.9;

/// Arms that stay in their states, of which no move is seen.
fn staying(states: &[u16], budget: usize, clusters: Option<Vec<u32>>) -> Instance {
    let n = states.len();
    let state = Array3::from_shape_fn((1, 2, n), |(_, t, i)| [states[i], UNSEEN][t]);
    let action = Array3::from_shape_fn((1, 2, n), |(_, t, _)| [0, NO_ACTION][t]);
    let propensity = Some(Array3::from_elem((1, 2, n), 0.5));
    let logged = Logged { state, action, propensity, reward: None, available: None };
    let parts = Parts {
        features: Array2::ones((n, 1)),
        trajectories: Trajectories::new(logged, 2).unwrap(),
        reward: Reward::linear(2),
        budget,
        discount: DISCOUNT,
        truth: None,
        observation: Observation::Full,
        clusters,
    };
    Instance::new(parts).unwrap()
}

/// Intervals of each estimator that resamples, for policies on arms of which all moves are foreseen.
fn intervals(
    instance: &Instance,
    up: [[f64; 2]; 2],
    settings: &EvaluationSettings,
) -> Vec<(String, Estimate)> {
    let n = instance.arms();
    let chance = |p: f64, to: usize| if to == 1 { p } else { 1.0 - p };
    let p = Array4::from_shape_fn((n, 2, 2, 2), |(_, s, a, to)| chance(up[s][a], to));
    let p = Transition::new(p, Layout::Nsas).unwrap();
    let policies = [
        ("no-action", Policy::NoAction),
        ("random", Policy::Random),
        ("tied", Policy::Strict(Array2::zeros((n, 2)))),
    ];
    let policies = policies.map(|(name, policy)| (name.to_string(), policy)).to_vec();
    let prediction = Some(Foreseen { transition: &p, strength: [1.0; 2], drawn: None });
    let found = evaluate(&[Case { instance, policies, prediction }], settings).unwrap();
    let each = found.policies.iter().flat_map(|(name, scores)| {
        scores.iter().map(move |score| (format!("{name} {}", score.estimator.name()), score.value))
    });
    each.collect()
}

const STAY: [[f64; 2]; 2] = [[0.0, 0.0], [1.0, 1.0]];

/// Members that are equal count as one: the variance of a sum of 200 clusters with 3 members each is 3 times that of 600 arms.
#[test]
fn intervals_by_clusters_of_equal_members_are_wider_by_the_root_of_their_number() {
    let states: Vec<u16> = (0..600).map(|i| (i / 3 % 2) as u16).collect();
    let clusters: Vec<u32> = (0..600).map(|i| 7 + 5 * (i / 3)).collect();
    for ends in [Ends::Percentiles, Ends::StandardErrors] {
        let settings = EvaluationSettings {
            runs: 2,
            runs_per_resample: 2,
            resamples: 2000,
            ends,
            ..EvaluationSettings::new(1)
        };
        let by_arms = intervals(&staying(&states, 0, None), STAY, &settings);
        let by_clusters = intervals(&staying(&states, 0, Some(clusters.clone())), STAY, &settings);
        let expected = 3f64.sqrt() * stretch(200, 200.0) / stretch(600, 600.0);
        for ((name, arms), (_, clusters)) in by_arms.iter().zip(&by_clusters) {
            assert_eq!(arms.value, clusters.value, "{name}");
            let ratio = (clusters.high - clusters.low) / (arms.high - arms.low);
            // a width from 2,000 resamples is known to 2 %, and sums of clusters lie 3 apart, 4 % of the width of 83
            assert!((ratio / expected - 1.0).abs() < 0.1, "{ends:?} {name}: {ratio} not {expected}");
        }
        assert!(by_arms.iter().any(|(name, _)| name == "no-action segmented"));
    }
}

/// Where all arms are alike, it does not matter how many are drawn: values are scaled, and so is the budget.
#[test]
fn clusters_of_other_sizes_change_no_value_per_arm() {
    let clusters: Vec<u32> = (0..15u32).flat_map(|c| vec![c; 1 + c as usize % 5]).collect();
    let n = clusters.len();
    for ends in [Ends::Percentiles, Ends::StandardErrors] {
        let settings = EvaluationSettings {
            runs: 2,
            runs_per_resample: 2,
            resamples: 50,
            ends,
            ..EvaluationSettings::new(4)
        };
        // all in state 1 for ever: also what is simulated has no noise
        let still = intervals(&staying(&vec![1; n], 4, Some(clusters.clone())), STAY, &settings);
        for (name, value) in &still {
            let steps: f64 = (0..4).map(|t| DISCOUNT.powi(t)).sum();
            let truth = if name.ends_with("segmented") { 1.0 } else { steps } * n as f64;
            let gap = (value.value - truth).abs() + (value.high - value.low);
            assert!(gap < 1e-9, "{ends:?} {name}: {value:?} not {truth}");
        }
        // arms that pulls move, 7 of 45 at a step: in the fluid each has the same share of the pulls
        let moving =
            intervals(&staying(&vec![0; n], 7, Some(clusters.clone())), [[0.2, 0.9], [0.5, 0.8]], &settings);
        for (name, value) in moving.iter().filter(|(name, _)| name.ends_with("fluid")) {
            assert!(value.high - value.low < 1e-9, "{ends:?} {name}: {value:?}");
        }
    }
}

#[test]
fn clusters_of_one_arm_and_several_trajectories_change_nothing() {
    for trajectories in [1, 3] {
        let domain = Domain { instances: 1, arms: 12, budget: 3, trajectories, ..Domain::two_state() };
        let plain = domain.generate(6).unwrap().remove(0);
        let index = index::two_state::index(plain.truth().unwrap().view(), plain.reward().view(), 0.9).index;
        for ends in [Ends::Percentiles, Ends::StandardErrors] {
            let run = |clusters: Option<Vec<u32>>| {
                let instance = Instance::new(Parts { clusters, ..plain.parts().clone() }).unwrap();
                let policies = vec![
                    ("no-action".to_string(), Policy::NoAction),
                    ("random".into(), Policy::Random),
                    ("round-robin".into(), Policy::RoundRobin),
                    ("soft".into(), Policy::Soft(index.clone(), 0.1)),
                ];
                let settings =
                    EvaluationSettings { runs: 30, resamples: 20, ends, ..EvaluationSettings::new(5) };
                let cases = [Case { instance: &instance, policies, prediction: None }];
                format!("{:?}", evaluate(&cases, &settings).unwrap())
            };
            let alone = run(Some((0..12).rev().collect()));
            assert_eq!(alone, run(None));
            // pairs are drawn together where arms are drawn at all
            let paired = run(Some((0..12).map(|i| i / 2).collect()));
            assert_eq!(paired == alone, trajectories > 1);
        }
    }
}
