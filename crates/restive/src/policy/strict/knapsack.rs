//! Strict knapsack: arms whose pulls cost differently, the best score per cost first.
//!
//! Arms are looked at in the order of score/cost, cheaper ones first where that ties, and each is pulled if what is left of the
//! budget pays for it. With equal costs this is the strict top k. In general it is the greedy rule and not always the optimum: for
//! scores of at least 0 it falls short of the best list by less than the score of the first arm that could not be paid (the
//! fractional knapsack takes a part of that arm and is at least as good as any list). Arms with the same score and the same cost
//! are alike, and only among them is chance needed: how many of them are pulled is certain, so that *inclusion probabilities* are
//! exact.
//!
//! ```
//! use restive::policy::strict::strict_knapsack;
//!
//! let (scores, costs) = ([3.0, 4.0, 1.0, 1.0], [1.0, 4.0, 1.0, 1.0]);
//! let plan = strict_knapsack(&scores, &costs, 2.0, 42);
//! assert_eq!(plan.inclusion, [1.0, 0.0, 0.5, 0.5]); // the second is too dear, the last two are alike
//! ```

use super::StrictTopK;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What rounding may have taken from a budget, relative to the costs: three arms of 0.1 can be paid from 0.3.
const ROUNDING: f64 = 1e-12;

/// Spends the budget on the arms with the highest score per cost (`[N]` each; scores not NaN, costs above 0); arms that are alike
/// are drawn at random, by `seed`.
pub fn strict_knapsack(score: &[f64], cost: &[f64], budget: f64, seed: u64) -> StrictTopK {
    assert_eq!(score.len(), cost.len(), "cost: [N]");
    assert!(cost.iter().all(|c| *c > 0.0 && c.is_finite()), "costs: above 0");
    assert!(!score.iter().any(|x| x.is_nan()) && !budget.is_nan(), "scores, budget: numbers");
    let (n, mut random) = (score.len(), Xoshiro256PlusPlus::seed_from_u64(seed));
    let ratio: Vec<f64> = score.iter().zip(cost).map(|(x, c)| x / c).collect();
    let mut order: Vec<usize> = (0..n).collect();
    let number = "scores and costs are numbers";
    order.sort_by(|&a, &b| {
        let by_cost = || cost[a].partial_cmp(&cost[b]).expect(number);
        ratio[b].partial_cmp(&ratio[a]).expect(number).then_with(by_cost)
    });
    let (mut pull, mut inclusion) = (vec![false; n], vec![0.0; n]);
    let (mut left, mut threshold) = (budget, f64::INFINITY);
    for alike in order.chunk_by(|&a, &b| ratio[a] == ratio[b] && cost[a] == cost[b]) {
        let price = cost[alike[0]];
        let paid = ((left / price + ROUNDING).floor().max(0.0) as usize).min(alike.len());
        if paid == 0 {
            continue;
        }
        left -= paid as f64 * price;
        threshold = ratio[alike[0]];
        let share = paid as f64 / alike.len() as f64;
        alike.iter().for_each(|&i| inclusion[i] = share);
        if paid == alike.len() {
            alike.iter().for_each(|&i| pull[i] = true);
        } else {
            index::sample(&mut random, alike.len(), paid).into_iter().for_each(|k| pull[alike[k]] = true);
        }
    }
    StrictTopK { pull, inclusion, threshold }
}
