//! One list against another: who stayed, who came and who went, each with the first reason that applies.
//!
//! | reason | went | came |
//! |---|---|---|
//! | by hand | taken off | put on |
//! | rules | a rule keeps her out now: gone, called a short while ago, … | the rule that kept her out does no longer |
//! | trial | left alone by a trial | no longer |
//! | study | not in the study any more | was not in it |
//! | must | no longer has to be called | has to be called |
//! | lot | was drawn, and was not now | was drawn |
//! | state | her state changed, and a call is worth less there | … more |
//! | worth | a call is worth less in the same state: record, features, time or the model | … more |
//! | others | a call is worth as much, and others came before her | others fell behind her |
//! | limit | ranked high enough, and a limit, a cost or places for the draw kept her off | … did no longer |

use super::{Error, Result};
use crate::folder::Programme;
use crate::list::spoken;
use jiff::civil::Date;
use restive_ledger::{How, Kind, Override, Plan, Planned, Reader, Status};
use restive_tables::Contacts;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// One list against another.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// the plan before
    pub before: String,
    /// the plan after
    pub after: String,
    /// what is not the same about how they were made
    pub made: Vec<String>,
    /// people on both
    pub stayed: usize,
    /// people on the second alone, by how high they stand
    pub came: Vec<Moved>,
    /// people on the first alone
    pub went: Vec<Moved>,
}

/// Somebody who came or went.
#[derive(Debug, Clone, Serialize)]
pub struct Moved {
    /// what the study calls her
    pub arm: String,
    /// what the programme calls her, where that is known
    pub id: Option<String>,
    /// of which kind the reason is
    pub why: Why,
    /// the reason, in words
    pub reason: String,
}

/// Why somebody came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// by hand
    Hand,
    /// by a rule
    Rule,
    /// by a trial
    Trial,
    /// she was or is not in the study
    Study,
    /// she has or had to be called
    Must,
    /// by lot
    Lot,
    /// her state changed
    State,
    /// a call is worth more or less
    Worth,
    /// others are worth more or less
    Others,
    /// by limits, costs, or places that were kept for a draw
    Limit,
}

impl Why {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Why::Hand => "by hand",
            Why::Rule => "a rule",
            Why::Trial => "the trial",
            Why::Study => "the study",
            Why::Must => "must be called",
            Why::Lot => "by lot",
            Why::State => "another state",
            Why::Worth => "worth of a call",
            Why::Others => "others",
            Why::Limit => "limits and draws",
        }
    }
}

impl Diff {
    /// How many came and how many went, by reason.
    pub fn counts(&self) -> BTreeMap<Why, [usize; 2]> {
        let mut counts: BTreeMap<Why, [usize; 2]> = BTreeMap::new();
        for (k, moved) in [&self.came, &self.went].into_iter().enumerate() {
            moved.iter().for_each(|one| counts.entry(one.why).or_default()[k] += 1);
        }
        counts
    }
}

/// A plan with all that is recorded of it.
struct Side {
    plan: Plan,
    people: HashMap<String, Planned>,
    excluded: HashMap<String, String>,
    listed: HashSet<String>,
    by_hand: HashMap<String, Override>,
    /// the score of the last one who came onto the list by rank
    last: f64,
}

impl Side {
    fn read(reader: &Reader, plan: Plan) -> Result<Self> {
        let people = reader.people(&plan.id)?;
        let ranked = people.iter().filter(|person| person.how == How::Rank);
        let last = ranked.map(|person| person.score).fold(f64::INFINITY, f64::min);
        let overrides = reader.overrides(&plan.id)?;
        Ok(Self {
            listed: reader.listed(&plan.id)?.into_iter().map(|person| person.arm).collect(),
            excluded: reader.excluded(&plan.id)?.into_iter().map(|one| (one.arm, one.why)).collect(),
            // the last word on everybody
            by_hand: overrides.into_iter().map(|change| (change.arm.clone(), change)).collect(),
            people: people.into_iter().map(|person| (person.arm.clone(), person)).collect(),
            plan,
            last,
        })
    }
}

impl Programme {
    /// One list against another; where none is named the last two that count, where one is, that one and the one before it.
    pub fn diff(&self, before: Option<&str>, after: Option<&str>) -> Result<Diff> {
        let reader = self.record()?;
        let after = match after {
            Some(id) => reader.plan(id)?,
            None => reader.plan(&self.latest(reader.latest()?)?)?,
        };
        let before = match before {
            Some(id) => reader.plan(id)?,
            None => before_it(reader.plans()?, &after).ok_or_else(|| {
                Error::Refused(format!(
                    "plan {}: found no earlier plan on record, expected one to compare with",
                    after.id
                ))
            })?,
        };
        let states = self.state_names();
        let contacts = Contacts::read(&self.people()).unwrap_or_default();
        let [before, after] = [Side::read(&reader, before)?, Side::read(&reader, after)?];
        let moved = |arm: &String, came: bool| {
            let (why, reason) = reason(&before, &after, arm, came, &states);
            let id = contacts.person(arm).ok().map(|person| person.id.clone());
            Moved { arm: arm.clone(), id, why, reason }
        };
        let rank = |side: &Side, arm: &String| {
            side.people.get(arm).and_then(|person| person.rank).unwrap_or(u32::MAX)
        };
        let only = |here: &Side, there: &Side| {
            let mut arms: Vec<String> = here.listed.difference(&there.listed).cloned().collect();
            arms.sort_by(|a, b| rank(here, a).cmp(&rank(here, b)).then_with(|| a.cmp(b)));
            arms
        };
        Ok(Diff {
            made: made_otherwise(&before.plan, &after.plan),
            stayed: before.listed.intersection(&after.listed).count(),
            came: only(&after, &before).iter().map(|arm| moved(arm, true)).collect(),
            went: only(&before, &after).iter().map(|arm| moved(arm, false)).collect(),
            before: before.plan.id,
            after: after.plan.id,
        })
    }
}

