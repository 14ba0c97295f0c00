//! Two trees as a network: root of the first → its sets → cells → sets of the second → its root.
//!
//! A *cell* is everybody in the same innermost sets of both trees; of a cell only the best matter, must-calls first, so that it is one
//! arc with rising costs. An arc into a set of the first tree, and out of one of the second, carries at most its cap, and its first
//! units, up to the floor, are rewarded on a level of their own, as must-calls are: the flow of least cost meets as many of them
//! as can be met, whatever the values.
//!
//! A set without a floor or sets inside whose people all are in one cell is *dissolved*: its cap leaves the best of it, and the others
//! have no chance. Households within workers then cost nothing.
//!
//! Costs are whole numbers, so that nothing is lost on long paths: values are rounded to 2⁻⁵² of the largest (2⁻⁶¹ times the number of
//! groups, where there are more than 512). Below
//! them, on a last level, stand the keys: among lists of equal value the one with the smallest sum of keys (their upper 40 bits) wins.

use super::greedy::{cap_of, floor_of};
use super::ranked::{Bounds, Ranked};
use super::structure::Tree;
use std::ops::{Add, Neg, Sub};

/// A cost on three levels, compared from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Price {
    /// minus the floors and must-calls served
    pub rules: i64,
    /// minus the value
    pub value: i64,
    /// the key
    pub key: i64,
}

impl Add for Price {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { rules: self.rules + other.rules, value: self.value + other.value, key: self.key + other.key }
    }
}

impl Sub for Price {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Price {
    type Output = Self;
    fn neg(self) -> Self {
        Self { rules: -self.rules, value: -self.value, key: -self.key }
    }
}

/// People who are in the same sets, and what is asked of them in every search, side by side in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// node of the first tree
    pub a: u32,
    /// node of the second tree, counted on from the nodes of the first
    pub b: u32,
    /// where its people start among [`Network::people`], and end
    start: u32,
    end: u32,
    /// how many of them are taken
    pub taken: u32,
    /// what the next person costs
    pub next: Option<Price>,
    /// what it costs to send the last one away
    pub last: Option<Price>,
}

/// The network. Nodes of the first tree come first, then those of the second.
#[derive(Debug)]
pub(super) struct Network {
    /// how many nodes the first tree has
    pub split: usize,
    pub parent: Vec<usize>,
    pub children: Vec<Vec<usize>>,
    /// per node: what the arc between it and its parent carries at least and at most, and does
    pub floor: Vec<usize>,
    pub cap: Vec<usize>,
    pub flow: Vec<usize>,
    /// in the order of their nodes of the first tree
    pub cells: Vec<Cell>,
    /// per node: of the first tree all its cells, of the second those of which somebody is taken
    pub cells_of: Vec<Vec<u32>>,
    /// ranks, cell by cell, best first
    people: Vec<u32>,
    /// per rank
    price: Vec<Price>,
    /// floors and must-calls, summed
    pub wanted: i64,
    /// whom a set that was dissolved kept although it left out somebody as good
    pub kept_at_a_tie: Vec<u32>,
}

impl Network {
    pub(super) fn new(ranked: &Ranked, value: &[f64], bounds: &Bounds, first: &Tree, second: &Tree) -> Self {
        let nodes = first.len() + second.len();
        let price = prices(ranked, value, bounds, nodes);
        let mut leaf = [first.leaf.clone(), second.leaf.clone()];
        let mut is_out = vec![false; price.len()];
        let mut by_price: Vec<u32> = (0..price.len() as u32).collect();
        by_price.sort_by_key(|rank| price[*rank as usize]);
        let mut kept_at_a_tie = Vec::new();
        for (side, tree) in [first, second].into_iter().enumerate() {
            kept_at_a_tie.extend(dissolve(tree, bounds, &mut leaf, side, &mut is_out, &by_price, &price));
        }
        let split = first.len();
        let (mut parent, mut floor, mut cap) = (Vec::new(), Vec::new(), Vec::new());
        let mut children = vec![Vec::new(); nodes];
        for (tree, base) in [(first, 0), (second, split)] {
            for node in 0..tree.len() {
                parent.push(base + tree.parent[node] as usize);
                floor.push(floor_of(tree, bounds, node));
                cap.push(cap_of(tree, bounds, node));
                if node > 0 {
                    children[base + tree.parent[node] as usize].push(base + node);
                }
            }
        }
        let sums = floor.iter().sum::<usize>() + bounds.must.iter().filter(|must| **must).count();
        let ends = |rank: &u32| (leaf[0][*rank as usize], leaf[1][*rank as usize]);
        let mut people: Vec<u32> = by_price.into_iter().filter(|rank| !is_out[*rank as usize]).collect();
        people.sort_by_key(ends);
        let mut cells_of = vec![Vec::new(); nodes];
        let mut cells: Vec<Cell> = Vec::new();
        let mut start = 0;
        for same in people.chunk_by(|x, y| ends(x) == ends(y)) {
            let (a, b) = (ends(&same[0]).0, split as u32 + ends(&same[0]).1);
            let end = start + same.len() as u32;
            cells_of[a as usize].push(cells.len() as u32);
            cells.push(Cell { a, b, start, end, taken: 0, next: Some(price[same[0] as usize]), last: None });
            start = end;
        }
        Self {
            split,
            parent,
            children,
            floor,
            cap,
            flow: vec![0; nodes],
            cells,
            cells_of,
            people,
            price,
            wanted: sums as i64,
            kept_at_a_tie,
        }
    }

