//! The last call of everybody and what came of it, for the next list: from the log of calls and from plans.
//!
//! A call is one that was made, whether or not it counts for the study. Its outcome is the mapping's own word, or the code that a plan's
//! outcome has; where both tell of one day the plan's is taken. Records of earlier imports have no words: what `people.parquet` said of
//! that day stands. A planned call of which nobody knows the day was on the first day of its period, as far as the list is concerned.

use crate::dates::{DAY, day_of};
use crate::mapping::{MADE, Mapping, REACHED};
use crate::planned::{Contact, PlannedWeek};
use crate::programme::PreviousPeople;
use crate::records::{ACTIONS, NO_WORD, Record};
use crate::registry::Registry;
use std::collections::HashMap;

/// The last call of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LastCall {
    /// days since 1970; none: never called
    pub(crate) day: Option<i64>,
    /// in a word; empty where nobody says
    pub(crate) outcome: String,
}

/// The last call of everybody, in the order of the registry.
pub(crate) fn last_calls(
    mapping: &Mapping,
    registry: &Registry,
    records: &[Record],
    planned: &[PlannedWeek],
    previous: Option<&PreviousPeople>,
) -> Vec<LastCall> {
    let mut places: HashMap<&str, usize> =
        registry.other_arms.iter().map(|(arm, i)| (arm.as_str(), *i as usize)).collect();
    places.extend(registry.arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)));
    let mut calls = vec![LastCall::default(); registry.len()];
    if let Some(previous) = previous {
        for (arm, last) in previous.arms.iter().zip(&previous.last_calls) {
            if let Some(&i) = places.get(arm.as_str())
                && last.day > calls[i].day
            {
                calls[i] = last.clone();
            }
        }
    }
    for record in records.iter().filter(|r| r.log == ACTIONS && (r.value == MADE || r.value == REACHED)) {
        let (i, day) = (record.person as usize, Some(record.time.div_euclid(DAY)));
        let word = match record.word {
            NO_WORD => "",
            word => mapping.actions.meanings.get(usize::from(word)).map_or("", |meaning| &meaning.word),
        };
        if day > calls[i].day || (day == calls[i].day && !word.is_empty()) {
            calls[i] = LastCall { day, outcome: word.into() };
        }
    }
    for week in planned {
        for person in &week.people {
            let (Some(outcome), Some(&i)) = (&person.outcome, places.get(person.arm.as_str())) else {
                continue;
            };
            let day = Some(day_of(outcome.day.unwrap_or(week.first_day)));
            if outcome.contact != Contact::NotCalled && day >= calls[i].day {
                calls[i] = LastCall { day, outcome: outcome.code.clone() };
            }
        }
    }
    calls
}
