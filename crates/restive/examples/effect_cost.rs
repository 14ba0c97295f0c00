//! What a fit of the effect model costs, and how that grows: `cargo run --release -p restive --example effect_cost [CASE…]`.
//!
//! Arms move by an effect model of their own, drawn at random; features are standard normal numbers or one category of many,
//! each arm has 10 steps from states drawn at random, a fifth of them pulls. Times are the best of three where a fit takes less
//! than two seconds, of one otherwise.

use ndarray::{Array2, Array4};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use restive::predictor::Precision;
use restive::predictor::logistic::{self, Logistic};
use std::time::Instant;

/// arms, numbers, categories, states
const CASES: [(&str, [usize; 4]); 16] = [
    ("arms", [1_000, 50, 0, 2]),
    ("arms", [10_000, 50, 0, 2]),
    ("arms", [100_000, 50, 0, 2]),
    ("arms", [100_000, 50, 0, 5]),
    ("states", [1_000, 16, 0, 5]),
    ("states", [1_000, 16, 0, 8]),
    ("states", [1_000, 16, 0, 10]),
    ("states", [1_000, 16, 0, 20]),
    ("many", [1_000, 16, 0, 50]),
    ("features", [10_000, 100, 0, 2]),
    ("features", [10_000, 200, 0, 2]),
    ("features", [10_000, 400, 0, 2]),
    ("categories", [10_000, 10, 100, 2]),
    ("categories", [10_000, 10, 1_000, 2]),
    ("categories", [10_000, 10, 1_000, 5]),
    ("categories", [100_000, 10, 1_000, 2]),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "{:>10} {:>7} {:>7} {:>10} {:>6} {:>5} {:>9} {:>9}",
        "", "arms", "numbers", "categories", "states", "steps", "seconds", "Gop/s"
    );
    for (name, case) in CASES.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name))
    {
        let [arms, numbers, categories, states] = *case;
        let (features, counts) = data(*case);
        let mut best = f64::INFINITY;
        let mut steps = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let fit = logistic::fit(features.view(), counts.view(), Precision::DEFAULT, None).expect("a fit");
            assert_eq!(fit.status, logistic::FitStatus::Converged, "{}", fit.gradient);
            (best, steps) = (best.min(start.elapsed().as_secs_f64()), fit.steps);
            if best > 2.0 {
                break;
            }
        }
        let rate =
            logistic::operations(features.view(), states, counts.sum(), Precision::DEFAULT) / best * 1e-9;
        println!(
            "{name:>10} {arms:>7} {numbers:>7} {categories:>10} {states:>6} {steps:>5} {best:>9.3} {rate:>9.2}"
        );
    }
}

fn data([n, numbers, categories, m]: [usize; 4]) -> (Array2<f64>, Array4<f64>) {
    let mut random = Random::seed_from_u64(7);
    let mut features = Array2::zeros((n, numbers + categories));
    for mut row in features.rows_mut() {
        (0..numbers).for_each(|f| row[f] = random.sample(StandardNormal));
        if categories > 0 {
            row[numbers + random.random_range(0..categories)] = 1.0;
        }
    }
    let mut truth = Logistic::new(numbers + categories, m, Precision::DEFAULT).expect("a model");
    truth.flat_mut().iter_mut().for_each(|x| *x = 0.3 * random.sample::<f64, _>(StandardNormal));
    let p = truth.predict(features.view());
    let mut counts = Array4::zeros((n, m, 2, m));
    for i in 0..n {
        for _ in 0..10 {
            let (s, a) = (random.random_range(0..m), usize::from(random.random_bool(0.2)));
            let mut left: f64 = random.random();
            let next = (0..m - 1).find(|next| {
                left -= p[[i, s, a, *next]];
                left < 0.0
            });
            counts[[i, s, a, next.unwrap_or(m - 1)]] += 1.0;
        }
    }
    (features, counts)
}
