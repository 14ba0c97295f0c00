//! What plans wrote down becomes actions and propensities of the study.
//!
//! A plan names a period, says of everybody how likely she was to be on its list, whom the list has, and, as far as anybody has told,
//! what became of it. For the row whose decision the plan made (the state of period t, the calls of period t + 1):
//!
//! | the log of calls | the plan | action |
//! |---|---|---|
//! | a call | anything | 1: told twice, counted once |
//! | anything | a call was made | 1 |
//! | cannot be read, or its outcome is unknown | no call was made, or no outcome | not known |
//! | no call | no call was made | 0 |
//! | no call | listed, no outcome yet | 0 where the log reaches that period or a later one: its silence means none; otherwise not known |
//! | no call | not listed | 0 |
//!
//! **Propensities.** Whoever was on the list with probability p and called was called with probability p; whoever was neither listed nor
//! called was left alone with probability 1 − p, which is 1 for those whom the plan does not name: they could not be drawn. Where what
//! happened is not what was drawn (listed and not called, called and not listed) nobody knows how likely that was: there is no
//! propensity, as in all periods without a plan. That a listed woman's call had probability p takes for granted that lists are worked
//! off; evidence counts where they were not.
//!
//! Where calls count only if the woman was [reached](crate::mapping), plans give no propensities: who picks up is not drawn by anybody.

use crate::dates::{day_of, iso_day};
use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::records::{ACTIONS, Record};
use crate::registry::Registry;
use jiff::civil::Date;
use restive::instance::NO_ACTION;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A plan that was made, with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedWeek {
    /// what the plan is called
    pub plan: String,
    /// the first day of the period in which its calls were to be made
    pub first_day: Date,
    /// everybody who could have been on the list, and whoever else the plan speaks of
    pub people: Vec<PlannedPerson>,
}

/// One person in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPerson {
    /// what the study calls her
    pub arm: String,
    /// of being on the list, from 0 to 1
    pub probability: f64,
    /// whether she is
    pub is_listed: bool,
    /// what became of it; none: nobody has told
    pub outcome: Option<PlannedOutcome>,
}

/// What became of a planned call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedOutcome {
    /// whether there was a call
    pub contact: Contact,
    /// when; none: some day of the period
    pub day: Option<Date>,
    /// in a word, for the next list
    pub code: String,
}

/// Whether there was a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contact {
    /// nobody called
    NotCalled,
    /// a call was made, and what it was for did not take place
    NotReached,
    /// a call was made, and she was reached
    Reached,
}

/// What plans added to a study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// plans whose period the study has
    pub weeks: usize,
    /// actions whose propensity is known
    pub propensities: usize,
    /// listed people of whom nobody knows yet whether they were called
    pub without_outcome: usize,
    /// people of plans who are not in the programme
    pub strangers: usize,
}

/// `planned weeks 3, propensities known for 2,940 rows, 12 listed people without an outcome yet`
impl std::fmt::Display for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use restive_tables::words::grouped;
        let people = if self.without_outcome == 1 { "person" } else { "people" };
        write!(
            f,
            "planned weeks {}, propensities known for {} rows, {} listed {people} without an outcome yet",
            self.weeks,
            grouped(self.propensities as u64),
            grouped(self.without_outcome as u64)
        )
    }
}

/// What a plan says of one person.
#[derive(Clone, Copy)]
struct Entry {
    person: u32,
    period: i64,
    /// NaN where the plan says two things
    probability: f64,
    is_listed: bool,
    contact: Option<Contact>,
}

/// The plans of a programme, by person and period.
pub(crate) struct Plans {
    /// the periods, in order
    periods: Vec<i64>,
    /// by person and period
    entries: Vec<Entry>,
    /// the last period that the log of calls reaches
    covered: i64,
    has_propensities: bool,
    pub(crate) told: Planned,
}

/// What is known of the action of a row.
pub(crate) struct Decided {
    /// or [`NO_ACTION`]
    pub(crate) action: u8,
    /// NaN where it is not known
    pub(crate) propensity: f64,
}

