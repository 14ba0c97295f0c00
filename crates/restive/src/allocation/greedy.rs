//! Nested rules: by rank, with places kept back for floors.
//!
//! # What it is
//! Lists that keep caps and floors of nested groups form a generalised matroid, and the lists that can still be completed to one form a
//! matroid. So whoever comes first by rank takes a place if the list can be completed afterwards, and that is optimal.
//!
//! # How it is computed
//! A node of the tree *needs* as many places as its floor says, or as its children need with those already chosen, whichever is
//! more: need = max(floor, s), s = Σ need of the children + chosen outside them. A person who takes a place raises s of the
//! innermost node; where s is still at most the floor, the place was kept back for such a person and nothing changes above.
//! Otherwise the need rises, and the node above hears of it. The person fits if no need would rise above its cap. A person costs as
//! many operations as groups hold it, after the sorting.
//!
//! Where value alone counts, the root is closed at the first person who is worth nothing: from there on only places kept back are
//! taken.

use super::ranked::{Bounds, Ranked};
use super::structure::Tree;

/// How full the nodes of a tree are.
#[derive(Debug, Clone)]
pub(super) struct Filling<'a> {
    pub tree: &'a Tree,
    pub floor: Vec<i64>,
    pub cap: Vec<i64>,
    /// s: what the children need, with those chosen outside of them
    pub load: Vec<i64>,
}

impl<'a> Filling<'a> {
    /// Nobody chosen yet but those who must be; nothing where the rules cannot be met.
    pub(super) fn new(tree: &'a Tree, bounds: &Bounds) -> Option<Self> {
        let nodes = tree.len();
        let (mut floor, mut cap) = (vec![0; nodes], vec![bounds.places as i64; nodes]);
        for node in 1..nodes {
            let set = tree.set[node] as usize;
            (floor[node], cap[node]) = (bounds.at_least[set] as i64, bounds.at_most[set] as i64);
        }
        let (mut load, mut supply) = (vec![0i64; nodes], vec![0i64; nodes]);
        for (rank, &leaf) in tree.leaf.iter().enumerate() {
            supply[leaf as usize] += 1;
            load[leaf as usize] += i64::from(bounds.must[rank]);
        }
        for node in (0..nodes).rev() {
            let need = floor[node].max(load[node]);
            let can = cap[node].min(supply[node]);
            if need > can {
                return None;
            }
            if node > 0 {
                load[tree.parent[node] as usize] += need;
                supply[tree.parent[node] as usize] += can;
            }
        }
        Some(Self { tree, floor, cap, load })
    }

    /// Whether the person can take a place.
    pub(super) fn fits(&self, rank: usize) -> bool {
        for node in self.tree.chain(rank) {
            if self.load[node] < self.floor[node] {
                return true;
            }
            if self.load[node] >= self.cap[node] {
                return false;
            }
        }
        true
    }

    /// The person takes a place.
    pub(super) fn take(&mut self, rank: usize) {
        for node in self.tree.chain(rank) {
            self.load[node] += 1;
            if self.load[node] <= self.floor[node] {
                return;
            }
        }
    }

    /// The last person to take a place gives it back.
    pub(super) fn give_back(&mut self, rank: usize) {
        for node in self.tree.chain(rank) {
            self.load[node] -= 1;
            if self.load[node] < self.floor[node] {
                return;
            }
        }
    }

    /// From here on only places kept back for floors are taken.
    pub(super) fn close(&mut self) {
        self.cap[0] = self.load[0];
    }
}

/// The best list by rank; nothing where the rules cannot be met.
pub(super) fn greedy(ranked: &Ranked, bounds: &Bounds, fill: bool, tree: &Tree) -> Option<Vec<bool>> {
    let mut filling = Filling::new(tree, bounds)?;
    let mut chosen = bounds.must.clone();
    for rank in 0..ranked.len() {
        if !fill && !(ranked.value[rank] > 0.0) {
            filling.close();
        }
        if !chosen[rank] && filling.fits(rank) {
            filling.take(rank);
            chosen[rank] = true;
        }
    }
    Some(chosen)
}

/// By how much floors and must-calls have to be lowered in all: people are taken in the order of how many of them they serve, which
/// is best because that number, floors of nested sets summed, is a concave function of the list.
pub(super) fn missing(bounds: &Bounds, tree: &Tree) -> usize {
    let nodes = tree.len();
    let floor: Vec<usize> = (0..nodes).map(|node| floor_of(tree, bounds, node)).collect();
    let cap: Vec<usize> = (0..nodes).map(|node| cap_of(tree, bounds, node)).collect();
    let mut load = vec![0; nodes];
    let mut chosen = vec![false; tree.leaf.len()];
    let deepest = (0..chosen.len()).map(|rank| tree.chain(rank).count()).max().unwrap_or(0);
    let wanted = floor.iter().sum::<usize>() + bounds.must.iter().filter(|must| **must).count();
    let mut served = 0;
    for least in (1..=deepest + 1).rev() {
        for rank in 0..chosen.len() {
            if chosen[rank] || tree.chain(rank).any(|node| load[node] >= cap[node]) {
                continue;
            }
            let open = tree.chain(rank).filter(|&node| load[node] < floor[node]).count();
            let gain = open + usize::from(bounds.must[rank]);
            if gain >= least {
                tree.chain(rank).for_each(|node| load[node] += 1);
                (chosen[rank], served) = (true, served + gain);
            }
        }
    }
    wanted - served
}

/// The floor of a node.
pub(super) fn floor_of(tree: &Tree, bounds: &Bounds, node: usize) -> usize {
    if node == 0 { 0 } else { bounds.at_least[tree.set[node] as usize] }
}

/// The cap of a node.
pub(super) fn cap_of(tree: &Tree, bounds: &Bounds, node: usize) -> usize {
    if node == 0 { bounds.places } else { bounds.at_most[tree.set[node] as usize] }
}
