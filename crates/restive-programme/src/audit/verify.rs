//! Is the record what was written, and does it follow from what it says it was made of?
//!
//! Three questions. Is every row of the ledger as it was written ([`restive_ledger::Reader::verify`])? Is everything there that plans were made of,
//! unchanged? And does every plan follow from that? The scores of a plan, computed again, must be the recorded ones up to the rounding of
//! another processor. Choice, draw, order and probabilities are made again from the recorded scores, and must have the same bits.
//! Missing and differing parts are named, and plans of which nothing was kept. The files of the last import are compared with
//! the digests in its summary.

use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::kept;
use crate::made::Made;
use crate::store::Store;
use restive_import::Damage;
use restive_ledger::{Excluded, Fault, NewPlan, Plan, Planned, Reader};
use restive_pipeline::words::counted;
use restive_tables::show;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is to be verified.
#[derive(Debug, Clone, Default)]
pub struct VerifyAsked {
    /// one plan; none: all of them
    pub plan: Option<String>,
    /// a link that was written down before
    pub head: Option<String>,
    /// whether plans are not made again: the chain and what plans were made of alone
    pub quick: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// links of the chain
    pub links: usize,
    /// the last of them, to be written down elsewhere
    pub head: Option<String>,
    /// what is not as it was written
    pub faults: Vec<Fault>,
    /// Notes that are not faults.
    pub notes: Vec<String>,
    /// every plan that was asked for, oldest first
    pub plans: Vec<PlanAgain>,
}

/// What came of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PlanAgain {
    /// its name
    pub plan: String,
    /// the version of restive that made it, where it was another one
    pub other_version: Option<String>,
    /// what was found
    #[serde(flatten)]
    pub again: Again,
}

/// Whether a plan can be made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "found", content = "details")]
pub enum Again {
    /// Scores are confirmed up to rounding, and all that follows from them is the same, bit for bit.
    Same,
    /// everything is there that it was made of, unchanged; it was not made again
    Kept,
    /// it was made before anything was kept
    NothingKept,
    /// some of what it was made of is missing or was changed: what, and which of the two
    Lost(Vec<String>),
    /// it came out otherwise: what differs
    Differs(Vec<String>),
    /// it cannot be made: why
    Refused(String),
}

impl Again {
    /// Whether there is nothing wrong with it.
    pub fn is_well(&self) -> bool {
        matches!(self, Again::Same | Again::Kept | Again::NothingKept)
    }
}

impl Verified {
    /// Whether there is nothing wrong.
    pub fn is_well(&self) -> bool {
        self.faults.is_empty() && self.plans.iter().all(|plan| plan.again.is_well())
    }
}

/// How many differences are named.
const NAMED: usize = 5;
/// Note for a record without plans, if contents were kept for one.
const UNFINISHED: &str = "the record has no plan, and records/ holds inputs of one: a first plan that was not finished leaves \
                          them, and the next plan uses them; if there were plans, --head LINK finds that they were removed";

impl Programme {
    /// Verifies the record; `progress` is told of every plan before it is made again: how many are done, how many there are.
    pub fn verify(&self, asked: &VerifyAsked, mut progress: impl FnMut(usize, usize)) -> Result<Verified> {
        let reader = self.record()?;
        let head = asked.head.as_deref().map(|head| whole_link(&reader, head)).transpose()?;
        let chain = match &head {
            Some(head) => reader.verify_with_head(head)?,
            None => reader.verify()?,
        };
        let mut verified = Verified {
            links: chain.links,
            head: chain.head,
            faults: chain.faults,
            notes: Vec::new(),
            plans: Vec::new(),
        };
        let plans = match &asked.plan {
            Some(id) => vec![reader.plan(id)?],
            // of a damaged ledger what can be read is verified
            None => reader
                .plans()
                .or_else(|error| if verified.faults.is_empty() { Err(error) } else { Ok(Vec::new()) })?,
        };
        if plans.is_empty() && verified.faults.is_empty() && !Store::of(self.folder()).is_empty() {
            verified.notes.push(UNFINISHED.into());
        }
        for damage in self.imported().verify(&self.summary)? {
            let Damage { path, found, expected } = damage;
            verified.faults.push(Fault { link: None, subject: show::path(&path), found, expected });
        }
        for (k, plan) in plans.iter().enumerate() {
            progress(k, plans.len());
            let other_version =
                Some(plan.facts.restive.clone()).filter(|made| made != env!("CARGO_PKG_VERSION"));
            let again = self.again(&reader, plan, asked.quick)?;
            verified.plans.push(PlanAgain { plan: plan.id.clone(), other_version, again });
        }
        Ok(verified)
    }

