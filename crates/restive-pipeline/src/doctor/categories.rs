//! `near-duplicates`: categories that are one, written in two ways: "Primary", "primary ", "primry".
//!
//! Categories are folded to lower case, letters and digits. Those that fold to the same are the same. Rare ones (at most 2 % of people)
//! of five letters and more are also held against those that are at least five times as frequent: one letter more, less, other or in
//! another place makes them near, two from nine letters on. Numbers within them differ on purpose, "ward 1" and "ward 2".
//!
//! Columns with more categories than people can bear may hold names: they are left alone, here and in the report.

use super::columns::listed;
use super::finding::{Finding, Severity};
use super::log::Log;
use crate::columns::suspect;
use restive::data::features::Column;
use restive_tables::show;
use std::collections::BTreeMap;

const NAME: &str = "near-duplicates";
/// Categories of a column that is looked at.
const MOST: usize = 300;

pub(super) fn near_duplicates(log: &Log<'_>) -> Finding {
    let mut said = Vec::new();
    for (name, column) in log.known.features.iter().flat_map(|all| all.names().iter().zip(all.columns())) {
        let Column::Text(values) = column else { continue };
        if suspect(column).is_some() {
            continue;
        }
        let mut counts = BTreeMap::<&str, usize>::new();
        values.iter().flatten().for_each(|value| *counts.entry(value).or_default() += 1);
        if counts.len() > MOST {
            continue;
        }
        let pairs = pairs(&counts, values.len());
        if let Some((one, other)) = pairs.first() {
            let more = if pairs.len() > 1 { format!(" and {} more", pairs.len() - 1) } else { String::new() };
            let [one, other] = [one, other].map(|text| show::cell(text));
            said.push(format!("{}: \"{one}\" and \"{other}\"{more}", show::name(name)));
        }
    }
    match said.is_empty() {
        true => Finding::fine(NAME, "No two categories look like one written in two ways."),
        false => Finding::new(
            NAME,
            Severity::Warning,
            format!("Categories that look like one written in two ways: {}.", listed(&said)),
            "write them in one way: each counts as a category of its own",
        ),
    }
}

fn pairs<'a>(counts: &BTreeMap<&'a str, usize>, people: usize) -> Vec<(&'a str, &'a str)> {
    let fold =
        |text: &str| text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect::<Vec<char>>();
    let all: Vec<(&str, Vec<char>, usize)> =
        counts.iter().map(|(text, count)| (*text, fold(text), *count)).collect();
    let mut found = Vec::new();
    for (k, (one, folded, count)) in all.iter().enumerate() {
        if let Some((other, ..)) =
            all[k + 1..].iter().find(|(_, other, _)| other == folded && !folded.is_empty())
        {
            found.push((*one, *other));
            continue;
        }
        let is_rare = count * 50 <= people.max(50);
        let has_digits = folded.iter().any(|c| c.is_numeric());
        if !is_rare || has_digits || folded.len() < 5 {
            continue;
        }
        let most = if folded.len() >= 9 { 2 } else { 1 };
        let near = |(_, other, often): &&(&str, Vec<char>, usize)| {
            *often >= 5 * count && other.len() >= 5 && other != folded && distance(folded, other) <= most
        };
        if let Some((other, ..)) = all.iter().find(near) {
            found.push((*one, *other));
        }
    }
    found
}

/// Letters to add, take away, change or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut d = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i * width + j] = match (i, j) {
                (0, j) => j,
                (i, 0) => i,
                _ => {
                    let change = usize::from(a[i - 1] != b[j - 1]);
                    let plain = (d[(i - 1) * width + j] + 1)
                        .min(d[i * width + j - 1] + 1)
                        .min(d[(i - 1) * width + j - 1] + change);
                    let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    if is_swap { plain.min(d[(i - 2) * width + j - 2] + 1) } else { plain }
                }
            };
        }
    }
    d[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_by_letters() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        let truth = [
            ("primary", "primry", 1),
            ("abcd", "abdc", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("a", "a", 0),
        ];
        truth.iter().for_each(|(a, b, truth)| assert_eq!(d(a, b), *truth, "{a} {b}"));
    }

    #[test]
    fn one_word_in_two_ways_is_found_and_two_words_are_not() {
        let near = |counts: &[(&'static str, usize)]| {
            let counts: BTreeMap<_, _> = counts.iter().copied().collect();
            pairs(&counts, counts.values().sum())
        };
        assert_eq!(near(&[("Primary", 50), ("primary ", 40)]), [("Primary", "primary ")]);
        assert_eq!(near(&[("primary", 90), ("primry", 1)]), [("primry", "primary")]);
        for different in [
            [("male", 50), ("female", 40)],
            [("ward 1", 90), ("ward 2", 1)],
            [("north", 90), ("south", 1)],
            [("primary", 50), ("primry", 40)], // both frequent: two words, for all one knows
            [("no", 90), ("nr", 1)],
        ] {
            assert_eq!(near(&different), [], "{different:?}");
        }
    }
}
