//! What came of the last lists, week by week: how many were on each, how many calls were made, how many people answered.

use crate::draft::Backdrop;
use crate::error::Result;
use crate::folder::Programme;
use restive_ledger::{Code, Ledger, Reader, Standing};
use serde::Serialize;

/// What came of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeekTold {
    /// the plan
    pub plan: String,
    /// the first day of its period
    pub first_day: String,
    /// how many people are on it
    pub listed: usize,
    /// of how many what came of it is known
    pub told: usize,
    /// calls that were made
    pub called: usize,
    /// people who answered
    pub answered: usize,
    /// people who were spoken with
    pub reached: usize,
}

impl WeekTold {
    /// What came of the list of a plan that stands so.
    pub(crate) fn read(reader: &Reader, plan: &Standing) -> Result<Self> {
        let codes = reader.codes(&plan.plan)?;
        let count =
            |is: fn(Code) -> bool| codes.iter().filter(|(code, _)| is(*code)).map(|(_, times)| times).sum();
        Ok(Self {
            listed: plan.listed,
            told: plan.listed - plan.missing,
            called: count(Code::is_call),
            answered: count(Code::is_contact),
            reached: count(|code| code == Code::Reached),
            first_day: plan.period_start.clone(),
            plan: plan.plan.clone(),
        })
    }
}

impl Programme {
    /// What came of the last lists that count, at most so many, the latest last; of what is known of earlier ones nothing is read again.
    pub fn weeks_told(&self, backdrop: &Backdrop, most: usize) -> Result<Vec<WeekTold>> {
        if !self.ledger().exists() {
            return Ok(Vec::new());
        }
        let reader = Ledger::read(&self.ledger())?;
        let Some(latest) = reader.latest()? else { return Ok(Vec::new()) };
        let mut weeks = backdrop.past.before(&reader, &latest)?.weeks.clone();
        weeks.push(WeekTold::read(&reader, &reader.standing(&latest.id)?)?);
        Ok(weeks.split_off(weeks.len().saturating_sub(most)))
    }
}
