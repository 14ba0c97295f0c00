//! How far a trial is, and its end.

use super::protocol::Protocol;
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::status::people_counted;
use jiff::Timestamp;
use restive::trial::Group;
use restive_ledger::{Ledger, TrialEnd};
use restive_pipeline::words::{counted, grouped};
use restive_tables::show;
use serde::Serialize;

/// How far a trial is.
#[derive(Debug, Clone, Serialize)]
pub struct TrialStanding {
    /// what was agreed on
    pub protocol: Protocol,
    /// SHA-256 of its file
    pub digest: String,
    /// running, or ended
    pub status: String,
    /// its end
    pub end: Option<TrialEnd>,
    /// the first day of its first week
    pub starts: String,
    /// what a period is called
    pub noun: String,
    /// people in the group that lists are made of, and in the other
    pub groups: [usize; 2],
    /// weeks with a plan
    pub plans: usize,
    /// weeks with an outcome
    pub observed: usize,
    /// outcomes of these weeks that nobody saw, in each group
    pub missing: [usize; 2],
    /// people on lists of the trial of whom nobody told what came of it
    pub without_outcome: usize,
    /// changes by hand to lists of the trial
    pub overrides: usize,
    /// why the estimators that replay the rules cannot answer; nothing where they can
    pub gaps: Vec<String>,
    /// what should be seen to
    pub warnings: Vec<String>,
}

impl Programme {
    /// How far a trial is: the one that runs, else the last one.
    pub fn trial_status(&self, id: Option<&str>) -> Result<TrialStanding> {
        let gathered = self.gather(id)?;
        let observed = gathered.observed();
        // weeks whose lists are not made yet are no gap
        let made = gathered.weeks.iter().rposition(|week| week.plan.is_some()).map_or(0, |last| last + 1);
        let gaps = match made {
            0 => Vec::new(),
            weeks => self.weekly(&gathered, weeks)?.gaps,
        };
        let outcome = gathered.outcome(observed);
        let missing = [Group::Policy, Group::Control].map(|group| {
            let rows = outcome.outer_iter().zip(&gathered.groups).filter(|(_, one)| **one == group);
            rows.map(|(row, _)| row.iter().filter(|x| x.is_nan()).count()).sum()
        });
        let (mut without_outcome, mut overrides) = (0, 0);
        for plan in gathered.weeks.iter().filter_map(|week| week.plan.as_ref()) {
            without_outcome += gathered.reader.missing(&plan.id)?.len();
            overrides += gathered.reader.overrides(&plan.id)?.len();
        }
        let mut warnings = Vec::new();
        if gathered.end.is_none() && observed >= gathered.weeks.len() {
            warnings.push("its weeks are over: restive trial analyse tells what it found, restive trial end lets control people be called again".into());
        }
        if made > observed + 1 {
            warnings.push(format!(
                "outcomes are known of {observed} of {made} lists: import what has come since"
            ));
        }
        Ok(TrialStanding {
            groups: [gathered.size(Group::Policy), gathered.size(Group::Control)],
            plans: gathered.weeks.iter().filter(|week| week.plan.is_some()).count(),
            digest: gathered.trial.facts.protocol_digest,
            status: gathered.trial.status.word().into(),
            end: gathered.end,
            starts: gathered.trial.facts.starts,
            noun: self.summary.period.clone(),
            protocol: gathered.protocol,
            observed,
            missing,
            without_outcome,
            overrides,
            gaps,
            warnings,
        })
    }

    /// Ends the trial that runs: control people may be called again. Returns its name.
    pub fn end_trial(&self, why: &str, now: Timestamp) -> Result<String> {
        let none = || {
            Error::Refused(format!("{}: found no trial that runs, expected one", show::path(self.folder())))
        };
        if !self.ledger().exists() {
            return Err(none());
        }
        let mut ledger = Ledger::open(&self.ledger())?;
        let id = ledger.running_trial()?.ok_or_else(none)?.facts.id;
        ledger.end_trial(&id, &now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), why)?;
        Ok(id)
    }
}

impl TrialStanding {
    /// As name and words.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let weeks = self.protocol.weeks as u64;
        let [list, control] = self.groups.map(|people| grouped(people as u64));
        let mut lines = vec![
            ("trial", format!("{}, {}, from {}", show::name(&self.protocol.id), self.status, self.starts)),
            ("people", format!("{list} from whom lists are made, {control} who are left alone")),
            ("lists", format!("{} of {} made", self.plans, counted(weeks, &self.noun))),
            (
                "outcomes",
                format!(
                    "{} of {}; missing of people: {} in the list group, {} in the control group",
                    self.observed,
                    counted(weeks, &self.noun),
                    grouped(self.missing[0] as u64),
                    grouped(self.missing[1] as u64)
                ),
            ),
            (
                "calls",
                format!(
                    "{} without a word on what came of them; {} by hand",
                    people_counted(self.without_outcome),
                    counted(self.overrides as u64, "change")
                ),
            ),
            ("counts", format!("{}, by {}", self.protocol.counts, self.protocol.primary.name())),
            ("protocol", self.digest.clone()),
            (
                "record",
                match self.gaps.is_empty() {
                    true => "nothing is missing so far that the estimators need".into(),
                    false => format!("regression and difference alone will answer: {}", self.gaps.join("; ")),
                },
            ),
        ];
        if let Some(end) = &self.end {
            lines.push(("ended", format!("{}: {}", end.at, show::plain(&end.why))));
        }
        lines
    }
}
