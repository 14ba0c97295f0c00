//! Evaluation on logs with availability: fluid values against masses moved by hand, simulated values against single arms enumerated.

use crate::arms::{Kind, random, transitions};
use ndarray::{Array2, Array3};
use restive::evaluation::*;
use restive::instance::{
    Instance, Layout, Logged, NO_ACTION, Observation, Parts, Reward, Trajectories, Transition, UNSEEN,
};
use restive::policy::Policy;
use restive::simulation::AvailabilityChain;

const DISCOUNT: f64 = 0.9;
const ARMS: usize = 6;
const STEPS: usize = 3;

/// One row per step: whether each of the six arms is available.
type Rows = [[bool; ARMS]; STEPS];

const O: bool = false;
const I: bool = true;
const AVAILABLE: [Rows; 2] = [
    [[I, O, I, I, O, I], [I, O, O, I, I, I], [O, O, I, I, I, O]],
    [[I, I, I, O, O, I], [O, I, I, O, I, I], [I, I, O, I, O, I]],
];
const FIRST: [[u16; ARMS]; 2] = [[0, 0, 0, 0, 1, 1], [1, 0, 1, 1, 0, 1]];
const LAST: [[u16; ARMS]; 2] = [[1, 0, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]];

/// Arms that are seen at the first and at the last step only, so that no move is: all moves are those foreseen.
fn seen_twice(trajectories: usize, available: &[Rows], budget: usize, truth: &Transition) -> Instance {
    let dim = (trajectories, STEPS, ARMS);
    let state = Array3::from_shape_fn(dim, |(j, t, i)| [FIRST[j][i], UNSEEN, LAST[j][i]][t]);
    let action = Array3::from_shape_fn(dim, |(_, t, _)| [0, 0, NO_ACTION][t]);
    let available = Some(Array3::from_shape_fn(dim, |(j, t, i)| available[j][t][i]));
    let logged = Logged { state, action, propensity: None, reward: None, available };
    let parts = Parts {
        features: Array2::ones((ARMS, 1)),
        trajectories: Trajectories::new(logged, 2).unwrap(),
        reward: Reward::linear(2),
        budget,
        discount: DISCOUNT,
        truth: Some(truth.clone()),
        observation: Observation::Full,
        clusters: None,
    };
    Instance::new(parts).unwrap()
}

fn transition(seed: u64) -> Transition {
    Transition::new(transitions(Kind::Dense, ARMS, 2, &mut random(seed)), Layout::Nsas).unwrap()
}

fn table() -> Array2<f64> {
    // no two scores are equal
    Array2::from_shape_fn((ARMS, 2), |(i, s)| ((2 * i + s) as f64 * 2.3).sin())
}

fn evaluated(instance: &Instance, start: Start, horizon: usize, runs: usize) -> Evaluation {
    let policies = [
        ("no-action", Policy::NoAction),
        ("random", Policy::Random),
        ("round-robin", Policy::RoundRobin),
        ("strict", Policy::Strict(table())),
    ];
    let policies = policies.map(|(name, policy)| (name.to_string(), policy)).to_vec();
    let truth = instance.truth().unwrap();
    let prediction = Some(Foreseen { transition: truth, strength: [1.0; 2], drawn: None });
    let settings = EvaluationSettings {
        behaviour: None,
        start,
        runs,
        resamples: 20,
        runs_per_resample: 2,
        ..EvaluationSettings::new(horizon)
    };
    evaluate(&[Case { instance, policies, prediction }], &settings).unwrap()
}

/// The chain of the log, counted by hand.
fn counted(available: &[Rows]) -> AvailabilityChain {
    let mut n = [[1.0; 2]; 2];
    for rows in available {
        for (before, after) in rows.iter().zip(&rows[1..]) {
            for (before, after) in before.iter().zip(after) {
                n[usize::from(*before)][usize::from(*after)] += 1.0;
            }
        }
    }
    let share = |[absent, present]: [f64; 2]| present / (absent + present);
    AvailabilityChain { stays: share(n[1]), returns: share(n[0]) }
}

/// Masses of (arm, availability, state) under pulls that hold the budget on average.
fn mean_field(
    policy: &str,
    p: &Transition,
    mut mass: Array3<f64>,
    chain: AvailabilityChain,
    budget: usize,
    horizon: usize,
) -> f64 {
    let mut value = 0.0;
    for t in 0..horizon {
        let mut pull = Array2::<f64>::zeros((ARMS, 2));
        let mut left = budget as f64;
        match policy {
            "random" => {
                let all = mass.index_axis(ndarray::Axis(1), 1).sum();
                pull.fill((left / all).min(1.0));
            }
            "round-robin" => {
                for i in (0..ARMS).map(|k| (t * budget + k) % ARMS) {
                    let own = mass[[i, 1, 0]] + mass[[i, 1, 1]];
                    let taken = own.min(left);
                    left -= taken;
                    pull.row_mut(i).fill(if own > 0.0 { taken / own } else { 0.0 });
                }
            }
            "strict" => {
                let score = table();
                let mut order: Vec<(usize, usize)> = (0..2 * ARMS).map(|k| (k / 2, k % 2)).collect();
                order.sort_by(|a, b| score[[b.0, b.1]].total_cmp(&score[[a.0, a.1]]));
                for (i, s) in order {
                    let taken = mass[[i, 1, s]].min(left);
                    left -= taken;
                    pull[[i, s]] = if taken > 0.0 { taken / mass[[i, 1, s]] } else { 0.0 };
                }
            }
            _ => (),
        }
        let mut next = Array3::zeros((ARMS, 2, 2));
        for ((i, v, s), &here) in mass.indexed_iter() {
            value += DISCOUNT.powi(t as i32) * here * s as f64;
            let rate = if v == 1 { pull[[i, s]] } else { 0.0 };
            let up = if v == 1 { chain.stays } else { chain.returns };
            for to in 0..2 {
                let [passive, active] = [0, 1].map(|a| p.view()[[i, s, a, to]]);
                let moved = here * (rate * active + (1.0 - rate) * passive);
                next[[i, 1, to]] += moved * up;
                next[[i, 0, to]] += moved * (1.0 - up);
            }
        }
        mass = next;
    }
    value
}

