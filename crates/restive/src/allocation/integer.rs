//! Rules of any other shape: bounds, and a small integer programme for whoever they leave undecided.
//!
//! Up to [`CORE`] people are an integer [programme](super::programme) as they stand. With more, [prices on the rules](super::dual) give
//! a bound L and a list worth v. Somebody whose worth r beside the prices is above L − v is on every list that is better, somebody
//! below −(L − v) on none: they are fixed, and the programme decides on the others, the *core*. Where the core is too
//! large, the people nearest to r = 0 are decided and the others stay as in the list; the gap then says what is not proven.
//!
//! Places are filled first (everybody is worth 1), then the value is the largest among lists that fill as many.

use super::dual::{Dual, completed, dual, worth};
use super::programme::{Solved, missing as missing_programme, programme};
use super::ranked::{Bounds, Ranked};
use std::collections::BTreeMap;

/// The people that an integer programme decides on at most.
pub(super) const CORE: usize = 250;

/// The people that a search for any list at all decides on at most.
const CANDIDATES: usize = 5_000;

/// What was found.
#[derive(Debug)]
pub(super) enum Found {
    /// a list, and its gap
    List(Vec<bool>, f64),
    /// no list keeps the rules
    Infeasible,
    /// too hard to tell
    Unknown,
}

/// The best list.
pub(super) fn integer(ranked: &Ranked, bounds: &Bounds, fill: bool) -> Found {
    let any = match any_list(ranked, bounds) {
        Found::List(any, _) => any,
        other => return other,
    };
    if !fill {
        return best(ranked, &ranked.value, bounds, 0, any);
    }
    let (filled, is_proven) = most_filled(ranked, bounds, any);
    let least = filled.iter().filter(|chosen| **chosen).count();
    match best(ranked, &ranked.value, bounds, least, filled) {
        Found::List(chosen, _) if !is_proven => Found::List(chosen, f64::INFINITY),
        found => found,
    }
}

/// A list that fills as many places as it can, and whether no list fills more.
fn most_filled(ranked: &Ranked, bounds: &Bounds, any: Vec<bool>) -> (Vec<bool>, bool) {
    let filled = |chosen: &[bool]| chosen.iter().filter(|chosen| **chosen).count();
    let ones = vec![1.0; ranked.len()];
    let limit = most_places(ranked, bounds);
    let by_rank: Vec<f64> = (0..ranked.len()).map(|rank| -(rank as f64)).collect();
    for order in [&ranked.value, &by_rank] {
        if let Some(chosen) = completed(ranked, &ones, bounds, limit, order) {
            return (chosen, true);
        }
    }
    match best(ranked, &ones, bounds, 0, any.clone()) {
        Found::List(chosen, gap) => (chosen, gap < 0.999),
        _ => (any.clone(), filled(&any) == limit),
    }
}

/// What caps alone leave, family by family.
fn most_places(ranked: &Ranked, bounds: &Bounds) -> usize {
    let mut limit = bounds.places.min(ranked.len());
    for of in &ranked.of {
        let mut inside = vec![0; ranked.sets.len()];
        let mut most = 0;
        for &set in of {
            match inside.get_mut(set as usize) {
                Some(inside) if *inside >= bounds.at_most[set as usize] => {}
                Some(inside) => (*inside, most) = (*inside + 1, most + 1),
                None => most += 1,
            }
        }
        limit = limit.min(most);
    }
    limit
}

