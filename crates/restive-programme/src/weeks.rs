//! What came of the last lists, week by week: how many were on each, how many calls were made, how many people answered.

use crate::error::Result;
use crate::folder::Programme;
use restive_ledger::{Ledger, Status};
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

impl Programme {
    /// What came of the last lists that count, at most so many, the latest last.
    pub fn weeks_told(&self, most: usize) -> Result<Vec<WeekTold>> {
        if !self.ledger().exists() {
            return Ok(Vec::new());
        }
        let reader = Ledger::read(&self.ledger())?;
        let mut plans = reader.standings()?.plans;
        plans.retain(|plan| plan.status == Status::Current);
        plans.sort_by_key(|plan| plan.period);
        let last = plans.split_off(plans.len().saturating_sub(most));
        let told = last.into_iter().map(|plan| {
            let codes = reader.codes(&plan.plan)?;
            let count = |is: fn(restive_ledger::Code) -> bool| {
                codes.iter().filter(|(code, _)| is(*code)).map(|(_, times)| times).sum()
            };
            Ok(WeekTold {
                listed: plan.listed,
                told: plan.listed - plan.missing,
                called: count(restive_ledger::Code::is_call),
                answered: count(restive_ledger::Code::is_contact),
                reached: count(|code| code == restive_ledger::Code::Reached),
                first_day: plan.period_start,
                plan: plan.plan,
            })
        });
        told.collect()
    }
}
