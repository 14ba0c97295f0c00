//! The limits and costs of rules as an allocation has them, for whoever deals the places of a plan anew.

use super::contender::Contenders;
use super::gather::{costs, groups};
use crate::error::Result;
use crate::latest::planned_step;
use crate::rules::Rules;
use crate::rules::people::{Known, Place};
use restive::allocation::Family;
use restive_tables::{Contacts, StudyInstance};
use std::collections::BTreeSet;

/// The limits and costs of rules, of the people of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// caps and floors, one of each `[[limit]]`
    pub families: Vec<Family>,
    /// `[N]`: what a call to each costs, and what all may cost
    pub cost: Option<(Vec<f64>, f64)>,
    /// whether they look at what the log knows (`state`, `last_call`): then they hold for this log and no later one
    pub is_by_log: bool,
}

impl Rules {
    /// The limits and costs of these rules.
    pub fn limits(&self, there: &StudyInstance, people: Option<&Contacts>) -> Result<Limits> {
        let known = Known::new(there, people, planned_step(&there.trajectories))?;
        let limits = self.limits.iter().map(|limit| (limit.at, limit.by.as_str()));
        let cost = self.cost.iter().filter_map(|cost| Some((cost.at, cost.column.as_deref()?)));
        let mut is_by_log = false;
        for (at, column) in limits.chain(cost) {
            is_by_log |= matches!(known.find(self, at, column)?, Place::Logged(_));
        }
        let mut contenders = Contenders::new(self, 0, false);
        let groups = groups(&mut contenders, &mut BTreeSet::new(), self, &known)?;
        let cells = contenders.finish().1;
        let families = cells.families(&self.limits, |k| groups[k].clone());
        let families = families.into_iter().map(|(family, _)| family).collect();
        let most = self.cost.as_ref().map_or(0.0, |cost| cost.at_most);
        let cost = costs(self, &known)?.map(|of| (of, most));
        Ok(Limits { families, cost, is_by_log })
    }
}
