//! A list on its way: moved up, and final.
//!
//! A plan is recorded when it is made, for its probabilities are of that moment. Its list is a draft until somebody says that it is final:
//! people are [added and removed](crate::Override), and [moved up](Ledger::move_up) to be called first. A move changes the order and
//! nothing else. A [final](Ledger::finalise) list is not changed any more, and its plan not replaced.
//!
//! Moves and the end of the draft stand in the chain and nowhere else: nothing asks for them but whoever reads the list. All changes of
//! a list, in their order, are its history, and how many there are is its version: two people who edit the same version cannot both be
//! right, and the second can be told what came between.

use crate::chain::{Chain, Event};
use crate::check;
use crate::error::{Error, Result};
use crate::event::Overridden;
use crate::ledger::{IS_LISTED, Ledger};
use crate::plan::{Kind, Status};
use crate::reader::{Reader, unreadable};
use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

/// Somebody moved up, as its link has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MovedUp {
    pub(crate) plan: String,
    pub(crate) arm: String,
    pub(crate) who: String,
    pub(crate) why: String,
    pub(crate) at: String,
}

/// A list that is final, as its link has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Final {
    pub(crate) plan: String,
    pub(crate) who: String,
    pub(crate) at: String,
}

/// One change of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListChange {
    /// what was done
    pub done: Done,
    /// to whom; to nobody where the list became final
    pub arm: Option<String>,
    /// by whom
    pub who: String,
    /// for what reason; empty where the list became final
    pub why: String,
    /// when
    pub at: String,
}

/// What is done to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// somebody was put on it
    Added,
    /// somebody was taken off it
    Removed,
    /// somebody is to be called first
    MovedUp,
    /// it is not changed any more
    Final,
}

// a plan's own link is near the end of the chain while its list is worked on: what stands before it need not be read
const CHANGES: &str = "SELECT event, content FROM chain WHERE event IN ('override', 'sealed override', 'moved up', 'list final') \
     AND (subject = ?1 OR substr(subject, 1, length(?1) + 1) = ?1 || ' ') AND number > coalesce((SELECT number FROM chain \
     WHERE event = 'plan' AND subject = ?1 ORDER BY number DESC LIMIT 1), 0) ORDER BY number";

// all plans in one walk along the chain: a person's page would otherwise walk it once for each
const CHANGES_OF: &str = "SELECT event, content FROM chain WHERE event IN ('override', 'sealed override', 'moved up') \
     AND substr(subject, -length(?1) - 1) = ' ' || ?1 ORDER BY number";

impl Ledger {
    /// Moves somebody to the front of the list of a current plan.
    pub fn move_up(&mut self, plan: &str, arm: &str, who: &str, why: &str, at: &str) -> Result<()> {
        check::said(why).map_err(self.wrong("why".into()))?;
        let told =
            MovedUp { plan: plan.into(), arm: arm.into(), who: who.into(), why: why.into(), at: at.into() };
        self.draft(plan, Some(arm), who, at, |chain| {
            chain.tell(at, Event::MovedUp, format!("{plan} {arm}"), &told)
        })
    }

    /// Says that the list of a current plan is final.
    pub fn finalise(&mut self, plan: &str, who: &str, at: &str) -> Result<()> {
        let told = Final { plan: plan.into(), who: who.into(), at: at.into() };
        self.draft(plan, None, who, at, |chain| chain.tell(at, Event::Final, plan.into(), &told))
    }

    /// Adds a link on a list that is a draft, and of `arm`, where there is one, on it.
    fn draft(
        &mut self,
        plan: &str,
        arm: Option<&str>,
        who: &str,
        at: &str,
        tell: impl FnOnce(&mut Chain<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        check::said(who).map_err(self.wrong("who".into()))?;
        check::moment(at).map_err(self.wrong("at".into()))?;
        let (path, id) = (self.path().to_path_buf(), plan.to_string());
        if self.plan(plan)?.status == Status::Replaced {
            return Err(Error::Replaced { path, plan: id });
        }
        self.refuse_final(plan)?;
        let number = self.number(plan)?;
        let failed = Error::sqlite(&self.reader.path, "change a list");
        let connection = &mut self.reader.connection;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        if let Some(arm) = arm {
            let listed = transaction.query_row(IS_LISTED, params![number, arm], |row| row.get(0)).optional();
            match listed.map_err(failed)? {
                None => return Err(Error::UnknownPerson { path, plan: id, arm: arm.into() }),
                Some(false) => return Err(Error::NotListed { path, plan: id, arm: arm.into() }),
                Some(true) => {}
            }
        }
        let write = || tell(&mut Chain::new(&transaction)?);
        write().and_then(|()| transaction.commit()).map_err(failed)
    }

    /// Refuses to change a list that is final.
    pub(crate) fn refuse_final(&self, plan: &str) -> Result<()> {
        match self.final_list(plan)? {
            None => Ok(()),
            Some(at) => {
                Err(Error::FinalList { path: self.path().to_path_buf(), plan: plan.into(), at: at.at })
            }
        }
    }
}

impl Reader {
    /// What was changed on the list of a plan, from the first change to the last. How many there are is the version of the list.
    pub fn list_changes(&self, plan: &str) -> Result<Vec<ListChange>> {
        self.number(plan)?;
        let changes = self.all("read the changes of a list", CHANGES, [plan], change)?;
        Ok(changes.into_iter().map(|(_, change)| change).collect())
    }

    /// What was changed about one person on any list, each with its plan, from the first change to the last.
    pub fn changes_of(&self, arm: &str) -> Result<Vec<(String, ListChange)>> {
        let mut changes = self.all("read what was changed about somebody", CHANGES_OF, [arm], change)?;
        // the end of another name may be the same
        changes.retain(|(_, change)| change.arm.as_deref() == Some(arm));
        Ok(changes)
    }

    /// When and by whom the list of a plan was said to be final; nothing where it is a draft.
    pub fn final_list(&self, plan: &str) -> Result<Option<ListChange>> {
        Ok(self.list_changes(plan)?.into_iter().find(|change| change.done == Done::Final))
    }
}

/// A change, with its plan.
fn change(row: &Row<'_>) -> rusqlite::Result<(String, ListChange)> {
    let (event, content): (String, String) = (row.get(0)?, row.get(1)?);
    let bad = |error| unreadable(1, error);
    Ok(match Event::from_word(&event) {
        Some(Event::MovedUp) => {
            let MovedUp { plan, arm, who, why, at } = serde_json::from_str(&content).map_err(bad)?;
            (plan, ListChange { done: Done::MovedUp, arm: Some(arm), who, why, at })
        }
        Some(Event::Final) => {
            let Final { plan, who, at } = serde_json::from_str(&content).map_err(bad)?;
            (plan, ListChange { done: Done::Final, arm: None, who, why: String::new(), at })
        }
        _ => {
            let Overridden { plan, arm, kind, who, why, at, .. } =
                serde_json::from_str(&content).map_err(bad)?;
            let is_added = Kind::from_word(&kind) == Some(Kind::Added);
            let done = if is_added { Done::Added } else { Done::Removed };
            (plan, ListChange { done, arm: Some(arm), who, why, at })
        }
    })
}
