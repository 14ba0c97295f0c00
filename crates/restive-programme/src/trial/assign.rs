//! The draw: who is in which group, made once, from a seed that was agreed on, and recorded before anybody is called by it.
//!
//! The file is registered as it is, with its SHA-256. There is no way to draw again: while a trial runs no other begins, a trial that was ended
//! keeps its name, and the same file draws the same groups from the same people.

use super::LIST;
use super::pool::{Pool, drawn_by};
use super::protocol::Protocol;
use super::unit;
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::list::spoken;
use crate::made::model_fingerprint;
use crate::store::{self, digest};
use crate::week::CONTROL;
use jiff::Timestamp;
use restive::trial::Group;
use restive_ledger::{Assigned, Ledger, NewTrial, Status};
use restive_pipeline::PlanAsked;
use restive_tables::{Contacts, show};
use serde::Serialize;
use std::path::Path;

/// A trial that was drawn and recorded.
#[derive(Debug, Clone, Serialize)]
pub struct TrialAssigned {
    /// what was agreed on
    pub protocol: Protocol,
    /// SHA-256 of the file
    pub digest: String,
    /// the first day of its first week
    pub starts: String,
    /// the same in words
    #[serde(skip)]
    pub starts_spoken: String,
    /// what a period is called
    pub noun: String,
    /// people in the group that lists are made of, and in the other
    pub groups: [usize; 2],
    /// clusters in each
    pub clusters: Option<[usize; 2]>,
    /// by how much the groups differ
    pub balance: Vec<Balance>,
    /// who is in which group, for whoever must not call the others
    pub people: Vec<Assigned>,
}

/// By how much the groups differ in something that was known before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Balance {
    /// in what
    pub of: String,
    /// list less control, in standard deviations
    pub difference: f64,
}

impl Programme {
    /// Draws the groups of a protocol, and records them.
    pub fn assign_trial(&self, file: &Path, now: Timestamp) -> Result<TrialAssigned> {
        let bytes = store::read(file)?;
        let digest = digest(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::Refused(format!("{}: found bytes that are no UTF-8, expected text", show::path(file)))
        })?;
        let protocol = Protocol::parse(file, &text)?;
        let mut ledger = Ledger::open(&self.ledger())?;
        // an import may have ended while this process waited
        let this = self.reopened()?;
        if let Some(running) = ledger.running_trial()? {
            return Err(Error::Refused(format!(
                "{}: found trial {}, which runs, expected none: groups are drawn once; restive trial end ends it",
                show::path(this.folder()),
                show::name(&running.facts.id)
            )));
        }
        let period = this.period()?;
        let plans = ledger.plans()?;
        let is_it = |plan: &&restive_ledger::Plan| {
            plan.status == Status::Current && plan.facts.period >= period.number
        };
        if let Some(plan) = plans.iter().find(is_it) {
            return Err(Error::Refused(format!(
                "{}: found the plan {} for the {} from {}, expected none: a trial begins with a {} whose list is not made yet; import \
                 what has come since, and assign before restive plan",
                show::path(this.folder()),
                plan.id,
                this.summary.period,
                spoken(period.first_day),
                this.summary.period
            )));
        }
        let rules = this.rules()?;
        let entry = this.model(None, &rules)?;
        let wrong = |key: &str, found: String, expected: String| {
            Error::Refused(format!("{}: {key}: found {found}, expected {expected}", show::path(file)))
        };
        let model = model_fingerprint(&entry.folder)?;
        if model != protocol.model {
            let expected =
                format!("{model} of the model {}, by which lists are made now: design again", entry.name);
            return Err(wrong("model", show::name(&protocol.model), expected));
        }
        let contacts = Contacts::read(&this.people())?;
        let materials =
            this.materials(&PlanAsked::default(), rules, &entry, &contacts, None, String::new())?;
        let outlook = materials.outlook()?;
        if unit(&materials.study) != protocol.counts {
            let expected = format!("{} as in the study", show::name(&unit(&materials.study)));
            return Err(wrong("counts", show::name(&protocol.counts), expected));
        }
        if outlook.reward != protocol.rewards {
            let expected = format!("{:?} as in the study", outlook.reward);
            return Err(wrong("rewards", format!("{:?}", protocol.rewards), expected));
        }
        if let (None, Some(cluster)) = (&protocol.by, &materials.study.settings.cluster) {
            let found = "nothing".to_string();
            let expected = format!(
                "{}, by which the study declares clusters, or \"\" to draw people one by one",
                show::quoted_name(cluster)
            );
            return Err(wrong("by", found, expected));
        }
        let by = drawn_by(&materials.study, protocol.by.as_deref());
        let pool =
            Pool::new(&materials.study, Some(&contacts), &outlook, protocol.weeks, by, &protocol.strata)?;
        let groups = pool.draw(protocol.share, protocol.seed)?;
        let word = |group: Group| if group == Group::Policy { LIST } else { CONTROL };
        let people: Vec<Assigned> = pool
            .arms()
            .enumerate()
            .map(|(k, arm)| Assigned {
                arm: arm.clone(),
                group: word(groups[k]).into(),
                stratum: pool.stratum.as_ref().map(|all| all[k].clone()),
                cluster: pool.cluster.as_ref().map(|all| all[k].clone()),
            })
            .collect();
        let trial = NewTrial {
            id: protocol.id.clone(),
            made_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            starts: period.first_day.to_string(),
            weeks: u32::try_from(protocol.weeks).unwrap_or(u32::MAX),
            protocol: text,
            protocol_digest: digest.clone(),
            seed: protocol.seed,
        };
        ledger.begin_trial(&trial, &people)?;
        let both = [Group::Policy, Group::Control];
        let balance = pool.balance(&groups).into_iter();
        Ok(TrialAssigned {
            groups: both.map(|group| groups.iter().filter(|one| **one == group).count()),
            clusters: pool.cluster.as_ref().map(|cluster| {
                both.map(|group| {
                    let mine = cluster.iter().zip(&groups).filter(|(_, one)| **one == group);
                    mine.map(|(name, _)| name).collect::<std::collections::BTreeSet<_>>().len()
                })
            }),
            balance: balance.map(|(of, difference)| Balance { of, difference }).collect(),
            people,
            starts: trial.starts,
            starts_spoken: spoken(period.first_day),
            noun: self.summary.period.clone(),
            protocol,
            digest,
        })
    }
}
