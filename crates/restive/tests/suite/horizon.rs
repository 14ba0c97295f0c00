//! Indices of arms that end: against all policies, against bisection over a textbook recursion, against the endless problem; their
//! gradient against finite differences.

use crate::arms::{KINDS, Kind, random, reward, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array3, Array4, ArrayView2, ArrayView3, Axis};
use rand::RngExt;
use restive::index::{IndexStatus, general};
use restive::planning::{Ending, Horizon, HorizonIndices};

fn horizon<'a>(
    p: &'a Array4<f64>,
    r: &'a Array2<f64>,
    discount: &'a [f64],
    decisions: usize,
    ending: Ending,
) -> Horizon<'a> {
    Horizon { transition: p.view(), reward: r.view().into(), discount, decisions, ending }
}

/// The advantage of a pull at step t in every state at one subsidy: a backward recursion.
fn advantage(
    p: ArrayView3<f64>,
    r: ArrayView2<f64>,
    g: f64,
    steps: usize,
    ending: Ending,
    subsidy: f64,
) -> Vec<f64> {
    let m = r.nrows();
    let mut value: Vec<f64> = (0..m).map(|s| if ending == Ending::State { r[[s, 0]] } else { 0.0 }).collect();
    let mut advantage = vec![0.0; m];
    for _ in 0..steps {
        let q = |s: usize, a: usize| {
            r[[s, a]] + g * (0..m).map(|to| p[[s, a, to]] * value[to]).sum::<f64>() + subsidy * (1 - a) as f64
        };
        let both: Vec<[f64; 2]> = (0..m).map(|s| [q(s, 0), q(s, 1)]).collect();
        advantage = both.iter().map(|q| q[1] - q[0]).collect();
        value = both.iter().map(|q| q[0].max(q[1])).collect();
    }
    advantage
}

/// The crossings of state s with `steps` decisions left, from every policy of the later steps: each is a line in the subsidy after
/// either action, the advantage is the difference of two upper envelopes, and it is affine between any two meetings of lines.
fn crossings(
    p: ArrayView3<f64>,
    r: ArrayView2<f64>,
    g: f64,
    steps: usize,
    ending: Ending,
    s: usize,
) -> Vec<f64> {
    let m = r.nrows();
    let bits = m * (steps - 1);
    let mut lines: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
    for policy in 0..1usize << bits {
        let end = |x: usize| [if ending == Ending::State { r[[x, 0]] } else { 0.0 }, 0.0];
        let mut value: Vec<[f64; 2]> = (0..m).map(end).collect();
        let ahead = |value: &[[f64; 2]], x: usize, a: usize| {
            let expected = [0, 1].map(|k| g * (0..m).map(|to| p[[x, a, to]] * value[to][k]).sum::<f64>());
            [r[[x, a]] + expected[0], (1 - a) as f64 + expected[1]]
        };
        for later in 0..steps - 1 {
            value = (0..m).map(|x| ahead(&value, x, policy >> (later * m + x) & 1)).collect();
        }
        (0..2).for_each(|a| lines[a].push(ahead(&value, s, a)));
    }
    let mut meetings = Vec::new();
    for lines in &lines {
        for (k, a) in lines.iter().enumerate() {
            let meets = lines[..k].iter().filter(|b| (a[1] - b[1]).abs() > 1e-12);
            meetings.extend(meets.map(|b| (b[0] - a[0]) / (a[1] - b[1])));
        }
    }
    meetings.retain(|x| x.abs() < 1e5);
    meetings.sort_by(f64::total_cmp);
    meetings.dedup_by(|b, a| *b - *a < 1e-11);
    let mut ends = vec![-1e6];
    ends.extend(meetings);
    ends.push(1e6);
    let best = |a: usize, subsidy: f64| {
        lines[a].iter().map(|line| line[0] + subsidy * line[1]).fold(f64::NEG_INFINITY, f64::max)
    };
    // an interval of indifference counts as passive
    let is_passive = |subsidy: f64| best(1, subsidy) - best(0, subsidy) <= 1e-15 * (1.0 + subsidy.abs());
    let mut found = Vec::new();
    let mut before = -1e6;
    for pair in ends.windows(2) {
        // inside, where the sign is not a matter of rounding
        let margin = 1e-6 * (pair[1] - pair[0]).min(1.0);
        for x in [pair[0] + margin, pair[1] - margin] {
            if is_passive(x) != (found.len() % 2 == 1) {
                let (mut low, mut high) = (before, x);
                for _ in 0..200 {
                    let middle = 0.5 * (low + high);
                    if is_passive(middle) == is_passive(x) { high = middle } else { low = middle }
                }
                found.push(high);
            }
            before = x;
        }
    }
    found
}

