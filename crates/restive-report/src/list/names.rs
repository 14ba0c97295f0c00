//! What columns and sheets are called in a file, so that no two are called the same.
//!
//! The five columns of every list ([`reading_columns`]) have the first right to their names: a programme's own column `note` is called
//! `note_2`. The name of a sheet has at most 31 characters, none of `[]:*?/\`, no apostrophe at its ends, and is not *History*, which
//! spreadsheets keep to themselves.

use super::data::List;
use super::order::Sheet;
use super::text::{Distinct, line};
use super::words::reading_columns;

/// As long as the name of a sheet may be.
const SHEET: usize = 31;

impl List {
    /// The names of the list's own columns, for programs.
    pub(super) fn names(&self) -> Vec<String> {
        let numbered = |number: usize| format!("_{number}");
        let mut distinct = Distinct::default();
        for (name, _) in reading_columns(&self.words) {
            distinct.with(name, numbered);
        }
        let own = |(k, name): (usize, String)| match name.is_empty() {
            true => distinct.with(&format!("column_{}", k + 1), numbered),
            false => distinct.with(&name, numbered),
        };
        self.columns.iter().map(|column| line(&column.name)).enumerate().map(own).collect()
    }

    /// The headings of the list's own columns, for people.
    pub(super) fn headings(&self) -> Vec<String> {
        let mut distinct = Distinct::default();
        for (_, heading) in reading_columns(&self.words) {
            distinct.name(&heading);
        }
        let names = self.names();
        let own = |(k, heading): (usize, String)| {
            distinct.name(if heading.is_empty() { &names[k] } else { &heading })
        };
        self.columns.iter().map(|column| line(&column.heading)).enumerate().map(own).collect()
    }

    /// What a worker is called, where nobody in particular has a name too.
    pub(super) fn worker<'a>(&'a self, sheet: &'a Sheet) -> &'a str {
        sheet.worker.as_deref().unwrap_or(&self.words.without_worker)
    }

    /// The names of the summary's sheet and of the sheets of workers.
    pub(super) fn sheet_names(&self, sheets: &[Sheet]) -> (String, Vec<String>) {
        let mut distinct = Distinct::new(SHEET);
        distinct.name("History");
        let mut name = |wanted: &str, otherwise: &str| {
            let wanted = valid(wanted);
            distinct.name(if wanted.is_empty() { otherwise } else { &wanted })
        };
        let summary = name(&self.words.summary, "Summary");
        (summary, sheets.iter().map(|sheet| name(self.worker(sheet), "no worker")).collect())
    }
}

/// A name without what sheets may not have in theirs.
fn valid(name: &str) -> String {
    let plain = line(name).replace(['[', ']', ':', '*', '?', '/', '\\'], "-");
    // cut here as well: a cut may leave an apostrophe at the end
    super::text::cut(plain.trim_matches(edge), SHEET).trim_matches(edge).into()
}

fn edge(c: char) -> bool {
    c == '\'' || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_sheets() {
        assert_eq!(valid("Asha: [north] */?\\"), "Asha- -north- ----");
        assert_eq!(valid("'quoted'"), "quoted");
        assert_eq!(valid("' ' "), "");
        assert_eq!(valid(&"x".repeat(40)), "x".repeat(30) + "…");
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_name_becomes_one_that_spreadsheets_take(name in "['\\[\\]:*?/\\\\ a\u{1}\r\t😀]{0,40}|\\PC{0,40}") {
            let mut distinct = Distinct::new(SHEET);
            for wanted in [&name, &name] {
                let name = distinct.name(match valid(wanted).as_str() { "" => "x", name => name });
                prop_assert!(!name.is_empty() && name.encode_utf16().count() <= 31);
                prop_assert!(!name.starts_with('\'') && !name.ends_with('\''));
                prop_assert!(!name.contains(['[', ']', ':', '*', '?', '/', '\\']));
                prop_assert!(name.chars().all(|c| c >= ' '));
            }
        }
    }
}
