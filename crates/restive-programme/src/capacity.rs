//! What other numbers in the rules would bring, before anything is decided.
//!
//! A what-if is a rehearsal of the next list under the same rules with another budget, other caps and floors, one more of them, or another
//! share by lot, by the same lots as the list that is there: it records nothing. What it says holds for the rules that it was asked under; where they have changed since, its numbers are
//! not written. Numbers are written whole or not at all: a list that is to be made anew with them is on record first, and where it cannot be
//! made the file stays as it was.

use crate::dials::{self, Dial, Turned};
use crate::effects::{ListEffects, RecordedEffects};
use crate::error::Result;
use crate::folder::{Programme, is_there};
use crate::init::RULES;
use crate::made::{fingerprint, priced};
use crate::week::{Week, WeekAsked};
use jiff::Timestamp;
use restive_ledger::{Ledger, Lock, Plan};
use restive_pipeline::{PlanAsked, Rules, read_text_file};
use restive_tables::{remove_file, write_files};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;

/// How many are called, as the rules have it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// the budget first, then caps and floors in the order of the rules
    pub dials: Vec<Dial>,
    /// the share of places that is drawn by lot
    pub explore: f64,
    /// what tells these rules from any others
    pub rules: String,
}

/// What other numbers would bring.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WhatIf {
    /// what tells the rules that it was asked under
    pub rules: String,
    /// how the dials were turned
    pub turned: Turned,
    /// the plan that it is held against; nothing where the next period has none
    pub plan: Option<String>,
    /// places that the list would have
    pub places: usize,
    /// of them drawn by lot
    pub drawn: usize,
    /// Expected effects of its calls, or why they are not stated.
    pub effects: RecordedEffects,
    /// what each rule would cost, in words: rule and price
    pub prices: Vec<(String, String)>,
    /// who would come in, in the order of the list
    pub came: Vec<String>,
    /// who would drop out
    pub went: Vec<String>,
    /// on both lists
    pub stayed: usize,
    /// what should be known
    pub warnings: Vec<String>,
}

/// What became of numbers that were to be written.
pub enum Set {
    /// they are in the rules
    Done,
    /// and the list was made anew with them
    Planned(Box<Week>),
    /// the rules have changed since: nothing was written
    Stale,
}

/// The rules as they were, put back where the list could not be made with new ones.
struct Before {
    path: PathBuf,
    /// nothing where there was no file
    old: Option<String>,
    /// whether the new ones stay
    is_kept: bool,
}

impl Drop for Before {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // whoever asked is told why the list could not be made; where this fails too, the page says that the rules are others
        let _ = match &self.old {
            Some(text) => write_files(&[(self.path.clone(), text.as_bytes())], Some(|_| Ok(()))).is_ok(),
            None => remove_file(&self.path).is_ok(),
        };
    }
}

impl Programme {
    /// The text of the rules; that of a new file where there is none.
    fn rules_text(&self) -> Result<String> {
        let path = self.rules_file();
        match is_there(&path)? {
            true => Ok(read_text_file(&path, Rules::IF_EMPTY)?),
            false => Ok(RULES.into()),
        }
    }

    /// How many are called, as the rules have it now.
    pub fn capacity(&self) -> Result<Capacity> {
        let text = self.rules_text()?;
        let (path, rules) = (self.rules_file(), without_mark(&text).1);
        Ok(Capacity {
            dials: dials::read(&path, rules)?,
            explore: Rules::parse(&path, rules)?.explore.unwrap_or(0.0),
            rules: fingerprint(text.as_bytes()),
        })
    }

    /// What the next list would be with dials turned; nothing is recorded. `present` is the list that is there, and who
    /// is on it; `unit` what a reward of 1 is called.
    pub fn what_if(
        &self,
        turned: &Turned,
        present: Option<(&Plan, &[String])>,
        unit: &str,
        now: Timestamp,
    ) -> Result<WhatIf> {
        let text = self.rules_text()?;
        let rules = self.with_turned(&text, turned)?.1;
        let seed = present.map_or(PlanAsked::default().seed, |(plan, _)| plan.facts.seed);
        let plan = PlanAsked { seed, ..PlanAsked::default() };
        let asked = WeekAsked { plan, rules: Some(rules), rehearse: true, ..WeekAsked::default() };
        let week = self.plan(&asked, now)?;
        let before: HashSet<&String> = present.map(|(_, arms)| arms.iter().collect()).unwrap_or_default();
        let after: HashSet<&String> = week.rows.iter().map(|(arm, _)| arm).collect();
        let went = present.map_or(&[][..], |(_, arms)| arms).iter().filter(|arm| !after.contains(arm));
        let came = week.rows.iter().map(|(arm, _)| arm).filter(|arm| !before.contains(arm));
        Ok(WhatIf {
            rules: fingerprint(text.as_bytes()),
            turned: turned.clone(),
            plan: present.map(|(plan, _)| plan.id.clone()),
            places: week.rows.len(),
            drawn: week.plan.drawn,
            effects: ListEffects::new(&week.plan),
            stayed: before.intersection(&after).count(),
            went: went.cloned().collect(),
            came: came.cloned().collect(),
            warnings: week.warnings.iter().map(ToString::to_string).collect(),
            prices: week.plan.rules.iter().map(|one| (one.rule.clone(), priced(one, unit))).collect(),
        })
    }

