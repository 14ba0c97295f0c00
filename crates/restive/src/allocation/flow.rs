//! Two systems of nested rules that cross: a flow of least cost.
//!
//! Unit after unit goes along the shortest path of the [network](super::network) that is left (successive shortest paths, with
//! potentials, so that every search is one by Dijkstra that ends at the sink). A flow so built is the cheapest of its size, and path
//! costs only rise; it ends where no path is left, where K is reached, where a path would cost a floor or a must-call or,
//! if value alone counts, where a path brings nothing. A search looks at each cell at most twice: O(K · cells) at worst.

use super::network::{Network, Price};
use super::ranked::{Bounds, Ranked};
use super::structure::Tree;
use crate::interrupt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A list found by a flow.
#[derive(Debug)]
pub(super) struct Flowed {
    pub chosen: Vec<bool>,
    /// floors and must-calls that are not met
    pub missing: usize,
    pub network: Network,
    /// per node; nothing where no unit can come to
    pub potential: Vec<Option<Price>>,
}

/// How a path came to a node.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// along the arc between a node and its parent
    Tree(usize),
    Cell(usize),
}

/// The best list for these values.
pub(super) fn flow(
    ranked: &Ranked,
    value: &[f64],
    bounds: &Bounds,
    fill: bool,
    trees: (&Tree, &Tree),
) -> Flowed {
    let mut network = Network::new(ranked, value, bounds, trees.0, trees.1);
    let mut potential = first_potentials(&network);
    let sink = network.split;
    let mut served = 0;
    let mut search = Search::new(network.parent.len());
    if potential[sink].is_some() {
        for _ in 0..bounds.places {
            interrupt::check();
            if !search.run(&network, &mut potential) {
                break;
            }
            let at = |node: usize| potential[node].unwrap_or_default();
            let path = at(sink) - at(0);
            let is_worth = path.rules < 0 || path.rules == 0 && (fill || path.value < 0);
            if !is_worth {
                break;
            }
            served -= path.rules;
            search.augment(&mut network);
        }
    }
    let mut chosen = vec![false; ranked.len()];
    network.taken().for_each(|rank| chosen[rank] = true);
    let missing = (network.wanted - served) as usize;
    Flowed { chosen, missing, network, potential }
}

/// The shortest distances in the empty network, which has no circle.
fn first_potentials(network: &Network) -> Vec<Option<Price>> {
    let mut distance: Vec<Option<Price>> = vec![None; network.parent.len()];
    let lower = |old: &mut Option<Price>, new: Price| *old = Some(old.map_or(new, |old| old.min(new)));
    distance[0] = Some(Price::default());
    for node in 1..network.split {
        let above = distance[network.parent[node]];
        distance[node] = above.zip(network.more(node)).map(|(above, more)| above + more);
    }
    for cell in &network.cells {
        if let Some((from, next)) = distance[cell.a as usize].zip(cell.next) {
            lower(&mut distance[cell.b as usize], from + next);
        }
    }
    for node in (network.split + 1..network.parent.len()).rev() {
        if let Some((from, more)) = distance[node].zip(network.more(node)) {
            lower(&mut distance[network.parent[node]], from + more);
        }
    }
    distance
}

