//! Prices and advantages against textbook recursions, linear programmes and finite differences.

use crate::arms::{Kind, random, transitions};
use crate::gradients::{AGREEMENT, derivative, uniform};
use crate::planning_programme::Owned;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use ndarray::{Array2, Array3, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::planning::{Ending, advantages, bound, first_advantages, prices, prices_on_sample, smoothed};

/// The advantages `[H,N,L]` and the dual, by the formulas as they stand.
fn textbook(owned: &Owned, price: &Array2<f64>) -> (Array3<f64>, f64) {
    let (p, (n, l)) = (owned.explicit(), owned.initial.dim());
    let mut found = Array3::zeros((owned.horizon, n, l));
    let mut dual: f64 = (price.indexed_iter())
        .map(|((g, t), price)| owned.discount.powi(t as i32) * owned.budget[g] * price)
        .sum();
    for i in 0..n {
        let (from, until) = owned.steps(i);
        if from >= until {
            continue;
        }
        let mut value: Vec<f64> = (0..l).map(|s| owned.end(i, s)).collect();
        for t in (from..until).rev() {
            let q = |s: usize, a: usize| -> f64 {
                let ahead: f64 = (0..l).map(|to| p[[i, s, a, to]] * value[to]).sum();
                owned.reward[[i, s, a]] + owned.discount * ahead
            };
            let both: Vec<[f64; 2]> = (0..l).map(|s| [q(s, 0), q(s, 1)]).collect();
            for s in 0..l {
                found[[t, i, s]] = both[s][1] - both[s][0];
                value[s] = both[s][0].max(both[s][1] - price[[owned.group_of(i), t]]);
            }
        }
        let start: f64 = (0..l).map(|s| owned.initial[[i, s]] * value[s]).sum();
        dual += owned.discount.powi(from as i32) * start;
    }
    (found, dual)
}

fn any_price(owned: &Owned, random: &mut crate::arms::Random) -> Array2<f64> {
    Array2::from_shape_simple_fn((owned.budget.len(), owned.horizon), || 0.4 * random.random::<f64>())
}

#[test]
fn advantages_and_bound_are_those_of_the_textbook() {
    let mut random = random(181);
    for _ in 0..300 {
        let owned = Owned::any(&mut random);
        let (programme, price) = (owned.programme(), any_price(&owned, &mut random));
        let (truth, dual) = textbook(&owned, &price);
        let found = advantages(&programme, price.view());
        assert!((&found - &truth).iter().all(|d| d.abs() < 1e-13), "{found} not {truth}");
        assert_eq!(first_advantages(&programme, price.view()), found.index_axis(Axis(0), 0));
        let value = bound(&programme, owned.initial.view(), price.view());
        assert!((value - dual).abs() < 1e-12 * (1.0 + dual.abs()), "{value} not {dual}");
        let sharp = smoothed(&programme, owned.initial.view(), price.view(), 0.0).value;
        assert!((sharp - dual).abs() < 1e-12 * (1.0 + dual.abs()), "{sharp} not {dual}");
    }
}

#[test]
fn the_gradient_of_the_smoothed_dual_is_that_of_its_value() {
    let mut random = random(182);
    for _ in 0..100 {
        let owned = Owned::any(&mut random);
        let (programme, price) = (owned.programme(), any_price(&owned, &mut random) + 0.01);
        for temperature in [0.2, 0.02] {
            let at =
                |price: &Array2<f64>| smoothed(&programme, owned.initial.view(), price.view(), temperature);
            let towards = price.mapv(|_| uniform(&mut random));
            let truth = derivative(|h| at(&(&price + &(&towards * h))).value, 0.02 * temperature);
            let found = (&at(&price).d_price * &towards).sum();
            // differences of a value of about 10 over steps of 4e-4 carry 1e-11; their fourth derivative 1e-8
            assert!((found - truth).abs() < AGREEMENT, "{found} not {truth} at {temperature}");
            assert!(at(&price).value >= bound(&programme, owned.initial.view(), price.view()) - 1e-12);
        }
    }
}

/// The optimum of the linear programme in the masses x_it(s, a): budgets hold on average.
pub fn relaxed_optimum(owned: &Owned) -> f64 {
    let (p, (n, l)) = (owned.explicit(), owned.initial.dim());
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let mut pulls: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); owned.budget.len() * owned.horizon];
    for i in 0..n {
        let (from, until) = owned.steps(i);
        let mut before: Option<Vec<[Variable; 2]>> = None;
        for t in from..until {
            let weight = owned.discount.powi(t as i32);
            let worth = |s: usize, a: usize| {
                let end = |to: usize| if t + 1 == until { p[[i, s, a, to]] * owned.end(i, to) } else { 0.0 };
                weight * (owned.reward[[i, s, a]] + owned.discount * (0..l).map(end).sum::<f64>())
            };
            let x: Vec<[Variable; 2]> =
                (0..l).map(|s| [0, 1].map(|a| problem.add_var(worth(s, a), (0.0, f64::INFINITY)))).collect();
            for to in 0..l {
                let mut row = vec![(x[to][0], 1.0), (x[to][1], 1.0)];
                let mass = match &before {
                    None => owned.initial[[i, to]],
                    Some(before) => {
                        let from = before.iter().enumerate();
                        row.extend(from.flat_map(|(s, x)| [0, 1].map(|a| (x[a], -p[[i, s, a, to]]))));
                        0.0
                    }
                };
                row.retain(|(_, share)| *share != 0.0);
                problem.add_constraint(&row, ComparisonOp::Eq, mass);
            }
            pulls[owned.group_of(i) * owned.horizon + t].extend(x.iter().map(|x| (x[1], 1.0)));
            before = Some(x);
        }
    }
    for (k, pulls) in pulls.iter().enumerate().filter(|(_, pulls)| !pulls.is_empty()) {
        problem.add_constraint(pulls, ComparisonOp::Le, owned.budget[k / owned.horizon]);
    }
    problem.solve().unwrap().into_solution().unwrap().objective()
}