    /// Makes a plan again.
    fn again(&self, reader: &Reader, plan: &Plan, quick: bool) -> Result<Again> {
        if plan.facts.inputs.is_empty() {
            return Ok(Again::NothingKept);
        }
        let contents = match kept::contents(self.folder(), plan)? {
            Ok(contents) => contents,
            Err(lost) => return Ok(Again::Lost(lost)),
        };
        if quick {
            return Ok(Again::Kept);
        }
        let (people, excluded) = (reader.people(&plan.id)?, reader.excluded(&plan.id)?);
        let materials = self.kept_materials(reader, plan, &contents);
        let (made, unconfirmed) =
            match materials.and_then(|materials| materials.make_again(&plan.facts, &people)) {
                Ok(made) => made,
                Err(error) if error.is_of_system() => return Err(error),
                Err(error) => return Ok(Again::Refused(error.to_string())),
            };
        let mut different = Vec::new();
        if !unconfirmed.is_empty() {
            let arms: Vec<&str> = unconfirmed.iter().map(String::as_str).collect();
            different.push(named("scores", &arms, people.len(), people.len()));
        }
        different.extend(differences(&plan.facts, &people, &excluded, made));
        Ok(if different.is_empty() { Again::Same } else { Again::Differs(different) })
    }
}

/// A link of the chain from its first digits, as lists of plans show them; a whole one is taken as it is.
fn whole_link(reader: &Reader, head: &str) -> Result<String> {
    let is_hexadecimal = head.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hexadecimal || !(8..=64).contains(&head.len()) {
        return Err(Error::Refused(format!(
            "head: found {}, expected a link of the chain: 64 hexadecimal digits, or the first 8 of them at least",
            show::quoted_name(head)
        )));
    }
    // of a ledger that cannot be read the verification tells
    let links = reader.chain().unwrap_or_default();
    let found = links.into_iter().map(|link| link.link).find(|link| link.starts_with(head));
    Ok(found.unwrap_or_else(|| head.into()))
}

/// Facts that are too long to be told.
const LONG: [&str; 6] = ["summary", "inputs", "rules", "certificate", "asked", "cuts"];

/// What differs between a record and the plan that was made again, in words.
fn differences(facts: &NewPlan, people: &[Planned], excluded: &[Excluded], mut made: Made) -> Vec<String> {
    let mut all = Vec::new();
    // the version that makes it again is not the plan's
    made.facts.restive.clone_from(&facts.restive);
    let value = |facts: &NewPlan| serde_json::to_value(facts).expect("plain values");
    let (recorded, again) = (value(facts), value(&made.facts));
    for (name, recorded) in recorded.as_object().into_iter().flatten() {
        let again = &again[name];
        if recorded != again {
            if LONG.contains(&name.as_str()) {
                all.push(format!("{name} is not the same"));
                continue;
            }
            let short = |value: &serde_json::Value| value.to_string().chars().take(60).collect::<String>();
            all.push(format!("{name}: recorded {}, made again {}", short(recorded), short(again)));
        }
    }
    made.people.sort_by(|a, b| a.arm.cmp(&b.arm));
    made.excluded.sort_by(|a, b| a.arm.cmp(&b.arm));
    let bytes = |people: &[Planned]| serde_json::to_vec(people).expect("plain values");
    if bytes(people) != bytes(&made.people) {
        let again: BTreeMap<&str, &Planned> =
            made.people.iter().map(|person| (person.arm.as_str(), person)).collect();
        let other = |person: &&Planned| again.get(person.arm.as_str()).is_none_or(|again| again != person);
        let mut differing: Vec<&str> =
            people.iter().filter(other).map(|person| person.arm.as_str()).collect();
        let recorded: BTreeSet<&str> = people.iter().map(|person| person.arm.as_str()).collect();
        differing.extend(again.keys().filter(|arm| !recorded.contains(*arm)));
        all.push(named("people", &differing, people.len(), made.people.len()));
    }
    if excluded != made.excluded {
        let [recorded, again]: [BTreeSet<(&str, &str)>; 2] = [excluded, &made.excluded]
            .map(|all| all.iter().map(|one| (one.arm.as_str(), one.why.as_str())).collect());
        let differing: Vec<&str> = recorded.symmetric_difference(&again).map(|(arm, _)| *arm).collect();
        all.push(named("people who could not be chosen", &differing, excluded.len(), made.excluded.len()));
    }
    all
}

fn named(what: &str, differing: &[&str], recorded: usize, again: usize) -> String {
    let some: Vec<String> = differing.iter().take(NAMED).map(|arm| show::name(arm)).collect();
    let more = differing.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count =
        if recorded == again { String::new() } else { format!("; {recorded} recorded, {again} made again") };
    let rows = counted(differing.len() as u64, "row");
    format!("{what}: {rows} not the same{count}: {}{more}", some.join(", "))
}
