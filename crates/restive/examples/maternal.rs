//! How methods fare on the synthetic maternal programme, judged by the strict policy on the true transitions.
//!
//!     cargo run --release -p restive --example maternal -- [SEEDS] [FIRST SEED]
//!
//! Prints the aggregates that the generator is calibrated on, and for each seed the share of the way from random calls to the
//! oracle (strict Whittle on the true transitions), at the index discount 1 − 1/H.

use ndarray::{Array2, Array4, ArrayView4, Axis, s};
use restive::Instance;
use restive::data::maternal::Maternal;
use restive::evaluation::likelihood;
use restive::index::{Algorithm, whittle_index};
use restive::policy::Policy;
use restive::predictor::{Precision, PredictorKind};
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, fit};
use std::time::Instant;

const RUNS: usize = 400;

fn main() -> restive::Result<()> {
    let asked: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let (seeds, first) = (asked.first().copied().unwrap_or(4), asked.get(1).copied().unwrap_or(0));
    let maternal = Maternal::default();
    let network = |hidden| PredictorKind::Network { hidden, dropout: 0.0 };
    let names = ["best from features", "network, published", "network", "linear", "effect"];
    let mut scores = Array2::zeros((seeds as usize, names.len()));
    let mut values = Vec::new();
    for seed in first..first + seeds {
        let start = Instant::now();
        let programme = maternal.generate(seed)?;
        let seconds = start.elapsed().as_secs_f64();
        let (train, rest) = programme.instances.split_at(8);
        let (validation, test) = rest.split_at(1);
        let best = &programme.best_from_features[9..];

        let engaged = test.iter().map(|group| value(group, &Policy::NoAction)).sum::<f64>() / 3.0;
        let loss = |prediction: &dyn Fn(usize) -> Array4<f64>| {
            let of_group =
                |k: usize| likelihood(&test[k].trajectories().counts(), prediction(k).view()).per_trajectory;
            (0..3).map(of_group).sum::<f64>() / 3.0
        };
        let share = programme.instances.iter().map(share_engaging).sum::<f64>() / 12.0;
        println!(
            "seed {seed}: generated in {seconds:.2} s; engaging {share:.3}; a group: no action {engaged:.0}, loss of the best \
             from features {:.0}, of the truth {:.0}",
            loss(&|k| best[k].view().to_owned()),
            loss(&|k| test[k].truth().expect("synthetic").view().to_owned()),
        );

        let total = |policy: &dyn Fn(usize) -> Policy| -> f64 {
            (0..3).map(|k| value(&test[k], &policy(k))).sum::<f64>() / 3.0
        };
        let random = total(&|_| Policy::Random);
        let oracle = total(&|k| strict(test[k].truth().expect("synthetic").view()));
        let mut reached = vec![total(&|k| strict(best[k].view()))];
        let kinds = [
            Config { seed, epochs: 30, ..Config::published() },
            Config { seed, kind: network(vec![64]), ..Config::recommended(train) },
            Config { seed, kind: network(vec![]), ..Config::recommended(train) },
            Config {
                kind: PredictorKind::Effect { precision: Precision::DEFAULT },
                ..Config::recommended(train)
            },
        ];
        for (name, config) in names[1..].iter().zip(kinds) {
            let start = Instant::now();
            let predictor = fit(config, train, validation)?.predictor;
            let seconds = start.elapsed().as_secs_f64();
            reached.push(total(&|k| strict(predictor.predict(test[k].features()).view())));
            println!(
                "  {name}: {seconds:.1} s, loss {:.0}",
                loss(&|k| predictor.predict(test[k].features()))
            );
        }
        println!("  value of a group: random {random:.1}, oracle {oracle:.1}, {reached:.1?}");
        for (k, value) in reached.iter().enumerate() {
            scores[[(seed - first) as usize, k]] = 100.0 * (value - random) / (oracle - random);
        }
        values.push([engaged, random, oracle]);
    }
    println!("\nshare of the way from random to oracle, %: mean ± standard error over {seeds} seeds");
    for (name, column) in names.iter().zip(scores.axis_iter(Axis(1))) {
        let error = column.std(1.0) / (seeds as f64).sqrt();
        println!("  {name:20} {:5.1} ± {error:.1}", column.mean().expect("a seed"));
    }
    let mean = |k: usize| values.iter().map(|run| run[k]).sum::<f64>() / seeds as f64;
    println!("  no action {:.1}, random {:.1}, oracle {:.1}", mean(0), mean(1), mean(2));
    Ok(())
}

/// Share of people and weeks that engage.
fn share_engaging(instance: &Instance) -> f64 {
    instance.trajectories().state().mapv(f64::from).mean().expect("some")
}

/// The strict policy for these transitions.
fn strict(transition: ArrayView4<'_, f64>) -> Policy {
    let reward = restive::Reward::linear(2);
    Policy::Strict(whittle_index(transition, reward.view(), 1.0 - 1.0 / 7.0, Algorithm::Auto).index)
}

/// The value of a policy for a group on its true transitions, from the states in which its log began.
fn value(instance: &Instance, policy: &Policy) -> f64 {
    let truth = instance.truth().expect("synthetic");
    let setting = Setting {
        motion: truth.view().into(),
        reward: instance.reward().into(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: instance.trajectories().steps() - 1,
    };
    let start = instance.trajectories().state().slice(s![.., 0, ..]).to_owned();
    values(&setting, &Initial::States(start), policy, RUNS, 5).mean().expect("some runs")
}
