//! A column, and the groups that people make by it.
//!
//! A column of words has a group for each; one of numbers is cut into three parts of about as many people, at numbers that are easy to
//! read, where it has more than [`FEW`] different values. Whoever has no value is in a group of their own.

use super::groups::{Grouping, STATE, refused};
use super::source::{Person, ReportSource};
use crate::error::{Error, Result};
use restive::data::features::Column;
use restive::fairness::Groups;
use restive_report::number::short;
use restive_tables::show;
use std::collections::HashMap;

/// Different numbers up to which each is a group of its own.
const FEW: usize = 5;
/// Groups of a column, at most: with more of them nobody could read the page.
const MOST: usize = 30;
/// The group of those of whom it is not known.
const NOT_KNOWN: &str = "not known";

/// A column that was asked for: a feature, or what is kept of people.
pub(super) fn asked_for(source: &ReportSource, name: &str) -> Result<Grouping> {
    if let Some(found) = feature(source, name) {
        return found;
    }
    let kept = source.contacts.as_ref().filter(|contacts| contacts.kept.iter().any(|kept| kept == name));
    let Some(contacts) = kept else {
        let features = source.study.instances.first().map(|instance| instance.features.names().to_vec());
        let features = features.unwrap_or_default();
        if name == STATE || features.iter().any(|feature| feature == name) {
            return Err(one_value(name));
        }
        let known =
            features.into_iter().chain(source.contacts.iter().flat_map(|contacts| contacts.kept.clone()));
        let known: Vec<String> = known.map(|name| show::name(&name)).collect();
        return Err(refused(format!(
            "--by: found {}, expected one of {STATE}, {}",
            show::name(name),
            known.join(", ")
        )));
    };
    let mut values = Vec::with_capacity(source.list.people.len());
    for person in &source.list.people {
        let cell = contacts.cell(source.arm(person), name)?;
        values.push(cell.filter(|text| !text.is_empty()).map(|text| source.words.value(name, text)));
    }
    by_text(source, name, values, MOST).unwrap_or_else(|| Err(one_value(name)))
}

fn one_value(name: &str) -> Error {
    refused(format!("--by {}: found the same for everybody, expected groups", show::name(name)))
}

/// What people were last seen as; none where that is the same for everybody, or seen at calls only.
pub(super) fn state(source: &ReportSource) -> Option<Result<Grouping>> {
    if source.study.settings.observation.chain().is_some() {
        return None;
    }
    let values = source.list.people.iter().map(|person| Some(source.state(person.state))).collect();
    by_text(source, STATE, values, usize::MAX)
}

/// A feature; none where it has only one value, an error where it has too many.
pub(super) fn feature(source: &ReportSource, name: &str) -> Option<Result<Grouping>> {
    let columns: Option<Vec<&Column>> =
        source.study.instances.iter().map(|instance| instance.features.column(name)).collect();
    let columns = columns?;
    let people = &source.list.people;
    if columns.iter().all(|column| matches!(column, Column::Text(_))) {
        let value = |person: &Person| match columns[person.instance] {
            Column::Text(values) => values[person.arm].as_ref().map(|text| source.words.value(name, text)),
            Column::Number(_) => None,
        };
        return by_text(source, name, people.iter().map(value).collect(), MOST);
    }
    let value = |person: &Person| match columns[person.instance] {
        Column::Number(values) => values[person.arm],
        Column::Text(_) => f64::NAN,
    };
    by_number(source, name, &people.iter().map(value).collect::<Vec<f64>>())
}

fn by_text(
    source: &ReportSource,
    name: &str,
    values: Vec<Option<String>>,
    most: usize,
) -> Option<Result<Grouping>> {
    let mut names: Vec<String> = values.iter().flatten().cloned().collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > most {
        return Some(Err(refused(format!(
            "--by {}: found {} different values, expected at most {most}: a page describes groups, not people",
            show::name(name),
            names.len()
        ))));
    }
    let known: HashMap<&str, u32> =
        names.iter().enumerate().map(|(k, name)| (name.as_str(), k as u32)).collect();
    let of: Vec<Option<u32>> =
        values.iter().map(|value| value.as_deref().and_then(|v| known.get(v).copied())).collect();
    grouping(source, name, names.clone(), &of)
}

fn by_number(source: &ReportSource, name: &str, values: &[f64]) -> Option<Result<Grouping>> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut different = sorted.clone();
    different.dedup();
    if different.len() <= FEW {
        let names: Vec<String> = different.iter().map(|x| short(*x)).collect();
        let place = |x: &f64| different.iter().position(|y| y == x).map(|k| k as u32);
        return grouping(source, name, names, &values.iter().map(place).collect::<Vec<_>>());
    }
    let cut = |k: usize| round_near(sorted[k * sorted.len() / 3], &sorted);
    let [low, high] = [cut(1), cut(2)];
    let place = |x: &f64| match x {
        x if !x.is_finite() => None,
        x if *x < low => Some(0),
        x if *x < high => Some(1),
        _ => Some(2),
    };
    let of: Vec<Option<u32>> = values.iter().map(place).collect();
    let between = format!("{} to under {}", short(low), short(high));
    let names = vec![format!("under {}", short(low)), between, format!("{} or more", short(high))];
    grouping(source, name, names, &of)
}

/// A number that is easy to read, so near that it parts people about the same.
fn round_near(x: f64, sorted: &[f64]) -> f64 {
    let spread = sorted[sorted.len() * 9 / 10] - sorted[sorted.len() / 10];
    if !(spread > 0.0) {
        return x;
    }
    let step = 10f64.powf((spread / 10.0).log10().floor());
    (x / step).round() * step
}

/// Groups that somebody is in; none where there is only one.
fn grouping(
    source: &ReportSource,
    name: &str,
    names: Vec<String>,
    of: &[Option<u32>],
) -> Option<Result<Grouping>> {
    let mut used = vec![false; names.len()];
    of.iter().flatten().for_each(|k| used[*k as usize] = true);
    let mut place = vec![0u32; names.len()];
    let mut kept = Vec::new();
    for (k, name) in names.into_iter().enumerate() {
        place[k] = kept.len() as u32;
        if used[k] {
            kept.push(name);
        }
    }
    let of: Vec<Option<u32>> = of.iter().map(|k| k.map(|k| place[k as usize])).collect();
    if kept.len() + usize::from(of.iter().any(Option::is_none)) < 2 {
        return None;
    }
    let called = if name == STATE { STATE.into() } else { source.words.column(name) };
    let groups = Groups::new(kept, &of, NOT_KNOWN).map_err(|error| refused(error.to_string()));
    Some(groups.map(|groups| Grouping { column: name.into(), called, groups }))
}