impl Plans {
    /// Checks the plans, and finds their people in the registry.
    pub(crate) fn new(mapping: &Mapping, registry: &Registry, planned: &[PlannedWeek]) -> Result<Self> {
        let mut places: HashMap<&str, u32> =
            registry.other_arms.iter().map(|(arm, i)| (arm.as_str(), *i)).collect();
        places.extend(registry.arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i as u32)));
        let (mut periods, mut entries) = (Vec::new(), Vec::new());
        let mut told = Planned::default();
        let every = mapping.every;
        for week in planned {
            let refused = |found: String| {
                Err(Error::Refused(format!("plan {}: {found}", restive_tables::show::name(&week.plan))))
            };
            let first = day_of(week.first_day);
            let period = every.number(first);
            if every.start(period) != first {
                let (noun, start) = (every.noun(), iso_day(every.start(period)));
                return refused(format!(
                    "found calls from {}, expected the first day of a {noun} of the mapping, such as {start}",
                    week.first_day
                ));
            }
            if periods.contains(&period) {
                return refused(format!("found a second plan for {}, expected one", week.first_day));
            }
            periods.push(period);
            for person in &week.people {
                if !(0.0..=1.0).contains(&person.probability) {
                    let found = person.probability;
                    return refused(format!("found a probability of {found}, expected one from 0 to 1"));
                }
                match places.get(person.arm.as_str()) {
                    None => told.strangers += 1,
                    Some(&i) => entries.push(Entry {
                        person: i,
                        period,
                        probability: person.probability,
                        is_listed: person.is_listed,
                        contact: person.outcome.as_ref().map(|outcome| outcome.contact),
                    }),
                }
            }
        }
        periods.sort_unstable();
        entries.sort_by_key(|entry| (entry.person, entry.period));
        // two people of a plan who are one by now: how likely one of them was to be called is not known
        entries.dedup_by(|second, first| {
            let is_same = (first.person, first.period) == (second.person, second.period);
            if is_same {
                first.probability = f64::NAN;
                first.is_listed |= second.is_listed;
                first.contact = first.contact.max(second.contact);
            }
            is_same
        });
        let has_propensities = !mapping.actions.counts_reached;
        Ok(Self { periods, entries, covered: i64::MIN, has_propensities, told })
    }

    /// Hears how far the log of calls reaches: calls after the period that follows the `last` of the study are typing errors.
    pub(crate) fn cover(&mut self, mapping: &Mapping, records: &[Record], last: i64) {
        let days = records.iter().filter(|r| r.log == ACTIONS).map(|r| r.time.div_euclid(crate::dates::DAY));
        let periods = days.map(|day| mapping.every.number(day)).filter(|number| *number <= last + 1);
        self.covered = periods.max().unwrap_or(i64::MIN);
    }

    /// Whether some plan made the decision of a period's calls.
    pub(crate) fn has(&self, period: i64) -> bool {
        self.periods.binary_search(&period).is_ok()
    }

    /// Counts the plans of the periods after `first` until `last`, of which there is a decision.
    pub(crate) fn count(&mut self, first: i64, last: i64) {
        self.told.weeks = self.periods.iter().filter(|period| first < **period && **period <= last).count();
    }

    /// The action of a period of which there is a plan. `in_log` is what the log of calls says: none (−∞), no call (0), one (1), or
    /// that it cannot say (NaN).
    pub(crate) fn decide(&mut self, mapping: &Mapping, person: usize, period: i64, in_log: f64) -> Decided {
        let key = (person as u32, period);
        let found = self.entries.binary_search_by_key(&key, |entry| (entry.person, entry.period));
        let entry = found.ok().map(|at| self.entries[at]);
        let is_listed = entry.is_some_and(|entry| entry.is_listed);
        let told = entry.and_then(|entry| entry.contact);
        let is_call = |contact: Contact| match mapping.actions.counts_reached {
            true => contact == Contact::Reached,
            false => contact != Contact::NotCalled,
        };
        let action = match told.map(is_call) {
            _ if in_log == 1.0 => 1,
            Some(true) => 1,
            _ if in_log.is_nan() => NO_ACTION,
            Some(false) => 0,
            None if is_listed && in_log != 0.0 && period > self.covered => NO_ACTION,
            None => 0,
        };
        let probability = entry.map_or(0.0, |entry| entry.probability);
        let propensity = match action {
            _ if !self.has_propensities => f64::NAN,
            1 if is_listed && probability > 0.0 => probability,
            0 if !is_listed && probability < 1.0 => 1.0 - probability,
            _ => f64::NAN,
        };
        self.told.propensities += usize::from(!propensity.is_nan());
        self.told.without_outcome += usize::from(is_listed && action == NO_ACTION);
        Decided { action, propensity }
    }
}
