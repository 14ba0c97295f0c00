//! What the ledger tells the next plan and the next import: who was called when, and what every decision was.

use crate::error::{Error, Result};
use crate::outcome::Code;
use crate::plan::{Plan, Status};
use crate::reader::Reader;
use rusqlite::{OptionalExtension, Row};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The calls to one person, over all plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// who
    pub arm: String,
    /// how many calls were made
    pub calls: usize,
    /// how many of them the person answered
    pub contacts: usize,
    /// the last one
    pub last: LastCall,
}

/// The last call to somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastCall {
    /// by which plan
    pub plan: String,
    /// in which period
    pub period: i64,
    /// on which day, where that is known
    pub day: Option<String>,
    /// what came of it
    pub code: Code,
}

/// One person's part in a plan: what an evaluation needs of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decided {
    /// who
    pub arm: String,
    /// of being on the list, as the plan said
    pub probability: f64,
    /// whether the person is on the list, overrides applied
    pub is_listed: bool,
    /// what came of it, where that is known
    pub code: Option<Code>,
}

/// How things stand with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// the plan
    pub plan: String,
    /// whether it counts
    pub status: Status,
    /// its period
    pub period: i64,
    /// the first day of it
    pub period_start: String,
    /// how many people it chose from
    pub people: usize,
    /// how many are on its list, overrides applied
    pub listed: usize,
    /// how many outcomes are known, of whomever
    pub outcomes: usize,
    /// of how many on the list none is
    pub missing: usize,
}

/// How things stand with a programme.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standings {
    /// the current plan of the latest period
    pub latest: Option<Plan>,
    /// each plan, from the first that was made to the last
    pub plans: Vec<Standing>,
}

