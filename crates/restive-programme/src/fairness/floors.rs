//! What floors cost: the places of a list dealt anew, from the scores and under the limits that it was made by.
//!
//! Draws by lot are left aside, as where rules are priced: all places go by rank. The list is worth what people were ranked by, so that
//! a list by an index is priced in the index. Before anything is said, the places are dealt without a floor: where that is worth something else
//! than the list on record, its rules are no longer what they were, and nothing is priced.

use super::columns::Everybody;
use super::lists::OnRecord;
use super::said::{Floor, FloorStep, Table};
use crate::error::{Error, Result};
use restive::allocation::{Cost, Family, Problem, Refusal, allocate};
use restive::fairness::{Groups, floor_prices};
use restive_ledger::How;
use restive_pipeline::{Plan, PolicyName, Rules};
use std::collections::HashMap;

/// Floors that are priced at most, for one group.
const STEPS: usize = 20;

/// How far a list dealt anew may be from the one on record: sums in another order.
const SAME: f64 = 1e-9;

/// The places of a list, to be dealt anew. Arrays have an entry for everybody who could be called.
pub(super) struct Deal {
    /// positions among everybody
    person: Vec<usize>,
    score: Vec<f64>,
    key: Vec<u64>,
    must: Vec<bool>,
    places: usize,
    families: Vec<Family>,
    cost: Option<(Vec<f64>, f64)>,
    /// what scores are
    unit: String,
    is_index: bool,
}

impl Deal {
    /// The list of a plan of now, dealt instance by instance.
    pub(super) fn of_plan(plan: &Plan, position: &HashMap<[usize; 2], usize>, unit: &str) -> Self {
        let among: Vec<_> = plan.eligible.iter().filter(|one| !one.is_control).collect();
        let instances = 1 + among.iter().map(|one| one.instance).max().unwrap_or(0);
        let each = Family {
            group: among.iter().map(|one| one.instance as u32).collect(),
            at_least: vec![0; instances],
            at_most: vec![plan.budget; instances],
        };
        Self {
            person: among.iter().map(|one| position[&[one.instance, one.arm]]).collect(),
            score: among.iter().map(|one| one.score).collect(),
            key: among.iter().map(|one| one.tie).collect(),
            must: vec![false; among.len()],
            places: plan.budget * instances,
            families: if instances > 1 { vec![each] } else { Vec::new() },
            cost: None,
            unit: scale(plan.policy == PolicyName::Whittle, unit),
            is_index: plan.policy == PolicyName::Whittle,
        }
    }

