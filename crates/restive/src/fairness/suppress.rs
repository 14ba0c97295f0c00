//! Tables fit to be printed: no count of a few people can be read off them or worked out.
//!
//! # What is withheld
//! A count x of a group is *small* where 0 < x < `least`. Withheld is, in each group,
//!
//! - everything, where the people or those who could be called are few;
//! - lists and reach, where those listed, or those who could have been and were not, are few;
//! - reach, where those heard of, reached, or heard of and not reached, are few.
//!
//! Nobody of many is *not* withheld, nor is everybody: that a group of 300 had no place is the news such a table is for, and it is not the
//! news of one person. Nor are few who could *not* be called a reason to say nothing of hundreds who could. Withheld parts go as [wholes](super::Row), for one number of a part gives the others away.
//!
//! # So that it cannot be worked out
//! A total less the printed rows is the row that is not printed. Therefore further parts are withheld, the smallest first, among
//! the cells that share a sum with one that is exposed, until an exact [audit](super::audit()) says that every withheld count can have at least
//! two values, and a small one a range of at least half of `least`. Where no rows are left to withhold, that part is withheld of everybody, totals included. A kind of count that is 0
//! for everybody, or the same as the count before it, is no secret of any group and is not audited.
//!
//! Figures that come from all groups go as soon as one group is withheld: the test of all groups and the lowest rate by the highest; Holm's
//! correction is made over the groups that are printed. The change since the last period is printed where nothing of the table's lists is
//! withheld and no count of the last period is small, for the last period's counts could be worked out from it.
//!
//! # What is not promised
//! Readers may know more than the page: two pages of overlapping periods can be subtracted, a grouping that is not among the tables may nest with one that
//! is, and weeks are withheld with the people they belong to, but only the counts of people are audited.

use super::audit::extreme;
use super::cells::{Cells, Crossing, KINDS, Known, PART};
use super::chance::correct;
use super::row::{Lists, Row};
use super::table::Table;
use crate::error::{Error, Result};
use microlp::OptimizationDirection::{Maximize, Minimize};

/// People below which a count is small, unless a planner says otherwise.
pub const LEAST: u64 = 10;

/// The tables without what must not be printed.
pub fn suppress(tables: &[Table], crossings: &[Crossing], least: u64) -> Result<Vec<Table>> {
    let full = Cells::new(tables, crossings)?;
    let truth: Vec<[u64; KINDS]> = full.known.iter().filter_map(whole).collect();
    if truth.len() != full.known.len() {
        return Err(Error::Unsuitable {
            what: "tables",
            found: "some of which something is withheld already".into(),
            expected: "whole ones".into(),
        });
    }
    if !full.sums.iter().all(|(whole, parts)| {
        (0..KINDS).all(|kind| truth[*whole][kind] == parts.iter().map(|part| truth[*part][kind]).sum())
    }) {
        return Err(Error::Unsuitable {
            what: "tables",
            found: "rows that do not add up to the rows that were crossed".into(),
            expected: "crossings of the same people".into(),
        });
    }
    // per cell, how many of the three parts are printed
    let mut printed: Vec<usize> = truth.iter().map(|counts| allowed(counts, least)).collect();
    if printed[0] < 3 {
        let most = printed[0];
        printed.iter_mut().for_each(|parts| *parts = (*parts).min(most));
    }
    while let Some((cell, part)) = exposed(&full, &truth, &printed, least) {
        match further(&full, &truth, &printed, cell, part) {
            Some(next) => printed[next] = part,
            None => printed.iter_mut().for_each(|parts| *parts = (*parts).min(part)),
        }
    }
    let mut out = tables.to_vec();
    for (k, table) in out.iter_mut().enumerate() {
        let parts = &printed[full.first[k]..full.first[k] + table.rows.len()];
        table.rows.iter_mut().zip(parts).for_each(|(row, parts)| withhold(row, *parts));
        withhold(&mut table.total, printed[0]);
        let is_partial = parts.iter().chain([&printed[0]]).any(|parts| *parts < 2);
        let is_old_small = table.rows.iter().filter_map(|row| row.lists?.change).any(|change| {
            let missed = change.could_before - change.listed_before;
            [change.could_before, change.listed_before, missed].iter().any(|x| is_small(*x, least))
        });
        if is_partial {
            (table.overall, table.lowest_to_highest) = (None, None);
        }
        let mut lists: Vec<&mut Lists> = table.rows.iter_mut().filter_map(|row| row.lists.as_mut()).collect();
        if is_partial || is_old_small {
            lists.iter_mut().for_each(|lists| lists.change = None);
        }
        correct(lists.into_iter().filter_map(|lists| lists.chance.as_mut()));
    }
    Ok(out)
}

