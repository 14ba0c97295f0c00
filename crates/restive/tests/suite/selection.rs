//! Soft and strict top-k: against Sinkhorn, in hard places, and as properties.

use crate::arms::{Random, random};
use crate::oracle::sinkhorn;
use proptest::prelude::*;
use rand::RngExt;
use restive::policy::soft_top_k::soft_top_k;
use restive::policy::strict::strict_top_k;

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// Σ without rounding worth speaking of (Neumaier).
fn exact_sum(values: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for &v in values {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    sum + lost
}

#[test]
fn soft_top_k_equals_converged_sinkhorn_value_and_gradient() {
    let mut random = random(31);
    for n in [2usize, 3, 10, 50] {
        for temperature in [0.1, 0.5, 5.0] {
            for budget in [1.0, 0.3 * n as f64, n as f64 - 1.0] {
                let x: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                let soft = soft_top_k(&x, budget, temperature);
                let truth = sinkhorn(&x, budget, temperature);
                for (p, t) in soft.pull.iter().zip(&truth) {
                    assert!((p - t).abs() < 1e-9, "N={n} K={budget} e={temperature}: {p} not {t}");
                }
                // the gradient of Σ c·pull along a direction, by Richardson differences through Sinkhorn
                let c: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                let direction: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                let value = |t: f64| {
                    let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + t * d).collect();
                    sinkhorn(&moved, budget, temperature).iter().zip(&c).map(|(p, c)| p * c).sum::<f64>()
                };
                let central = |h: f64| (value(h) - value(-h)) / (2.0 * h);
                let h = 2e-3 * temperature;
                let truth = (4.0 * central(0.5 * h) - central(h)) / 3.0;
                let d_score = soft.pullback(&c).d_score;
                let found: f64 = d_score.iter().zip(&direction).map(|(d, x)| d * x).sum();
                assert!(
                    (found - truth).abs() < 1e-9 * (1.0 + n as f64),
                    "N={n} K={budget} e={temperature}: {found} not {truth}"
                );
            }
        }
    }
}

#[test]
fn pulls_sum_to_the_budget_in_every_hard_place() {
    let mut random = random(32);
    let mut cases: Vec<(&str, Vec<f64>)> = Vec::new();
    for n in [2usize, 7, 100, 3000] {
        cases.push(("normal", (0..n).map(|_| normal(&mut random)).collect()));
        cases.push(("heavy tails", (0..n).map(|_| (3.0 * (random.random::<f64>() - 0.5)).tan()).collect()));
        cases.push(("lognormal", (0..n).map(|_| (3.0 * normal(&mut random)).exp()).collect()));
        cases.push(("offset", (0..n).map(|_| 1e6 + normal(&mut random)).collect()));
        cases.push(("large", (0..n).map(|_| 1e6 * normal(&mut random)).collect()));
        cases.push(("small", (0..n).map(|_| 1e-6 * normal(&mut random)).collect()));
        cases.push(("equal", vec![0.25; n]));
        cases.push(("two values", (0..n).map(|i| (i % 2) as f64).collect()));
        let centre: [f64; 3] = [-1.0, 0.0, 1.0];
        cases.push(("clusters", (0..n).map(|i| centre[i % 3] + 1e-7 * normal(&mut random)).collect()));
    }
    for (name, x) in &cases {
        let n = x.len() as f64;
        let spread = x.iter().fold(0.0f64, |a, v| a.max((v - x[0]).abs())).max(1e-9);
        for relative in [1e9, 1e3, 1.0, 0.1, 1e-2, 1e-4, 1e-8, 1e-12, 1e-300, 0.0] {
            for budget in [0.0, 0.4, 1.0, (0.2 * n).floor().max(1.0), 0.5 * n, n - 1.0, n - 0.3, n, n + 5.0] {
                let soft = soft_top_k(x, budget, relative * spread);
                let expected = budget.min(n);
                let context = format!("{name} N={n} K={budget} e={relative:e}·spread");
                assert!(soft.pull.iter().all(|p| (0.0..=1.0).contains(p)), "{context}");
                let sum = exact_sum(&soft.pull);
                assert!((sum - expected).abs() <= 1e-12 * n, "{context}: Σ = {sum}");
                let d = soft.pullback(&vec![1.0; x.len()]);
                assert!(
                    d.d_score.iter().all(|d| d.is_finite())
                        && d.d_budget.is_finite()
                        && d.d_temperature.is_finite(),
                    "{context}"
                );
                // Σ pull does not move with the scores
                assert!(
                    d.d_score.iter().all(|d| d.abs() * spread <= 1e-9 / relative.max(1e-12)),
                    "{context}"
                );
            }
        }
    }
}

