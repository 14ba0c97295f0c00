//! Every pullback against finite differences: central, extrapolated once (Richardson), along random directions that
//! keep the rows of the transitions on the simplex. Agreement is asked to 1e-7 of the product of the lengths of the
//! gradient and the direction; differences at these steps are good to about 1e-9.

use crate::arms::{KINDS, Kind, Random, random, reward, transitions};
use ndarray::{Array1, Array2, Array4, ArrayView2, ArrayView4, Axis};
use rand::RngExt;
use restive::index::{IndexCotangent, Indices, bisection, general, two_state};
use restive::policy::Temperature;
use restive::policy::soft_top_k::{soft_top_k, soft_top_k_many};

pub const AGREEMENT: f64 = 1e-7;

/// f′(0), with an error of order h⁴.
pub fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (4.0 * central(0.5 * h) - central(h)) / 3.0
}

pub fn uniform(random: &mut Random) -> f64 {
    random.random::<f64>() - 0.5
}

/// A direction whose rows sum to zero, and that vanishes where a probability is within reach of 0.
pub fn tangent(p: &Array4<f64>, h: f64, random: &mut Random) -> Array4<f64> {
    let mut direction = p.mapv(|p| if p > 4.0 * h { uniform(random) } else { 0.0 });
    for (mut d, p) in direction.rows_mut().into_iter().zip(p.rows()) {
        let free = p.iter().filter(|p| **p > 4.0 * h).count();
        let mean = d.sum() / free as f64;
        d.iter_mut().zip(p).filter(|(_, p)| **p > 4.0 * h).for_each(|(d, _)| *d -= mean);
    }
    direction
}

/// The order in which the states of each arm turn passive; equal orders mean that no kink lies between.
fn order(indices: &Indices) -> Vec<(Vec<usize>, bool)> {
    (indices.index.rows().into_iter().zip(&indices.is_indexable))
        .map(|(w, is_indexable)| {
            let mut order: Vec<usize> = (0..w.len()).collect();
            order.sort_by(|&a, &b| w[a].total_cmp(&w[b]));
            (order, *is_indexable)
        })
        .collect()
}

type Index = dyn Fn(ArrayView4<f64>, ArrayView2<f64>, f64) -> Indices;
type Pullback = dyn Fn(ArrayView4<f64>, ArrayView2<f64>, f64, ArrayView2<f64>) -> IndexCotangent;

/// Checks one arm at a time, by transitions, reward and discount; returns how many arms were away from kinks.
fn check_index(
    kind: Kind,
    n: usize,
    m: usize,
    g: f64,
    index: &Index,
    pullback: &Pullback,
    random: &mut Random,
) -> usize {
    let h = 1e-4 * (1.0 - g).max(1e-2);
    let mut checked = 0;
    for i in 0..n {
        let p = transitions(kind, 1, m, random);
        let r = reward(m, i % 2 == 0, random);
        let c = Array2::from_shape_simple_fn((1, m), || uniform(random));
        let (dp, dr) = (tangent(&p, h, random), reward(m, i % 2 == 0, random) - 0.5);
        let at = |t_p: f64, t_r: f64, t_g: f64| {
            index((&p + &(&dp * t_p)).view(), (&r + &(&dr * t_r)).view(), g + t_g)
        };
        let order_here = order(&at(0.0, 0.0, 0.0));
        let reach = 2.0 * h;
        let corners = [at(reach, 0.0, 0.0), at(-reach, 0.0, 0.0), at(0.0, reach, 0.0), at(0.0, -reach, 0.0)];
        if corners.iter().any(|corner| order(corner) != order_here) {
            continue;
        }
        let d = pullback(p.view(), r.view(), g, c.view());
        for row in d.d_transition.rows() {
            let size = row.iter().fold(1.0f64, |a, x| a.max(x.abs()));
            assert!(row.sum().abs() < 1e-12 * size, "rows of the gradient sum to zero");
        }
        // differences of indices of size w carry about 1e-16·w/h
        let here = index(p.view(), r.view(), g).index;
        let rounding = 1e-15 * here.iter().fold(0.0f64, |a, w| a.max(w.abs())) / h;
        let value = |indices: Indices| (&indices.index * &c).sum();
        let close = |what: &str, found: f64, truth: f64, size: f64| {
            let error = (found - truth).abs();
            assert!(
                error <= AGREEMENT * size + rounding,
                "{kind:?} M={m} γ={g} {what}: {found} not {truth} (size {size})\n{p:?}\n{r:?}"
            );
        };
        let length = |a: &Array4<f64>| a.iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = (&d.d_transition * &dp).sum();
        close(
            "transition",
            found,
            derivative(|t| value(at(t, 0.0, 0.0)), h),
            length(&d.d_transition) * length(&dp),
        );
        let found = (&d.d_reward * &dr).sum();
        let size = (d.d_reward.mapv(|x| x * x).sum() * dr.mapv(|x| x * x).sum()).sqrt();
        close("reward", found, derivative(|t| value(at(0.0, t, 0.0)), h), size);
        // by the discount: one-sided room at 0, and at 1 there is no derivative to ask for
        if (h..1.0 - h).contains(&g) && [h, -h].iter().all(|&t| order(&at(0.0, 0.0, t)) == order_here) {
            close("discount", d.d_discount, derivative(|t| value(at(0.0, 0.0, t)), h), d.d_discount.abs());
        }
        checked += 1;
    }
    checked
}

