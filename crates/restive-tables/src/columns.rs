//! The header of a table of arms: which column holds which probability.
//!
//! A column `p_S_A_NEXT` holds P(S, A, NEXT). The number of states M is one more than the largest state that any
//! such name mentions, and then all 2·M² columns must be there; two-state tables may instead give the four
//! columns `p_S_A_1`, from which the rest follows. A name that starts with `p_` and does not read as a
//! probability is refused rather than ignored, because a misspelt column is the likelier story.

use crate::show::{self, quoted};
use restive::index::two_state::Packing;
use std::fmt;

/// The largest number of states that a table may have. An arm of 1,024 states has two million columns.
const MOST_STATES: usize = 1024;

/// How many names a message lists.
const LISTED: usize = 8;

/// The parsed header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    /// M
    pub(crate) states: usize,
    /// whether only the probabilities of moving to state 1 are given
    pub(crate) packing: Packing,
    /// the column of arm names
    pub(crate) arm: Option<usize>,
    /// (column in the file, position within the arm), in the order of the file
    pub(crate) probabilities: Vec<(usize, usize)>,
    /// columns that are not used
    pub(crate) ignored: Vec<String>,
}

impl Columns {
    /// Reads the names of the columns, in the order of the file.
    pub(crate) fn parse<'a>(header: impl IntoIterator<Item = &'a str>) -> Result<Self, ColumnFault> {
        let (mut arm, mut entries, mut ignored) = (None, Vec::new(), Vec::new());
        for (column, name) in header.into_iter().enumerate() {
            let name = name.trim();
            if name == "arm" {
                if arm.replace(column).is_some() {
                    return Err(ColumnFault::Duplicate { column: name.into() });
                }
            } else if name.starts_with("p_") {
                entries.push((column, Entry::parse(name)?));
            } else {
                ignored.push(name.to_owned());
            }
        }
        let Some(states) = entries.iter().map(|(_, e)| e.state.max(e.next) + 1).max() else {
            return Err(ColumnFault::NoProbabilities { found: ignored });
        };
        // Two states of which only moves to state 1 are mentioned: the compact form.
        let packing = match states == 2 && entries.iter().all(|(_, e)| e.next == 1) {
            true => Packing::Compact,
            false => Packing::Full,
        };
        let width = Entry::count(states, packing);
        let (mut probabilities, mut is_there) = (Vec::with_capacity(entries.len()), vec![false; width]);
        for (column, entry) in entries {
            let position = entry.position(states, packing);
            if std::mem::replace(&mut is_there[position], true) {
                return Err(ColumnFault::Duplicate { column: entry.to_string() });
            }
            probabilities.push((column, position));
        }
        if probabilities.len() < width {
            let missing = (0..width).filter(|position| !is_there[*position]);
            let columns =
                missing.map(|position| Entry::at(position, states, packing).to_string()).take(LISTED);
            let count = width - probabilities.len();
            return Err(ColumnFault::Missing { columns: columns.collect(), count, states });
        }
        Ok(Self { states, packing, arm, probabilities, ignored })
    }

    /// Numbers per arm.
    pub(crate) fn width(&self) -> usize {
        self.probabilities.len()
    }
}

/// One probability P(s, a, s′), by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Entry {
    state: usize,
    action: usize,
    next: usize,
}

impl Entry {
    /// The smallest next state that a row mentions.
    const fn first_next(packing: Packing) -> usize {
        matches!(packing, Packing::Compact) as usize
    }

    /// Numbers per arm.
    const fn count(states: usize, packing: Packing) -> usize {
        2 * states * (states - Self::first_next(packing))
    }

    /// The entry's position within its arm, `[M,2,M]` or compact.
    const fn position(self, states: usize, packing: Packing) -> usize {
        let first = Self::first_next(packing);
        (2 * self.state + self.action) * (states - first) + self.next - first
    }

    /// The entry at a position.
    const fn at(position: usize, states: usize, packing: Packing) -> Self {
        let first = Self::first_next(packing);
        let (row, next) = (position / (states - first), position % (states - first) + first);
        Self { state: row / 2, action: row % 2, next }
    }

    fn parse(name: &str) -> Result<Self, ColumnFault> {
        let unreadable = |fault| ColumnFault::Unreadable { column: name.into(), fault };
        let numbers: Vec<Option<usize>> = name["p_".len()..].split('_').map(whole_number).collect();
        let [Some(state), Some(action), Some(next)] = numbers[..] else {
            return Err(unreadable(NameFault::Form));
        };
        if action > 1 {
            return Err(unreadable(NameFault::Action(action)));
        }
        let largest = state.max(next);
        if largest >= MOST_STATES {
            return Err(unreadable(NameFault::State(largest)));
        }
        Ok(Self { state, action, next })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p_{}_{}_{}", self.state, self.action, self.next)
    }
}

/// Digits only and no leading zero, so that every number has one spelling.
fn whole_number(text: &str) -> Option<usize> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok())?
}

/// What is wrong with the columns of a table of arms.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnFault {
    /// a name starts with `p_` but is not the name of a probability
    Unreadable {
        /// the column
        column: String,
        /// what is wrong with the name
        fault: NameFault,
    },
    /// a column is there twice
    Duplicate {
        /// the column
        column: String,
    },
    /// some probabilities are missing
    Missing {
        /// the missing columns, the first few of them
        columns: Vec<String>,
        /// how many are missing
        count: usize,
        /// M, from the columns that are there
        states: usize,
    },
    /// no column holds probabilities
    NoProbabilities {
        /// the columns that are there
        found: Vec<String>,
    },
    /// a column of a study's table is not there
    Absent {
        /// the column
        column: &'static str,
        /// the columns that are there
        found: Vec<String>,
        /// why it should be, in words, perhaps empty
        why: &'static str,
    },
    /// the columns are separated by something else than commas
    Separator {
        /// the header, as the one column that it seems to be
        found: String,
    },
    /// a column holds another type than numbers, or names
    Type {
        /// the column
        column: String,
        /// its type
        found: String,
        /// the type it should have, in words
        expected: &'static str,
    },
}

