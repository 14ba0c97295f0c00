//! Changes to a list by hand: who is put on it or taken off, by whom, and why.
//!
//! A change is recorded beside the plan and never changes a probability: those are of what the draw did. Whoever was put on a list or taken
//! off it is no evidence of what calls do, and the next import knows that.

use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::week::CONTROL;
use jiff::Timestamp;
use restive_ledger::{Kind, Ledger, Override};
use restive_tables::show;

impl Programme {
    /// Puts somebody on the list of a plan, or takes her off; the id of the plan.
    pub fn change(
        &self,
        kind: Kind,
        plan: Option<&str>,
        id: &str,
        who: &str,
        why: &str,
        now: Timestamp,
    ) -> Result<String> {
        let mut ledger = Ledger::open(&self.ledger())?;
        let plan = match plan {
            Some(plan) => plan.to_string(),
            None => self.latest(ledger.latest()?)?,
        };
        let arm = self.arm(id)?;
        if kind == Kind::Added {
            self.refuse_control(&ledger, &plan, &arm, id)?;
        }
        let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let change = Override { plan: plan.clone(), arm, kind, who: who.into(), why: why.into(), at };
        ledger.override_list(&change)?;
        Ok(plan)
    }

    /// Nobody of the control group is put on a list of a trial: it would no longer be one.
    pub(crate) fn refuse_control(&self, ledger: &Ledger, plan: &str, arm: &str, id: &str) -> Result<()> {
        let Some(trial) = ledger.plan(plan)?.facts.trial else { return Ok(()) };
        let is_control = ledger.assigned(&trial)?.iter().any(|one| one.arm == arm && one.group == CONTROL);
        match is_control {
            false => Ok(()),
            true => Err(Error::Refused(format!(
                "{}: found somebody whom trial {} leaves alone, expected one whom lists are made from; whoever must be called is called \
                 without a list, and restive trial end ends the trial",
                show::name(id),
                show::name(&trial)
            ))),
        }
    }

    /// What the study calls a person with an id.
    pub(crate) fn arm(&self, id: &str) -> Result<String> {
        self.arm_of(id)?.ok_or_else(|| {
            let path = show::path(&self.people());
            Error::Refused(format!(
                "{path}: found nobody with the id {}, expected one of its people",
                show::name(id)
            ))
        })
    }

    /// The id of the latest plan.
    pub(crate) fn latest(&self, plan: Option<restive_ledger::Plan>) -> Result<String> {
        plan.map(|plan| plan.id).ok_or_else(|| {
            let folder = show::path(self.folder());
            Error::Refused(format!("{folder}: found no plan, expected one: restive plan {folder} makes one"))
        })
    }
}
