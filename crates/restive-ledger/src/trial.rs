//! Trials: who was assigned to which group, written down before the first call and never changed.
//!
//! A trial runs until it is ended, and at most one runs at a time: a person can be in one group only. What was agreed is its protocol,
//! kept as the text that it was.

use crate::chain::{Chain, Event};
use crate::check;
use crate::error::{Error, Result};
use crate::event::Over;
use crate::ledger::Ledger;
use crate::reader::{Number, Reader, unreadable, whole};
use crate::seal::TRIAL;
use crate::words::words;
use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};
use serde::Serialize;

/// A trial to begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewTrial {
    /// its name
    pub id: String,
    /// when it was made
    pub made_at: String,
    /// the first day of its first period
    pub starts: String,
    /// how many weeks it is to run
    pub weeks: u32,
    /// what was agreed, as it stood in its file
    pub protocol: String,
    /// what tells the protocol from any other
    pub protocol_digest: String,
    /// the seed of all that was drawn
    pub seed: u64,
}

/// A trial of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// whether it runs
    pub status: TrialStatus,
    /// how many people are assigned
    pub people: usize,
    /// what it is
    #[serde(flatten)]
    pub facts: NewTrial,
}

/// Whether a trial runs. At most one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialStatus {
    /// lists are made by it
    Running,
    /// it is over
    Ended,
}

words!(TrialStatus { Running: "running", Ended: "ended" });

/// Somebody who is in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assigned {
    /// who
    pub arm: String,
    /// to which group
    pub group: String,
    /// among whom the lot was drawn, where that was not among all
    pub stratum: Option<String>,
    /// with whom together the lot was drawn, where that was not for each alone
    pub cluster: Option<String>,
}

/// The end of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialEnd {
    /// when
    pub at: String,
    /// for what reason
    pub why: String,
}

const FACTS: &str = "SELECT status, (SELECT count(*) FROM assigned WHERE trial = number), id, made_at, starts, weeks, \
    protocol, protocol_digest, seed FROM trials";

impl Reader {
    /// All trials, from the first that was begun to the last.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        self.all("read its trials", &format!("{FACTS} ORDER BY number"), [], trial)
    }

    /// One trial.
    pub fn trial(&self, id: &str) -> Result<Trial> {
        let found = self.connection.query_row(&format!("{FACTS} WHERE id = ?1"), [id], trial).optional();
        let found = found.map_err(Error::sqlite(&self.path, "read a trial"))?;
        found.ok_or_else(|| Error::UnknownTrial { path: self.path.clone(), trial: id.into() })
    }

    /// The trial that runs.
    pub fn running_trial(&self) -> Result<Option<Trial>> {
        let sql = format!("{FACTS} WHERE status = 'running'");
        let found = self.connection.query_row(&sql, [], trial).optional();
        found.map_err(Error::sqlite(&self.path, "read the trial that runs"))
    }

    /// When and why a trial was ended; none where it runs.
    pub fn trial_end(&self, trial: &str) -> Result<Option<TrialEnd>> {
        let sql = "SELECT content FROM chain WHERE event = ?1 AND subject = ?2";
        let found = self.all("read the end of a trial", sql, params![Event::Ended, trial], |row| {
            let content: String = row.get(0)?;
            let told: Over = serde_json::from_str(&content).map_err(|error| unreadable(0, error))?;
            Ok(TrialEnd { at: told.at, why: told.why })
        })?;
        Ok(found.into_iter().next())
    }

    /// Everybody who is in a trial, by `arm`.
    pub fn assigned(&self, trial: &str) -> Result<Vec<Assigned>> {
        self.trial(trial)?;
        let sql = r#"SELECT arm, "group", stratum, cluster FROM assigned
            WHERE trial = (SELECT number FROM trials WHERE id = ?1) ORDER BY arm"#;
        self.all("read who is in a trial", sql, [trial], |row| {
            Ok(Assigned { arm: row.get(0)?, group: row.get(1)?, stratum: row.get(2)?, cluster: row.get(3)? })
        })
    }
}

