//! Reading: plans, the people of each, who is on its list, what was changed and what came of it.
//!
//! A reader sees the ledger as it was when it was opened, whatever is written meanwhile, so that all its answers belong together.
//! It is not for keeping: SQLite's log cannot be emptied while somebody looks at an earlier state.

use crate::error::{Error, Result};
use crate::open;
use crate::outcome::Outcome;
use crate::plan::{Excluded, How, NewPlan, Override, Plan, Planned};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use std::path::{Path, PathBuf};

/// A ledger that is read.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

/// The number of a plan within the file.
pub(crate) type Number = i64;

const PLAN: &str = "SELECT id, status, people, made_at, period, period_start, period_end, restive, model, \
    model_fingerprint, study_fingerprint, words_fingerprint, rules, policy, budget, places, explore_places, seed, steps, inclusion, \
    value, summary, asked, inputs, certificate, trial, cuts FROM plans";
pub(crate) const PERSON: &str =
    r#"SELECT arm, probability, how, rank, state, value, "group", "row", score, tie, trial FROM people"#;

impl Reader {
    /// Opens the ledger to read it, also while somebody writes, and also where nothing may be written.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let at = open::resolve(path)?;
        if !at.exists() {
            return Err(Error::NoLedger { path: path.into(), found: "no such file".into() });
        }
        Ok(Self { connection: open::to_read(&at, path)?, path: path.into() })
    }

    /// Where it is, as it was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All plans, from the first that was made to the last, those that were replaced among them.
    pub fn plans(&self) -> Result<Vec<Plan>> {
        self.all("read its plans", &format!("{PLAN} ORDER BY number"), [], plan)
    }

    /// One plan.
    pub fn plan(&self, id: &str) -> Result<Plan> {
        let found = self.connection.query_row(&format!("{PLAN} WHERE id = ?1"), [id], plan).optional();
        let found = found.map_err(Error::sqlite(&self.path, "read a plan"))?;
        found.ok_or_else(|| self.unknown(id))
    }

    /// The current plan of the latest period.
    pub fn latest(&self) -> Result<Option<Plan>> {
        let sql = format!("{PLAN} WHERE status = 'current' ORDER BY period DESC LIMIT 1");
        let found = self.connection.query_row(&sql, [], plan).optional();
        found.map_err(Error::sqlite(&self.path, "read the latest plan"))
    }

    /// Everybody from whom a plan chose, by `arm`, as the plan said: overrides are not applied.
    pub fn people(&self, plan: &str) -> Result<Vec<Planned>> {
        let sql = format!("{PERSON} WHERE plan = ?1 ORDER BY arm");
        self.all("read the people of a plan", &sql, [self.number(plan)?], person)
    }

    /// Everybody whom a rule kept from being chosen by a plan, by `arm`.
    pub fn excluded(&self, plan: &str) -> Result<Vec<Excluded>> {
        let sql = "SELECT arm, why FROM excluded WHERE plan = ?1 ORDER BY arm";
        self.all("read whom rules kept out", sql, [self.number(plan)?], |row| {
            Ok(Excluded { arm: row.get(0)?, why: row.get(1)? })
        })
    }

    /// Who is on the list of a plan, overrides applied: by rank, those without one last, and by `arm`. Whoever was added to it still
    /// has [`How::NotListed`], for that is what the plan said.
    pub fn listed(&self, plan: &str) -> Result<Vec<Planned>> {
        let sql = format!(
            "{PERSON} WHERE plan = ?1 AND arm IN (SELECT arm FROM listed WHERE plan = ?1) ORDER BY rank NULLS LAST, arm"
        );
        self.all("read a list", &sql, [self.number(plan)?], person)
    }

    /// Who is on the list of a plan, overrides applied, and of whom no outcome is known; in the order of [`listed`](Self::listed).
    pub fn missing(&self, plan: &str) -> Result<Vec<Planned>> {
        let sql = format!(
            "{PERSON} WHERE plan = ?1 AND arm IN (SELECT arm FROM listed WHERE plan = ?1 EXCEPT \
             SELECT arm FROM outcomes WHERE plan = ?1) ORDER BY rank NULLS LAST, arm"
        );
        self.all("read which outcomes are missing", &sql, [self.number(plan)?], person)
    }

    /// What was changed on the list of a plan, from the first change to the last.
    pub fn overrides(&self, plan: &str) -> Result<Vec<Override>> {
        let sql = "SELECT arm, kind, who, why, at FROM overrides WHERE plan = ?1 ORDER BY number";
        self.all("read overrides", sql, [self.number(plan)?], |row| {
            let (arm, kind, who) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Override { plan: plan.into(), arm, kind, who, why: row.get(3)?, at: row.get(4)? })
        })
    }

    /// What came of a plan, by `arm`, as it holds now.
    pub fn outcomes(&self, plan: &str) -> Result<Vec<Outcome>> {
        let sql =
            "SELECT arm, code, day, note, source, received_at FROM outcomes WHERE plan = ?1 ORDER BY arm";
        self.all("read outcomes", sql, [self.number(plan)?], |row| outcome(row, plan))
    }

    /// What outcomes of a plan were before they were amended, from the first amendment to the last.
    pub fn amended(&self, plan: &str) -> Result<Vec<Outcome>> {
        let sql =
            "SELECT arm, code, day, note, source, received_at FROM amended WHERE plan = ?1 ORDER BY number";
        self.all("read what outcomes were before", sql, [self.number(plan)?], |row| outcome(row, plan))
    }

    /// The number of a plan, by its name.
    pub(crate) fn number(&self, plan: &str) -> Result<Number> {
        let found =
            self.connection.query_row("SELECT number FROM plans WHERE id = ?1", [plan], |row| row.get(0));
        let found = found.optional().map_err(Error::sqlite(&self.path, "find a plan"))?;
        found.ok_or_else(|| self.unknown(plan))
    }

    /// All rows of an answer.
    pub(crate) fn all<T>(
        &self,
        doing: &'static str,
        sql: &str,
        given: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || self.connection.prepare(sql)?.query_map(given, read)?.collect::<rusqlite::Result<_>>();
        rows().map_err(Error::sqlite(&self.path, doing))
    }

    pub(crate) fn unknown(&self, plan: &str) -> Error {
        Error::UnknownPlan { path: self.path.clone(), plan: plan.into() }
    }
}

