//! Two-stage training judged as it would be deployed: the share of the way from the random policy to the oracle.
//!
//! `cargo run --release -p restive --example two_stage -- SEEDS [STATES] [TRAJECTORIES] [FIRST SEED]`
//!
//! For each seed of a synthetic domain (7 training, 1 validation, 2 test instances) and for each profile: the test loss, the
//! epochs made, seconds per epoch, and the score of the strict policy on the true transitions (1,000 rollouts), with
//! indices at the discount 0.99 and at 1 − 1/9. The oracle has indices of the true transitions at discount 0.99. The effect
//! model gets standardised features, the networks the features as they are.

use ndarray::{Array4, Axis, concatenate};
use restive::Instance;
use restive::data::domain::Domain;
use restive::evaluation::likelihood;
use restive::index::{Algorithm, whittle_index};
use restive::policy::Policy;
use restive::predictor::{Precision, PredictorKind};
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, fit};
use std::time::Instant;

const HORIZON: usize = 9;

/// The transitions that a plan is made for.
type Predict<'a> = &'a dyn Fn(&Instance) -> Array4<f64>;

/// The mean value over the test instances of the strict policy with indices of these transitions, or of random pulls.
fn value(test: &[Instance], transition: Option<(Predict<'_>, f64)>) -> f64 {
    let one = |instance: &Instance| {
        let truth = instance.truth().expect("synthetic");
        let policy = match &transition {
            None => Policy::Random,
            Some((transition, discount)) => {
                let p = transition(instance);
                Policy::Strict(
                    whittle_index(p.view(), instance.reward().view(), *discount, Algorithm::Auto).index,
                )
            }
        };
        let setting = Setting {
            motion: truth.view().into(),
            reward: instance.reward().into(),
            discount: instance.discount(),
            budget: instance.budget(),
            horizon: HORIZON,
        };
        values(&setting, &Initial::Uniform, &policy, 1000, 99).mean().expect("runs")
    };
    test.iter().map(one).sum::<f64>() / test.len() as f64
}

/// Features in units of their standard deviation over the training instances, from their mean there.
fn standardised(all: &[Instance]) -> Vec<Instance> {
    let views: Vec<_> = all[..7].iter().map(|instance| instance.features()).collect();
    let x = concatenate(Axis(0), &views).expect("as many features");
    let (mean, deviation) = (x.mean_axis(Axis(0)).expect("arms"), x.std_axis(Axis(0), 1.0));
    let scale = |instance: &Instance| {
        let features = (&instance.features() - &mean) / &deviation;
        instance.clone().with_features(features).expect("finite")
    };
    all.iter().map(scale).collect()
}

fn mean(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let square = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, (square / n).sqrt())
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let seeds = arguments.first().copied().unwrap_or(5);
    let states = arguments.get(1).copied().unwrap_or(2);
    let trajectories = arguments.get(2).copied().unwrap_or(100);
    let first = arguments.get(3).copied().unwrap_or(0);
    let domain = Domain { states, trajectories, ..Domain::two_state() };
    let names = ["published", "recommended", "linear", "effect"];
    let mut scores: Vec<Vec<[f64; 5]>> = vec![Vec::new(); names.len()];
    for seed in first as u64..(first + seeds) as u64 {
        let all = domain.generate(seed).expect("a valid domain");
        let scaled = standardised(&all);
        let truth = |instance: &Instance| instance.truth().expect("synthetic").view().to_owned();
        let test = &all[8..];
        let (random, oracle) = (value(test, None), value(test, Some((&truth, 0.99))));
        for (k, name) in names.iter().enumerate() {
            let all = if *name == "effect" { &scaled } else { &all };
            let (train, validation, test) = (&all[..7], &all[7..8], &all[8..]);
            let config = match *name {
                "published" => Config::published(),
                "linear" => {
                    let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
                    Config { kind, ..Config::recommended(train) }
                }
                "effect" => Config {
                    kind: PredictorKind::Effect { precision: Precision::DEFAULT },
                    ..Config::recommended(train)
                },
                _ => Config::recommended(train),
            };
            let start = Instant::now();
            let fitted = fit(Config { seed, ..config }, train, validation).expect("valid data");
            let seconds = start.elapsed().as_secs_f64();
            let predict = |instance: &Instance| fitted.predictor.predict(instance.features());
            let loss = test
                .iter()
                .map(|i| likelihood(&i.trajectories().counts(), predict(i).view()).per_trajectory)
                .sum::<f64>()
                / test.len() as f64;
            let score =
                |discount| 100.0 * (value(test, Some((&predict, discount))) - random) / (oracle - random);
            let epochs = fitted.history.len() as f64;
            let matched = 1.0 - 1.0 / HORIZON as f64;
            scores[k].push([loss, epochs, 1e3 * seconds / epochs, score(0.99), score(matched)]);
            println!("{seed} {name:<12} {:?} {:?}", scores[k].last().expect("just pushed"), fitted.status);
        }
    }
    println!(
        "{:<12} {:>16} {:>16} {:>16} {:>16} {:>16}",
        "", "test loss", "epochs", "ms per epoch", "score .99", "score 1-1/H"
    );
    for (name, rows) in names.iter().zip(&scores) {
        print!("{name:<12}");
        for column in 0..5 {
            let (mean, error) = mean(&rows.iter().map(|row| row[column]).collect::<Vec<_>>());
            print!(" {mean:>9.2} ±{error:>5.2}");
        }
        println!();
    }
}
