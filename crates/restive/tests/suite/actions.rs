//! More than two actions: thresholds, verdicts and Lagrangian prices against all policies, two actions against Whittle indices, gradients
//! against finite differences.

use crate::arms::{KINDS, Kind, Random, random, reward, row, transitions};
use crate::gradients::{AGREEMENT, derivative, uniform};
use crate::oracle::solve;
use ndarray::{Array2, Array3, Array4, ArrayView2, ArrayView3, Axis, s};
use rand::RngExt;
use restive::index::actions::{ActionIndices, Actions, Lagrangian};
use restive::index::{IndexStatus, general};

/// `[N,M,A,M]`, `[N,M,A]` and `[A]`
fn world(
    kind: Kind,
    n: usize,
    m: usize,
    a: usize,
    random: &mut Random,
) -> (Array4<f64>, Array3<f64>, Vec<f64>) {
    let mut p = Array4::zeros((n, m, a, m));
    for mut to in p.rows_mut() {
        to.iter_mut().zip(row(kind, m, random)).for_each(|(p, drawn)| *p = drawn);
    }
    let reward = Array3::from_shape_simple_fn((n, m, a), || random.random::<f64>());
    let mut cost = vec![0.0];
    (1..a).for_each(|k| cost.push(cost[k - 1] + 0.3 + random.random::<f64>()));
    (p, reward, cost)
}

/// Every policy of an arm: its actions, and its values u − m w.
fn policies(p: ArrayView3<f64>, r: ArrayView2<f64>, cost: &[f64], g: f64) -> Vec<(Vec<usize>, Array2<f64>)> {
    let (m, a) = r.dim();
    (0..a.pow(m as u32))
        .map(|code| {
            let policy: Vec<usize> = (0..m).map(|s| code / a.pow(s as u32) % a).collect();
            let (mut matrix, mut right) = (Array2::eye(m), Array2::zeros((m, 2)));
            for s in 0..m {
                matrix.row_mut(s).scaled_add(-g, &p.slice(s![s, policy[s], ..]));
                right[[s, 0]] = r[[s, policy[s]]];
                right[[s, 1]] = cost[policy[s]];
            }
            let value = solve(matrix, right);
            (policy, value)
        })
        .collect()
}

/// Q(s, ·) of the best policy at a price.
fn best(
    policies: &[(Vec<usize>, Array2<f64>)],
    p: ArrayView3<f64>,
    r: ArrayView2<f64>,
    cost: &[f64],
    g: f64,
    price: f64,
) -> Array2<f64> {
    let total = |value: &Array2<f64>| value.column(0).sum() - price * value.column(1).sum();
    let (_, value) = policies.iter().max_by(|x, y| total(&x.1).total_cmp(&total(&y.1))).unwrap();
    let value = &value.column(0) - &(&value.column(1) * price);
    Array2::from_shape_fn(r.dim(), |(s, b)| {
        r[[s, b]] - price * cost[b] + g * p.slice(s![s, b, ..]).dot(&value)
    })
}

struct Truth {
    first: Array2<f64>,
    last: Array2<f64>,
    is_indexable: bool,
    /// prices, and best actions from each on
    path: Vec<(f64, Vec<usize>)>,
}

