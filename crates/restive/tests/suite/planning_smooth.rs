//! Prices at a temperature: conditions of a minimum, bounds, and the way back against finite differences of prices found anew.

use crate::arms::random;
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use crate::planning::relaxed_optimum;
use crate::planning_programme::Owned;
use ndarray::{Array2, Array3};
use rand::RngExt;
use restive::planning::{SmoothPrices, prices, smooth_prices, smoothed};

/// A programme with transitions and budgets above 0.
fn any(random: &mut crate::arms::Random) -> Owned {
    loop {
        let mut owned = Owned::any(random);
        if owned.belief.is_none() {
            owned.budget.iter_mut().for_each(|budget| *budget = 0.2 + *budget * random.random::<f64>());
            return owned;
        }
    }
}

#[test]
fn smooth_prices_are_where_every_priced_step_spends_its_budget() {
    let mut random = random(401);
    let (mut priced, mut free) = (0, 0);
    for _ in 0..300 {
        let owned = any(&mut random);
        let temperature = [0.003, 0.02, 0.1, 1.0][random.random_range(0..4)];
        let found = smooth_prices(&owned.programme(), owned.initial.view(), temperature);
        let dual = smoothed(&owned.programme(), owned.initial.view(), found.price.view(), temperature);
        assert!((found.bound - dual.value).abs() < 1e-12 * dual.value.abs().max(1.0));
        for ((g, t), d) in dual.d_price.indexed_iter() {
            let spent = d / (owned.discount.powi(t as i32) * owned.budget[g]);
            if found.price[[g, t]] > 0.0 {
                // pulls are chances over sums of a few arms: their digits are those of A/e
                assert!(spent.abs() < 1e-9, "overspent by {spent}, residual {}", found.residual);
                priced += 1;
            } else {
                assert!(spent > -1e-9, "{spent}");
                free += 1;
            }
        }
        assert!(found.is_converged);
    }
    assert!(priced > 300 && free > 100, "{priced} {free}");
}

#[test]
fn the_smoothed_bound_is_one_and_falls_with_the_temperature_to_the_smallest() {
    let mut random = random(402);
    for _ in 0..10 {
        let owned = Owned::plain(12, 2, 4, 3.0, &mut random);
        let (least, found) = (relaxed_optimum(&owned), prices(&owned.programme(), owned.initial.view()));
        let mut above = f64::INFINITY;
        for temperature in [0.3, 0.1, 0.03, 0.01, 0.003, 0.001] {
            let smooth = smooth_prices(&owned.programme(), owned.initial.view(), temperature);
            assert!(smooth.bound >= least - 1e-9 && smooth.bound < above, "{} {least} {above}", smooth.bound);
            assert!(smooth.bound <= found.bound + 12.0 * 4.0 * temperature * 2f64.ln());
            above = smooth.bound;
        }
        assert!(above - least <= 12.0 * 4.0 * 1e-3 * 2f64.ln(), "{above} {least}");
    }
}