fn plan(row: &Row<'_>) -> rusqlite::Result<Plan> {
    let inputs: String = row.get(23)?;
    let inputs = serde_json::from_str(&inputs).map_err(|error| unreadable(23, error))?;
    let facts = NewPlan {
        made_at: row.get(3)?,
        period: row.get(4)?,
        period_start: row.get(5)?,
        period_end: row.get(6)?,
        restive: row.get(7)?,
        model: row.get(8)?,
        model_fingerprint: row.get(9)?,
        study_fingerprint: row.get(10)?,
        words_fingerprint: row.get(11)?,
        rules: row.get(12)?,
        policy: row.get(13)?,
        budget: row.get(14)?,
        places: row.get(15)?,
        explore_places: row.get(16)?,
        seed: whole(row, 17)?,
        steps: row.get(18)?,
        inclusion: row.get(19)?,
        value: row.get(20)?,
        summary: row.get(21)?,
        asked: row.get(22)?,
        inputs,
        certificate: row.get(24)?,
        trial: row.get(25)?,
        cuts: row.get(26)?,
    };
    let people: u32 = row.get(2)?;
    Ok(Plan { id: row.get(0)?, status: row.get(1)?, people: people as usize, facts })
}

/// A number that may be beyond the integers of SQLite, and stands there as text.
pub(crate) fn whole(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, String>(column)?.parse().map_err(|error| unreadable(column, error))
}

pub(crate) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

pub(crate) fn person(row: &Row<'_>) -> rusqlite::Result<Planned> {
    let value = row.get(5)?;
    Ok(Planned {
        arm: row.get(0)?,
        probability: row.get(1)?,
        how: row.get::<_, Option<How>>(2)?.unwrap_or(How::NotListed),
        rank: row.get(3)?,
        state: row.get(4)?,
        value,
        group: row.get(6)?,
        row: row.get(7)?,
        score: row.get::<_, Option<f64>>(8)?.unwrap_or(value),
        tie: row.get::<_, Option<i64>>(9)?.unwrap_or(0).cast_unsigned(),
        trial: row.get(10)?,
    })
}

pub(crate) fn outcome(row: &Row<'_>, plan: &str) -> rusqlite::Result<Outcome> {
    let (arm, code, day, note) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(Outcome { plan: plan.into(), arm, code, day, note, source: row.get(4)?, received_at: row.get(5)? })
}
