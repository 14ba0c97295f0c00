//! Numbers from `reference/`: slow Python in high precision, and a published package. Each file names its source.

use ndarray::{Array2, Array3, Array4, Axis};
use restive::evaluation::{Behaviour, Decisions, Propensity, RatioUpTo, cwpdis, segmented};
use restive::index::{general, two_state};
use restive::instance::{Logged, NO_ACTION};
use restive::policy::soft_top_k::{soft_top_k, soft_top_k_many};
use restive::{Reward, Trajectories};
use serde_json::Value;

pub fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/../../reference/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

/// All numbers of a nested list, in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// The same, with NaN for null.
fn numbers_or_nan(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers_or_nan).collect(),
        number => vec![number.as_f64().unwrap_or(f64::NAN)],
    }
}

struct Arm {
    p: Array4<f64>,
    reward: Array2<f64>,
    discount: f64,
    m: usize,
}

fn arm(case: &Value) -> Arm {
    let m = case["m"].as_u64().unwrap() as usize;
    let p = Array4::from_shape_vec((1, m, 2, m), numbers(&case["p"])).unwrap();
    let reward = Array2::from_shape_vec((m, 2), numbers(&case["reward"])).unwrap();
    Arm { p, reward, discount: case["discount"].as_f64().unwrap(), m }
}

/// What an index of this arm can be as large as: span of the rewards over 1 − γ.
fn unit(arm: &Arm) -> f64 {
    let (low, high) = arm.reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
    ((high - low) / (1.0 - arm.discount).max(1e-3)).max(f64::MIN_POSITIVE)
}

#[test]
fn indices_crossings_and_verdicts_equal_fifty_digit_enumeration() {
    let (mut worst, mut not_indexable) = (0.0f64, 0);
    for case in cases("whittle_small") {
        let arm = arm(&case);
        let solved = general::index(arm.p.view(), arm.reward.view(), arm.discount);
        assert_eq!(solved.is_indexable[0], case["is_indexable"].as_bool().unwrap(), "{case}");
        not_indexable += usize::from(!solved.is_indexable[0]);
        for (found, truth) in solved
            .index
            .iter()
            .chain(&solved.last)
            .zip(numbers(&case["index"]).iter().chain(&numbers(&case["last"])))
        {
            let error = (found - truth).abs() / unit(&arm);
            // derivatives by a probability reach 1e5 here: rounding one at 1e-16 moves the index by 1e-11, 1e-14 of its unit
            assert!(error < 1e-13, "{found} not {truth}: {case}");
            worst = worst.max(error);
        }
        if arm.m == 2 {
            let closed = two_state::index(arm.p.view(), arm.reward.view(), arm.discount);
            for (found, truth) in closed.index.iter().zip(numbers(&case["index"])) {
                assert!((found - truth).abs() < 1e-15 * unit(&arm).max(1.0), "{found} not {truth}: {case}");
            }
        }
    }
    assert!(not_indexable >= 5);
    println!("worst error {worst:e}");
}

