//! A word that is taken back.
//!
//! Whoever pressed the wrong button has said something that never was. To say *not called* instead would be another untruth: nobody knows
//! that either. So the last word on a person is withdrawn: what was said before it holds again, as it was said then, and where there was
//! nothing before, nothing is known, and she is missing like everybody of whom nobody has told. What was withdrawn is kept among the
//! amended, and the chain tells who withdrew it and when.
//!
//! What was before is read from the chain: a first word, each that took the place of the one before it, and each that was withdrawn. So
//! two words are withdrawn one after the other, the last one first.

use crate::chain::{Chain, Event};
use crate::check;
use crate::error::{Error, Result};
use crate::event::Came;
use crate::ledger::Ledger;
use crate::outcome::{Code, Outcome};
use crate::reader::{Reader, outcome, unreadable};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

/// A withdrawal, as its link has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TakenBack {
    pub(crate) plan: String,
    pub(crate) arm: String,
    pub(crate) who: String,
    pub(crate) at: String,
    /// the row of the amended that has what was withdrawn
    pub(crate) amended: i64,
    /// what holds again
    pub(crate) holds: Option<Came>,
}

/// An outcome that was withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Withdrawn {
    /// what it was
    pub outcome: Outcome,
    /// by whom
    pub who: String,
    /// when
    pub at: String,
}

// a plan's own link comes before all that is said of its people
const WORDS: &str = "SELECT event, content FROM chain WHERE subject = ?1 AND event IN ('outcome', 'sealed outcome', 'sealed amended', \
     'outcome amended', 'outcome withdrawn') AND number > coalesce((SELECT number FROM chain WHERE event = 'plan' AND subject = ?2 \
     ORDER BY number DESC LIMIT 1), 0) ORDER BY number";
const WITHDRAWN: &str = "SELECT content FROM chain WHERE event = 'outcome withdrawn' AND substr(subject, 1, length(?1) + 1) = ?1 || ' ' \
     AND number > coalesce((SELECT number FROM chain WHERE event = 'plan' AND subject = ?1 ORDER BY number DESC LIMIT 1), 0) \
     ORDER BY number";

impl Ledger {
    /// Withdraws the last word on a person of a plan, and returns what holds then: what was said before, or nothing.
    pub fn withdraw(&mut self, plan: &str, arm: &str, who: &str, at: &str) -> Result<Option<Outcome>> {
        check::said(who).map_err(self.wrong("who".into()))?;
        check::moment(at).map_err(self.wrong("at".into()))?;
        let number = self.number(plan)?;
        let Reader { connection, path } = &mut self.reader;
        let failed = Error::sqlite(path, "withdraw an outcome");
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let key = params![number, arm];
        let known = "SELECT 1 FROM outcomes WHERE plan = ?1 AND arm = ?2";
        let known = transaction.query_row(known, key, |_| Ok(())).optional().map_err(failed)?;
        if known.is_none() {
            return Err(Error::NoOutcome { path: path.clone(), plan: plan.into(), arm: arm.into() });
        }
        let write = || {
            let holds = before(&transaction, plan, arm)?;
            transaction.execute(
                "INSERT INTO amended (plan, arm, code, day, note, source, received_at) \
                 SELECT plan, arm, code, day, note, source, received_at FROM outcomes WHERE plan = ?1 AND arm = ?2",
                key,
            )?;
            let told = TakenBack {
                plan: plan.into(),
                arm: arm.into(),
                who: who.into(),
                at: at.into(),
                amended: transaction.last_insert_rowid(),
                holds,
            };
            match &told.holds {
                None => transaction.execute("DELETE FROM outcomes WHERE plan = ?1 AND arm = ?2", key)?,
                Some(Came { code, day, note, source, received_at, .. }) => transaction.execute(
                    "UPDATE outcomes SET code = ?3, day = ?4, note = ?5, source = ?6, received_at = ?7 \
                     WHERE plan = ?1 AND arm = ?2",
                    params![number, arm, code, day, note, source, received_at],
                )?,
            };
            Chain::new(&transaction)?.tell(at, Event::Withdrawn, format!("{plan} {arm}"), &told)?;
            Ok(told.holds)
        };
        let holds = write().and_then(|holds| transaction.commit().map(|()| holds)).map_err(failed)?;
        Ok(holds.and_then(|came| {
            let Came { plan, arm, code, day, note, source, received_at, .. } = came;
            Some(Outcome { plan, arm, code: Code::from_word(&code)?, day, note, source, received_at })
        }))
    }
}

/// What was said of a person before the last word.
fn before(connection: &Connection, plan: &str, arm: &str) -> rusqlite::Result<Option<Came>> {
    let mut words: Vec<Came> = Vec::new();
    let mut statement = connection.prepare(WORDS)?;
    let mut rows = statement.query([format!("{plan} {arm}"), plan.into()])?;
    while let Some(row) = rows.next()? {
        let (event, content): (String, String) = (row.get(0)?, row.get(1)?);
        let read = || serde_json::from_str(&content).map_err(|error| unreadable(1, error));
        match Event::from_word(&event) {
            Some(Event::Withdrawn) => drop(words.pop()),
            // what held was sealed first, and then what had been before it
            Some(Event::SealedAmended) => words.insert(words.len().saturating_sub(1), read()?),
            _ => words.push(read()?),
        }
    }
    words.pop();
    Ok(words.pop().map(|came| Came { amended: None, ..came }))
}

impl Reader {
    /// What was withdrawn of a plan, from the first withdrawal to the last.
    pub fn withdrawn(&self, plan: &str) -> Result<Vec<Withdrawn>> {
        self.number(plan)?;
        let doing = "read what was withdrawn";
        let told = self.all(doing, WITHDRAWN, [plan], |row| row.get::<_, String>(0))?;
        let read = |content: String| {
            let told: TakenBack = serde_json::from_str(&content).map_err(|error| unreadable(0, error))?;
            let sql = "SELECT arm, code, day, note, source, received_at FROM amended WHERE number = ?1";
            let outcome = self.connection.query_row(sql, [told.amended], |row| outcome(row, plan))?;
            Ok(Withdrawn { outcome, who: told.who, at: told.at })
        };
        let all: rusqlite::Result<_> = told.into_iter().map(read).collect();
        all.map_err(Error::sqlite(&self.path, doing))
    }
}
