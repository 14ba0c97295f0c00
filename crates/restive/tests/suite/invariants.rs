//! What must hold for the indices of all arms.

use crate::arms::{KINDS, Kind, random, reward, transitions};
use ndarray::{Array2, Array4, Axis, s};
use restive::belief::{Chain, Observation};
use restive::index::two_state::Packing;
use restive::index::{
    Algorithm, IndexStatus, Indices, bisection, collapsing, differentiable_index, general, two_state,
    whittle_index,
};

fn close(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64, what: &str) {
    let size = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {a} not {b}");
    }
}

#[test]
fn a_constant_added_to_the_reward_changes_nothing_and_a_factor_scales_the_index() {
    let mut random = random(41);
    for m in [2, 3, 6] {
        for kind in KINDS {
            let p = transitions(kind, 50, m, &mut random);
            let r = reward(m, true, &mut random);
            for algorithm in [Algorithm::Auto, Algorithm::General] {
                let index = |r: &Array2<f64>| whittle_index(p.view(), r.view(), 0.95, algorithm);
                let plain = index(&r);
                // 1024 costs three of sixteen digits
                close(&plain.index, &index(&(&r + 1024.0)).index, 1e-11, "shift");
                close(&(&plain.index * 3.0), &index(&(&r * 3.0)).index, 1e-12, "scale");
                // dividing by a pull's worth: the index in units of reward has no upper bound on γ
                assert_eq!(plain.is_indexable, index(&(&r * 2.0)).is_indexable);
            }
        }
    }
}

#[test]
fn an_action_that_changes_nothing_is_worth_what_it_pays() {
    let mut random = random(42);
    for m in [1, 2, 3, 7, 80] {
        let mut p = transitions(Kind::Dense, 5, m, &mut random);
        let passive = p.slice(s![.., .., 0, ..]).to_owned();
        p.slice_mut(s![.., .., 1, ..]).assign(&passive);
        let r = reward(m, true, &mut random);
        let truth = Array2::from_shape_fn((5, m), |(_, s)| r[[s, 1]] - r[[s, 0]]);
        for g in [0.0, 0.9, 1.0] {
            let solved = general::index(p.view(), r.view(), g);
            close(&truth, &solved.index, 1e-14, "inert action");
            assert!(solved.is_indexable.iter().all(|is| *is));
        }
    }
}

#[test]
fn the_closed_form_is_the_sweep_at_two_states() {
    let mut random = random(43);
    for kind in KINDS {
        for g in [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let p = transitions(kind, 500, 2, &mut random);
            let r = reward(2, true, &mut random);
            let (fast, general) =
                (two_state::index(p.view(), r.view(), g), general::index(p.view(), r.view(), g));
            close(&fast.index, &general.index, 1e-11, "closed form");
            assert!(general.is_indexable.iter().all(|is| *is), "every two-state arm is indexable");
        }
    }
}

#[test]
fn permuting_states_permutes_the_indices() {
    let mut random = random(44);
    let m = 6;
    let order = [3, 0, 5, 1, 4, 2];
    for kind in [Kind::Dense, Kind::Sparse] {
        let p = transitions(kind, 60, m, &mut random);
        let r = reward(m, true, &mut random);
        let moved = Array4::from_shape_fn(p.raw_dim(), |(i, s, a, t)| p[[i, order[s], a, order[t]]]);
        let moved_reward = Array2::from_shape_fn((m, 2), |(s, a)| r[[order[s], a]]);
        let (plain, permuted) = (
            general::index(p.view(), r.view(), 0.95),
            general::index(moved.view(), moved_reward.view(), 0.95),
        );
        let expected = Array2::from_shape_fn((60, m), |(i, s)| plain.index[[i, order[s]]]);
        close(&expected, &permuted.index, 1e-12, "permutation");
        assert_eq!(plain.is_indexable, permuted.is_indexable);
    }
}

