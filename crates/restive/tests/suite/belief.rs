//! Beliefs against powers of the transition matrices, their pullback against finite differences, and the ordinary arm that they
//! make against a simulation of the hidden states.

use crate::arms::{Kind, random, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array3, Array4, s};
use rand::RngExt;
use restive::Reward;
use restive::belief::{beliefs, label};

#[test]
fn beliefs_are_rows_of_matrix_powers() {
    let mut random = random(1);
    for (m, chain) in [(2, 1), (2, 10), (3, 5), (5, 4)] {
        let p = transitions(Kind::Dense, 6, m, &mut random);
        let found = beliefs(p.view(), chain);
        for i in 0..6 {
            let (passive, active) = (p.slice(s![i, .., 0, ..]), p.slice(s![i, .., 1, ..]));
            let mut power: Array2<f64> = active.to_owned();
            for h in 0..chain {
                for s in 0..m {
                    for x in 0..m {
                        let b = found.belief.row(i, label(s, h, chain))[x];
                        assert!((b - power[[s, x]]).abs() < 1e-14);
                    }
                }
                power = power.dot(&passive);
            }
        }
    }
}

#[test]
fn their_pullback_is_the_derivative() {
    let mut random = random(2);
    for (m, chain) in [(2, 10), (3, 4), (5, 3)] {
        let p = transitions(Kind::Dense, 4, m, &mut random);
        let c = Array3::from_shape_simple_fn((4, m * chain, m), || uniform(&mut random));
        let d = tangent(&p, 1e-4, &mut random);
        let value = |p: &Array4<f64>| (&beliefs(p.view(), chain).belief.view() * &c).sum();
        let gradient = beliefs(p.view(), chain).pullback(c.view()).d_transition;
        let truth = derivative(|t| value(&(&p + &(&d * t))), 1e-4);
        assert!(((&gradient * &d).sum() - truth).abs() < AGREEMENT * (1.0 + truth.abs()));
        assert!(gradient.rows().into_iter().all(|row| row.sum().abs() < 1e-12));
    }
}

/// The hidden states of an arm, followed through a fixed sequence of actions, are seen as often as the labels' arm says, and earn
/// as much as it expects.
#[test]
fn the_arm_of_labels_sees_and_earns_what_hidden_states_do() {
    let mut random = random(3);
    let (m, chain, runs) = (2, 6, 200_000);
    let p = transitions(Kind::Dense, 1, m, &mut random);
    let reward = Reward::linear(m);
    let belief = beliefs(p.view(), chain).belief;
    let (transition, expected) = (crate::labels::dense(&belief), belief.reward(reward.view()));
    let actions = [0, 0, 1, 0, 1, 1, 0, 0, 0, 1];
    // the labels' distribution, step by step
    let mut mass = vec![0.0; m * chain];
    mass[label(1, 0, chain)] = 1.0;
    let mut earned = 0.0;
    for &a in &actions {
        let mut next = vec![0.0; m * chain];
        for (l, &share) in mass.iter().enumerate() {
            earned += share * expected[[0, l, a]];
            for (to, next) in next.iter_mut().enumerate() {
                *next += share * transition[[0, l, a, to]];
            }
        }
        mass = next;
    }
    let mut total = 0.0;
    let mut counted = vec![0.0; m * chain];
    let step = |row: [f64; 2], noise: f64| usize::from(noise < row[1]);
    for _ in 0..runs {
        let row = |x: usize, a: usize| [p[[0, x, a, 0]], p[[0, x, a, 1]]];
        let (mut seen, mut since) = (1, 0);
        let mut x = step(row(1, 1), random.random());
        for &a in &actions {
            total += x as f64;
            (seen, since) = if a == 1 { (x, 0) } else { (seen, since + 1) };
            x = step(row(x, a), random.random());
        }
        counted[label(seen, since, chain)] += 1.0 / runs as f64;
    }
    // five standard errors of a mean of that many runs
    let error = 5.0 * (actions.len() as f64) / (runs as f64).sqrt();
    assert!((total / runs as f64 - earned).abs() < error, "{} {earned}", total / runs as f64);
    for (found, truth) in counted.iter().zip(&mass) {
        assert!((found - truth).abs() < 5.0 * 0.5 / (runs as f64).sqrt(), "{found} {truth}");
    }
}
