//! Transitions fitted to sightings, against the definition of their likelihood.

use ndarray::{Array1, Array3, Array4, ArrayView3, s};
use rand::RngExt;
use restive::evaluation::{GRID, POOLED_STRENGTH, Record, fitted, strength};
use restive::instance::Chain;
use restive::random::stream;

/// Σ n ln b + Σ κ m ln P of one arm, by powers of the matrix.
fn objective(
    seen: ArrayView3<'_, f64>,
    prior: &Array4<f64>,
    strength: [f64; 2],
    p: &Array4<f64>,
    i: usize,
) -> f64 {
    let (_, labels, m) = seen.dim();
    let chain = labels / m;
    let mut sum = 0.0;
    for x in 0..m {
        let mut belief: Array1<f64> = p.slice(s![i, x, 1, ..]).to_owned();
        for h in 0..chain {
            for y in 0..m {
                let n = seen[[i, x * chain + h, y]];
                sum += if n > 0.0 { n * belief[y].ln() } else { 0.0 };
            }
            belief = belief.dot(&p.slice(s![i, .., 0, ..]));
        }
        for a in 0..2 {
            for y in 0..m {
                sum += strength[a] * prior[[i, x, a, y]] * p[[i, x, a, y]].ln();
            }
        }
    }
    sum
}

fn simplex(m: usize, random: &mut restive::random::Random) -> Vec<f64> {
    let draws: Vec<f64> = (0..m).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
    let sum: f64 = draws.iter().sum();
    draws.iter().map(|x| x / sum).collect()
}

fn arms(n: usize, m: usize, random: &mut restive::random::Random) -> Array4<f64> {
    let mut p = Array4::zeros((n, m, 2, m));
    for mut row in p.rows_mut() {
        row.assign(&Array1::from(simplex(m, random)));
    }
    p
}

/// So many sightings at labels drawn at random.
fn sighted(p: &Array4<f64>, chain: usize, each: usize, random: &mut restive::random::Random) -> Array3<f64> {
    let (n, m, _, _) = p.dim();
    let mut seen = Array3::zeros((n, m * chain, m));
    for i in 0..n {
        for _ in 0..each {
            let (x, h) = (random.random_range(..m), random.random_range(..chain));
            let mut belief: Array1<f64> = p.slice(s![i, x, 1, ..]).to_owned();
            (0..h).for_each(|_| belief = belief.dot(&p.slice(s![i, .., 0, ..])));
            let (mut y, mut left) = (0, random.random::<f64>());
            while y + 1 < m && left >= belief[y] {
                left -= belief[y];
                y += 1;
            }
            seen[[i, x * chain + h, y]] += 1.0;
        }
    }
    seen
}

#[test]
fn no_nearby_transitions_suit_the_sightings_better() {
    let mut random = stream(11, &[]);
    for (m, chain) in [(2, 1), (2, 6), (3, 4)] {
        let (truth, prior) = (arms(4, m, &mut random), arms(4, m, &mut random));
        let seen = sighted(&truth, chain, 40, &mut random);
        let strength = [2.0, 0.5];
        let found = fitted(seen.view(), Some((prior.view(), strength))).view().to_owned();
        for i in 0..4 {
            let best = objective(seen.view(), &prior, strength, &found, i);
            for _ in 0..300 {
                // a step towards other rows keeps them distributions
                let other = arms(4, m, &mut random);
                let step = 10f64.powf(-1.0 - 2.0 * random.random::<f64>());
                let near = &found * (1.0 - step) + &other * step;
                let there = objective(seen.view(), &prior, strength, &near, i);
                assert!(there < best + 1e-6, "m {m}, chain {chain}, step {step}: {there} above {best}");
            }
        }
    }
}

