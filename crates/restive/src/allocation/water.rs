//! Equal people share what is left: everybody's chance rises at the same rate until a set that holds them is full.
//!
//! # What it is
//! Some people have an equal claim on the places that a [`Filling`] leaves: they tie, or they are in the draw. At time t everybody has
//! the chance t. What reaches a node is the sum of what comes from its children and of those directly in it; it is taken up by the
//! places kept back for the node's floor as long as there are any (until A), the rest goes on to the parent, until the
//! node is full (at T). Whoever is held up stays at that time: someone in a node stays at
//!
//! ```text
//! E(node) = min(T, max(A, E(parent)))       chance = min(1, E(innermost node))
//! ```
//!
//! because a full node above does not hold up whom a floor below still has places for.
//!
//! # Why whole numbers remain
//! Someone whose chance is a fraction is held up by a full node, and between the two no place is kept back. Everything that goes on from
//! a full node, or comes to a node where places are still to be had, is therefore a whole number: after the class has its
//! chances, nodes that are still open have whole loads, and the next class finds them as if places had been given to persons.
//!
//! # How it is computed
//! What goes on from a node is piecewise linear in t with whole slopes: a list of times at which the slope changes. Lists are joined
//! from the leaves to the root, O(n log n) on each level of the tree.

use super::greedy::Filling;

/// The chances of people with an equal claim, who are not chosen yet, and the filling after them.
pub(super) fn levels(filling: &mut Filling<'_>, people: &[usize]) -> Vec<f64> {
    let tree = filling.tree;
    let mut nodes: Vec<usize> = people.iter().flat_map(|&rank| tree.chain(rank)).collect();
    nodes.sort_unstable_by(|a, b| b.cmp(a));
    nodes.dedup();
    let place = |node: usize| nodes.partition_point(|other| *other > node);
    let leaf: Vec<usize> = people.iter().map(|&rank| place(tree.leaf[rank] as usize)).collect();
    let parent: Vec<usize> = nodes.iter().map(|&node| place(tree.parent[node] as usize)).collect();
    let kept: Vec<i64> =
        nodes.iter().map(|&node| (filling.floor[node] - filling.load[node]).max(0)).collect();
    let room: Vec<i64> =
        nodes.iter().map(|&node| filling.cap[node] - filling.load[node].max(filling.floor[node])).collect();
    let mut direct = vec![0i64; nodes.len()];
    leaf.iter().for_each(|&at| direct[at] += 1);
    let mut coming: Vec<Vec<(f64, i64)>> = direct.into_iter().map(|count| vec![(0.0, count)]).collect();
    let (mut absorbed, mut full) = (vec![0.0; nodes.len()], vec![0.0; nodes.len()]);
    for at in 0..nodes.len() {
        let mut changes = std::mem::take(&mut coming[at]);
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        absorbed[at] = reaches(&changes, kept[at]);
        full[at] = reaches(&changes, kept[at] + room[at]);
        if parent[at] != at {
            onward(&changes, absorbed[at], full[at], &mut coming[parent[at]]);
        }
    }
    let mut end = vec![0.0f64; nodes.len()];
    for at in (0..nodes.len()).rev() {
        let above = if parent[at] == at { f64::INFINITY } else { end[parent[at]] };
        end[at] = full[at].min(above.max(absorbed[at]));
    }
    let chance: Vec<f64> = leaf.iter().map(|&at| end[at].min(1.0)).collect();
    let mut arrived = vec![0.0; nodes.len()];
    leaf.iter().zip(&chance).for_each(|(&at, chance)| arrived[at] += chance);
    for at in 0..nodes.len() {
        filling.load[nodes[at]] += arrived[at].round() as i64;
        let passed = (arrived[at] - kept[at] as f64).clamp(0.0, room[at] as f64);
        if parent[at] != at {
            arrived[parent[at]] += passed;
        }
    }
    chance
}

/// When the sum reaches a level; infinite where it does not by time 1.
fn reaches(changes: &[(f64, i64)], level: i64) -> f64 {
    if level <= 0 {
        return 0.0;
    }
    let (mut time, mut sum, mut slope) = (0.0, 0.0, 0);
    for &(next, change) in changes.iter().chain([&(1.0, 0)]) {
        let then = sum + slope as f64 * (next - time);
        if slope > 0 && then >= level as f64 {
            return time + (level as f64 - sum) / slope as f64;
        }
        (time, sum, slope) = (next, then, slope + change);
    }
    f64::INFINITY
}

/// What goes on between two times.
fn onward(changes: &[(f64, i64)], from: f64, to: f64, out: &mut Vec<(f64, i64)>) {
    if !(from < to) || from >= 1.0 {
        return;
    }
    let mut slope: i64 = changes.iter().filter(|(time, _)| *time <= from).map(|(_, change)| change).sum();
    out.push((from, slope));
    for &(time, change) in changes.iter().filter(|(time, _)| from < *time && *time < to) {
        slope += change;
        out.push((time, change));
    }
    if to < 1.0 {
        out.push((to, -slope));
    }
}
