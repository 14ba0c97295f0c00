//! Rewards and discounts that are each arm's own: a batch against its arms one by one, bit for bit, on every kernel; and the
//! cotangents of rewards and discounts of arms seen only at pulls against differences (those of the others are in `gradients`).

use crate::arms::{Kind, random, reward, transitions};
use crate::collapsing::{Sort, arms};
use crate::gradients::{AGREEMENT, derivative, uniform};
use ndarray::{Array1, Array2, Array3, Array4, Axis, s};
use rand::RngExt;
use restive::belief::Chain;
use restive::index::two_state::{self, Packing};
use restive::index::{
    Algorithm, Discounts, Indices, Rewards, collapsing, differentiable_index, whittle_index,
};

const KERNELS: [(usize, Algorithm); 7] = [
    (2, Algorithm::TwoState),
    (2, Algorithm::General),
    (4, Algorithm::General),
    (35, Algorithm::General),
    (2, Algorithm::Collapsing(Chain::Finite(5))),
    (3, Algorithm::Collapsing(Chain::Finite(3))),
    (2, Algorithm::Collapsing(Chain::Infinite { beliefs: 4 })),
];

/// N arms with rewards and discounts of their own, and a cotangent of their indices.
struct Batch {
    p: Array4<f64>,
    rewards: Array3<f64>,
    discounts: Array1<f64>,
    d_index: Array2<f64>,
}

fn batch(n: usize, m: usize, algorithm: Algorithm, seed: u64) -> Batch {
    let mut random = random(seed);
    let by_action = !matches!(algorithm, Algorithm::Collapsing(Chain::Infinite { .. }));
    let p = transitions(Kind::Dense, n, m, &mut random);
    let mut rewards = Array3::zeros((n, m, 2));
    for mut own in rewards.axis_iter_mut(Axis(0)) {
        own.assign(&reward(m, by_action, &mut random));
    }
    let discounts = Array1::from_shape_simple_fn(n, || 0.5 + 0.49 * random.random::<f64>());
    let labels = whittle_index(p.view(), &rewards, &discounts, algorithm).index.ncols();
    let d_index = Array2::from_shape_simple_fn((n, labels), || uniform(&mut random));
    Batch { p, rewards, discounts, d_index }
}

/// Indices with everything that goes with them, and their cotangents.
fn all(
    p: &Array4<f64>,
    rewards: Rewards<'_>,
    discounts: Discounts<'_>,
    algorithm: Algorithm,
    c: &Array2<f64>,
) -> (Indices, restive::index::PerArmCotangent) {
    let solved = differentiable_index(p.view(), rewards.borrow(), discounts.borrow(), algorithm);
    let plain = whittle_index(p.view(), rewards.borrow(), discounts.borrow(), algorithm);
    let taped = solved.indices();
    assert_eq!((&plain.status, &plain.is_indexable), (&taped.status, &taped.is_indexable));
    let same = plain.index.iter().zip(&taped.index).all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same, "the same with a tape as without");
    let d = solved.pullback_per_arm(c.view());
    assert_eq!(d.d_transition, solved.pullback(c.view()).d_transition);
    (plain, d)
}

#[test]
fn a_batch_is_its_arms_one_by_one() {
    let tolerance = restive::index::bisection::Tolerance::default();
    for (seed, (m, algorithm)) in
        KERNELS.into_iter().chain([(3, Algorithm::Bisection(tolerance))]).enumerate()
    {
        let n = if m > 30 { 3 } else { 70 };
        let Batch { p, rewards, discounts, d_index } = batch(n, m, algorithm, seed as u64);
        // both their own, and either shared with the first arm
        for (own_reward, own_discount) in [(true, true), (true, false), (false, true)] {
            let shared_reward = rewards.index_axis(Axis(0), 0);
            let given: Rewards<'_> = if own_reward { (&rewards).into() } else { shared_reward.into() };
            let discount: Discounts<'_> =
                if own_discount { (&discounts).into() } else { discounts[0].into() };
            let (found, d) = all(&p, given.borrow(), discount.borrow(), algorithm, &d_index);
            for i in 0..n {
                let one = p.slice(s![i..=i, .., .., ..]).to_owned();
                let c = d_index.slice(s![i..=i, ..]).to_owned();
                let (alone, d_alone) = all(&one, given.of(i).into(), discount.of(i).into(), algorithm, &c);
                assert_eq!(found.index.row(i), alone.index.row(0), "{algorithm:?}");
                assert_eq!(found.residual[i].to_bits(), alone.residual[0].to_bits(), "{algorithm:?}");
                assert_eq!(found.verdict(i), alone.verdict(0));
                assert_eq!(
                    d.d_transition.index_axis(Axis(0), i),
                    d_alone.d_transition.index_axis(Axis(0), 0)
                );
                assert_eq!(d.d_reward.index_axis(Axis(0), i), d_alone.d_reward.index_axis(Axis(0), 0));
                assert_eq!(d.d_discount[i], d_alone.d_discount[0]);
            }
        }
    }
}