/// The prices at which some action is as good as that of a policy that is best there; between two of them best actions stay.
fn enumerate(p: ArrayView3<f64>, r: ArrayView2<f64>, cost: &[f64], g: f64) -> Truth {
    let (m, a) = r.dim();
    let all = policies(p, r, cost, g);
    let mut prices = Vec::new();
    for (policy, value) in &all {
        let line = |s: usize, b: usize| {
            let ahead = |k: usize| g * p.slice(s![s, b, ..]).dot(&value.column(k));
            [r[[s, b]] + ahead(0) - value[[s, 0]], cost[b] + ahead(1) - value[[s, 1]]]
        };
        for s in 0..m {
            for b in (0..a).filter(|b| *b != policy[s]) {
                let [alpha, beta] = line(s, b);
                let price = alpha / beta;
                let is_best = || {
                    (0..m).all(|x| {
                        (0..a).all(|c| line(x, c)[0] - price * line(x, c)[1] <= 1e-10 * (1.0 + price.abs()))
                    })
                };
                if beta.abs() > 1e-9 && is_best() {
                    prices.push(price);
                }
            }
        }
    }
    prices.sort_by(f64::total_cmp);
    prices.dedup_by(|y, x| *y - *x < 1e-8);
    let mut truth = Truth {
        first: Array2::from_elem((m, a - 1), f64::NAN),
        last: Array2::from_elem((m, a - 1), f64::NAN),
        is_indexable: true,
        path: Vec::new(),
    };
    let mut before = vec![a - 1; m];
    for (k, &price) in prices.iter().enumerate() {
        let middle = prices.get(k + 1).map_or(price + 1.0, |next| 0.5 * (price + next));
        let q = best(&all, p, r, cost, g, middle);
        let now: Vec<usize> = (q.rows().into_iter())
            .map(|q| {
                let most = q.iter().fold(f64::MIN, |a, x| a.max(*x));
                q.iter().position(|x| most - x <= 1e-11 * (1.0 + most.abs())).unwrap()
            })
            .collect();
        for s in 0..m {
            for k in now[s]..before[s] {
                truth.last[[s, k]] = price;
                if truth.first[[s, k]].is_nan() {
                    truth.first[[s, k]] = price;
                }
            }
            truth.is_indexable &= now[s] <= before[s];
        }
        truth.path.push((middle, now.clone()));
        before = now;
    }
    assert!(before.iter().all(|b| *b == 0), "what is free is best in the end");
    truth
}

#[test]
fn thresholds_are_those_of_all_policies() {
    let mut random = random(341);
    let (mut seen, mut other) = (0, 0);
    for (m, a) in [(1, 3), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4)] {
        for kind in [Kind::Dense, Kind::Sparse, Kind::Deterministic] {
            for g in [0.0, 0.5, 0.9, 0.99] {
                let (n, (p, r, cost)) = (6, world(kind, 6, m, a, &mut random));
                let arms = Actions { transition: p.view(), reward: r.view(), cost: &cost, discount: &[g] };
                let found = arms.index();
                for i in 0..n {
                    let truth = enumerate(p.index_axis(Axis(0), i), r.index_axis(Axis(0), i), &cost, g);
                    let say = format!("{kind:?} M={m} A={a} γ={g} arm {i}");
                    for ((s, k), first) in truth.first.indexed_iter() {
                        let (w, last) = (found.threshold[[i, s, k]], found.last[[i, s, k]]);
                        // unshifted solves at γ = 0.99 lose four digits
                        assert!(
                            (w - first).abs() < 1e-9 * (1.0 + first.abs()),
                            "{say} ({s}, {k}): {w} not {first}"
                        );
                        let truth = truth.last[[s, k]];
                        assert!(
                            (last - truth).abs() < 1e-9 * (1.0 + truth.abs()),
                            "{say} ({s}, {k}): last {last} not {truth}"
                        );
                    }
                    assert_eq!(found.is_indexable[i], truth.is_indexable, "{say}");
                    assert_eq!(found.status[i], IndexStatus::Exact, "{say}: {}", found.residual[i]);
                    // the whole path, at prices between its changes
                    for (price, actions) in &truth.path {
                        let mut now = vec![a - 1; m];
                        let changes = found.changes[i].iter().take_while(|change| change.price <= *price);
                        changes.for_each(|change| now[change.state] = change.action);
                        assert_eq!(&now, actions, "{say} at {price}");
                    }
                    (seen, other) = (seen + 1, other + usize::from(!truth.is_indexable));
                }
            }
        }
    }
    assert!(other > 10, "arms that are not indexable are among them: {other} of {seen}");
}

