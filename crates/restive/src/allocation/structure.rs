//! How the groups lie to each other: nested, two systems that cross, or anything else.
//!
//! Two sets *cross* where they share people and neither holds the other. Sets that do not cross, pair by pair, are *laminar*: they
//! form a [`Tree`]. Who crosses whom is counted for every pair of families by sorting the pairs of sets that people are in,
//! O(N log N) each. If the graph of crossings can be painted in two colours, the sets of each colour are a tree of
//! their own, and two trees can be written as a flow; without any crossing one colour is enough.

use super::ranked::{NONE, Ranked};

/// Sets that are disjoint or nested, under a root that holds everybody. Parents come before their children.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// per node; the root is its own parent
    pub parent: Vec<u32>,
    /// per node, the set that it is; [`NONE`] for the root
    pub set: Vec<u32>,
    /// per rank, the innermost node that holds the person
    pub leaf: Vec<u32>,
}

/// What the sets form.
#[derive(Debug, Clone)]
pub(super) enum Structure {
    Laminar(Tree),
    Two(Tree, Tree),
    Other,
}

impl Structure {
    pub(super) fn of(ranked: &Ranked) -> Self {
        let crossings = crossings(ranked);
        if crossings.is_empty() {
            return Self::Laminar(Tree::new(ranked, |_| true));
        }
        match painted(ranked.sets.len(), &crossings) {
            Some(colour) => {
                let tree = |wanted: bool| Tree::new(ranked, |set| colour[set] == wanted);
                Self::Two(tree(false), tree(true))
            }
            None => Self::Other,
        }
    }
}

/// The pairs of sets that cross.
fn crossings(ranked: &Ranked) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for (position, a) in ranked.of.iter().enumerate() {
        for b in &ranked.of[..position] {
            let both = a.iter().zip(b).filter(|(a, b)| **a != NONE && **b != NONE);
            let mut pairs: Vec<(u32, u32)> = both.map(|(a, b)| (*a, *b)).collect();
            pairs.sort_unstable();
            for same in pairs.chunk_by(|x, y| x == y) {
                let (a, b) = same[0];
                let smaller = ranked.sets[a as usize].size.min(ranked.sets[b as usize].size);
                if same.len() < smaller {
                    found.push((a, b));
                }
            }
        }
    }
    found
}

/// Two colours such that no two sets that cross have the same, if there are.
fn painted(sets: usize, crossings: &[(u32, u32)]) -> Option<Vec<bool>> {
    let mut neighbours = vec![Vec::new(); sets];
    for &(a, b) in crossings {
        neighbours[a as usize].push(b as usize);
        neighbours[b as usize].push(a as usize);
    }
    let mut colour: Vec<Option<bool>> = vec![None; sets];
    for first in 0..sets {
        if colour[first].is_some() {
            continue;
        }
        colour[first] = Some(false);
        let mut open = vec![first];
        while let Some(set) = open.pop() {
            let other = colour[set].map(|colour| !colour);
            for &neighbour in &neighbours[set] {
                match colour[neighbour] {
                    None => {
                        colour[neighbour] = other;
                        open.push(neighbour);
                    }
                    seen if seen != other => return None,
                    _ => {}
                }
            }
        }
    }
    Some(colour.into_iter().map(|colour| colour == Some(true)).collect())
}

impl Tree {
    /// The tree of some sets, which do not cross.
    pub(super) fn new(ranked: &Ranked, is_in: impl Fn(usize) -> bool) -> Self {
        let mut sets: Vec<usize> = (0..ranked.sets.len()).filter(|set| is_in(*set)).collect();
        // larger sets first: whoever holds a set comes before it, and equal sets hold each other in a fixed order
        sets.sort_by_key(|set| std::cmp::Reverse(ranked.sets[*set].size));
        let mut node = vec![NONE; ranked.sets.len()];
        sets.iter().enumerate().for_each(|(position, set)| node[*set] = position as u32 + 1);
        let mut tree = Self {
            parent: vec![0; sets.len() + 1],
            set: [NONE].into_iter().chain(sets.iter().map(|set| *set as u32)).collect(),
            leaf: vec![0; ranked.len()],
        };
        let mut chain = Vec::new();
        for rank in 0..ranked.len() {
            chain.clear();
            chain.extend(ranked.sets_of(rank).map(|set| node[set]).filter(|node| *node != NONE));
            chain.sort_unstable();
            let mut above = 0;
            for &node in &chain {
                tree.parent[node as usize] = above;
                above = node;
            }
            tree.leaf[rank] = above;
        }
        tree
    }

    /// How many nodes there are, with the root.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// From a person's innermost node up to the root.
    pub(super) fn chain(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        let up = |node: &usize| (*node > 0).then(|| self.parent[*node] as usize);
        std::iter::successors(Some(self.leaf[rank] as usize), up)
    }
}
