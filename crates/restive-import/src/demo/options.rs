//! Options of a synthetic programme.

use crate::error::{Error, Result};
use jiff::civil::{Date, Weekday};

/// Method by which caseworkers choose the people to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// At random among all who may be called.
    Random,
    /// By a trait that is in no export: people who are engaged more often anyway are called more often, which confounds
    /// the effect of calls.
    Hunch,
}

/// People who benefit from a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// People with at most primary schooling who share a phone: a call that reaches them brings back about 45 % of those who
    /// were not engaged. For all others it does little.
    Schooling,
    /// People of one district: they are engaged with this probability in a week in which a call reaches them. For
    /// all others it adds 0.05.
    InDistrict {
        /// One of `north`, `south` and `east`.
        district: String,
        /// Probability of being engaged, in either state.
        chance: f64,
    },
}

/// Options of a [`SyntheticProgramme`](super::SyntheticProgramme).
#[derive(Debug, Clone, PartialEq)]
pub struct ProgrammeOptions {
    /// Number of people, 20 to 100,000. Default: 1000.
    pub people: usize,
    /// Number of weeks that are played and recorded first, 4 to 520. Default: 26.
    pub weeks: usize,
    /// Number of people called in a recorded week, 1 to a third of the people. Default: 60.
    pub calls: usize,
    /// Number of caseworkers, 1 to 26, named `Caller A`, `Caller B`, … Default: 8.
    pub workers: usize,
    /// Choice of people in recorded weeks. Default: at random.
    pub assignment: Assignment,
    /// Whether a third of the people join during the first weeks, and one in twenty leaves. Default: true.
    pub turnover: bool,
    /// Whether the exports have the faults of real ones. People, states and calls do not depend on it. Default: true.
    pub faults: bool,
    /// People who benefit from a call. Default: those with little schooling who share a phone.
    pub effect: Effect,
    /// First day of the first week, a Monday. Default: 5 January 2026.
    pub first_day: Date,
    /// Seed of all random numbers. Default: 1.
    pub seed: u64,
}

impl Default for ProgrammeOptions {
    fn default() -> Self {
        Self {
            people: 1000,
            weeks: 26,
            calls: 60,
            workers: 8,
            assignment: Assignment::Random,
            turnover: true,
            faults: true,
            effect: Effect::Schooling,
            first_day: Date::constant(2026, 1, 5),
            seed: 1,
        }
    }
}

impl ProgrammeOptions {
    /// Districts of a synthetic programme.
    pub const DISTRICTS: [&str; 3] = ["north", "south", "east"];

    /// Checks all options.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the first option that is out of range.
    pub fn check(&self) -> Result<()> {
        let third = self.people / 3;
        for (what, value, least, most) in [
            ("people", self.people, 20, 100_000),
            ("weeks", self.weeks, 4, 520),
            ("calls per week", self.calls, 1, third),
            ("caseworkers", self.workers, 1, 26),
        ] {
            if !(least..=most).contains(&value) {
                let reason = if what == "calls per week" { ", a third of the people" } else { "" };
                return Err(Error::Refused(format!(
                    "found {value} {what}, expected {least} to {most}{reason}"
                )));
            }
        }
        if self.first_day.weekday() != Weekday::Monday {
            return Err(Error::Refused(format!(
                "the first day {} is not a Monday; choose the Monday with which the first week begins",
                self.first_day
            )));
        }
        if !(1900..=2200).contains(&self.first_day.year()) {
            return Err(Error::Refused(format!(
                "found a first day in the year {}, expected 1900 to 2200",
                self.first_day.year()
            )));
        }
        if let Effect::InDistrict { district, chance } = &self.effect {
            if !Self::DISTRICTS.contains(&district.as_str()) {
                return Err(Error::Refused(format!(
                    "found district {district:?}, expected one of {}",
                    Self::DISTRICTS.join(", ")
                )));
            }
            if !(0.0..=1.0).contains(chance) {
                return Err(Error::Refused(format!("found probability {chance}, expected 0 to 1")));
            }
        }
        Ok(())
    }
}
