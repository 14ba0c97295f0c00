//! Where values begin: what is known at the end of a log, and mean-field values from there, rolled forward by hand.

use ndarray::{Array2, Array3, Array4, array};
use restive::evaluation::*;
use restive::instance::{
    Chain, Instance, Layout, Logged, NO_ACTION, Observation, Parts, Reward, Trajectories, Transition, UNSEEN,
};
use restive::policy::Policy;
use restive::simulation::Initial;

const U: u16 = UNSEEN;
const N: u8 = NO_ACTION;

fn log(state: Array3<u16>, action: Array3<u8>, states: usize) -> Trajectories {
    Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, states)
        .unwrap()
}

#[test]
fn labels_age_up_to_the_end_of_the_log() {
    let latest_of = |state: Array3<u16>, action: Array3<u8>, chain: Option<usize>| {
        let labels = |chain| Observation::Collapsing(Chain::Finite(chain));
        latest(&log(state, action, 8), chain.map_or(Observation::Full, labels))
    };
    // chains of 4: the first arm is recorded throughout, the second has a gap, the third is never seen
    let state = array![[[4, 1, U], [5, U, U], [6, U, U], [7, U, U]]];
    let action = array![[[0, 0, 0], [0, N, N], [0, N, N], [N, N, N]]];
    assert_eq!(latest_of(state.clone(), action.clone(), Some(4)), [Some(7), Some(3), None]);
    assert_eq!(latest_of(state.clone(), action.clone(), None), [Some(7), Some(1), None]);
    // nothing was seen at a pull: the last label of the chain of state 0, and without labels state 0
    let starts = |observation| latest_states(&log(state.clone(), action.clone(), 8), observation);
    assert_eq!(starts(Observation::Collapsing(Chain::Finite(4))), Initial::States(array![[7, 3, 3]]));
    assert_eq!(starts(Observation::Full), Initial::States(array![[7, 1, 0]]));
    // the log ends with the step after its last action, not with the steps of longer trajectories
    let state = array![[[0], [0], [0], [0]], [[4], [U], [U], [U]]];
    let action = array![[[1], [1], [1], [N]], [[0], [N], [N], [N]]];
    assert_eq!(latest_of(state, action, Some(4)), [Some(5)]);
    // a later trajectory that knows nothing of an arm makes its label older
    let state = array![[[0, U], [1, U]], [[U, 4], [U, 5]]];
    let action = array![[[0, N], [N, N]], [[N, 0], [N, N]]];
    assert_eq!(latest_of(state, action, Some(4)), [Some(3), Some(5)]);
}

const ARMS: usize = 6;
const HORIZON: usize = 5;
const DISCOUNT: f64 = 0.9;

/// Arms that are seen at the first and at the last of three steps, so that no move is: all moves are those foreseen.
fn seen_twice(first: &[[u16; ARMS]], last: &[[u16; ARMS]], truth: &Transition) -> Instance {
    let dim = (first.len(), 3, ARMS);
    let state = Array3::from_shape_fn(dim, |(j, t, i)| [first[j][i], U, last[j][i]][t]);
    let action = Array3::from_shape_fn(dim, |(_, t, _)| [0, 0, N][t]);
    let parts = Parts {
        features: Array2::ones((ARMS, 1)),
        trajectories: log(state, action, 2),
        reward: Reward::linear(2),
        budget: 2,
        discount: DISCOUNT,
        truth: Some(truth.clone()),
        observation: Observation::Full,
        clusters: None,
    };
    Instance::new(parts).unwrap()
}

/// The chance of state 1 after each of two states without a pull and with one.
fn arms(up: [[f64; 2]; 2]) -> Transition {
    let chance = |p: f64, next: usize| if next == 1 { p } else { 1.0 - p };
    let p = Array4::from_shape_fn((ARMS, 2, 2, 2), |(_, s, a, next)| chance(up[s][a], next));
    Transition::new(p, Layout::Nsas).unwrap()
}

/// What an arm earns that begins in state 1 with some chance and is pulled at a rate.
fn by_hand(up: [[f64; 2]; 2], mut mass: f64, rate: f64) -> f64 {
    let mut value = 0.0;
    for t in 0..HORIZON {
        value += DISCOUNT.powi(t as i32) * mass;
        let next = |s: usize| (1.0 - rate) * up[s][0] + rate * up[s][1];
        mass = mass * next(1) + (1.0 - mass) * next(0);
    }
    value
}