/// The plan that counts of the last period before, else the one that it replaced.
fn before_it(plans: Vec<Plan>, after: &Plan) -> Option<Plan> {
    let is_earlier = |plan: &&Plan| plan.status == Status::Current && plan.facts.period < after.facts.period;
    let is_replaced = |plan: &&Plan| {
        plan.status == Status::Replaced && plan.facts.period == after.facts.period && plan.id != after.id
    };
    let found = plans.iter().rev().find(is_earlier).or_else(|| plans.iter().rev().find(is_replaced));
    found.cloned()
}

/// What two plans were not made alike by.
fn made_otherwise(before: &Plan, after: &Plan) -> Vec<String> {
    let (a, b) = (&before.facts, &after.facts);
    let mut all = Vec::new();
    let mut told = |what: &str, a: String, b: String| {
        if a != b {
            all.push(format!("{what}: {a}, then {b}"));
        }
    };
    told("model", a.model.clone(), b.model.clone());
    if a.model == b.model {
        told("what the model holds", a.model_fingerprint.clone(), b.model_fingerprint.clone());
    }
    told("places", a.places.to_string(), b.places.to_string());
    told("drawn by lot", a.explore_places.to_string(), b.explore_places.to_string());
    told("policy", a.policy.clone(), b.policy.clone());
    told("trial", a.trial.clone().unwrap_or("none".into()), b.trial.clone().unwrap_or("none".into()));
    told("version of restive", a.restive.clone(), b.restive.clone());
    if a.rules != b.rules {
        all.push("the rules were changed".into());
    }
    all
}

/// The first reason that applies.
fn reason(before: &Side, after: &Side, arm: &str, came: bool, states: &[String]) -> (Why, String) {
    // `here` is the plan on whose list she is
    let (here, there) = if came { (after, before) } else { (before, after) };
    if let Some(change) = here.by_hand.get(arm).filter(|change| change.kind == Kind::Added) {
        let said = format!(
            "{} put on the list by hand by {}: {}",
            if came { "was" } else { "had been" },
            change.who,
            change.why
        );
        return (Why::Hand, said);
    }
    if let Some(change) = there.by_hand.get(arm).filter(|change| change.kind == Kind::Removed) {
        let said = format!(
            "{} taken off the list by hand by {}: {}",
            if came { "had been" } else { "was" },
            change.who,
            change.why
        );
        return (Why::Hand, said);
    }
    let (Some(listed), Some(other)) = (here.people.get(arm), there.people.get(arm)) else {
        return match there.excluded.get(arm) {
            Some(why) if came => (Why::Rule, format!("may be called again; before: {why}")),
            Some(why) => (Why::Rule, format!("may not be called: {why}")),
            None if came => (Why::Study, "was not in the study before".into()),
            None => (Why::Study, "is not in the study any more".into()),
        };
    };
    if other.trial.as_deref() == Some(crate::week::CONTROL) {
        let said = if came { "was left alone by a trial before" } else { "is left alone by a trial" };
        return (Why::Trial, said.into());
    }
    match listed.how {
        How::Must if came => return (Why::Must, "has to be called, the rules say".into()),
        How::Must => return (Why::Must, "no longer has to be called".into()),
        How::Draw if came => return (Why::Lot, "was drawn by lot".into()),
        How::Draw => return (Why::Lot, "had been drawn by lot".into()),
        _ => {}
    }
    let [old, new] = if came { [other, listed] } else { [listed, other] };
    let worth = format!("{} before, {} now", digits(old.score), digits(new.score));
    let has_risen = new.score > old.score;
    if old.state != new.state && has_risen == came {
        let name = |state: Option<i64>| match state {
            None => "unknown".into(),
            Some(state) => usize::try_from(state)
                .ok()
                .and_then(|state| states.get(state).cloned())
                .unwrap_or_else(|| format!("state {state}")),
        };
        let said = format!(
            "went from {} to {}, where a call is worth {} ({worth})",
            name(old.state),
            name(new.state),
            if came { "more" } else { "less" }
        );
        return (Why::State, said);
    }
    // she had the rank for the list on which she is not, and something else kept her off
    if other.score > there.last && there.last.is_finite() {
        let said = if came {
            "did not get a place before for a limit, a cost or the draw"
        } else {
            "ranks high enough; a limit, a cost or the draw took the place"
        };
        return (Why::Limit, said.into());
    }
    if has_risen == came && new.score != old.score {
        let said =
            format!("a call is worth {} in the same state ({worth})", if came { "more" } else { "less" });
        return (Why::Worth, said);
    }
    let ends = format!("the list ended at {} before, at {} now", digits(before.last), digits(after.last));
    let [old_places, new_places] = [before, after].map(|side| side.plan.facts.places);
    let said = match came {
        true if new_places > old_places => "there are more places",
        false if new_places < old_places => "there are fewer places",
        true => "others fell behind",
        false => "others came before",
    };
    (Why::Others, format!("{said}: {ends}; a call to her {worth}"))
}

/// To three significant digits.
fn digits(x: f64) -> String {
    match x.is_finite() && x != 0.0 {
        true => {
            let decimals = (2.0 - x.abs().log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{x:.decimals$}")
        }
        false => "0".into(),
    }
}

impl Diff {
    /// The two days, as people say them.
    pub fn days(&self) -> [String; 2] {
        [&self.before, &self.after].map(|id| {
            let day = id.get(..10).and_then(|day| day.parse::<Date>().ok());
            day.map_or_else(|| id.clone(), spoken)
        })
    }
}
