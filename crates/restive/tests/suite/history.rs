//! A person's own record beside the prediction: against slow textbook versions, numbers from elsewhere, and simulated people.

use crate::arms::{Kind, Random, random, transitions};
use crate::golden::numbers;
use ndarray::{Array3, Array4, Axis};
use rand::RngExt;
use rand_distr::{Distribution, Normal};
use restive::evaluation::{Record, smoothed};
use restive::history::{Carry, Gauss, GaussEnd, Past, Rule, fit_carry, fit_gauss, fit_gauss_with};
use restive::instance::{Logged, NO_ACTION, Observation, UNSEEN};
use restive::{Trajectories, Transition};
use serde_json::Value;

fn golden(rule: &str) -> Vec<Value> {
    let path = format!("{}/tests/golden/history.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = file["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["rule"] == rule).cloned().collect()
}

fn array(case: &Value, name: &str, m: usize) -> Array4<f64> {
    let n = case["arms"].as_u64().unwrap() as usize;
    Array4::from_shape_vec((n, m, 2, m), numbers(&case[name])).unwrap()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// Simulated people of two states.
pub struct People {
    pub log: Trajectories,
    pub prediction: Array4<f64>,
    pub truth: Array4<f64>,
}

/// What people are like.
#[derive(Clone, Copy)]
pub struct Spread {
    /// standard deviation of what features do not say of being left alone
    pub alone: f64,
    /// of being called
    pub called: f64,
    /// chance of a call at each step
    pub calls: f64,
}

/// People who start where being left alone leads them; predictions know their features, and (where `is_known`) all of them.
pub fn people(n: usize, decisions: usize, spread: Spread, is_known: bool, seed: u64) -> People {
    let mut random = random(seed);
    let normal = |sd: f64, random: &mut Random| Normal::new(0.0, sd).unwrap().sample(random);
    let mut truth = Array4::zeros((n, 2, 2, 2));
    let mut prediction = Array4::zeros((n, 2, 2, 2));
    let mut state = Array3::zeros((1, decisions + 1, n));
    let mut action = Array3::from_elem((1, decisions + 1, n), NO_ACTION);
    for i in 0..n {
        let known = normal(0.6, &mut random);
        let [own, response] = [spread.alone, spread.called].map(|sd| normal(sd, &mut random));
        for (s, a) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let called = a as f64;
            let base = [-1.5, 1.0][s] + known + 0.5 * called;
            let p = sigmoid(base + own + response * called);
            // on average over what is not known the log-odds shrink, and more people with high ones are seen in state 1
            let m = sigmoid(0.85 * base + 0.5 * spread.alone * spread.alone * [-1.0, 1.0][s]);
            let m = if is_known { p } else { m };
            (truth[[i, s, a, 0]], truth[[i, s, a, 1]]) = (1.0 - p, p);
            (prediction[[i, s, a, 0]], prediction[[i, s, a, 1]]) = (1.0 - m, m);
        }
        let share = truth[[i, 0, 0, 1]] / (truth[[i, 0, 0, 1]] + truth[[i, 1, 0, 0]]);
        let mut s = usize::from(random.random_bool(share));
        state[[0, 0, i]] = s as u16;
        for t in 0..decisions {
            let a = usize::from(random.random_bool(spread.calls));
            action[[0, t, i]] = a as u8;
            s = usize::from(random.random_bool(truth[[i, s, a, 1]]));
            state[[0, t + 1, i]] = s as u16;
        }
    }
    let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)
        .unwrap();
    People { log, prediction, truth }
}

fn past(people: &People) -> Past {
    Past::new(&people.log, Observation::Full)
}

/// Mean square error of what a call is thought to change.
fn effect_error(p: &Transition, truth: &Array4<f64>) -> f64 {
    let effect = |p: &Array4<f64>, i: usize, s: usize| p[[i, s, 1, 1]] - p[[i, s, 0, 1]];
    let p = p.view().to_owned();
    let n = truth.shape()[0];
    let squares = (0..n).flat_map(|i| [0, 1].map(|s| (effect(&p, i, s) - effect(truth, i, s)).powi(2)));
    squares.sum::<f64>() / (2 * n) as f64
}