/// Dijkstra's search from root to root, in memory that is used again.
struct Search {
    distance: Vec<Price>,
    came: Vec<Option<(usize, Step)>>,
    /// the round in which a node was seen and settled
    seen: Vec<usize>,
    settled: Vec<usize>,
    round: usize,
    heap: BinaryHeap<Reverse<(Price, usize)>>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Self {
            distance: vec![Price::default(); nodes],
            came: vec![None; nodes],
            seen: vec![0; nodes],
            settled: vec![0; nodes],
            round: 0,
            heap: BinaryHeap::new(),
        }
    }

    /// Finds the shortest path and moves the potentials, so that no arc that is left has a negative cost beside them.
    fn run(&mut self, network: &Network, potential: &mut [Option<Price>]) -> bool {
        self.round += 1;
        self.heap.clear();
        self.reach(0, Price::default(), None);
        let sink = network.split;
        let mut done = Vec::new();
        let mut end = None;
        while let Some(Reverse((distance, node))) = self.heap.pop() {
            if self.settled[node] == self.round {
                continue;
            }
            self.settled[node] = self.round;
            if node == sink {
                end = Some(distance);
                break;
            }
            done.push(node);
            let Some(here) = potential[node] else { continue };
            let potential = &*potential;
            arcs(network, node, |to, price, step| {
                if let Some(there) = potential[to] {
                    let distance = distance + price + here - there;
                    // farther than the sink is of no use
                    if self.seen[sink] != self.round || distance < self.distance[sink] {
                        self.reach(to, distance, Some((node, step)));
                    }
                }
            });
        }
        let Some(end) = end else { return false };
        for node in done {
            potential[node] = potential[node].map(|old| old + self.distance[node] - end);
        }
        true
    }

    fn reach(&mut self, node: usize, distance: Price, from: Option<(usize, Step)>) {
        if self.seen[node] != self.round || distance < self.distance[node] {
            (self.seen[node], self.distance[node], self.came[node]) = (self.round, distance, from);
            self.heap.push(Reverse((distance, node)));
        }
    }

    /// Sends a unit along the path that was found.
    fn augment(&self, network: &mut Network) {
        let mut node = network.split;
        while let Some((from, step)) = self.came[node] {
            match step {
                Step::Tree(child) => {
                    // down the first tree and up the second is with the flow
                    let is_with = (child < network.split) == (node == child);
                    if is_with { network.flow[child] += 1 } else { network.flow[child] -= 1 }
                }
                Step::Cell(cell) => network.change(cell, from < network.split),
            }
            node = from;
        }
    }
}

/// The arcs that are left from a node: where to, at what price.
fn arcs(network: &Network, node: usize, mut visit: impl FnMut(usize, Price, Step)) {
    let is_first = node < network.split;
    if node != 0 && node != network.split {
        let price = if is_first { network.less(node) } else { network.more(node) };
        price.into_iter().for_each(|price| visit(network.parent[node], price, Step::Tree(node)));
    }
    for &child in &network.children[node] {
        let price = if is_first { network.more(child) } else { network.less(child) };
        price.into_iter().for_each(|price| visit(child, price, Step::Tree(child)));
    }
    for &position in &network.cells_of[node] {
        let cell = &network.cells[position as usize];
        let (price, to) = if is_first { (cell.next, cell.b) } else { (cell.last, cell.a) };
        price.into_iter().for_each(|price| visit(to as usize, price, Step::Cell(position as usize)));
    }
}

impl Flowed {
    /// Whether another list is worth as much as the one chosen: a circle of arcs that cost nothing beside the potentials goes through
    /// a person, or somebody chosen has an equal who was left out with a dissolved set.
    pub(super) fn is_tied(&self, chosen: &[bool]) -> bool {
        let nodes = self.network.parent.len();
        let mut onward = vec![Vec::new(); nodes];
        for node in 0..nodes {
            arcs(&self.network, node, |to, price, _| {
                if let (Some(here), Some(there)) = (self.potential[node], self.potential[to]) {
                    let beside = price + here - there;
                    if (beside.rules, beside.value) == (0, 0) {
                        onward[node].push(to);
                    }
                }
            });
        }
        let part = components(&onward);
        let is_open = |node: usize| {
            let crosses = |to: &usize| (*to < self.network.split) != (node < self.network.split);
            onward[node].iter().any(|to| crosses(to) && part[*to] == part[node])
        };
        self.network.kept_at_a_tie.iter().any(|rank| chosen[*rank as usize]) || (0..nodes).any(is_open)
    }
}

/// The strongly connected component of each node (two searches, the second against the arcs).
fn components(onward: &[Vec<usize>]) -> Vec<usize> {
    let nodes = onward.len();
    let mut back = vec![Vec::new(); nodes];
    for (from, to) in onward.iter().enumerate() {
        to.iter().for_each(|to| back[*to].push(from));
    }
    let mut left = Vec::new();
    let mut is_seen = vec![false; nodes];
    for first in 0..nodes {
        let mut stack = if std::mem::replace(&mut is_seen[first], true) { vec![] } else { vec![(first, 0)] };
        while let Some((node, next)) = stack.pop() {
            match onward[node].get(next) {
                Some(&to) => {
                    stack.push((node, next + 1));
                    if !std::mem::replace(&mut is_seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => left.push(node),
            }
        }
    }
    let mut part = vec![usize::MAX; nodes];
    for &first in left.iter().rev() {
        let mut stack = if part[first] == usize::MAX { vec![first] } else { vec![] };
        while let Some(node) = stack.pop() {
            part[node] = first;
            stack.extend(back[node].iter().filter(|from| part[**from] == usize::MAX));
        }
    }
    part
}