fn scores(instance: &Instance, moves: &Transition, start: Start) -> Evaluation {
    let policies = [("no-action", Policy::NoAction), ("random", Policy::Random)];
    let policies = policies.map(|(name, policy)| (name.to_string(), policy)).to_vec();
    let prediction = Some(Foreseen { transition: moves, strength: [1.0; 2], drawn: None });
    let settings = EvaluationSettings {
        behaviour: None,
        start,
        runs: 12,
        resamples: 1000,
        runs_per_resample: 2,
        ..EvaluationSettings::new(HORIZON)
    };
    evaluate(&[Case { instance, policies, prediction }], &settings).unwrap()
}

const UP: [[f64; 2]; 2] = [[0.1, 0.5], [0.7, 0.95]];
const FIRST: [[u16; ARMS]; 2] = [[0, 0, 0, 0, 1, 1], [1, 0, 1, 1, 0, 1]];
/// the first arm is not seen in the second trajectory, nor is the second at its end
const LAST: [[u16; ARMS]; 2] = [[1, 0, 0, 1, 1, 0], [U, U, 1, 1, 1, 0]];

#[test]
fn values_begin_where_they_are_told_to() {
    let moves = arms(UP);
    for (trajectories, latest) in [(1, [1, 0, 0, 1, 1, 0]), (2, [1, 0, 1, 1, 1, 0])] {
        let mut first = FIRST;
        first[1][0] = U;
        let instance = seen_twice(&first[..trajectories], &LAST[..trajectories], &moves);
        for (start, masses) in [
            (Start::Latest, latest.map(f64::from)),
            (Start::Uniform, [0.5; ARMS]),
            (
                Start::First,
                // an arm that a trajectory never sees is in state 0 there
                match trajectories {
                    1 => FIRST[0].map(f64::from),
                    _ => [0.0, 0.0, 0.5, 0.5, 0.5, 1.0],
                },
            ),
        ] {
            let found = scores(&instance, &moves, start);
            for (name, rate) in [("no-action", 0.0), ("random", 2.0 / 6.0)] {
                let each = masses.map(|mass| by_hand(UP, mass, rate));
                let truth: f64 = each.iter().sum();
                let value = found.score(name, Estimator::Fluid).unwrap().value;
                assert!((value.value - truth).abs() < 1e-12, "{start:?} {name}: {value:?} not {truth}");
                let units = if trajectories == 1 { ARMS } else { trajectories };
                let stretch = stretch(units, units as f64);
                let reach = (value.high - value.low) / 2.0 / NORMAL / stretch;
                match (start, trajectories) {
                    // arms carry their own starts: the deviation of a sum of six that are drawn from these six
                    (Start::Latest | Start::First, 1) => {
                        let deviation = (moments(&each).1 * (ARMS - 1) as f64).sqrt();
                        // quantiles of a binomial number of six arms
                        assert!(
                            (0.8..1.3).contains(&(reach / deviation)),
                            "{start:?} {reach} not {deviation}"
                        );
                    }
                    (Start::First, _) => assert!(reach > 0.1, "trajectories that began elsewhere"),
                    // uniform states are no sample, and the latest ones are a fact
                    _ => assert!(reach < 1e-12, "{start:?} {reach}"),
                }
            }
        }
    }
}

/// Arms that stay where they begin are worth where they begin, in every run.
#[test]
fn simulated_runs_begin_in_the_latest_states() {
    let moves = arms([[0.0, 0.0], [1.0, 1.0]]);
    let instance = seen_twice(&FIRST, &[LAST[0], [1, 0, 1, 1, 1, 0]], &moves);
    let steps: f64 = (0..HORIZON).map(|t| DISCOUNT.powi(t as i32)).sum();
    let found = scores(&instance, &moves, Start::Latest);
    for estimator in [Estimator::Simulated, Estimator::True, Estimator::Fluid] {
        let value = found.score("random", estimator).unwrap().value;
        for number in [value.value, value.low, value.high] {
            assert!((number - 4.0 * steps).abs() < 1e-9, "{estimator:?} {value:?}");
        }
    }
    // the first states differ from run to run: two and four of six arms in state 1
    let first = scores(&instance, &moves, Start::First);
    let value = first.score("random", Estimator::Simulated).unwrap().value;
    assert!((value.value - 3.0 * steps).abs() < 1e-9 && value.high > value.low);
}
