//! A table: every group of one grouping, and everybody.

use super::chance::{Callable, against};
use super::groups::Groups;
use super::period::Period;
use super::rate::{change, rate};
use super::row::{Lists, Population, Reach, Row};
use crate::error::Result;
use crate::statistics::{mean, proportion_ratio};

/// The groups of one grouping.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// one per group
    pub rows: Vec<Row>,
    /// of a crossing: per row, the rows of the two tables that were crossed
    pub pairs: Option<Vec<[u32; 2]>>,
    /// everybody
    pub total: Row,
    /// whether all groups may have the same rate; nothing where there is one group, no place, or something is withheld
    pub overall: Option<Overall>,
    /// the lowest rate of a group by the highest; nothing where no rate is above 0, or something is withheld
    pub lowest_to_highest: Option<f64>,
}

/// Whether all groups may have the same rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overall {
    /// probability of rates as unequal under chance
    pub p: f64,
    /// how it was found
    pub test: Test,
}

/// How a test of all groups was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// all tables with these margins were counted
    Exact,
    /// Pearson's chi-square; good where the smallest count expected is five or more
    ChiSquare {
        /// the smallest count expected
        smallest: f64,
    },
    /// people were dealt to groups anew, in the limit of many: for several weeks
    Shuffled,
}

/// The table of a period, beside the last one where there is one: the same people in the same order in all of them.
pub fn table(groups: &Groups, period: &Period<'_>, last: Option<&Period<'_>>) -> Result<Table> {
    let people = groups.of().len();
    period.check(people)?;
    last.map_or(Ok(()), |last| last.check(people))?;
    let everybody: Vec<usize> = (0..people).collect();
    let mut members = vec![Vec::new(); groups.names().len()];
    everybody.iter().for_each(|&i| members[groups.of()[i] as usize].push(i));
    let mut callable = Callable::default();
    for &i in everybody.iter().filter(|&&i| period.could[i] > 0) {
        callable.group.push(groups.of()[i] as usize);
        callable.listed.push(period.listed[i]);
        callable.could.push(period.could[i]);
    }
    let (chance, overall) = against(&callable, members.len());
    let total = row("all", &everybody, &everybody, period, last);
    let mut rows: Vec<Row> = (groups.names().iter().zip(&members))
        .map(|(name, members)| row(name, members, &everybody, period, last))
        .collect();
    for (g, (row, chance)) in rows.iter_mut().zip(chance).enumerate() {
        let others: Vec<usize> =
            everybody.iter().copied().filter(|&i| groups.of()[i] as usize != g).collect();
        let of_others = rate(&others, (period.listed, period.could));
        if let Some(lists) = &mut row.lists {
            lists.chance = chance;
            let both = lists.rate.zip(of_others);
            lists.to_others = both.and_then(|(mine, theirs)| proportion_ratio(&mine, &theirs).ok());
        }
    }
    let rates = rows.iter().filter_map(|row| row.lists.as_ref()?.rate).map(|rate| rate.share);
    let (low, high) = rates.fold((f64::INFINITY, 0.0f64), |(low, high), r| (low.min(r), high.max(r)));
    let lowest_to_highest = (high > 0.0).then(|| low / high);
    Ok(Table { rows, pairs: groups.pairs().map(<[_]>::to_vec), total, overall, lowest_to_highest })
}

/// One group beside everybody; what needs the other groups is added later.
fn row(name: &str, members: &[usize], all: &[usize], period: &Period<'_>, last: Option<&Period<'_>>) -> Row {
    let inside: Vec<usize> = members.iter().copied().filter(|&i| period.enrolled[i]).collect();
    let people = |of: &[u32]| inside.iter().filter(|&&i| of[i] > 0).count() as u64;
    let weeks = |of: &[u32], whom: &[usize]| whom.iter().map(|&i| u64::from(of[i])).sum::<u64>();
    let part = |x: u64, of: u64| (of > 0).then(|| x as f64 / of as f64);
    let share = |of: &[u32]| part(weeks(of, members), weeks(of, all));
    let numbers = |of: &[f64], whom: &mut dyn Iterator<Item = &usize>| {
        mean(&whom.map(|&i| of[i]).collect::<Vec<f64>>()).ok()
    };
    let enrolled = all.iter().filter(|&&i| period.enrolled[i]).count() as u64;
    let now = (period.listed, period.could);
    let mine = rate(members, now);
    let overall = rate(all, now).map(|rate| rate.share).filter(|share| *share > 0.0);
    let mut listed = inside.iter().filter(|&&i| period.listed[i] > 0);
    Row {
        name: name.to_string(),
        population: Some(Population {
            people: inside.len() as u64,
            could: people(period.could),
            could_weeks: weeks(period.could, members),
            share_of_people: part(inside.len() as u64, enrolled),
            share_of_could: share(period.could),
            need: numbers(period.need, &mut inside.iter()),
        }),
        lists: Some(Lists {
            people: people(period.listed),
            weeks: weeks(period.listed, members),
            share: share(period.listed),
            rate: mine,
            chance: None,
            to_overall: mine.zip(overall).map(|(mine, overall)| mine.share / overall),
            to_others: None,
            benefit: inside.iter().map(|&i| period.benefit[i]).sum(),
            benefit_per_listed: numbers(period.benefit, &mut listed),
            benefit_per_person: numbers(period.benefit, &mut inside.iter()),
            change: last.and_then(|last| change(members, now, (last.listed, last.could))),
        }),
        reach: Some(Reach {
            heard: people(period.outcomes),
            heard_weeks: weeks(period.outcomes, members),
            people: people(period.reached),
            weeks: weeks(period.reached, members),
            rate: rate(members, (period.reached, period.outcomes)),
        }),
    }
}