/// The list worth most among those that fill enough places, from one of them.
fn best(ranked: &Ranked, value: &[f64], bounds: &Bounds, least_filled: usize, any: Vec<bool>) -> Found {
    let start = worth(value, &any);
    let free: Vec<usize> = (0..ranked.len()).filter(|rank| !bounds.must[*rank]).collect();
    if free.len() <= CORE {
        return match programme(ranked, value, bounds, least_filled, &free, &bounds.must) {
            Solved::Optimal(chosen) => Found::List(chosen, 0.0),
            Solved::Feasible(chosen, bound) => better(value, any, chosen, bound),
            // a list is known
            Solved::Infeasible | Solved::Unknown => {
                let bound = dual(ranked, value, bounds, least_filled, Some((start, any.clone()))).bound;
                Found::List(any, proven(bound - start, bound))
            }
        };
    }
    let Dual { bound, reduced, list } = dual(ranked, value, bounds, least_filled, Some((start, any)));
    let Some((start, list)) = list else { return Found::Unknown };
    // rounding must not fix anybody who is undecided
    let gap = (bound - start).max(0.0) + 1e-9 * bound.abs().max(1.0);
    let core: Vec<usize> = free.iter().copied().filter(|&rank| reduced[rank].abs() <= gap).collect();
    if core.len() <= CORE {
        let fixed: Vec<bool> =
            (0..ranked.len()).map(|rank| bounds.must[rank] || reduced[rank] > gap).collect();
        return match programme(ranked, value, bounds, least_filled, &core, &fixed) {
            Solved::Optimal(chosen) => {
                let chosen = if worth(value, &chosen) > start { chosen } else { list };
                Found::List(chosen, 0.0)
            }
            Solved::Infeasible => Found::List(list, 0.0),
            Solved::Feasible(chosen, inside) => better(value, list, chosen, bound.min(inside.max(start))),
            Solved::Unknown => Found::List(list, proven(bound - start, bound)),
        };
    }
    let mut core = free;
    core.sort_by(|&i, &j| reduced[i].abs().total_cmp(&reduced[j].abs()));
    core.truncate(CORE);
    match programme(ranked, value, bounds, least_filled, &core, &list) {
        Solved::Optimal(chosen) | Solved::Feasible(chosen, _) => better(value, list, chosen, bound),
        _ => Found::List(list, proven(bound - start, bound)),
    }
}

/// The better of two lists, beside a bound.
fn better(value: &[f64], one: Vec<bool>, other: Vec<bool>, bound: f64) -> Found {
    let (a, b) = (worth(value, &one), worth(value, &other));
    let (chosen, worth) = if b > a { (other, b) } else { (one, a) };
    Found::List(chosen, proven(bound - worth, bound))
}

/// A gap, without what rounding makes of none.
fn proven(gap: f64, bound: f64) -> f64 {
    if gap <= 1e-9 * bound.abs().max(1.0) { 0.0 } else { gap }
}

/// Any list that keeps the rules.
pub(super) fn any_list(ranked: &Ranked, bounds: &Bounds) -> Found {
    let cheapest: Vec<f64> = (0..ranked.len()).map(|rank| -price(ranked, rank)).collect();
    let none = vec![0.0; ranked.len()];
    for order in [&ranked.value, &cheapest] {
        if let Some(chosen) = completed(ranked, &none, bounds, 0, order) {
            return Found::List(chosen, f64::INFINITY);
        }
    }
    let free = candidates(ranked, bounds);
    if free.len() > CANDIDATES {
        return Found::Unknown;
    }
    match programme(ranked, &cheapest, bounds, 0, &free, &bounds.must) {
        Solved::Infeasible => Found::Infeasible,
        Solved::Optimal(chosen) | Solved::Feasible(chosen, _) => Found::List(chosen, f64::INFINITY),
        Solved::Unknown => Found::Unknown,
    }
}

fn price(ranked: &Ranked, rank: usize) -> f64 {
    ranked.cost.as_ref().map_or(0.0, |cost| cost[rank])
}

/// Whoever, beside the must-calls, a list that only meets the floors may need: of each cell the cheapest, as many as its floors ask for.
fn candidates(ranked: &Ranked, bounds: &Bounds) -> Vec<usize> {
    let mut cells: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for rank in (0..ranked.len()).filter(|rank| !bounds.must[*rank]) {
        cells.entry(ranked.sets_of(rank).collect()).or_default().push(rank);
    }
    let mut found = Vec::new();
    for (sets, mut people) in cells {
        people.sort_by(|&i, &j| price(ranked, i).total_cmp(&price(ranked, j)));
        let asked: usize = sets.iter().map(|set| bounds.at_least[*set]).max().unwrap_or(0);
        found.extend(people.into_iter().take(asked));
    }
    found.sort_unstable();
    found
}

/// By how much floors and must-calls have to be lowered in all, as far as the search finds out; at least 1.
pub(super) fn missing(ranked: &Ranked, bounds: &Bounds) -> usize {
    let mut free = candidates(ranked, bounds);
    free.extend((0..ranked.len()).filter(|rank| bounds.must[*rank]));
    free.sort_unstable();
    missing_programme(ranked, bounds, &free).unwrap_or(1).max(1)
}
