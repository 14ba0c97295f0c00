//! What the links of small events hold, and the sealing of a ledger of an earlier version.

use crate::chain::{Chain, Event};
use crate::reader::Number;
use crate::seal::PLAN;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

/// An override, as its row has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Overridden {
    pub(crate) number: i64,
    pub(crate) plan: String,
    pub(crate) arm: String,
    pub(crate) kind: String,
    pub(crate) who: String,
    pub(crate) why: String,
    pub(crate) at: String,
}

/// An outcome, as its row has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Came {
    pub(crate) plan: String,
    pub(crate) arm: String,
    pub(crate) code: String,
    pub(crate) day: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) source: String,
    pub(crate) received_at: String,
    /// of an amendment, the number of the row that has what was before; of a sealed amended row, its own number
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) amended: Option<i64>,
}

/// A plan gave way to another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GaveWay {
    pub(crate) plan: String,
    /// to which one; a sealed one does not say
    pub(crate) to: Option<String>,
}

/// A trial was ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Over {
    pub(crate) trial: String,
    pub(crate) at: String,
    pub(crate) why: String,
}

pub(crate) const OVERRIDES: &str =
    "SELECT number, plan, arm, kind, who, why, at FROM overrides ORDER BY number";
pub(crate) const OUTCOMES: &str =
    "SELECT NULL, plan, arm, code, day, note, source, received_at FROM outcomes ORDER BY plan, arm";
pub(crate) const AMENDED: &str =
    "SELECT number, plan, arm, code, day, note, source, received_at FROM amended ORDER BY number";

impl Overridden {
    /// Of a row of [`OVERRIDES`], where plans have these names.
    pub(crate) fn read(row: &Row<'_>, name: impl Fn(Number) -> String) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            plan: name(row.get(1)?),
            arm: required(row, 2)?,
            kind: required(row, 3)?,
            who: required(row, 4)?,
            why: required(row, 5)?,
            at: required(row, 6)?,
        })
    }

    /// What can differ, by column.
    pub(crate) fn fields(&self) -> [(&'static str, Option<&str>); 6] {
        let Self { plan, arm, kind, who, why, at, .. } = self;
        [("plan", plan), ("arm", arm), ("kind", kind), ("who", who), ("why", why), ("at", at)]
            .map(|(column, text)| (column, Some(text.as_str())))
    }

    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.plan, self.arm)
    }
}

impl Came {
    /// Of a row of [`OUTCOMES`] or [`AMENDED`], where plans have these names.
    pub(crate) fn read(row: &Row<'_>, name: impl Fn(Number) -> String) -> rusqlite::Result<Self> {
        Ok(Self {
            amended: row.get(0)?,
            plan: name(row.get(1)?),
            arm: required(row, 2)?,
            code: required(row, 3)?,
            day: text(row, 4)?,
            note: text(row, 5)?,
            source: required(row, 6)?,
            received_at: required(row, 7)?,
        })
    }

    /// What can differ, by column.
    pub(crate) fn fields(&self) -> [(&'static str, Option<&str>); 7] {
        [
            ("plan", Some(&self.plan)),
            ("arm", Some(&self.arm)),
            ("code", Some(&self.code)),
            ("day", self.day.as_ref()),
            ("note", self.note.as_ref()),
            ("source", Some(&self.source)),
            ("received_at", Some(&self.received_at)),
        ]
        .map(|(column, text)| (column, text.map(String::as_str)))
    }

    pub(crate) fn subject(&self) -> String {
        format!("{} {}", self.plan, self.arm)
    }
}

/// A text as it stands there, also where it is none: whoever verifies a ledger reads what others may have written.
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(x) => Some(format!("{x} (a number)")),
        ValueRef::Real(x) => Some(format!("{x} (a number)")),
        ValueRef::Blob(bytes) => Some(format!("{} (a blob)", String::from_utf8_lossy(bytes))),
        ValueRef::Text(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => format!("{} (no UTF-8)", String::from_utf8_lossy(bytes)),
        }),
    })
}

/// A text that must be there.
pub(crate) fn required(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(text(row, column)?.unwrap_or_default())
}

/// Seals all that a ledger of an earlier version holds: plans, which of them were replaced, overrides, outcomes, and what outcomes were
/// before.
pub(crate) fn seal_earlier(connection: &Connection, at: &str) -> rusqlite::Result<()> {
    let mut chain = Chain::new(connection)?;
    let mut plans =
        connection.prepare("SELECT number, id, status = 'replaced' FROM plans ORDER BY number")?;
    let plans = plans.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let plans = plans.collect::<rusqlite::Result<Vec<(Number, String, bool)>>>()?;
    for (number, id, _) in &plans {
        chain.seal(at, Event::SealedPlan, id, &PLAN, *number)?;
    }
    for (_, id, _) in plans.iter().filter(|(_, _, replaced)| *replaced) {
        chain.tell(at, Event::SealedReplaced, id.clone(), &GaveWay { plan: id.clone(), to: None })?;
    }
    let name = |number| {
        let at = plans.binary_search_by_key(&number, |(number, ..)| *number);
        at.map_or_else(|_| format!("number {number}"), |at| plans[at].1.clone())
    };
    let mut rows = connection.prepare(OVERRIDES)?;
    for one in rows.query_map([], |row| Overridden::read(row, name))? {
        let one = one?;
        chain.tell(at, Event::SealedOverride, one.subject(), &one)?;
    }
    for (sql, event) in [(OUTCOMES, Event::SealedOutcome), (AMENDED, Event::SealedAmended)] {
        let mut rows = connection.prepare(sql)?;
        for one in rows.query_map([], |row| Came::read(row, name))? {
            let one = one?;
            chain.tell(at, event, one.subject(), &one)?;
        }
    }
    Ok(())
}
