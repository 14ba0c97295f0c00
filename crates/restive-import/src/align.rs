//! From records to a trajectory: the state of a row is what was known when its decision was made.
//!
//! Periods p = 0 … P − 1 are numbered from the first. Row t of the study has
//! - the **state** of period t: the measure of what was recorded in it, known when it is over;
//! - the **action** of the decision that is made then, on the first day of period t + 1: whether there was a call in period t + 1.
//!
//! So what a call did is in row t + 1, and a call can never have caused the state it stands beside. The last row has a state and no
//! action. If the mapping says in which periods people could be called, row t also gets the [availability](crate::availability) of period
//! t + 1. All of it is computed from time stamps; nobody has to put rows beside each other. Where a [plan](crate::planned) made the
//! decision, what it wrote down counts beside the log of calls, and says how likely the action was.
//!
//! A person counts from the first period that begins after the day on which she joined to the last one that is over before she leaves. Within
//! that time a period without a record means what the mapping says. Periods at either end that are far from all others (eight empty
//! ones between) and hold less than a hundredth of the records are typing errors and stay outside.

use crate::accounts::{Accounts, RowAt};
use crate::availability::Availability;
use crate::dates::{DAY, day_of};
use crate::error::Result;
use crate::mapping::{Mapping, Measure, Silence};
use crate::planned::Plans;
use crate::records::{ACTIONS, EARLIER, Record, UNLISTED};
use crate::registry::{NEVER, Registry};
use ndarray::Array3;
use rayon::prelude::*;
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::words::counted;
use std::collections::BTreeMap;

/// The most periods of a study.
const MOST_PERIODS: i64 = 5000;
/// Empty periods that make what lies beyond them a typing error.
const GAP: i64 = 8;

/// What came of the records.
pub(crate) struct Aligned {
    /// the number of the first period
    pub(crate) first: i64,
    /// `[1, P, N]`
    pub(crate) state: Array3<u16>,
    /// `[1, P, N]`
    pub(crate) action: Array3<u8>,
    /// `[1, P, N]`, NaN where it is not known; none where no plan made a decision
    pub(crate) propensity: Option<Array3<f64>>,
    /// Whether each person could be called, `[1, P, N]`; `None` if the mapping does not say.
    pub(crate) available: Option<Array3<bool>>,
}

impl Aligned {
    pub(crate) fn periods(&self) -> usize {
        self.state.shape()[1]
    }

    /// Calls at each decision.
    pub(crate) fn calls(&self) -> Vec<usize> {
        let action = self.action.index_axis(ndarray::Axis(0), 0);
        let count = |t: usize| action.row(t).iter().filter(|a| **a == 1).count();
        (0..self.periods().saturating_sub(1)).map(count).collect()
    }
}

/// Sums up the records of a period.
#[derive(Clone, Copy)]
pub(crate) struct Summed {
    pub(crate) records: u32,
    largest: f64,
    sum: f64,
    last: f64,
}

impl Summed {
    pub(crate) const NONE: Self = Self { records: 0, largest: f64::NEG_INFINITY, sum: 0.0, last: 0.0 };

    pub(crate) fn add(&mut self, value: f64) {
        self.records += 1;
        self.largest = self.largest.max(value);
        self.sum += value;
        self.last = value;
    }

    pub(crate) fn measure(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Largest => self.largest,
            Measure::Sum => self.sum,
            Measure::Mean => self.sum / f64::from(self.records),
            Measure::Last => self.last,
            Measure::Count => f64::from(self.records),
        }
    }
}

