//! Weeks of a synthetic programme: calls, and the states that follow.

use super::SyntheticProgramme;
use super::draws::{Draws, Purpose};
use super::options::Assignment;
use super::people::{EDUCATION, Person, REACHED, REACHED_THEN, TRIED_AGAIN, WRONG_NUMBER};
use crate::error::{Error, Result};
use std::collections::HashSet;

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The person was reached.
    Reached,
    /// The call was not answered.
    NoAnswer,
    /// The number was wrong.
    WrongNumber,
}

impl CallOutcome {
    /// Word in the log of calls.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::NoAnswer => "no answer",
            Self::WrongNumber => "wrong number",
        }
    }
}

/// A call, and the states before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Week of the call, from 0.
    pub week: usize,
    /// Position of the person in [`SyntheticProgramme::people`].
    pub person: usize,
    /// Outcome of the last attempt.
    pub outcome: CallOutcome,
    /// Number of attempts, 1 or 2.
    pub attempts: usize,
    /// Whether the programme's own log has the call.
    pub is_recorded: bool,
    /// Whether the person was engaged in the week before.
    pub engaged_before: bool,
    /// Whether the person was engaged in the week of the call.
    pub engaged_after: bool,
    /// Whether the person would have been engaged without the call.
    pub engaged_without: bool,
}

/// Outcome and number of attempts of a call to a person, by position.
type Attempted = (usize, CallOutcome, usize);

impl SyntheticProgramme {
    /// Plays a recorded week, with calls chosen as the options specify.
    pub fn play_week(&mut self) {
        let week = self.weeks();
        let draws = |purpose| Draws::new(self.options.seed, purpose, &[week]);
        let eligible: Vec<usize> =
            (0..self.people.len()).filter(|person| self.may_be_called(*person, week)).collect();
        let weight = |person: usize| match self.options.assignment {
            Assignment::Random => 1.0,
            Assignment::Hunch => {
                let trait_from_0 = 1.0 + self.people[person].inclination;
                trait_from_0 * trait_from_0 * trait_from_0
            }
        };
        let mut called = draws(Purpose::Assignment).sample(&eligible, self.options.calls, weight);
        called.sort_unstable();
        let mut draws = draws(Purpose::Outcomes);
        let attempted = called
            .into_iter()
            .map(|person| {
                let outcome = [CallOutcome::Reached, CallOutcome::WrongNumber, CallOutcome::NoAnswer]
                    [draws.place(&[REACHED, WRONG_NUMBER, 1.0])];
                let (again, then) = (draws.is(TRIED_AGAIN), draws.is(REACHED_THEN));
                match outcome {
                    CallOutcome::NoAnswer if again && then => (person, CallOutcome::Reached, 2),
                    CallOutcome::NoAnswer if again => (person, CallOutcome::NoAnswer, 2),
                    outcome => (person, outcome, 1),
                }
            })
            .collect();
        self.live(attempted, true);
    }

    /// Moves the truth on by one week, in which calls reach these people and no others.
    ///
    /// `is_recorded` is whether the programme's own log of calls has them: it has not if they are known from lists that came
    /// back. The random numbers of a week do not depend on the calls, so that two programmes with the same options and other
    /// calls differ only by the effects of these calls.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for an id that no person has, or of a person without a state in the week before or without messages in
    /// this one. Nothing has changed then.
    pub fn advance_week(&mut self, reached: &HashSet<String>, is_recorded: bool) -> Result<()> {
        let week = self.weeks();
        let mut attempted: Vec<Attempted> = Vec::with_capacity(reached.len());
        for id in reached {
            let person = self.position(id).ok_or_else(|| {
                Error::Refused(format!("the programme has no person {id:?}; use the ids of its registry"))
            })?;
            if !self.has_states(person, week) {
                return Err(Error::Refused(format!(
                    "person {id} cannot be called in week {week}; call people who have messages in that week and in the week before"
                )));
            }
            attempted.push((person, CallOutcome::Reached, 1));
        }
        attempted.sort_unstable_by_key(|(person, ..)| *person);
        self.live(attempted, is_recorded);
        Ok(())
    }

    /// Whether the state of the person is known in the week before and the person has messages in the week.
    fn has_states(&self, person: usize, week: usize) -> bool {
        week > 0 && [week - 1, week].iter().all(|week| self.people[person].is_present(*week))
    }

    /// Whether a caseworker may choose the person in a week.
    pub(super) fn may_be_called(&self, person: usize, week: usize) -> bool {
        self.has_states(person, week) && !self.people[person].do_not_call
    }

    /// Adds a week with these calls, which are in the order of people.
    fn live(&mut self, attempted: Vec<Attempted>, is_recorded: bool) {
        let week = self.weeks();
        let mut draws = Draws::new(self.options.seed, Purpose::Transitions, &[week]);
        let mut attempted = attempted.into_iter().peekable();
        let mut calls = Vec::new();
        for (position, (person, states)) in self.people.iter().zip(&mut self.states).enumerate() {
            let luck = draws.unit();
            let before = states.last().copied().flatten();
            let attempt = attempted.next_if(|(called, ..)| *called == position);
            let after = match before {
                _ if !person.is_present(week) => None,
                None => Some(luck < first_probability(person)),
                Some(before) => {
                    let passive = person.passive[usize::from(before)];
                    let added = match attempt {
                        Some((_, CallOutcome::Reached, _)) => person.effect[usize::from(before)],
                        _ => 0.0,
                    };
                    let after = luck < passive + added;
                    calls.extend(attempt.map(|(person, outcome, attempts)| Call {
                        week,
                        person,
                        outcome,
                        attempts,
                        is_recorded,
                        engaged_before: before,
                        engaged_after: after,
                        engaged_without: luck < passive,
                    }));
                    Some(after)
                }
            };
            states.push(after);
        }
        self.calls.push(calls);
    }
}

/// Probability of being engaged in the first week.
fn first_probability(person: &Person) -> f64 {
    let level = EDUCATION.iter().position(|level| *level == person.education).unwrap_or(0);
    0.45 + 0.05 * level as f64
}
