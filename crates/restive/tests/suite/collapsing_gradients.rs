//! Arms seen only at pulls: gradients against differences, against the general pullback chained by hand, and against fifty
//! digits.

use crate::arms::{Kind, Random, random, reward, transitions};
use crate::collapsing::{SORTS, Sort, arms};
use crate::golden::{cases, numbers};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array4, ArrayView2, Axis};
use restive::Reward;
use restive::belief::{Chain, beliefs};
use restive::index::collapsing::{differentiable_index, index};
use restive::index::{IndexStatus, Indices, general};

/// Whether two solutions take beliefs in the same order: no kink lies between.
fn same_order(a: &Indices, b: &Indices) -> bool {
    let order = |x: &Indices| {
        let mut order: Vec<usize> = (0..x.index.ncols()).collect();
        order.sort_by(|&i, &j| x.index[[0, i]].total_cmp(&x.index[[0, j]]));
        order
    };
    a.is_indexable == b.is_indexable && order(a) == order(b)
}

/// Checks the pullback of one arm along one direction; false where a kink is near.
fn check_gradient(p: &Array4<f64>, r: ArrayView2<f64>, g: f64, chain: Chain, random: &mut Random) -> bool {
    let h = 1e-4 * (1.0 - g).max(0.1);
    let direction = tangent(p, h, random);
    let at = |t: f64| index((p + &(&direction * t)).view(), r, g, chain);
    let here = at(0.0);
    if ![2.0 * h, -2.0 * h].iter().all(|t| same_order(&here, &at(*t))) {
        return false;
    }
    let c = Array2::from_shape_simple_fn(here.index.raw_dim(), || uniform(random));
    let solved = differentiable_index(p.view(), r, g, chain);
    assert_eq!(solved.indices, here, "the same with a tape as without");
    let d = solved.pullback(c.view()).d_transition;
    let size = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(d.rows().into_iter().all(|row| row.sum().abs() <= 1e-12 * size.max(1.0)), "rows sum to zero");
    let found = (&d * &direction).sum();
    let truth = derivative(|t| (&at(t).index * &c).sum(), h);
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rounding = 1e-15 * here.index.iter().map(|w| w.abs()).sum::<f64>() / h;
    let allowed = AGREEMENT * size * length + rounding;
    assert!((found - truth).abs() <= allowed, "{chain:?} γ={g}: {found} not {truth}\n{p:?}\n{r:?}");
    true
}

#[test]
fn pullbacks_equal_finite_differences() {
    let mut random = random(63);
    let linear = Reward::linear(2);
    let falling = Reward::of_state(&[1.0, 0.2]).unwrap();
    let mut checked = [0; 3];
    for g in [0.5, 0.9, 0.99] {
        for sort in [Sort::Arbitrary, Sort::Positive, Sort::Negative, Sort::Natural] {
            for k in 0..60 {
                let p = arms(sort, 1, &mut random);
                let r = if k % 2 == 0 { &linear } else { &falling };
                let t = [1, 2, 3, 6, 10][k % 5];
                checked[0] += usize::from(check_gradient(&p, r.view(), g, Chain::Finite(t), &mut random));
                let infinite = Chain::Infinite { beliefs: t };
                checked[1] += usize::from(check_gradient(&p, r.view(), g, infinite, &mut random));
            }
        }
        for (m, t) in [(2, 4), (3, 2), (3, 5), (5, 3)] {
            for k in 0..20 {
                let p = transitions(Kind::Dense, 1, m, &mut random);
                let r = reward(m, k % 2 == 0, &mut random);
                checked[2] += usize::from(check_gradient(&p, r.view(), g, Chain::Finite(t), &mut random));
            }
        }
    }
    println!("{checked:?} arms away from kinks");
    assert!(checked.iter().all(|&n| n > 60), "{checked:?}");
}

/// The general kernel's cotangent of the explicit process, taken through beliefs to the arm by hand: `[M,2,M]`.
fn chained(p: &Array4<f64>, r: ArrayView2<f64>, g: f64, t: usize, c: ArrayView2<f64>) -> Array4<f64> {
    let (m, arm) = (r.nrows(), p.index_axis(Axis(0), 0));
    let found = beliefs(p.view(), t).belief;
    let (transition, expected) = (crate::labels::dense(&found), found.reward(r));
    let d = general::differentiable_index(transition.view(), expected.index_axis(Axis(0), 0), g).pullback(c);
    let belief = found.view().to_shape((m, t, m)).unwrap().to_owned();
    let mut d_p = Array4::<f64>::zeros(p.raw_dim());
    for s in 0..m {
        let mut next = vec![0.0; m];
        for h in (0..t).rev() {
            let u = s * t + h;
            for from in 0..m {
                for to in 0..m {
                    d_p[[0, from, 0, to]] += belief[[s, h, from]] * next[to];
                }
            }
            next = (0..m)
                .map(|k| {
                    let direct = d.d_transition[[0, u, 1, k * t]]
                        + (0..2).map(|a| d.d_reward[[u, a]] * r[[k, a]]).sum::<f64>();
                    direct + (0..m).map(|to| arm[[k, 0, to]] * next[to]).sum::<f64>()
                })
                .collect();
        }
        (0..m).for_each(|k| d_p[[0, s, 1, k]] += next[k]);
    }
    for mut row in d_p.rows_mut() {
        let mean = row.sum() / m as f64;
        row.mapv_inplace(|d| d - mean);
    }
    d_p
}

