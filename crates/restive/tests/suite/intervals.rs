//! Intervals of people's chances: their coverage of planted truths, distributions by hand, limits, and where there are none.

use crate::arms::random;
use crate::history::{Spread, people};
use ndarray::{Array3, Array4, Axis};
use rand::RngExt;
use rand_distr::{Beta, Binomial, Distribution, StandardNormal};
use restive::Trajectories;
use restive::evaluation::Record;
use restive::history::{COVERAGE, Carry, Gauss, Past, Rule, intervals};
use restive::instance::{Chain, Logged, NO_ACTION, Observation, UNSEEN};
use restive::statistics::{beta_cdf, normal_quantile};

const GOOD: [bool; 2] = [false, true];

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// A log with these moves, two steps of a trajectory for each.
fn past(counts: &Array4<f64>) -> Past {
    let (n, m) = (counts.shape()[0], counts.shape()[1]);
    let moves = |i: usize| -> Vec<(usize, usize, usize)> {
        let arm = counts.index_axis(Axis(0), i);
        let repeated = arm.indexed_iter().map(|((s, a, next), count)| ((s, a, next), *count as usize));
        repeated.flat_map(|(it, count)| std::iter::repeat_n(it, count)).collect()
    };
    let all: Vec<_> = (0..n).map(moves).collect();
    let j = all.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut state = Array3::from_elem((j, 2, n), UNSEEN);
    let mut action = Array3::from_elem((j, 2, n), NO_ACTION);
    for (i, moves) in all.iter().enumerate() {
        for (k, (s, a, next)) in moves.iter().enumerate() {
            (state[[k, 0, i]], state[[k, 1, i]], action[[k, 0, i]]) = (*s as u16, *next as u16, *a as u8);
        }
    }
    let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, m)
        .unwrap();
    Past::new(&log, Observation::Full)
}

/// [N,2,2,2] of the chance of state 1 in each row.
fn rows(chance: &[[f64; 4]]) -> Array4<f64> {
    Array4::from_shape_fn((chance.len(), 2, 2, 2), |(i, s, a, next)| {
        let p = chance[i][2 * s + a];
        if next == 1 { p } else { 1.0 - p }
    })
}

/// How many of the true chances are inside, for each row.
fn covered(rule: &Rule, past: &Past, prediction: &Array4<f64>, truth: &[[f64; 4]]) -> [f64; 4] {
    let mut inside = [0.0; 4];
    for s in 0..2 {
        let arms: Vec<(usize, usize)> = (0..truth.len()).map(|i| (i, s)).collect();
        for (i, both) in intervals(rule, None, past, prediction.view(), &arms, &GOOD).iter().enumerate() {
            for a in 0..2 {
                let [low, high] = both[a].unwrap();
                let p = truth[i][2 * s + a];
                inside[2 * s + a] += f64::from(u8::from(low <= p && p <= high)) / truth.len() as f64;
            }
        }
    }
    inside
}

#[test]
fn nine_in_ten_people_are_inside_of_a_gaussian_rule() {
    let n = 2000;
    let covariance: [[f64; 4]; 4] =
        [[0.8, 0.4, -0.1, 0.0], [0.4, 0.6, 0.0, -0.1], [-0.1, 0.0, 0.3, 0.1], [0.0, -0.1, 0.1, 0.25]];
    let gauss = Gauss { offset: [0.1, -0.1, 0.2, 0.0], slope: 0.9, first: 0.0, mean_first: 0.5, covariance };
    let mut l = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            let rest = covariance[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { f64::sqrt(rest) } else { rest / l[j][j] };
        }
    }
    let mut random = random(17);
    let (mut truth, mut predicted) = (Vec::new(), Vec::new());
    let mut counts = Array4::zeros((n, 2, 2, 2));
    for i in 0..n {
        let x: [f64; 4] = std::array::from_fn(|_| StandardNormal.sample(&mut random));
        let w: [f64; 4] = std::array::from_fn(|r| (0..=r).map(|k| l[r][k] * x[k]).sum());
        let m: [f64; 4] = std::array::from_fn(|_| random.random_range(0.1..0.9));
        let p: [f64; 4] = std::array::from_fn(|r| {
            let (s, a) = (r / 2, r % 2);
            sigmoid(gauss.offset[r] + gauss.slope * logit(m[r]) + w[s] + a as f64 * w[2 + s])
        });
        for r in 0..4 {
            let total: u64 = if r % 2 == 0 { random.random_range(0..15) } else { random.random_range(0..3) };
            let to_one = Binomial::new(total, p[r]).unwrap().sample(&mut random) as f64;
            (counts[[i, r / 2, r % 2, 1]], counts[[i, r / 2, r % 2, 0]]) = (to_one, total as f64 - to_one);
        }
        truth.push(p);
        predicted.push(m);
    }
    let inside = covered(&Rule::Gauss(gauss), &past(&counts), &rows(&predicted), &truth);
    // four standard errors of a share of 2,000 people
    let error = 4.0 * (COVERAGE * (1.0 - COVERAGE) / n as f64).sqrt();
    assert!(inside.iter().all(|share| (share - COVERAGE).abs() < error), "{inside:?}");
}