#[test]
fn the_bound_is_the_optimum_of_the_linear_programme() {
    let mut random = random(183);
    let mut worst = 0.0f64;
    for (n, m, horizon, budget) in
        [(30, 2, 9, 6.0), (40, 2, 4, 2.0), (20, 5, 5, 4.0), (60, 2, 7, 3.0), (25, 3, 6, 20.0)]
    {
        for ending in [Ending::Nothing, Ending::State] {
            let mut owned = Owned::plain(n, m, horizon, budget, &mut random);
            owned.ending = ending;
            let truth = relaxed_optimum(&owned);
            let found = prices(&owned.programme(), owned.initial.view());
            let gap = (found.bound - truth) / truth;
            println!(
                "N={n} M={m} H={horizon} K={budget} {ending:?}: {gap:.2e} after {:?}",
                found.evaluations
            );
            assert!(found.is_converged[0]);
            assert!(gap > -1e-7, "the bound lies {gap} below the optimum");
            worst = worst.max(gap);
        }
    }
    assert!(worst < 5e-4, "{worst}");
}

#[test]
fn the_bound_stays_exact_where_pulls_change_little_and_where_they_are_rare() {
    let mut random = random(189);
    for (kind, n, budget) in
        [(Kind::NearEqual, 30, 6.0), (Kind::Deterministic, 30, 6.0), (Kind::Dense, 60, 0.2)]
    {
        let mut owned = Owned::plain(n, 2, 6, budget, &mut random);
        owned.transition = transitions(kind, n, 2, &mut random);
        let (truth, found) = (relaxed_optimum(&owned), prices(&owned.programme(), owned.initial.view()));
        owned.budget = vec![0.0];
        let gain = truth - relaxed_optimum(&owned);
        let gap = (found.bound - truth) / gain;
        println!("{kind:?} N={n} K={budget}: {gap:.2e} of the gain {gain:.2e} after {:?}", found.evaluations);
        // the solver of the linear programme is good to 1e-7
        assert!(gap > -1e-6 / gain && gap < 2e-3, "{gap}");
    }
}

#[test]
fn the_bound_of_groups_and_of_arms_that_come_and_go_is_that_of_their_linear_programme() {
    let mut random = random(184);
    let (mut sum, mut cases) = (0.0, 0.0);
    for case in 0..60 {
        let owned = Owned::any(&mut random);
        let truth = relaxed_optimum(&owned);
        let found = prices(&owned.programme(), owned.initial.view()).bound;
        let gap = (found - truth) / truth.abs().max(0.1);
        assert!(gap > -1e-7, "{case}: {found} below {truth}");
        // two to four arms: smoothing is coarse beside their few kinks
        assert!(gap < 5e-3, "{case}: {found} above {truth}");
        (sum, cases) = (sum + gap, cases + 1.0);
    }
    println!("mean gap {:.2e}", sum / cases);
    assert!(sum / cases < 5e-4, "{}", sum / cases);
}

#[test]
fn prices_are_at_least_0_and_0_where_a_pull_changes_nothing_that_counts() {
    let mut random = random(185);
    for (n, budget) in [(30, 3.0), (30, 14.0), (30, 29.0), (30, 30.0), (30, 0.0), (2000, 100.0)] {
        let mut owned = Owned::plain(n, 2, 5, budget, &mut random);
        let found = prices(&owned.programme(), owned.initial.view());
        assert!(found.price.iter().all(|price| *price >= 0.0));
        assert_eq!(found.price[[0, 4]], 0.0, "nothing follows the last pull");
        assert!(budget >= 14.0 || found.price[[0, 0]] > 0.0, "a scarce pull has a price");
        if budget >= n as f64 {
            assert!(found.price.iter().all(|price| *price == 0.0), "{}", found.price);
        }
        owned.reward.fill(0.7);
        let constant = prices(&owned.programme(), owned.initial.view());
        assert!(constant.price.iter().all(|price| *price == 0.0));
        let earned = 0.7 * n as f64 * (0..5).map(|t| 0.99f64.powi(t)).sum::<f64>();
        assert!((constant.bound - earned).abs() < 1e-10 * earned);
    }
}

