//! Pulls that cost differently: golden numbers in sixty digits, Richardson differences, equal costs against the top k, and the
//! strict rule against all lists.

use crate::arms::random;
use crate::golden::{cases, numbers};
use crate::gradients::{AGREEMENT, derivative, uniform};
use rand::RngExt;
use restive::policy::soft_top_k::{SoftKnapsackCotangent, soft_knapsack, soft_top_k};
use restive::policy::strict::{strict_knapsack, strict_top_k};

fn close(found: &[f64], truth: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(truth) {
        assert!((found - truth).abs() <= tolerance * truth.abs().max(1.0), "{what}: {found} not {truth}");
    }
}

#[test]
fn soft_knapsacks_equal_sixty_digits() {
    for case in cases("soft_knapsack") {
        let (scores, costs) = (numbers(&case["scores"]), numbers(&case["costs"]));
        let [budget, temperature] = ["budget", "temperature"].map(|name| case[name].as_f64().unwrap());
        let soft = soft_knapsack(&scores, &costs, budget, temperature);
        close(&soft.pull, &numbers(&case["pull"]), 1e-13, "pull");
        close(&soft.log_odds(), &numbers(&case["log_odds"]), 1e-12, "log-odds");
        let v = numbers(&case["cotangent"]);
        for (name, d) in [("of_pull", soft.pullback(&v)), ("of_log_odds", soft.pullback_log_odds(&v))] {
            let truth = |of: &str| numbers(&case[name][of]);
            let tolerance = 1e-11 * (1.0 / temperature).max(1.0);
            close(&d.d_score, &truth("d_scores"), tolerance, "d_score");
            close(&d.d_cost, &truth("d_costs"), tolerance, "d_cost");
            close(&[d.d_budget], &truth("d_budget"), tolerance, "d_budget");
            close(&[d.d_temperature], &truth("d_temperature"), tolerance, "d_temperature");
        }
    }
}

#[test]
fn soft_knapsacks_have_the_gradient_of_their_pulls_and_log_odds() {
    let mut random = random(31);
    for n in [2usize, 7, 60] {
        // from all alike to nearly strict
        for temperature in [3.0, 0.3, 0.03, 0.004] {
            let mut draw = || (0..n).map(|_| uniform(&mut random)).collect::<Vec<f64>>();
            let (x, dx, dc, v) = (draw(), draw(), draw(), draw());
            let costs: Vec<f64> = draw().iter().map(|u| 1.0 + u).collect();
            let budget = 0.37 * costs.iter().sum::<f64>();
            let at = |t: [f64; 4], log_odds: bool| {
                let along = |a: &[f64], d: &[f64], t: f64| -> Vec<f64> {
                    a.iter().zip(d).map(|(a, d)| a + t * d).collect()
                };
                let costs = along(&costs, &dc, t[1]);
                let x = along(&x, &dx, t[0]);
                let soft = soft_knapsack(&x, &costs, budget + t[2], temperature + t[3]);
                let out = if log_odds { soft.log_odds() } else { soft.pull.clone() };
                out.iter().zip(&v).map(|(a, v)| a * v).sum::<f64>()
            };
            let soft = soft_knapsack(&x, &costs, budget, temperature);
            for (log_odds, d) in [(false, soft.pullback(&v)), (true, soft.pullback_log_odds(&v))] {
                let SoftKnapsackCotangent { d_score, d_cost, d_budget, d_temperature } = d;
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let length = |a: &[f64]| dot(a, a).sqrt();
                let h = 1e-3 * temperature;
                let size = (length(&d_score) + length(&d_cost)) * length(&dx).max(length(&dc));
                let rounding = 1e-14 * n as f64 / (h * temperature.min(1.0));
                let found = [dot(&d_score, &dx), dot(&d_cost, &dc), d_budget, d_temperature];
                for (which, found) in found.into_iter().enumerate() {
                    let step = |t: f64| std::array::from_fn(|k| if k == which { t } else { 0.0 });
                    let truth = derivative(|t| at(step(t), log_odds), h);
                    let allowed = AGREEMENT * (size + truth.abs()) + rounding;
                    assert!(
                        (found - truth).abs() <= allowed,
                        "N={n} e={temperature} {which} {log_odds}: {found} not {truth}"
                    );
                }
            }
        }
    }
}

