//! The prices with the smallest bound: [descent](super::descent) on a dual that is smoothed less and less.
//!
//! Prices are counted in the range of the rewards, or in the largest advantage where that is less (where pulls change little), and
//! the dual in that times the budget, so that temperatures and tolerances have no unit: a gradient is the part of its budget by
//! which a step is over- or underspent.
//!
//! A smoothed maximum pulls half of those who do not care, and so asks a small price where none is needed. At the last step, where
//! often nobody gains, the price is therefore 0 from the start; elsewhere prices within reach of the temperature are set to 0 at
//! the end where that lowers the bound.

use super::Programme;
use super::descent::minimise;
use super::dual::{Dual, bound};
use super::sample::sample;
use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;

/// Temperatures of the smoothed dual in units of a price, and the tolerance at each.
pub(super) const STAGES: [(f64, f64); 3] = [(0.05, 3e-2), (0.01, 1e-2), (0.002, 3e-3)];
/// Evaluations at each temperature, at most.
pub(super) const MOST: usize = 80;
/// Prices up to this many temperatures may be an artefact of smoothing.
const REACH: f64 = 20.0;

/// What pulls cost at each step, and what no policy can exceed.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// `[G,H]`: of a pull of each group at each step, in units of the reward
    pub price: Array2<f64>,
    /// the dual at these prices, over all arms: at least the expected value of any policy within the budgets
    pub bound: f64,
    /// `[G]`: how often the smoothed dual and its gradient were computed
    pub evaluations: Vec<usize>,
    /// `[G]`: whether the descent ended by itself; prices and bound are valid in any case
    pub is_converged: Vec<bool>,
}

/// The prices of a programme whose arms start (or enter) with masses `[N,L]`; a known state is a mass of 1.
pub fn prices(programme: &Programme<'_>, initial: ArrayView2<'_, f64>) -> Prices {
    prices_on(programme, initial, |members| members)
}

/// The same with prices found on the `size` arms with the smallest keys (`[N]`; the smallest of each group, in proportion, and at
/// least 1,000 of it), their budgets in proportion; the bound is that of all arms.
pub fn prices_on_sample(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    keys: &[u64],
    size: usize,
) -> Prices {
    assert_eq!(keys.len(), programme.motion.arms(), "keys: [N]");
    prices_on(programme, initial, |members| sample(members, keys, size, keys.len()))
}

fn prices_on(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    some: impl Fn(Vec<usize>) -> Vec<usize> + Sync,
) -> Prices {
    let dual = Dual::new(programme, initial);
    let groups: Vec<Found> = (programme.members().into_par_iter().zip(programme.budget))
        .map(|(members, budget)| {
            let all = members.len().max(1) as f64;
            let members = some(members);
            let budget = budget * members.len() as f64 / all;
            minimum(&dual, &members, budget, programme)
        })
        .collect();
    let mut price = Array2::zeros((programme.groups(), programme.horizon));
    price
        .rows_mut()
        .into_iter()
        .zip(&groups)
        .for_each(|(mut row, found)| row.assign(&ArrayView1::from(&found.price)));
    let bound = bound(programme, initial, price.view());
    let evaluations = groups.iter().map(|found| found.evaluations).collect();
    Prices {
        price,
        bound,
        evaluations,
        is_converged: groups.iter().map(|found| found.is_converged).collect(),
    }
}

/// The prices of one group.
struct Found {
    price: Vec<f64>,
    evaluations: usize,
    is_converged: bool,
}

fn minimum(dual: &Dual<'_, '_>, members: &[usize], budget: f64, programme: &Programme<'_>) -> Found {
    let horizon = programme.horizon;
    let mut best = Found { price: vec![0.0; horizon], evaluations: 0, is_converged: true };
    let [largest, largest_last] = dual.largest_advantages(members);
    let unit = largest.min(programme.reward.range());
    if !(unit > 0.0) {
        return best; // nobody gains by a pull, whatever it costs
    }
    let scale = unit * budget.max(1.0);
    let value = |price: &[f64]| dual.value(members, price, budget);
    let mut least = value(&best.price);
    let priced = if largest_last > 0.0 { horizon } else { horizon - 1 };
    let price = |x: &[f64]| -> Vec<f64> {
        x.iter().map(|x| x * unit).chain(std::iter::repeat(0.0)).take(horizon).collect()
    };
    let mut x = vec![0.0; priced];
    for (softness, tolerance) in STAGES {
        let found = minimise(x, tolerance, MOST, |x| {
            let (value, d_price) = dual.gradient(members, &price(x), budget, softness * unit);
            (value / scale, d_price[..priced].iter().map(|d| d * unit / scale).collect())
        });
        x = found.x;
        best.evaluations += found.evaluations;
        best.is_converged = found.is_converged;
        let here = value(&price(&x));
        if here < least {
            (least, best.price) = (here, price(&x));
        }
    }
    for t in 0..horizon {
        let was = best.price[t];
        if was > 0.0 && was <= REACH * STAGES[2].0 * unit {
            best.price[t] = 0.0;
            let here = value(&best.price);
            if here <= least { least = here } else { best.price[t] = was }
        }
    }
    best
}
