//! Who stands where: people by rank, workers by name, and thirds of a list.
//!
//! Rows may come in any order. People are ordered by rank, those of one rank as they came. Workers are ordered by name as people order
//! names, *centre 2* before *centre 10*; whoever is called by nobody in particular comes last.
//!
//! Systems that know three levels of urgency get them by thirds: of n people in order, the one at place p = 0, …, n − 1 is in third
//! ⌊3p / n⌋. These systems find people by id: a person without one is left out there, and one who stands twice is taken at the better rank.

use super::data::{List, ListRow};
use super::text::line;
use std::collections::{BTreeMap, HashSet};

/// The people of one worker.
pub(super) struct Sheet<'a> {
    /// the worker, on one line; absent: nobody in particular
    pub worker: Option<String>,
    /// by rank
    pub rows: Vec<&'a ListRow>,
}

/// A person and the place in the order of all.
pub(super) struct Placed<'a> {
    pub row: &'a ListRow,
    /// 0 for whom to call first
    pub place: usize,
    /// 0, 1 or 2
    pub third: usize,
}

impl List {
    /// All rows by rank.
    pub(super) fn by_rank(&self) -> Vec<&ListRow> {
        let mut rows: Vec<&ListRow> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.rank);
        rows
    }

    /// Everybody who can be found again, once.
    pub(super) fn people(&self) -> Vec<Placed<'_>> {
        let mut seen = HashSet::new();
        let mut rows = self.by_rank();
        rows.retain(|row| !line(&row.id).is_empty() && seen.insert(row.id.as_str()));
        let count = rows.len();
        rows.into_iter()
            .enumerate()
            .map(|(place, row)| Placed { row, place, third: 3 * place / count })
            .collect()
    }

    /// A sheet for each worker.
    pub(super) fn sheets(&self) -> Vec<Sheet<'_>> {
        let mut sheets: BTreeMap<(bool, String, String), Vec<&ListRow>> = BTreeMap::new();
        for row in self.by_rank() {
            let worker = line(row.sheet.as_deref().unwrap_or(""));
            sheets.entry((worker.is_empty(), as_ordered(&worker), worker)).or_default().push(row);
        }
        let sheets = sheets.into_iter();
        sheets.map(|((none, _, worker), rows)| Sheet { worker: (!none).then_some(worker), rows }).collect()
    }
}

/// What a name is ordered by: in small letters, numbers as wide as any.
fn as_ordered(name: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in name.to_lowercase().chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            let number = digits.trim_start_matches('0');
            out += &format!("{number:0>20}");
            digits.clear();
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        let mut names = ["centre 10", "Centre 2", "centre 02b", "asha", "Bina", "centre", "7"];
        names.sort_by_key(|name| as_ordered(name));
        assert_eq!(names, ["7", "asha", "Bina", "centre", "Centre 2", "centre 02b", "centre 10"]);
    }
}
