//! Times the plan of one week and measures its bound: prices, and the advantages of the first step.
//!
//! `cargo run --release -p restive --example planning`; set RAYON_NUM_THREADS=1 for one thread. Two-state arms with rows uniform on
//! the simplex, 9 decisions left, a fifth of the arms pulled at each, the state after the last one counted.

use ndarray::{Array2, Array4};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::Reward;
use restive::planning::{Ending, Programme, SAMPLE, first_advantages, prices, prices_on_sample};
use std::time::Instant;

fn main() {
    println!(
        "{:>9} {:>8}  {:>7} {:>7}  {:>6} {:>14}",
        "arms", "states", "s", "of it A", "evals", "bound / arm"
    );
    for (n, m, is_sampled) in
        [(100, 2, false), (1_000, 5, false), (100_000, 2, false), (1_000_000, 2, false), (1_000_000, 2, true)]
    {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || -f64::ln(1.0 - random.random::<f64>()));
        p.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
        let keys: Vec<u64> = (0..n).map(|_| random.random()).collect();
        let reward = Reward::linear(m);
        let programme = Programme {
            motion: p.view().into(),
            reward: (&reward).into(),
            discount: 0.99,
            horizon: 9,
            ending: Ending::State,
            group: None,
            budget: &[0.2 * n as f64],
            presence: None,
        };
        let start = Array2::from_elem((n, m), 1.0 / m as f64);
        let begin = Instant::now();
        let found = if is_sampled {
            prices_on_sample(&programme, start.view(), &keys, SAMPLE)
        } else {
            prices(&programme, start.view())
        };
        let priced = begin.elapsed().as_secs_f64();
        let table = first_advantages(&programme, found.price.view());
        assert_eq!(table.nrows(), n);
        let all = begin.elapsed().as_secs_f64();
        println!(
            "{n:9} {m:8}  {all:7.3} {:7.3}  {:6} {:14.8}{}",
            all - priced,
            found.evaluations[0],
            found.bound / n as f64,
            if is_sampled { ", sampled" } else { "" }
        );
    }
}
