//! People in the order of their rank, and the groups that can matter.
//!
//! Everything behind this works on ranks: value descending, key ascending, position. The answer is then the same in whatever order
//! people were stored. A group is left out where its rules say nothing: no floor, and a cap of at least its members or at least K.

use super::problem::{NO_GROUP, Problem};

/// No set, in [`Ranked::of`].
pub(super) const NONE: u32 = u32::MAX;

/// A group with rules, from some family.
#[derive(Debug, Clone)]
pub(super) struct Set {
    pub family: usize,
    pub group: usize,
    pub size: usize,
}

/// A problem by ranks.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    /// rank → position
    pub order: Vec<u32>,
    pub value: Vec<f64>,
    pub key: Vec<u64>,
    pub cost: Option<Vec<f64>>,
    pub sets: Vec<Set>,
    /// per family, the set of each rank, or [`NONE`]
    pub of: Vec<Vec<u32>>,
}

/// How many: what the rules allow, which conflicts relax and prices change.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    pub places: usize,
    /// per set
    pub at_least: Vec<usize>,
    /// per set
    pub at_most: Vec<usize>,
    /// per rank
    pub must: Vec<bool>,
    pub most_cost: f64,
}

impl Ranked {
    pub(super) fn new(problem: &Problem<'_>) -> (Self, Bounds) {
        let n = problem.value.len();
        // as whole numbers side by side, which sort faster; −0 and 0 are one value
        let descending = |v: f64| {
            let bits = (v + 0.0).to_bits();
            if bits >> 63 == 0 { !(bits | 1 << 63) } else { bits }
        };
        let mut ranks: Vec<(u64, u64, u32)> =
            (0..n).map(|i| (descending(problem.value[i]), problem.key[i], i as u32)).collect();
        ranks.sort_unstable();
        let order: Vec<u32> = ranks.into_iter().map(|(_, _, i)| i).collect();
        let at = |i: &u32| *i as usize;
        let mut ranked = Self {
            value: order.iter().map(|i| problem.value[at(i)]).collect(),
            key: order.iter().map(|i| problem.key[at(i)]).collect(),
            cost: problem.cost.map(|cost| order.iter().map(|i| cost.of[at(i)]).collect()),
            sets: Vec::new(),
            of: Vec::new(),
            order,
        };
        let mut bounds = Bounds {
            places: problem.places.min(n),
            at_least: Vec::new(),
            at_most: Vec::new(),
            must: ranked.order.iter().map(|i| problem.must[at(i)]).collect(),
            most_cost: problem.cost.map_or(f64::INFINITY, |cost| cost.most),
        };
        for (position, family) in problem.families.iter().enumerate() {
            let mut size = vec![0; family.at_least.len()];
            family.group.iter().filter(|g| **g != NO_GROUP).for_each(|g| size[*g as usize] += 1);
            let mut name = vec![NONE; size.len()];
            for (group, &size) in size.iter().enumerate() {
                let whole = |places: usize| places.min(NO_GROUP as usize);
                let (least, most) = (whole(family.at_least[group]), whole(family.at_most[group]));
                if least > 0 || most < size.min(bounds.places) {
                    name[group] = ranked.sets.len() as u32;
                    ranked.sets.push(Set { family: position, group, size });
                    bounds.at_least.push(least);
                    bounds.at_most.push(most);
                }
            }
            let set = |i: &u32| match family.group[at(i)] {
                NO_GROUP => NONE,
                group => name[group as usize],
            };
            let of: Vec<u32> = ranked.order.iter().map(set).collect();
            if of.iter().any(|set| *set != NONE) {
                ranked.of.push(of);
            }
        }
        (ranked, bounds)
    }

    /// How many people there are.
    pub(super) fn len(&self) -> usize {
        self.value.len()
    }

    /// What is chosen, from ranks to positions.
    pub(super) fn by_position<T: Copy + Default>(&self, by_rank: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); by_rank.len()];
        self.order.iter().zip(by_rank).for_each(|(&i, &x)| out[i as usize] = x);
        out
    }

    /// The sets of a person.
    pub(super) fn sets_of(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        self.of.iter().map(move |of| of[rank]).filter(|set| *set != NONE).map(|set| set as usize)
    }

    /// Whether a list costs no more than it may.
    pub(super) fn is_affordable(&self, chosen: &[bool], bounds: &Bounds) -> bool {
        let Some(cost) = &self.cost else { return true };
        let spent: f64 = cost.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(cost, _)| cost).sum();
        spent <= bounds.most_cost * (1.0 + 1e-9)
    }

    /// Whether a list keeps all rules.
    pub(super) fn is_kept(&self, chosen: &[bool], bounds: &Bounds) -> bool {
        let mut load = vec![0; self.sets.len()];
        let mut filled = 0;
        for rank in (0..self.len()).filter(|rank| chosen[*rank]) {
            filled += 1;
            self.sets_of(rank).for_each(|set| load[set] += 1);
        }
        let is_within = |set: usize| (bounds.at_least[set]..=bounds.at_most[set]).contains(&load[set]);
        filled <= bounds.places
            && (0..load.len()).all(is_within)
            && bounds.must.iter().zip(chosen).all(|(must, chosen)| *chosen || !must)
            && self.is_affordable(chosen, bounds)
    }
}
