//! Tables of their own for people who left (`[exits]`) and people who must not be called (`[do_not_call]`).
//!
//! A quarantined row of such a table excludes its person from calls, if the row names one: the person may have left or may object. A row of
//! the registry does the same if it is quarantined and its cells of `left` and `do_not_call` are not both a clear no. A word
//! that the mapping does not list stops the import; such a row does not. No list can give a meaning to an error, and one damaged row must
//! not delay the calls to all others. `quarantine.csv` has the reason of each row, and a note counts the excluded people.

use crate::accounts::Accounts;
use crate::dates::DAY;
use crate::error::Result;
use crate::mapping::Mapping;
use crate::programme::Previous;
use crate::records::{self, Value};
use crate::registry::Registry;
use crate::source::Input;
use restive_tables::words::counted;
use std::collections::{HashMap, HashSet};

/// Reads both tables into the registry.
pub(crate) fn read(
    mapping: &Mapping,
    input: &Input<'_>,
    registry: &mut Registry,
    accounts: &mut Accounts,
    notes: &mut Vec<String>,
) -> Result<()> {
    let mut quiet = |_: f64| {};
    for (name, rule) in [("exits", &mapping.exits), ("do_not_call", &mapping.never)] {
        let Some(rule) = rule else { continue };
        let (mut found, mut quarantined) = (Vec::new(), Vec::new());
        let account = records::read(
            mapping,
            input,
            registry,
            name,
            0,
            (rule, Value::One),
            accounts,
            notes,
            &mut found,
            Some(&mut quarantined),
            &mut quiet,
        )?;
        let named: Vec<u32> = found.iter().map(|record| record.person).collect();
        records::settle(&mut found, |_| account, accounts);
        // records of one key that contradict each other are quarantined
        let settled: HashSet<u32> = found.iter().map(|record| record.person).collect();
        quarantined.extend(named.into_iter().filter(|person| !settled.contains(person)));
        accounts.of(account).used += found.len() as u64;
        for record in found {
            let person = record.person as usize;
            if name == "exits" {
                registry.left[person] = registry.left[person].min(record.time.div_euclid(DAY));
            } else {
                registry.never_call[person] = true;
            }
        }
        let excluded = exclude(&mut registry.never_call, quarantined);
        notes.extend(exclusion_note(name, excluded));
    }
    Ok(())
}

/// Marks people who must not be called; returns the number of those who were not marked before.
pub(crate) fn exclude(never_call: &mut [bool], people: impl IntoIterator<Item = u32>) -> usize {
    let is_new = |person: &u32| !std::mem::replace(&mut never_call[*person as usize], true);
    people.into_iter().filter(is_new).count()
}

/// Note on people who are excluded because of quarantined rows of a table.
pub(crate) fn exclusion_note(table: &str, excluded: usize) -> Option<String> {
    (excluded > 0).then(|| {
        format!(
            "{table}: {} must not be called, because a quarantined row leaves open whether the person has left or objects to calls; correct the \
             rows that quarantine.csv lists and import again",
            counted(excluded as u64, "person").replace("persons", "people")
        )
    })
}

/// Keeps the days of leaving that an earlier log of exits had, though a newer one does not reach that far.
pub(crate) fn keep_earlier(registry: &mut Registry, previous: &Previous) {
    let people = &previous.people;
    let known: HashMap<&str, i64> =
        people.arms.iter().zip(&people.left).map(|(arm, day)| (arm.as_str(), *day)).collect();
    for (arm, left) in registry.arms.iter().zip(&mut registry.left) {
        *left = known.get(arm.as_str()).map_or(*left, |day| (*left).min(*day));
    }
}