impl fmt::Display for ColumnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnFault::Unreadable { column, fault } => {
                write!(f, "column {}: {fault}", show::name(column))
            }
            ColumnFault::Duplicate { column } => {
                write!(f, "column {}: found more than once, expected once", show::name(column))
            }
            ColumnFault::Missing { columns, count, states } => {
                let (s, names) = (if *count == 1 { "" } else { "s" }, listed(columns, *count));
                write!(
                    f,
                    "found no column{s} {names}, expected all probabilities of {states} states, of which others are there"
                )
            }
            ColumnFault::NoProbabilities { found } => {
                let expected = "expected one column p_S_A_NEXT per probability, such as p_0_1_1";
                write!(f, "found columns {}, {expected}", listed(found, found.len()))?;
                match found.iter().any(|name| name.contains([';', '\t'])) {
                    true => write!(f, ", separated by commas"),
                    false => Ok(()),
                }
            }
            ColumnFault::Absent { column, found, why } => {
                write!(f, "found columns {}, expected a column {column}", listed(found, found.len()))?;
                if why.is_empty() { Ok(()) } else { write!(f, ": {why}") }
            }
            ColumnFault::Separator { found } => {
                let found = quoted(found.as_bytes());
                write!(
                    f,
                    "line 1: found one column {found}, expected columns separated by commas (and decimal points)"
                )
            }
            ColumnFault::Type { column, found, expected } => {
                let found = show::sentence(found);
                write!(f, "column {}: found type {found}, expected {expected}", show::name(column))
            }
        }
    }
}

/// What is wrong with the name of a column that starts with `p_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameFault {
    /// it is not made of three whole numbers
    Form,
    /// an action that there is not
    Action(usize),
    /// a state beyond the largest
    State(usize),
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameFault::Form => {
                write!(f, "found no probability, expected p_S_A_NEXT with whole numbers, such as p_0_1_1")
            }
            NameFault::Action(action) => {
                write!(f, "found action {action}, expected 0 (passive) or 1 (active)")
            }
            NameFault::State(state) => {
                write!(f, "found state {state}, expected at most {}", MOST_STATES - 1)
            }
        }
    }
}

/// The first few of `count` names and how many there are besides.
fn listed(names: &[String], count: usize) -> String {
    if names.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| show::name(name)).collect();
    match count - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(header: &str) -> String {
        Columns::parse(header.split(',')).unwrap_err().to_string()
    }

    #[test]
    fn four_columns_are_a_compact_table_in_any_order() {
        let columns = Columns::parse("p_1_1_1,note,p_0_0_1,arm,p_1_0_1, p_0_1_1 ".split(',')).unwrap();
        assert_eq!((columns.states, columns.packing, columns.arm), (2, Packing::Compact, Some(3)));
        assert_eq!(columns.probabilities, [(0, 3), (2, 0), (4, 2), (5, 1)]);
        assert_eq!(columns.ignored, ["note"]);
    }

    #[test]
    fn full_columns_follow_the_order_state_action_next() {
        for states in 1..6 {
            let names: Vec<String> = (0..2 * states * states)
                .map(|k| format!("p_{}_{}_{}", k / (2 * states), k / states % 2, k % states))
                .collect();
            let columns = Columns::parse(names.iter().map(String::as_str)).unwrap();
            assert_eq!((columns.states, columns.packing), (states, Packing::Full));
            assert_eq!(columns.probabilities, (0..names.len()).map(|k| (k, k)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn faults_name_the_columns() {
        let compact = "p_0_0_1,p_0_1_1,p_1_0_1";
        assert!(fault(compact).starts_with("found no column p_1_1_1, expected"), "{}", fault(compact));
        let mixed = fault("p_0_0_0,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1");
        assert!(
            mixed.starts_with(
                "found no columns p_0_1_0, p_1_0_0, p_1_1_0, expected all probabilities of 2 states"
            ),
            "{mixed}"
        );
        assert!(fault("p_0_0_1,p_0_0_1").contains("column p_0_0_1: found more than once"));
        assert!(fault("arm,arm").contains("column arm: found more than once"));
        assert!(fault("p_0_2_1").contains("action 2, expected 0 (passive) or 1 (active)"));
        assert!(fault("p_0_0_5000").contains("state 5000, expected at most 1023"));
        for name in ["p_", "p_0_0", "p_0_0_1_1", "p_00_0_1", "p_+1_0_1", "p_a_0_1", "p_value"] {
            assert!(fault(name).contains("expected p_S_A_NEXT"), "{name}");
        }
        assert!(fault("a,b").starts_with("found columns a, b, expected one column p_S_A_NEXT"));
        assert!(fault("p;q").contains("separated by commas"));
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_header_makes_the_parser_panic(names in prop::collection::vec("\\PC{0,8}|p_[0-9_]{0,9}|arm", 0..12)) {
            if let Err(fault) = Columns::parse(names.iter().map(String::as_str)) {
                prop_assert!(!fault.to_string().contains('\n'));
            }
        }
    }
}