#[test]
fn a_batch_is_its_arms_one_by_one_bit_for_bit() {
    let mut random = random(45);
    for m in [2, 5, 70] {
        let n = if m == 70 { 3 } else { 41 };
        let p = transitions(Kind::Sparse, n, m, &mut random);
        let r = reward(m, true, &mut random);
        for algorithm in [Algorithm::Auto, Algorithm::General] {
            let batch = whittle_index(p.view(), r.view(), 0.9, algorithm);
            for i in 0..n {
                let one = whittle_index(p.slice(s![i..=i, .., .., ..]), r.view(), 0.9, algorithm);
                assert_eq!(one.index.row(0), batch.index.row(i));
            }
        }
    }
}

#[test]
fn the_door_gives_what_the_kernel_gives_and_so_does_its_differentiable_sibling() {
    let mut random = random(47);
    let (long, infinite) = (Chain::Finite(6), Chain::Infinite { beliefs: 6 });
    let tolerance = bisection::Tolerance::default();
    for m in [2, 3] {
        let p = transitions(Kind::Dense, 7, m, &mut random);
        let by_state = reward(m, false, &mut random);
        let (p, r) = (p.view(), by_state.view());
        let mut doors = vec![
            (Algorithm::General, general::index(p, r, 0.9)),
            (Algorithm::Bisection(tolerance), bisection::index(p, r, 0.9, tolerance)),
            (Observation::Collapsing(long).into(), collapsing::index(p, r, 0.9, long)),
        ];
        if m == 2 {
            doors.push((Observation::Full.into(), two_state::index(p, r, 0.9)));
            let kernel = collapsing::index(p, r, 0.9, infinite);
            doors.push((Observation::Collapsing(infinite).into(), kernel));
        } else {
            doors.push((Observation::Full.into(), general::index(p, r, 0.9)));
        }
        for (algorithm, kernel) in doors {
            assert_eq!(whittle_index(p, r, 0.9, algorithm).index, kernel.index, "{algorithm:?}");
            let solved = differentiable_index(p, r, 0.9, algorithm);
            assert_eq!(solved.index(), kernel.index, "{algorithm:?}");
            assert_eq!(solved.indices().status, kernel.status, "{algorithm:?}");
            // what is kept gives the gradient of what was borrowed
            let c = Array2::from_shape_fn(kernel.index.dim(), |(i, s)| (3 * i + s) as f64 - 4.0);
            let borrowed = solved.pullback(c.view());
            assert_eq!(solved.into_owned().pullback(c.view()), borrowed, "{algorithm:?}");
        }
    }
}

#[test]
fn both_passes_at_once_are_the_two_bit_for_bit() {
    let (mut random, r) = (random(52), reward(2, true, &mut random(53)));
    // around a tile of arms, and more than the caches hold
    for n in [1, 63, 64, 65, 1000, 530_000] {
        let full = transitions(Kind::Dense, n, 2, &mut random);
        let compact: Vec<f64> = full.iter().skip(1).step_by(2).copied().collect();
        let c: Vec<f64> = (0..2 * n).map(|k| (k % 17) as f64 - 8.0).collect();
        for (packing, p) in
            [(Packing::Compact, &compact[..]), (Packing::Full, full.as_slice().expect("standard layout"))]
        {
            let (mut w, mut d) = (vec![0.0; 2 * n], vec![0.0; p.len()]);
            two_state::index_into(p, packing, r.view(), 0.97, &mut w);
            let shared = two_state::pullback_into(p, packing, r.view(), 0.97, &c, &mut d);
            // one number further, so that memory is not aligned
            for skip in [0, 1] {
                let (mut index, mut d_p) = (vec![0.0; 2 * n + skip], vec![0.0; p.len() + skip]);
                let (index, d_p) = (&mut index[skip..], &mut d_p[skip..]);
                let found = two_state::index_and_pullback_into(p, packing, r.view(), 0.97, &c, index, d_p);
                assert!(w == index && d == d_p && found == shared, "{n} arms, {packing:?}");
            }
        }
    }
}

