//! Which coalitions are looked at, and what each of them counts.
//!
//! Coalitions form a tree: each grows from an earlier one by one member, and the empty one is the root. All of them, for D members,
//! are the numbers from 0 to 2^D − 1, and one grows from itself without its lowest bit. A member's share is then
//! Σ |S|! (D − |S| − 1)!/D! · (v(S ∪ member) − v(S)) over the coalitions S without it.
//!
//! Beyond [`EXACT`] members a fixed set of orders stands for all D! of them: half of them drawn from a seed that nobody
//! chooses, the other half their reverses, which even out whatever is symmetric about the middle. An order of all groups, read at
//! those that differ, is an order of these: so an arm meets the same orders whoever else is looked at.

use crate::random::stream;
use rand::RngExt;

/// The most groups that differ for which all coalitions are looked at: 256 of them.
pub const EXACT: usize = 8;
/// The orders that stand for all others where more groups differ.
pub const ORDERS: usize = 16;
/// The path of the stream that draws orders.
const DRAWN: u64 = 0xc0a1;

/// Coalitions and the steps between them.
pub(super) struct Coalitions {
    /// of every coalition but the first: which one it grows from, and by whom
    pub(super) grown: Vec<(usize, usize)>,
    /// which of them has all members
    pub(super) full: usize,
    /// what is counted of them
    pub(super) steps: Vec<Step>,
}

/// From one coalition to another by one member.
pub(super) struct Step {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) who: usize,
    pub(super) weight: f64,
}

impl Coalitions {
    /// How many.
    pub(super) fn len(&self) -> usize {
        self.grown.len() + 1
    }

    /// All of them.
    fn all(members: usize) -> Self {
        let count = 1 << members;
        let mut steps = Vec::with_capacity(members * count / 2);
        for from in 0..count {
            let size = (from as u32).count_ones() as usize;
            for who in (0..members).filter(|who| from >> who & 1 == 0) {
                // size! (members − size − 1)!/members!, as 1/(members · members−1 over size)
                let weight = 1.0 / (members as f64 * choose(members - 1, size));
                steps.push(Step { from, to: from | 1 << who, who, weight });
            }
        }
        let grown = (1..count).map(|at| (at & (at - 1), at.trailing_zeros() as usize)).collect();
        Self { grown, full: count - 1, steps }
    }

    /// Those along orders of the members.
    fn along(orders: impl Iterator<Item = Vec<usize>>, count: usize) -> Self {
        let weight = 1.0 / count as f64;
        let (mut grown, mut steps, mut full) = (Vec::new(), Vec::new(), None);
        for order in orders {
            let mut from = 0;
            for (turn, &who) in order.iter().enumerate() {
                let known = full.filter(|_| turn + 1 == order.len());
                let to = known.unwrap_or_else(|| {
                    grown.push((from, who));
                    grown.len()
                });
                steps.push(Step { from, to, who, weight });
                from = to;
            }
            full = Some(from);
        }
        Self { grown, full: full.unwrap_or(0), steps }
    }
}

/// The coalitions of arms that differ in D of G groups.
pub(super) struct Orders {
    /// by D, up to [`EXACT`]
    exact: Vec<Coalitions>,
    /// orders of all groups, each followed by its reverse
    drawn: Vec<Vec<usize>>,
}

impl Orders {
    pub(super) fn new(groups: usize) -> Self {
        let exact = (0..=EXACT.min(groups)).map(Coalitions::all).collect();
        let pair = |k: usize| {
            let mut random = stream(0, &[DRAWN, k as u64]);
            let mut keyed: Vec<(u64, usize)> = (0..groups).map(|g| (random.random(), g)).collect();
            keyed.sort_unstable();
            let order: Vec<usize> = keyed.into_iter().map(|(_, g)| g).collect();
            let reverse = order.iter().rev().copied().collect();
            [order, reverse]
        };
        let drawn = if groups > EXACT { (0..ORDERS / 2).flat_map(pair).collect() } else { Vec::new() };
        Self { exact, drawn }
    }

    /// All coalitions of so many members, where they are few enough.
    pub(super) fn exact(&self, members: usize) -> Option<&Coalitions> {
        self.exact.get(members)
    }

    /// Those of the groups that differ, along the orders that were drawn.
    pub(super) fn along(&self, differing: &[usize]) -> Coalitions {
        let restricted = |order: &Vec<usize>| {
            order.iter().filter_map(|g| differing.binary_search(g).ok()).collect::<Vec<usize>>()
        };
        Coalitions::along(self.drawn.iter().map(restricted), self.drawn.len())
    }
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, j| product * (n - j) as f64 / (j + 1) as f64)
}
