//! What a trial found, as it was agreed before: the registered estimator first, in plain words, then all others beside it.
//!
//! Refused is whatever would let somebody choose an answer after seeing it: a protocol that was changed, a record that was changed, a look before
//! the last week that is not called one. What departs from the plan all the same (lists changed by hand, calls to people who were to be left
//! alone, an early end) is counted and said; people stay in the group to which the lot assigned them.

use super::gather::{Gathered, changed};
use super::protocol::Protocol;
use super::words::{flags, refusal, sentence};
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::store::{self, digest};
use restive::trial::{Asked, Effect, Estimator, Group, Interval, Record, analyse};
use restive_ledger::Kind;
use restive_pipeline::words::{counted, grouped};
use restive_tables::show;
use serde::Serialize;
use std::path::PathBuf;

/// What is asked of an analysis.
#[derive(Debug, Clone, Default)]
pub struct AnalyseAsked {
    /// the trial, by its name; absent: the one that runs, else the last one
    pub trial: Option<String>,
    /// the file that was agreed on: is it the one that was registered?
    pub protocol: Option<PathBuf>,
    /// whether the weeks so far are to be looked at before the last one has an outcome
    pub interim: bool,
}

/// What a trial found.
#[derive(Debug, Clone, Serialize)]
pub struct Analysed {
    /// in one sentence
    pub sentence: String,
    /// whether it is a look before the end, and not the registered analysis
    pub interim: bool,
    /// what was agreed on
    pub protocol: Protocol,
    /// SHA-256 of its file
    pub digest: String,
    /// weeks that were analysed
    pub weeks: usize,
    /// what a period is called
    pub noun: String,
    /// people in the group that lists were made of, and in the other
    pub groups: [usize; 2],
    /// people who were assigned a call at any time
    pub called: usize,
    /// calls that they were assigned
    pub calls: usize,
    /// the estimator that counts
    pub primary: Option<&'static str>,
    /// whether that is another than the protocol names, because that one is refused
    pub departs_from_protocol: bool,
    /// every estimator
    pub effects: Vec<EffectLine>,
    /// what should make a reader hesitate
    pub flags: Vec<String>,
    /// what was done otherwise than planned
    pub deviations: Vec<String>,
    /// what is not shown, and why
    pub withheld: &'static str,
}

/// What an estimator says.
#[derive(Debug, Clone, Serialize)]
pub struct EffectLine {
    /// its name
    pub estimator: &'static str,
    /// whether it is the one that counts
    pub is_primary: bool,
    /// what it found
    pub found: Option<EffectFound>,
    /// why it does not answer
    pub refused: Option<String>,
}

/// An effect in numbers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct EffectFound {
    /// the total over all people of the list group and all weeks
    pub estimate: f64,
    /// its standard error
    pub se: f64,
    /// its 95 % interval
    pub interval: [f64; 2],
    /// per person called, with its interval
    pub per_person_called: Option<[f64; 3]>,
    /// per call, with its interval
    pub per_call: Option<[f64; 3]>,
    /// the total effect that this estimator would have found in four of five cases
    pub detectable: f64,
}

const WITHHELD: &str = "Not shown, because they find effects where there are none: the called before and after (they were called when they \
    fared badly, and many come back by themselves), the called against the others of their group, and whoever was ever called against control \
    people of the first list.";

