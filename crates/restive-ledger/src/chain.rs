//! The chain: whatever is written adds a link, and a link depends on all before it.
//!
//! A trigger keeps nobody from dropping it. What was changed behind the back of the ledger is found by arithmetic: link n is
//!
//! ```text
//! link_n = SHA-256(lead ‖ link_{n−1} ‖ n ‖ at ‖ event ‖ subject ‖ digest)        lead = "restive ledger 3 link"
//! digest = SHA-256("restive ledger 3 event" ‖ content)                           of an event
//! digest = SHA-256("restive ledger 3 plan" ‖ digest of each part)                of a plan or a trial, see `seal`
//! ```
//!
//! so that one who changes a row must change its link and all links after it, and with them the head, which is what one writes down
//! elsewhere. The chain alone shows changes by somebody who does not compute it anew; the chain and a head of earlier show all that
//! is older than that head.
//!
//! **Encoding.** Every value begins with a byte that tells what it is, and two lists of values are never written the same way:
//!
//! | value | bytes |
//! |---|---|
//! | absent | 0 |
//! | integer | 1, the eight bytes of it, the least first |
//! | number | 2, the eight bytes of its IEEE 754 bits, the least first |
//! | text | 3, its length in bytes as eight bytes, the least first, and its UTF-8 |
//! | blob | 4, likewise; no table has one |
//!
//! The first link has an absent one before it. Digests and links are texts of 64 hexadecimal digits. Content is JSON, and says of an
//! override, an outcome, a withdrawal, a replacement and the end of a trial all that the tables say, so that the tables can be made again from the
//! chain and compared. What a ledger of an earlier version held is `sealed` when it is brought up to date: the moment of such a link
//! is that of the sealing, and it vouches for nothing before.

use crate::error::{Error, Result};
use crate::reader::{Number, Reader};
use crate::seal::Whole;
use crate::words::words;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Statement, params};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A link of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// its number, from 1
    pub number: i64,
    /// when what it tells happened, or was sealed
    pub at: String,
    /// what happened, in a word or two
    pub event: String,
    /// to whom: a plan or a trial by its name, or a plan and a person with a blank between
    pub subject: String,
    /// the digest of what was written
    pub digest: String,
    /// the digest of this link and all before it
    pub link: String,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Plan,
    Replaced,
    Override,
    Outcome,
    Amended,
    Withdrawn,
    Trial,
    Ended,
    MovedUp,
    Final,
    SealedPlan,
    SealedReplaced,
    SealedOverride,
    SealedOutcome,
    SealedAmended,
}

words!(Event {
    Plan: "plan",
    Replaced: "plan replaced",
    Override: "override",
    Outcome: "outcome",
    Amended: "outcome amended",
    Withdrawn: "outcome withdrawn",
    Trial: "trial",
    Ended: "trial ended",
    MovedUp: "moved up",
    Final: "list final",
    SealedPlan: "sealed plan",
    SealedReplaced: "sealed plan replaced",
    SealedOverride: "sealed override",
    SealedOutcome: "sealed outcome",
    SealedAmended: "sealed amended",
});

/// A digest that is being made.
pub(crate) struct Hash(Sha256);

impl Hash {
    /// One of what `lead` says.
    pub(crate) fn new(lead: &str) -> Self {
        let mut hash = Self(Sha256::new());
        hash.text(lead);
        hash
    }

