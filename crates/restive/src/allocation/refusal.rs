//! Why there is no list: data that are not data, or rules that cannot all be met.

use crate::error::Error;

/// Why no list was made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// the data are wrong, or too large
    #[error(transparent)]
    Data(#[from] Error),
    /// the rules cannot all be met
    #[error("rules: found {} that cannot all be met, {} places missing, expected rules that leave a list", .0.rules.len(), .0.missing)]
    Conflict(Conflict),
}

/// Rules that cannot all be met.
///
/// Every rule is one that the conflict needs: without it, the others can be met (*irreducible*). Each must-called person, each floor
/// of a group and each cap counts as one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// the rules; all must-calls in it are one entry
    pub rules: Vec<RuleRef>,
    /// whether it is proven that no smaller set of rules is in conflict: always where groups are disjoint or nested and nothing
    /// costs, else where the rules are few
    pub is_smallest: bool,
    /// the least number by which floors would have to be lowered and must-calls given up, all together and over all rules, while
    /// caps, K and the cost limit stay. A place that floors of nested groups lack counts in each of them. For an
    /// integer programme the least number found within its limits
    pub missing: usize,
}

/// A rule, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleRef {
    /// K, the places in all
    Places,
    /// the floor of a group
    AtLeast {
        /// position of the family
        family: usize,
        /// group of the family
        group: usize,
    },
    /// the cap of a group
    AtMost {
        /// position of the family
        family: usize,
        /// group of the family
        group: usize,
    },
    /// these people have to be on the list
    Must {
        /// their positions, ascending
        people: Vec<usize>,
    },
    /// the limit of the costs
    Cost,
}
