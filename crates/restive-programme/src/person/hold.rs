//! What keeps her off the next list, and until when.

use super::{Casebook, PersonPlace};
use crate::error::Result;
use crate::folder::Programme;
use jiff::ToSpan;
use jiff::civil::Date;
use restive_tables::Contact;

/// Something that keeps a person off lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// the registry says that she must not be called
    NotToBeCalled,
    /// she is not there: not yet, or no longer
    Gone,
    /// the rules name her among those who are never called
    Never,
    /// her last number was a wrong one
    WrongNumber,
    /// she was called a short while ago, and may be on the list of this day again
    CoolDown(Option<Date>),
    /// a trial leaves her alone
    Trial,
    /// a rule kept her off the latest list, in its words
    Rule(String),
}

/// What keeps her off the next list; of other rules than these it is known what they did to the latest list.
pub(super) fn holds(
    programme: &Programme,
    book: &Casebook,
    contact: &Contact,
    position: Option<usize>,
    latest: Option<&PersonPlace>,
) -> Result<Vec<Hold>> {
    let rules = &book.rules;
    let mut holds = Vec::new();
    if contact.do_not_call {
        return Ok(vec![Hold::NotToBeCalled]);
    }
    if !contact.is_there {
        return Ok(vec![Hold::Gone]);
    }
    if rules.never_call.contains(&contact.id) {
        holds.push(Hold::Never);
    }
    let outcome = contact.last_outcome.to_lowercase().replace(['_', '-'], " ");
    if !rules.calls_wrong_numbers && outcome == "wrong number" {
        holds.push(Hold::WrongNumber);
    }
    let waits = rules.waits(position.and_then(|position| last_call(book, position)), &contact.last_outcome);
    if waits > 0 {
        let next = programme.period()?;
        let weeks = i64::try_from(waits).unwrap_or(0);
        let span = match programme.summary.period.as_str() {
            "month" => i32::try_from(weeks).unwrap_or(0).months(),
            _ => {
                let days = i64::from((next.last_day - next.first_day).get_days()) + 1;
                weeks.saturating_mul(days).min(36_500).days()
            }
        };
        holds.push(Hold::CoolDown(next.first_day.checked_add(span).ok()));
    }
    if latest.is_some_and(PersonPlace::is_control) {
        holds.push(Hold::Trial);
    }
    if let Some(why) = latest.and_then(|place| place.excluded.clone()).filter(|_| holds.is_empty()) {
        holds.push(Hold::Rule(why));
    }
    Ok(holds)
}

/// How many periods ago she was called: 0 in the one that has just ended.
fn last_call(book: &Casebook, position: usize) -> Option<usize> {
    let log = book.study.instances.first()?.trajectories.action();
    let (trajectories, steps, _) = log.dim();
    let mut rows = (0..trajectories).flat_map(|j| (0..steps).map(move |t| (j, t)));
    let last = rows.rfind(|(j, t)| log[[*j, *t, position]] == 1).map(|(j, t)| j * steps + t)?;
    // the call of a row is made in the period of the next
    book.days.len().checked_sub(last + 2)
}
