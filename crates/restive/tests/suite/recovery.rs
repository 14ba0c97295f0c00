//! Two roads to one number: fast kernels against enumeration and against bisection over policy iteration.

use crate::arms::{KINDS, Kind, random, reward, transitions};
use crate::oracle::{advantage_at, bisect, enumerate};
use ndarray::{Axis, s};
use restive::index::{IndexStatus, general, two_state};

const DISCOUNTS: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 0.999];

/// Errors are relative to the span of the rewards over 1 − γ, the size of a value; to the rewards where they are equal.
fn unit(reward: ndarray::ArrayView2<f64>, g: f64) -> f64 {
    let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
    ((high - low) / (1.0 - g)).max(high.abs()).max(low.abs())
}

#[test]
fn the_sweep_equals_enumeration_with_its_verdicts_up_to_eight_states() {
    let mut random = random(1);
    let (mut arms, mut not_indexable, mut worst) = (0, 0, 0.0f64);
    for m in 1..=8 {
        for kind in KINDS {
            for g in DISCOUNTS {
                for depends_on_action in [false, true] {
                    let n = if m <= 5 { 40 } else { 8 };
                    let p = transitions(kind, n, m, &mut random);
                    let mut r = reward(m, depends_on_action, &mut random);
                    if kind == Kind::Deterministic && m % 2 == 0 {
                        r.mapv_inplace(|r| (3.0 * r).floor()); // 0, 1, 2: ties everywhere
                    }
                    let solved = general::index(p.view(), r.view(), g);
                    for i in 0..n {
                        let truth = enumerate(p.index_axis(Axis(0), i), r.view(), g);
                        let context = format!(
                            "{kind:?} M={m} γ={g} arm {i}\n{p:?}\n{r:?}\n{truth:?}\n{:?} {:?}",
                            solved.index.row(i),
                            solved.last.row(i),
                            p = p.slice(s![i, .., .., ..])
                        );
                        assert_eq!(solved.status[i], IndexStatus::Exact, "{context}");
                        assert_eq!(solved.is_indexable[i], truth.is_indexable, "verdict {context}");
                        for s in 0..m {
                            let error = (solved.index[[i, s]] - truth.first[s])
                                .abs()
                                .max((solved.last[[i, s]] - truth.last[s]).abs())
                                / unit(r.view(), g).max(1e-300);
                            assert!(error <= 1e-9, "state {s} error {error:e} {context}");
                            worst = worst.max(error);
                        }
                        arms += 1;
                        not_indexable += usize::from(!truth.is_indexable);
                    }
                }
            }
        }
    }
    println!("{arms} arms, {not_indexable} not indexable, worst error {worst:e}");
    assert!(not_indexable > 20, "the test must see arms that are not indexable");
}

#[test]
fn the_sweep_equals_bisection_over_policy_iteration_for_many_states() {
    let mut random = random(2);
    let (mut worst, mut not_indexable) = (0.0f64, 0);
    for (m, n) in [(10, 6), (20, 3), (50, 1), (100, 1)] {
        for kind in KINDS {
            for g in [0.5, 0.9, 0.99, 0.999] {
                let p = transitions(kind, n, m, &mut random);
                let r = reward(m, true, &mut random);
                let solved = general::index(p.view(), r.view(), g);
                for i in 0..n {
                    if !solved.is_indexable[i] {
                        // bisection may find any crossing; the first one must be a crossing, with action before it
                        for s in (0..m).step_by(m.div_ceil(10)) {
                            let (arm, w) = (p.index_axis(Axis(0), i), solved.index[[i, s]]);
                            let step = 1e-6 * unit(r.view(), g);
                            let at = |subsidy| advantage_at(arm, r.view(), g, subsidy)[s];
                            assert!(
                                at(w).abs() <= 1e-9 * unit(r.view(), g),
                                "{kind:?} M={m} γ={g} state {s}"
                            );
                            assert!(
                                at(w - step) > -1e-9 * unit(r.view(), g),
                                "{kind:?} M={m} γ={g} state {s}"
                            );
                        }
                        not_indexable += 1;
                        continue;
                    }
                    let states: Vec<usize> = if m <= 20 { (0..m).collect() } else { vec![0, m / 3, m - 1] };
                    for s in states {
                        let truth = bisect(p.index_axis(Axis(0), i), r.view(), g, s);
                        let error = (solved.index[[i, s]] - truth).abs() / unit(r.view(), g);
                        assert!(
                            error <= 1e-9,
                            "{kind:?} M={m} γ={g} state {s}: {} not {truth}",
                            solved.index[[i, s]]
                        );
                        worst = worst.max(error);
                    }
                }
            }
        }
    }
    println!("{not_indexable} not indexable, worst error {worst:e}");
    assert!(not_indexable > 10);
}

#[test]
fn the_closed_form_equals_enumeration() {
    let mut random = random(3);
    for kind in [Kind::Dense, Kind::Sparse, Kind::Deterministic, Kind::NearEqual] {
        for g in DISCOUNTS {
            for depends_on_action in [false, true] {
                let p = transitions(kind, 300, 2, &mut random);
                let r = reward(2, depends_on_action, &mut random);
                let solved = two_state::index(p.view(), r.view(), g);
                for i in 0..300 {
                    let truth = enumerate(p.index_axis(Axis(0), i), r.view(), g);
                    assert!(truth.is_indexable);
                    for s in 0..2 {
                        let error = (solved.index[[i, s]] - truth.first[s]).abs() / unit(r.view(), g);
                        assert!(
                            error <= 1e-9,
                            "{kind:?} γ={g}: {} not {}",
                            solved.index[[i, s]],
                            truth.first[s]
                        );
                    }
                }
            }
        }
    }
}
