//! Training through the decision: the whole chain rule against finite differences, for every value, predictor and number of
//! states; and what the published temperature does to the published value.

use crate::arms::random;
use crate::golden;
use crate::gradients::{derivative, uniform};
use ndarray::{Array2, Array3, ArrayView2, ArrayView4, Axis, s};
use restive::data::domain::Domain;
use restive::evaluation::{Behaviour, DecomposedCotangent, MeanField, Relaxation, decomposed, fluid};
use restive::index::{Algorithm, whittle_index};
use restive::instance::{Instance, Logged, NO_ACTION, Observation, Parts, Reward, Trajectories};
use restive::policy::Temperature;
use restive::policy::strict::strict_top_k;
use restive::predictor::{Architecture, Precision, Predictor, PredictorKind};
use restive::training::{Config, Decision, DecisionFocused, Prior, Value};

fn decision(value: Value, temperature: Temperature) -> Decision {
    Decision {
        value,
        index_discount: 0.9,
        temperature,
        horizon: 5,
        behaviour: Behaviour::Logged,
        value_weight: 0.9,
        loss_weight: 0.1,
    }
}

fn instances(states: usize, trajectories: usize) -> Vec<Instance> {
    let size = Domain { instances: 2, arms: 12, budget: 3, horizon: 6, ..Domain::two_state() };
    Domain { states, trajectories, ..size }.generate(7).unwrap()
}

/// Three pulls per step, from these initial distributions.
fn field<'a>(
    truth: ArrayView4<'a, f64>,
    reward: ArrayView2<'a, f64>,
    start: &'a Array2<f64>,
    discount: f64,
) -> MeanField<'a> {
    let (motion, reward, initial) = (truth.into(), reward.into(), start.view());
    MeanField { motion, reward, initial, discount, budget: 3.0 }
}

fn kinds() -> [PredictorKind; 3] {
    [
        PredictorKind::Network { hidden: vec![6], dropout: 0.0 },
        PredictorKind::Network { hidden: vec![], dropout: 0.0 },
        PredictorKind::Effect { precision: Precision::DEFAULT },
    ]
}

/// A predictor with random parameters.
fn predictor(features: usize, states: usize, kind: &PredictorKind, seed: u64) -> Predictor {
    let architecture = Architecture { features, states, kind: kind.clone() };
    let mut predictor = Predictor::new(&architecture, seed).unwrap();
    let mut noise = random(seed);
    predictor.update(|flat| flat.iter_mut().for_each(|x| *x += 0.3 * uniform(&mut noise)));
    predictor
}

/// The gradient of the objective along a direction, by the pullback and by differences: 1e-6 of the lengths of both, because the
/// chain holds a softmax, an index and a threshold, each of which curves. Kinks (a ReLU, two equal indices) are avoided
/// by the choice of the seed.
pub fn check(training: &DecisionFocused, at: &Predictor, what: &str) {
    let mut noise = random(11);
    let here = training.objective(at, 0, 0);
    for _ in 0..2 {
        let direction: Vec<f64> = at.flat().iter().map(|_| uniform(&mut noise)).collect();
        let along: f64 = here.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let difference = derivative(
            |h| {
                let mut moved = at.clone();
                moved.update(|flat| flat.iter_mut().zip(&direction).for_each(|(x, d)| *x += h * d));
                training.objective(&moved, 0, 0).objective
            },
            1e-5,
        );
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = length(&here.gradient) * length(&direction);
        assert!(size > 1e-6, "{what}: no gradient");
        assert!((along - difference).abs() < 1e-6 * size, "{what}: {along} {difference} of {size}");
    }
}

