//! The smallest conflict of nested rules.
//!
//! # What it is
//! In a tree a conflict is one of two kinds. Either the cap of a set (or K) is below the sum of floors and must-calls of disjoint sets
//! inside it, or the floor of a set is above what caps of disjoint sets inside it leave, with everybody outside those. Why: if
//! a node needs more than it can have and none of its children does, then its need is its floor, or its limit is its cap.
//!
//! # How it is computed
//! From the leaves to the root: the most that c floors and must-calls inside a set can demand, and the fewest that c caps inside it
//! can leave, for every c up to a limit. Children are joined as in a knapsack. The limit grows until a conflict is found, so that the
//! work is O(rules · size of the conflict).

use super::conflict::Rule;
use super::greedy::{cap_of, floor_of};
use super::ranked::Bounds;
use super::structure::Tree;

/// How a number of rules was spent.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// the rule of a set
    Set(usize),
    /// the first must-calls that stand directly in a node
    Musts(usize, usize),
    /// both
    Both(u32, u32),
}

/// No choice.
const NOTHING: u32 = u32::MAX;

/// For every number of rules: what they make, and which they are.
type Curve = Vec<(i64, u32)>;

/// The smallest conflict; there is one.
pub(super) fn smallest_in_tree(bounds: &Bounds, tree: &Tree) -> Vec<Rule> {
    let mut limit = 2;
    loop {
        if let Some(found) = within(bounds, tree, limit) {
            return found;
        }
        // every rule once: a conflict is found before
        if limit > 2 * tree.len() + tree.leaf.len() {
            return Vec::new();
        }
        limit *= 4;
    }
}

/// The smallest conflict of at most `limit` rules beside the one that they break.
fn within(bounds: &Bounds, tree: &Tree, limit: usize) -> Option<Vec<Rule>> {
    let nodes = tree.len();
    let mut choices: Vec<Choice> = Vec::new();
    let (mut people, mut musts) = (vec![0i64; nodes], vec![0usize; nodes]);
    for (rank, &leaf) in tree.leaf.iter().enumerate() {
        people[leaf as usize] += 1;
        musts[leaf as usize] += usize::from(bounds.must[rank]);
    }
    // what caps leave is asked only below a floor
    let mut is_below_floor = vec![false; nodes];
    for node in 1..nodes {
        is_below_floor[node] = floor_of(tree, bounds, node) > 0 || is_below_floor[tree.parent[node] as usize];
    }
    let mut demand: Vec<Curve> = vec![vec![(0, NOTHING)]; nodes];
    let mut left: Vec<Curve> = people.iter().map(|people| vec![(*people, NOTHING)]).collect();
    let mut best: Option<(usize, Rule, u32, bool)> = None;
    let mut offer = |size: usize, rule: Rule, choice: u32, is_demand: bool| {
        if best.as_ref().is_none_or(|(old, ..)| size < *old) {
            best = Some((size, rule, choice, is_demand));
        }
    };
    for node in (0..nodes).rev() {
        let set = tree.set[node] as usize;
        let (floor, cap) = (floor_of(tree, bounds, node) as i64, cap_of(tree, bounds, node) as i64);
        let mut inside = std::mem::take(&mut demand[node]);
        if musts[node] > 0 {
            let mut direct = vec![(0, NOTHING)];
            for count in 1..=musts[node].min(limit) {
                choices.push(Choice::Musts(node, count));
                direct.push((count as i64, choices.len() as u32 - 1));
            }
            inside = joined(&inside, &direct, limit, &mut choices, |a, b| a > b);
        }
        if floor > 0 {
            choices.push(Choice::Set(node));
            with(&mut inside, floor, choices.len() as u32 - 1, |a, b| a > b);
        }
        if let Some(count) = inside.iter().position(|(sum, _)| *sum > cap) {
            let rule = if node == 0 { Rule::Places } else { Rule::AtMost(set) };
            offer(count + 1, rule, inside[count].1, true);
        }
        let mut remaining = std::mem::take(&mut left[node]);
        if let Some(count) = remaining.iter().position(|(sum, _)| *sum < floor) {
            offer(count + 1, Rule::AtLeast(set), remaining[count].1, false);
        }
        if node == 0 {
            continue;
        }
        let parent = tree.parent[node] as usize;
        demand[parent] = joined(&demand[parent], &inside, limit, &mut choices, |a, b| a > b);
        if is_below_floor[parent] {
            choices.push(Choice::Set(node));
            with(&mut remaining, cap, choices.len() as u32 - 1, |a, b| a < b);
            left[parent] = joined(&left[parent], &remaining, limit, &mut choices, |a, b| a < b);
        }
    }
    let (_, rule, choice, is_demand) = best?;
    let mut found = vec![rule];
    let mut open = vec![choice];
    while let Some(choice) = open.pop() {
        match choices.get(choice as usize) {
            None => {}
            Some(&Choice::Both(a, b)) => open.extend([a, b]),
            Some(&Choice::Set(node)) if is_demand => found.push(Rule::AtLeast(tree.set[node] as usize)),
            Some(&Choice::Set(node)) => found.push(Rule::AtMost(tree.set[node] as usize)),
            Some(&Choice::Musts(node, count)) => {
                let here = |rank: &usize| tree.leaf[*rank] as usize == node && bounds.must[*rank];
                found.extend((0..tree.leaf.len()).filter(here).take(count).map(Rule::Must));
            }
        }
    }
    Some(found)
}

/// The best of what two parts make of a number of rules together.
fn joined(
    a: &Curve,
    b: &Curve,
    limit: usize,
    choices: &mut Vec<Choice>,
    beats: fn(i64, i64) -> bool,
) -> Curve {
    let length = (a.len() + b.len() - 1).min(limit + 1);
    let mut best: Vec<Option<(i64, usize, usize)>> = vec![None; length];
    for (i, (x, _)) in a.iter().enumerate() {
        for (j, (y, _)) in b.iter().enumerate().take(length.saturating_sub(i)) {
            if best[i + j].is_none_or(|(old, ..)| beats(x + y, old)) {
                best[i + j] = Some((x + y, i, j));
            }
        }
    }
    let mut out: Curve = Vec::with_capacity(length);
    for (sum, i, j) in best.into_iter().flatten() {
        // a further rule that brings nothing is none
        if let Some(&(before, choice)) = out.last()
            && !beats(sum, before)
        {
            out.push((before, choice));
            continue;
        }
        let choice = match (a[i].1, b[j].1) {
            (NOTHING, choice) | (choice, NOTHING) => choice,
            (x, y) => {
                choices.push(Choice::Both(x, y));
                choices.len() as u32 - 1
            }
        };
        out.push((sum, choice));
    }
    while out.len() > 1 && out[out.len() - 1].0 == out[out.len() - 2].0 {
        out.pop();
    }
    out
}

/// A curve with one rule more that can be had instead of all others.
fn with(curve: &mut Curve, sum: i64, choice: u32, beats: fn(i64, i64) -> bool) {
    if curve.len() == 1 {
        curve.push(curve[0]);
    }
    for entry in curve.iter_mut().skip(1) {
        if beats(sum, entry.0) {
            *entry = (sum, choice);
        }
    }
    while curve.len() > 1 && curve[curve.len() - 1].0 == curve[curve.len() - 2].0 {
        curve.pop();
    }
}