impl Programme {
    /// What a trial found.
    pub fn analyse_trial(&self, asked: &AnalyseAsked) -> Result<Analysed> {
        let gathered = self.gather(asked.trial.as_deref())?;
        let registered = &gathered.trial.facts.protocol_digest;
        if let Some(file) = &asked.protocol
            && digest(&store::read(file)?) != *registered
        {
            return Err(changed(&show::path(file)));
        }
        let (due, observed) = (gathered.due(), gathered.observed());
        let (id, noun) = (show::name(&gathered.trial.facts.id), &self.summary.period);
        if due == 0 || observed == 0 {
            return Err(Error::Refused(format!(
                "trial {id}: found {} and {} with an outcome, expected at least one",
                counted(gathered.weeks.iter().filter(|week| week.plan.is_some()).count() as u64, "list"),
                counted(observed as u64, noun)
            )));
        }
        if observed < due && !asked.interim {
            return Err(Error::Refused(format!(
                "trial {id}: found outcomes of {observed} of {}, expected all: whoever looks earlier and stops when pleased finds effects where \
                 there are none; --interim shows the {noun}s so far, marked as not the registered analysis",
                counted(due as u64, noun)
            )));
        }
        let weeks = observed.min(due);
        let weekly = self.weekly(&gathered, weeks)?;
        let deviations = self.deviations(&gathered, weeks)?;
        let record = Record::new(weekly.parts.clone()).map_err(restive_pipeline::Error::from)?;
        let protocol = &gathered.protocol;
        let analysis = analyse(&record, &Asked { protocol: Some(protocol.primary) });
        let effects = analysis.effects.iter().map(|(estimator, said)| EffectLine {
            estimator: estimator.name(),
            is_primary: analysis.primary == Some(*estimator),
            found: said.as_ref().ok().map(found),
            refused: said.as_ref().err().map(|why| refusal(why, *estimator, &gathered, &weekly)),
        });
        let call = &record.parts().call;
        let calls_of = |i: usize| call.row(i).iter().filter(|call| **call).count();
        let calls: Vec<usize> = (0..gathered.people.len()).map(calls_of).collect();
        let groups = [gathered.size(Group::Policy), gathered.size(Group::Control)];
        Ok(Analysed {
            sentence: sentence(&analysis, protocol, weeks, noun, groups[0]),
            interim: observed < due,
            weeks,
            noun: noun.clone(),
            groups,
            called: calls.iter().filter(|calls| **calls > 0).count(),
            calls: calls.iter().sum(),
            primary: analysis.primary.map(Estimator::name),
            departs_from_protocol: analysis.departs_from_protocol,
            effects: effects.collect(),
            flags: flags(&analysis, protocol),
            deviations,
            withheld: WITHHELD,
            digest: registered.clone(),
            protocol: protocol.clone(),
        })
    }

    /// What was done otherwise than planned, in words.
    fn deviations(&self, gathered: &Gathered, weeks: usize) -> Result<Vec<String>> {
        let group_of = |arm: &str| {
            let at = gathered.people.binary_search_by(|one| one.arm.as_str().cmp(arm)).ok()?;
            Some(gathered.groups[at])
        };
        let (mut added, mut removed, mut not_called, mut control, mut none) = (0, 0, 0, 0, 0);
        for plan in gathered.weeks.iter().take(weeks).filter_map(|week| week.plan.as_ref()) {
            for change in gathered.reader.overrides(&plan.id)? {
                match change.kind {
                    Kind::Added => added += 1,
                    Kind::Removed => removed += 1,
                }
            }
            for outcome in gathered.reader.outcomes(&plan.id)? {
                not_called += usize::from(!outcome.code.is_call());
                let is_control = group_of(&outcome.arm) == Some(Group::Control);
                control += usize::from(is_control && outcome.code.is_call());
            }
            none += gathered.reader.missing(&plan.id)?.len();
        }
        let mut all = Vec::new();
        if let Some(end) = gathered.end.as_ref().filter(|_| gathered.due() < gathered.weeks.len()) {
            all.push(format!(
                "ended after {} of {}: {}",
                gathered.due(),
                counted(gathered.weeks.len() as u64, &self.summary.period),
                show::plain(&end.why)
            ));
        }
        let mut say = |count: usize, words: &dyn Fn(String) -> String| {
            if count > 0 {
                all.push(words(grouped(count as u64)));
            }
        };
        say(added, &|n| format!("{n} added to lists by hand: counted as not assigned a call"));
        say(removed, &|n| format!("{n} taken off lists by hand: counted as assigned a call"));
        say(control, &|n| {
            format!(
                "{n} calls to control people: they stay in their group, and the effect looks smaller than it is"
            )
        });
        say(not_called, &|n| {
            format!(
                "{n} on lists and not called: counted as assigned a call, and the effect is that of the lists"
            )
        });
        say(none, &|n| format!("{n} on lists of whom nobody told what came of it"));
        let gone = gathered.place.iter().filter(|place| place.is_none()).count();
        say(gone, &|n| {
            format!("{n} people of the trial are not in the study any more: their outcomes are missing")
        });
        Ok(all)
    }
}

fn found(effect: &Effect) -> EffectFound {
    let three = |x: Interval| [x.estimate, x.low, x.high];
    EffectFound {
        estimate: effect.estimate,
        se: effect.se,
        interval: [effect.low, effect.high],
        per_person_called: effect.per_person_called().map(three),
        per_call: effect.per_call().map(three),
        detectable: effect.detectable(),
    }
}