/// The formulas as they are printed, one number after the other.
fn textbook(n: &Array4<f64>, m: &Array4<f64>, [k0, rho, k1]: [f64; 3]) -> Array4<f64> {
    let mut p = n.clone();
    for i in 0..n.shape()[0] {
        for s in 0..n.shape()[1] {
            let row = |array: &Array4<f64>, a: usize| array.slice(ndarray::s![i, s, a, ..]).to_vec();
            let (n0, n1, m0, m1) = (row(n, 0), row(n, 1), row(m, 0), row(m, 1));
            let p0: Vec<f64> =
                (0..m0.len()).map(|x| (n0[x] + k0 * m0[x]) / (n0.iter().sum::<f64>() + k0)).collect();
            let tilted: Vec<f64> = (0..m0.len()).map(|x| m1[x] * (p0[x] / m0[x]).powf(rho)).collect();
            let mean: Vec<f64> = tilted.iter().map(|t| t / tilted.iter().sum::<f64>()).collect();
            for x in 0..m0.len() {
                p[[i, s, 0, x]] = p0[x];
                p[[i, s, 1, x]] = (n1[x] + k1 * mean[x]) / (n1.iter().sum::<f64>() + k1);
            }
        }
    }
    p
}

fn counts(n: usize, m: usize, random: &mut Random) -> Array4<f64> {
    Array4::from_shape_simple_fn((n, m, 2, m), || f64::from(random.random_range(0..4u8)))
}

#[test]
fn carrying_equals_the_textbook_and_without_rho_smoothing_bit_for_bit() {
    let mut random = random(310);
    for m in [1, 2, 3, 6] {
        let prediction = transitions(Kind::Dense, 50, m, &mut random);
        let counts = counts(50, m, &mut random);
        for [k0, rho, k1] in [[2.0, 1.0, 8.0], [16.0, 0.3, 0.5], [0.5, 0.0, 4096.0]] {
            let p = Carry { strength: [k0, k1], rho }.apply(counts.view(), prediction.view());
            let slow = textbook(&counts, &prediction, [k0, rho, k1]);
            assert!(p.view().iter().zip(&slow).all(|(p, slow)| (p - slow).abs() < 1e-13));
        }
        let p = Carry { strength: [3.0, 5.0], rho: 0.0 }.apply(counts.view(), prediction.view());
        assert_eq!(p, smoothed(counts.view(), prediction.view(), [3.0, 5.0]));
    }
}

#[test]
fn rows_sum_to_one_whatever_is_predicted_and_seen() {
    let mut random = random(311);
    for kind in [Kind::Dense, Kind::Sparse, Kind::Deterministic, Kind::NearEqual] {
        let prediction = transitions(kind, 40, 2, &mut random);
        let mut counts = counts(40, 2, &mut random);
        counts[[0, 0, 0, 0]] = 1e7;
        counts[[1, 1, 1, 1]] = 1e7;
        counts.index_axis_mut(Axis(0), 2).fill(0.0);
        let carry = Rule::Carry(Carry { strength: [0.5, 0.5], rho: 0.875 });
        let covariance = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 4.0 } else { 0.5 }));
        let gauss =
            Rule::Gauss(Gauss { offset: [0.0; 4], slope: 1.2, first: 1.0, mean_first: 0.4, covariance });
        let record = Record::Moves(log_with(&counts).counts());
        let past = Past { record, first: vec![Some(1.0); 40] };
        for rule in [Rule::Alone, carry, gauss] {
            let p = rule.apply(&past, prediction.view()).unwrap();
            for row in p.view().rows() {
                assert!((row.sum() - 1.0).abs() < 1e-12 && row.iter().all(|p| (0.0..=1.0).contains(p)));
            }
        }
        let p = carry.apply(&past, prediction.view()).unwrap();
        let unseen = (p.view().index_axis_move(Axis(0), 2), prediction.index_axis(Axis(0), 2));
        assert!(unseen.0.iter().zip(unseen.1).all(|(p, m)| (p - m).abs() < 1e-15), "nothing was seen");
    }
}