fn closed_index(p: ArrayView4<f64>, r: ArrayView2<f64>, g: f64) -> Indices {
    two_state::index(p, r, g)
}

fn swept_index(p: ArrayView4<f64>, r: ArrayView2<f64>, g: f64) -> Indices {
    general::index(p, r, g)
}

#[test]
fn the_closed_form_has_the_gradient_of_its_indices() {
    let mut random = random(11);
    for kind in [Kind::Dense, Kind::Sparse] {
        for g in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let checked = check_index(kind, 60, 2, g, &closed_index, &two_state::pullback, &mut random);
            assert!(checked >= 40, "{kind:?} γ={g}: {checked}");
        }
    }
}

#[test]
fn the_compact_gradient_is_that_of_the_full_layout() {
    let mut random = random(12);
    let p = transitions(Kind::Dense, 37, 2, &mut random);
    let compact = Array2::from_shape_fn((37, 4), |(i, k)| p[[i, k / 2, k % 2, 1]]);
    let r = reward(2, true, &mut random);
    let c = Array2::from_shape_simple_fn((37, 2), || uniform(&mut random));
    let full = two_state::pullback(p.view(), r.view(), 0.9, c.view());
    let small = two_state::pullback_compact(compact.view(), r.view(), 0.9, c.view());
    for i in 0..37 {
        for k in 0..4 {
            // along (−1, 1) the row (−d/2, d/2) gives d
            let row = full.d_transition.index_axis(Axis(0), i);
            let found = row[[k / 2, k % 2, 1]] - row[[k / 2, k % 2, 0]];
            assert!((found - small.d_transition[[i, k]]).abs() < 1e-14 * (1.0 + found.abs()));
        }
    }
    assert!((&full.d_reward - &small.d_reward).iter().all(|d| d.abs() < 1e-12));
    assert!((full.d_discount - small.d_discount).abs() < 1e-12 * full.d_discount.abs());
}

#[test]
fn the_sweep_has_the_gradient_of_its_indices() {
    let mut random = random(13);
    let pullback = move |p: ArrayView4<f64>, r: ArrayView2<f64>, g: f64, c: ArrayView2<f64>| {
        general::differentiable_index(p, r, g).pullback(c)
    };
    for m in [1, 2, 3, 5, 8] {
        for kind in [Kind::Dense, Kind::Sparse] {
            for g in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
                // sparse arms may have several classes: no average reward
                if kind == Kind::Sparse && g == 1.0 {
                    continue;
                }
                let checked = check_index(kind, 25, m, g, &swept_index, &pullback, &mut random);
                assert!(checked >= 5, "M={m} {kind:?} γ={g}: {checked}");
            }
        }
    }
    // the matrix-product roads of many states
    for (m, n) in [(40, 6), (70, 4), (130, 2)] {
        let checked = check_index(Kind::Dense, n, m, 0.9, &swept_index, &pullback, &mut random);
        assert!(checked >= 1, "M={m}: {checked}");
    }
}