#[test]
fn the_way_back_is_the_derivative_of_prices_found_anew() {
    let (mut random, h) = (random(403), 1e-5);
    let mut checked = [0; 6];
    while checked.iter().any(|count| *count < 25) {
        let owned = any(&mut random);
        let temperature = [0.03, 0.1, 0.5][random.random_range(0..3)];
        let (n, m, steps) = (owned.transition.shape()[0], owned.transition.shape()[1], owned.horizon);
        let here = smooth_prices(&owned.programme(), owned.initial.view(), temperature);
        let by_price = Array2::from_shape_simple_fn(here.price.raw_dim(), || uniform(&mut random));
        let by_advantage = Array3::from_shape_simple_fn((steps, n, m), || uniform(&mut random));
        let by_bound = uniform(&mut random);
        let value = |found: &SmoothPrices| {
            (&found.price * &by_price).sum()
                + by_bound * found.bound
                + (&found.advantage * &by_advantage).sum()
        };
        let d = here.pullback(
            &owned.programme(),
            owned.initial.view(),
            Some(by_price.view()),
            by_bound,
            Some(by_advantage.view()),
        );
        let transition = tangent(&owned.transition, h, &mut random);
        let reward = Array3::from_shape_simple_fn((n, m, 2), || uniform(&mut random));
        let initial = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
        let budget: Vec<f64> = owned.budget.iter().map(|_| uniform(&mut random)).collect();
        let along = [
            (&d.d_transition * &transition).sum(),
            (&d.d_reward * &reward).sum(),
            (&d.d_initial * &initial).sum(),
            d.d_budget.iter().zip(&budget).map(|(a, b)| a * b).sum(),
            -0.5 * d.d_discount,
            d.d_temperature,
        ];
        for (k, by) in along.into_iter().enumerate() {
            let moved = |t: f64| {
                let at = |j: usize| if j == k { t } else { 0.0 };
                let there = Owned {
                    transition: &owned.transition + &(&transition * at(0)),
                    reward: &owned.reward + &(&reward * at(1)),
                    initial: &owned.initial + &(&initial * at(2)),
                    budget: owned.budget.iter().zip(&budget).map(|(k, d)| k + d * at(3)).collect(),
                    discount: owned.discount - 0.5 * at(4),
                    belief: None,
                    horizon: owned.horizon,
                    ending: owned.ending,
                    group: owned.group.clone(),
                    presence: owned.presence.clone(),
                };
                smooth_prices(&there.programme(), there.initial.view(), temperature + at(5))
            };
            let is_free = |found: &SmoothPrices| found.price.mapv(|price| price > 0.0);
            if [-2.0 * h, 2.0 * h].iter().any(|t| is_free(&moved(*t)) != is_free(&here)) {
                continue; // a price reaches 0 in between
            }
            let truth = derivative(|t| value(&moved(t)), h);
            // differences of prices whose residual is 1e-13 over curvatures of up to 1/temperature
            assert!(
                (by - truth).abs() <= AGREEMENT * (1.0 + by.abs()) * 10.0,
                "input {k}: {by} not {truth}, at {temperature}"
            );
            checked[k] += 1;
        }
        assert!(d.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-9));
        assert!(d.d_price.iter().all(|d| *d == 0.0));
    }
}

#[test]
fn prices_that_nothing_singles_out_are_not_said_to_be_found() {
    // one arm, half a place, and a temperature at which a pull is certain or impossible wherever the price lies
    let mut random = random(404);
    let mut owned = Owned::plain(1, 2, 3, 1.0, &mut random);
    owned.budget = vec![2.0];
    assert!(smooth_prices(&owned.programme(), owned.initial.view(), 1e-9).is_converged); // free pulls
    let mut owned = Owned::plain(2, 2, 1, 1.0, &mut random);
    owned.reward.indexed_iter_mut().for_each(|((i, _, a), r)| *r = if a == 1 { [1.0, 0.25][i] } else { 0.0 });
    let found = smooth_prices(&owned.programme(), owned.initial.view(), 1e-9);
    assert!((0.25..=1.0).contains(&found.price[[0, 0]]), "{}", found.price); // anything between them
    assert!(!found.is_converged);
}

#[test]
fn smooth_prices_and_their_way_back_have_the_same_bits_for_every_number_of_threads() {
    let mut random = random(405);
    let owned = Owned::plain(2500, 2, 4, 300.0, &mut random);
    let c = Array3::from_shape_simple_fn((4, 2500, 2), || uniform(&mut random));
    let solve = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let found = smooth_prices(&owned.programme(), owned.initial.view(), 0.01);
            let by_price = Array2::ones((1, 4));
            let d = found.pullback(
                &owned.programme(),
                owned.initial.view(),
                Some(by_price.view()),
                0.3,
                Some(c.view()),
            );
            (found, d)
        })
    };
    let one = solve(1);
    assert!(one.0.is_converged);
    assert!(one == solve(2) && one == solve(5));
}
