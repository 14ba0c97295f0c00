//! Where a plan or a trial differs from what was sealed: which column of its row, which people of it.
//!
//! The tags of the seal (see `seal`) are compared with those of today. People whose slot has another tag are named, up to five; so
//! are those of a slot that had none, who were put there by hand. Of somebody who is gone nothing is left to name but the slot.

use crate::reader::Number;
use crate::replay::Sealed;
use crate::seal::{List, Part, Seal, Whole, slots};
use crate::verify::Fault;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// How many people a fault names.
const NAMED: usize = 5;

/// Tells all differences between what stands in the tables and what was sealed.
pub(crate) fn differences(
    connection: &Connection,
    whole: &Whole,
    number: Number,
    sealed: &Sealed,
    faults: &mut Vec<Fault>,
) -> rusqlite::Result<()> {
    let Some(found) = whole.seal(connection, number)? else { return Ok(()) };
    let subject = format!("{} {}", whole.name, sealed.id);
    let same = found.digest(whole) == sealed.digest;
    let sql = "SELECT content FROM chain WHERE number = ?1";
    let content: String = connection.query_row(sql, [sealed.link], |row| crate::event::required(row, 0))?;
    let recorded: Option<Seal> = serde_json::from_str(&content).ok();
    let recorded = recorded.filter(|recorded| recorded.parts.len() == found.parts.len());
    let fault = |subject: String, found: &str, expected: &str| {
        Fault::new(Some(sealed.link), subject, found, expected)
    };
    if same {
        if recorded.as_ref() != Some(&found) {
            faults.push(fault(subject, "other tags in the content of its link", "those of what was sealed"));
        }
        return Ok(());
    }
    let before = faults.len();
    let parts = recorded.iter().flat_map(|recorded| recorded.parts.iter().zip(&found.parts));
    let lists = std::iter::once(None).chain(whole.lists.iter().map(Some));
    for ((recorded, found), list) in parts.zip(lists).filter(|((a, b), _)| a.digest != b.digest) {
        let Some(list) = list else {
            let found = format!("another {}", columns(whole, recorded, found));
            faults.push(fault(subject.clone(), &found, "what was recorded"));
            continue;
        };
        for (who, found) in people(connection, list, whole.name, number, [recorded, found])? {
            let subject = format!("{subject}, {}{who}", list.table);
            faults.push(fault(subject, found, "what was recorded"));
        }
    }
    if faults.len() == before {
        faults.push(fault(subject, "something else", "what was recorded"));
    }
    Ok(())
}

/// The columns that differ, by name.
fn columns(whole: &Whole, recorded: &Part, found: &Part) -> String {
    let tag = |part: &Part, i: usize| part.tags.get(8 * i..8 * i + 8).map(str::to_string);
    let differ = |i: &usize| tag(recorded, *i) != tag(found, *i);
    let names: Vec<_> = (0..whole.columns.len()).filter(differ).map(|i| whole.columns[i]).collect();
    if names.is_empty() { "row".into() } else { names.join(", ") }
}

/// The people who differ, in words, and how.
fn people(
    connection: &Connection,
    list: &List,
    key: &str,
    number: Number,
    [recorded, found]: [&Part; 2],
) -> rusqlite::Result<Vec<(String, &'static str)>> {
    let (Some(recorded), Some(found)) = (slots(&recorded.tags), slots(&found.tags)) else {
        return Ok(vec![(String::new(), "something else")]);
    };
    let gone = recorded.keys().filter(|slot| !found.contains_key(slot)).count();
    let differ = |slot: &u16| recorded.get(slot) != found.get(slot);
    let differ: BTreeSet<u16> = found.keys().copied().filter(differ).collect();
    let (mut changed, mut new) = (Names::default(), Names::default());
    list.each(connection, key, number, |arm, slot, _| {
        if differ.contains(&slot) {
            let names = if recorded.contains_key(&slot) { &mut changed } else { &mut new };
            names.add(arm);
        }
    })?;
    let mut told = Vec::new();
    if changed.count > 0 {
        told.push((changed.told(), "something else"));
    }
    if new.count > 0 {
        told.push((new.told(), "what no link tells of"));
    }
    if gone > 0 {
        told.push((format!(": at least {gone} of them"), "nothing"));
    }
    if told.is_empty() {
        told.push((String::new(), "something else"));
    }
    Ok(told)
}

/// Some people, of whom the first few are named.
#[derive(Default)]
struct Names {
    count: usize,
    first: Vec<String>,
}

impl Names {
    fn add(&mut self, arm: &[u8]) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(format!("{:?}", String::from_utf8_lossy(arm)));
        }
    }

    fn told(&self) -> String {
        let more = self.count - self.first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(": {}{more}", self.first.join(", "))
    }
}