/// Makes the trajectory; `account` is the account of a log. Records end up in the order of people and time.
pub(crate) fn align(
    mapping: &Mapping,
    registry: &Registry,
    records: &mut [Record],
    (plans, availability): (&mut Plans, Option<&Availability>),
    account: impl Fn(u16) -> u16,
    accounts: &mut Accounts,
    notes: &mut Vec<String>,
) -> Result<Aligned> {
    records
        .par_sort_unstable_by(|a, b| (a.person, a.time, a.log, a.key).cmp(&(b.person, b.time, b.log, b.key)));
    let (first, last) = span(mapping, registry, records, accounts, notes)?;
    let (periods, people) = ((last - first + 1) as usize, registry.len());
    let mut state = Array3::from_elem((1, periods, people), UNSEEN);
    let mut action = Array3::from_elem((1, periods, people), NO_ACTION);
    plans.cover(mapping, records, last);
    plans.count(first, last);
    let mut propensity = (plans.told.weeks > 0).then(|| Array3::from_elem((1, periods, people), f64::NAN));
    let mut available = availability.map(|_| Array3::from_elem((1, periods, people), true));
    let mut contradictions = 0u64;
    let every = mapping.every;
    let counts = |log: u16| log == ACTIONS || mapping.state.from.contains(&usize::from(log));
    let mut summed = vec![Summed::NONE; periods];
    let mut called = vec![f64::NEG_INFINITY; periods];
    let mut start = 0;
    for i in 0..people {
        let mut end = start;
        while end < records.len() && records[end].person as usize == i {
            end += 1;
        }
        let own = &records[start..end];
        start = end;
        summed.fill(Summed::NONE);
        // the meaning of the calls of a period: none, 0 not made, NaN unknown, 1 made
        called.fill(f64::NEG_INFINITY);
        let (joined, left) = (registry.joined[i], registry.left[i]);
        let mut from = match joined {
            i64::MIN => first,
            // whoever joins on its first day was not there when its decision was made
            day => every.number(day) + 1,
        };
        if mapping.state.silence == Silence::NotEnrolled {
            let is_event =
                |r: &&Record| r.log != ACTIONS && counts(r.log) && r.time.div_euclid(DAY) >= joined;
            let seen = own.iter().find(is_event).map(|r| every.number(r.time.div_euclid(DAY)));
            from = from.max(seen.unwrap_or(last + 1));
        }
        let until = if left == NEVER { last } else { last.min(every.number(left) - 1) };
        let from = from.max(first);
        for r in own {
            let source = account(r.log);
            let at = RowAt { source, file: r.file, line: r.line };
            let is_new = r.file != EARLIER;
            let day = r.time.div_euclid(DAY);
            let number = every.number(day);
            if day < joined {
                if is_new {
                    let what = if r.log == ACTIONS {
                        "a call before the person joined"
                    } else {
                        "a record before the person joined"
                    };
                    accounts.quarantine(at, what);
                }
                continue;
            }
            if !counts(r.log) {
                accounts.of(source).aside += u64::from(is_new);
                continue;
            }
            // a call of the first period has no state before it
            let earliest = if r.log == ACTIONS { from + 1 } else { from };
            if number < earliest || number > until {
                match r.value == UNLISTED && is_new {
                    true => accounts.quarantine_unknown(at),
                    false => accounts.of(source).outside += u64::from(is_new),
                }
                continue;
            }
            let p = (number - first) as usize;
            if r.log != ACTIONS {
                summed[p].add(r.value);
                match r.value == UNLISTED && is_new {
                    true => accounts.quarantine_unknown(at),
                    false => accounts.of(source).used += u64::from(is_new),
                }
                continue;
            }
            let is_call = r.value != UNLISTED && mapping.actions.is_call(r.value);
            let meaning = if is_call && availability.is_some_and(|all| !all.is_available(i as u32, number)) {
                contradictions += 1;
                if is_new {
                    let noun = every.noun();
                    accounts.quarantine(
                        at,
                        &format!("a call in a {noun} in which the person could not be called"),
                    );
                }
                f64::NAN
            } else if r.value == UNLISTED {
                if is_new {
                    accounts.quarantine_unknown(at);
                }
                f64::NAN
            } else {
                accounts.of(source).used += u64::from(is_new);
                match r.value {
                    value if value.is_nan() => f64::NAN,
                    value => f64::from(u8::from(mapping.actions.is_call(value))),
                }
            };
            called[p] = match (called[p], meaning) {
                (1.0, _) | (_, 1.0) => 1.0,
                (a, b) if a.is_nan() || b.is_nan() => f64::NAN,
                (_, b) => b,
            };
        }
        for number in from..=until {
            let p = (number - first) as usize;
            state[[0, p, i]] = match (summed[p].records, mapping.state.silence) {
                (0, Silence::Unknown) => UNSEEN,
                (0, Silence::Lowest | Silence::NotEnrolled) => 0,
                // one of its records does not say what it counts
                _ if summed[p].sum == UNLISTED => UNSEEN,
                _ => mapping.state.state(summed[p].measure(mapping.state.measure)),
            };
            if let (Some(available), Some(availability)) = (&mut available, availability) {
                available[[0, p, i]] = availability.is_available(i as u32, number + 1);
            }
            if number <= from {
                continue;
            }
            let at = [0, p - 1, i];
            match &mut propensity {
                Some(propensity) if plans.has(number) => {
                    let decided = plans.decide(mapping, i, number, called[p]);
                    (action[at], propensity[at]) = (decided.action, decided.propensity);
                    if availability.is_some_and(|all| !all.is_available(i as u32, number)) {
                        // no draw decided what happened to a person who could not be called
                        plans.told.propensities -= usize::from(!decided.propensity.is_nan());
                        propensity[at] = f64::NAN;
                        if decided.action == 1 {
                            contradictions += u64::from(!called[p].is_nan());
                            action[at] = NO_ACTION;
                        }
                    }
                }
                _ => {
                    action[at] = match called[p] {
                        x if x.is_nan() => NO_ACTION,
                        1.0 => 1,
                        _ => 0,
                    }
                }
            }
        }
    }
    // where calls count only if somebody was reached, plans say nothing of propensities
    let propensity = propensity.filter(|_| plans.told.propensities > 0);
    if contradictions > 0 {
        notes.push(format!(
            "{} in {}s in which the person could not be called, as [availability] says: whether there was a call is not known there; correct \
             the log of calls or the records of availability",
            counted(contradictions, "call"),
            every.noun()
        ));
    }
    Ok(Aligned { first, state, action, propensity, available })
}

