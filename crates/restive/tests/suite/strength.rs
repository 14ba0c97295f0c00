//! What a prediction is worth in transitions: little data must not push it to an end of the grid.

use crate::arms::{Random, random};
use ndarray::{Array4, array};
use rand::RngExt;
use rand_distr::{Beta, Distribution};
use restive::evaluation::{GRID, fit_strength, log_likelihood, smoothed};

/// Arms whose chance of state 1 is drawn around one half as if that were worth `strength` transitions: (truth of state 0
/// left alone, counts of `seen` moves from there).
fn arms(n: usize, strength: f64, seen: usize, random: &mut Random) -> (Vec<f64>, Array4<f64>) {
    let chance = Beta::new(0.5 * strength, 0.5 * strength).unwrap();
    let truth: Vec<f64> = (0..n).map(|_| chance.sample(random)).collect();
    let mut counts = Array4::zeros((n, 2, 2, 2));
    for (i, p) in truth.iter().enumerate() {
        (0..seen).for_each(|_| counts[[i, 0, 0, usize::from(random.random_bool(*p))]] += 1.0);
    }
    (truth, counts)
}

/// The best of the grid by likelihood alone.
fn without_prior(counts: &Array4<f64>, prediction: &Array4<f64>) -> f64 {
    let score = |strength: &f64| log_likelihood(counts.view(), prediction.view(), 0, *strength);
    GRID.into_iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap()
}

#[test]
fn a_handful_of_rows_does_not_decide_what_a_prediction_is_worth() {
    let mut random = random(90);
    let half = |n: usize| Array4::from_elem((n, 2, 2, 2), 0.5);
    let (rows, repetitions) = (6, 300);
    let mut edges = [0; 2];
    for true_strength in [4.0, 16.0, 64.0] {
        let mut risk = [0.0; 2];
        for _ in 0..repetitions {
            let (_, held_out) = arms(rows, true_strength, 4, &mut random);
            let fit = fit_strength(&[(held_out.view(), half(rows).view())])[0];
            assert_eq!((fit.transitions, fit.is_at_edge), (24, [0.5, 4096.0].contains(&fit.value)));
            let found = [fit.value, without_prior(&held_out, &half(rows))];
            let (truth, counts) = arms(40, true_strength, 6, &mut random);
            for (k, strength) in found.into_iter().enumerate() {
                edges[k] += usize::from(strength == 0.5 || strength == 4096.0);
                let p = smoothed(counts.view(), half(40).view(), [strength; 2]);
                let errors = truth.iter().enumerate().map(|(i, p1)| (p.view()[[i, 0, 0, 1]] - p1).powi(2));
                risk[k] += errors.sum::<f64>() / 40.0 / f64::from(repetitions);
            }
        }
        println!("κ = {true_strength}: squared error {risk:.5?}");
        assert!(risk[0] < risk[1], "κ = {true_strength}: {risk:?}");
    }
    println!("at an end of the grid: {edges:?} of {}", 3 * repetitions);
    assert!(edges[0] < 10 && edges[1] > 300, "{edges:?}");
}

#[test]
fn many_rows_reach_the_ends_of_the_grid_and_say_so() {
    let mut random = random(91);
    let prediction = Array4::from_elem((3000, 2, 2, 2), 0.5);
    // every arm is certain to go one way: a prediction of one half is worth nothing
    let mut counts = Array4::zeros((3000, 2, 2, 2));
    (0..3000).for_each(|i| counts[[i, 0, 0, random.random_range(0..2)]] = 5.0);
    // when pulled all have the same coin
    for i in 0..3000 {
        (0..40).for_each(|_| counts[[i, 1, 1, random.random_range(0..2)]] += 1.0);
    }
    let [passive, active] = fit_strength(&[(counts.view(), prediction.view())]);
    assert_eq!((passive.value, passive.transitions, passive.is_at_edge), (0.5, 15_000, true));
    assert!(active.value >= 512.0 && active.transitions == 120_000, "{active:?}");
    assert_eq!(active.is_at_edge, active.value == 4096.0);
}

#[test]
fn nothing_held_out_leaves_the_default() {
    let once = array![[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]]]; // no row twice
    let prediction = array![[[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.5, 0.5]]]];
    for held_out in [vec![], vec![(once.view(), prediction.view())]] {
        for fit in fit_strength(&held_out) {
            assert_eq!((fit.value, fit.transitions, fit.is_at_edge), (16.0, 0, false));
        }
    }
}