#[test]
fn pullbacks_equal_the_general_one_chained_by_hand() {
    let mut random = random(64);
    let (mut worst, mut not_indexable) = (0.0f64, 0);
    for (m, t, n) in [(2, 2, 60), (2, 3, 60), (2, 10, 40), (2, 40, 5), (2, 100, 1), (3, 6, 15), (5, 4, 8)] {
        for g in [0.5, 0.9, 0.99] {
            for k in 0..n {
                let p = if m == 2 {
                    arms(SORTS[k % 4], 1, &mut random)
                } else {
                    transitions(Kind::Dense, 1, m, &mut random)
                };
                let r = reward(m, k % 2 == 0, &mut random);
                let c = Array2::from_shape_simple_fn((1, m * t), || uniform(&mut random));
                let solved = differentiable_index(p.view(), r.view(), g, Chain::Finite(t));
                let (found, truth) =
                    (solved.pullback(c.view()).d_transition, chained(&p, r.view(), g, t, c.view()));
                let size = truth.iter().fold(1.0f64, |a, d| a.max(d.abs()));
                let error = (&found - &truth).iter().fold(0.0f64, |a, d| a.max(d.abs())) / size;
                assert!(error <= 1e-9, "M={m} T={t} γ={g}: {error:e}\n{found:?}\n{truth:?}");
                worst = worst.max(error);
                not_indexable += usize::from(!solved.indices.is_indexable[0]);
            }
        }
    }
    println!("worst difference {worst:e}, {not_indexable} not indexable");
    assert!(not_indexable > 3);
}

#[test]
fn indices_and_derivatives_equal_fifty_digit_enumeration_over_beliefs() {
    let (mut derivatives, mut not_indexable) = (0, 0);
    for case in cases("collapsing") {
        let [m, t] = ["m", "chain"].map(|key| case[key].as_u64().unwrap() as usize);
        let p = Array4::from_shape_vec((1, m, 2, m), numbers(&case["p"])).unwrap();
        let (reward, g) =
            (Reward::of_state(&numbers(&case["reward"])).unwrap(), case["discount"].as_f64().unwrap());
        let solved = differentiable_index(p.view(), reward.view(), g, Chain::Finite(t));
        assert_eq!(solved.indices.verdict(0), case["is_indexable"].as_bool(), "{case}");
        not_indexable += usize::from(!solved.indices.is_indexable[0]);
        let found = solved.indices.index.iter().chain(&solved.indices.last);
        for (found, truth) in found.zip(numbers(&case["index"]).iter().chain(&numbers(&case["last"]))) {
            // indices are as large as 1/(1 − γ), and so is what rounding a probability does to them
            assert!((found - truth).abs() < 1e-14 / (1.0 - g), "{found} not {truth}: {case}");
        }
        if case["direction"].is_null() {
            continue;
        }
        let direction = numbers(&case["direction"]);
        for (u, truth) in numbers(&case["derivative"]).into_iter().enumerate() {
            let mut c = Array2::zeros((1, m * t));
            c[[0, u]] = 1.0;
            let found: f64 =
                solved.pullback(c.view()).d_transition.iter().zip(&direction).map(|(d, v)| d * v).sum();
            assert!((found - truth).abs() < 1e-13 / (1.0 - g) / (1.0 - g), "{found} not {truth}: {case}");
            derivatives += 1;
        }
    }
    assert!(derivatives > 60 && not_indexable >= 4, "{derivatives} {not_indexable}");
}

#[test]
fn an_arm_without_an_index_has_no_gradient() {
    let (p, reward) = (transitions(Kind::Dense, 3, 2, &mut random(5)), Reward::linear(2));
    for beliefs in [1, 2, 5] {
        // the frozen ends of finite chains are absorbing: no average reward
        let solved = differentiable_index(p.view(), reward.view(), 1.0, Chain::Finite(beliefs));
        assert!(solved.indices.status.iter().all(|status| *status == IndexStatus::Undetermined));
        let back = solved.pullback(Array2::ones((3, 2 * beliefs)).view()).d_transition;
        assert!(back.iter().all(|d| *d == 0.0));
    }
}
