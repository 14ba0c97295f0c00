//! The tables of the given files: which system each comes from, how it is read, and what it is to the programme.
//!
//! A table is recognised by its columns, also below a line or two that stand before the header, and without a header where a profile
//! knows the order of its columns. A table that nobody knows is the registry where other tables name its rows, or where each row is
//! somebody; otherwise it is a log.

use super::profile::{self, Profile, Role, words};
use super::sniff::{Dated, Looks, Table, look};
use crate::error::Result;
use crate::source::{Archives, Input, Reading, Source, tables};

/// A table of the exports.
pub(super) struct Found {
    pub(super) reading: Reading,
    pub(super) profile: &'static Profile,
    pub(super) role: Role,
    pub(super) table: Table,
}

impl Found {
    pub(super) fn header(&self) -> Vec<String> {
        self.table.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The column that tells rows from each other: as the profile says, by its name, or the first that does.
    pub(super) fn id(&self) -> Option<&Looks> {
        let mut lines = self.profile.lines.iter().filter(|line| line.key == "id");
        if let Some(column) = lines.find_map(|line| profile::first(&line.columns, &self.header()).cloned()) {
            return self.table.column(&column);
        }
        let is_id = |column: &&Looks| {
            column.is_distinct()
                && column.cells * 20 >= self.table.rows * 19
                && column.dated() == Dated::No
                && !column.is_phone()
        };
        let ids: Vec<&Looks> = self.table.columns.iter().filter(is_id).collect();
        let is_called = |column: &&&Looks| {
            let name = column.name.to_lowercase();
            words().id.iter().any(|word| name.ends_with(word))
        };
        ids.iter().find(is_called).or_else(|| ids.iter().find(|c| !c.is_called(&words().kept))).copied()
    }
}

/// How a column of a log names the people of a registry.
pub(super) struct Link {
    pub(super) column: String,
    pub(super) is: String,
    /// `exact`, `folded` or `phone`
    pub(super) form: &'static str,
}

/// Opens every table of the files.
pub(super) fn open(files: &[String], input: &Input<'_>) -> Result<Vec<Found>> {
    let archives = Archives::default();
    let mut all = Vec::new();
    for file in files {
        let (mut names, is_workbook) = match input {
            Input::Files { base } => tables(base, file, &archives)?,
            Input::Tables(_) => (vec![file.clone()], false),
        };
        let several = names.len() > 1;
        if several && let Some(whole) = whole(file, &names, is_workbook, input, &archives) {
            names = vec![whole];
        }
        for name in names {
            match open_one(&name, input, &archives) {
                // an empty sheet beside others says nothing
                Err(_) if several => {}
                Err(error) => return Err(error.into()),
                Ok(found) => all.push(found),
            }
        }
    }
    together(&mut all);
    roles(&mut all);
    Ok(all)
}

/// All tables of a file as one, where they have the same columns.
fn whole(
    file: &str,
    names: &[String],
    is_workbook: bool,
    input: &Input<'_>,
    archives: &Archives,
) -> Option<String> {
    let header = |file: &str| {
        let reading = Reading { file: file.into(), ..Reading::default() };
        Source::open_from(&reading, input, archives).ok().map(|source| source.header().to_vec())
    };
    let first = header(&names[0])?;
    let is_same = names.iter().all(|name| header(name).is_some_and(|other| other == first));
    is_same.then(|| if is_workbook { format!("{file}#*") } else { file.into() })
}

fn open_one(
    file: &str,
    input: &Input<'_>,
    archives: &Archives,
) -> std::result::Result<Found, crate::SourceError> {
    let plain = Reading { file: file.into(), ..Reading::default() };
    let header = |skip: usize| {
        let reading = Reading { skip, ..plain.clone() };
        Source::open_from(&reading, input, archives).map(|source| source.header().to_vec())
    };
    let first = header(0)?;
    for skip in 0..3 {
        let Ok(names) = header(skip) else { break };
        if let Some(profile) = profile::recognise(&names) {
            let escape = profile.escape.as_ref().and_then(|escape| escape.bytes().next());
            return found(Reading { skip, escape, ..plain }, profile, input, archives);
        }
    }
    if let Some(profile) = profile::recognise_headless(&first) {
        return found(Reading { header: Some(profile.header.clone()), ..plain }, profile, input, archives);
    }
    // what stands in the first line are no names where one of them is a number or a date
    let is_cell = |name: &String| {
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        digits >= 5 || name.parse::<f64>().is_ok()
    };
    let header =
        first.iter().any(is_cell).then(|| (1..=first.len()).map(|k| format!("column {k}")).collect());
    found(Reading { header, ..plain }, profile::plain(), input, archives)
}

fn found(
    reading: Reading,
    profile: &'static Profile,
    input: &Input<'_>,
    archives: &Archives,
) -> std::result::Result<Found, crate::SourceError> {
    let table = look(Source::open_from(&reading, input, archives)?)?;
    Ok(Found { reading, profile, role: profile.role, table })
}

/// Tables of the same columns in files whose names differ in one place become one, with a star.
fn together(all: &mut Vec<Found>) {
    let mut k = 0;
    while k < all.len() {
        let header = all[k].header();
        let others: Vec<usize> = (k + 1..all.len())
            .filter(|j| all[*j].header() == header && all[*j].profile.role != Role::Any)
            .collect();
        let names: Vec<&str> = others.iter().chain([&k]).map(|j| &*all[*j].reading.file).collect();
        if !others.is_empty()
            && let Some(pattern) = starred(&names)
        {
            all[k].reading.file = pattern;
            others.iter().rev().for_each(|j| drop(all.remove(*j)));
        }
        k += 1;
    }
}

/// `messages-*.csv` for `messages-1.csv` and `messages-2.csv`.
fn starred(names: &[&str]) -> Option<String> {
    let first = names.first()?;
    let common = |ahead: &dyn Fn(&str) -> Vec<char>| {
        let own = ahead(first);
        let same = |other: &&str| own.iter().zip(ahead(other)).take_while(|(a, b)| **a == *b).count();
        own[..names.iter().map(same).min().unwrap_or(0)].to_vec()
    };
    let before: String = common(&|name| name.chars().collect()).into_iter().collect();
    let after: String = common(&|name| name.chars().rev().collect()).into_iter().rev().collect();
    let is_short = names.iter().any(|name| before.len() + after.len() > name.len());
    let is_folder = before.is_empty() || before.ends_with(std::path::is_separator);
    (!is_short && !is_folder).then(|| format!("{before}*{after}"))
}

/// Says what the tables that nobody knows are.
fn roles(all: &mut [Found]) {
    if !all.iter().any(|found| found.role == Role::People) {
        let links = |k: usize| {
            let others = all.iter().enumerate().filter(|(j, _)| *j != k);
            others.filter(|(_, log)| link(&log.table, &all[k]).is_some()).count()
        };
        let is_registry = |k: &usize| {
            let found = &all[*k];
            let has_people =
                |c: &Looks| c.is_phone() || c.is_called(&words().kept) || c.is_called(&words().born);
            found.role == Role::Any
                && found.id().is_some()
                && (links(*k) > 0 || found.table.columns.iter().any(has_people))
        };
        let best = (0..all.len()).filter(is_registry).max_by_key(|k| (links(*k), std::cmp::Reverse(*k)));
        if let Some(k) = best {
            all[k].role = Role::People;
        }
    }
    let mut has_actions = all.iter().any(|found| found.role == Role::Actions);
    for found in all.iter_mut().filter(|found| found.role == Role::Any) {
        let has_outcome = found.table.columns.iter().any(|c| c.is_called(&words().outcome));
        found.role = if has_outcome && !has_actions { Role::Actions } else { Role::Events };
        has_actions |= found.role == Role::Actions;
    }
}

/// The column of a log that names the people of a registry, by the cells that they share.
pub(super) fn link(log: &Table, registry: &Found) -> Option<Link> {
    let id = registry.id().map(|column| column.name.clone());
    let mut best: Option<(u64, bool, Link)> = None;
    for there in &registry.table.columns {
        let is_id = Some(&there.name) == id.as_ref();
        if !is_id && !there.is_phone() {
            continue;
        }
        for here in log.columns.iter().filter(|here| here.cells > 0) {
            let shared = |a: &std::collections::HashSet<u64>, b: &std::collections::HashSet<u64>| {
                (1000 * a.intersection(b).count()).checked_div(a.len()).unwrap_or(0) as u64
            };
            let (share, form) = match there.is_phone() && here.is_phone() {
                true => (shared(&here.tails, &there.tails), "phone"),
                false => {
                    let exact = shared(&here.exact, &there.exact);
                    let folded = shared(&here.keys, &there.keys);
                    (folded, if exact == folded { "exact" } else { "folded" })
                }
            };
            let is_better = best.as_ref().is_none_or(|(known, was_id, _)| (share, is_id) > (*known, *was_id));
            if share >= 500 && is_better {
                let link = Link { column: here.name.clone(), is: there.name.clone(), form };
                best = Some((share, is_id, link));
            }
        }
    }
    best.map(|(_, _, link)| link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_where_names_differ() {
        assert_eq!(starred(&["a/m-1.csv", "a/m-22.csv"]).as_deref(), Some("a/m-*.csv"));
        assert_eq!(starred(&["a/x.csv", "a/y.csv"]), None);
        assert_eq!(starred(&["x.zip#a1.csv", "x.zip#a2.csv"]).as_deref(), Some("x.zip#a*.csv"));
    }
}
