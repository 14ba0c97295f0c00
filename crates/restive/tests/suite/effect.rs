//! The fit of the effect model against Newton's method as a textbook has it: one dense Hessian, entry by entry.

use crate::arms::{Random, random};
use ndarray::{Array2, Array4};
use rand::RngExt;
use restive::predictor::Precision;
use restive::predictor::logistic::{self, FitStatus, Fitting, operations};

/// Where each parameter lies: B `[M,F,q]`, b `[M,q]`, δ `[M,q]`, c `[F,q]`.
pub struct Textbook<'a> {
    pub x: &'a Array2<f64>,
    pub counts: &'a Array4<f64>,
    pub precision: f64,
    /// how often the penalty on each feature counts
    pub times: Vec<f64>,
}

impl Textbook<'_> {
    fn sizes(&self) -> (usize, usize, usize, usize) {
        let (n, f) = self.x.dim();
        let m = self.counts.shape()[1];
        (n, f, m, m - 1)
    }

    /// The parameters that the k-th log-odds of arm i at (s, a) is a sum of, each with its factor.
    fn terms(&self, i: usize, s: usize, a: usize, k: usize) -> Vec<(usize, f64)> {
        let (_, f, m, q) = self.sizes();
        let (bias, level, weight) = (m * f * q, m * f * q + m * q, m * f * q + 2 * m * q);
        let mut terms: Vec<_> = (0..f).map(|g| ((s * f + g) * q + k, self.x[[i, g]])).collect();
        terms.push((bias + s * q + k, 1.0));
        if a == 1 {
            terms.push((level + s * q + k, 1.0));
            terms.extend((0..f).map(|g| (weight + g * q + k, self.x[[i, g]])));
        }
        terms
    }

    /// Objective, gradient and Hessian.
    fn all(&self, theta: &[f64]) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
        let (n, f, m, q) = self.sizes();
        let len = theta.len();
        let (mut value, mut slope, mut hessian) = (0.0, vec![0.0; len], vec![vec![0.0; len]; len]);
        for (i, s, a) in (0..n).flat_map(|i| (0..m).flat_map(move |s| [(i, s, 0), (i, s, 1)])) {
            let seen: Vec<f64> = (0..m).map(|next| self.counts[[i, s, a, next]]).collect();
            let total: f64 = seen.iter().sum();
            if total == 0.0 {
                continue;
            }
            let terms: Vec<_> = (0..q).map(|k| self.terms(i, s, a, k)).collect();
            let mut z = vec![0.0];
            z.extend(terms.iter().map(|terms| terms.iter().map(|(j, x)| x * theta[*j]).sum::<f64>()));
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
            let p: Vec<f64> = z.iter().map(|z| (z - top).exp() / sum).collect();
            value -= (0..m).map(|k| seen[k] * (z[k] - top - sum.ln())).sum::<f64>();
            for k in 0..q {
                let d = total * p[k + 1] - seen[k + 1];
                terms[k].iter().for_each(|(j, x)| slope[*j] += d * x);
                for l in 0..q {
                    let bend = total * (if k == l { p[k + 1] } else { 0.0 } - p[k + 1] * p[l + 1]);
                    for (j, x) in &terms[k] {
                        terms[l].iter().for_each(|(h, y)| hessian[*j][*h] += bend * x * y);
                    }
                }
            }
        }
        for (stretch, first) in (0..len).step_by(q).enumerate() {
            let rho = match stretch {
                at if at < m * f => 1e-3 * self.times[at % f],
                at if at < m * f + 2 * m => 1e-6,
                at => self.precision * self.times[at - m * f - 2 * m],
            };
            for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (first + k, first + l))) {
                let form = 2.0 * rho * (f64::from(k == l) - 1.0 / m as f64);
                value += 0.5 * form * theta[k] * theta[l];
                slope[k] += form * theta[l];
                hessian[k][l] += form;
            }
        }
        (value, slope, hessian)
    }

    /// Until a step moves nothing by more than 1e-9; then one more.
    pub fn fit(&self) -> Vec<f64> {
        let (_, f, m, q) = self.sizes();
        let mut theta = vec![0.0; m * f * q + 2 * m * q + f * q];
        for _ in 0..200 {
            let (value, slope, hessian) = self.all(&theta);
            let step = solve(hessian, slope);
            let mut share = 1.0;
            let moved = |share: f64| theta.iter().zip(&step).map(|(x, d)| x - share * d).collect::<Vec<_>>();
            while self.all(&moved(share)).0 > value + 1e-12 * value && share > 1e-12 {
                share *= 0.5;
            }
            theta = moved(share);
            if step.iter().all(|d| d.abs() < 1e-9) {
                return theta;
            }
        }
        panic!("the textbook did not converge");
    }
}