#[test]
fn the_chain_rule_is_the_gradient_of_the_objective() {
    let config = Config::published();
    let temperatures = [
        Temperature::Spread(0.1),
        Temperature::Spread(0.5),
        Temperature::Absolute(0.2),
        Temperature::Published(0.1),
    ];
    for states in [2, 3, 5] {
        for trajectories in [1, 2, 10] {
            let all = instances(states, trajectories);
            let (train, validation) = all.split_at(1);
            let features = train[0].features().ncols();
            for (k, kind) in kinds().iter().enumerate() {
                let prior = Prior { predictor: predictor(features, states, kind, 30), strength: [8.0, 2.0] };
                let at = predictor(features, states, kind, 31);
                for value in Value::ALL {
                    for temperature in temperatures {
                        for prior in [None, Some(&prior)] {
                            let config = Config { kind: kind.clone(), ..config.clone() };
                            let decision = decision(value, temperature);
                            let training =
                                DecisionFocused::new(config, decision, prior, train, validation).unwrap();
                            let has_prior = prior.is_some();
                            let what = format!(
                                "{value:?}, {temperature:?}, M {states}, J {trajectories}, predictor {k}, {has_prior}"
                            );
                            check(&training, &at, &what);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_decomposed_value_is_that_of_policy_evaluation_by_iteration() {
    for states in [2, 4] {
        let instance = &instances(states, 3)[0];
        let truth = instance.truth().unwrap().view();
        let reward = instance.reward().view();
        let (n, m) = (instance.arms(), states);
        let mut noise = random(3);
        let start = Array2::from_shape_fn((n, m), |_| 0.1 + uniform(&mut noise).abs());
        let start = &start / &start.sum_axis(Axis(1)).insert_axis(Axis(1));
        let own = whittle_index(truth, reward, 0.9, Algorithm::Auto).index;
        let run = fluid(own.view(), &field(truth, reward, &start, 0.99), 0.05, 6);
        let relaxation = Relaxation::from_run(&run);
        let index = Array2::from_shape_fn((n, m), |_| uniform(&mut noise));
        let gamma = 0.9;
        let solved = decomposed(index.view(), &field(truth, reward, &start, gamma), 0.2, &relaxation);
        let spent: f64 = (&solved.pull * &relaxation.mass).sum();
        assert!((spent - 3.0).abs() < 1e-12);
        // follow the distribution of each arm for a thousand steps
        let mut value = 3.0 * relaxation.charge;
        for i in 0..n {
            let mut mass: Vec<f64> = start.row(i).to_vec();
            for t in 0..1000 {
                let weight = (1.0 - gamma) * gamma.powi(t);
                let mut next = vec![0.0; m];
                for s in 0..m {
                    let p = solved.pull[[i, s]];
                    let earned = (1.0 - p) * reward[[s, 0]] + p * (reward[[s, 1]] - relaxation.charge);
                    value += weight * mass[s] * earned;
                    for to in 0..m {
                        next[to] += mass[s] * ((1.0 - p) * truth[[i, s, 0, to]] + p * truth[[i, s, 1, to]]);
                    }
                }
                mass = next;
            }
        }
        assert!((solved.value - value).abs() < 1e-11 * value.abs(), "{} {value}", solved.value);
        // and its gradient, through the threshold, also at the average reward
        for gamma in [0.9, 1.0] {
            let value = |index: &Array2<f64>, e: f64| {
                decomposed(index.view(), &field(truth, reward, &start, gamma), e, &relaxation).value
            };
            let solved = decomposed(index.view(), &field(truth, reward, &start, gamma), 0.2, &relaxation);
            let DecomposedCotangent { d_index, d_temperature } = solved.pullback(2.0);
            let direction = Array2::from_shape_fn((n, m), |_| uniform(&mut noise));
            let along = (&d_index * &direction).sum();
            let difference = derivative(|h| 2.0 * value(&(&index + &(h * &direction)), 0.2), 1e-4);
            assert!((along - difference).abs() < 1e-7, "{along} {difference}");
            let difference = derivative(|h| 2.0 * value(&index, 0.2 + h), 1e-4);
            assert!((d_temperature - difference).abs() < 1e-7, "{d_temperature} {difference}");
        }
    }
}

#[test]
fn the_charge_is_what_the_relaxed_budget_costs_at_the_optimum() {
    // with the indices of its own world and a small temperature the decomposed policy is as good as any other we try
    let instance = &instances(2, 3)[0];
    let (truth, reward) = (instance.truth().unwrap().view(), instance.reward().view());
    let start = Array2::from_elem((12, 2), 0.5);
    let own = whittle_index(truth, reward, 0.9, Algorithm::Auto).index;
    let e = Temperature::Spread(0.02).resolve(own.as_slice().unwrap());
    let relaxation = Relaxation::from_run(&fluid(own.view(), &field(truth, reward, &start, 0.99), e, 9));
    let value = |index: &Array2<f64>| {
        decomposed(index.view(), &field(truth, reward, &start, 0.9), e, &relaxation).value
    };
    let best = value(&own);
    let mut noise = random(5);
    for _ in 0..200 {
        let other = own.mapv(|w| w + 0.2 * uniform(&mut noise));
        assert!(value(&other) < best + 1e-3, "{} {best}", value(&other));
    }
}

#[test]
fn a_constant_added_to_all_indices_changes_the_published_value_and_no_decision() {
    let instance = &instances(2, 20)[0];
    let (truth, reward) = (instance.truth().unwrap(), instance.reward());
    let index = whittle_index(truth.view(), reward.view(), 0.99, Algorithm::Auto).index;
    let shifted = index.mapv(|w| w + 1.0);
    for s in 0..2 {
        let scores = |table: &Array2<f64>| table.column(s).to_vec();
        let (before, after) = (scores(&index), scores(&shifted));
        assert_eq!(strict_top_k(&before, 3, 0).pull, strict_top_k(&after, 3, 0).pull);
    }
    let start = Array2::from_elem((12, 2), 0.5);
    let value = |table: &Array2<f64>, temperature: Temperature| {
        let e = temperature.resolve(table.as_slice().unwrap());
        fluid(table.view(), &field(truth.view(), reward.view(), &start, 0.99), e, 9).value
    };
    let change = |temperature| value(&shifted, temperature) - value(&index, temperature);
    let (published, spread) = (change(Temperature::Published(0.1)), change(Temperature::Spread(0.1)));
    assert!(published < -0.1, "the published value fell by {published}");
    assert!(spread.abs() < 1e-9, "the scale-free value moved by {spread}");
}

#[test]
fn the_objective_and_its_derivative_are_those_of_the_reference() {
    let mut seen = 0;
    for case in golden::cases("decision_focused") {
        let number = |name: &str| case[name].as_f64().unwrap();
        let whole = |name: &str| case[name].as_u64().unwrap() as usize;
        let (n, f, m) = (whole("n"), whole("f"), whole("m"));
        let states = golden::numbers(&case["states"]);
        let j = case["states"].as_array().unwrap().len();
        let steps = states.len() / (j * n);
        let state =
            Array3::from_shape_vec((j, steps, n), states.iter().map(|s| *s as u16).collect()).unwrap();
        let mut action = Array3::from_elem((j, steps, n), NO_ACTION);
        let mut propensity = Array3::ones((j, steps, n));
        let decided = s![.., ..steps - 1, ..];
        let shape = (j, steps - 1, n);
        let actions = golden::numbers(&case["actions"]).iter().map(|a| *a as u8).collect();
        action.slice_mut(decided).assign(&Array3::from_shape_vec(shape, actions).unwrap());
        let logged = golden::numbers(&case["propensities"]);
        propensity.slice_mut(decided).assign(&Array3::from_shape_vec(shape, logged).unwrap());
        let logged = Logged { state, action, propensity: Some(propensity), reward: None, available: None };
        let trajectories = Trajectories::new(logged, m).unwrap();
        let features = Array2::from_shape_vec((n, f), golden::numbers(&case["features"])).unwrap();
        let (reward, budget) = (Reward::linear(m), whole("budget"));
        let instance = Instance::new(Parts {
            features,
            trajectories,
            reward,
            budget,
            discount: number("discount"),
            truth: None,
            observation: Observation::Full,
            clusters: None,
        })
        .unwrap();
        let kind = match case["predictor"].as_str().unwrap() {
            "network" => PredictorKind::Network { hidden: vec![3], dropout: 0.0 },
            "linear" => PredictorKind::Network { hidden: vec![], dropout: 0.0 },
            _ => PredictorKind::Effect { precision: Precision::DEFAULT },
        };
        let with = |params: &[f64]| {
            let architecture = Architecture { features: f, states: m, kind: kind.clone() };
            let mut predictor = Predictor::new(&architecture, 0).unwrap();
            predictor.update(|flat| flat.copy_from_slice(params));
            predictor
        };
        let x = case["temperature"][1].as_f64().unwrap();
        let weights = golden::numbers(&case["weights"]);
        let decision = Decision {
            value: *Value::ALL.iter().find(|value| value.name() == case["value_name"]).unwrap(),
            index_discount: number("index_discount"),
            temperature: match case["temperature"][0].as_str().unwrap() {
                "spread" => Temperature::Spread(x),
                "published" => Temperature::Published(x),
                _ => Temperature::Absolute(x),
            },
            horizon: whole("horizon"),
            behaviour: Behaviour::Logged,
            value_weight: weights[0],
            loss_weight: weights[1],
        };
        let prior = case["prior"].is_array().then(|| {
            let strength = golden::numbers(&case["strength"]);
            Prior { predictor: with(&golden::numbers(&case["prior"])), strength: [strength[0], strength[1]] }
        });
        let config = Config { kind: kind.clone(), ..Config::published() };
        let training =
            DecisionFocused::new(config, decision, prior.as_ref(), std::slice::from_ref(&instance), &[])
                .unwrap();
        let found = training.objective(&with(&golden::numbers(&case["params"])), 0, 0);
        // doubles against 50 digits: rounding alone
        for (name, found) in [("objective", found.objective), ("value", found.value), ("loss", found.loss)] {
            let truth = number(name);
            assert!((found - truth).abs() < 1e-12 * truth.abs().max(1.0), "{name}: {found} not {truth}");
        }
        let direction = golden::numbers(&case["direction"]);
        let along: f64 = found.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let length = found.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        assert!((along - number("derivative")).abs() < 1e-11 * length.max(1.0), "{along}");
        seen += 1;
    }
    assert_eq!(seen, 12);
}
