//! The estimator for a single trajectory against a direct formula, finite differences and constructed data.

use crate::arms::random;
use crate::gradients::{AGREEMENT, derivative, uniform};
use crate::logs::{Log, log, odds, pulls};
use ndarray::{Array3, ArrayView3};
use rand::RngExt;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Logged, UNSEEN};
use restive::policy::Policy;
use restive::{Reward, Trajectories};

/// The definition, arm by arm: what the ratios of all steps weigh, times the mean of the known rewards by these weights; an
/// arm with a weight of 0 adds nothing.
fn definition(log: &Log, pull: ArrayView3<f64>, g: f64) -> f64 {
    let (jj, h, n) = pull.dim();
    let mut value = 0.0;
    for j in 0..jj {
        for i in 0..n {
            let ratios: Vec<f64> = (0..h).map(|t| log.ratio(j, t, i, pull[[j, t, i]])).collect();
            let mean_ratio = ratios.iter().sum::<f64>() / h as f64;
            let weight = |t: usize| g.powi(t as i32) * ratios[t] / mean_ratio;
            let seen: Vec<(f64, f64)> =
                (0..h).filter_map(|t| log.reward(j, t, i).map(|r| (weight(t), r))).collect();
            let known: f64 = seen.iter().map(|(w, _)| w).sum();
            if known > 0.0 {
                let reward = seen.iter().map(|(w, r)| w * r).sum::<f64>() / known;
                value += (0..h).map(weight).sum::<f64>() * reward / jj as f64;
            }
        }
    }
    value
}

#[test]
fn segmented_is_its_definition() {
    let mut random = random(61);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 300, true), (1, 7, 10, true), (2, 1, 3, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let (decisions, mut pull) = (log.decisions(), pulls(&log, &mut random));
        for is_strict in [false, true] {
            if is_strict {
                pull.mapv_inplace(f64::round); // exact zeros, and arms that the log does not speak for
            }
            let found = segmented(&decisions, odds(&pull).view(), 0.9).value;
            let truth = definition(&log, pull.view(), 0.9);
            assert!((found - truth).abs() < 1e-12 * n as f64, "{found} not {truth}");
        }
    }
}

/// What the paper writes, where nothing is missing.
#[test]
fn a_complete_log_has_the_published_value() {
    let mut random = random(71);
    let (h, n, g) = (7, 12, 0.9f64);
    let log = log(1, h, n, false, &mut random);
    let pull = pulls(&log, &mut random);
    let mut truth = 0.0;
    for i in 0..n {
        let ratio = |t: usize| log.ratio(0, t, i, pull[[0, t, i]]);
        let b = (0..h).map(ratio).sum::<f64>() / h as f64;
        truth += (0..h).map(|t| g.powi(t as i32) * log.reward(0, t, i).unwrap() * ratio(t) / b).sum::<f64>();
    }
    let found = segmented(&log.decisions(), odds(&pull).view(), g).value;
    assert!((found - truth).abs() < 1e-12 * n as f64, "{found} not {truth}");
}

/// Everybody earns the same in every state: what was not seen can change nothing.
#[test]
fn missing_steps_do_not_change_the_value_of_a_constant_reward() {
    let mut random = random(72);
    let (h, n) = (7, 40);
    let log = log(1, h, n, false, &mut random);
    let pull = pulls(&log, &mut random);
    let reward = Reward::of_state(&[0.7; 3]).unwrap();
    let all = Decisions::new(&log.trajectories, &reward, &log.propensity);
    let mut state = log.trajectories.state().to_owned();
    state.iter_mut().filter(|_| random.random_bool(0.4)).for_each(|s| *s = UNSEEN);
    state
        .index_axis_mut(ndarray::Axis(1), 3)
        .assign(&log.trajectories.state().index_axis(ndarray::Axis(1), 3));
    let logged = Logged {
        state,
        action: log.trajectories.action().to_owned(),
        propensity: log.trajectories.propensity().map(|p| p.to_owned()),
        reward: None,
        available: None,
    };
    let holes = Trajectories::new(logged, 3).unwrap();
    let some = Decisions::new(&holes, &reward, &log.propensity);
    let log_odds = odds(&pull);
    for g in [0.5, 0.9, 1.0] {
        let [all, some] = [&all, &some].map(|decisions| segmented(decisions, log_odds.view(), g));
        assert_eq!(some.dropped, 0, "every arm is seen at some step");
        assert!((all.value - some.value).abs() < 1e-12 * all.value, "{} not {}", some.value, all.value);
        let (found, truth) = (some.pullback_pull(1.0).d_pull, all.pullback_pull(1.0).d_pull);
        assert!((&found - &truth).iter().all(|x| x.abs() < 1e-12), "the same gradient");
    }
    // the behaviour itself earns the reward at every step, seen or not
    let own = Array3::from_shape_fn(pull.dim(), |at| {
        let p = log.propensity.values[at];
        if log.trajectories.action()[at] == 1 { p } else { 1.0 - p }
    });
    let steps: f64 = (0..h).map(|t| 0.9f64.powi(t as i32)).sum();
    let earned = segmented(&some, odds(&own).view(), 0.9).value;
    assert!((earned - 0.7 * n as f64 * steps).abs() < 1e-10, "{earned}");
}

