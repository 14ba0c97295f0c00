//! Where every row of every source went: to exactly one place, and the counts add up.
//!
//! A row is *used*, *repeated* (the same row again), *merged* (another id of a person, by the mapping's rule), *set aside* (the mapping
//! does not ask for it), *outside* (of the periods, or of the person's whole periods) or *quarantined*, with a reason. Reasons name
//! columns and lines, never what stands in a cell.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Where a row of a source stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowAt {
    /// of which source, by position in [`Accounts::sources`]
    pub(crate) source: u16,
    /// of which of its files
    pub(crate) file: u16,
    pub(crate) line: u32,
}

/// What became of the rows of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// what the mapping calls it: `people`, `actions`, the name of a log
    pub source: String,
    /// its files
    pub files: Vec<String>,
    /// all rows
    pub rows: u64,
    /// rows that the study was made from
    pub used: u64,
    /// rows that were there before
    pub repeated: u64,
    /// rows of people who are somebody else in the registry
    pub merged: u64,
    /// rows that the mapping does not ask for
    pub aside: u64,
    /// rows before or after the periods that count for their person
    pub outside: u64,
    /// rows that could not be used
    pub quarantined: u64,
}

impl Account {
    /// The places of all rows together: as many as there are rows.
    pub fn placed(&self) -> u64 {
        self.used + self.repeated + self.merged + self.aside + self.outside + self.quarantined
    }
}

/// A row or a cell that is listed, and why.
#[derive(Debug, Clone, Copy)]
struct Listed {
    at: RowAt,
    what: What,
    reason: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Row,
    Merged,
    Cell,
}

/// One line of `quarantine.csv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// the file
    pub file: String,
    /// the line
    pub line: u32,
    /// `row`, `merged` or `cell`: a cell that was left out of a row that was used
    pub what: &'static str,
    /// why
    pub reason: String,
}

/// A reason and how often it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// what the mapping calls the source
    pub source: String,
    /// `row`, `merged` or `cell`
    pub what: String,
    /// why
    pub reason: String,
    /// how many rows
    pub rows: u64,
}

/// The accounts of all sources.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) sources: Vec<Account>,
    listed: Vec<Listed>,
    reasons: Vec<String>,
    /// records whose value is not known: the reason, by position
    unknown: HashMap<RowAt, u16>,
}

impl Accounts {
    /// Opens the account of a source.
    pub(crate) fn open(&mut self, source: &str, files: &[String]) -> u16 {
        let account = Account { source: source.into(), files: files.to_vec(), ..Account::default() };
        self.sources.push(account);
        (self.sources.len() - 1) as u16
    }

    pub(crate) fn of(&mut self, source: u16) -> &mut Account {
        &mut self.sources[usize::from(source)]
    }

    fn reason(&mut self, reason: &str) -> u16 {
        match self.reasons.iter().position(|known| known == reason) {
            Some(at) => at as u16,
            // reasons carry lines only where rows are few; a crowd of them shares the last
            None if self.reasons.len() < usize::from(u16::MAX) => {
                self.reasons.push(reason.into());
                (self.reasons.len() - 1) as u16
            }
            None => u16::MAX - 1,
        }
    }

    /// A row cannot be used.
    pub(crate) fn quarantine(&mut self, at: RowAt, reason: &str) {
        self.of(at.source).quarantined += 1;
        let reason = self.reason(reason);
        self.listed.push(Listed { at, what: What::Row, reason });
    }

    /// Keeps the reason why the value of a record is not known, for [`quarantine_unknown`](Self::quarantine_unknown).
    pub(crate) fn note_unknown(&mut self, at: RowAt, reason: &str) {
        let reason = self.reason(reason);
        self.unknown.insert(at, reason);
    }

    /// Quarantines a record whose value is not known.
    pub(crate) fn quarantine_unknown(&mut self, at: RowAt) {
        let known = self.unknown.get(&at).copied();
        let reason = known.unwrap_or_else(|| self.reason("a value that is not known"));
        self.of(at.source).quarantined += 1;
        self.listed.push(Listed { at, what: What::Row, reason });
    }

    /// A row is another id of a person.
    pub(crate) fn merge(&mut self, at: RowAt, reason: &str) {
        self.of(at.source).merged += 1;
        let reason = self.reason(reason);
        self.listed.push(Listed { at, what: What::Merged, reason });
    }

    /// A cell of a row that is used cannot be.
    pub(crate) fn leave_out(&mut self, at: RowAt, reason: &str) {
        let reason = self.reason(reason);
        self.listed.push(Listed { at, what: What::Cell, reason });
    }

    /// Everything that is listed, by source, file and line.
    pub(crate) fn finish(mut self) -> (Vec<Account>, Vec<Quarantined>, Vec<ReasonCount>) {
        self.listed.sort_by_key(|listed| (listed.at, listed.what, listed.reason));
        let mut counts: Vec<ReasonCount> = Vec::new();
        let word = |what: What| match what {
            What::Row => "row",
            What::Merged => "merged",
            What::Cell => "cell",
        };
        let mut by_reason: std::collections::BTreeMap<(u16, What, u16), u64> = Default::default();
        for listed in &self.listed {
            *by_reason.entry((listed.at.source, listed.what, listed.reason)).or_default() += 1;
        }
        // lines in a reason make each its own: they are counted by what they have in common
        for ((source, what, reason), rows) in by_reason {
            let source = self.sources[usize::from(source)].source.clone();
            let reason = common(&self.reasons[usize::from(reason)]);
            match counts.iter_mut().find(|c| c.source == source && c.what == word(what) && c.reason == reason)
            {
                Some(count) => count.rows += rows,
                None => counts.push(ReasonCount { source, what: word(what).into(), reason, rows }),
            }
        }
        let quarantined = self.listed.iter().map(|listed| Quarantined {
            file: self.sources[usize::from(listed.at.source)]
                .files
                .get(usize::from(listed.at.file))
                .cloned()
                .unwrap_or_default(),
            line: listed.at.line,
            what: word(listed.what),
            reason: self.reasons[usize::from(listed.reason)].clone(),
        });
        let quarantined = quarantined.collect();
        (self.sources, quarantined, counts)
    }
}

/// A reason without the line it names.
fn common(reason: &str) -> String {
    match reason.split_once(" of line ") {
        Some((before, after)) => {
            format!("{before} of another line{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_into_one_place_and_reasons_by_what_they_share() {
        let mut accounts = Accounts::default();
        let people = accounts.open("people", &["registry.csv".into()]);
        accounts.of(people).rows = 4;
        accounts.of(people).used = 1;
        let at = |line| RowAt { source: people, file: 0, line };
        accounts.quarantine(at(3), "the id of line 2 again");
        accounts.quarantine(at(2), "the id of line 1 again");
        accounts.merge(at(9), "one person with that of line 2");
        accounts.leave_out(at(1), "no number in income");
        let (accounts, listed, counts) = accounts.finish();
        assert_eq!(accounts[0].placed(), 4);
        assert_eq!(listed.iter().map(|l| l.line).collect::<Vec<_>>(), [1, 2, 3, 9]);
        assert_eq!(listed[1].reason, "the id of line 1 again");
        let said: Vec<(&str, u64)> = counts.iter().map(|c| (&*c.reason, c.rows)).collect();
        assert_eq!(
            said,
            [
                ("the id of another line again", 2),
                ("one person with that of another line", 1),
                ("no number in income", 1)
            ]
        );
    }
}