    /// What one more unit costs on the arc of a set.
    pub(super) fn more(&self, node: usize) -> Option<Price> {
        let rules = -i64::from(self.flow[node] < self.floor[node]);
        (self.flow[node] < self.cap[node]).then_some(Price { rules, ..Price::default() })
    }

    /// What one unit less costs on the arc of a set.
    pub(super) fn less(&self, node: usize) -> Option<Price> {
        let rules = i64::from(self.flow[node] <= self.floor[node]);
        (self.flow[node] > 0).then_some(Price { rules, ..Price::default() })
    }

    /// One more or one less of a cell is taken.
    pub(super) fn change(&mut self, position: usize, is_more: bool) {
        let cell = &mut self.cells[position];
        cell.taken = if is_more { cell.taken + 1 } else { cell.taken - 1 };
        let with_some = &mut self.cells_of[cell.b as usize];
        match (is_more, cell.taken) {
            (true, 1) => with_some.push(position as u32),
            (false, 0) => with_some.retain(|other| *other != position as u32),
            _ => {}
        }
        let place = cell.start + cell.taken;
        let price = |place: u32| self.price[self.people[place as usize] as usize];
        cell.next = (place < cell.end).then(|| price(place));
        cell.last = (place > cell.start).then(|| -price(place - 1));
    }

    /// The ranks that are taken.
    pub(super) fn taken(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.cells.iter().flat_map(|cell| cell.start..cell.start + cell.taken);
        places.map(|place| self.people[place as usize] as usize)
    }
}

/// What each person costs.
fn prices(ranked: &Ranked, value: &[f64], bounds: &Bounds, nodes: usize) -> Vec<Price> {
    let largest = value.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    let unit = if largest > 0.0 { ceil_log2(largest) } else { 0 };
    // a path has no more arcs than nodes: its sum must not leave 62 bits
    let shift = f64::from((61 - nodes.next_power_of_two().trailing_zeros() as i32).min(52) - unit);
    // by halves, so that neither factor leaves the range of numbers
    let (half, rest) = ((shift / 2.0).floor(), (shift / 2.0).ceil());
    let price = |rank: usize| Price {
        rules: -i64::from(bounds.must[rank]),
        value: -((value[rank] * half.exp2() * rest.exp2()).round() as i64),
        key: (ranked.key[rank] >> 24) as i64,
    };
    (0..value.len()).map(price).collect()
}

/// ⌈log₂ x⌉ of a finite number above 0, from its bits: exact on every machine, which a logarithm is not.
fn ceil_log2(x: f64) -> i32 {
    // subnormal numbers are scaled into the normal range first
    let scale = if x < f64::MIN_POSITIVE { 54 } else { 0 };
    let bits = (x * f64::from(scale).exp2()).to_bits();
    (bits >> 52) as i32 - 1023 + i32::from(bits << 12 != 0) - scale
}

/// Leaves the best of every set of one tree that lies in a single cell, and takes the set away; returns those who are no
/// better than somebody left out.
fn dissolve(
    tree: &Tree,
    bounds: &Bounds,
    leaf: &mut [Vec<u32>; 2],
    side: usize,
    is_out: &mut [bool],
    by_price: &[u32],
    price: &[Price],
) -> Vec<u32> {
    let mut inside = vec![0; tree.len()];
    (1..tree.len()).for_each(|node| inside[tree.parent[node] as usize] += 1);
    let mut members = vec![Vec::new(); tree.len()];
    for &rank in by_price.iter().filter(|rank| !is_out[**rank as usize]) {
        members[leaf[side][rank as usize] as usize].push(rank);
    }
    let mut tied = Vec::new();
    for node in (1..tree.len()).rev() {
        let mut here = std::mem::take(&mut members[node]);
        // whoever comes from inside stands among the others by price
        here.sort_by_key(|rank| price[*rank as usize]);
        let other = |rank: &u32| leaf[1 - side][*rank as usize];
        let is_one = here.iter().all(|rank| other(rank) == other(&here[0]));
        if inside[node] > 0 || floor_of(tree, bounds, node) > 0 || !is_one {
            continue;
        }
        let parent = tree.parent[node] as usize;
        inside[parent] -= 1;
        let (kept, out) = here.split_at(cap_of(tree, bounds, node).min(here.len()));
        if let Some(&first) = out.first() {
            let worth = |rank: u32| (price[rank as usize].rules, price[rank as usize].value);
            tied.extend(kept.iter().filter(|rank| worth(**rank) == worth(first)));
        }
        out.iter().for_each(|rank| is_out[*rank as usize] = true);
        for &rank in kept {
            leaf[side][rank as usize] = parent as u32;
            members[parent].push(rank);
        }
    }
    tied
}

#[cfg(test)]
mod tests {
    use super::ceil_log2;

    #[test]
    fn ceil_log2_is_the_smallest_exponent_whose_power_is_not_smaller() {
        for exponent in -1074..=1023i32 {
            // by halving and doubling, which are exact
            let power = (0..exponent.abs()).fold(1.0f64, |x, _| if exponent < 0 { x / 2.0 } else { x * 2.0 });
            assert_eq!(ceil_log2(power), exponent);
            if exponent > -1074 {
                assert_eq!(
                    ceil_log2(power.next_down()),
                    if power.next_down() > power / 2.0 { exponent } else { exponent - 1 }
                );
            }
            if exponent < 1023 {
                assert_eq!(ceil_log2(power.next_up()), exponent + 1);
            }
        }
    }
}
