//! Whether the ledger holds what was written into it, and no more.
//!
//! Four questions, in this order. Is the file one that SQLite finds whole, with the tables, views and triggers of this version? Does
//! every link follow from the one before it, without a gap? Does the content of every event have the digest of its link? And are the
//! tables what the links tell (`replay`), plan by plan and person by person?
//!
//! One who computes the whole chain anew after a change, or cuts off its end, leaves nothing that this could find, unless somebody has
//! written down a head of before: [`Reader::verify_with_head`] says whether the chain still leads through it.

use crate::chain::{Link, digest_of, link_after};
use crate::error::{Error, Result, is_of_system};
use crate::event::required;
use crate::reader::Reader;
use crate::replay::Replay;
use crate::schema;
use serde::Serialize;

/// What a look at all of a ledger found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// how many links its chain has
    pub links: usize,
    /// the last of them
    pub head: Option<String>,
    /// where in the chain the head is that was asked for
    pub known: Option<i64>,
    /// what is not as it was written; nothing where all is well
    pub faults: Vec<Fault>,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{subject}: found {found}, expected {expected}{}", link.map_or_else(String::new, |link| format!(" (link {link})")))]
pub struct Fault {
    /// the link that shows it
    pub link: Option<i64>,
    /// what it is: which plan, and which person of it where that can be told
    pub subject: String,
    /// what stands there
    pub found: String,
    /// what was written
    pub expected: String,
}

impl Fault {
    pub(crate) fn new(
        link: Option<i64>,
        subject: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { link, subject: subject.into(), found: found.into(), expected: expected.into() }
    }
}

/// How many complaints of SQLite are passed on.
const COMPLAINTS: usize = 5;

impl Reader {
    /// Looks at all of the ledger, and says what is not as it was written.
    pub fn verify(&self) -> Result<Verified> {
        let failed = Error::sqlite(&self.path, "verify it");
        let mut verified =
            Verified { links: 0, head: None, known: None, faults: self.damage().map_err(failed)? };
        match self.verify_content(&mut verified) {
            // what SQLite cannot read any more has been told
            Err(answer) if !verified.faults.is_empty() && !is_of_system(&answer) => Ok(verified),
            answer => answer.map_err(failed).map(|()| verified),
        }
    }

    /// Like [`verify`](Self::verify), and says also whether the chain leads through a head that was written down before: what is older
    /// than that was not changed, not even by somebody who computed the chain anew.
    pub fn verify_with_head(&self, head: &str) -> Result<Verified> {
        let mut verified = self.verify()?;
        let sql = "SELECT number FROM chain WHERE link = ?1 ORDER BY number LIMIT 1";
        let found = self.all("look for a head", sql, [head], |row| row.get(0));
        match found {
            Err(error) if verified.faults.is_empty() || error.is_of_system() => return Err(error),
            found => verified.known = found.ok().and_then(|found| found.first().copied()),
        }
        if verified.known.is_none() {
            let found = format!("a chain of {} without the head {head}", count_links(verified.links));
            let expected = "that head in it: its end was cut off, or it was computed anew";
            verified.faults.push(Fault::new(None, "the chain", found, expected));
        }
        Ok(verified)
    }

    /// What SQLite says of the file; an error if the system refuses to read it.
    fn damage(&self) -> rusqlite::Result<Vec<Fault>> {
        let sql = format!("PRAGMA integrity_check({COMPLAINTS})");
        let complaints = || -> rusqlite::Result<Vec<String>> {
            self.connection.prepare(&sql)?.query_map([], |row| required(row, 0))?.collect()
        };
        let complaints = match complaints() {
            Err(answer) if is_of_system(&answer) => return Err(answer),
            complaints => complaints.unwrap_or_else(|answer| vec![answer.to_string()]),
        };
        let complaints = complaints.into_iter().filter(|complaint| complaint != "ok");
        let faults = complaints.map(|complaint| {
            let found = format!("damage ({})", complaint.replace('\n', " "));
            Fault::new(None, "the file", found, "one that SQLite finds whole")
        });
        Ok(faults.collect())
    }

    fn verify_content(&self, verified: &mut Verified) -> rusqlite::Result<()> {
        self.verify_schema(&mut verified.faults)?;
        let mut replay = Replay::default();
        let sql = "SELECT number, at, event, subject, digest, link, content FROM chain ORDER BY number";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut before: Option<Link> = None;
        while let Some(row) = rows.next()? {
            let this = Link {
                number: row.get(0)?,
                at: required(row, 1)?,
                event: required(row, 2)?,
                subject: required(row, 3)?,
                digest: required(row, 4)?,
                link: required(row, 5)?,
            };
            verify_link(before.as_ref(), &this, &mut verified.faults);
            replay.take(&this, &required(row, 6)?, &mut verified.faults);
            verified.links += 1;
            before = Some(this);
        }
        verified.head = before.map(|last| last.link);
        replay.compare(&self.connection, &mut verified.faults)
    }

    /// Whether the tables are those of this version, and still defend themselves.
    fn verify_schema(&self, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
        let (mut found, expected) = (schema::made(&self.connection)?, schema::expected()?);
        for (name, words) in expected {
            let found = match found.remove(&name) {
                Some(found) if found == words => continue,
                Some(_) => "another one",
                None => "none",
            };
            faults.push(Fault::new(None, name, found, "that of every ledger"));
        }
        let more = found.into_keys();
        faults.extend(more.map(|name| Fault::new(None, name, "it", "none: it is no part of a ledger")));
        Ok(())
    }
}

/// Whether a link follows from the one before it.
fn verify_link(before: Option<&Link>, this: &Link, faults: &mut Vec<Fault>) {
    let expected = before.map_or(1, |before| before.number.saturating_add(1));
    if this.number != expected {
        let last = this.number.saturating_sub(1);
        let gap = if last <= expected {
            format!("link {expected} of the chain")
        } else {
            format!("links {expected} to {last} of the chain")
        };
        faults.push(Fault::new(Some(this.number), gap, "a gap", "links without a gap between them"));
        return;
    }
    if link_after(before.map(|before| before.link.as_str()), this) != this.link {
        let subject = format!("link {} of the chain ({} {})", this.number, this.event, this.subject);
        let expected = "what follows from its digest and the link before it";
        faults.push(Fault::new(Some(this.number), subject, "another link", expected));
    }
}

/// Whether the content of an event is that of its link.
pub(crate) fn verify_event(this: &Link, content: &str, faults: &mut Vec<Fault>) {
    if digest_of(content) != this.digest {
        let subject = format!("{} {}", this.event, this.subject);
        let found = format!("the content {content}");
        faults.push(Fault::new(Some(this.number), subject, found, "that of the digest of its link"));
    }
}

fn count_links(n: usize) -> String {
    crate::check::count(n, "link", "links")
}