#[test]
fn costs_of_one_are_the_top_k() {
    let mut random = random(32);
    for temperature in [0.0, 0.01, 0.3, f64::INFINITY] {
        for budget in [0.0, 0.4, 3.0, 7.3, 11.0, 12.0] {
            let x: Vec<f64> = (0..12).map(|_| (4.0 * uniform(&mut random)).round() / 4.0).collect();
            let v: Vec<f64> = (0..12).map(|_| uniform(&mut random)).collect();
            let (costed, plain) =
                (soft_knapsack(&x, &[1.0; 12], budget, temperature), soft_top_k(&x, budget, temperature));
            close(&costed.pull, &plain.pull, 1e-13, "pull");
            let pairs = [
                (costed.pullback(&v), plain.pullback(&v)),
                (costed.pullback_log_odds(&v), plain.pullback_log_odds(&v)),
            ];
            for (costed, plain) in pairs {
                close(&costed.d_score, &plain.d_score, 1e-10, "d_score");
                close(&[costed.d_budget], &[plain.d_budget], 1e-10, "d_budget");
                close(&[costed.d_temperature], &[plain.d_temperature], 1e-10, "d_temperature");
            }
            let strict = strict_top_k(&x, budget as usize, 9);
            let greedy = strict_knapsack(&x, &[1.0; 12], budget.floor(), 9);
            assert_eq!((greedy.pull, greedy.inclusion), (strict.pull, strict.inclusion));
        }
    }
}

/// The best value of any list that the budget pays for.
fn best(score: &[f64], cost: &[f64], budget: f64) -> f64 {
    let sum =
        |of: &[f64], list: usize| (0..of.len()).filter(|i| list >> i & 1 == 1).map(|i| of[i]).sum::<f64>();
    (0..1usize << score.len())
        .filter(|list| sum(cost, *list) <= budget + 1e-9)
        .fold(0.0, |best, list| best.max(sum(score, list)))
}

#[test]
fn the_strict_rule_is_paid_exact_among_the_alike_and_near_the_best_list() {
    let mut random = random(33);
    for _ in 0..300 {
        let n = 1 + random.random_range(0..9usize);
        // few distinct values: arms that are alike are frequent
        let score: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(0..4u8))).collect();
        let cost: Vec<f64> = (0..n).map(|_| f64::from(1 + random.random_range(0..3u8))).collect();
        let budget = random.random_range(0.0..=cost.iter().sum::<f64>());
        let runs: Vec<_> = (0..400).map(|seed| strict_knapsack(&score, &cost, budget, seed)).collect();
        for run in &runs {
            let chosen = || (0..n).filter(|i| run.pull[*i]);
            let spent: f64 = chosen().map(|i| cost[i]).sum();
            assert!(spent <= budget + 1e-9);
            let value: f64 = chosen().map(|i| score[i]).sum();
            let largest = score.iter().fold(0.0f64, |most, x| most.max(*x));
            let is_all_paid = cost.iter().sum::<f64>() <= budget;
            let short = best(&score, &cost, budget) - value;
            assert!(
                short <= 1e-9 || (!is_all_paid && short < largest),
                "{score:?} {cost:?} {budget}: {short}"
            );
        }
        for i in 0..n {
            let often = runs.iter().filter(|run| run.pull[i]).count() as f64 / runs.len() as f64;
            // five standard errors of 400 draws
            assert!((often - runs[0].inclusion[i]).abs() < 0.126, "{often} not {}", runs[0].inclusion[i]);
        }
    }
}

#[test]
fn a_budget_that_rounding_has_touched_still_pays() {
    let plan = strict_knapsack(&[1.0, 1.0, 1.0, 0.5], &[0.1; 4], 0.3, 0);
    assert_eq!(plan.pull, [true, true, true, false]);
}