#[test]
fn prices_are_in_the_unit_of_the_reward_and_groups_do_not_know_each_other() {
    let mut random = random(190);
    let mut owned = Owned::plain(40, 2, 5, 0.0, &mut random);
    owned.group = Some((0..40).map(|i| i % 2).collect());
    owned.budget = vec![3.0, 8.0];
    let found = prices(&owned.programme(), owned.initial.view());
    for g in 0..2 {
        let members: Vec<usize> = (0..40).filter(|i| i % 2 == g).collect();
        let mut alone = Owned::plain(20, 2, 5, owned.budget[g], &mut random);
        alone.transition = owned.transition.select(Axis(0), &members);
        alone.initial = owned.initial.select(Axis(0), &members);
        let alone = prices(&alone.programme(), alone.initial.view());
        assert_eq!(alone.price.row(0), found.price.row(g));
    }
    owned.reward *= 1024.0; // a power of two: no rounding
    let larger = prices(&owned.programme(), owned.initial.view());
    assert_eq!(larger.price, &found.price * 1024.0);
    assert_eq!(larger.bound, found.bound * 1024.0);
}

#[test]
fn the_order_of_arms_orders_their_advantages() {
    let mut random = random(186);
    for m in [2, 3] {
        let owned = Owned::plain(50, m, 6, 10.0, &mut random);
        let mut order: Vec<usize> = (0..50).collect();
        order.shuffle(&mut random);
        let mut moved = Owned::plain(50, m, 6, 10.0, &mut random);
        moved.transition = owned.transition.select(Axis(0), &order);
        moved.initial = owned.initial.select(Axis(0), &order);
        let [here, there] = [&owned, &moved].map(|owned| prices(&owned.programme(), owned.initial.view()));
        // sums in another order: the descent differs by rounding
        assert!((&here.price - &there.price).iter().all(|d| d.abs() < 1e-6));
        assert!((here.bound - there.bound).abs() < 1e-8 * here.bound);
        let [here, there] = [&owned, &moved].map(|owned| advantages(&owned.programme(), there.price.view()));
        assert_eq!(here.select(Axis(1), &order), there);
    }
}

#[test]
fn prices_are_the_same_bits_for_every_number_of_threads() {
    let mut random = random(187);
    for m in [2, 3] {
        let mut owned = Owned::plain(5000, m, 5, 500.0, &mut random);
        owned.group = Some((0..5000).map(|i| usize::from(i % 5 == 0)).collect());
        owned.budget = vec![500.0, 100.0];
        let keys: Vec<u64> = (0..5000).map(|_| random.random()).collect();
        let run = |threads: usize| {
            let pool = rayon_pool(threads);
            pool.install(|| {
                let programme = owned.programme();
                let all = prices(&programme, owned.initial.view());
                let some = prices_on_sample(&programme, owned.initial.view(), &keys, 3000);
                let table = advantages(&programme, all.price.view());
                (all, some, table)
            })
        };
        let one = run(1);
        assert!(run(2) == one && run(7) == one);
    }
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn prices_of_a_sample_give_a_valid_bound_that_is_nearly_the_smallest() {
    let mut random = random(188);
    let mut owned = Owned::plain(40_000, 2, 6, 8000.0, &mut random);
    owned.group = Some((0..40_000).map(|i| usize::from(i % 100 == 0)).collect());
    owned.budget = vec![7900.0, 50.0];
    let (programme, start) = (owned.programme(), owned.initial.view());
    let keys: Vec<u64> = (0..40_000).map(|_| random.random()).collect();
    let full = prices(&programme, start);
    let sampled = prices_on_sample(&programme, start, &keys, 5000);
    let gap = sampled.bound / full.bound - 1.0;
    println!("sampled over full: {gap:.2e}, prices\n{:.4}\n{:.4}", full.price, sampled.price);
    // the full one is itself within 1e-4 of the minimum
    assert!((-1e-4..5e-4).contains(&gap), "{gap}");
    // a group of 400 has all of its arms in the sample
    assert!((&full.price.row(1) - &sampled.price.row(1)).iter().all(|d| d.abs() < 1e-9));
    assert_eq!(prices_on_sample(&programme, start, &keys, 40_000), full);
}