#[test]
fn two_actions_are_whittle_indices() {
    let mut random = random(342);
    for m in [2, 3, 7, 20] {
        for kind in KINDS {
            for g in [0.5, 0.99, 1.0] {
                let p = transitions(kind, 8, m, &mut random);
                let r = reward(m, true, &mut random);
                let truth = general::index(p.view(), r.view(), g);
                let shared = r.view().insert_axis(Axis(0));
                let arms =
                    Actions { transition: p.view(), reward: shared, cost: &[0.0, 1.0], discount: &[g] };
                let found = arms.index();
                let c = Array2::from_shape_simple_fn((8, m), || uniform(&mut random));
                let (d, d_truth) = (
                    arms.pullback(c.view().insert_axis(Axis(2))),
                    general::differentiable_index(p.view(), r.view(), g).pullback(c.view()),
                );
                for i in 0..8 {
                    assert_eq!(
                        found.status[i] == IndexStatus::Undetermined,
                        truth.status[i] == IndexStatus::Undetermined,
                        "{kind:?} {m} {g}"
                    );
                    if truth.status[i] != IndexStatus::Exact {
                        continue;
                    }
                    assert_eq!(found.is_indexable[i], truth.is_indexable[i], "{kind:?} {m} {g}");
                    let size = truth.index.row(i).iter().fold(1.0f64, |a, w| a.max(w.abs()));
                    let room = size * (100.0 * truth.residual[i]).max(1e-12);
                    for s in 0..m {
                        assert!(
                            (found.threshold[[i, s, 0]] - truth.index[[i, s]]).abs() < room,
                            "{kind:?} {m} {g}"
                        );
                        assert!(
                            (found.last[[i, s, 0]] - truth.last[[i, s]]).abs() < room,
                            "{kind:?} {m} {g}"
                        );
                    }
                    if kind != Kind::Dense {
                        continue; // ties leave a choice of sides
                    }
                    let gap =
                        &d.d_transition.index_axis(Axis(0), i) - &d_truth.d_transition.index_axis(Axis(0), i);
                    assert!(gap.iter().all(|x| x.abs() < 1e-8 * size), "{kind:?} {m} {g}: {gap:?}");
                }
            }
        }
    }
}

/// A direction for each of transitions (rows keep their sums), rewards, costs and discount.
struct Direction(Array4<f64>, Array3<f64>, Vec<f64>, f64);

impl Direction {
    fn new(p: &Array4<f64>, h: f64, random: &mut Random) -> Self {
        let mut d = p.mapv(|p| if p > 4.0 * h { uniform(random) } else { 0.0 });
        for (mut d, p) in d.rows_mut().into_iter().zip(p.rows()) {
            let free = p.iter().filter(|p| **p > 4.0 * h).count() as f64;
            let mean = d.sum() / free;
            d.iter_mut().zip(p).filter(|(_, p)| **p > 4.0 * h).for_each(|(d, _)| *d -= mean);
        }
        let (n, m, a) = (p.shape()[0], p.shape()[1], p.shape()[2]);
        let cost = (0..a).map(|k| if k == 0 { 0.0 } else { uniform(random) }).collect();
        Self(d, Array3::from_shape_simple_fn((n, m, a), || uniform(random)), cost, uniform(random))
    }

    /// `f` of the arms moved by t along one of the four.
    fn moved<T>(
        &self,
        (p, r, cost, g): (&Array4<f64>, &Array3<f64>, &[f64], f64),
        which: usize,
        t: f64,
        f: impl Fn(&Actions) -> T,
    ) -> T {
        let at = |k: usize| if k == which { t } else { 0.0 };
        let (p, r) = (p + &(&self.0 * at(0)), r + &(&self.1 * at(1)));
        let cost: Vec<f64> = cost.iter().zip(&self.2).map(|(c, d)| c + d * at(2)).collect();
        f(&Actions { transition: p.view(), reward: r.view(), cost: &cost, discount: &[g + self.3 * at(3)] })
    }
}