#[test]
fn arms_that_are_not_indexable_have_the_gradient_of_the_first_crossing() {
    let mut random = random(14);
    let (g, h) = (0.99, 1e-6);
    let mut checked = 0;
    while checked < 25 {
        let p = transitions(Kind::Sparse, 1, 4, &mut random);
        let r = reward(4, true, &mut random);
        let solved = general::differentiable_index(p.view(), r.view(), g);
        if solved.indices.is_indexable[0] {
            continue;
        }
        let dp = tangent(&p, h, &mut random);
        let at = |t: f64| general::index((&p + &(&dp * t)).view(), r.view(), g);
        if [2.0 * h, -2.0 * h].iter().any(|&t| order(&at(t)) != order(&solved.indices)) {
            continue;
        }
        for s in 0..4 {
            let mut c = Array2::zeros((1, 4));
            c[[0, s]] = 1.0;
            let d = solved.pullback(c.view()).d_transition;
            let truth = derivative(|t| at(t).index[[0, s]], h);
            let found = (&d * &dp).sum();
            let size =
                d.iter().map(|x| x * x).sum::<f64>().sqrt() * dp.iter().map(|x| x * x).sum::<f64>().sqrt();
            // at a step of 1e-6 rounding leaves 1e-16·|W|/h ≈ 1e-8 of an index of size 100
            assert!((found - truth).abs() <= AGREEMENT * size + 1e-6, "{found} not {truth}");
        }
        checked += 1;
    }
}

#[test]
fn the_textbook_road_has_the_gradient_of_its_indices() {
    let mut random = random(15);
    let tight = bisection::Tolerance { index: 1e-9, value: 1e-10, ..Default::default() };
    let index = move |p: ArrayView4<f64>, r: ArrayView2<f64>, g: f64| {
        let mut solved = bisection::index(p, r, g, tight);
        solved.is_indexable.fill(true);
        solved
    };
    let pullback = move |p: ArrayView4<f64>, r: ArrayView2<f64>, g: f64, c: ArrayView2<f64>| {
        bisection::differentiable_index(p, r, g, tight).pullback(c)
    };
    for m in [2, 3, 5] {
        for g in [0.0, 0.5, 0.9] {
            let checked = check_index(Kind::Dense, 8, m, g, &index, &pullback, &mut random);
            assert!(checked >= 2, "M={m} γ={g}: {checked}");
        }
    }
}

#[test]
fn gradients_at_kinks_and_corners_are_numbers() {
    let mut random = random(16);
    for m in [1, 2, 3, 6] {
        for kind in KINDS {
            for g in [0.0, 0.9, 0.999, 1.0] {
                // a constant reward ties every state of every arm
                for r in [reward(m, true, &mut random), Array2::zeros((m, 2)), Array2::ones((m, 2))] {
                    let p = transitions(kind, 20, m, &mut random);
                    let c = Array2::from_elem((20, m), 1.0);
                    let d = general::differentiable_index(p.view(), r.view(), g).pullback(c.view());
                    assert!(
                        d.d_transition.iter().chain(&d.d_reward).all(|d| d.is_finite()),
                        "{kind:?} M={m} γ={g}"
                    );
                    assert!(d.d_discount.is_finite());
                    if m == 2 {
                        let d = two_state::pullback(p.view(), r.view(), g, c.view());
                        assert!(d.d_transition.iter().chain(&d.d_reward).all(|d| d.is_finite()));
                        assert!(d.d_discount.is_finite());
                    }
                }
            }
        }
    }
}

#[test]
fn the_derivative_by_the_discount_has_its_limit_at_zero() {
    let mut random = random(17);
    for m in [2, 4] {
        let p = transitions(Kind::Dense, 10, m, &mut random);
        let r = reward(m, true, &mut random);
        let c = Array2::from_shape_simple_fn((10, m), || uniform(&mut random));
        let value = |g: f64| (&general::index(p.view(), r.view(), g).index * &c).sum();
        let d = general::differentiable_index(p.view(), r.view(), 0.0).pullback(c.view()).d_discount;
        // forward differences of second order: (4 f(h) − f(2h) − 3 f(0)) / 2h, error of order h²
        let h = 1e-5;
        let forward = (4.0 * value(h) - value(2.0 * h) - 3.0 * value(0.0)) / (2.0 * h);
        assert!((d - forward).abs() < 1e-7 * (1.0 + d.abs()), "{d} not {forward}");
        if m == 2 {
            let closed = two_state::pullback(p.view(), r.view(), 0.0, c.view()).d_discount;
            assert!((d - closed).abs() < 1e-12 * (1.0 + d.abs()));
        }
    }
}