#[test]
fn results_are_the_same_bits_for_every_number_of_threads() {
    let mut random = random(46);
    for m in [2, 5, 70] {
        let n = if m == 70 { 5 } else { 20_000 / (m * m) };
        let p = transitions(Kind::Dense, n, m, &mut random);
        let r = reward(m, true, &mut random);
        let c = Array2::from_shape_fn((n, m), |(i, s)| ((i * 7 + s * 3) % 11) as f64 - 5.0);
        let all = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let general = general::differentiable_index(p.view(), r.view(), 0.9);
                let closed = (m == 2).then(|| two_state::pullback(p.view(), r.view(), 0.9, c.view()));
                (general.indices.clone(), general.pullback(c.view()), closed)
            })
        };
        let (one, three) = (all(1), all(3));
        assert_eq!(one.0, three.0);
        assert_eq!(one.1, three.1);
        assert_eq!(one.2, three.2);
    }
}

#[test]
fn the_textbook_road_comes_within_its_tolerance() {
    let mut random = random(47);
    for m in [2, 3, 5] {
        for g in [0.0, 0.5, 0.9] {
            let p = transitions(Kind::Dense, 10, m, &mut random);
            let r = reward(m, true, &mut random);
            let exact = general::index(p.view(), r.view(), g);
            let textbook = bisection::index(p.view(), r.view(), g, bisection::Tolerance::default());
            assert!(textbook.status.iter().all(|s| *s == IndexStatus::Approximate));
            for i in 0..10 {
                assert_eq!(textbook.verdict(i), None);
                for s in 0..m {
                    // the selected system is exact where bisection came close enough to select the right equations
                    assert!((exact.index[[i, s]] - textbook.index[[i, s]]).abs() < 1e-6);
                }
            }
        }
    }
}

fn undetermined(solved: &Indices, i: usize) -> bool {
    solved.status[i] == IndexStatus::Undetermined && solved.verdict(i).is_none()
}

