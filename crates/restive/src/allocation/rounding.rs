//! From chances to a list that has them (the pivotal method, innermost sets first).
//!
//! Two people with fractions p and q as chances meet: one takes from the other until one of them has 0 or 1, at odds that leave both
//! chances what they were. With s = p + q,
//!
//! ```text
//! s < 1:  (s, 0) with probability p/s, else (0, s)        s ≥ 1:  (1, s − 1) with probability (1 − q)/(2 − s), else (s − 1, 1)
//! ```
//!
//! People meet within their innermost set first, in the order of their keys; whoever is left with a fraction goes on to the set around
//! it. So every set ends with its expected number of places, rounded up or down: caps and floors are kept, and as the
//! expected value is the best there is, every single list is worth it. The number that decides a meeting is a hash of both
//! keys: the same keys give the same list, in whatever order people are stored.

use super::key::uniform;
use super::structure::Tree;
use std::collections::BTreeMap;

/// A chance so near to 0 or 1 is one.
const NEAR: f64 = 1e-9;

/// A list in which everybody has their chance.
pub(super) fn rounded(tree: &Tree, chance: &[f64], key: &[u64]) -> Vec<bool> {
    let mut chosen: Vec<bool> = chance.iter().map(|p| *p > 1.0 - NEAR).collect();
    let mut open: BTreeMap<u32, Vec<(u64, usize, f64)>> = BTreeMap::new();
    for (rank, &p) in chance.iter().enumerate() {
        if p > NEAR && p <= 1.0 - NEAR {
            open.entry(tree.leaf[rank]).or_default().push((key[rank], rank, p));
        }
    }
    while let Some((node, mut people)) = open.pop_last() {
        people.sort_unstable_by_key(|&(key, rank, _)| (key, rank));
        let mut last: Option<(u64, usize, f64)> = None;
        for next in people {
            let Some(before) = last.take() else {
                last = Some(next);
                continue;
            };
            let (p, q) = (before.2, next.2);
            let s = p + q;
            let is_before = |odds: f64| uniform(before.0, next.0) < odds;
            // who goes on with a fraction; whoever has met 0 or 1 stays there
            let (goes, left) = if (s - 1.0).abs() <= NEAR {
                chosen[if is_before(p / s) { before.1 } else { next.1 }] = true;
                continue;
            } else if s < 1.0 {
                (if is_before(p / s) { before } else { next }, s)
            } else if is_before((1.0 - q) / (2.0 - s)) {
                chosen[before.1] = true;
                (next, s - 1.0)
            } else {
                chosen[next.1] = true;
                (before, s - 1.0)
            };
            match left {
                left if left <= NEAR => {}
                left if left > 1.0 - NEAR => chosen[goes.1] = true,
                left => last = Some((goes.0, goes.1, left)),
            }
        }
        match last {
            Some(last) if node > 0 => open.entry(tree.parent[node as usize]).or_default().push(last),
            // all places together are a whole number: what is left of it is rounding
            Some(last) => chosen[last.1] = last.2 > 0.5,
            None => {}
        }
    }
    chosen
}