/// A log of pairs of steps with these counts, as far as they are below 100.
fn log_with(counts: &Array4<f64>) -> Trajectories {
    let (n, m, _, _) = counts.dim();
    let most = 2 * 2 * m * m * 100;
    let mut state = Array3::from_elem((1, most, n), UNSEEN);
    let mut action = Array3::from_elem((1, most, n), NO_ACTION);
    for i in 0..n {
        let mut t = 0;
        for ((s, a, next), count) in counts.index_axis(Axis(0), i).indexed_iter() {
            for _ in 0..count.min(100.0) as usize {
                (state[[0, t, i]], action[[0, t, i]], state[[0, t + 1, i]]) =
                    (s as u16, a as u8, next as u16);
                t += 2;
            }
        }
    }
    Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, m).unwrap()
}

#[test]
fn carrying_is_fitted_and_applied_as_by_an_independent_implementation() {
    for case in golden("carry") {
        let m = case["m"].as_u64().unwrap() as usize;
        let (n, prediction) = (array(&case, "counts", m), array(&case, "prediction", m));
        for (name, rho) in [("fit", None), ("effect_fit", Some(1.0))] {
            let found = fit_carry(n.view(), prediction.view(), rho).carry;
            assert_eq!(
                vec![found.strength[0], found.rho, found.strength[1]],
                numbers(&case[name]),
                "{m} {name}"
            );
        }
        let [k0, rho, k1] = numbers(&case["applied"]).try_into().unwrap();
        let p = Carry { strength: [k0, k1], rho }.apply(n.view(), prediction.view());
        let truth = array(&case, "transition", m);
        // the file has 13 digits
        assert!(p.view().iter().zip(&truth).all(|(p, truth)| (p - truth).abs() < 1e-12));
    }
}

#[test]
fn the_gaussian_rule_is_fitted_and_applied_as_by_an_independent_implementation() {
    for case in golden("gauss") {
        let (n, prediction) = (array(&case, "counts", 2), array(&case, "prediction", 2));
        let first: Vec<Option<f64>> = numbers(&case["first"]).into_iter().map(Some).collect();
        let mut last = None;
        for truth in case["fits"].as_array().unwrap() {
            let rounds = truth["rounds"].as_u64().unwrap() as usize;
            let found = fit_gauss(n.view(), &first, prediction.view(), rounds);
            assert_eq!(found.rounds as u64, truth["made"].as_u64().unwrap());
            assert_eq!(found.arms, first.len() - 1, "one has no record");
            let gauss = found.gauss;
            let mut theta = gauss.offset.to_vec();
            theta.extend([gauss.slope - 1.0, gauss.first]);
            // their Newton ends for all arms at once, ours for each: 1e-8 of a step, and rounds that pass it on
            let close = |found: &[f64], truth: &Value| {
                let pairs: Vec<_> = found.iter().copied().zip(numbers(truth)).collect();
                assert!(pairs.iter().all(|(found, truth)| (found - truth).abs() < 1e-6), "{pairs:?}");
            };
            close(&theta, &truth["theta"]);
            close(gauss.covariance.as_flattened(), &truth["covariance"]);
            close(&[gauss.mean_first], &case["mean_first"]);
            if gauss.first != 0.0 {
                close(&[found.t], &truth["t"]);
            } else {
                assert!(found.t.abs() < 2.5 && truth["t"] == 0.0);
            }
            last = Some(gauss);
        }
        let p = last.unwrap().apply(n.view(), &first, prediction.view());
        let truth = numbers(&case["chances"]);
        let p = p.view();
        let gaps = p.rows().into_iter().zip(truth).map(|(row, truth)| (row[1] - truth).abs());
        let worst = gaps.fold(0.0, f64::max);
        println!("chances: off by {worst:e} at most");
        assert!(worst < 1e-6, "{worst}");
    }
}