#[test]
fn an_average_that_depends_on_the_start_is_undetermined_and_says_so() {
    // under a pull both states are absorbing: at γ = 1 the average reward depends on where the arm starts
    let p = ndarray::array![[[[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]]];
    let r = ndarray::array![[0.0, 0.0], [1.0, 1.0]];
    assert!(undetermined(&two_state::index(p.view(), r.view(), 1.0), 0));
    assert!(undetermined(&general::index(p.view(), r.view(), 1.0), 0));
    // left alone both states are absorbing: the other half of the condition
    let q = ndarray::array![[[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]];
    for solved in [two_state::index(q.view(), r.view(), 1.0), general::index(q.view(), r.view(), 1.0)] {
        assert!(undetermined(&solved, 0) && solved.index.iter().all(|w| w.is_nan()));
    }
    // one such arm does not spoil the gradient of the others
    let both = ndarray::concatenate![Axis(0), q, transitions(Kind::Dense, 1, 2, &mut random(50))];
    let c = ndarray::array![[1.0, -2.0], [3.0, 0.5]];
    let d = two_state::pullback(both.view(), r.view(), 1.0, c.view());
    let alone = two_state::pullback(both.slice(s![1.., .., .., ..]), r.view(), 1.0, c.slice(s![1.., ..]));
    assert!(d.d_transition.index_axis(Axis(0), 0).iter().all(|d| *d == 0.0));
    assert_eq!((d.d_reward, d.d_discount), (alone.d_reward, alone.d_discount));
    // two absorbing states and one between them, with rounding that a determinant would not see
    let mut p3 = ndarray::Array4::zeros((1, 3, 2, 3));
    for (s, a, next) in [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0), (2, 1, 1)] {
        p3[[0, s, a, next]] = 1.0;
    }
    let r3 = ndarray::array![[0.0, 0.0], [2.0, 2.0], [2.0, 2.0]];
    assert!(undetermined(&general::index(p3.view(), r3.view(), 1.0), 0));
    assert_eq!(general::index(p.view(), r.view(), 0.9999).status[0], IndexStatus::Exact);
    let d =
        general::differentiable_index(p.view(), r.view(), 1.0).pullback(ndarray::array![[1.0, 1.0]].view());
    assert!(d.d_transition.iter().all(|d| *d == 0.0), "no index, no gradient");
}

#[test]
fn a_thousand_states_are_solved_and_satisfy_their_equations() {
    let mut random = random(48);
    let m = 1000;
    let p = transitions(Kind::Dense, 1, m, &mut random);
    let r = reward(m, false, &mut random);
    let solved = general::index(p.view(), r.view(), 0.99);
    assert_eq!(solved.status[0], IndexStatus::Exact);
    assert!(solved.residual[0] < 1e-12, "{}", solved.residual[0]);
    // an independent look at one state: at its index, optimal values make it indifferent
    let (arm, u) = (p.index_axis(Axis(0), 0), 123);
    let w = solved.index[[0, u]];
    let advantage = crate::oracle::advantage_by_value_iteration(arm, r.view(), 0.99, w);
    assert!(advantage[u].abs() < 1e-9, "{}", advantage[u]);
}

#[test]
fn nothing_blows_up_as_the_discount_approaches_one() {
    let mut random = random(49);
    for m in [2, 3, 8] {
        let p = transitions(Kind::Dense, 40, m, &mut random);
        let r = reward(m, true, &mut random);
        let average = general::index(p.view(), r.view(), 1.0);
        for one_minus in [1e-4, 1e-6, 1e-8, 1e-10] {
            let near = general::index(p.view(), r.view(), 1.0 - one_minus);
            assert!(near.residual.iter().all(|e| *e < 1e-12));
            // the index is smooth in γ: it differs from the average-reward index by a multiple of 1 − γ
            close(&average.index, &near.index, 1e3 * one_minus + 1e-12, "γ → 1");
        }
    }
}

#[test]
fn arms_with_several_classes_are_undetermined_at_discount_one_whatever_the_rounding() {
    let mut random = random(53);
    for (half, n) in [(2, 40), (5, 20), (20, 5)] {
        let (a, b) =
            (transitions(Kind::Dense, n, half, &mut random), transitions(Kind::Dense, n, half, &mut random));
        // two blocks that never meet
        let mut p = Array4::zeros((n, 2 * half, 2, 2 * half));
        p.slice_mut(s![.., ..half, .., ..half]).assign(&a);
        p.slice_mut(s![.., half.., .., half..]).assign(&b);
        let r = reward(2 * half, true, &mut random);
        let solved = general::index(p.view(), r.view(), 1.0);
        assert!((0..n).all(|i| undetermined(&solved, i)), "M={}: {:?}", 2 * half, solved.status);
        let taped = general::differentiable_index(p.view(), r.view(), 1.0).indices;
        assert_eq!(taped.status, solved.status);
    }
}

#[test]
fn an_arm_that_amplifies_rounding_says_so() {
    // nearly absorbing states at γ = 1: the index of state 1 is 0 in exact arithmetic, and comes out near 1e-5
    let e = 2f64.powi(-20);
    let p = ndarray::array![[
        [[1.0 - e, e, 0.0], [1.0 - e, 0.0, e]],
        [[1.0 - e, 0.0, e], [0.0, 1.0 - e, e]],
        [[e, 0.0, 1.0 - e], [0.0, e, 1.0 - e]],
    ]];
    let r = ndarray::array![[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]];
    let solved = general::index(p.view(), r.view(), 1.0);
    assert_eq!(solved.status[0], IndexStatus::IllConditioned);
    assert!(
        solved.index[[0, 1]].abs() <= solved.residual[0],
        "{} but {}",
        solved.index[[0, 1]],
        solved.residual[0]
    );
    // the forward pass and the one with a tape say the same of every arm
    let mut random = random(54);
    for kind in KINDS {
        for g in [0.9, 0.9999, 0.999999, 1.0] {
            let p = transitions(kind, 100, 4, &mut random);
            let r = reward(4, true, &mut random);
            let (index, taped) = (
                general::index(p.view(), r.view(), g),
                general::differentiable_index(p.view(), r.view(), g).indices,
            );
            assert_eq!(index.status, taped.status);
            assert_eq!(bits(&index.index), bits(&taped.index));
        }
    }
}

/// As bits, because NaN is not equal to itself.
fn bits(values: &Array2<f64>) -> Vec<u64> {
    values.iter().map(|w| w.to_bits()).collect()
}
