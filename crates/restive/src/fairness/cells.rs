//! What a set of tables says, as counts and sums.
//!
//! A cell is a row of a table, or everybody. Five counts of people belong to it, each of a part of those counted before: people, who could be
//! called, who was listed, who was heard of, who was reached. The first two are printed or withheld together, then the third, then the last
//! two ([`PART`]). Sums tie the cells together: the groups of a grouping make up everybody, and the groups of a crossing each of the two groups that were
//! crossed.

use super::row::Row;
use super::table::Table;
use crate::error::{Error, Result};

/// Counts per cell.
pub(super) const KINDS: usize = 5;

/// The part of a row that each count belongs to: population, lists, reach.
pub(super) const PART: [usize; KINDS] = [0, 0, 1, 2, 2];

/// The counts of a cell, as far as they are known.
pub(super) type Known = [Option<u64>; KINDS];

/// That a table is the crossing of two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// the position of the crossing among the tables
    pub table: usize,
    /// the positions of the two tables that were crossed
    pub of: [usize; 2],
}

/// Cells, the first of which is everybody, and their sums.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    pub known: Vec<Known>,
    /// a whole, and the cells that make it up
    pub sums: Vec<(usize, Vec<usize>)>,
    /// per table, its first row
    pub first: Vec<usize>,
}

fn counts(row: &Row) -> Known {
    let (population, lists, reach) = (row.population.as_ref(), row.lists.as_ref(), row.reach.as_ref());
    [
        population.map(|of| of.people),
        population.map(|of| of.could),
        lists.map(|of| of.people),
        reach.map(|of| of.heard),
        reach.map(|of| of.people),
    ]
}

impl Cells {
    /// The cells of tables of the same people. Crossings must not go round in a circle: what three tables of pairs say of each other is more than
    /// their sums.
    pub(super) fn new(tables: &[Table], crossings: &[Crossing]) -> Result<Self> {
        let unsuitable = |found: String, expected: &str| {
            Err(Error::Unsuitable { what: "tables", found, expected: expected.into() })
        };
        let Some(one) = tables.first() else {
            return unsuitable("none".into(), "at least one");
        };
        if let Some(k) = tables.iter().position(|table| counts(&table.total) != counts(&one.total)) {
            return unsuitable(
                format!("other people in table {k} than in table 0"),
                "the same people in all",
            );
        }
        let mut known = vec![counts(&one.total)];
        let mut first = Vec::with_capacity(tables.len());
        for table in tables {
            first.push(known.len());
            known.extend(table.rows.iter().map(counts));
        }
        let rows = |k: usize| first[k]..first[k] + tables[k].rows.len();
        let mut sums = Vec::new();
        let mut root: Vec<usize> = (0..tables.len()).collect();
        for (k, table) in tables.iter().enumerate() {
            let mut ties = crossings.iter().filter(|crossing| crossing.table == k);
            let (Some(pairs), tie) = (&table.pairs, ties.next()) else {
                sums.push((0, rows(k).collect()));
                continue;
            };
            let Some(&Crossing { of, .. }) = tie.filter(|_| ties.next().is_none()) else {
                return unsuitable(format!("table {k}, a crossing"), "the two tables that it crosses, once");
            };
            let is_plain = |t: &usize| tables.get(*t).is_some_and(|table| table.pairs.is_none());
            if !of.iter().all(is_plain) || pairs.len() != table.rows.len() {
                return unsuitable(
                    format!("table {k} as a crossing of {of:?}"),
                    "tables that are no crossings",
                );
            }
            for side in 0..2 {
                let mut parts = vec![Vec::new(); tables[of[side]].rows.len()];
                for (cell, pair) in rows(k).zip(pairs) {
                    match parts.get_mut(pair[side] as usize) {
                        Some(parts) => parts.push(cell),
                        None => return unsuitable(format!("a row of table {k}"), "a crossing of two rows"),
                    }
                }
                sums.extend(rows(of[side]).zip(parts));
            }
            let top = |mut t: usize, root: &[usize]| {
                while root[t] != t {
                    t = root[t];
                }
                t
            };
            let [a, b] = of.map(|t| top(t, &root));
            if a == b {
                return unsuitable(format!("table {k}, which closes a circle of crossings"), "no circle");
            }
            root[a] = b;
        }
        Ok(Self { known, sums, first })
    }

    /// Which table and row a cell is; nothing for everybody.
    pub(super) fn place(&self, cell: usize) -> Option<(usize, usize)> {
        let table = self.first.iter().rposition(|first| *first <= cell)?;
        Some((table, cell - self.first[table]))
    }
}