    /// The list of a plan on record; or why it cannot be dealt anew.
    pub(super) fn of_record(
        on: &OnRecord,
        rules: &Rules,
        everybody: &Everybody<'_>,
        unit: &str,
    ) -> Result<std::result::Result<Self, String>> {
        let facts = &on.plan.facts;
        let position: HashMap<&str, usize> =
            everybody.arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)).collect();
        let among: Vec<_> = on.people.iter().filter(|person| !on.is_control(person)).collect();
        let person: Vec<usize> = among.iter().map(|one| position[one.arm.as_str()]).collect();
        let (mut families, mut cost) = (Vec::new(), None);
        if !rules.is_by_rank_alone() {
            let Some(there) = everybody.study.instances.first() else {
                return Ok(Err("the study has no people any more".into()));
            };
            let limits = match rules.limits(there, everybody.contacts) {
                Ok(limits) => limits,
                Err(error) => return Ok(Err(error.to_string())),
            };
            if limits.is_by_log && !everybody.study.has_fingerprint(&facts.study_fingerprint) {
                return Ok(Err("its limits look at the log of a day that has passed".into()));
            }
            let has_limits = !limits.families.is_empty() || limits.cost.is_some();
            if has_limits && person.iter().any(|i| everybody.place[*i].is_none()) {
                return Ok(Err("the study does not know all of its people any more".into()));
            }
            let arm = |i: &usize| everybody.place[*i].map_or(0, |[_, arm]| arm);
            let of = |family: Family| Family {
                group: person.iter().map(|i| family.group[arm(i)]).collect(),
                ..family
            };
            families = limits.families.into_iter().map(of).collect();
            cost = limits.cost.map(|(of, most)| (person.iter().map(|i| of[arm(i)]).collect(), most));
        }
        let deal = Self {
            score: among.iter().map(|one| one.score).collect(),
            key: among.iter().map(|one| one.tie).collect(),
            must: among.iter().map(|one| one.how == How::Must).collect(),
            places: facts.budget as usize,
            unit: scale(facts.policy == PolicyName::Whittle.name(), unit),
            is_index: facts.policy == PolicyName::Whittle.name(),
            person,
            families,
            cost,
        };
        let is_drawn = facts.explore_places > 0;
        let recorded: f64 = among.iter().filter(|one| one.how.is_listed()).map(|one| one.score).sum();
        match deal.problem(allocate) {
            Ok(again)
                if is_drawn
                    || (again.value - recorded).abs() <= again.gap + SAME * recorded.abs().max(1.0) =>
            {
                Ok(Ok(deal))
            }
            Ok(_) => Ok(Err("dealt by its rules as they read today, its places go to other people".into())),
            Err(Refusal::Conflict(_)) => Ok(Err("its rules as they read today cannot all be met".into())),
            Err(Refusal::Data(error)) => Err(restive_pipeline::Error::from(error).into()),
        }
    }

    fn problem<T>(&self, solve: impl FnOnce(&Problem<'_>) -> T) -> T {
        solve(&Problem {
            value: &self.score,
            key: &self.key,
            must: &self.must,
            places: self.places,
            fill: true,
            families: &self.families,
            cost: self.cost.as_ref().map(|(of, most)| Cost { of, most: *most }),
        })
    }

    /// What floors for a group cost. `printed` is the table of this list alone: groups whose places are withheld there have no name here.
    pub(super) fn floor(
        &self,
        groups: &Groups,
        group: usize,
        printed: &Table,
        is_asked: bool,
    ) -> Result<Floor> {
        let of: Vec<Option<u32>> = self.person.iter().map(|i| Some(groups.of()[*i])).collect();
        let here = Groups::new(groups.names().to_vec(), &of, "").map_err(restive_pipeline::Error::from)?;
        let prices = self.problem(|problem| floor_prices(problem, &here, group, STEPS));
        let prices = prices.map_err(|refusal| match refusal {
            Refusal::Data(error) => Error::from(restive_pipeline::Error::from(error)),
            conflict => Error::Refused(conflict.to_string()),
        })?;
        let is_told = |g: usize| printed.groups.get(g).is_some_and(|group| group.lists.is_some());
        let step = |price: &restive::fairness::FloorPrice| {
            let each = || price.change.iter().enumerate().filter(|(g, more)| *g != group && **more != 0);
            let told =
                each().filter(|(g, _)| is_told(*g)).map(|(g, more)| (Some(here.names()[g].clone()), *more));
            let rest: i64 = each().filter(|(g, _)| !is_told(*g)).map(|(_, more)| more).sum();
            let mut change: Vec<(Option<String>, i64)> = told.collect();
            change.sort_by_key(|(_, more)| *more);
            change.extend((rest != 0).then_some((None, rest)));
            FloorStep {
                floor: price.floor,
                lost: price.lost + 0.0,
                percent: price.percent.map(|percent| percent + 0.0),
                change,
                is_proven: price.gap == 0.0,
            }
        };
        let lists = printed.groups[group].lists.as_ref();
        Ok(Floor {
            column: printed.column.clone(),
            group: here.names()[group].clone(),
            is_asked,
            places: prices.places[group],
            of: prices.places.iter().sum(),
            by_chance: lists.and_then(|lists| lists.by_chance).map(|chance| chance.expected),
            most: prices.most,
            value: prices.value,
            unit: self.unit.clone(),
            is_index: self.is_index,
            steps: prices.floors.iter().map(step).collect(),
        })
    }
}

fn scale(is_index: bool, unit: &str) -> String {
    if is_index { PolicyName::Whittle.worth().into() } else { unit.into() }
}
