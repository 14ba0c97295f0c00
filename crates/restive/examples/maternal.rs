//! The aggregates that the synthetic maternal programme is calibrated on, and the best that features can do on it.
//!
//!     cargo run --release -p restive --example maternal -- [SEEDS] [FIRST SEED]
//!
//! Values are those of the strict policy on the true transitions at the index discount 1 − 1/H, as a share of the way from random
//! calls to the oracle (strict Whittle on the true transitions). What trainings reach is in `restive experiment quality`.

use ndarray::{Array4, ArrayView4, s};
use restive::Instance;
use restive::data::maternal::Maternal;
use restive::evaluation::likelihood;
use restive::index::{Algorithm, whittle_index};
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, values};
use restive::statistics;
use std::time::Instant;

const RUNS: usize = 400;

fn main() -> restive::Result<()> {
    let asked: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let (seeds, first) = (asked.first().copied().unwrap_or(4), asked.get(1).copied().unwrap_or(0));
    let (mut scores, mut all) = (Vec::new(), Vec::new());
    for seed in first..first + seeds {
        let start = Instant::now();
        let programme = Maternal::default().generate(seed)?;
        let seconds = start.elapsed().as_secs_f64();
        let (test, best) = (&programme.instances[9..], &programme.best_from_features[9..]);
        let truth = |k: usize| test[k].truth().expect("synthetic").view();
        let mean = |number: &dyn Fn(usize) -> f64| (0..3).map(number).sum::<f64>() / 3.0;
        let loss = |transition: &dyn Fn(usize) -> Array4<f64>| {
            mean(&|k| likelihood(&test[k].trajectories().counts(), transition(k).view()).per_trajectory)
        };
        let worth = |policy: &dyn Fn(usize) -> Policy| mean(&|k| value(&test[k], &policy(k)));
        let (engaged, random) = (worth(&|_| Policy::NoAction), worth(&|_| Policy::Random));
        let (oracle, reached) = (worth(&|k| strict(truth(k))), worth(&|k| strict(best[k].view())));
        let share = programme.instances.iter().map(share_engaging).sum::<f64>() / 12.0;
        println!(
            "seed {seed}: generated in {seconds:.2} s; engaging {share:.3}; a group: loss of the best from features {:.0}, of the \
             truth {:.0}; value with no action {engaged:.1}, random {random:.1}, best from features {reached:.1}, oracle {oracle:.1}",
            loss(&|k| best[k].view().to_owned()),
            loss(&|k| truth(k).to_owned()),
        );
        scores.push(100.0 * (reached - random) / (oracle - random));
        all.push([engaged, random, oracle]);
    }
    if let Ok(found) = statistics::mean(&scores) {
        let (mean, error) = (found.mean, found.standard_error);
        println!(
            "\nbest from features: {mean:.1} ± {error:.1} % of the way from random to oracle, over {seeds} seeds"
        );
    }
    let [none, random, oracle] = [0, 1, 2].map(|k| all.iter().map(|run| run[k]).sum::<f64>() / seeds as f64);
    println!("no action {none:.1}, random {random:.1}, oracle {oracle:.1}");
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