/// A·x = b by elimination, the largest pivot first.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for j in 0..n {
        let pivot = (j..n).max_by(|g, h| a[*g][j].abs().total_cmp(&a[*h][j].abs())).unwrap();
        a.swap(j, pivot);
        b.swap(j, pivot);
        for i in j + 1..n {
            let share = a[i][j] / a[j][j];
            let (above, below) = a.split_at_mut(i);
            below[0][j..].iter_mut().zip(&above[j][j..]).for_each(|(x, y)| *x -= share * y);
            b[i] -= share * b[j];
        }
    }
    for j in (0..n).rev() {
        let known: f64 = (j + 1..n).map(|h| a[j][h] * b[h]).sum();
        b[j] = (b[j] - known) / a[j][j];
    }
    b
}

/// `numbers` standardised numbers, and a category out of so many, `[N,F]`.
pub fn features(n: usize, numbers: usize, categories: usize, random: &mut Random) -> Array2<f64> {
    let mut x = Array2::zeros((n, numbers + categories));
    for mut row in x.rows_mut() {
        (0..numbers).for_each(|f| row[f] = 3.4 * (random.random::<f64>() - 0.5));
        if categories > 0 {
            row[numbers + random.random_range(0..categories)] = 1.0;
        }
    }
    x
}

/// Some moves of each arm, from no state under any action more than a few.
pub fn counts(n: usize, m: usize, moves: usize, random: &mut Random) -> Array4<f64> {
    let mut counts = Array4::zeros((n, m, 2, m));
    for i in 0..n {
        for _ in 0..moves {
            let (s, a) = (random.random_range(0..m), usize::from(random.random_bool(0.3)));
            let next = random.random_range(0..m).min(random.random_range(0..m) + (i % 2));
            counts[[i, s, a, next]] += 1.0;
        }
    }
    counts
}

#[test]
fn the_fit_is_that_of_a_textbook() {
    let mut random = random(71);
    for (n, numbers, categories, m, precision) in [
        (60, 3, 0, 2, 100.0),
        (80, 0, 12, 2, 1.0), // nothing but a category
        (80, 2, 9, 3, 10.0), // dense columns and listed ones
        (50, 1, 0, 6, 100.0),
        (1500, 2, 4, 2, 30.0), // more than one part
        (40, 0, 0, 4, 100.0),  // no features
    ] {
        let x = features(n, numbers, categories, &mut random);
        let mut counts = counts(n, m, 9, &mut random);
        if m == 6 {
            counts.slice_mut(ndarray::s![.., 2, .., ..]).fill(0.0); // a state that was never seen
        }
        let fitted = logistic::fit(x.view(), counts.view(), Precision::Fixed(precision), None).unwrap();
        assert_eq!(fitted.status, FitStatus::Converged);
        let truth = Textbook { x: &x, counts: &counts, precision, times: vec![1.0; x.ncols()] }.fit();
        for (j, (found, truth)) in fitted.model.flat().iter().zip(&truth).enumerate() {
            // two fits, each to the square of a short step
            assert!(
                (found - truth).abs() < 1e-9 * truth.abs().max(1.0),
                "{m} states, {j}: {found} not {truth}"
            );
        }
    }
}