#[test]
fn the_indices_are_those_of_all_policies() {
    let mut random = random(301);
    let (mut seen, mut twice) = (0, 0);
    for (m, decisions, n) in [(2, 1, 10), (2, 2, 30), (2, 4, 30), (3, 3, 1500), (4, 2, 40), (5, 2, 40)] {
        for kind in [Kind::Dense, Kind::Sparse, Kind::Deterministic] {
            for (g, ending) in
                [(0.9, Ending::Nothing), (1.0, Ending::State), (0.5, Ending::State), (0.0, Ending::State)]
            {
                let p = transitions(kind, n, m, &mut random);
                let r = reward(m, seen % 2 == 0, &mut random);
                let found = horizon(&p, &r, &[g], decisions, ending).index();
                // of many arms some, and all that turn active again: about one of a hundred
                for i in (0..n).filter(|&i| i < 60 || !found.is_indexable[i]) {
                    let arm = p.index_axis(Axis(0), i);
                    let mut is_indexable = true;
                    for t in 0..decisions {
                        for s in 0..m {
                            let truth = crossings(arm, r.view(), g, decisions - t, ending, s);
                            let (first, last) = (truth[0], truth[truth.len() - 1]);
                            let say = || {
                                format!(
                                    "{kind:?} M={m} H={decisions} γ={g} {ending:?} arm {i} ({t}, {s}): {truth:?}"
                                )
                            };
                            assert!(
                                (found.index[[t, i, s]] - first).abs() < 1e-11,
                                "{} not {}",
                                found.index[[t, i, s]],
                                say()
                            );
                            assert!(
                                (found.last[[t, i, s]] - last).abs() < 1e-11,
                                "{} not {}",
                                found.last[[t, i, s]],
                                say()
                            );
                            is_indexable &= truth.len() == 1;
                        }
                    }
                    assert_eq!(
                        found.is_indexable[i], is_indexable,
                        "{kind:?} M={m} H={decisions} γ={g} arm {i}"
                    );
                    assert_eq!(found.status[i], IndexStatus::Exact);
                    twice += usize::from(!is_indexable);
                    seen += 1;
                }
            }
        }
    }
    assert!(twice > 10, "arms that are not indexable are among them: {twice} of {seen}");
}

#[test]
fn the_advantage_falls_through_zero_at_the_index() {
    let mut random = random(302);
    for (m, decisions, g, ending) in [
        (2, 12, 1.0, Ending::State),
        (3, 30, 0.99, Ending::Nothing),
        (6, 9, 0.9, Ending::State),
        (10, 20, 1.0, Ending::Nothing),
    ] {
        for kind in KINDS {
            let p = transitions(kind, 6, m, &mut random);
            let r = reward(m, true, &mut random);
            let found = horizon(&p, &r, &[g], decisions, ending).index();
            for ((t, i, s), &w) in found.index.indexed_iter() {
                let at =
                    |x: f64| advantage(p.index_axis(Axis(0), i), r.view(), g, decisions - t, ending, x)[s];
                assert!(at(w).abs() < 1e-12 * decisions as f64, "{kind:?} {t} {i} {s}: {}", at(w));
                // and nothing is passive below: a grid, down to where every pull pays
                for k in 1..40 {
                    let below = w - 1e-6 * 1.6f64.powi(k);
                    assert!(at(below) > -1e-12, "{kind:?} {t} {i} {s}: {} at {below} below {w}", at(below));
                }
            }
        }
    }
}

#[test]
fn far_from_the_end_they_are_those_of_the_endless_problem() {
    let mut random = random(303);
    for m in [2, 4] {
        let p = transitions(Kind::Dense, 20, m, &mut random);
        let r = reward(m, true, &mut random);
        let found = horizon(&p, &r, &[0.6], 70, Ending::Nothing).index();
        let truth = general::index(p.view(), r.view(), 0.6);
        for i in (0..20).filter(|&i| truth.is_indexable[i]) {
            for s in 0..m {
                assert!((found.index[[0, i, s]] - truth.index[[i, s]]).abs() < 1e-13, "{i} {s}");
            }
        }
    }
}

#[test]
fn ties_are_no_verdict() {
    // states that are copies of each other, pulls that change nothing, rewards that are all alike
    let p = ndarray::array![
        [
            [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]],
            [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]],
            [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
        ],
        [
            [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]],
            [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
        ],
    ];
    for r in [ndarray::array![[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], Array2::from_elem((3, 2), 0.7)] {
        for ending in [Ending::Nothing, Ending::State] {
            let found = horizon(&p, &r, &[1.0], 9, ending).index();
            assert!(found.is_indexable.iter().all(|is| *is), "{r:?} {ending:?}");
            assert_eq!(found.index, found.last);
            assert!(found.index.index_axis(Axis(1), 1).iter().all(|w| *w == 0.0), "pulls change nothing");
            let first = found.index.index_axis(Axis(1), 0);
            assert_eq!(first.column(0), first.column(1), "copies have one index");
        }
    }
}