#[test]
fn an_arm_nobody_saw_moves_as_the_prior_says() {
    let mut random = stream(12, &[]);
    let truth = arms(3, 2, &mut random);
    let mut seen = sighted(&truth, 5, 300, &mut random);
    seen.slice_mut(s![2, .., ..]).fill(0.0);
    let prior = arms(3, 2, &mut random);
    let found = fitted(seen.view(), Some((prior.view(), [3.0; 2])));
    assert_eq!(found.view().slice(s![2, .., .., ..]), prior.slice(s![2, .., .., ..]));
    // without a prediction: what suits all arms together, which is what one arm with all sightings would be given
    let all = seen.sum_axis(ndarray::Axis(0)).insert_axis(ndarray::Axis(0));
    let stays = |s: usize, y: usize| if s == y { 0.75 } else { 0.25 };
    let weak = Array4::from_shape_fn((1, 2, 2, 2), |(_, s, _, y)| stays(s, y));
    let together = fitted(all.view(), Some((weak.view(), [POOLED_STRENGTH; 2])));
    let pooled = fitted(seen.view(), None);
    let gap = &pooled.view().slice(s![2, .., .., ..]) - &together.view().slice(s![0, .., .., ..]);
    assert!(gap.iter().all(|x| x.abs() < 1e-12), "{gap}");
}

#[test]
fn many_sightings_show_the_truth() {
    let mut random = stream(13, &[]);
    let truth = arms(3, 2, &mut random);
    let seen = sighted(&truth, 4, 200_000, &mut random);
    let gap = &fitted(seen.view(), None).view() - &truth;
    assert!(gap.iter().all(|x| x.abs() < 0.02), "{gap}");
}

#[test]
fn a_prediction_is_worth_more_where_it_is_right() {
    let mut random = stream(14, &[]);
    let record = |truth: &Array4<f64>, random: &mut restive::random::Random| Record::Sightings {
        seen: sighted(truth, 5, 20, random),
        chain: Chain::Finite(5),
        trajectories: 1,
    };
    let truth = arms(150, 2, &mut random);
    let wrong = arms(150, 2, &mut random);
    let seen = record(&truth, &mut random);
    let [right, same] = strength(&[(&seen, truth.view())]);
    assert_eq!(right, same);
    assert_eq!(right.transitions, 150 * 20);
    let misled = strength(&[(&seen, wrong.view())])[0];
    // between: rows that scatter around the prediction as Dirichlet draws worth about 8
    let mut near = truth.clone();
    for mut row in near.rows_mut() {
        let draws: f64 = (0..8).map(|_| f64::from(random.random::<f64>() < row[1])).sum();
        row[1] = (draws + 0.5) / 9.0;
        row[0] = 1.0 - row[1];
    }
    let between = strength(&[(&record(&near, &mut random), truth.view())])[0];
    let [right, between, misled] = [right, between, misled].map(|found| found.value);
    assert!(right >= 4.0 * between && between >= 4.0 * misled, "{right} {between} {misled}");
    assert!(GRID.contains(&between));
    assert_eq!(strength(&[]).map(|found| found.value), [16.0; 2]);
}

/// Many sightings of every arm must not make a right prediction look poor: halves that resemble each other more than chance allows would.
#[test]
fn many_sightings_do_not_belittle_a_right_prediction() {
    let mut random = stream(16, &[]);
    let truth = arms(100, 2, &mut random);
    let seen = sighted(&truth, 10, 180, &mut random);
    let record = Record::Sightings { seen, chain: Chain::Finite(10), trajectories: 100 };
    assert!(strength(&[(&record, truth.view())])[0].value >= 512.0);
}

/// Many sightings and a weak prior make a long narrow ridge: the fit must walk to its end. In log-odds, where the ridge is straight.
#[test]
fn the_end_of_a_ridge_is_reached() {
    let mut random = stream(15, &[]);
    let truth = arms(12, 2, &mut random);
    let seen = sighted(&truth, 10, 1800, &mut random);
    let prior = Array4::from_elem((12, 2, 2, 2), 0.5);
    let strength = [0.1; 2];
    let found = fitted(seen.view(), Some((prior.view(), strength))).view().to_owned();
    for i in 0..12 {
        let best = objective(seen.view(), &prior, strength, &found, i);
        for k in 0..2000 {
            let step = 10f64.powf(0.5 - 4.0 * f64::from(k) / 2000.0);
            let mut near = found.clone();
            for mut row in near.slice_mut(s![i, .., .., ..]).rows_mut() {
                let odds = (row[1] / row[0]).max(1e-9).ln() + step * (2.0 * random.random::<f64>() - 1.0);
                row[1] = 1.0 / (1.0 + (-odds).exp());
                row[0] = 1.0 - row[1];
            }
            let there = objective(seen.view(), &prior, strength, &near, i);
            assert!(there < best + 1e-4, "arm {i}, step {step}: {there} above {best}");
        }
    }
}
