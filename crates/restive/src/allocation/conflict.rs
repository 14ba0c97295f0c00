//! Which rules cannot all be met: as few as possible.
//!
//! Nested rules have conflicts of two kinds only, and the smallest is [found exactly](super::smallest). For other rules, any conflict is
//! made irreducible by halving (Junker's QuickXplain): a part of the rules is needed only if the others are not in conflict
//! without it. Where the rules are few, the smallest one is found by hitting sets: every conflict shares a rule
//! with every set of rules whose removal helps, so a smallest set of rules that meets all such sets found so far is either in
//! conflict, and then no conflict is smaller, or leads to a further such set.

use super::flow::flow;
use super::greedy::{Filling, missing as missing_in_tree};
use super::integer::{Found, any_list, missing as missing_in_programme};
use super::ranked::{Bounds, Ranked};
use super::refusal::{Conflict, RuleRef};
use super::smallest::smallest_in_tree;
use super::structure::{Structure, Tree};

/// Rules up to which a smallest conflict is looked for by hitting sets.
const FEW: usize = 40;

/// Hitting sets tried at most, and branches in the search for each.
const ROUNDS: usize = 300;
const BRANCHES: usize = 200_000;

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Places,
    AtLeast(usize),
    AtMost(usize),
    Must(usize),
    Cost,
}

/// The conflict of rules that cannot all be met.
pub(super) fn conflict(ranked: &Ranked, bounds: &Bounds, structure: &Structure) -> Conflict {
    let with_cost = ranked.cost.is_some() && bounds.most_cost.is_finite();
    let oracle = |rules: &[Rule]| is_feasible(ranked, &only(ranked, bounds, rules), structure);
    let (rules, is_smallest) = match structure {
        Structure::Laminar(tree) if !with_cost => (smallest_in_tree(bounds, tree), true),
        _ => {
            let all = rules(ranked, bounds);
            let in_one = match structure {
                Structure::Laminar(tree) => in_tree(bounds, tree),
                Structure::Two(first, second) => in_tree(bounds, first).or_else(|| in_tree(bounds, second)),
                Structure::Other => None,
            };
            let some = in_one.unwrap_or_else(|| irreducible(&oracle, &[], false, &all));
            let fewest = if all.len() <= FEW { by_hitting(&oracle, &all, some.len()) } else { None };
            match fewest {
                Some(Some(fewer)) => (fewer, true),
                Some(None) => (some, true),
                None => (some, false),
            }
        }
    };
    let missing = match structure {
        Structure::Laminar(tree) if !with_cost => missing_in_tree(bounds, tree),
        Structure::Two(first, second) if !with_cost => {
            flow(ranked, &vec![0.0; ranked.len()], bounds, false, (first, second)).missing
        }
        _ => missing_in_programme(ranked, bounds),
    };
    Conflict { rules: named(ranked, &rules), is_smallest, missing }
}

fn in_tree(bounds: &Bounds, tree: &Tree) -> Option<Vec<Rule>> {
    Filling::new(tree, bounds).is_none().then(|| smallest_in_tree(bounds, tree))
}

/// All rules that say something.
fn rules(ranked: &Ranked, bounds: &Bounds) -> Vec<Rule> {
    let mut all = vec![Rule::Places];
    let sets = 0..ranked.sets.len();
    all.extend(sets.clone().filter(|set| bounds.at_most[*set] < ranked.sets[*set].size).map(Rule::AtMost));
    all.extend(sets.filter(|set| bounds.at_least[*set] > 0).map(Rule::AtLeast));
    all.extend((0..ranked.len()).filter(|rank| bounds.must[*rank]).map(Rule::Must));
    if bounds.most_cost.is_finite() {
        all.push(Rule::Cost);
    }
    all
}

/// The bounds with these rules and no other.
fn only(ranked: &Ranked, bounds: &Bounds, rules: &[Rule]) -> Bounds {
    let mut kept = Bounds {
        places: ranked.len(),
        at_least: vec![0; ranked.sets.len()],
        at_most: ranked.sets.iter().map(|set| set.size).collect(),
        must: vec![false; ranked.len()],
        most_cost: f64::INFINITY,
    };
    for rule in rules {
        match *rule {
            Rule::Places => kept.places = bounds.places,
            Rule::AtLeast(set) => kept.at_least[set] = bounds.at_least[set],
            Rule::AtMost(set) => kept.at_most[set] = bounds.at_most[set],
            Rule::Must(rank) => kept.must[rank] = true,
            Rule::Cost => kept.most_cost = bounds.most_cost,
        }
    }
    kept
}