#[test]
fn soft_top_k_has_the_gradient_of_its_pulls() {
    let mut random = random(18);
    for n in [2usize, 5, 40, 700] {
        // the spread of these scores is about 0.3: from all alike to nearly strict
        for temperature in [3.0, 0.3, 0.03, 0.003] {
            for fraction in [0.0, 0.37] {
                let x: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
                let dx: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
                let c: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
                let k = (0.4 * n as f64).ceil().min(n as f64 - 1.0) + fraction;
                let at = |t: f64, dk: f64, de: f64| {
                    let moved: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + t * d).collect();
                    let soft = soft_top_k(&moved, k + dk, temperature + de);
                    soft.pull.iter().zip(&c).map(|(p, c)| p * c).sum::<f64>()
                };
                let d = soft_top_k(&x, k, temperature).pullback(&c);
                let h = 1e-3 * temperature;
                let found: f64 = d.d_score.iter().zip(&dx).map(|(d, x)| d * x).sum();
                let size = (d.d_score.iter().map(|d| d * d).sum::<f64>()
                    * dx.iter().map(|d| d * d).sum::<f64>())
                .sqrt();
                let truth = derivative(|t| at(t, 0.0, 0.0), h);
                let context = format!("N={n} K={k} e={temperature}");
                // differences of numbers of size Σ|c| carry 1e-16·Σ|c|/h
                let rounding = 1e-15 * n as f64 / h;
                assert!(
                    (found - truth).abs() <= AGREEMENT * size + rounding,
                    "{context} score: {found} not {truth}"
                );
                let truth = derivative(|t| at(0.0, 0.0, t), h);
                assert!(
                    (d.d_temperature - truth).abs()
                        <= AGREEMENT * (truth.abs() + size / temperature) + rounding,
                    "{context} temperature: {} not {truth}",
                    d.d_temperature
                );
                // a fractional budget has room on both sides; at whole budgets the log-balance changes sides
                let truth = derivative(|t| at(0.0, t, 0.0), 1e-4);
                if temperature > 0.01 {
                    assert!(
                        (d.d_budget - truth).abs() <= 1e-7,
                        "{context} budget: {} not {truth}",
                        d.d_budget
                    );
                }
            }
        }
    }
}

#[test]
fn many_problems_on_one_table_have_the_gradient_of_their_log_odds() {
    let mut random = random(19);
    let (n, m, problems) = (30, 3, 8);
    let table = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
    let d_table = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
    let state = Array2::from_shape_simple_fn((problems, n), || random.random_range(0..m as u16));
    let c = Array2::from_shape_simple_fn((problems, n), || uniform(&mut random));
    for way in [Temperature::Absolute(0.05), Temperature::Spread(0.1), Temperature::Published(0.1)] {
        let value = |table: &Array2<f64>| {
            let e = way.resolve(table.as_slice().unwrap());
            (&soft_top_k_many(table.view(), state.view(), 6.0, e).log_odds * &c).sum()
        };
        let e = way.resolve(table.as_slice().unwrap());
        let d = soft_top_k_many(table.view(), state.view(), 6.0, e).pullback(c.view());
        let mut d_index = d.d_index.clone();
        way.pullback_into(d.d_temperature, table.as_slice().unwrap(), d_index.as_slice_mut().unwrap());
        let found = (&d_index * &d_table).sum();
        let truth = derivative(|t| value(&(&table + &(&d_table * t))), 1e-4);
        assert!((found - truth).abs() < 1e-7 * (1.0 + truth.abs()), "{way:?}: {found} not {truth}");
        let by_temperature = derivative(
            |t| (&soft_top_k_many(table.view(), state.view(), 6.0, e + t).log_odds * &c).sum(),
            1e-3 * e,
        );
        assert!((d.d_temperature - by_temperature).abs() < 1e-7 * (1.0 + by_temperature.abs()));
        let by_budget = derivative(
            |t| (&soft_top_k_many(table.view(), state.view(), 6.0 + t, e).log_odds * &c).sum(),
            1e-3,
        );
        assert!((d.d_budget - by_budget).abs() < 1e-7 * (1.0 + by_budget.abs()));
    }
    let one = Array1::from_iter((0..n).map(|i| table[[i, usize::from(state[[3, i]])]]));
    let alone = soft_top_k(one.as_slice().unwrap(), 6.0, 0.05);
    let together = soft_top_k_many(table.view(), state.view(), 6.0, 0.05);
    for i in 0..n {
        assert!((alone.pull[i] - together.pull()[[3, i]]).abs() < 1e-14, "batch = loop");
    }
}
