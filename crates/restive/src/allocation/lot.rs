//! One list by rank and by lot, for the keys at hand.
//!
//! Where rules are nested and nothing costs, places by rank have exact [chances](super::by_rank), and so has the draw: everybody who is
//! left [shares](super::water) the room that is left, and one [rounding](super::rounding) makes a list of both. Without
//! groups the draw is simply the E smallest keys.
//!
//! If a tie decides before the draw, who is left is a matter of chance too. Without groups that has a formula: t people tie for r places, m
//! others are left with them, and among the first E + r of the t + m keys X belong to the others, a hypergeometric number. The tie has
//! taken r keys out before the draw, so that min(E, X) of the others win, each with the probability E[min(E, X)]/m.
//! Under groups it has none that is known to us, and the probabilities are simulated.
//!
//! For rules of any other kind the draw goes through everybody who is left in the order of their keys, and whoever still fits has a place.

use super::by_rank::by_rank;
use super::problem::Method;
use super::ranked::{Bounds, Ranked};
use super::rounding::rounded;
use super::solve::{Solved, solve};
use super::structure::{Structure, Tree};
use super::water::levels;
use crate::error::Error;

/// A list by ranks.
#[derive(Debug)]
pub(super) struct Listed {
    pub chosen: Vec<bool>,
    pub by_lot: Vec<bool>,
    /// the probability to be on the list: over all keys where exact, else given what is not
    pub chance: Vec<f64>,
    pub is_exact: bool,
    /// whether it is exact given who has a place by rank
    pub is_exact_given_ranks: bool,
    /// whether places by rank depend on the keys
    pub is_tied: bool,
    pub method: Method,
    pub gap: f64,
}

/// A list under nested rules; `bounds` are those of the places by rank, and all of them.
pub(super) fn laminar(
    ranked: &Ranked,
    [bounds, all]: [&Bounds; 2],
    fill: bool,
    explore: usize,
    tree: &Tree,
) -> Option<Listed> {
    let mut found = by_rank(ranked, bounds, fill, tree)?;
    let is_tied = !found.open.is_empty();
    let is_plain = tree.len() == 1;
    let first = if is_plain { found.by_key } else { rounded(tree, &found.chance, &ranked.key) };
    let mut listed = Listed {
        by_lot: vec![false; first.len()],
        chosen: first,
        chance: found.chance,
        is_exact: true,
        // a formula for ties is over all keys
        is_exact_given_ranks: !is_plain,
        is_tied,
        method: Method::Greedy,
        gap: 0.0,
    };
    let rest: Vec<usize> = (0..ranked.len()).filter(|rank| !listed.chosen[*rank]).collect();
    let explore = explore.min(rest.len());
    if explore == 0 {
        return Some(listed);
    }
    if is_plain {
        by_key(ranked, &rest).into_iter().take(explore).for_each(|rank| listed.by_lot[rank] = true);
        match found.open.first() {
            None => rest.iter().for_each(|rank| listed.chance[*rank] = explore as f64 / rest.len() as f64),
            Some(class) => {
                let tied: Vec<usize> = class.clone().filter(|rank| !bounds.must[*rank]).collect();
                let taken = tied.iter().filter(|rank| listed.chosen[**rank]).count();
                let others = rest.len() - (tied.len() - taken);
                let won = expected_of_others(tied.len(), taken, others, explore);
                for &rank in &rest {
                    listed.chance[rank] = won / others as f64;
                }
                let each = (taken as f64 + explore as f64 - won) / tied.len() as f64;
                tied.iter().for_each(|rank| listed.chance[*rank] = each);
            }
        }
    } else {
        // the loads of the list itself: where ties were shared out, closed nodes have none that is whole
        found.filling.load.fill(0);
        for rank in (0..ranked.len()).filter(|rank| listed.chosen[*rank]) {
            tree.chain(rank).for_each(|node| found.filling.load[node] += 1);
        }
        found.filling.floor.fill(0);
        for node in 1..tree.len() {
            found.filling.cap[node] = all.at_most[tree.set[node] as usize] as i64;
        }
        found.filling.cap[0] = found.filling.load[0] + explore as i64;
        let shares = levels(&mut found.filling, &rest);
        // given the list by rank, everybody is on it or in the draw
        (0..ranked.len()).for_each(|rank| listed.chance[rank] = f64::from(listed.chosen[rank]));
        let mut lot = vec![0.0; ranked.len()];
        rest.iter().zip(shares).for_each(|(rank, share)| lot[*rank] = share);
        rest.iter().for_each(|rank| listed.chance[*rank] = lot[*rank]);
        listed.by_lot = rounded(tree, &lot, &ranked.key);
        listed.is_exact = !is_tied;
    }
    listed.chosen.iter_mut().zip(&listed.by_lot).for_each(|(chosen, lot)| *chosen |= lot);
    Some(listed)
}

/// People in the order of their keys.
fn by_key(ranked: &Ranked, people: &[usize]) -> Vec<usize> {
    let mut order = people.to_vec();
    order.sort_unstable_by_key(|&rank| (ranked.key[rank], ranked.order[rank]));
    order
}

