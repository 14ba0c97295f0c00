//! Importance sampling over several trajectories against its definition, finite differences and constructed data.

use crate::arms::random;
use crate::gradients::{AGREEMENT, derivative, uniform};
use crate::logs::{Log, log, odds, pulls};
use ndarray::{Array2, Array3, ArrayView3, Axis};
use restive::Trajectories;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use restive::policy::Policy;

const BOTH: [RatioUpTo; 2] = [RatioUpTo::ThisStep, RatioUpTo::PreviousStep];

/// The definition, as products of ratios: (value, dropped terms).
fn definition(log: &Log, pull: ArrayView3<f64>, g: f64, up_to: RatioUpTo) -> (f64, usize) {
    let (jj, h, n) = pull.dim();
    let (mut value, mut dropped) = (0.0, 0);
    for t in 0..h {
        for i in 0..n {
            let (mut over, mut under) = (0.0, 0.0);
            for j in 0..jj {
                let last = if up_to == RatioUpTo::ThisStep { t + 1 } else { t };
                let rho: f64 = (0..last).map(|u| log.ratio(j, u, i, pull[[j, u, i]])).product();
                if let Some(r) = log.reward(j, t, i) {
                    over += rho * r;
                    under += rho;
                }
            }
            if under > 0.0 { value += g.powi(t as i32) * over / under } else { dropped += 1 }
        }
    }
    (value, dropped)
}

#[test]
fn cwpdis_is_its_definition() {
    let mut random = random(61);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 300, true), (1, 7, 10, true), (2, 1, 3, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let (decisions, mut pull) = (log.decisions(), pulls(&log, &mut random));
        for is_strict in [false, true] {
            if is_strict {
                pull.mapv_inplace(f64::round); // exact zeros, and arms that no trajectory speaks for
            }
            let log_odds = odds(&pull);
            for up_to in BOTH {
                let found = cwpdis(&decisions, log_odds.view(), 0.9, up_to);
                let (truth, dropped) = definition(&log, pull.view(), 0.9, up_to);
                assert!((found.value - truth).abs() < 1e-12 * n as f64, "{} not {truth}", found.value);
                assert_eq!(found.dropped, dropped);
                assert!(n < 300 || dropped > 0); // arm 0 at step 1, at least
                // each trajectory once is the log itself
                assert!((found.resampled(&vec![1.0; j]) - found.value).abs() < 1e-12 * n as f64);
            }
        }
    }
}

#[test]
fn a_resampled_value_is_the_value_of_the_resampled_log() {
    let mut random = random(62);
    let log = log(8, 5, 9, true, &mut random);
    let (decisions, pull) = (log.decisions(), pulls(&log, &mut random));
    let log_odds = odds(&pull);
    let found = cwpdis(&decisions, log_odds.view(), 0.9, RatioUpTo::ThisStep);
    let which = [0, 0, 3, 5, 5, 5, 7, 2];
    let trajectories = log.trajectories.select(&which);
    let propensity = Propensity::new(&trajectories, Behaviour::Logged, 1).unwrap();
    let again = Decisions::new(&trajectories, &log.reward, &propensity);
    let log_odds = log_odds.select(Axis(0), &which);
    let again = cwpdis(&again, log_odds.view(), 0.9, RatioUpTo::ThisStep);
    // a term nobody in the resample has seen keeps its average: here the resample has dropped no more than the log
    assert_eq!(again.dropped, found.dropped);
    assert!((found.resampled(&times_drawn(&which, 8)) - again.value).abs() < 1e-12);
}

