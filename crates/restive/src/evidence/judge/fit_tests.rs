//! The sums against each other, differences and what nobody differs in.

use super::super::person::Person;
use super::super::two_state::{self, TwoState};
use super::*;
use crate::random::stream;
use ndarray::Array4;
use rand::RngExt;

/// People with moves and features by lot.
fn people(n: usize, m: usize, f: usize) -> People {
    let mut random = stream(5, &[m as u64]);
    let x = Array2::from_shape_fn((n, f), |_| random.random_range(-2.0..2.0));
    let moves = Array4::from_shape_fn((n, m, 2, m), |_| f64::from(random.random_range(0..4_u8) / 2));
    let mut first = Array2::zeros((n, m));
    first.rows_mut().into_iter().for_each(|mut row| row[random.random_range(0..m)] = 1.0);
    People { x, moves, first }
}

#[test]
fn two_states_are_gone_through_as_any_number_is() {
    let (people, place) = (people(40, 2, 3), Places { states: 2, features: 3 });
    for scale in [[0.0, 1.0], [1.0, 0.0]] {
        let theta: Vec<f64> = (0..place.all()).map(|k| 0.3 * (k as f64).sin()).collect();
        let along = [0, 1, 2].map(|which| people.x.dot(&ndarray::aview1(&theta[place.block(which)])));
        let (every, first) = (3, 1);
        let n = (people.len() - first).div_ceil(every);
        let picked = along
            .each_ref()
            .map(|along| -> Vec<f64> { along.iter().skip(first).step_by(every).copied().collect() });
        let seen = two_state::Seen {
            moves: people.moves.as_slice().unwrap(),
            firsts: people.first.as_slice().unwrap(),
            first,
            every,
            along: picked.each_ref().map(Vec::as_slice),
        };
        let mut slopes = vec![0.0; n * two_state::SMALL];
        let value = two_state::slopes(&TwoState::new(place, &theta, &scale), &seen, &mut slopes);
        let (mut person, mut expected) = (Person::new(place), 0.0);
        for (k, slope) in slopes.chunks_exact(two_state::SMALL).enumerate() {
            let i = first + k * every;
            let along = along.each_ref().map(|along| along[i]);
            expected += person.add_up(&theta, &scale, &people, i, along, false);
            for (found, expected) in slope.iter().zip(&person.gradient) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
        assert!((value - expected).abs() < 1e-11, "{value} {expected}");
    }
}

/// The slope is that of the value, and its length at the top nothing.
#[test]
fn slopes_are_those_of_the_likelihood() {
    for (m, scale) in [(2, vec![0.0, 1.0]), (3, vec![0.0, 0.4, 1.0])] {
        let (people, place) = (people(60, m, 2), Places { states: m, features: 2 });
        let penalty = penalty(place);
        let task = Task { place, scale: &scale, people: &people, penalty: &penalty };
        let theta = Array1::from_shape_fn(place.all(), |k| 0.3 * (k as f64 + 1.0).sin());
        let (_, slope, _) = task.sums(&theta, 1, Curvature::None);
        for k in 0..place.all() {
            let at = |h: f64| {
                let mut moved = theta.clone();
                moved[k] += h;
                task.sums(&moved, 1, Curvature::None).0
            };
            let difference = |h: f64| (at(h) - at(-h)) / (2.0 * h);
            // Richardson: the error is of the fourth order
            let expected = (4.0 * difference(5e-4) - difference(1e-3)) / 3.0;
            assert!(
                (slope[k] - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "{k}: {} {expected}",
                slope[k]
            );
        }
        let top = task.climb(1).unwrap();
        let (_, slope, _) = task.sums(&top, 1, Curvature::None);
        assert!(slope.iter().all(|x| x.abs() < 1e-3), "{slope}");
    }
}

/// Where everybody is alike the information about σ vanishes, and that about σ² does not.
#[test]
fn where_nobody_differs_draws_stay_near() {
    let n = 4_000;
    let mut random = stream(9, &[]);
    let mut moves = Array4::zeros((n, 2, 2, 2));
    let mut first = Array2::zeros((n, 2));
    for i in 0..n {
        let mut s = usize::from(random.random::<f64>() < 0.5);
        first[[i, s]] = 1.0;
        for _ in 0..8 {
            let next = usize::from(random.random::<f64>() < [0.3, 0.7][s]);
            moves[[i, s, 0, next]] += 1.0;
            s = next;
        }
    }
    let people = People { x: Array2::zeros((n, 0)), moves, first };
    let place = Places { states: 2, features: 0 };
    let (penalty, scale) = (penalty(place), vec![0.0, 1.0]);
    let task = Task { place, scale: &scale, people: &people, penalty: &penalty };
    let theta = task.climb(1).unwrap();
    assert!(theta[place.sigma()].abs() < 0.35, "{theta}");
    let factor = Cholesky::new(task.information(&theta)).unwrap();
    let columns = Columns::learn(&[]);
    let judge = Judge { columns, place, theta: theta.to_vec(), scale, factor, people: n };
    // 28,000 moves: the standard error of σ² is a few hundredths, and no draw is far from what was found
    let drawn: Vec<Judge> = (0..200).map(|seed| judge.drawn(seed)).collect();
    assert!(drawn.iter().all(|drawn| drawn.spread() < 0.6));
    assert!(
        drawn.iter().any(|drawn| drawn.spread() == 0.0) && drawn.iter().any(|drawn| drawn.spread() > 0.05)
    );
    let away = |at: usize| drawn.iter().map(|drawn| (drawn.theta[at] - theta[at]).abs()).fold(0.0, f64::max);
    for row in 0..2 {
        assert!(away(place.alpha(row, 1)) < 0.25, "{}", away(place.alpha(row, 1)));
    }
}

/// People who are nearly sure to be in state 1: the mean over the nodes stays a probability.
#[test]
fn chances_near_one_are_probabilities() {
    let (n, place) = (1_000, Places { states: 2, features: 0 });
    let mut theta = vec![1.0; place.all()];
    (0..3).for_each(|row| theta[place.alpha(row, 1)] = 40.0);
    let mut random = stream(6, &[]);
    let moves: Vec<f64> = (0..8 * n).map(|_| f64::from(random.random_range(0..4_u8))).collect();
    let firsts: Vec<f64> = (0..n).flat_map(|_| [0.0, 1.0]).collect();
    let none = vec![0.0; n];
    let along = [&none[..], &none[..], &none[..]];
    let seen = two_state::Seen { moves: &moves, firsts: &firsts, first: 0, every: 1, along };
    let mut rows = vec![0.0; 8 * n];
    two_state::rows(&TwoState::new(place, &theta, &[0.0, 1.0]), &seen, true, &mut rows);
    let wrong: Vec<f64> = rows.into_iter().filter(|p| !(0.0..=1.0).contains(p)).collect();
    assert!(wrong.is_empty(), "{} chances such as {:e}", wrong.len(), wrong[0]);
}