/// E[min(E, X)]: how many of m others win when t people tied for r places before E are drawn.
fn expected_of_others(tied: usize, taken: usize, others: usize, explore: usize) -> f64 {
    let (all, first) = (tied + others, (explore + taken).min(tied + others));
    let least = first.saturating_sub(tied);
    let most = first.min(others);
    // the probability of x + 1 over that of x: it falls with x, and passes 1 at the mode
    let ratio = |x: usize| {
        let (x, first, others, all) = (x as f64, first as f64, others as f64, all as f64);
        (others - x) * (first - x) / ((x + 1.0) * (all - others - first + x + 1.0))
    };
    let mode = (least..most).find(|x| ratio(*x) < 1.0).unwrap_or(most);
    let (mut mass, mut sum) = (0.0, 0.0);
    let mut add = |x: usize, weight: f64| {
        mass += weight;
        sum += weight * x.min(explore) as f64;
    };
    // weights relative to the mode, by multiplication and division alone: the same bits on every machine
    let mut weight = 1.0;
    for x in mode..=most {
        add(x, weight);
        weight *= ratio(x);
    }
    weight = 1.0;
    for x in (least..mode).rev() {
        weight /= ratio(x);
        add(x, weight);
    }
    sum / mass
}

/// A list under rules of any kind; `bounds` are those of the places by rank, and all of them, `fixed` is the list by rank where it is known.
pub(super) fn general(
    ranked: &Ranked,
    [bounds, all]: [&Bounds; 2],
    fill: bool,
    explore: usize,
    structure: &Structure,
    fixed: Option<&[bool]>,
) -> Result<Option<Listed>, Error> {
    let (chosen, is_tied, method, gap) = match fixed {
        Some(fixed) => (fixed.to_vec(), false, Method::Integer, 0.0),
        None => {
            let Some(solved) = solve(ranked, bounds, fill, structure)? else { return Ok(None) };
            let is_tied = is_tied(ranked, bounds, fill, structure, &solved);
            (solved.chosen, is_tied, solved.method, solved.gap)
        }
    };
    let mut by_lot = vec![false; chosen.len()];
    if explore > 0 {
        let rest: Vec<usize> = (0..ranked.len()).filter(|rank| !chosen[*rank]).collect();
        let mut load = vec![0; ranked.sets.len()];
        let cost = |rank: usize| ranked.cost.as_ref().map_or(0.0, |cost| cost[rank]);
        let mut spent = 0.0;
        for rank in (0..ranked.len()).filter(|rank| chosen[*rank]) {
            ranked.sets_of(rank).for_each(|set| load[set] += 1);
            spent += cost(rank);
        }
        let mut left = explore;
        for rank in by_key(ranked, &rest) {
            let has_room = ranked.sets_of(rank).all(|set| load[set] < all.at_most[set]);
            if left > 0 && has_room && spent + cost(rank) <= all.most_cost {
                by_lot[rank] = true;
                ranked.sets_of(rank).for_each(|set| load[set] += 1);
                spent += cost(rank);
                left -= 1;
            }
        }
    }
    let chosen: Vec<bool> = chosen.iter().zip(&by_lot).map(|(rank, lot)| rank | lot).collect();
    let chance = chosen.iter().map(|chosen| f64::from(*chosen)).collect();
    let is_exact = explore == 0 && !is_tied;
    Ok(Some(Listed {
        chosen,
        by_lot,
        chance,
        is_exact,
        is_exact_given_ranks: is_exact,
        is_tied,
        method,
        gap,
    }))
}

/// Whether the list by rank may depend on the keys.
fn is_tied(ranked: &Ranked, bounds: &Bounds, fill: bool, structure: &Structure, solved: &Solved) -> bool {
    match (&solved.flowed, structure) {
        (Some(flowed), _) => flowed.is_tied(&solved.chosen),
        (None, Structure::Laminar(tree)) if solved.method == Method::Greedy => {
            by_rank(ranked, bounds, fill, tree).is_some_and(|found| !found.open.is_empty())
        }
        // a programme sees keys by the order of equal values only
        _ => ranked.value.windows(2).any(|pair| pair[0] == pair[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::expected_of_others;

    /// C(n, k), exact up to 2¹²⁷.
    fn choose(n: u128, k: u128) -> u128 {
        if k > n { 0 } else { (0..k).fold(1, |product, i| product * (n - i) / (i + 1)) }
    }

    #[test]
    fn expected_of_others_is_the_sum_over_the_hypergeometric_distribution() {
        for tied in 1..9usize {
            for taken in 0..tied {
                for others in 1..9usize {
                    for explore in 1..=others + tied - taken {
                        let first = explore + taken;
                        let (mut ways, mut won) = (0, 0);
                        for x in 0..=first.min(others) {
                            let of =
                                choose(others as u128, x as u128) * choose(tied as u128, (first - x) as u128);
                            ways += of;
                            won += of * x.min(explore) as u128;
                        }
                        let expected = won as f64 / ways as f64;
                        let found = expected_of_others(tied, taken, others, explore);
                        // sums of at most nine rounded weights
                        assert!((found - expected).abs() <= 1e-14 * expected.max(1.0), "{found} {expected}");
                    }
                }
            }
        }
        // ten standard deviations below 5,000, the minimum is the hypergeometric number itself, whose mean is 5,100 · 900,000/950,000
        let large = expected_of_others(50_000, 100, 900_000, 5_000);
        assert!((large - 5_100.0 * 900.0 / 950.0).abs() < 1e-8, "{large}");
    }
}
