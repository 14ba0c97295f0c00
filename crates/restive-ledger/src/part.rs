//! One person's part in a plan: what it said of her, whether she is on its list, and what came of it.
//!
//! Lists are for many people; whoever asks about one should not have to read all of them.

use crate::error::{Error, Result};
use crate::ledger::IS_LISTED;
use crate::outcome::Outcome;
use crate::plan::Planned;
use crate::reader::{PERSON, Reader, outcome, person};
use rusqlite::{OptionalExtension, params};
use serde::Serialize;

/// One person's part in a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// what the plan said of her, where it chose from her
    pub planned: Option<Planned>,
    /// whether she is on its list, overrides applied
    pub is_listed: bool,
    /// which rule kept her from being chosen, in words
    pub excluded: Option<String>,
    /// what came of it, where that is known
    pub outcome: Option<Outcome>,
}

impl Part {
    /// Whether she is on the list, or was until somebody left her out.
    pub fn was_listed(&self) -> bool {
        self.is_listed || self.planned.as_ref().is_some_and(|planned| planned.how.is_listed())
    }
}

impl Reader {
    /// One person's part in a plan; nothing is said of somebody whom the plan did not know.
    pub fn part(&self, plan: &str, arm: &str) -> Result<Part> {
        let number = self.number(plan)?;
        let failed = Error::sqlite(&self.path, "read one person's part in a plan");
        let given = params![number, arm];
        let one = &self.connection;
        let planned = format!("{PERSON} WHERE plan = ?1 AND arm = ?2");
        let planned = one.query_row(&planned, given, person).optional().map_err(failed)?;
        let is_listed = one.query_row(IS_LISTED, given, |row| row.get(0)).optional().map_err(failed)?;
        let sql = "SELECT why FROM excluded WHERE plan = ?1 AND arm = ?2";
        let excluded = one.query_row(sql, given, |row| row.get(0)).optional().map_err(failed)?;
        let sql =
            "SELECT arm, code, day, note, source, received_at FROM outcomes WHERE plan = ?1 AND arm = ?2";
        let outcome = one.query_row(sql, given, |row| outcome(row, plan)).optional().map_err(failed)?;
        Ok(Part { planned, is_listed: is_listed.unwrap_or(false), excluded, outcome })
    }
}