#[test]
fn arms_that_share_their_inputs_share_the_sum() {
    for (seed, (m, algorithm)) in KERNELS.into_iter().enumerate() {
        let Batch { p, rewards, d_index, .. } = batch(40, m.min(4), algorithm, 100 + seed as u64);
        let (r, g) = (rewards.index_axis(Axis(0), 0), 0.9);
        let (_, d) = all(&p, r.into(), g.into(), algorithm, &d_index);
        let summed = d.clone().summed();
        assert!((d.d_reward.sum_axis(Axis(0)) - &summed.d_reward).iter().all(|x| x.abs() < 1e-10));
        if algorithm == Algorithm::TwoState {
            let fused = two_state::pullback(p.view(), r, g, d_index.view());
            assert_eq!(fused.d_transition, d.d_transition);
            assert!((&fused.d_reward - &summed.d_reward).iter().all(|x| x.abs() < 1e-10));
            assert!((fused.d_discount - summed.d_discount).abs() < 1e-10 * summed.d_discount.abs().max(1.0));
        }
    }
}

#[test]
fn compact_arms_with_their_own_inputs_are_the_full_ones() {
    // more than one chunk of a thread, and not a multiple of anything
    let n = (1 << 14) + 77;
    let mut random = random(5);
    let compact: Vec<f64> = (0..4 * n).map(|_| random.random()).collect();
    let full: Vec<f64> = compact.iter().flat_map(|p| [1.0 - p, *p]).collect();
    let rewards = Array3::from_shape_simple_fn((n, 2, 2), || random.random());
    let discounts = Array1::from_shape_simple_fn(n, || random.random());
    let c: Vec<f64> = (0..2 * n).map(|_| uniform(&mut random)).collect();
    let solve = |p: &[f64], packing: Packing| {
        let (mut index, mut d_p) = (vec![0.0; 2 * n], vec![0.0; p.len()]);
        let (mut d_r, mut d_g) = (vec![0.0; 4 * n], vec![0.0; n]);
        two_state::index_into(p, packing, &rewards, &discounts, &mut index);
        let out = two_state::Cotangents { d_transition: &mut d_p, d_reward: &mut d_r, d_discount: &mut d_g };
        two_state::pullback_per_arm_into(p, packing, &rewards, &discounts, &c, out);
        (index, d_p, d_r, d_g)
    };
    let (one, two) = (solve(&compact, Packing::Compact), solve(&full, Packing::Full));
    assert_eq!((&one.0, &one.2, &one.3), (&two.0, &two.2, &two.3));
    assert!(one.1.iter().zip(two.1.chunks_exact(2)).all(|(d, row)| *d == row[1] - row[0]));
    // an arm in the second chunk, alone
    let i = n - 3;
    let p = Array2::from_shape_vec((1, 4), compact[4 * i..][..4].to_vec()).unwrap();
    let alone = two_state::index_compact(p.view(), rewards.index_axis(Axis(0), i), discounts[i]);
    assert_eq!(alone.index.as_slice().unwrap(), &one.0[2 * i..][..2]);
}