    /// Writes other numbers into the rules, by whoever has seen those rules; with `again`, the list of the next period is made anew with
    /// them, which a final list and one with outcomes refuse.
    pub fn set_capacity(&self, rules: &str, turned: &Turned, again: bool, now: Timestamp) -> Result<Set> {
        let lock = Lock::take(&self.ledger())?;
        let text = self.rules_text()?;
        if fingerprint(text.as_bytes()) != rules {
            return Ok(Set::Stale);
        }
        let (new, parsed) = self.with_turned(&text, turned)?;
        let path = self.rules_file();
        let mut before = Before { old: path.exists().then_some(text), path: path.clone(), is_kept: false };
        write_files(&[(path, new.as_bytes())], Some(|_| Ok(())))?;
        if !again {
            before.is_kept = true;
            return Ok(Set::Done);
        }
        // ended in between, by whatever, there are new rules and an old list, which pages tell apart: never a list whose rules nobody has
        let asked = WeekAsked { rules: Some(parsed), again: true, ..WeekAsked::default() };
        let ledger = Ledger::open_locked(&self.ledger(), lock)?;
        let week = self.reopened()?.plan_into(Some(ledger), &asked, now)?;
        before.is_kept = true;
        Ok(Set::Planned(Box::new(week)))
    }

    /// The rules with dials turned: their file, and what they say.
    fn with_turned(&self, text: &str, turned: &Turned) -> Result<(String, Rules)> {
        let (mark, text) = without_mark(text);
        let path = self.rules_file();
        let new = dials::write(&path, text, turned)?;
        let rules = Rules::parse(&path, &new)?;
        Ok((format!("{mark}{new}"), rules))
    }
}

impl Capacity {
    /// What is changed, for the record: `budget 9 to 12, worker at most 3 to 4, by lot 0.1 to 0.2, new: centre north at least 2`.
    pub fn change(&self, turned: &Turned) -> String {
        let bound = |by: &str, of: Option<&str>, is_floor: bool| {
            let of = of.map_or(String::new(), |of| format!(" {of}"));
            format!("{by}{of} at {}", if is_floor { "least" } else { "most" })
        };
        let one = |(dial, number): (&Dial, &usize)| {
            let name = dial.by.as_deref().map(|by| bound(by, dial.of.as_deref(), dial.is_floor));
            let name = name.unwrap_or_else(|| "budget".into());
            let before = dial.value.map_or("none".into(), |before| before.to_string());
            (dial.value != Some(*number)).then(|| format!("{name} {before} to {number}"))
        };
        let mut all: Vec<String> = self.dials.iter().zip(&turned.numbers).filter_map(one).collect();
        all.extend(turned.explore.map(|share| format!("by lot {} to {share}", self.explore)));
        all.extend(turned.add.as_ref().map(|add| {
            let of = bound(&add.by, add.of.as_deref(), add.is_floor);
            format!("new: {of} {}", add.number)
        }));
        if all.is_empty() { "nothing".into() } else { all.join(", ") }
    }

    /// Effect and cost of each rule in the summary of a list, in words: rule and price.
    pub fn prices(summary: &[(String, String)]) -> Vec<(String, String)> {
        let prices = summary.iter().cloned().skip_while(|(name, _)| name != "seed").skip(1);
        let is_price =
            |said: &str| said.starts_with("costs ") || said.starts_with("keeps out ") || said == "holds";
        prices.filter(|(_, said)| is_price(said)).collect()
    }
}

/// A byte-order mark, and what follows it.
fn without_mark(text: &str) -> (&str, &str) {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text.split_at(at)
}
