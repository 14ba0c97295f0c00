//! What a rule costs: the same problem without it.

use super::problem::{Allocation, Family, Problem};
use super::refusal::Refusal;
use super::solve::allocate;

/// What is changed to see what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// a family has neither floors nor caps
    WithoutFamily(usize),
    /// nobody has to be on the list
    WithoutMust,
    /// anything may be spent
    WithoutCost,
    /// there are this many places
    Places(usize),
}

/// What a rule costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RulePrice {
    /// the value of the list after the change, minus its value before
    pub lost: f64,
    /// how many more are chosen after the change, perhaps fewer
    pub places: i64,
    /// how far `lost` may be off, either way: the gaps of both lists
    pub gap: f64,
}

/// The price of a rule: solves the problem again with the change, beside the list `found` without it.
///
/// Where places are filled first, a rule may cost places instead of value: without it, more people who are worth less than nothing
/// may be called, and `lost` is then below 0 with `places` above.
pub fn price(problem: &Problem<'_>, found: &Allocation, change: Change) -> Result<RulePrice, Refusal> {
    let mut changed = *problem;
    let nobody;
    let mut families: Vec<Family> = Vec::new();
    match change {
        Change::WithoutFamily(without) => {
            let others = problem.families.iter().enumerate().filter(|(position, _)| *position != without);
            families.extend(others.map(|(_, family)| family.clone()));
            changed.families = &families;
        }
        Change::WithoutMust => {
            nobody = vec![false; problem.value.len()];
            changed.must = &nobody;
        }
        Change::WithoutCost => changed.cost = None,
        Change::Places(places) => changed.places = places,
    }
    let after = allocate(&changed)?;
    Ok(RulePrice {
        lost: after.value - found.value,
        places: after.places_filled as i64 - found.places_filled as i64,
        gap: after.gap + found.gap,
    })
}
