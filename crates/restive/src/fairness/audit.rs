//! What can be worked out of printed tables: the least and the most that every withheld count can be.
//!
//! Whoever reads the tables knows the printed counts, that sums add up, and that each count of a cell is at most the one before it. The withheld
//! counts are the unknowns of an integer programme, and every one is made as small and as large as it can be. The programme
//! is exact, so that a range is neither promised wider than it is nor narrower. A kind of count of which not even the total is printed
//! has no unknowns.

use super::cells::{Cells, Crossing, KINDS, Known};
use super::table::Table;
use crate::error::{Error, Result};
use crate::interrupt;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolutionStatus, SolveOptions};

/// The nodes of a search at most.
const NODES: u64 = 5_000;

/// A kind of count of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// people in the group
    People,
    /// who could be called
    Could,
    /// who was listed
    Listed,
    /// who was listed and of whom an outcome is known
    Heard,
    /// who was reached
    Reached,
}

const COUNTS: [Count; KINDS] = [Count::People, Count::Could, Count::Listed, Count::Heard, Count::Reached];

/// What is known of a withheld count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withheld {
    /// the position of the table
    pub table: usize,
    /// the row of the table
    pub row: usize,
    /// which count
    pub count: Count,
    /// the least it can be
    pub low: u64,
    /// the most it can be
    pub high: u64,
}

/// The range of every withheld count of printed tables, from what is printed alone. Kinds of counts without a printed total are left out.
pub fn audit(printed: &[Table], crossings: &[Crossing]) -> Result<Vec<Withheld>> {
    let cells = Cells::new(printed, crossings)?;
    let mut found = Vec::new();
    for cell in 1..cells.known.len() {
        let Some((table, row)) = cells.place(cell) else { continue };
        for kind in 0..KINDS {
            if cells.known[cell][kind].is_some() || cells.known[0][kind].is_none() {
                continue;
            }
            let [low, high] = [OptimizationDirection::Minimize, OptimizationDirection::Maximize]
                .map(|direction| extreme(&cells, &[(cell, kind, 1)], direction));
            let (Some(low), Some(high)) = (low, high) else {
                return Err(Error::Unsuitable {
                    what: "tables",
                    found: "counts that do not add up, or too many that are withheld".into(),
                    expected: "tables of the same people".into(),
                });
            };
            let (low, high) = (low[cell][kind], high[cell][kind]);
            found.push(Withheld { table, row, count: COUNTS[kind], low, high });
        }
    }
    Ok(found)
}

/// All counts, known and unknown, where a sum of unknowns is as small or as large as it can be; nothing where there are none, or the
/// search did not end.
pub(super) fn extreme(
    cells: &Cells,
    wanted: &[(usize, usize, i64)],
    direction: OptimizationDirection,
) -> Option<Vec<[u64; KINDS]>> {
    interrupt::check();
    let mut problem = Problem::new(direction);
    let mut unknown = vec![[None; KINDS]; cells.known.len()];
    for (cell, known) in cells.known.iter().enumerate() {
        for kind in 0..KINDS {
            let (None, Some(total)) = (known[kind], cells.known[0][kind]) else { continue };
            let weight =
                wanted.iter().filter(|(c, k, _)| (*c, *k) == (cell, kind)).map(|(_, _, w)| *w as f64).sum();
            let most = i32::try_from(total).ok()?;
            unknown[cell][kind] = Some(problem.add_integer_var(weight, (0, most)));
        }
        // each count is at most the one before it
        for kind in 1..KINDS {
            let pair = [unknown[cell][kind - 1], unknown[cell][kind]];
            match (pair, [known[kind - 1], known[kind]]) {
                ([Some(a), Some(b)], _) => {
                    problem.add_constraint([(a, 1.0), (b, -1.0)], ComparisonOp::Ge, 0.0);
                }
                ([None, Some(b)], [Some(a), None]) => {
                    problem.add_constraint([(b, 1.0)], ComparisonOp::Le, a as f64);
                }
                ([Some(a), None], [None, Some(b)]) => {
                    problem.add_constraint([(a, 1.0)], ComparisonOp::Ge, b as f64);
                }
                _ => {}
            }
        }
    }
    for (whole, parts) in &cells.sums {
        for kind in (0..KINDS).filter(|kind| cells.known[0][*kind].is_some()) {
            let signed = parts.iter().map(|part| (*part, 1.0)).chain([(*whole, -1.0)]);
            let (mut row, mut rest) = (Vec::new(), 0.0);
            for (cell, sign) in signed {
                match unknown[cell][kind] {
                    Some(unknown) => row.push((unknown, sign)),
                    None => rest -= sign * cells.known[cell][kind]? as f64,
                }
            }
            match row.is_empty() {
                true if rest != 0.0 => return None,
                true => {}
                false => problem.add_constraint(row, ComparisonOp::Eq, rest),
            }
        }
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    let solution = problem.solve_with(options).ok()?.into_solution().ok()?;
    if !matches!(solution.status(), SolutionStatus::Optimal) {
        return None;
    }
    let value = |known: &Known, unknown: &[Option<microlp::Variable>; KINDS], kind: usize| match unknown[kind]
    {
        Some(unknown) => solution.var_value(unknown).round().max(0.0) as u64,
        None => known[kind].unwrap_or(0),
    };
    let each = cells.known.iter().zip(&unknown);
    Some(each.map(|(known, unknown)| std::array::from_fn(|kind| value(known, unknown, kind))).collect())
}