#[test]
fn the_behaviour_policy_itself_is_worth_what_was_earned() {
    let domain = Domain { instances: 1, arms: 30, budget: 7, trajectories: 12, ..Domain::five_state() };
    let instance = &domain.generate(3).unwrap()[0];
    let log = instance.trajectories();
    let earned = Array2::from_shape_fn((9, 30), |(t, i)| {
        (0..12).map(|j| f64::from(log.state()[[j, t, i]]) / 4.0).sum::<f64>() / 12.0
    });
    for behaviour in [Behaviour::Logged, Behaviour::Uniform, Behaviour::Estimated] {
        let propensity = Propensity::new(log, behaviour, 7).unwrap();
        let decisions = Decisions::new(log, instance.reward(), &propensity);
        let states = known_states(log, instance.observation());
        let log_odds = target_log_odds(states.view(), &Policy::Random, 7);
        assert_eq!(without_overlap(log, &propensity, log_odds.view()), 0);
        for up_to in BOTH {
            let found = cwpdis(&decisions, log_odds.view(), 1.0, up_to);
            // all ratios are 1 to rounding
            assert!((found.value - earned.sum()).abs() < 1e-12, "{} not {}", found.value, earned.sum());
            assert!((found.effective_sample_size - 12.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_gradient_of_cwpdis_is_that_of_its_value() {
    let mut random = random(63);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 200, true), (1, 7, 10, true), (10, 9, 12, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let decisions = log.decisions();
        for is_strict in [false, true] {
            let mut pull = pulls(&log, &mut random);
            let mut direction = pull.mapv(|_| uniform(&mut random));
            if is_strict {
                // some exact zeros and ones, at which the estimators are smooth as long as no arm dies
                pull.mapv_inplace(|p| if p < 0.2 { 0.0 } else { p.min(0.8) });
                direction.iter_mut().zip(&pull).for_each(|(d, p)| *d *= f64::from(*p > 0.0));
            }
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let check = |gradient: Array3<f64>, value: &dyn Fn(ArrayView3<f64>) -> f64| {
                let size = gradient.iter().map(|x| x * x).sum::<f64>().sqrt() * length;
                let found = (&gradient * &direction).sum();
                let truth = derivative(|t| value((&pull + &(&direction * t)).view()), 1e-3);
                assert!((found - truth).abs() <= AGREEMENT * size, "{j} {h} {n}: {found} not {truth}");
                assert!(size > 0.0 || j == 1, "a gradient to check");
            };
            for up_to in BOTH {
                let log_odds = odds(&pull);
                let found = cwpdis(&decisions, log_odds.view(), 0.9, up_to);
                check(found.pullback_pull(1.0).d_pull, &|pull| {
                    cwpdis(&decisions, odds(&pull.to_owned()).view(), 0.9, up_to).value
                });
                // the same by the log-odds: dp = p(1 − p) dz
                let slope = pull.mapv(|p| p * (1.0 - p));
                let (by_odds, by_pull) = (found.pullback(1.0).d_log_odds, found.pullback_pull(1.0).d_pull);
                assert!((&by_odds - &(&by_pull * &slope)).iter().all(|x| x.abs() < 1e-13));
            }
        }
    }
}

#[test]
fn rewards_and_discount_have_the_gradient_of_the_value() {
    let mut random = random(64);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 200, true), (1, 7, 10, true)] {
        let mut log = log(j, h, n, is_ragged, &mut random);
        let pull = pulls(&log, &mut random);
        for is_strict in [false, true] {
            let log_odds = odds(&if is_strict { pull.mapv(f64::round) } else { pull.clone() });
            for up_to in BOTH {
                let d = cwpdis(&log.decisions(), log_odds.view(), 0.9, up_to).pullback_earned(2.5);
                // along a direction of the table, every decision by the state that it saw
                let (before, direction) = (log.reward.clone(), [0.7, -1.1, 0.4]);
                let along: f64 = d
                    .d_reward
                    .indexed_iter()
                    .map(|(at, d)| match log.reward(at.0, at.1, at.2) {
                        Some(_) => d * direction[usize::from(log.trajectories.state()[at])],
                        None => {
                            assert_eq!(*d, 0.0, "nothing is known there");
                            0.0
                        }
                    })
                    .sum();
                let mut at = |step: f64| {
                    let moved = before
                        .view()
                        .column(0)
                        .iter()
                        .zip(direction)
                        .map(|(r, d)| r + step * d)
                        .collect::<Vec<_>>();
                    log.reward = restive::Reward::of_state(&moved).unwrap();
                    2.5 * cwpdis(&log.decisions(), log_odds.view(), 0.9, up_to).value
                };
                let truth = at(0.5) - at(-0.5); // linear
                assert!((along - truth).abs() < 1e-11 * n as f64, "{along} not {truth}");
                log.reward = before;
                let decisions = log.decisions();
                let truth =
                    derivative(|t| 2.5 * cwpdis(&decisions, log_odds.view(), 0.9 + t, up_to).value, 1e-3);
                assert!(
                    (d.d_discount - truth).abs() < AGREEMENT * truth.abs().max(1.0),
                    "{} not {truth}",
                    d.d_discount
                );
            }
        }
    }
}

#[test]
fn a_pull_of_zero_still_has_a_gradient() {
    // the product form divides by it; here the derivative by a pull that is 0 is that of the value, one-sided or not
    let mut random = random(64);
    let log = log(6, 4, 3, false, &mut random);
    let decisions = log.decisions();
    let mut pull = pulls(&log, &mut random);
    pull[[0, 1, 0]] = 0.0;
    pull[[2, 0, 1]] = 1.0;
    for up_to in BOTH {
        let gradient = cwpdis(&decisions, odds(&pull).view(), 0.9, up_to).pullback_pull(1.0).d_pull;
        for (at, into) in [([0, 1, 0], 1.0), ([2, 0, 1], -1.0)] {
            let value = |t: f64| {
                let mut moved = pull.clone();
                moved[at] += into * t;
                cwpdis(&decisions, odds(&moved).view(), 0.9, up_to).value
            };
            // one-sided, because a chance ends there: the error is of the order of the cube of the step
            let step = 1e-4;
            let [f0, f1, f2, f3] = [0.0, step, 2.0 * step, 3.0 * step].map(value);
            let truth = into * (-11.0 * f0 + 18.0 * f1 - 9.0 * f2 + 2.0 * f3) / (6.0 * step);
            assert!(
                (gradient[at] - truth).abs() < 1e-8 * (1.0 + truth.abs()),
                "{} not {truth}",
                gradient[at]
            );
        }
    }
}

#[test]
fn five_hundred_steps_neither_overflow_nor_vanish() {
    let mut random = random(65);
    let (j, h, n) = (20, 500, 4);
    let log = log(j, h, n, false, &mut random);
    let (decisions, pull) = (log.decisions(), pulls(&log, &mut random));
    let log_odds = odds(&pull);
    let found = cwpdis(&decisions, log_odds.view(), 0.999, RatioUpTo::ThisStep);
    // the definition in logarithms, largest ratio first
    let mut truth = 0.0;
    for i in 0..n {
        let mut rho = vec![0.0; j];
        for t in 0..h {
            rho.iter_mut().enumerate().for_each(|(j, rho)| *rho += log.ratio(j, t, i, pull[[j, t, i]]).ln());
            let top = rho.iter().fold(f64::NEG_INFINITY, |top, x| top.max(*x));
            let weight = |j: usize| (rho[j] - top).exp();
            let over: f64 = (0..j).map(|j| weight(j) * log.reward(j, t, i).unwrap()).sum();
            truth += 0.999f64.powi(t as i32) * over / (0..j).map(weight).sum::<f64>();
        }
    }
    assert!((found.value - truth).abs() < 1e-9 * truth.abs(), "{} not {truth}", found.value);
    assert_eq!(found.dropped, 0);
    assert!(
        found.pullback(1.0).d_log_odds.iter().chain(&found.pullback_pull(1.0).d_pull).all(|x| x.is_finite())
    );
}

#[test]
fn an_arm_that_no_trajectory_speaks_for_is_dropped_and_counted() {
    let mut random = random(66);
    let log = log(5, 4, 2, false, &mut random);
    let decisions = log.decisions();
    let mut pull = pulls(&log, &mut random);
    for j in 0..5 {
        // from step 2 the target never does what was logged for arm 1
        pull[[j, 2, 1]] = if log.trajectories.action()[[j, 2, 1]] == 1 { 0.0 } else { 1.0 };
    }
    let log_odds = odds(&pull);
    let found = cwpdis(&decisions, log_odds.view(), 0.5, RatioUpTo::ThisStep);
    assert_eq!(found.dropped, 2);
    assert_eq!(found.dropped_discount, 0.25 + 0.125);
    assert_eq!(found.effective_sample_sizes[[3, 1]], 0.0);
    assert!(found.effective_sample_sizes[[3, 0]] >= 1.0);
    assert!(
        found.pullback(1.0).d_log_odds.iter().chain(&found.pullback_pull(1.0).d_pull).all(|x| x.is_finite())
    );
}

#[test]
fn a_log_in_which_nothing_was_seen_answers_that_nothing_is_known() {
    let mut random = random(67);
    let log = log(4, 3, 5, false, &mut random);
    let logged = Logged {
        state: Array3::from_elem((4, 4, 5), UNSEEN),
        action: log.trajectories.action().to_owned(),
        propensity: log.trajectories.propensity().map(|p| p.to_owned()),
        reward: None,
        available: None,
    };
    let trajectories = Trajectories::new(logged, 3).unwrap();
    let decisions = Decisions::new(&trajectories, &log.reward, &log.propensity);
    let log_odds = odds(&pulls(&log, &mut random));
    for up_to in BOTH {
        let found = cwpdis(&decisions, log_odds.view(), 0.9, up_to);
        assert!(found.value.is_nan() && found.effective_sample_size == 0.0 && found.dropped == 15);
        assert!(found.pullback(1.0).d_log_odds.iter().all(|x| *x == 0.0));
    }
    let found = segmented(&decisions, log_odds.view(), 0.9);
    assert!(found.value.is_nan() && found.effective_sample_size == 0.0 && found.dropped == 20);
    assert!(found.pullback(1.0).d_log_odds.iter().all(|x| *x == 0.0));
}

/// What is unlikely is not impossible: a decision with a chance of e⁻⁸⁰⁰ may be the only one that later steps do not rule out.
#[test]
fn a_trajectory_that_seems_ruled_out_may_come_back() {
    let log = log(2, 2, 1, false, &mut random(68));
    let action = Array3::from_shape_vec((2, 3, 1), vec![1, 1, NO_ACTION, 1, 1, NO_ACTION]).unwrap();
    let reward = Array3::from_shape_vec((2, 3, 1), vec![0.0, 5.0, 0.0, 1.0, 7.0, 0.0]).unwrap();
    let logged = Logged {
        state: log.trajectories.state().to_owned(),
        action,
        propensity: Some(Array3::from_elem((2, 3, 1), 0.5)),
        reward: Some(reward),
        available: None,
    };
    let trajectories = Trajectories::new(logged, 3).unwrap();
    let propensity = Propensity::new(&trajectories, Behaviour::Logged, 1).unwrap();
    let decisions = Decisions::new(&trajectories, &log.reward, &propensity);
    // the first trajectory has e^-800 · 1, the second 1 · e^-2000
    let log_odds = Array3::from_shape_vec((2, 2, 1), vec![-800.0, 100.0, 100.0, -2000.0]).unwrap();
    let found = cwpdis(&decisions, log_odds.view(), 1.0, RatioUpTo::ThisStep);
    assert_eq!((found.value, found.dropped), (1.0 + 5.0, 0));
}
