//! Intervals cover the truth as often as they say, against exact enumeration. `examples/coverage.rs` is the long version.

use crate::arms::{Kind, random, transitions};
use crate::simulation::exact_value;
use ndarray::{Array1, Array3, s};
use restive::evaluation::*;
use restive::policy::{Policy, log_odds};
use restive::simulation::{Initial, Setting, trajectories};
use restive::{Reward, index};

const REPETITIONS: u64 = 200;
/// Of 200 nominal 95 % intervals at least 90 % and at most 99 % must cover.
const BETWEEN: std::ops::RangeInclusive<u64> = 180..=198;

#[test]
fn cwpdis_intervals_cover_the_exact_value_of_a_target_whose_arms_do_not_compete() {
    let p = transitions(Kind::Dense, 3, 2, &mut random(91));
    let reward = Reward::linear(2);
    let setting =
        Setting { motion: p.view().into(), reward: (&reward).into(), discount: 0.9, budget: 1, horizon: 3 };
    let own = [0.2, 0.5, 0.7];
    // each arm on its own: its states under a mixture of its two matrices
    let mut truth = 0.0;
    for (i, q) in own.into_iter().enumerate() {
        let mut mass = Array1::from_elem(2, 0.5);
        for t in 0..3 {
            truth += 0.9f64.powi(t) * mass[1];
            let [passive, active] = [0, 1].map(|a| mass.dot(&p.slice(s![i, .., a, ..])));
            mass = active * q + passive * (1.0 - q);
        }
    }
    for up_to in [RatioUpTo::ThisStep, RatioUpTo::PreviousStep] {
        let mut covered = 0;
        for seed in 0..REPETITIONS {
            let log = trajectories(&setting, &Initial::Uniform, &Policy::Random, 50, seed);
            let propensity = Propensity::new(&log, Behaviour::Logged, 1).unwrap();
            let decisions = Decisions::new(&log, &reward, &propensity);
            let target = Array3::from_shape_fn((50, 3, 3), |(_, _, i)| log_odds(own[i]));
            let found = cwpdis(&decisions, target.view(), 0.9, up_to);
            let resampled = bootstrap(50, 400, seed, |which, _| found.resampled(&times_drawn(which, 50)));
            let estimate = Estimate::percentile(
                found.value,
                &resampled,
                stretch(50, found.effective_sample_size),
                Covers::Trajectories,
            );
            covered += u64::from(estimate.low <= truth && truth <= estimate.high);
        }
        println!("cwpdis {up_to:?}: {covered} of {REPETITIONS}");
        assert!(BETWEEN.contains(&covered), "{up_to:?}: {covered} of {REPETITIONS}");
    }
}

#[test]
fn simulated_intervals_cover_the_exact_value_of_the_joint_chain() {
    let p = transitions(Kind::Dense, 3, 2, &mut random(92));
    let reward = Reward::linear(2);
    let table = index::two_state::index(p.view(), reward.view(), 0.9).index;
    let setting =
        Setting { motion: p.view().into(), reward: (&reward).into(), discount: 0.9, budget: 1, horizon: 4 };
    for policy in [Policy::Strict(table.clone()), Policy::Soft(table, 0.1)] {
        let truth = exact_value(&setting, &policy);
        let mut covered = 0;
        for seed in 0..REPETITIONS {
            let estimate = Simulated::new(&setting, &Initial::Uniform, &policy, 50, seed).estimate();
            covered += u64::from(estimate.low <= truth && truth <= estimate.high);
        }
        println!("simulated: {covered} of {REPETITIONS}");
        assert!(BETWEEN.contains(&covered), "{covered} of {REPETITIONS}");
    }
}
