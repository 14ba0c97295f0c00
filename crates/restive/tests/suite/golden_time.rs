//! Arms that end, their prices, and arms with several actions against 50-digit values and their derivatives (`reference/horizon.py`,
//! `reference/prices.py`).

use crate::golden::{cases, numbers};
use ndarray::{Array2, Array3, Array4};
use restive::RewardView;
use restive::index::actions::Actions;
use restive::planning::{Ending, Horizon, Programme, smooth_prices};
use serde_json::Value;

/// Transitions `[1,M,A,M]`, rewards `[1,M,A]` and the discount of a case.
fn arm(case: &Value, a: usize) -> (Array4<f64>, Array3<f64>, [f64; 1]) {
    let m = case["m"].as_u64().unwrap() as usize;
    let p = Array4::from_shape_vec((1, m, a, m), numbers(&case["p"])).unwrap();
    let r = Array3::from_shape_vec((1, m, a), numbers(&case["r"])).unwrap();
    (p, r, [case["discount"].as_f64().unwrap()])
}

/// Answers to 1e-14, derivatives to 1e-11, relative to their size or to 1.
fn close(found: f64, truth: f64, room: f64, what: &str) {
    assert!((found - truth).abs() < room * truth.abs().max(1.0), "{what}: {found} not {truth}");
}

fn along(d: &[f64], direction: &Value) -> f64 {
    d.iter().zip(numbers(direction)).map(|(d, by)| d * by).sum()
}

#[test]
fn horizon_indices_and_their_derivatives_have_the_digits() {
    let mut checked = 0;
    for case in cases("horizon") {
        let (p, r, discount) = arm(&case, 2);
        let ending = if case["ending"] == "state" { Ending::State } else { Ending::Nothing };
        let decisions = case["decisions"].as_u64().unwrap() as usize;
        let reward = RewardView::by_arm(r.view());
        let horizon = Horizon { transition: p.view(), reward, discount: &discount, decisions, ending };
        let solved = horizon.index();
        for (k, truth) in numbers(&case["answer"]).into_iter().enumerate() {
            close(solved.index.as_slice().unwrap()[k], truth, 1e-14, "index");
            let mut c = Array3::zeros(solved.index.raw_dim());
            c.as_slice_mut().unwrap()[k] = 1.0;
            let d = horizon.pullback(c.view());
            let (by, truth) = (&case["direction"], |name: &str| numbers(&case["derivative"][name])[k]);
            close(along(d.d_transition.as_slice().unwrap(), &by["p"]), truth("p"), 1e-12, "p");
            close(along(d.d_reward.as_slice().unwrap(), &by["r"]), truth("r"), 1e-12, "r");
            close(d.d_discount[0] * by["discount"].as_f64().unwrap(), truth("discount"), 1e-12, "discount");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn thresholds_and_their_derivatives_have_the_digits() {
    let mut checked = 0;
    for case in cases("actions") {
        let a = case["a"].as_u64().unwrap() as usize;
        let ((p, r, discount), cost) = (arm(&case, a), numbers(&case["costs"]));
        let arms = Actions { transition: p.view(), reward: r.view(), cost: &cost, discount: &discount };
        let solved = arms.index();
        for (k, truth) in numbers(&case["answer"]).into_iter().enumerate() {
            close(solved.threshold.as_slice().unwrap()[k], truth, 1e-13, "threshold");
            let mut c = Array3::zeros(solved.threshold.raw_dim());
            c.as_slice_mut().unwrap()[k] = 1.0;
            let d = arms.pullback(c.view());
            let (by, truth) = (&case["direction"], |name: &str| numbers(&case["derivative"][name])[k]);
            close(along(d.d_transition.as_slice().unwrap(), &by["p"]), truth("p"), 1e-11, "p");
            close(along(d.d_reward.as_slice().unwrap(), &by["r"]), truth("r"), 1e-11, "r");
            close(along(&d.d_cost, &by["costs"]), truth("costs"), 1e-11, "costs");
            close(d.d_discount[0] * by["discount"].as_f64().unwrap(), truth("discount"), 1e-11, "discount");
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn smooth_prices_and_their_derivatives_have_the_digits() {
    let mut checked = 0;
    for case in cases("prices") {
        let [n, m, horizon] = ["n", "m", "decisions"].map(|name| case[name].as_u64().unwrap() as usize);
        let [budget, discount, temperature] =
            ["budget", "discount", "temperature"].map(|name| case[name].as_f64().unwrap());
        let p = Array4::from_shape_vec((n, m, 2, m), numbers(&case["p"])).unwrap();
        let r = Array3::from_shape_vec((n, m, 2), numbers(&case["r"])).unwrap();
        let initial = Array2::from_shape_vec((n, m), numbers(&case["initial"])).unwrap();
        let programme = Programme {
            motion: p.view().into(),
            reward: RewardView::by_arm(r.view()),
            discount,
            horizon,
            ending: if case["ending"] == "state" { Ending::State } else { Ending::Nothing },
            group: None,
            budget: &[budget],
            presence: None,
        };
        let found = smooth_prices(&programme, initial.view(), temperature);
        assert!(found.is_converged);
        let answers: Vec<f64> =
            found.price.iter().copied().chain([found.bound]).chain(found.advantage.iter().copied()).collect();
        let truths = [numbers(&case["price"]), numbers(&case["bound"]), numbers(&case["advantage"])].concat();
        assert_eq!(answers.len(), truths.len());
        let (by, derivative) = (&case["direction"], &case["derivative"]);
        for (k, truth) in truths.into_iter().enumerate() {
            // a residual of 1e-15 over a curvature of a hundredth
            close(answers[k], truth, 1e-13, "answer");
            let mut d_price = Array2::zeros((1, horizon));
            let mut d_advantage = Array3::zeros((horizon, n, m));
            let mut d_bound = 0.0;
            match k {
                k if k < horizon => d_price[[0, k]] = 1.0,
                k if k == horizon => d_bound = 1.0,
                k => d_advantage.as_slice_mut().unwrap()[k - horizon - 1] = 1.0,
            }
            let back = (Some(d_price.view()), d_bound, Some(d_advantage.view()));
            let d = found.pullback(&programme, initial.view(), back.0, back.1, back.2);
            let along = [
                ("p", along(d.d_transition.as_slice().unwrap(), &by["p"])),
                ("r", along(d.d_reward.as_slice().unwrap(), &by["r"])),
                ("initial", along(d.d_initial.as_slice().unwrap(), &by["initial"])),
                ("budget", d.d_budget[0]),
                ("discount", -d.d_discount),
                ("temperature", d.d_temperature),
            ];
            for (name, found) in along {
                close(found, numbers(&derivative[name])[k], 1e-11, name);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
}
