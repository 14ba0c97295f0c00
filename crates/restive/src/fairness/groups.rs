//! Who is in which group: one column of what is known of people, or two crossed.
//!
//! Everybody is in exactly one group. Whose value is missing is in a group of their own, named by the caller: leaving them out would hide
//! those of whom least is known.

use crate::error::{Error, Result};

/// A grouping of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    names: Vec<String>,
    of: Vec<u32>,
    /// per group of a crossing, the groups it is the crossing of
    pairs: Option<Vec<[u32; 2]>>,
}

impl Groups {
    /// Groups by name, and everybody's place among the names. A group named `missing` is added where somebody has none.
    pub fn new(mut names: Vec<String>, of: &[Option<u32>], missing: &str) -> Result<Self> {
        let known = names.len();
        if let Some((person, found)) =
            of.iter().enumerate().find_map(|(i, g)| g.filter(|g| *g as usize >= known).map(|g| (i, g)))
        {
            return Err(Error::Unsuitable {
                what: "group",
                found: format!("{found} for person {person}"),
                expected: format!("a number below {known}, the names there are"),
            });
        }
        if of.iter().any(Option::is_none) {
            names.push(missing.to_string());
        }
        let of = of.iter().map(|g| g.unwrap_or(known as u32)).collect();
        Ok(Self { names, of, pairs: None })
    }

    /// The names of the groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// `[N]`: everybody's group, by its place among the names.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Of a crossing: per group, its groups in the two that were crossed.
    pub fn pairs(&self) -> Option<&[[u32; 2]]> {
        self.pairs.as_deref()
    }

    /// How many of some people are in each group.
    pub fn counts(&self, whom: &[usize]) -> Vec<u64> {
        let mut counts = vec![0; self.names.len()];
        whom.iter().for_each(|i| counts[self.of[*i] as usize] += 1);
        counts
    }
}

/// Two groupings of the same people crossed: a group for every pair that somebody is in, in the order of the first, then of the second.
///
/// ```
/// use restive::fairness::{Groups, cross};
///
/// let place = Groups::new(vec!["rural".into(), "urban".into()], &[Some(0), Some(1), Some(1)], "")?;
/// let age = Groups::new(vec!["young".into(), "old".into()], &[Some(1), Some(0), Some(1)], "")?;
/// assert_eq!(cross(&place, &age).names(), ["rural, old", "urban, young", "urban, old"]);
/// # Ok::<(), restive::Error>(())
/// ```
pub fn cross(first: &Groups, second: &Groups) -> Groups {
    assert_eq!(first.of.len(), second.of.len(), "two groupings of the same people");
    let of_each = || first.of.iter().zip(&second.of).map(|(a, b)| [*a, *b]);
    let mut pairs: Vec<[u32; 2]> = of_each().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let name = |[a, b]: &[u32; 2]| format!("{}, {}", first.names[*a as usize], second.names[*b as usize]);
    let of = of_each().map(|pair| pairs.partition_point(|other| *other < pair) as u32).collect();
    Groups { names: pairs.iter().map(name).collect(), of, pairs: Some(pairs) }
}
