//! The published experiments, repeated: `cargo run --release -p restive --example published [SEEDS]`.
//!
//! Ten instances per seed, in order seven to train, one to validate, two to test; the published profile; on the test instances
//! the predictive loss, CWPDIS and the simulated value of the soft policy as published (temperature 0.1 of the largest cost,
//! index discount 0.99), and the value of the strict policy on the true transitions. Beside each the published figure.

use restive::data::domain::Domain;
use restive::evaluation::{
    Behaviour, Decisions, Propensity, RatioUpTo, Record, World, cwpdis, first_states, known_states,
    target_pull,
};
use restive::index::whittle_index;
use restive::instance::Instance;
use restive::policy::{Policy, Temperature};
use restive::predictor::Predictor;
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, Decision, DecisionFocused, TwoStage, fit};

const DISCOUNT: f64 = 0.99;
const METRICS: [&str; 4] = ["loss", "is", "simulated", "strict, true"];

fn value(
    world: &World,
    instance: &Instance,
    initial: &Initial,
    policy: &Policy,
    runs: usize,
    seed: u64,
) -> f64 {
    let setting = Setting {
        motion: world.motion(),
        reward: world.reward(),
        discount: DISCOUNT,
        budget: instance.budget(),
        horizon: instance.trajectories().steps() - 1,
    };
    values(&setting, initial, policy, runs, seed).mean().expect("some runs")
}

/// The four metrics of a predictor on a test instance.
fn metrics(instance: &Instance, predictor: &Predictor, seed: u64) -> [f64; 4] {
    let predicted = predictor.predict(instance.features());
    let (observation, reward) = (instance.observation(), instance.reward());
    let table = whittle_index(predicted.view(), reward.view(), DISCOUNT, observation).index;
    let temperature = Temperature::Published(0.1).resolve(table.as_slice().expect("contiguous"));
    let soft = Policy::Soft(table.clone(), temperature);
    let log = instance.trajectories();
    let propensity =
        Propensity::new(log, Behaviour::Logged, instance.budget()).expect("simulated logs have propensities");
    let decisions = Decisions::new(log, instance.reward(), &propensity);
    let pull = target_pull(known_states(log, observation).view(), &soft, instance.budget());
    let estimated = World::counted(reward, &Record::new(instance));
    let truth = World::new(observation, reward, instance.truth().expect("synthetic"));
    [
        Record::new(instance).loss(predicted.view()).per_trajectory,
        cwpdis(&decisions, pull.view(), DISCOUNT, RatioUpTo::ThisStep).value,
        value(&estimated, instance, &first_states(log, observation), &soft, 100, seed),
        value(&truth, instance, &Initial::Uniform, &Policy::Strict(table), 1000, seed),
    ]
}

fn main() {
    let seeds: u64 = std::env::args().nth(1).map_or(10, |n| n.parse().expect("a number of seeds"));
    // published means: untrained network, two-stage, decision-focused
    let domains = [
        (
            "two-state",
            Domain::two_state(),
            [[624.4, 320.0, 320.5, 322.0], [433.8, 334.7, 335.4, 369.1], [453.2, 345.9, 348.4, 366.7]],
        ),
        (
            "five-state",
            Domain::five_state(),
            [[1450.5, 360.7, 360.5, 358.0], [1285.5, 362.4, 362.4, 365.8], [1306.4, 363.1, 363.5, 362.4]],
        ),
        (
            "collapsing",
            Domain::collapsing(),
            [[124.7, 301.7, 301.8, 305.0], [92.9, 313.0, 314.3, 340.6], [115.3, 323.9, 324.8, 336.6]],
        ),
    ];
    println!(
        "{seeds} seeds; mean ± standard error, published in brackets; strict values were published over 3 seeds"
    );
    for (name, domain, published) in domains {
        let mut all: [Vec<[f64; 4]>; 3] = Default::default();
        for seed in 0..seeds {
            let instances = domain.generate(seed).expect("a valid domain");
            let epochs = if name == "collapsing" { 20 } else { 50 };
            let config = Config { seed, epochs, ..Config::published() };
            let (train, validation, test) = (&instances[..7], &instances[7..8], &instances[8..]);
            let untrained =
                TwoStage::new(config.clone(), train, validation).expect("instances to train on").finish();
            let trained = fit(config.clone(), train, validation).expect("instances to train on");
            let decision = Decision::published(train[0].trajectories().steps() - 1);
            let mut through = DecisionFocused::new(config, decision, None, train, validation).expect("a log");
            while !through.is_finished() {
                through.epoch();
            }
            for (results, fitted) in all.iter_mut().zip([untrained, trained, through.finish()]) {
                let test: Vec<[f64; 4]> = test.iter().map(|i| metrics(i, &fitted.predictor, seed)).collect();
                results.push(std::array::from_fn(|k| (test[0][k] + test[1][k]) / 2.0));
            }
        }
        for ((method, results), published) in
            ["untrained", "two-stage", "decision-focused"].iter().zip(&all).zip(published)
        {
            for (k, metric) in METRICS.iter().enumerate() {
                let numbers: ndarray::Array1<f64> = results.iter().map(|r| r[k]).collect();
                let error = numbers.std(1.0) / (seeds as f64).sqrt();
                println!(
                    "{name:<11} {method:<16} {metric:<13} {:>8.1} ± {error:<4.1} [{:.1}]",
                    numbers.mean().unwrap_or(f64::NAN),
                    published[k]
                );
            }
        }
        for (k, metric) in METRICS.iter().enumerate() {
            let pairs = all[2].iter().zip(&all[1]);
            let numbers: ndarray::Array1<f64> =
                pairs.map(|(through, two_stage)| through[k] - two_stage[k]).collect();
            let error = numbers.std(1.0) / (seeds as f64).sqrt();
            println!(
                "{name:<11} difference       {metric:<13} {:>+8.2} ± {error:<4.2} [{:+.2}]",
                numbers.mean().unwrap_or(f64::NAN),
                published[2][k] - published[1][k]
            );
        }
    }
}
