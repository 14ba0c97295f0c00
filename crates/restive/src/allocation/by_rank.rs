//! Nested rules with ties: places by rank, and everybody's chance over all tie-breaks.
//!
//! Equal values are a class. A class is *decided* where everybody of it who could have a place gets one; then its order does not
//! matter, and chances are 0 or 1. Otherwise its people [share](super::water) what is left for it.

use super::greedy::Filling;
use super::ranked::{Bounds, Ranked};
use super::structure::Tree;
use super::water::levels;
use std::ops::Range;

/// Chances of places by rank.
#[derive(Debug)]
pub(super) struct ByRank<'a> {
    /// per rank
    pub chance: Vec<f64>,
    /// the list with ties broken by key, where there is no group
    pub by_key: Vec<bool>,
    /// the classes in which ties matter
    pub open: Vec<Range<usize>>,
    pub filling: Filling<'a>,
}

/// Places by rank; nothing where the rules cannot be met.
pub(super) fn by_rank<'a>(
    ranked: &Ranked,
    bounds: &Bounds,
    fill: bool,
    tree: &'a Tree,
) -> Option<ByRank<'a>> {
    let mut filling = Filling::new(tree, bounds)?;
    let mut by_key = bounds.must.clone();
    let mut chance: Vec<f64> = bounds.must.iter().map(|must| f64::from(*must)).collect();
    let mut open = Vec::new();
    let mut start = 0;
    for class in ranked.value.chunk_by(|a, b| a == b) {
        let range = start..start + class.len();
        start = range.end;
        if !fill && !(class[0] > 0.0) {
            filling.close();
        }
        let people: Vec<usize> = range.clone().filter(|rank| !bounds.must[*rank]).collect();
        let able = people.iter().filter(|rank| filling.fits(**rank)).count();
        let mut taken = Vec::with_capacity(able);
        for &rank in &people {
            if taken.len() < able && filling.fits(rank) {
                filling.take(rank);
                taken.push(rank);
            }
        }
        taken.iter().for_each(|rank| by_key[*rank] = true);
        if taken.len() == able {
            taken.iter().for_each(|rank| chance[*rank] = 1.0);
            continue;
        }
        taken.iter().rev().for_each(|rank| filling.give_back(*rank));
        let shares = levels(&mut filling, &people);
        people.iter().zip(shares).for_each(|(rank, share)| chance[*rank] = share);
        open.push(range);
    }
    Some(ByRank { chance, by_key, open, filling })
}
