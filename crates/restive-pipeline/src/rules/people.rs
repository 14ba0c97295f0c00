//! What rules can look at: the columns kept of people, the features of the study, and what its log knows.
//!
//! | column | what it holds |
//! |---|---|
//! | `state` | the last state that was seen |
//! | `last_seen` | periods since then: 0 in the one that has just ended; missing: never seen |
//! | `last_call` | periods since the last call: 0 in the one that has just ended; missing: never called |
//! | `calls` | calls so far |
//!
//! A column kept of people hides a feature of the same name, and both hide what the log knows: whoever keeps a column `state` means it.

use super::condition::Value;
use super::{Rules, folded};
use crate::error::Result;
use ndarray::ArrayView3;
use restive::data::features::{Column, Features};
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::{Contact, Contacts, PeoplePiece, StudyInstance, show};
use serde::Serialize;

/// What the log knows of people: columns of these names.
pub(crate) const LOGGED: [&str; 4] = ["state", "last_seen", "last_call", "calls"];

/// When a person was last seen and called, in periods before the one that is planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Recency {
    /// the last state that was seen
    #[serde(skip)]
    pub state: Option<u16>,
    /// periods since then, 0 in the one that has just ended
    pub last_seen: Option<usize>,
    /// periods since the last call, likewise
    pub last_call: Option<usize>,
    /// calls so far
    pub calls: usize,
}

/// When everybody was last seen and called. `now` is the step that is planned, of the last trajectory.
pub(crate) fn recencies(state: ArrayView3<'_, u16>, action: ArrayView3<'_, u8>, now: usize) -> Vec<Recency> {
    let (trajectories, steps, arms) = state.dim();
    let mut all = vec![Recency::default(); arms];
    // periods from the end of a step of a trajectory to now: trajectories follow each other without a gap
    let since = |j: usize, t: usize| (trajectories - 1 - j) * steps + now.saturating_sub(t);
    for j in 0..trajectories {
        for t in 0..steps {
            for i in 0..arms {
                let one = &mut all[i];
                if state[[j, t, i]] != UNSEEN {
                    one.state = Some(state[[j, t, i]]);
                    one.last_seen = Some(since(j, t));
                }
                // the call of row t is made in the period of row t + 1
                if action[[j, t, i]] != NO_ACTION && action[[j, t, i]] == 1 {
                    one.last_call = Some(since(j, t + 1));
                    one.calls += 1;
                }
            }
        }
    }
    all
}

/// Everything that rules can look at, of some people of one instance.
pub(crate) struct Known<'a> {
    /// by name, `[N]`
    pub(crate) arms: &'a [String],
    features: &'a Features,
    /// columns of an engine's table that are no features
    beside: Option<&'a Features>,
    /// the columns kept of people
    kept: &'a [String],
    /// `[N]`; none where there is no table of people
    people: Option<Vec<&'a Contact>>,
    pub(crate) recency: Vec<Recency>,
    /// which of [`LOGGED`] are known
    logged: [bool; LOGGED.len()],
}

/// Where a column is.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Kept(usize),
    Feature(&'a Column),
    Logged(usize),
}

impl<'a> Known<'a> {
    /// Looks everybody up once; `now` is the step that is planned.
    pub(crate) fn new(there: &'a StudyInstance, people: Option<&'a Contacts>, now: usize) -> Result<Self> {
        let log = &there.trajectories;
        let find = |people: &'a Contacts| there.arms.iter().map(|arm| people.person(arm)).collect();
        Ok(Self {
            arms: &there.arms,
            features: &there.features,
            beside: None,
            kept: people.map_or(&[], |people| &people.kept),
            people: people.map(find).transpose()?,
            recency: recencies(log.state(), log.action(), now),
            logged: [true; LOGGED.len()],
        })
    }

    /// Of people as an engine has them.
    pub(crate) fn of_piece(piece: &'a PeoplePiece) -> Self {
        let recency = |i: usize| Recency {
            state: piece.state[i],
            last_seen: piece.last_seen[i],
            last_call: piece.last_call[i],
            calls: piece.calls[i],
        };
        Self {
            arms: &piece.arms,
            features: &piece.features,
            beside: Some(&piece.beside),
            kept: &[],
            people: piece.contacts.as_ref().map(|contacts| contacts.iter().collect()),
            recency: (0..piece.arms.len()).map(recency).collect(),
            logged: {
                let [last_seen, last_call, calls] = piece.has_recency;
                [true, last_seen, last_call, calls]
            },
        }
    }