impl Reader {
    /// Everybody to whom a call was made, by `arm`. The last call is that of the latest period.
    pub fn calls(&self) -> Result<Vec<Calls>> {
        let sql = "SELECT arm, plans.id, period, day, code FROM outcomes JOIN plans ON plans.number = outcomes.plan \
             ORDER BY arm, period, plans.number";
        let read = |row: &Row<'_>| {
            let (plan, period, day, code) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((row.get(0)?, LastCall { plan, period, day, code }))
        };
        let mut found: Vec<Calls> = Vec::new();
        for (arm, last) in self.all("read who was called", sql, [], read)? {
            let (call, contact) = (last.code.is_call(), usize::from(last.code.is_contact()));
            match found.last_mut() {
                _ if !call => {}
                Some(calls) if calls.arm == arm => {
                    calls.calls += 1;
                    calls.contacts += contact;
                    calls.last = last;
                }
                _ => found.push(Calls { arm, calls: 1, contacts: contact, last }),
            }
        }
        Ok(found)
    }

    /// Everybody from whom a plan chose, by `arm`: with which probability they were to be on the list, whether they are, and what
    /// came of it.
    pub fn decided(&self, plan: &str) -> Result<Vec<Decided>> {
        let doing = "read what was decided";
        let number = [self.number(plan)?];
        let listed: HashSet<String> = self
            .all(doing, "SELECT arm FROM listed WHERE plan = ?1", number, |row| row.get(0))?
            .into_iter()
            .collect();
        let outcome = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let outcomes: HashMap<String, Code> = self
            .all(doing, "SELECT arm, code FROM outcomes WHERE plan = ?1", number, outcome)?
            .into_iter()
            .collect();
        self.all(doing, "SELECT arm, probability FROM people WHERE plan = ?1 ORDER BY arm", number, |row| {
            let arm: String = row.get(0)?;
            let (is_listed, code) = (listed.contains(&arm), outcomes.get(&arm).copied());
            Ok(Decided { probability: row.get(1)?, is_listed, code, arm })
        })
    }

    /// How things stand, in a few numbers.
    pub fn standings(&self) -> Result<Standings> {
        let plans =
            self.all("read how things stand", &format!("{STANDING} ORDER BY number"), [], standing)?;
        Ok(Standings { latest: self.latest()?, plans })
    }

    /// How things stand with one plan.
    pub fn standing(&self, plan: &str) -> Result<Standing> {
        let sql = format!("{STANDING} WHERE number = ?1");
        let mut found = self.all("read how a plan stands", &sql, [self.number(plan)?], standing)?;
        found.pop().ok_or_else(|| self.unknown(plan))
    }

    /// How many are on the list of a plan, overrides applied; of how many what came of it is known; and how often it was changed by hand.
    pub fn counts(&self, plan: &str) -> Result<[usize; 3]> {
        let sql = "SELECT (SELECT count(*) FROM listed WHERE plan = ?1), (SELECT count(*) FROM outcomes WHERE plan = ?1), \
             (SELECT count(*) FROM overrides WHERE plan = ?1)";
        let number = self.number(plan)?;
        let found = self.connection.query_row(sql, [number], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?].map(|n: u32| n as usize))
        });
        found.map_err(Error::sqlite(&self.path, "count what a plan has"))
    }

    /// What came of a plan: how often each code stands, as it holds now.
    pub fn codes(&self, plan: &str) -> Result<Vec<(Code, usize)>> {
        let sql = "SELECT code, count(*) FROM outcomes WHERE plan = ?1 GROUP BY code ORDER BY code";
        self.all("count outcomes", sql, [self.number(plan)?], |row| {
            Ok((row.get(0)?, row.get::<_, u32>(1)? as usize))
        })
    }

    /// Who is on the list of a plan, overrides applied, and of whom of them no outcome is known: `arm` alone, in no order. It costs a
    /// fraction of [`listed`](Self::listed), for nothing that the plan said is read.
    pub fn listed_arms(&self, plan: &str) -> Result<(Vec<String>, Vec<String>)> {
        let (doing, number) = ("read who is on a list", [self.number(plan)?]);
        let listed = self.all(doing, "SELECT arm FROM listed WHERE plan = ?1", number, |row| row.get(0))?;
        let sql = "SELECT arm FROM listed WHERE plan = ?1 EXCEPT SELECT arm FROM outcomes WHERE plan = ?1";
        Ok((listed, self.all(doing, sql, number, |row| row.get(0))?))
    }

    /// Arms that are on the list of a plan, or were until they were left out by hand, in no order; see
    /// [`Part::was_listed`](crate::Part::was_listed).
    pub fn once_listed_arms(&self, plan: &str) -> Result<Vec<String>> {
        let sql = "SELECT arm FROM people INDEXED BY people_listed WHERE plan = ?1 AND how IS NOT NULL \
             UNION SELECT arm FROM listed WHERE plan = ?1";
        self.all("read who was on a list", sql, [self.number(plan)?], |row| row.get(0))
    }

    /// The number of the last link that is not about this plan, 0 where there is none: while it stays, so does all that the ledger
    /// says of other plans.
    pub fn last_beside(&self, plan: &str) -> Result<i64> {
        let sql = "SELECT number FROM chain WHERE subject <> ?1 AND substr(subject, 1, length(?1) + 1) <> ?1 || ' ' \
             ORDER BY number DESC LIMIT 1";
        let found = self.connection.query_row(sql, [plan], |row| row.get(0)).optional();
        Ok(found.map_err(Error::sqlite(&self.path, "read the end of its chain"))?.unwrap_or(0))
    }
}

const STANDING: &str = "SELECT id, status, period, period_start, people, \
     (SELECT count(*) FROM listed WHERE listed.plan = number), \
     (SELECT count(*) FROM outcomes WHERE outcomes.plan = number), \
     (SELECT count(*) FROM listed WHERE listed.plan = number AND NOT EXISTS \
      (SELECT 1 FROM outcomes WHERE outcomes.plan = listed.plan AND outcomes.arm = listed.arm)) FROM plans";

fn standing(row: &Row<'_>) -> rusqlite::Result<Standing> {
    let count = |column| Ok::<_, rusqlite::Error>(row.get::<_, u32>(column)? as usize);
    Ok(Standing {
        plan: row.get(0)?,
        status: row.get(1)?,
        period: row.get(2)?,
        period_start: row.get(3)?,
        people: count(4)?,
        listed: count(5)?,
        outcomes: count(6)?,
        missing: count(7)?,
    })
}