impl Ledger {
    /// Begins a trial with everybody who is assigned. Refused while another one runs.
    pub fn begin_trial(&mut self, trial: &NewTrial, people: &[Assigned]) -> Result<()> {
        let people = self.checked_trial(trial, people)?;
        let path = self.path().to_path_buf();
        if let Some(running) = self.running_trial()? {
            return Err(Error::TrialRuns { path, trial: running.facts.id });
        }
        let failed = Error::sqlite(&path, "begin a trial");
        let connection = &mut self.reader.connection;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let known = transaction.prepare("SELECT 1 FROM trials WHERE id = ?1");
        if known.and_then(|mut known| known.exists([&trial.id])).map_err(failed)? {
            return Err(Error::TrialKnown { path, trial: trial.id.clone() });
        }
        let write = || -> rusqlite::Result<()> {
            transaction.execute(
                "INSERT INTO trials (id, status, made_at, starts, weeks, protocol, protocol_digest, seed) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    trial.id,
                    TrialStatus::Running,
                    trial.made_at,
                    trial.starts,
                    trial.weeks,
                    trial.protocol,
                    trial.protocol_digest,
                    trial.seed.to_string(),
                ],
            )?;
            let number: Number = transaction.last_insert_rowid();
            let mut add = transaction.prepare("INSERT INTO assigned VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for one in &people {
                add.execute(params![number, one.arm, one.group, one.stratum, one.cluster])?;
            }
            Chain::new(&transaction)?.seal(&trial.made_at, Event::Trial, &trial.id, &TRIAL, number)
        };
        write().map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// Ends the trial that runs, and says why.
    pub fn end_trial(&mut self, id: &str, at: &str, why: &str) -> Result<()> {
        check::moment(at).map_err(self.wrong("at".into()))?;
        check::said(why).map_err(self.wrong("why".into()))?;
        let path = self.path().to_path_buf();
        if self.trial(id)?.status == TrialStatus::Ended {
            return Err(Error::TrialEnded { path, trial: id.into() });
        }
        let failed = Error::sqlite(&path, "end a trial");
        let connection = &mut self.reader.connection;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let write = || {
            transaction
                .execute("UPDATE trials SET status = ?2 WHERE id = ?1", params![id, TrialStatus::Ended])?;
            let told = Over { trial: id.into(), at: at.into(), why: why.into() };
            Chain::new(&transaction)?.tell(at, Event::Ended, id.into(), &told)
        };
        write().and_then(|()| transaction.commit()).map_err(failed)
    }

    /// What can be begun, in the order in which the ledger keeps it.
    fn checked_trial<'a>(&self, trial: &NewTrial, people: &'a [Assigned]) -> Result<Vec<&'a Assigned>> {
        let wrong = |what: &str| self.wrong(what.into());
        check::said(&trial.id).map_err(wrong("id of the trial"))?;
        check::moment(&trial.made_at).map_err(wrong("made_at"))?;
        check::day(&trial.starts).map_err(wrong("starts"))?;
        if trial.weeks == 0 {
            return Err(wrong("weeks")(("0".into(), "a number from 1")));
        }
        if people.is_empty() {
            return Err(wrong("people")(("nobody".into(), "somebody who is assigned to a group")));
        }
        let mut ordered: Vec<&Assigned> = people.iter().collect();
        ordered.sort_unstable_by(|a, b| a.arm.cmp(&b.arm));
        let mut before = None;
        for person in &ordered {
            let checked = match () {
                _ if person.arm.is_empty() => Err(("no id".into(), "the id of a person")),
                _ if before == Some(&person.arm) => Err(("this person twice".into(), "everybody once")),
                _ if person.group.trim().is_empty() => Err(("no group".into(), "the name of a group")),
                _ => Ok(()),
            };
            checked.map_err(self.wrong_of(&person.arm))?;
            before = Some(&person.arm);
        }
        Ok(ordered)
    }
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    let people: u32 = row.get(1)?;
    let facts = NewTrial {
        id: row.get(2)?,
        made_at: row.get(3)?,
        starts: row.get(4)?,
        weeks: row.get(5)?,
        protocol: row.get(6)?,
        protocol_digest: row.get(7)?,
        seed: whole(row, 8)?,
    };
    Ok(Trial { status: row.get(0)?, people: people as usize, facts })
}
