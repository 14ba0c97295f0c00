//! What a design says: numbers by estimator and by size, what would be agreed on, and what should be known before.

use super::protocol::{Protocol, named};
use crate::report::words::of_people;
use crate::week::CONTROL;
use restive::trial::Estimator;
use restive_pipeline::words::{counted, grouped};
use restive_pipeline::{Identification, Outlook};
use serde::Serialize;

/// What such a trial would find.
#[derive(Debug, Clone, Serialize)]
pub struct Designed {
    /// people who would be randomised
    pub people: usize,
    /// of these in the group that lists are made of, and in the other
    pub groups: [usize; 2],
    /// clusters
    pub clusters: Option<usize>,
    /// strata
    pub strata: usize,
    /// places a week
    pub budget: usize,
    /// what a period is called
    pub noun: String,
    /// people of the list group who would be called at any time, in the mean
    pub called: f64,
    /// people of the other group who would have been called
    pub would_be_called: f64,
    /// Whether the log identifies the effect of calls; if not, `expected` is an assumption.
    pub effects: Identification,
    /// what the model expects of the calls: the total over all weeks
    pub expected: f64,
    /// each estimator, with the effect that the model expects, half of it, and none
    pub estimators: Vec<AtEffect>,
    /// the effect that can be found with parts of the people, by the estimator that counts
    pub sizes: Vec<AtSize>,
    /// simulated trials of each cell
    pub trials: usize,
    /// what would be agreed on
    pub protocol: Protocol,
    /// what should be known before it is
    pub warnings: Vec<String>,
}

/// What an estimator would find.
#[derive(Debug, Clone, Serialize)]
pub struct AtEffect {
    /// which
    #[serde(serialize_with = "named")]
    pub estimator: Estimator,
    /// the total effect that it finds in four of five cases
    pub detectable: Option<f64>,
    /// the same per person called
    pub detectable_per_person_called: Option<f64>,
    /// how often it finds an effect where there is none, half of what the model expects, and all of it
    pub power: [Option<f64>; 3],
    /// of the simulated trials it answered so many
    pub answered: usize,
    /// why not in the others
    pub refused: Option<String>,
}

/// What a smaller trial would find.
#[derive(Debug, Clone, Serialize)]
pub struct AtSize {
    /// the part of the people who take part
    pub size: f64,
    /// how many that are
    pub people: usize,
    /// the total effect that is found in four of five cases
    pub detectable: Option<f64>,
    /// the same per person called
    pub detectable_per_person_called: Option<f64>,
    /// how often the effect that the model expects is found
    pub power: Option<f64>,
}

/// people of the control group who would have been called, at least
const LEAST: f64 = 10.0;

impl Designed {
    /// What should be known before it is agreed on; clusters were taken to differ by `cluster_sd`.
    pub(super) fn warnings(&self, outlook: &Outlook, cluster_sd: f64) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(reason) = self.effects.reason() {
            all.push(format!(
                "the effect of calls is assumed as the model has it: the log does not identify it ({}); compare the effect that the trial \
                 finds with the smallest effect that would justify the calls",
                of_people(reason)
            ));
        }
        if !outlook.is_by_rank_alone {
            all.push(
                "the rules have limits, costs, must_call or explore: who would have been called cannot be told by rank, and the analysis will \
                 refuse all estimators but regression and difference; without these rules for the time of the trial it would find smaller effects"
                    .into(),
            );
        }
        if outlook.has_waits {
            all.push(
                "the simulation calls whoever ranks highest: cool-downs and people who are left out for a time are not in it"
                    .into(),
            );
        }
        if self.clusters.is_some() {
            all.push(format!(
                "clusters are taken to differ by {cluster_sd} in log-odds (--cluster-sd): with more, the trial finds less"
            ));
        } else if self.would_be_called < LEAST {
            all.push(format!(
                "about {:.1} people of the group {CONTROL} would have been called in {}, expected at least {LEAST}: only regression and \
                 difference would answer",
                self.would_be_called,
                counted(self.protocol.weeks as u64, &self.noun)
            ));
        }
        let counts = &self.estimators[self.protocol.primary as usize];
        if let Some(power) = counts.power[2].filter(|power| *power < 0.8) {
            all.push(format!(
                "such a trial would find what the model expects ({:.1} {}) in {:.0} of 100 cases: more weeks, more people or more calls \
                 find more",
                self.expected,
                self.protocol.counts,
                100.0 * power
            ));
        }
        if self.budget >= self.groups[0] {
            all.push(format!(
                "{} places for {} people: everybody of the list group would be called",
                grouped(self.budget as u64),
                grouped(self.groups[0] as u64)
            ));
        }
        all
    }
}
