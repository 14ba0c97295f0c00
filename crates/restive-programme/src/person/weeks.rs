//! What was seen of her and done, week by week.
//!
//! A row of the study has the state of its period and the decision at the end of it: the call that was decided on in row t was made in the
//! period of row t + 1. What lists and callers said comes from the ledger, by the first day of the period, so that a week that no import
//! knows yet is there too.

use super::{Casebook, PersonPlace};
use jiff::civil::Date;
use restive::instance::{NO_ACTION, UNSEEN};
use restive_ledger::Code;

/// A period of hers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonWeek {
    /// its first day, where that is known
    pub first_day: Option<Date>,
    /// the state in which she was seen
    pub state: Option<u16>,
    /// whether she was called; nothing where nobody knows
    pub is_called: Option<bool>,
    /// whether she was on its list
    pub is_listed: bool,
    /// what came of that
    pub outcome: Option<Code>,
}

/// Her periods, from the first in which anything is known of her.
pub(super) fn weeks(book: &Casebook, position: Option<usize>, places: &[PersonPlace]) -> Vec<PersonWeek> {
    let mut weeks = Vec::new();
    if let (Some(there), Some(i)) = (book.study.instances.first(), position) {
        let (state, action) = (there.trajectories.state(), there.trajectories.action());
        let (trajectories, steps, _) = state.dim();
        let mut decided = NO_ACTION;
        for (j, t) in (0..trajectories).flat_map(|j| (0..steps).map(move |t| (j, t))) {
            let Some(day) = book.days.get(j * steps + t) else { break };
            weeks.push(PersonWeek {
                first_day: *day,
                state: Some(state[[j, t, i]]).filter(|state| *state != UNSEEN),
                is_called: Some(decided).filter(|action| *action != NO_ACTION).map(|action| action == 1),
                is_listed: false,
                outcome: None,
            });
            decided = action[[j, t, i]];
        }
    }
    for place in places.iter().rev().filter(|place| place.is_current) {
        let known =
            weeks.iter().position(|week| week.first_day == place.first_day && week.first_day.is_some());
        let k = known.unwrap_or_else(|| {
            weeks.push(PersonWeek {
                first_day: place.first_day,
                state: None,
                is_called: None,
                is_listed: false,
                outcome: None,
            });
            weeks.len() - 1
        });
        let week = &mut weeks[k];
        week.is_listed = place.is_listed;
        week.outcome = place.outcome.as_ref().map(|outcome| outcome.code);
        if let Some(code) = week.outcome {
            // the callers' own word, before an import makes a call of it
            week.is_called = week.is_called.or(Some(code.is_call()));
        }
    }
    weeks.sort_by_key(|week| week.first_day);
    let is_known = |week: &PersonWeek| week.state.is_some() || week.is_called == Some(true) || week.is_listed;
    let first = weeks.iter().position(is_known).unwrap_or(weeks.len());
    weeks.split_off(first)
}