    /// What the table of people says of one.
    pub(crate) fn person(&self, arm: usize) -> Option<&'a Contact> {
        self.people.as_ref().map(|people| people[arm])
    }

    /// The outcome of the last call, as outcomes are compared; empty where it is not known.
    pub(crate) fn last_outcome(&self, arm: usize) -> String {
        self.person(arm).map_or(String::new(), |person| folded(&person.last_outcome))
    }

    /// Where a column is; an error names the place of the rule that asks for it.
    pub(crate) fn find(&self, rules: &Rules, at: usize, name: &str) -> Result<Place<'a>> {
        if let Some(k) = self.kept.iter().position(|kept| kept == name) {
            return Ok(Place::Kept(k));
        }
        let beside = || self.beside.and_then(|beside| beside.column(name));
        if let Some(column) = self.features.column(name).or_else(beside) {
            return Ok(Place::Feature(column));
        }
        if let Some(k) = (0..LOGGED.len()).find(|k| LOGGED[*k] == name && self.logged[*k]) {
            return Ok(Place::Logged(k));
        }
        let beside = self.beside.map_or(&[][..], |beside| beside.names());
        let all = self.kept.iter().chain(self.features.names()).chain(beside);
        let logged = LOGGED.into_iter().zip(self.logged).filter(|(_, is_known)| *is_known);
        let all = all.map(String::as_str).chain(logged.map(|(name, _)| name));
        let names: Vec<String> = all.map(show::name).collect();
        let found = format!("found no column {}, expected one of {}", show::name(name), names.join(", "));
        Err(rules.fault(at, found))
    }

    /// Refuses a rule that goes by the last call where nobody says when that was.
    pub(crate) fn need_last_call(&self, rules: &Rules, what: &str) -> Result<()> {
        if self.logged[2] {
            return Ok(());
        }
        let path = show::path(rules.path());
        let said = format!("{path}: {what}: found no column last_call in the table of people, expected it");
        Err(crate::error::Error::Data(said.into()))
    }

    /// What stands there of a person.
    pub(crate) fn value(&self, place: Place<'_>, arm: usize) -> Value {
        let number = |x: Option<usize>| x.map_or(Value::Missing, |x| Value::Number(x as f64));
        match place {
            Place::Kept(k) => self.person(arm).map_or(Value::Missing, |person| Value::of(&person.kept[k])),
            Place::Feature(Column::Number(values)) if values[arm].is_nan() => Value::Missing,
            Place::Feature(Column::Number(values)) => Value::Number(values[arm]),
            Place::Feature(Column::Text(values)) => values[arm].as_deref().map_or(Value::Missing, Value::of),
            Place::Logged(k) => {
                let recency = &self.recency[arm];
                match LOGGED[k] {
                    "state" => number(recency.state.map(usize::from)),
                    "last_seen" => number(recency.last_seen),
                    "last_call" => number(recency.last_call),
                    _ => number(Some(recency.calls)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array3;

    #[test]
    fn periods_are_counted_back_from_the_one_that_has_just_ended() {
        // one trajectory of 4 rows; row 3 is planned
        let state = Array3::from_shape_vec((1, 4, 2), vec![0, 1, 1, 1, 0, UNSEEN, 1, UNSEEN]).unwrap();
        let action = Array3::from_shape_vec((1, 4, 2), vec![1, 0, 0, 1, 1, 0, NO_ACTION, NO_ACTION]).unwrap();
        let all = recencies(state.view(), action.view(), 3);
        // called by the decisions of rows 0 and 2: in periods 1 and 3, and 3 has just ended
        assert_eq!(all[0], Recency { state: Some(1), last_seen: Some(0), last_call: Some(0), calls: 2 });
        assert_eq!(all[1], Recency { state: Some(1), last_seen: Some(2), last_call: Some(1), calls: 1 });
    }
}
