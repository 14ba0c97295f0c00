//! Some people of one instance before the decision that is planned.
//!
//! Whatever a plan asks of a person is hers alone: her columns, her latest state, how she moves in the light of her own record. So people can
//! come in pieces, of any size and in any order, from memory, from a file that passes by or from a partition of a cluster, and are always
//! the same to the last bit.

use super::standing::Standing;
use crate::error::Result;
use crate::own_record::with_record;
use crate::rules::people::Known;
use restive::Transition;
use restive::history::Rule;
use restive::instance::Observation;
use restive_tables::{Contacts, StudyInstance};

/// Some people of one instance.
pub(crate) struct Here<'a> {
    /// what rules can look at
    pub(crate) known: Known<'a>,
    /// `[N,M,2,M]`: how they move, in the light of their records
    pub(crate) transition: Transition,
    /// `[N]`: the state or label that each is ranked by; none where there is nothing
    pub(crate) ranked: Vec<Option<u16>>,
    /// `[N]`: whether that was ever seen, and does not stand for what is unknown
    pub(crate) is_seen: Vec<bool>,
}

impl<'a> Here<'a> {
    /// People of a study with what is predicted of them; `now` is the step that is planned.
    pub(crate) fn new(
        there: &'a StudyInstance,
        prediction: &Transition,
        rule: &Rule,
        observation: Observation,
        people: Option<&'a Contacts>,
        now: usize,
    ) -> Result<Self> {
        let log = &there.trajectories;
        let standing = Standing::new(log, observation);
        Ok(Self {
            known: Known::new(there, people, now)?,
            transition: with_record(rule, log, observation, prediction)?,
            ranked: standing.ranked().collect(),
            is_seen: standing.is_seen().collect(),
        })
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.ranked.len()
    }
}