#[test]
fn nine_in_ten_people_are_inside_of_carrying() {
    let n = 2000;
    let carry = Carry { strength: [4.0, 6.0], rho: 0.75 };
    let mut random = random(29);
    let (mut truth, mut predicted) = (Vec::new(), Vec::new());
    let mut counts = Array4::zeros((n, 2, 2, 2));
    for i in 0..n {
        let m: [f64; 4] = std::array::from_fn(|_| random.random_range(0.15..0.85));
        let mut p = [0.0; 4];
        for s in 0..2 {
            let mut draw = |mean: f64, strength: f64, a: usize, most: u64| {
                let p = Beta::new(strength * mean, strength * (1.0 - mean)).unwrap().sample(&mut random);
                let total = random.random_range(0..most);
                let to_one = Binomial::new(total, p).unwrap().sample(&mut random) as f64;
                (counts[[i, s, a, 1]], counts[[i, s, a, 0]]) = (to_one, total as f64 - to_one);
                (p, to_one, total as f64)
            };
            let (passive, to_one, total) = draw(m[2 * s], carry.strength[0], 0, 12);
            // the passive row as it is thought to be, carried on the scale of log-odds
            let thought = (to_one + carry.strength[0] * m[2 * s]) / (total + carry.strength[0]);
            let moved = carry.rho * (logit(thought) - logit(m[2 * s]));
            let (active, ..) = draw(sigmoid(logit(m[2 * s + 1]) + moved), carry.strength[1], 1, 4);
            (p[2 * s], p[2 * s + 1]) = (passive, active);
        }
        truth.push(p);
        predicted.push(m);
    }
    let inside = covered(&Rule::Carry(carry), &past(&counts), &rows(&predicted), &truth);
    let error = 4.0 * (COVERAGE * (1.0 - COVERAGE) / n as f64).sqrt();
    assert!(inside.iter().all(|share| (share - COVERAGE).abs() < error), "{inside:?}");
}

#[test]
fn a_long_record_is_narrow_around_its_frequency() {
    let mut counts = Array4::zeros((1, 2, 2, 2));
    (counts[[0, 0, 0, 1]], counts[[0, 0, 0, 0]]) = (3000.0, 7000.0);
    let (past, prediction) = (past(&counts), rows(&[[0.8; 4]]));
    let covariance = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let gauss = Gauss { offset: [0.0; 4], slope: 1.0, first: 0.0, mean_first: 0.5, covariance };
    for rule in [Rule::Gauss(gauss), Rule::Carry(Carry { strength: [5.0, 5.0], rho: 1.0 })] {
        let [alone, called] = intervals(&rule, None, &past, prediction.view(), &[(0, 0)], &GOOD)[0];
        let ([low, high], [called_low, called_high]) = (alone.unwrap(), called.unwrap());
        // ±1.645 √(0.3·0.7/10,000) = ±0.0075
        assert!((low - 0.2925).abs() < 1e-3 && (high - 0.3075).abs() < 1e-3, "{low} {high}");
        assert!(called_high - called_low > 0.3, "of a call nothing was seen");
    }
}