#[test]
fn fluid_values_with_availability_are_those_of_masses_moved_by_hand() {
    let p = transition(386);
    for (trajectories, latest) in [(1, 0), (2, 1)] {
        for budget in [0, 2, 4, ARMS] {
            let available = &AVAILABLE[..trajectories];
            let instance = seen_twice(trajectories, available, budget, &p);
            let chain = counted(available);
            let fitted = AvailabilityChain::fit(&[instance.trajectories()]).unwrap();
            assert!((fitted.stays - chain.stays).abs() + (fitted.returns - chain.returns).abs() < 1e-15);
            let stationary = chain.returns / (1.0 - chain.stays + chain.returns);
            for start in [Start::First, Start::Latest, Start::Uniform] {
                let mut mass = Array3::zeros((ARMS, 2, 2));
                for i in 0..ARMS {
                    match start {
                        Start::First => (0..trajectories).for_each(|j| {
                            let v = usize::from(available[j][0][i]);
                            mass[[i, v, usize::from(FIRST[j][i])]] += 1.0 / trajectories as f64;
                        }),
                        Start::Latest => {
                            let v = usize::from(available[latest][STEPS - 1][i]);
                            mass[[i, v, usize::from(LAST[latest][i])]] = 1.0;
                        }
                        Start::Uniform => (0..2).for_each(|s| {
                            mass[[i, 1, s]] = 0.5 * stationary;
                            mass[[i, 0, s]] = 0.5 * (1.0 - stationary);
                        }),
                    }
                }
                let found = evaluated(&instance, start, 5, 4);
                for name in ["no-action", "random", "round-robin", "strict"] {
                    let truth = mean_field(name, &p, mass.clone(), chain, budget, 5);
                    let value = found.score(name, Estimator::Fluid).unwrap().value.value;
                    let what = format!("{name}, {start:?}, {trajectories} trajectories, budget {budget}");
                    assert!((value - truth).abs() < 1e-10, "{what}: {value} not {truth}");
                }
            }
        }
    }
}

/// Expected value from the first step where every available arm is pulled, so that arms do not compete: state and availability of one
/// arm at a time, with availability as logged and then by the chain.
fn as_logged(p: &Transition, rows: &[Rows], chain: AvailabilityChain, horizon: usize) -> f64 {
    let mut value = 0.0;
    for (j, rows) in rows.iter().enumerate() {
        for i in 0..ARMS {
            let mut mass = [[0.0; 2]; 2];
            mass[usize::from(rows[0][i])][usize::from(FIRST[j][i])] = 1.0;
            for t in 0..horizon {
                let mut next = [[0.0; 2]; 2];
                for (v, s) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    value += DISCOUNT.powi(t as i32) * mass[v][s] * s as f64;
                    let up = match rows.get(t + 1) {
                        Some(logged) => f64::from(logged[i]),
                        None if v == 1 => chain.stays,
                        None => chain.returns,
                    };
                    for to in 0..2 {
                        let moved = mass[v][s] * p.view()[[i, s, v, to]];
                        next[1][to] += moved * up;
                        next[0][to] += moved * (1.0 - up);
                    }
                }
                mass = next;
            }
        }
    }
    value / rows.len() as f64
}

/// The same from the last step of a trajectory on: a budget for all arms pulls whoever is available.
fn from_latest(p: &Transition, last: usize, chain: AvailabilityChain, horizon: usize) -> f64 {
    let mut mass = Array3::zeros((ARMS, 2, 2));
    for i in 0..ARMS {
        let v = usize::from(AVAILABLE[last][STEPS - 1][i]);
        mass[[i, v, usize::from(LAST[last][i])]] = 1.0;
    }
    mean_field("random", p, mass, chain, ARMS, horizon)
}

#[test]
fn simulated_values_follow_the_logged_availability_and_then_the_chain() {
    let p = transition(387);
    for trajectories in [1, 2] {
        let available = &AVAILABLE[..trajectories];
        let instance = seen_twice(trajectories, available, ARMS, &p);
        let chain = counted(available);
        for (start, horizon) in [(Start::First, 2), (Start::First, 6), (Start::Latest, 5)] {
            let truth = match start {
                Start::First => as_logged(&p, available, chain, horizon),
                _ => from_latest(&p, trajectories - 1, chain, horizon),
            };
            let found = evaluated(&instance, start, horizon, 4000);
            let value = found.score("random", Estimator::True).unwrap().value;
            let error = (value.high - value.low) / 2.0 / NORMAL;
            // four and a half standard errors, at a fixed seed
            assert!((value.value - truth).abs() < 4.5 * error, "{start:?} {horizon}: {value:?} not {truth}");
            let simulated = found.score("random", Estimator::Simulated).unwrap().value.value;
            assert!((simulated - value.value).abs() < 1e-9, "the transitions are those foreseen");
        }
    }
    // nobody was available at a logged step: no policy pulls
    let instance = seen_twice(1, &[[[O; ARMS]; STEPS]], 2, &p);
    let found = evaluated(&instance, Start::First, STEPS, 50);
    for (name, scores) in &found.policies {
        for score in scores.iter().filter(|score| score.estimator != Estimator::Fluid) {
            assert_eq!(score.gain_over_no_action.unwrap().value, 0.0, "{name} {score:?}");
        }
    }
}