#[test]
fn arms_seen_at_pulls_have_the_gradients_of_rewards_and_discount() {
    let mut random = random(7);
    let mut checked = [0; 2];
    for g in [0.0f64, 0.5, 0.9, 0.99] {
        for (k, sort) in [Sort::Arbitrary, Sort::Positive, Sort::Negative, Sort::Natural]
            .iter()
            .cycle()
            .take(160)
            .enumerate()
        {
            let (m, t) = [(2, 1), (2, 2), (2, 6), (3, 3), (2, 10)][k % 5];
            let p = if m == 2 {
                arms(*sort, 1, &mut random)
            } else {
                transitions(Kind::Dense, 1, m, &mut random)
            };
            for (way, chain) in [Chain::Finite(t), Chain::Infinite { beliefs: t }].into_iter().enumerate() {
                if way == 1 && m > 2 {
                    continue;
                }
                let (r, dr) = (reward(m, way == 0, &mut random), reward(m, way == 0, &mut random) - 0.5);
                let h = 1e-4 * (1.0 - g).max(0.1);
                let at = |t_r: f64, t_g: f64| {
                    collapsing::index(p.view(), (&r + &(&dr * t_r)).view(), g + t_g, chain)
                };
                let order = |x: &Indices| {
                    let mut order: Vec<usize> = (0..x.index.ncols()).collect();
                    order.sort_by(|&i, &j| x.index[[0, i]].total_cmp(&x.index[[0, j]]));
                    (order, x.is_indexable[0])
                };
                let here = at(0.0, 0.0);
                let has_room = g > 0.0;
                let corners = [
                    at(2.0 * h, 0.0),
                    at(-2.0 * h, 0.0),
                    at(0.0, h),
                    at(0.0, if has_room { -h } else { 0.0 }),
                ];
                if corners.iter().any(|corner| order(corner) != order(&here)) {
                    continue;
                }
                let c = Array2::from_shape_simple_fn(here.index.raw_dim(), || uniform(&mut random));
                let d =
                    collapsing::differentiable_index(p.view(), r.view(), g, chain).pullback_per_arm(c.view());
                let value = |x: Indices| (&x.index * &c).sum();
                let rounding = 1e-14 * here.index.iter().map(|w| w.abs()).sum::<f64>() / h;
                let close = |what: &str, found: f64, truth: f64, size: f64| {
                    let allowed = AGREEMENT * size + rounding;
                    assert!(
                        (found - truth).abs() <= allowed,
                        "{chain:?} γ={g} {what}: {found} not {truth}\n{p:?}\n{r:?}"
                    );
                };
                let d_r = d.d_reward.index_axis(Axis(0), 0);
                let size = (d_r.mapv(|x| x * x).sum() * dr.mapv(|x| x * x).sum()).sqrt();
                close("reward", (&d_r * &dr).sum(), derivative(|t| value(at(t, 0.0)), h), size);
                if has_room {
                    let truth = derivative(|t| value(at(0.0, t)), h);
                    close("discount", d.d_discount[0], truth, truth.abs().max(1.0));
                }
                checked[way] += 1;
            }
        }
    }
    println!("{checked:?} arms away from kinks");
    assert!(checked.iter().all(|&n| n > 150), "{checked:?}");
}

#[test]
fn arms_without_an_index_have_no_gradient() {
    // both states absorbing at discount 1, and an arm that is not
    let p = ndarray::array![
        [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]],
        [[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]
    ];
    let (rewards, discounts) =
        (Array3::from_shape_fn((2, 2, 2), |(_, s, _)| s as f64), ndarray::array![1.0, 1.0]);
    for algorithm in [Algorithm::TwoState, Algorithm::General] {
        let (found, d) = all(&p, (&rewards).into(), 1.0.into(), algorithm, &Array2::ones((2, 2)));
        assert_eq!((found.verdict(0), found.verdict(1)), (None, Some(true)));
        assert!(d.d_reward.index_axis(Axis(0), 0).iter().all(|x| *x == 0.0) && d.d_discount[0] == 0.0);
        assert!(d.d_reward.index_axis(Axis(0), 1).iter().any(|x| *x != 0.0));
    }
    let chain = Algorithm::Collapsing(Chain::Finite(3));
    let solved = differentiable_index(p.view(), &rewards, &discounts, chain);
    let d = solved.pullback_per_arm(Array2::ones((2, 6)).view());
    assert!(d.d_transition.iter().chain(&d.d_reward).chain(&d.d_discount).all(|x| *x == 0.0));
}