#[test]
fn the_gradient_is_that_of_the_indices() {
    let mut random = random(304);
    let mut checked = 0;
    for (m, decisions, g, ending) in [
        (2, 1, 0.9, Ending::State),
        (2, 5, 1.0, Ending::State),
        (2, 9, 0.95, Ending::Nothing),
        (3, 6, 0.9, Ending::State),
        (5, 4, 0.8, Ending::Nothing),
    ] {
        for kind in [Kind::Dense, Kind::Sparse] {
            for k in 0..12 {
                let (n, h) = (2, 1e-4);
                let p = transitions(kind, n, m, &mut random);
                let own = Array3::from_shape_simple_fn((n, m, 2), || random.random::<f64>());
                let g = [g, 0.8 * g];
                let c = Array3::from_shape_simple_fn((decisions, n, m), || uniform(&mut random));
                let dp = tangent(&p, h, &mut random);
                let dr = Array3::from_shape_simple_fn((n, m, 2), || uniform(&mut random));
                let dg =
                    [uniform(&mut random), uniform(&mut random)].map(|x| if k % 2 == 0 { x } else { -x });
                let solve = |tp: f64, tr: f64, tg: f64| -> HorizonIndices {
                    let (p, r) = (&p + &(&dp * tp), &own + &(&dr * tr));
                    let g = [g[0] + dg[0] * tg, g[1] + dg[1] * tg];
                    let reward = restive::RewardView::by_arm(r.view());
                    Horizon { transition: p.view(), reward, discount: &g, decisions, ending }.index()
                };
                // the order in which states turn passive over all steps: where it stays, no kink is in between
                let order = |indices: &HorizonIndices| -> Vec<Vec<usize>> {
                    (0..n)
                        .map(|i| {
                            let w: Vec<f64> = indices.index.index_axis(Axis(1), i).iter().copied().collect();
                            let mut order: Vec<usize> = (0..w.len()).collect();
                            order.sort_by(|&a, &b| w[a].total_cmp(&w[b]));
                            order
                        })
                        .collect()
                };
                let here = solve(0.0, 0.0, 0.0);
                let sides = [
                    (h, 0.0, 0.0),
                    (-h, 0.0, 0.0),
                    (0.0, h, 0.0),
                    (0.0, -h, 0.0),
                    (0.0, 0.0, h),
                    (0.0, 0.0, -h),
                ];
                let is_smooth = sides.iter().all(|&(a, b, c)| {
                    let there = solve(a, b, c);
                    order(&there) == order(&here) && there.is_indexable == here.is_indexable
                });
                if !is_smooth {
                    continue;
                }
                let reward = restive::RewardView::by_arm(own.view());
                let d = Horizon { transition: p.view(), reward, discount: &g, decisions, ending }
                    .pullback(c.view());
                let value = |indices: HorizonIndices| (&indices.index * &c).sum();
                let close = |what: &str, found: f64, truth: f64, size: f64| {
                    let say = format!("{kind:?} M={m} H={decisions} {what}: {found} not {truth}");
                    assert!((found - truth).abs() <= AGREEMENT * size.max(1e-3), "{say}");
                };
                let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
                let size = length(&mut d.d_transition.iter().copied()) * length(&mut dp.iter().copied());
                close(
                    "transition",
                    (&d.d_transition * &dp).sum(),
                    derivative(|t| value(solve(t, 0.0, 0.0)), h),
                    size,
                );
                assert!(d.d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-12));
                let size = length(&mut d.d_reward.iter().copied()) * length(&mut dr.iter().copied());
                close(
                    "reward",
                    (&d.d_reward * &dr).sum(),
                    derivative(|t| value(solve(0.0, t, 0.0)), h),
                    size,
                );
                let found = d.d_discount[0] * dg[0] + d.d_discount[1] * dg[1];
                close(
                    "discount",
                    found,
                    derivative(|t| value(solve(0.0, 0.0, t)), h),
                    d.d_discount.mapv(f64::abs).sum(),
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut random = random(305);
    let p = transitions(Kind::Sparse, 300, 3, &mut random);
    let r = reward(3, true, &mut random);
    let c = Array3::from_shape_simple_fn((6, 300, 3), || uniform(&mut random));
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let horizon = horizon(&p, &r, &[0.95], 6, Ending::State);
        pool.install(|| (horizon.index(), horizon.pullback(c.view())))
    };
    assert_eq!(solve(1), solve(3));
}
