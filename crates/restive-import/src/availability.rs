//! Availability: the periods in which each person could be called.
//!
//! A record of the log of `[availability]` belongs to one person and to all periods from the one of its time to the one of its column
//! `until`, both included. Without that column it belongs to the period of its time alone. With an empty cell in `until` it belongs to every
//! period from its time on. Records say either that the person could be called or that they could not, and in all other periods the opposite holds.
//!
//! Row t of the study gets the availability of period t + 1, that of its decision. A call in a period without availability contradicts the
//! log of calls: its row is quarantined, and whether there was a call is not known.

use crate::accounts::{Account, Accounts};
use crate::dates::DAY;
use crate::error::Result;
use crate::mapping::{AvailabilityRule, Mapping};
use crate::records::{self, AVAILABILITY, EARLIER, Record, Value};
use crate::registry::Registry;
use crate::source::Input;

/// The periods in which each person could be called.
pub(crate) struct Availability {
    says_available: bool,
    /// Person, first and last period of each record, in this order.
    spans: Vec<(u32, i64, i64)>,
}

/// Reads the records, each once; also returns the account of their rows.
pub(crate) fn read(
    mapping: &Mapping,
    rule: &AvailabilityRule,
    input: &Input<'_>,
    registry: &mut Registry,
    accounts: &mut Accounts,
    notes: &mut Vec<String>,
) -> Result<(Vec<Record>, u16)> {
    let mut found = Vec::new();
    let until = rule.until.as_ref().map_or(Value::One, Value::Until);
    let account = records::read(
        mapping,
        input,
        registry,
        "availability",
        AVAILABILITY,
        (&rule.log, until),
        accounts,
        notes,
        &mut found,
        None,
        &mut |_: f64| {},
    )?;
    records::settle(&mut found, |_| account, accounts);
    Ok((found, account))
}

impl Availability {
    pub(crate) fn new(mapping: &Mapping, rule: &AvailabilityRule, records: &[Record]) -> Self {
        let mut spans: Vec<(u32, i64, i64)> = records
            .iter()
            .map(|record| {
                let (first, last) = span(mapping, rule, record);
                (record.person, first, last)
            })
            .collect();
        spans.sort_unstable();
        Self { says_available: rule.says_available, spans }
    }

    /// Whether a person could be called in a period.
    pub(crate) fn is_available(&self, person: u32, period: i64) -> bool {
        let start = self.spans.partition_point(|(other, ..)| *other < person);
        let mut own = self.spans[start..].iter().take_while(|(other, ..)| *other == person);
        own.any(|(_, first, last)| (*first..=*last).contains(&period)) == self.says_available
    }
}

/// Counts records into their account: used if the study has a decision in one of their periods, `first` to `last`, otherwise outside.
pub(crate) fn count(
    mapping: &Mapping,
    rule: &AvailabilityRule,
    records: &[Record],
    (first, last): (i64, i64),
    account: &mut Account,
) {
    for record in records.iter().filter(|record| record.file != EARLIER) {
        let (from, until) = span(mapping, rule, record);
        match from <= last && first <= until {
            true => account.used += 1,
            false => account.outside += 1,
        }
    }
}

/// First and last period of a record.
fn span(mapping: &Mapping, rule: &AvailabilityRule, record: &Record) -> (i64, i64) {
    let period = |seconds: i64| mapping.every.number(seconds.div_euclid(DAY));
    let first = period(record.time);
    match rule.until {
        None => (first, first),
        Some(_) if record.value.is_nan() => (first, i64::MAX),
        Some(_) => (first, period(record.value as i64)),
    }
}