fn whole(known: &Known) -> Option<[u64; KINDS]> {
    let counts: Vec<u64> = known.iter().copied().collect::<Option<_>>()?;
    counts.try_into().ok()
}

fn is_small(count: u64, least: u64) -> bool {
    0 < count && count < least
}

/// How many parts of a row may be printed, by its own counts.
fn allowed(counts: &[u64; KINDS], least: u64) -> usize {
    let is_secret = |kind: &usize| {
        [Some(counts[*kind]), missed(counts, *kind)].into_iter().flatten().any(|x| is_small(x, least))
    };
    let first = (0..KINDS).find(is_secret);
    first.map_or(3, |kind| PART[kind])
}

/// Those of the count before it who are not in a count, where they must not be known: not listed, not reached.
fn missed(counts: &[u64; KINDS], kind: usize) -> Option<u64> {
    (kind == 2 || kind == 4).then(|| counts[kind - 1] - counts[kind])
}

/// A sum of withheld counts, by cell, kind and sign, and how wide its range has to be.
struct Secret {
    terms: Vec<(usize, usize, i64)>,
    width: u64,
}

impl Secret {
    fn value(&self, table: &[[u64; KINDS]]) -> i64 {
        self.terms.iter().map(|(cell, kind, sign)| sign * table[*cell][*kind] as i64).sum()
    }

    fn is_kept(&self, fitting: &[Vec<[u64; KINDS]>]) -> bool {
        let values = || fitting.iter().map(|table| self.value(table));
        let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        high.abs_diff(low) >= self.width
    }
}

/// A cell of which a withheld count is known too well, and the part it belongs to.
fn exposed(full: &Cells, truth: &[[u64; KINDS]], printed: &[usize], least: u64) -> Option<(usize, usize)> {
    let is_printed = |cell: usize, kind: usize| PART[kind] < printed[cell];
    let mut cells = full.clone();
    for (cell, known) in cells.known.iter_mut().enumerate() {
        (0..KINDS).filter(|kind| !is_printed(cell, *kind)).for_each(|kind| known[kind] = None);
    }
    // every table that fits what is printed says something of all secrets; the true one is the first
    let mut fitting: Vec<Vec<[u64; KINDS]>> = vec![truth.to_vec()];
    let margin = least.div_ceil(2).max(1);
    for kind in (0..KINDS).filter(|kind| is_printed(0, *kind)) {
        let total = truth[0][kind];
        if total == 0 || (kind > 0 && total == truth[0][kind - 1]) {
            continue;
        }
        for cell in (1..truth.len()).filter(|cell| !is_printed(*cell, kind)) {
            let few_missed = missed(&truth[cell], kind).is_some_and(|x| is_small(x, least));
            let is_few = is_small(truth[cell][kind], least);
            let is_before_printed = kind > 0 && is_printed(cell, kind - 1);
            let width = if is_few || (few_missed && is_before_printed) { margin } else { 1 };
            let mut secrets = vec![Secret { terms: vec![(cell, kind, 1)], width }];
            if few_missed && !is_before_printed {
                secrets.push(Secret { terms: vec![(cell, kind - 1, 1), (cell, kind, -1)], width: margin });
            }
            for secret in secrets {
                for direction in [Minimize, Maximize] {
                    if !secret.is_kept(&fitting) {
                        fitting.extend(extreme(&cells, &secret.terms, direction));
                    }
                }
                if !secret.is_kept(&fitting) {
                    return Some((cell, PART[kind]));
                }
            }
        }
    }
    None
}

/// The cell whose part is to be withheld as well: the smallest that shares a sum with the exposed one, else the smallest of all;
/// nothing where no row is left.
fn further(
    full: &Cells,
    truth: &[[u64; KINDS]],
    printed: &[usize],
    cell: usize,
    part: usize,
) -> Option<usize> {
    let kind = [0, 2, 4][part];
    let near = full.sums.iter().filter(|(whole, parts)| *whole == cell || parts.contains(&cell));
    let mut near: Vec<usize> = near.flat_map(|(whole, parts)| parts.iter().chain([whole])).copied().collect();
    near.sort_unstable();
    let smallest = |among: &mut dyn Iterator<Item = usize>| {
        // nobody has nothing to hide others behind: cells of nobody come last
        let size = |cell: &usize| (truth[*cell][kind] == 0, truth[*cell][kind], *cell);
        among.filter(|cell| *cell > 0 && printed[*cell] > part).min_by_key(size)
    };
    smallest(&mut near.into_iter()).or_else(|| smallest(&mut (1..truth.len())))
}

fn withhold(row: &mut Row, printed: usize) {
    if printed < 3 {
        row.reach = None;
    }
    if printed < 2 {
        row.lists = None;
    }
    if printed < 1 {
        row.population = None;
    }
}