#[test]
fn posterior_means_are_those_of_a_dense_sum() {
    let mut random = random(312);
    let covariance =
        [[0.6, 0.3, 0.1, 0.0], [0.3, 0.5, 0.0, -0.1], [0.1, 0.0, 0.4, 0.2], [0.0, -0.1, 0.2, 0.3]];
    let gauss = Gauss { offset: [0.1, 0.0, -0.1, 0.2], slope: 0.9, first: 0.7, mean_first: 0.4, covariance };
    let counts = counts(6, 2, &mut random);
    let prediction = transitions(Kind::Dense, 6, 2, &mut random);
    let first = [Some(1.0), Some(0.0), None, Some(0.5), Some(1.0), Some(0.0)];
    let p = gauss.apply(counts.view(), &first, prediction.view());
    let mut l = [[0.0f64; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            let rest = covariance[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    let grid: Vec<f64> = (-9..=9).map(|k| 0.6 * f64::from(k)).collect();
    let mut worst = 0.0f64;
    for i in 0..6 {
        let (mut total, mut sums) = (0.0, [0.0; 4]);
        for at in 0..grid.len().pow(4) {
            let x = [0, 1, 2, 3].map(|k| grid[at / grid.len().pow(k) % grid.len()]);
            let w: Vec<f64> = (0..4).map(|k| (0..=k).map(|j| l[k][j] * x[j]).sum()).collect();
            let mut log = -0.5 * x.iter().map(|x| x * x).sum::<f64>();
            let mut chance = [0.0; 4];
            for (r, (s, a)) in [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
                let m = prediction[[i, s, a, 1]];
                let z = gauss.offset[r]
                    + gauss.slope * (m / (1.0 - m)).ln()
                    + gauss.first * (first[i].unwrap_or(0.4) - 0.4)
                    + w[s]
                    + a as f64 * w[2 + s];
                chance[r] = sigmoid(z);
                log += counts[[i, s, a, 1]] * chance[r].ln() + counts[[i, s, a, 0]] * (1.0 - chance[r]).ln();
            }
            total += log.exp();
            (0..4).for_each(|r| sums[r] += log.exp() * chance[r]);
        }
        for r in 0..4 {
            worst = worst.max((p.view()[[i, r / 2, r % 2, 1]] - sums[r] / total).abs());
        }
    }
    println!("off by {worst:e} at most");
    // 81 points are not an integral: they miss it by some ten-thousandths
    assert!(worst < 1e-3, "{worst}");
}

#[test]
fn the_spread_of_people_is_recovered_and_effects_come_nearer_the_truth() {
    let spread = Spread { alone: 0.8, called: 0.5, calls: 0.1 };
    let learnt = people(3000, 8, spread, false, 313);
    let held = past(&learnt);
    let counts = held.record.moves().unwrap().view();
    let fit = fit_gauss(counts, &held.first, learnt.prediction.view(), 150);
    let f_variance = {
        let f: Vec<f64> = held.first.iter().map(|f| f.unwrap()).collect();
        let mean = f.iter().sum::<f64>() / f.len() as f64;
        f.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / f.len() as f64
    };
    // A is what is left when the first state is known
    let shared = fit.gauss.covariance[0][1] + fit.gauss.first.powi(2) * f_variance;
    println!("{fit:?}: variance {shared}");
    assert!((shared - 0.64).abs() < 0.15 && fit.t > 5.0 && fit.end != GaussEnd::Failed, "{shared} {fit:?}");
    let blind = fit_gauss_with(counts, &held.first, learnt.prediction.view(), false, 150);
    assert!(blind.gauss.covariance[0][1] < 0.7 * shared, "{blind:?}");

    let fresh = people(3000, 8, spread, false, 314);
    let own = past(&fresh);
    let carry = fit_carry(counts, learnt.prediction.view(), None).carry;
    let error = |rule: Rule| effect_error(&rule.apply(&own, fresh.prediction.view()).unwrap(), &fresh.truth);
    let apart = Rule::Carry(Carry { rho: 0.0, ..carry });
    let [alone, apart, carried, gauss] =
        [Rule::Alone, apart, Rule::Carry(carry), Rule::Gauss(fit.gauss)].map(error);
    println!("{carry:?}; errors: alone {alone:.5}, apart {apart:.5}, carried {carried:.5}, gauss {gauss:.5}");
    assert!(carried < apart && gauss < apart && gauss < alone);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let spread = Spread { alone: 0.8, called: 0.5, calls: 0.1 };
    let people = people(1100, 8, spread, false, 315);
    let past = past(&people);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let counts = past.record.moves().unwrap().view();
            let gauss = fit_gauss(counts, &past.first, people.prediction.view(), 20);
            let carry = fit_carry(counts, people.prediction.view(), None);
            let rules = [Rule::Gauss(gauss.gauss), Rule::Carry(carry.carry)];
            (gauss, carry, rules.map(|rule| rule.apply(&past, people.prediction.view()).unwrap()))
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
}

#[test]
fn permuting_people_permutes_answers() {
    let spread = Spread { alone: 0.8, called: 0.5, calls: 0.2 };
    let people = people(500, 8, spread, false, 316);
    let order: Vec<usize> = (0..500).map(|i| i * 7 % 500).collect();
    let other = Past::new(&people.log.select_arms(&order), Observation::Full);
    let other_prediction = people.prediction.select(Axis(0), &order);
    let past = past(&people);
    let fit = |past: &Past, prediction: &Array4<f64>| {
        let counts = past.record.moves().unwrap().view();
        let gauss = fit_gauss(counts, &past.first, prediction.view(), 10).gauss;
        (gauss, fit_carry(counts, prediction.view(), None).carry)
    };
    let (gauss, carry) = fit(&past, &people.prediction);
    let (other_gauss, other_carry) = fit(&other, &other_prediction);
    assert_eq!(carry, other_carry);
    let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(gap(gauss.covariance.as_flattened(), other_gauss.covariance.as_flattened()) < 1e-9);
    assert!(gap(&gauss.offset, &other_gauss.offset) < 1e-9 && (gauss.first - other_gauss.first).abs() < 1e-9);
    for rule in [Rule::Gauss(gauss), Rule::Carry(carry)] {
        let p = rule.apply(&past, people.prediction.view()).unwrap().select_arms(&order);
        assert_eq!(p, rule.apply(&other, other_prediction.view()).unwrap());
    }
}

#[test]
fn the_gaussian_rule_refuses_what_it_is_not_made_for() {
    let covariance = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    let gauss = Gauss { offset: [0.0; 4], slope: 1.0, first: 0.0, mean_first: 0.5, covariance };
    let counts = Array4::<f64>::zeros((2, 3, 2, 3));
    let past = Past { record: Record::Moves(log_with(&counts).counts()), first: vec![None; 2] };
    let error = Rule::Gauss(gauss).apply(&past, Array4::from_elem((2, 3, 2, 3), 1.0 / 3.0).view());
    let said = error.unwrap_err().to_string();
    assert_eq!(
        said,
        "record: found 3 states, expected two states, seen at every step, as the Gaussian rule has"
    );
    // numbers that are none leave the prediction
    let broken = Gauss { slope: f64::NAN, ..gauss };
    let prediction = Array4::from_elem((1, 2, 2, 2), 0.5);
    let p = broken.apply(Array4::ones((1, 2, 2, 2)).view(), &[None], prediction.view());
    assert_eq!(p.view(), prediction);
    let nobody = fit_gauss(Array4::zeros((1, 2, 2, 2)).view(), &[None], prediction.view(), 150);
    assert_eq!((nobody.end, nobody.arms, nobody.rounds), (GaussEnd::Nobody, 0, 0));
}