/// What is missing of a whole number of pulls has all its digits in the log-odds, however little it is.
#[test]
fn budgets_just_below_a_whole_number_leave_just_that_much_out() {
    let mut random = random(34);
    let chance = |z: f64| (-z.abs()).exp() / (1.0 + (-z.abs()).exp()); // of the less likely of both
    for n in [1usize, 2, 3, 7, 40] {
        for whole in [n, n.div_ceil(2)] {
            for rest in [0.4, 1e-3, 3e-9, 1e-12] {
                for temperature in [1e-4, 0.1, 3.0] {
                    let budget = whole as f64 - rest;
                    let rest = whole as f64 - budget; // as it was rounded
                    let mut scores: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                    if temperature == 0.1 {
                        scores.fill(0.25); // all alike
                    }
                    let mut odds = soft_top_k(&scores, budget, temperature).log_odds();
                    odds.sort_by(|a, b| b.total_cmp(a));
                    let less = |odds: &[f64], sign: f64| -> f64 {
                        odds.iter().map(|z| if sign * z > 0.0 { 1.0 - chance(*z) } else { chance(*z) }).sum()
                    };
                    let (missing, beyond) = (less(&odds[..whole], -1.0), less(&odds[whole..], 1.0));
                    let room = 1e-12 * missing.max(rest);
                    assert!(
                        (missing - beyond - rest).abs() <= room,
                        "{n} {budget} {temperature}: {missing} {beyond} {rest}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_smallest_budget_that_there_is_has_a_threshold() {
    for scores in [vec![-322.0, -11_793.0, 3900.0], vec![0.5], vec![1.0, 1.0, 2.0]] {
        for temperature in [3384.0, 0.1, 1e-6] {
            let soft = soft_top_k(&scores, 5e-324, temperature);
            assert!(soft.pull.iter().all(|p| (0.0..1e-300).contains(p)), "{:?}", soft.pull);
            assert!(soft.log_odds().iter().all(|z| *z < -700.0), "{:?}", soft.log_odds());
        }
    }
}

#[test]
fn the_strict_policy_is_the_limit_of_the_soft_one() {
    let x = [3.0, 1.0, 2.0, 2.0, 2.0, -1.0];
    for temperature in [1e-3, 1e-9, 1e-300, 0.0] {
        let soft = soft_top_k(&x, 3.0, temperature);
        let strict = strict_top_k(&x, 3, 1);
        for (soft, strict) in soft.pull.iter().zip(&strict.inclusion) {
            assert!((soft - strict).abs() < 1e-12, "ties share what is left: {soft} not {strict}");
        }
    }
    let even = soft_top_k(&x, 3.0, f64::INFINITY);
    assert!(even.pull.iter().all(|p| *p == 0.5));
}

#[test]
fn ties_are_broken_by_lot_as_often_as_the_inclusion_says() {
    let x = [1.0, 0.0, 0.0, -0.0, 0.5, -3.0];
    let draws = 20_000;
    let mut counts = [0.0f64; 6];
    for seed in 0..draws {
        let plan = strict_top_k(&x, 4, seed);
        assert_eq!(plan.pull.iter().filter(|p| **p).count(), 4);
        plan.pull.iter().zip(&mut counts).for_each(|(p, c)| *c += f64::from(*p));
    }
    let inclusion = strict_top_k(&x, 4, 0).inclusion;
    assert_eq!(inclusion, [1.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0, 0.0]);
    for (count, p) in counts.iter().zip(&inclusion) {
        // five standard errors of a proportion at 20,000 fixed seeds
        let error = 5.0 * (p * (1.0 - p) / draws as f64).sqrt();
        assert!((count / draws as f64 - p).abs() <= error, "{count} of {draws}, expected {p}");
    }
    assert_eq!(strict_top_k(&x, 4, 7), strict_top_k(&x, 4, 7));
    assert_eq!(strict_top_k(&x, 0, 7).pull, [false; 6]);
    assert_eq!(strict_top_k(&x, 9, 7).pull, [true; 6]);
}

fn scores() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![-1e6..1e6f64, -1.0..1.0f64, Just(0.0)], 1..60)
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn pulls_are_probabilities_in_the_order_of_the_scores(x in scores(), share in 0.0..1.0f64, e in -3.0..6.0f64) {
        let soft = soft_top_k(&x, share * x.len() as f64, 10f64.powf(e));
        let sum = exact_sum(&soft.pull);
        prop_assert!((sum - share * x.len() as f64).abs() <= 1e-12 * x.len() as f64);
        for i in 0..x.len() {
            prop_assert!((0.0..=1.0).contains(&soft.pull[i]));
            for j in 0..i {
                // pulls next to 1 are rounded, each by itself
                prop_assert!(x[i] < x[j] || soft.pull[i] >= soft.pull[j] - 1e-15);
            }
        }
    }

    #[test]
    fn shifting_and_stretching_scores_with_their_temperature_changes_nothing(x in scores(), k in 0usize..60, power in -3i32..4) {
        let e = 10.0;
        let stretch = 4f64.powi(power); // exact in floating point
        let moved: Vec<f64> = x.iter().map(|x| (x + 0.5) * stretch).collect();
        let budget = (k % x.len()) as f64;
        let (a, b) = (soft_top_k(&x, budget, e), soft_top_k(&moved, budget, e * stretch));
        for (a, b) in a.pull.iter().zip(&b.pull) {
            prop_assert!((a - b).abs() < 1e-10);
        }
    }

    #[test]
    fn the_strict_plan_pulls_the_best(x in scores(), k in 0usize..70, seed: u64) {
        let plan = strict_top_k(&x, k, seed);
        prop_assert_eq!(plan.pull.iter().filter(|p| **p).count(), k.min(x.len()));
        prop_assert!((plan.inclusion.iter().sum::<f64>() - k.min(x.len()) as f64).abs() < 1e-12 * x.len() as f64);
        for i in 0..x.len() {
            prop_assert!(!plan.pull[i] || plan.inclusion[i] > 0.0);
            prop_assert!(plan.pull[i] || plan.inclusion[i] < 1.0);
            for j in 0..x.len() {
                prop_assert!(!plan.pull[i] || plan.pull[j] || x[i] >= x[j]);
            }
        }
    }
}