    pub(crate) fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.update([0]),
            ValueRef::Integer(x) => self.nine(1, x.to_le_bytes()),
            ValueRef::Real(x) => self.nine(2, x.to_bits().to_le_bytes()),
            ValueRef::Text(text) => self.bytes(3, text),
            ValueRef::Blob(blob) => self.bytes(4, blob),
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(3, text.as_bytes());
    }

    pub(crate) fn integer(&mut self, x: i64) {
        self.nine(1, x.to_le_bytes());
    }

    /// A digest as it is: its length is known.
    pub(crate) fn digest(&mut self, digest: &[u8; 32]) {
        self.0.update(digest);
    }

    pub(crate) fn done(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    fn bytes(&mut self, tag: u8, bytes: &[u8]) {
        self.nine(tag, (bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn nine(&mut self, tag: u8, eight: [u8; 8]) {
        let mut nine = [tag; 9];
        nine[1..].copy_from_slice(&eight);
        self.0.update(nine);
    }
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

/// The digest of an event with this content.
pub(crate) fn digest_of(content: &str) -> String {
    let mut hash = Hash::new("restive ledger 3 event");
    hash.text(content);
    hex(&hash.done())
}

/// What a link must be, given the one before it.
pub(crate) fn link_after(before: Option<&str>, this: &Link) -> String {
    let mut hash = Hash::new("restive ledger 3 link");
    match before {
        Some(before) => hash.text(before),
        None => hash.value(ValueRef::Null),
    }
    hash.integer(this.number);
    for text in [&this.at, &this.event, &this.subject, &this.digest] {
        hash.text(text);
    }
    hex(&hash.done())
}

/// Something as JSON.
pub(crate) fn json<T: Serialize>(content: &T) -> rusqlite::Result<String> {
    serde_json::to_string(content).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// The end of the chain, to which a transaction adds.
pub(crate) struct Chain<'c> {
    connection: &'c Connection,
    last: Option<(i64, String)>,
    add: Statement<'c>,
}

impl<'c> Chain<'c> {
    pub(crate) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let last = connection.query_row(LAST, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let sql = "INSERT INTO chain (number, at, event, subject, content, digest, link) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        Ok(Self { connection, last, add: connection.prepare(sql)? })
    }

    /// Adds an event that its content tells.
    pub(crate) fn tell<T: Serialize>(
        &mut self,
        at: &str,
        event: Event,
        subject: String,
        content: &T,
    ) -> rusqlite::Result<()> {
        let content = json(content)?;
        self.append(at, event, subject, &content, digest_of(&content))
    }

    /// Adds a plan or a trial, as it stands in the tables.
    pub(crate) fn seal(
        &mut self,
        at: &str,
        event: Event,
        subject: &str,
        whole: &Whole,
        number: Number,
    ) -> rusqlite::Result<()> {
        let seal = whole.seal(self.connection, number)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        self.append(at, event, subject.into(), &json(&seal)?, seal.digest(whole))
    }

    fn append(
        &mut self,
        at: &str,
        event: Event,
        subject: String,
        content: &str,
        digest: String,
    ) -> rusqlite::Result<()> {
        let number = self.last.as_ref().map_or(1, |(number, _)| number.saturating_add(1));
        let (at, event, link) = (at.to_string(), event.to_string(), String::new());
        let mut this = Link { number, at, event, subject, digest, link };
        this.link = link_after(self.last.as_ref().map(|(_, link)| link.as_str()), &this);
        let Link { number, at, event, subject, digest, link } = this;
        self.add.execute(params![number, at, event, subject, content, digest, link])?;
        self.last = Some((number, link));
        Ok(())
    }
}

const LAST: &str = "SELECT number, link FROM chain ORDER BY number DESC LIMIT 1";

impl Reader {
    /// All links, from the first to the last.
    pub fn chain(&self) -> Result<Vec<Link>> {
        let sql = "SELECT number, at, event, subject, digest, link FROM chain ORDER BY number";
        self.all("read its chain", sql, [], |row| {
            let (number, at, event) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Link { number, at, event, subject: row.get(3)?, digest: row.get(4)?, link: row.get(5)? })
        })
    }

    /// The link of every plan, by the plan: of the chain nothing else is read.
    pub fn plan_links(&self) -> Result<HashMap<String, String>> {
        let sql = "SELECT subject, link FROM chain WHERE event IN ('plan', 'sealed plan') ORDER BY number";
        let links = self.all("read the links of its plans", sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(links.into_iter().collect())
    }

    /// The last link: it stands for all that is in the ledger. Nothing where nothing was written.
    pub fn head(&self) -> Result<Option<String>> {
        let found = self.connection.query_row(LAST, [], |row| row.get(1)).optional();
        found.map_err(Error::sqlite(&self.path, "read the head of its chain"))
    }
}
