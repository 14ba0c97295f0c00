//! What the chain keeps of a plan or a trial: digests of its own row and of all rows that belong to it.
//!
//! A row r of table t has the digest d(r) = SHA-256("restive ledger 3 t" ‖ its columns in the order below). A part is the row of the
//! plan itself, with the digest d, or everybody in one table, by `arm`, with SHA-256("restive ledger 3 list of t" ‖ d(r₁) ‖ … ‖ d(r_n) ‖ n).
//! The plan has SHA-256("restive ledger 3 plan" ‖ the digests of its parts, as text).
//!
//! That tells whether something was changed, and not what. So each part also has short tags: of the row of a plan, of each column the
//! first four bytes of SHA-256("restive ledger 3 value" ‖ value); of a list, pairs of a slot and a tag. The slot of a person is the first
//! two bytes of SHA-256("restive ledger 3 slot" ‖ arm), and the tag of a slot is the sum, modulo 2³², of the first four bytes of d(r) (the
//! least first) over whoever is in it. At 100,000 people a slot holds one or two, and a tag costs 12 digits a person. Tags only say
//! where to look: whether something was changed is for the digests alone.
//!
//! Status is no part of a plan's row, for it may change; the chain tells of that by an event. Rows are digested as SQLite gives them
//! back, one after the other, and nothing is kept of them.

use crate::chain::{Hash, hex};
use crate::reader::Number;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is sealed as a whole.
pub(crate) struct Whole {
    /// what it is
    pub(crate) name: &'static str,
    /// the table of its row
    pub(crate) table: &'static str,
    /// the columns of it
    pub(crate) columns: &'static [&'static str],
    /// who belongs to it
    pub(crate) lists: &'static [List],
}

/// A table of people who belong to something.
pub(crate) struct List {
    /// its name
    pub(crate) table: &'static str,
    /// its columns, `arm` first
    columns: &'static [&'static str],
}

/// A plan.
pub(crate) static PLAN: Whole = Whole {
    name: "plan",
    table: "plans",
    columns: &[
        "number",
        "id",
        "made_at",
        "period",
        "period_start",
        "period_end",
        "restive",
        "model",
        "model_fingerprint",
        "study_fingerprint",
        "words_fingerprint",
        "rules",
        "policy",
        "budget",
        "places",
        "explore_places",
        "seed",
        "steps",
        "inclusion",
        "value",
        "summary",
        "people",
        "asked",
        "inputs",
        "certificate",
        "trial",
        "cuts",
    ],
    lists: &[
        List {
            table: "people",
            columns: &[
                "arm",
                "probability",
                "how",
                "rank",
                "state",
                "value",
                "group",
                "row",
                "score",
                "tie",
                "trial",
            ],
        },
        List { table: "excluded", columns: &["arm", "why"] },
    ],
};

/// A trial.
pub(crate) static TRIAL: Whole = Whole {
    name: "trial",
    table: "trials",
    columns: &["number", "id", "made_at", "starts", "weeks", "protocol", "protocol_digest", "seed"],
    lists: &[List { table: "assigned", columns: &["arm", "group", "stratum", "cluster"] }],
};

/// What the chain keeps: the content of its link.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    /// the number of the row
    pub(crate) number: Number,
    /// the row, and then each list
    pub(crate) parts: Vec<Part>,
}

/// The row, or a list.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// its table
    pub(crate) of: String,
    /// what tells it from any other
    pub(crate) digest: String,
    /// what tells where two differ
    pub(crate) tags: String,
}

impl Seal {
    /// The digest of the whole.
    pub(crate) fn digest(&self, whole: &Whole) -> String {
        let mut hash = Hash::new(&format!("restive ledger 3 {}", whole.name));
        self.parts.iter().for_each(|part| hash.text(&part.digest));
        hex(&hash.done())
    }
}

impl Whole {
    /// The seal of one, as it stands in the tables; nothing where it does not.
    pub(crate) fn seal(&self, connection: &Connection, number: Number) -> rusqlite::Result<Option<Seal>> {
        let sql = format!("SELECT {} FROM {} WHERE number = ?1", quoted(self.columns), self.table);
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([number])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let lead = format!("restive ledger 3 {}", self.table);
        let mut tags = String::new();
        for column in 0..self.columns.len() {
            let mut hash = Hash::new("restive ledger 3 value");
            hash.value(row.get_ref(column)?);
            tags.push_str(&hex(&hash.done()[..4]));
        }
        let digest = hex(&digest(row, &lead, self.columns.len())?);
        let mut parts = vec![Part { of: self.table.into(), digest, tags }];
        for list in self.lists {
            parts.push(list.part(connection, self.name, number)?);
        }
        Ok(Some(Seal { number, parts }))
    }
}

impl List {
    fn part(&self, connection: &Connection, key: &str, number: Number) -> rusqlite::Result<Part> {
        let mut all = Hash::new(&format!("restive ledger 3 list of {}", self.table));
        let (mut count, mut pairs) = (0, Vec::new());
        self.each(connection, key, number, |_, slot, digest| {
            all.digest(&digest);
            count += 1;
            pairs.push((slot, u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])));
        })?;
        all.integer(count);
        pairs.sort_unstable_by_key(|(slot, _)| *slot);
        let mut tags = String::with_capacity(12 * pairs.len());
        for together in pairs.chunk_by(|a, b| a.0 == b.0) {
            let sum = together.iter().fold(0_u32, |sum, (_, tag)| sum.wrapping_add(*tag));
            tags.push_str(&hex(&together[0].0.to_be_bytes()));
            tags.push_str(&hex(&sum.to_be_bytes()));
        }
        Ok(Part { of: self.table.into(), digest: hex(&all.done()), tags })
    }

    /// Goes through everybody by `arm`: who, in which slot, with which digest.
    pub(crate) fn each(
        &self,
        connection: &Connection,
        key: &str,
        number: Number,
        mut see: impl FnMut(&[u8], u16, [u8; 32]),
    ) -> rusqlite::Result<()> {
        let (columns, table) = (quoted(self.columns), self.table);
        let sql = format!("SELECT {columns} FROM {table} WHERE {key} = ?1 ORDER BY arm");
        let lead = format!("restive ledger 3 {table}");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([number])?;
        while let Some(row) = rows.next()? {
            let arm = row.get_ref(0)?;
            let mut slot = Hash::new("restive ledger 3 slot");
            slot.value(arm);
            let slot = slot.done();
            let name = if let ValueRef::Text(name) = arm { name } else { &[] };
            see(name, u16::from_be_bytes([slot[0], slot[1]]), digest(row, &lead, self.columns.len())?);
        }
        Ok(())
    }
}

/// The tags of a list, by slot; nothing where that is not what it is.
pub(crate) fn slots(tags: &str) -> Option<BTreeMap<u16, &str>> {
    let pairs = tags.as_bytes().chunks(12).enumerate();
    pairs
        .map(|(i, _)| {
            let pair = tags.get(12 * i..12 * i + 12)?;
            Some((u16::from_str_radix(pair.get(..4)?, 16).ok()?, pair.get(4..)?))
        })
        .collect()
}

fn digest(row: &Row<'_>, lead: &str, columns: usize) -> rusqlite::Result<[u8; 32]> {
    let mut hash = Hash::new(lead);
    for column in 0..columns {
        hash.value(row.get_ref(column)?);
    }
    Ok(hash.done())
}

fn quoted(columns: &[&str]) -> String {
    format!("\"{}\"", columns.join("\", \""))
}
