//! Prices on rules: a bound on every list, and lists that come from it.
//!
//! A price π on each set, on a place and on the cost turns the problem into one for each person alone, with worth r = v − Σ π of their
//! sets − price of a place − price · cost:
//!
//! ```text
//! L(π) = Σ_must r + Σ_others max(0, r) + Σ_sets (π > 0 ? π · cap : π · floor) + the same for places and cost
//! ```
//!
//! By weak duality no list is worth more than L. It is convex; steps go against its subgradient, cap or floor minus load, with
//! Polyak's length towards the best list known, halved where L stops falling. A fixed number of steps.

use super::ranked::{Bounds, Ranked};

/// Steps of the descent.
const STEPS: usize = 400;

/// Steps between lists made of the prices.
const EVERY: usize = 40;

/// A bound and what led to it.
#[derive(Debug)]
pub(super) struct Dual {
    /// no list is worth more
    pub bound: f64,
    /// per rank, r at the bound's prices
    pub reduced: Vec<f64>,
    /// the best list met on the way, with its value
    pub list: Option<(f64, Vec<bool>)>,
}

/// A bound for lists that fill at least `least_filled` places.
pub(super) fn dual(
    ranked: &Ranked,
    value: &[f64],
    bounds: &Bounds,
    least_filled: usize,
    mut list: Option<(f64, Vec<bool>)>,
) -> Dual {
    let sets = ranked.sets.len();
    let with_cost = ranked.cost.as_ref().filter(|_| bounds.most_cost.is_finite());
    // prices of sets, then of a place, then of the cost; each has a least and a most
    let mut least: Vec<f64> = bounds.at_least.iter().map(|x| *x as f64).collect();
    let mut most: Vec<f64> =
        (0..sets).map(|set| bounds.at_most[set].min(ranked.sets[set].size) as f64).collect();
    least.extend([least_filled as f64, 0.0]);
    most.extend([bounds.places as f64, if with_cost.is_some() { bounds.most_cost } else { 0.0 }]);
    let mut price = vec![0.0; sets + 2];
    let mut best = Dual { bound: f64::INFINITY, reduced: value.to_vec(), list: None };
    let mut reduced = vec![0.0; value.len()];
    let (mut length, mut stalled) = (1.0, 0);
    for step in 0..STEPS {
        crate::interrupt::check();
        let mut load = vec![0.0; sets + 2];
        let mut bound = 0.0;
        for rank in 0..value.len() {
            let cost = with_cost.map_or(0.0, |cost| cost[rank]);
            let paid: f64 = ranked.sets_of(rank).map(|set| price[set]).sum();
            let r = value[rank] - paid - price[sets] - price[sets + 1] * cost;
            reduced[rank] = r;
            if r > 0.0 || bounds.must[rank] {
                bound += r;
                ranked.sets_of(rank).for_each(|set| load[set] += 1.0);
                load[sets] += 1.0;
                load[sets + 1] += cost;
            }
        }
        let side = |k: usize| if price[k] > 0.0 { most[k] } else { least[k] };
        bound += (0..price.len()).map(|k| price[k] * side(k)).sum::<f64>();
        if bound < best.bound {
            (best.bound, stalled) = (bound, 0);
            best.reduced.clone_from(&reduced);
        } else {
            stalled += 1;
            if stalled == 20 {
                (length, stalled) = (length * 0.5, 0);
            }
        }
        if step % EVERY == 0
            && let Some(made) = completed(ranked, value, bounds, least_filled, &reduced)
        {
            let worth = worth(value, &made);
            if list.as_ref().is_none_or(|(old, _)| worth > *old) {
                list = Some((worth, made));
            }
        }
        // the subgradient nearest to 0: where a price is 0, any load between least and most is none
        let slope = |k: usize| match price[k] {
            p if p > 0.0 => most[k] - load[k],
            p if p < 0.0 => least[k] - load[k],
            _ => (most[k] - load[k]).min(0.0) + (least[k] - load[k]).max(0.0),
        };
        let slopes: Vec<f64> = (0..price.len()).map(slope).collect();
        let square: f64 = slopes.iter().map(|x| x * x).sum();
        if square == 0.0 {
            break;
        }
        let target =
            list.as_ref().map_or(best.bound - 0.05 * best.bound.abs().max(1e-12), |(worth, _)| *worth);
        let stride = length * (bound - target).max(0.0) / square;
        for k in 0..price.len() {
            let next = price[k] - stride * slopes[k];
            // a price below 0 pays for a floor: only where there is one
            price[k] = if least[k] > 0.0 { next } else { next.max(0.0) };
        }
    }
    best.list = list;
    best
}

/// The values of a list.
pub(super) fn worth(value: &[f64], chosen: &[bool]) -> f64 {
    value.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(value, _)| value).sum()
}

/// A list in the order of some worth: must-calls, then whoever serves floors, most of them first, then whoever fits. Nothing where
/// that does not end in a list that keeps the rules.
pub(super) fn completed(
    ranked: &Ranked,
    value: &[f64],
    bounds: &Bounds,
    least_filled: usize,
    reduced: &[f64],
) -> Option<Vec<bool>> {
    let mut order: Vec<usize> = (0..ranked.len()).collect();
    order.sort_by(|&i, &j| reduced[j].total_cmp(&reduced[i]));
    let mut chosen = vec![false; ranked.len()];
    let mut load = vec![0; ranked.sets.len()];
    let (mut filled, mut spent) = (0, 0.0);
    let cost = |rank: usize| ranked.cost.as_ref().map_or(0.0, |cost| cost[rank]);
    // least = families + 1: must-calls; then by floors served; then, at 0, for value or to fill places
    for least in (0..=ranked.of.len() + 1).rev() {
        for &rank in order.iter() {
            let is_wanted = match least {
                0 => value[rank] > 0.0 || filled < least_filled,
                _ if least > ranked.of.len() => bounds.must[rank],
                _ => ranked.sets_of(rank).filter(|&set| load[set] < bounds.at_least[set]).count() >= least,
            };
            let fits = || {
                filled < bounds.places
                    && spent + cost(rank) <= bounds.most_cost
                    && ranked.sets_of(rank).all(|set| load[set] < bounds.at_most[set])
            };
            if !chosen[rank] && is_wanted && fits() {
                chosen[rank] = true;
                ranked.sets_of(rank).for_each(|set| load[set] += 1);
                filled += 1;
                spent += cost(rank);
            }
        }
    }
    (filled >= least_filled && ranked.is_kept(&chosen, bounds)).then_some(chosen)
}