#[test]
fn a_record_that_is_left_alone_narrows_nothing() {
    let people = people(6, 12, Spread { alone: 0.8, called: 0.4, calls: 0.2 }, false, 3);
    let past = Past::new(&people.log, Observation::Full);
    let nothing = self::past(&Array4::zeros((6, 2, 2, 2)));
    let arms: Vec<(usize, usize)> = (0..6).map(|i| (i, i % 2)).collect();
    let of = |candidate: Option<&Rule>, past: &Past| {
        intervals(&Rule::Alone, candidate, past, people.prediction.view(), &arms, &GOOD)
    };
    assert_eq!(of(None, &past), vec![[None; 2]; 6], "no rule is known");
    let carry = Rule::Carry(Carry { strength: [3.0, 8.0], rho: 1.0 });
    let covariance = [[0.5, 0.1, 0.2, 0.0], [0.1, 0.4, 0.0, 0.0], [0.2, 0.0, 0.3, 0.0], [0.0, 0.0, 0.0, 0.2]];
    // whatever a Gaussian rule would move predictions by: they are used as they are
    let gauss = Gauss { offset: [1.0; 4], slope: 0.5, first: 2.0, mean_first: 0.1, covariance };
    for rule in [carry, Rule::Gauss(gauss)] {
        assert_eq!(of(Some(&rule), &past), of(Some(&rule), &nothing));
    }
    for (k, (i, s)) in arms.iter().copied().enumerate() {
        for a in 0..2 {
            let m = people.prediction[[i, s, a, 1]];
            let [low, high] = of(Some(&carry), &past)[k][a].unwrap();
            let strength = [3.0, 8.0][a];
            let below = |x: f64| beta_cdf(x, strength * m, strength * (1.0 - m));
            assert!((below(low) - 0.05).abs() < 1e-10 && (below(high) - 0.95).abs() < 1e-10);
            let [low, high] = of(Some(&Rule::Gauss(gauss)), &past)[k][a].unwrap();
            let variance = [[0.5, 0.5 + 2.0 * 0.2 + 0.3], [0.4, 0.4 + 0.2]][s][a];
            let reach = normal_quantile(0.95) * f64::sqrt(variance);
            assert!((logit(low) - (logit(m) - reach)).abs() < 1e-9);
            assert!((logit(high) - (logit(m) + reach)).abs() < 1e-9);
        }
    }
}

#[test]
fn of_three_states_some_may_be_good() {
    let mut counts = Array4::zeros((1, 3, 2, 3));
    (counts[[0, 1, 0, 0]], counts[[0, 1, 0, 1]], counts[[0, 1, 0, 2]]) = (2.0, 1.0, 4.0);
    let prediction = Array4::from_shape_fn((1, 3, 2, 3), |(_, _, _, next)| [0.5, 0.2, 0.3][next]);
    let rule = Rule::Carry(Carry { strength: [10.0, 10.0], rho: 0.0 });
    let good = [true, false, true];
    let past = past(&counts);
    let [alone, called] = intervals(&rule, None, &past, prediction.view(), &[(0, 1)], &good)[0];
    // the good part of Dirichlet (2 + 5, 1 + 2, 4 + 3) and of (5, 2, 3)
    for (interval, a, b) in [(alone, 14.0, 3.0), (called, 8.0, 2.0)] {
        let [low, high] = interval.unwrap();
        assert!((beta_cdf(low, a, b) - 0.05).abs() < 1e-10 && (beta_cdf(high, a, b) - 0.95).abs() < 1e-10);
    }
}

#[test]
fn sightings_have_none() {
    let record =
        Record::Sightings { seen: Array3::zeros((1, 4, 2)), chain: Chain::Finite(2), trajectories: 1 };
    let past = Past { record, first: vec![None] };
    let rule = Rule::Carry(Carry { strength: [1.0, 1.0], rho: 1.0 });
    let found = intervals(&rule, None, &past, rows(&[[0.5; 4]]).view(), &[(0, 1)], &GOOD);
    assert_eq!(found, [[None; 2]]);
}