#[test]
fn a_thousand_categories_are_fitted_as_three_where_there_are_but_three_kinds() {
    // two arms to a category, and all categories of a kind move alike: they have one weight, which is penalised so many times
    let (n, categories, kinds) = (2000, 1000, 3);
    let kind = |g: usize| g % kinds;
    let counts = Array4::from_shape_fn((n, 2, 2, 2), |(i, s, a, next)| {
        let moves = [[[3.0, 1.0], [1.0, 1.0]], [[2.0, 2.0], [1.0, 2.0]], [[1.0, 4.0], [0.0, 1.0]]];
        moves[(kind(i % categories) + s) % 3][a][next]
    });
    let one_of = |many: usize, which: &dyn Fn(usize) -> usize| {
        Array2::from_shape_fn((n, many), |(i, g)| f64::from(which(i % categories) == g))
    };
    let (x, few) = (one_of(categories, &|g| g), one_of(kinds, &kind));
    let fitted = logistic::fit(x.view(), counts.view(), Precision::DEFAULT, None).unwrap();
    assert_eq!(fitted.status, FitStatus::Converged);
    let times = (0..kinds).map(|k| (0..categories).filter(|g| kind(*g) == k).count() as f64).collect();
    let truth = Textbook { x: &few, counts: &counts, precision: 100.0, times }.fit();
    let found = fitted.model.flat();
    let (biases, others) = (2 * categories, 2 * kinds);
    for g in 0..categories {
        for s in 0..2 {
            let (found, truth) = (found[s * categories + g], truth[s * kinds + kind(g)]);
            assert!((found - truth).abs() < 1e-9, "state {s}, category {g}: {found} not {truth}");
        }
        let (found, truth) = (found[biases + 4 + g], truth[others + 4 + kind(g)]);
        assert!((found - truth).abs() < 1e-9, "shift, category {g}: {found} not {truth}");
    }
    for j in 0..4 {
        assert!((found[biases + j] - truth[others + j]).abs() < 1e-9);
    }
}

#[test]
fn a_fit_can_be_watched_and_left_between_its_steps() {
    let mut random = random(73);
    let (x, n) = (features(200, 3, 0, &mut random), counts(200, 3, 9, &mut random));
    let mut fitting = Fitting::new(x.view(), n.view(), Precision::DEFAULT, None).unwrap();
    let (mut shares, mut steps) = (vec![], 0);
    while !fitting.is_finished() {
        shares.push(fitting.progress().share);
        fitting.advance();
        steps += 1;
    }
    assert_eq!(fitting.progress().share, 1.0);
    assert!(shares.len() > 3 && shares.iter().all(|share| (0.0..1.0).contains(share)), "{shares:?}");
    let fitted = fitting.finish();
    assert_eq!(fitted.steps, steps);
    assert_eq!(fitted, logistic::fit(x.view(), n.view(), Precision::DEFAULT, None).unwrap());
}

#[test]
fn the_cost_of_a_fit_grows_as_its_sizes_do() {
    let cost =
        |n: usize, f: usize, m: usize| operations(Array2::ones((n, f)).view(), m, 1e9, Precision::DEFAULT);
    let held_out =
        |n: usize| operations(Array2::ones((n, 5)).view(), 2, 1e9, Precision::HeldOut { cap: 300.0 });
    assert!(cost(2000, 5, 2) > 1.5 * cost(1000, 5, 2) && held_out(100) > 5.0 * cost(100, 5, 2));
    // 50 moves for 40 parameters, or for 420
    let loose = |m: usize| operations(Array2::ones((50, 1)).view(), m, 50.0, Precision::DEFAULT);
    assert!(loose(5) < 1.01 * operations(Array2::ones((50, 1)).view(), 5, 1e9, Precision::DEFAULT));
    assert!(loose(15) > 3.0 * operations(Array2::ones((50, 1)).view(), 15, 1e9, Precision::DEFAULT));
    // the dense Hessian's were f³ and M⁶
    assert!(cost(10, 400, 2) < 12.0 * cost(10, 200, 2));
    assert!(cost(10, 4, 80) < 40.0 * cost(10, 4, 40));
}
