//! Importance sampling on logs with availability: ratios, targets and propensities against naive loops.

use crate::arms::random;
use crate::availability::{chances, policies};
use ndarray::{Array3, array};
use rand::RngExt;
use restive::evaluation::*;
use restive::instance::{Logged, NO_ACTION, Reward, Trajectories};
use restive::policy::{log_odds, sigmoid};

const DISCOUNT: f64 = 0.9;

/// A log of five arms with three states, in which arms that are not available have action 0 or none and no propensity.
fn weighed(j: usize, h: usize, seed: u64) -> Trajectories {
    let (mut random, dim) = (random(seed), (j, h + 1, 5));
    let state = Array3::from_shape_simple_fn(dim, || random.random_range(0..3u16));
    let available = Array3::from_shape_simple_fn(dim, || random.random_bool(0.7));
    let mut action = Array3::from_shape_simple_fn(dim, || random.random_range(0..2u8));
    let mut propensity = Array3::from_shape_simple_fn(dim, || random.random_range(0.2..0.9));
    for (at, available) in available.indexed_iter() {
        if !available {
            action[at] = if random.random() { 0 } else { NO_ACTION };
            propensity[at] = f64::NAN;
        }
    }
    action.index_axis_mut(ndarray::Axis(1), h).fill(NO_ACTION);
    let (propensity, available) = (Some(propensity), Some(available));
    Trajectories::new(Logged { state, action, propensity, reward: None, available }, 3).unwrap()
}

#[test]
fn ratios_of_unavailable_decisions_are_one() {
    let reward = Reward::of_state(&[-0.3, 0.4, 1.0]).unwrap();
    for (j, h) in [(1, 5), (7, 4)] {
        let log = weighed(j, h, 388 + j as u64);
        let propensity = Propensity::new(&log, Behaviour::Logged, 2).unwrap();
        let mut random = random(389);
        let pull = Array3::from_shape_simple_fn((j, h, 5), || random.random_range(0.05..0.95));
        let odds = pull.mapv(log_odds);
        let ratio = |j: usize, t: usize, i: usize| {
            if !log.available().unwrap()[[j, t, i]] {
                return 1.0;
            }
            let pull: f64 = pull[[j, t, i]];
            let chance = if log.action()[[j, t, i]] == 1 { pull } else { 1.0 - pull };
            chance / log.propensity().unwrap()[[j, t, i]]
        };
        let earned = |j: usize, t: usize, i: usize| reward.view()[[usize::from(log.state()[[j, t, i]]), 0]];
        let (mut by_trajectory, mut by_step) = (0.0, 0.0);
        for i in 0..5 {
            for t in 0..h {
                let product = |j: usize| (0..=t).map(|u| ratio(j, u, i)).product::<f64>();
                let total: f64 = (0..j).map(product).sum();
                let sum: f64 = (0..j).map(|j| product(j) * earned(j, t, i)).sum();
                by_trajectory += DISCOUNT.powi(t as i32) * sum / total;
            }
            for j in 0..j {
                let mean = (0..h).map(|t| ratio(j, t, i)).sum::<f64>() / h as f64;
                let sum: f64 =
                    (0..h).map(|t| DISCOUNT.powi(t as i32) * earned(j, t, i) * ratio(j, t, i)).sum();
                by_step += sum / mean;
            }
        }
        let decisions = Decisions::new(&log, &reward, &propensity);
        let found = cwpdis(&decisions, odds.view(), DISCOUNT, RatioUpTo::ThisStep).value;
        assert!((found - by_trajectory).abs() < 1e-10, "{found} not {by_trajectory}");
        let found = segmented(&decisions, odds.view(), DISCOUNT).value;
        assert!((found - by_step / j as f64).abs() < 1e-10, "{found} not {by_step}");
        // the available arms left to chance, the others certain and yet not without overlap
        assert_eq!(without_overlap(&log, &propensity, odds.view()), 0);
    }
}

#[test]
fn targets_choose_among_the_available_arms() {
    let mut random = random(390);
    let states = Array3::from_shape_simple_fn((4, 5, 3), || random.random_range(0..2u16));
    let available = Array3::from_shape_simple_fn((4, 5, 3), || random.random_bool(0.6));
    for policy in policies(391) {
        let odds = target_log_odds_available(states.view(), available.view(), &policy, 1);
        assert_eq!(odds.dim(), (4, 4, 3));
        for j in 0..4 {
            for t in 0..4 {
                let state: Vec<usize> = (0..3).map(|i| states[[j, t, i]].into()).collect();
                let present: Vec<bool> = (0..3).map(|i| available[[j, t, i]]).collect();
                let truth = chances(&policy, &state, &present, t);
                for i in 0..3 {
                    let found = sigmoid(odds[[j, t, i]]);
                    assert!((found - truth[i]).abs() < 1e-12, "{policy:?}: {found} not {}", truth[i]);
                }
            }
        }
    }
}

#[test]
fn propensities_are_shares_of_the_available_arms() {
    // two of the available are pulled at each step: of 5, of 4 and of 3
    const N: u8 = NO_ACTION;
    const I: bool = true;
    const O: bool = false;
    let action = array![[[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [N, N, N, N, N]]];
    let available = array![[[I, I, I, I, I], [I, I, I, I, O], [I, O, O, I, I], [I, I, I, I, I]]];
    let state = Array3::zeros((1, 4, 5));
    let logged = Logged { state, action, propensity: None, reward: None, available: Some(available) };
    let log = Trajectories::new(logged, 2).unwrap();
    let expected = array![[
        [0.4, 0.4, 0.6, 0.6, 0.6],
        [0.5, 0.5, 0.5, 0.5, 1.0],
        [2.0 / 3.0, 1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0],
    ]];
    for behaviour in [Behaviour::Uniform, Behaviour::Estimated] {
        let found = Propensity::new(&log, behaviour, 2).unwrap().values;
        let gap = (&found - &expected).mapv(f64::abs).fold(0.0, |a: f64, b| a.max(*b));
        assert!(gap < 1e-15, "{behaviour:?}: {found}");
    }
    // three of three available arms are certain
    assert!(Propensity::new(&log, Behaviour::Uniform, 3).is_err());
}

/// A column that says that all arms are always available changes nothing that is weighed.
#[test]
fn a_column_of_ones_changes_no_ratio() {
    let log = {
        let log = weighed(4, 3, 392);
        let action = log.action().mapv(|a| if a == NO_ACTION { 0 } else { a });
        let logged = |available: bool| Logged {
            state: log.state().to_owned(),
            action: action.clone(),
            propensity: Some(Array3::from_elem(action.dim(), 0.3)),
            reward: None,
            available: available.then(|| Array3::from_elem(action.dim(), true)),
        };
        [true, false].map(|available| Trajectories::new(logged(available), 3).unwrap())
    };
    let reward = Reward::linear(3);
    for behaviour in [Behaviour::Logged, Behaviour::Uniform, Behaviour::Estimated] {
        let [with, without] = log.each_ref().map(|log| {
            let propensity = Propensity::new(log, behaviour, 2).unwrap();
            (Decisions::new(log, &reward, &propensity), propensity)
        });
        assert_eq!(with, without, "{behaviour:?}");
    }
}
