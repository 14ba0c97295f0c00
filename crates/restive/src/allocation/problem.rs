//! What is asked, and what is answered.

use crate::error::{Error, Result};

/// In [`Family::group`]: the person is in no group of the family.
pub const NO_GROUP: u32 = u32::MAX;

/// Who wants a place, and under which rules. All arrays have one entry per person.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// `[N]`: what a place is worth to each; finite, perhaps negative
    pub value: &'a [f64],
    /// `[N]`: among equal values the smaller key goes first, see [`tie_key`](super::tie_key); then the position
    pub key: &'a [u64],
    /// `[N]`: who has to be on the list
    pub must: &'a [bool],
    /// K, the places in all
    pub places: usize,
    /// true: as many places as the rules allow are filled, and the value is the largest among those lists; false: the value
    /// alone counts, and nobody worth nothing or less has a place unless a must-call or a floor says so
    pub fill: bool,
    /// the rules on groups
    pub families: &'a [Family],
    /// what places cost, where that is limited
    pub cost: Option<Cost<'a>>,
}

/// A family of groups that no two share a person of, with a floor and a cap on the places of each: one rule of the planner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// `[N]`: the group of each person, below G, or [`NO_GROUP`]
    pub group: Vec<u32>,
    /// `[G]`: the places that each group gets at least
    pub at_least: Vec<usize>,
    /// `[G]`: the places that each group gets at most; `usize::MAX` is no cap
    pub at_most: Vec<usize>,
}

/// What each person's place costs, and how much may be spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost<'a> {
    /// `[N]`: finite, at least 0
    pub of: &'a [f64],
    /// the costs of the chosen sum to at most this, within a relative 10⁻⁹; at least 0
    pub most: f64,
}

/// Who gets the places.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// `[N]`: who is on the list
    pub chosen: Vec<bool>,
    /// the values of the chosen, summed in the order of their ranks
    pub value: f64,
    /// how many are chosen
    pub places_filled: usize,
    /// how it was found
    pub method: Method,
    /// no list under the rules is worth more than `value + gap`; 0 where that was proven. Infinite where it is not proven that no
    /// list fills more places
    pub gap: f64,
}

/// How an allocation was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// by rank, with places kept back for floors: exact, for rules whose groups are disjoint or nested
    Greedy,
    /// as a flow of least cost: exact, for two such systems that cross
    Flow,
    /// as an integer programme, within its gap
    Integer,
}

impl Problem<'_> {
    /// Whether the data are what the fields promise.
    pub(super) fn check(&self) -> Result<()> {
        let n = self.value.len();
        let shape = |what, found: usize| match found == n {
            true => Ok(()),
            false => {
                Err(Error::Shape { what, expected: format!("[{n}], as the values"), found: vec![found] })
            }
        };
        shape("key", self.key.len())?;
        shape("must", self.must.len())?;
        finite("value", self.value)?;
        if n >= NO_GROUP as usize {
            return Err(Error::TooLarge {
                what: "people".into(),
                needed: n as f64,
                limit: f64::from(NO_GROUP),
                unit: "people",
            });
        }
        for family in self.families {
            shape("family", family.group.len())?;
            let groups = family.at_least.len();
            if family.at_most.len() != groups {
                return Err(Error::Shape {
                    what: "at_most",
                    expected: format!("[{groups}], as at_least"),
                    found: vec![family.at_most.len()],
                });
            }
            let is_outside = |g: &&u32| **g != NO_GROUP && **g as usize >= groups;
            if let Some(&found) = family.group.iter().find(is_outside) {
                return Err(Error::Unsuitable {
                    what: "group",
                    found: found.to_string(),
                    expected: format!("a number below {groups}, or NO_GROUP"),
                });
            }
        }
        if let Some(cost) = self.cost {
            shape("cost", cost.of.len())?;
            finite("cost", cost.of)?;
            let negative = cost.of.iter().chain([&cost.most]).find(|x| !(**x >= 0.0));
            if let Some(&found) = negative {
                return Err(Error::Range { what: "cost", expected: "at least 0", found });
            }
        }
        Ok(())
    }
}

fn finite(what: &'static str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(position) => Err(Error::NotFinite { what, position, found: numbers[position] }),
        None => Ok(()),
    }
}