/// The first and the last period.
fn span(
    mapping: &Mapping,
    registry: &Registry,
    records: &[Record],
    accounts: &Accounts,
    notes: &mut Vec<String>,
) -> Result<(i64, i64)> {
    let every = mapping.every;
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    // the first and the last day of each period on which a log has a record, counted from its start
    let mut days: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut before: Option<(i64, i64)> = None;
    for r in records {
        let day = r.time.div_euclid(DAY);
        // records come in the order of people and time: most are of the same period as the one before
        let number = match before {
            Some((known, number)) if known == day => number,
            _ => every.number(day),
        };
        before = Some((day, number));
        if r.log == ACTIONS || day < registry.joined[r.person as usize] {
            continue;
        }
        *counts.entry(number).or_default() += 1;
        let day = day - every.start(number);
        let known = days.entry(number).or_insert((day, day));
        *known = (day.min(known.0), day.max(known.1));
    }
    let refuse = |found: String| Err(mapping.text.fault(mapping.period_at, found));
    if counts.is_empty() {
        let told = |a: &crate::accounts::Account| {
            format!(
                "{} of {}: {} quarantined, {} set aside",
                counted(a.rows, "row"),
                a.source,
                a.quarantined,
                a.aside
            )
        };
        let told: Vec<String> = accounts.sources.iter().map(told).collect();
        return refuse(format!(
            "found no record of anybody in the logs, expected some to tell states from ({})",
            told.join("; ")
        ));
    }
    // what is far from all others
    let all: u64 = counts.values().sum();
    let numbers: Vec<i64> = counts.keys().copied().collect();
    let (mut low, mut high) = (0, numbers.len() - 1);
    let far = |range: &[i64]| 100 * range.iter().map(|number| counts[number]).sum::<u64>() < all;
    for k in 1..numbers.len() {
        if numbers[k] - numbers[k - 1] > GAP {
            if far(&numbers[..k]) && mapping.from.is_none() {
                low = low.max(k);
            } else if far(&numbers[k..]) && mapping.until.is_none() {
                high = high.min(k - 1);
            }
        }
    }
    let (low, high) = (low.min(high), high);
    let strays: u64 = numbers[..low].iter().chain(&numbers[high + 1..]).map(|number| counts[number]).sum();
    if strays > 0 {
        notes.push(format!(
            "{} far from all others in time: outside, unless from and until in [period] say otherwise",
            counted(strays, "record")
        ));
    }
    // A period is whole where its records begin no later and end no earlier than those of the others mostly do: a programme that
    // sends on Wednesdays has no records on Sundays.
    let usual = |number: i64, day: fn(&(i64, i64)) -> i64| {
        let mut others: Vec<i64> = days.iter().filter(|(n, _)| **n != number).map(|(_, d)| day(d)).collect();
        others.sort_unstable();
        others.get(others.len() / 2).copied()
    };
    let first = match &mapping.from {
        Some(from) => {
            let day = day_of(from.value);
            let number = every.number(day);
            if every.start(number) == day { number } else { number + 1 }
        }
        None => {
            let number = numbers[low];
            let is_late = usual(number, |d| d.0).is_some_and(|usual| days[&number].0 > usual);
            if is_late { number + 1 } else { number }
        }
    };
    let last = match &mapping.until {
        Some(until) => every.number(day_of(until.value)) - 1,
        None => {
            let number = numbers[high];
            let usual =
                usual(number, |d| d.1).unwrap_or_else(|| every.start(number + 1) - every.start(number) - 1);
            if days[&number].1 >= usual { number } else { number - 1 }
        }
    };
    if last <= first {
        let (noun, days) = (every.noun(), numbers[high] - numbers[low] + 1);
        return refuse(format!(
            "found records in {}, expected at least two whole {noun}s between from and until: a state before a decision and one after it",
            counted(days.max(1) as u64, noun)
        ));
    }
    if last - first >= MOST_PERIODS {
        return refuse(format!(
            "found {} {}s, expected at most {MOST_PERIODS}",
            last - first + 1,
            every.noun()
        ));
    }
    Ok((first, last))
}