#[test]
fn the_behaviour_policy_itself_is_worth_what_was_earned() {
    let domain = Domain { instances: 1, arms: 30, budget: 7, trajectories: 12, ..Domain::five_state() };
    let instance = &domain.generate(3).unwrap()[0];
    for behaviour in [Behaviour::Logged, Behaviour::Uniform, Behaviour::Estimated] {
        let one = instance.trajectories().select(&[4]);
        let propensity = Propensity::new(&one, behaviour, 7).unwrap();
        let decisions = Decisions::new(&one, instance.reward(), &propensity);
        let log_odds = target_log_odds(known_states(&one, instance.observation()).view(), &Policy::Random, 7);
        let found = segmented(&decisions, log_odds.view(), 1.0);
        let earned: f64 =
            one.state().slice(ndarray::s![0, ..9, ..]).iter().map(|&s| f64::from(s) / 4.0).sum();
        assert!((found.value - earned).abs() < 1e-12);
        assert!((found.effective_sample_size - 9.0).abs() < 1e-12);
    }
}

#[test]
fn the_gradient_of_segmented_is_that_of_its_value() {
    let mut random = random(63);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 200, true), (1, 7, 10, true), (10, 9, 12, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let decisions = log.decisions();
        for is_strict in [false, true] {
            let mut pull = pulls(&log, &mut random);
            let mut direction = pull.mapv(|_| uniform(&mut random));
            if is_strict {
                // some exact zeros, at which the estimator is smooth as long as no arm dies
                pull.mapv_inplace(|p| if p < 0.2 { 0.0 } else { p.min(0.8) });
                direction.iter_mut().zip(&pull).for_each(|(d, p)| *d *= f64::from(*p > 0.0));
            }
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let log_odds = odds(&pull);
            let judged = segmented(&decisions, log_odds.view(), 0.9);
            let gradient = judged.pullback_pull(1.0).d_pull;
            let by_odds = &gradient * &pull.mapv(|p| p * (1.0 - p));
            assert!((&judged.pullback(1.0).d_log_odds - &by_odds).iter().all(|x| x.abs() < 1e-13));
            let size = gradient.iter().map(|x| x * x).sum::<f64>().sqrt() * length;
            let found = (&gradient * &direction).sum();
            let value = |t: f64| segmented(&decisions, odds(&(&pull + &(&direction * t))).view(), 0.9).value;
            let truth = derivative(value, 1e-3);
            assert!((found - truth).abs() <= AGREEMENT * size, "{j} {h} {n}: {found} not {truth}");
            assert!(size > 0.0, "a gradient to check");
        }
    }
}

#[test]
fn rewards_and_discount_move_segmented_as_differences_say() {
    let mut random = random(64);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 60, true), (1, 7, 10, true), (2, 1, 3, false)] {
        let mut log = log(j, h, n, is_ragged, &mut random);
        let pull = pulls(&log, &mut random);
        for is_strict in [false, true] {
            let log_odds = odds(&if is_strict { pull.mapv(f64::round) } else { pull.clone() });
            let decisions = log.decisions();
            let d = segmented(&decisions, log_odds.view(), 0.9).pullback_earned(2.5);
            let (before, direction) = (log.reward.clone(), [0.7, -1.1, 0.4]);
            let (mut along, mut unknown) = (0.0, 0.0f64);
            for (at, d) in d.d_reward.indexed_iter() {
                match log.reward(at.0, at.1, at.2) {
                    Some(_) => along += d * direction[usize::from(log.trajectories.state()[at])],
                    None => unknown = unknown.max(d.abs()),
                }
            }
            assert_eq!(unknown, 0.0, "nothing is known there");
            let mut at = |step: f64| {
                let moved: Vec<f64> =
                    before.view().column(0).iter().zip(direction).map(|(r, d)| r + step * d).collect();
                log.reward = Reward::of_state(&moved).unwrap();
                2.5 * definition(&log, odds_to_pulls(&log_odds).view(), 0.9)
            };
            let truth = at(0.5) - at(-0.5); // linear
            assert!((along - truth).abs() < 1e-11 * n as f64, "{along} not {truth}");
            log.reward = before;
            let truth =
                derivative(|t| 2.5 * definition(&log, odds_to_pulls(&log_odds).view(), 0.9 + t), 1e-3);
            assert!((d.d_discount - truth).abs() <= AGREEMENT * n as f64, "{} not {truth}", d.d_discount);
            assert!(h == 1 || d.d_discount != 0.0);
        }
    }
}

fn odds_to_pulls(log_odds: &Array3<f64>) -> Array3<f64> {
    log_odds.mapv(|z| 1.0 / (1.0 + (-z).exp()))
}