#[test]
fn derivatives_equal_high_precision_differences() {
    let mut checked = 0;
    for case in cases("whittle_small") {
        if case["direction"].is_null() {
            continue;
        }
        let arm = arm(&case);
        let solved = general::differentiable_index(arm.p.view(), arm.reward.view(), arm.discount);
        let direction = &case["direction"];
        let (dp, dr) = (numbers(&direction["p"]), numbers(&direction["reward"]));
        let dg = direction["discount"].as_f64().unwrap();
        for u in 0..arm.m {
            let mut c = Array2::zeros((1, arm.m));
            c[[0, u]] = 1.0;
            let mut found = vec![solved.pullback(c.view())];
            if arm.m == 2 {
                found.push(two_state::pullback(arm.p.view(), arm.reward.view(), arm.discount, c.view()));
            }
            for d in found {
                let along =
                    |d: &[f64], direction: &[f64]| d.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
                let found = [
                    ("transition", along(d.d_transition.as_slice().unwrap(), &dp)),
                    ("reward", along(d.d_reward.as_slice().unwrap(), &dr)),
                    ("discount", d.d_discount * dg),
                ];
                for (name, found) in found {
                    let truth = numbers(&case["derivative"][name])[u];
                    let size = truth.abs().max(unit(&arm) * unit(&arm) * 1e-3);
                    assert!((found - truth).abs() < 1e-11 * size, "{name}: {found} not {truth}: {case}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn average_reward_indices_equal_a_published_package() {
    let mut at_one = 0;
    for case in cases("average_reward") {
        let arm = arm(&case);
        let solved = general::index(arm.p.view(), arm.reward.view(), arm.discount);
        let is_indexable = !case["index"].is_null();
        assert_eq!(solved.is_indexable[0], is_indexable, "{case}");
        if is_indexable {
            for (found, truth) in solved.index.iter().zip(numbers(&case["index"])) {
                // the package itself is good to about 1e-13
                assert!((found - truth).abs() < 1e-12, "{found} not {truth}: {case}");
            }
            at_one += usize::from(arm.discount == 1.0);
        }
    }
    assert!(at_one >= 50, "{at_one}");
}

/// From indices to values at temperatures of 10⁻³ to 10: a strict policy's chance of doing what was logged is e⁻¹⁰⁰⁰ and less.
#[test]
fn the_chain_from_indices_to_importance_sampling_loses_no_digit() {
    for case in cases("importance_sampling") {
        let dim = (3, 3, 5);
        let (temperature, k) = (case["temperature"].as_f64().unwrap(), case["k"].as_f64().unwrap());
        let index = Array2::from_shape_vec((5, 2), numbers(&case["index"])).unwrap();
        let of = |name: &str| Array3::from_shape_vec(dim, numbers_or_nan(&case[name])).unwrap();
        let state = of("state").mapv(|s| s as u16);
        let steps = |array: Array3<f64>, last: f64| {
            let (j, _, n) = array.dim();
            ndarray::concatenate![Axis(1), array, Array3::from_elem((j, 1, n), last)]
        };
        let logged = Logged {
            state: steps(of("state"), 0.0).mapv(|s| s as u16),
            action: steps(of("action"), f64::from(NO_ACTION)).mapv(|a| a as u8),
            propensity: Some(steps(of("propensity"), 1.0)),
            reward: Some(steps(of("reward"), f64::NAN)),
            available: None,
        };
        let log = Trajectories::new(logged, 2).unwrap();
        let propensity = Propensity::new(&log, Behaviour::Logged, 2).unwrap();
        let decisions = Decisions::new(&log, &Reward::linear(2), &propensity);
        let rows = state.into_shape_with_order((9, 5)).unwrap();
        let soft = soft_top_k_many(index.view(), rows.view(), k, temperature);
        let log_odds = soft.log_odds.clone().into_shape_with_order(dim).unwrap();
        let check = |name: &str, value: f64, d_log_odds: Array3<f64>| {
            let (truth, context) = (&case[name], format!("{name} at {temperature}, {k}"));
            let expected = truth["value"].as_f64().unwrap();
            // log-odds reach 5/temperature and are rounded at 1e-16 of that, which moves a chance by as much
            let rounding = 1e-14 * (1.0 + 1.0 / temperature);
            assert!((value - expected).abs() < rounding, "{context}: {value} not {expected}");
            let d_log_odds = d_log_odds.into_shape_with_order((9, 5)).unwrap();
            let d = soft.pullback(d_log_odds.view());
            let gradient = numbers(&truth["d_index"]);
            let size = gradient.iter().fold(0.0f64, |size, g| size.max(g.abs()));
            // a slope is a difference of rewards over the temperature
            let allowed = rounding * size + 1e-14 / temperature;
            for (found, truth) in d.d_index.iter().zip(&gradient) {
                assert!((found - truth).abs() < allowed, "{context}: d_index {found} not {truth}");
            }
            let (found, truth) = (d.d_temperature, truth["d_temperature"].as_f64().unwrap());
            // that of the temperature is a sum of slopes times log-odds
            assert!(
                (found - truth).abs()
                    < rounding * truth.abs() + 1e-13 * (1.0 + 1.0 / temperature) / temperature,
                "{context}: d_temperature {found} not {truth}"
            );
        };
        for (name, up_to) in [("this_step", RatioUpTo::ThisStep), ("previous_step", RatioUpTo::PreviousStep)]
        {
            let judged = cwpdis(&decisions, log_odds.view(), 0.9, up_to);
            check(name, judged.value, judged.pullback(1.0).d_log_odds);
        }
        let judged = segmented(&decisions, log_odds.view(), 0.9);
        check("segmented", judged.value, judged.pullback(1.0).d_log_odds);
    }
}

#[test]
fn soft_top_k_equals_sinkhorn_in_high_precision() {
    for case in cases("soft_top_k") {
        let (score, cotangent) = (numbers(&case["scores"]), numbers(&case["cotangent"]));
        let (k, temperature) = (case["k"].as_f64().unwrap(), case["temperature"].as_f64().unwrap());
        let soft = soft_top_k(&score, k, temperature);
        for (found, truth) in soft.pull.iter().zip(numbers(&case["pull"])) {
            assert!((found - truth).abs() < 1e-13, "{found} not {truth}: {case}");
        }
        let threshold = case["threshold"].as_f64().unwrap();
        assert!((soft.threshold - threshold).abs() < 1e-13 * (1.0 + threshold.abs()), "{case}");
        let d = soft.pullback(&cotangent);
        let size = 1.0 / temperature;
        for (found, truth) in d.d_score.iter().zip(numbers(&case["d_scores"])) {
            assert!((found - truth).abs() < 1e-11 * size.max(1.0), "{found} not {truth}: {case}");
        }
        let d_temperature = case["d_temperature"].as_f64().unwrap();
        assert!(
            (d.d_temperature - d_temperature).abs() < 1e-10 * size.max(1.0),
            "{} not {d_temperature}: {case}",
            d.d_temperature
        );
        assert!((d.d_budget - case["d_k"].as_f64().unwrap()).abs() < 1e-12, "{case}");
    }
}