#[test]
fn the_gradient_is_that_of_the_thresholds() {
    let mut random = random(343);
    let mut checked = 0;
    for (m, a, g) in [(2, 3, 0.9), (3, 3, 0.8), (4, 4, 0.95), (5, 2, 0.9)] {
        for kind in [Kind::Dense, Kind::Sparse] {
            for _ in 0..15 {
                let (h, (p, r, cost)) = (2e-5, world(kind, 1, m, a, &mut random));
                let here = (&p, &r, &cost[..], g);
                let by = Direction::new(&p, h, &mut random);
                let path = |found: &ActionIndices| -> Vec<(usize, usize)> {
                    found.changes[0].iter().map(|change| (change.state, change.action)).collect()
                };
                let solved = by.moved(here, 9, 0.0, |arms| arms.index());
                let is_smooth = (0..4).all(|k| {
                    [-h, h].iter().all(|&t| path(&by.moved(here, k, t, |arms| arms.index())) == path(&solved))
                });
                if !is_smooth {
                    continue;
                }
                let c = Array3::from_shape_simple_fn((1, m, a - 1), || uniform(&mut random));
                let d = by.moved(here, 9, 0.0, |arms| arms.pullback(c.view()));
                assert!(d.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-10));
                let along = [
                    (&d.d_transition * &by.0).sum(),
                    (&d.d_reward * &by.1).sum(),
                    d.d_cost.iter().zip(&by.2).map(|(d, by)| d * by).sum(),
                    d.d_discount[0] * by.3,
                ];
                let size = solved.threshold.iter().fold(1.0f64, |a, w| a.max(w.abs()));
                for (k, found) in along.into_iter().enumerate() {
                    let truth =
                        derivative(|t| by.moved(here, k, t, |arms| (&arms.index().threshold * &c).sum()), h);
                    let room = AGREEMENT * (1.0 + found.abs()) * size + 1e-14 * size / h;
                    assert!(
                        (found - truth).abs() < room,
                        "{kind:?} M={m} A={a} input {k}: {found} not {truth}"
                    );
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

/// D(m): what the best policy of each arm earns per step, less its price, plus what the budget is worth.
fn dual(arms: &Actions, initial: &Array2<f64>, budget: f64, price: f64) -> f64 {
    let n = initial.nrows();
    let worth = |i: usize| {
        let (p, r) = (arms.transition.index_axis(Axis(0), i), arms.reward.index_axis(Axis(0), i));
        let values = policies(p, r, arms.cost, arms.discount[0]);
        let start = initial.row(i);
        let each = values.iter().map(|(_, v)| start.dot(&v.column(0)) - price * start.dot(&v.column(1)));
        (1.0 - arms.discount[0]) * each.fold(f64::MIN, f64::max)
    };
    (0..n).map(worth).sum::<f64>() + price * budget
}

fn masses(n: usize, m: usize, random: &mut Random) -> Array2<f64> {
    let mut mass = Array2::from_shape_simple_fn((n, m), || 0.05 + random.random::<f64>());
    mass.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    mass
}

#[test]
fn the_lagrangian_price_is_that_of_the_smallest_bound() {
    let mut random = random(344);
    for (n, m, a, g) in [(5, 2, 3, 0.9), (4, 3, 3, 0.95), (6, 3, 2, 0.5), (3, 4, 4, 0.8)] {
        for kind in [Kind::Dense, Kind::Sparse] {
            for share in [0.0, 0.1, 0.3, 0.7, 1.0] {
                let (p, r, cost) = world(kind, n, m, a, &mut random);
                let (start, budget) = (masses(n, m, &mut random), share * n as f64 * cost[a - 1]);
                let arms = Actions { transition: p.view(), reward: r.view(), cost: &cost, discount: &[g] };
                let found = arms.lagrangian(start.view(), budget);
                let at = |price: f64| dual(&arms, &start, budget, price);
                let say = format!("{kind:?} M={m} A={a} share {share}: {} {}", found.price, found.bound);
                assert!((found.bound - at(found.price)).abs() < 1e-11 * (1.0 + found.bound.abs()), "{say}");
                for step in [1e-3, 1e-1, 1.0, 10.0] {
                    assert!(at(found.price + step) >= found.bound - 1e-11, "{say}");
                    assert!(at((found.price - step).max(0.0)) >= found.bound - 1e-11, "{say}");
                }
                assert!(found.spent.sum() <= budget + 1e-9, "{say}");
                assert_eq!(found.marginal.is_some(), found.price > 0.0, "{say}");
                for i in 0..n {
                    let (p, r) = (p.index_axis(Axis(0), i), r.index_axis(Axis(0), i));
                    let q = best(&policies(p, r, &cost, g), p, r, &cost, g, found.price);
                    for ((s, b), q_b) in q.indexed_iter() {
                        let gap = found.advantage[[i, s, b]] - (q_b - q[[s, 0]]);
                        assert!(gap.abs() < 1e-10, "{say}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_lagrangian_way_back_is_the_derivative_at_its_price() {
    let mut random = random(345);
    for (n, m, a, g) in [(4, 2, 3, 0.9), (3, 3, 4, 0.8), (5, 3, 2, 0.95)] {
        let (h, (p, r, cost)) = (1e-5, world(Kind::Dense, n, m, a, &mut random));
        let start = masses(n, m, &mut random);
        let here = (&p, &r, &cost[..], g);
        let by = Direction::new(&p, h, &mut random);
        // between two changes, so that no policy is at the margin
        let price = by.moved(here, 9, 0.0, |arms| arms.lagrangian(start.view(), 0.3 * n as f64).price) + 1e-3;
        let c = Array3::from_shape_simple_fn((n, m, a), || uniform(&mut random));
        let d = by.moved(here, 9, 0.0, |arms| {
            arms.lagrangian_pullback(start.view(), 1.5, price, 0.7, Some(c.view()))
        });
        let value = |arms: &Actions, start: &Array2<f64>, budget: f64, price: f64| {
            let mut sum = 0.7 * dual(arms, start, budget, price);
            for i in 0..n {
                let (p, r) = (arms.transition.index_axis(Axis(0), i), arms.reward.index_axis(Axis(0), i));
                let q = best(
                    &policies(p, r, arms.cost, arms.discount[0]),
                    p,
                    r,
                    arms.cost,
                    arms.discount[0],
                    price,
                );
                sum += q.indexed_iter().map(|((s, b), x)| c[[i, s, b]] * (x - q[[s, 0]])).sum::<f64>();
            }
            sum
        };
        let mut d_start = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
        d_start.rows_mut().into_iter().for_each(|mut row| row -= row.mean().unwrap());
        let along = [
            (&d.d_transition * &by.0).sum(),
            (&d.d_reward * &by.1).sum(),
            d.d_cost.iter().zip(&by.2).map(|(d, by)| d * by).sum(),
            d.d_discount.sum() * by.3,
            (&d.d_initial * &d_start).sum(),
            d.d_budget,
            d.d_price,
        ];
        for (k, found) in along.into_iter().enumerate() {
            let at = |which: usize, t: f64| if k == which { t } else { 0.0 };
            let truth = derivative(
                |t| {
                    let start = &start + &(&d_start * at(4, t));
                    by.moved(here, k, t, |arms| value(arms, &start, 1.5 + at(5, t), price + at(6, t)))
                },
                h,
            );
            assert!(
                (found - truth).abs() < 1e-6 * (1.0 + found.abs()),
                "M={m} A={a} input {k}: {found} not {truth}"
            );
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut random = random(346);
    let (p, r, cost) = world(Kind::Sparse, 200, 3, 3, &mut random);
    let (start, c) = (masses(200, 3, &mut random), r.slice(s![.., .., 1..]).to_owned());
    let solve = |threads: usize| -> (ActionIndices, _, Lagrangian, _) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let arms = Actions { transition: p.view(), reward: r.view(), cost: &cost, discount: &[0.9] };
        pool.install(|| {
            let found = arms.lagrangian(start.view(), 40.0);
            let back = arms.lagrangian_pullback(start.view(), 40.0, found.price, 1.0, Some(r.view()));
            (arms.index(), arms.pullback(c.view()), found, back)
        })
    };
    assert_eq!(solve(1), solve(3));
}