/// Whether some list keeps the rules: the one that costs least, if it must not cost much. What is too hard to tell counts as feasible.
fn is_feasible(ranked: &Ranked, bounds: &Bounds, structure: &Structure) -> bool {
    let cost = |rank: usize| ranked.cost.as_ref().map_or(0.0, |cost| cost[rank]);
    match structure {
        Structure::Laminar(tree) => {
            let Some(mut filling) = Filling::new(tree, bounds) else { return false };
            filling.close();
            let mut order: Vec<usize> = (0..ranked.len()).filter(|rank| !bounds.must[*rank]).collect();
            order.sort_by(|&i, &j| cost(i).total_cmp(&cost(j)));
            let mut chosen = bounds.must.clone();
            for rank in order {
                if filling.fits(rank) {
                    filling.take(rank);
                    chosen[rank] = true;
                }
            }
            ranked.is_affordable(&chosen, bounds)
        }
        Structure::Two(first, second) => {
            let cheap: Vec<f64> = (0..ranked.len()).map(|rank| -cost(rank)).collect();
            let found = flow(ranked, &cheap, bounds, false, (first, second));
            found.missing == 0 && ranked.is_affordable(&found.chosen, bounds)
        }
        Structure::Other => !matches!(any_list(ranked, bounds), Found::Infeasible),
    }
}

/// The part of `open` that a conflict needs beside `base`; `is_new` where base has grown since it was last looked at.
fn irreducible(
    is_feasible: &impl Fn(&[Rule]) -> bool,
    base: &[Rule],
    is_new: bool,
    open: &[Rule],
) -> Vec<Rule> {
    if is_new && !is_feasible(base) {
        return Vec::new();
    }
    if open.len() <= 1 {
        return open.to_vec();
    }
    let (left, right) = open.split_at(open.len() / 2);
    let join = |a: &[Rule], b: &[Rule]| [a, b].concat();
    let from_right = irreducible(is_feasible, &join(base, left), true, right);
    let from_left = irreducible(is_feasible, &join(base, &from_right), !from_right.is_empty(), left);
    join(&from_left, &from_right)
}

/// A conflict of fewer than `size` rules, or nothing where there is none; nothing at all where that is too hard to tell.
fn by_hitting(
    is_feasible: &impl Fn(&[Rule]) -> bool,
    all: &[Rule],
    size: usize,
) -> Option<Option<Vec<Rule>>> {
    let picked =
        |mask: u64| -> Vec<Rule> { (0..all.len()).filter(|k| mask >> k & 1 == 1).map(|k| all[k]).collect() };
    let mut to_hit: Vec<u64> = Vec::new();
    for _ in 0..ROUNDS {
        let mut branches = BRANCHES;
        let hitting = (0..size).find_map(|most| hit(&to_hit, 0, most, &mut branches));
        if branches == 0 {
            return None;
        }
        let Some(mut kept) = hitting else { return Some(None) };
        if !is_feasible(&picked(kept)) {
            return Some(Some(picked(kept)));
        }
        for k in 0..all.len() {
            if kept >> k & 1 == 0 && is_feasible(&picked(kept | 1 << k)) {
                kept |= 1 << k;
            }
        }
        to_hit.push(!kept & ((1 << all.len()) - 1));
    }
    None
}

/// At most so many more rules that meet all sets.
fn hit(to_hit: &[u64], chosen: u64, most: usize, branches: &mut usize) -> Option<u64> {
    let open = to_hit.iter().filter(|set| **set & chosen == 0).min_by_key(|set| set.count_ones());
    let Some(&open) = open else { return Some(chosen) };
    if most == 0 || *branches == 0 {
        return None;
    }
    *branches -= 1;
    (0..64).filter(|k| open >> k & 1 == 1).find_map(|k| hit(to_hit, chosen | 1 << k, most - 1, branches))
}

/// Rules by their names, must-calls together.
fn named(ranked: &Ranked, rules: &[Rule]) -> Vec<RuleRef> {
    let mut names = Vec::new();
    let mut people = Vec::new();
    for rule in rules {
        let place = |set: usize| (ranked.sets[set].family, ranked.sets[set].group);
        names.push(match *rule {
            Rule::Places => RuleRef::Places,
            Rule::AtLeast(set) => RuleRef::AtLeast { family: place(set).0, group: place(set).1 },
            Rule::AtMost(set) => RuleRef::AtMost { family: place(set).0, group: place(set).1 },
            Rule::Cost => RuleRef::Cost,
            Rule::Must(rank) => {
                people.push(ranked.order[rank] as usize);
                continue;
            }
        });
    }
    people.sort_unstable();
    if !people.is_empty() {
        names.push(RuleRef::Must { people });
    }
    names.sort();
    names
}
