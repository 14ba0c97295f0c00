//! Outcomes come late, in parts, and more than once.
//!
//! Each entry is taken for itself, in the order given. One that cannot be recorded is told as a [`Problem`] and keeps none of the
//! others from being recorded. The same again changes nothing, so that a file can be received twice; another word on the same person
//! and plan takes the place of the earlier one, which is kept among the amended.

use crate::chain::{Chain, Event};
use crate::check::{self, Wrong};
use crate::error::{Error, Result};
use crate::event::Came;
use crate::ledger::{IS_LISTED, Ledger};
use crate::outcome::{Outcome, Problem, Received};
use crate::plan::Status;
use crate::reader::{Number, Reader, outcome};
use rusqlite::{Connection, OptionalExtension, Statement, TransactionBehavior, params};
use std::collections::HashMap;

/// What became of one entry.
enum Entered {
    New,
    Same,
    Amended,
}

/// All plans by name.
type Plans = HashMap<String, (Number, Status)>;

impl Ledger {
    /// Records outcomes: all that can be, or, where the ledger fails, none.
    pub fn receive(&mut self, outcomes: &[Outcome]) -> Result<Received> {
        let Reader { connection, path } = &mut self.reader;
        let failed = Error::sqlite(path, "record outcomes");
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut entries = Entries::new(&transaction).map_err(failed)?;
        let mut received = Received::default();
        for (entry, outcome) in outcomes.iter().enumerate() {
            match entries.enter(outcome).map_err(failed)? {
                Ok((entered, on_list)) => {
                    match entered {
                        Entered::New => received.new += 1,
                        Entered::Same => received.same += 1,
                        Entered::Amended => received.amended += 1,
                    }
                    if !on_list && outcome.code.is_call() {
                        received.outside_list.push(entry);
                    }
                }
                Err((found, expected)) => {
                    let (plan, arm) = (outcome.plan.clone(), outcome.arm.clone());
                    received.problems.push(Problem { entry, plan, arm, found, expected });
                }
            }
        }
        drop(entries);
        transaction.commit().map_err(failed)?;
        Ok(received)
    }
}

/// What is said to SQLite for each entry, prepared once.
struct Entries<'c> {
    connection: &'c Connection,
    chain: Chain<'c>,
    plans: Plans,
    listed: Statement<'c>,
    known: Statement<'c>,
    insert: Statement<'c>,
    keep: Statement<'c>,
    amend: Statement<'c>,
}

impl<'c> Entries<'c> {
    fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let mut plans = connection.prepare("SELECT id, number, status FROM plans")?;
        let plans = plans.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(Self {
            connection,
            chain: Chain::new(connection)?,
            plans: plans.collect::<rusqlite::Result<_>>()?,
            listed: connection.prepare(IS_LISTED)?,
            known: connection.prepare(
                "SELECT arm, code, day, note, source, received_at FROM outcomes WHERE plan = ?1 AND arm = ?2",
            )?,
            insert: connection.prepare(
                "INSERT INTO outcomes (plan, arm, code, day, note, source, received_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            keep: connection.prepare(
                "INSERT INTO amended (plan, arm, code, day, note, source, received_at) \
                 SELECT plan, arm, code, day, note, source, received_at FROM outcomes WHERE plan = ?1 AND arm = ?2",
            )?,
            amend: connection.prepare(
                "UPDATE outcomes SET code = ?3, day = ?4, note = ?5, source = ?6, received_at = ?7 \
                 WHERE plan = ?1 AND arm = ?2",
            )?,
        })
    }

    /// Records one outcome; says what became of it, and whether the person is on the list.
    fn enter(&mut self, new: &Outcome) -> rusqlite::Result<std::result::Result<(Entered, bool), Wrong>> {
        let moment = check::moment(&new.received_at);
        if let Err(wrong) = new.day.as_deref().map_or(Ok(()), check::day).and(moment) {
            return Ok(Err(wrong));
        }
        let plan = match self.plans.get(&new.plan) {
            None => return Ok(Err(("no such plan".into(), "one of those recorded"))),
            Some((_, Status::Replaced)) => {
                return Ok(Err(("a plan that was replaced".into(), "the one that took its place")));
            }
            Some((plan, Status::Current)) => *plan,
        };
        let key = params![plan, new.arm];
        let Some(on_list) = self.listed.query_row(key, |row| row.get(0)).optional()? else {
            return Ok(Err(("nobody of this id in the plan".into(), "one of its people")));
        };
        let known = self.known.query_row(key, |row| outcome(row, &new.plan)).optional()?;
        let entered = match known.map(|known| known.amended_by(new)) {
            None => {
                write(&mut self.insert, plan, new)?;
                self.tell(Event::Outcome, new, None)?;
                Entered::New
            }
            Some(None) => Entered::Same,
            Some(Some(now)) => {
                self.keep.execute(key)?;
                let kept = self.connection.last_insert_rowid();
                write(&mut self.amend, plan, &now)?;
                self.tell(Event::Amended, &now, Some(kept))?;
                Entered::Amended
            }
        };
        Ok(Ok((entered, on_list)))
    }

    /// Adds to the chain what holds now, and in which row what was before is kept.
    fn tell(&mut self, event: Event, now: &Outcome, amended: Option<i64>) -> rusqlite::Result<()> {
        let told = Came {
            plan: now.plan.clone(),
            arm: now.arm.clone(),
            code: now.code.to_string(),
            day: now.day.clone(),
            note: now.note.clone(),
            source: now.source.clone(),
            received_at: now.received_at.clone(),
            amended,
        };
        self.chain.tell(&now.received_at, event, told.subject(), &told)
    }
}

fn write(statement: &mut Statement<'_>, plan: Number, outcome: &Outcome) -> rusqlite::Result<usize> {
    let Outcome { arm, code, day, note, source, received_at, .. } = outcome;
    statement.execute(params![plan, arm, code, day, note, source, received_at])
}
