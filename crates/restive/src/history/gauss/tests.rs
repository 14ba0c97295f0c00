//! The mode, the points and the slope against calculus and dense sums.

use super::factor::Matrix;
use super::mode::{Seen, mode, rows, sigmoid};
use super::sums::sums;
use super::{Gauss, Ready};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const A: Matrix<4> =
    [[0.6, 0.3, 0.1, 0.0], [0.3, 0.5, 0.0, -0.1], [0.1, 0.0, 0.4, 0.2], [0.0, -0.1, 0.2, 0.3]];

fn rule() -> Gauss {
    Gauss { offset: [0.1, -0.2, 0.3, 0.05], slope: 0.9, first: 0.4, mean_first: 0.5, covariance: A }
}

/// People with up to `most` moves in each row.
fn people(n: usize, most: u32) -> Vec<Seen> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut person = || {
        let total = [0; 4].map(|_| f64::from(random.random_range(0..=most)));
        let to_one = total.map(|n| (n * random.random::<f64>()).round());
        let logit = [0; 4].map(|_| random.random_range(-2.0..2.0));
        Seen { to_one, total, logit, first: random.random_range(-0.5..0.5) }
    };
    (0..n).map(|_| person()).collect()
}

#[test]
fn the_slope_at_a_mode_is_zero() {
    let ready = Ready::new(&rule()).unwrap();
    let mut people = people(300, 40);
    // all of a million moves one way, far from what was predicted
    let certain = Seen {
        to_one: [1e6, 0.0, 1e6, 1.0],
        total: [1e6, 1e6, 1e6, 1e6],
        logit: [-13.8, 13.8, -13.8, 0.0],
        first: 0.5,
    };
    people.push(certain);
    for seen in people {
        let c = ready.center(&seen);
        let found = mode(&seen, &c, &ready.precision).expect("a mode");
        let shift = rows(&found.w);
        let rest: Vec<f64> =
            (0..4).map(|r| seen.to_one[r] - seen.total[r] * sigmoid(c[r] + shift[r])).collect();
        let pull = super::factor::times(&ready.precision, &found.w);
        let slope =
            [rest[0] + rest[1] - pull[0], rest[2] + rest[3] - pull[1], rest[1] - pull[2], rest[3] - pull[3]];
        let size = 1.0 + seen.total.iter().sum::<f64>();
        // steps end below 1e-8, and the next one would be its square
        assert!(slope.iter().all(|d| d.abs() < 1e-10 * size), "{slope:?} {seen:?}");
    }
}

/// ln of the marginal likelihood of a person by a dense sum over L x, x on a grid of ±5.25 in steps of 0.75.
fn marginal(seen: &Seen, c: &[f64; 4]) -> f64 {
    let mut l = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            let rest = A[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { f64::sqrt(rest) } else { rest / l[j][j] };
        }
    }
    let grid: Vec<f64> = (-7..=7).map(|k| 0.75 * f64::from(k)).collect();
    let mut sum = 0.0;
    let mut x = [0.0; 4];
    for at in 0..grid.len().pow(4) {
        let mut left = at;
        for x in &mut x {
            *x = grid[left % grid.len()];
            left /= grid.len();
        }
        let w = super::factor::times(&l, &x);
        let shift = rows(&w);
        let mut log = -0.5 * x.iter().map(|x| x * x).sum::<f64>();
        for r in 0..4 {
            let z = c[r] + shift[r];
            log += seen.to_one[r] * z - seen.total[r] * (z.max(0.0) + (-z.abs()).exp().ln_1p());
        }
        sum += log.exp();
    }
    sum.ln()
}

#[test]
fn the_slope_of_scoring_is_that_of_the_marginal_likelihood() {
    let people = people(3, 4);
    let base = rule();
    let found = sums(&people, &Ready::new(&base).unwrap()).slope;
    for k in 0..6 {
        let at = |h: f64| {
            let mut moved = base;
            match k {
                0..4 => moved.offset[k] += h,
                4 => moved.slope += h,
                _ => moved.first += h,
            }
            let ready = Ready::new(&moved).unwrap();
            people.iter().map(|seen| marginal(seen, &ready.center(seen))).sum::<f64>()
        };
        let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
        // three points for each number give the mean of a logistic function to about a thousandth
        assert!((found[k] - slope).abs() < 3e-3 * (1.0 + slope.abs()), "{k}: {} not {slope}", found[k]);
    }
}
