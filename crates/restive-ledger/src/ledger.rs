//! Writing: how a ledger is opened for it, and changes to a list.
//!
//! Every call is one transaction, which is on the disk when the call returns (`synchronous = FULL`): what it was to write is there
//! wholly or not at all, at whatever instant the process ends.

use crate::chain::{Chain, Event};
use crate::check::{self, Wrong};
use crate::error::{Error, Result};
use crate::event::Overridden;
use crate::lock::{Lock, PATIENCE};
use crate::open;
use crate::plan::{Kind, Override, Status};
use crate::reader::Reader;
use crate::schema;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::ops::Deref;
use std::path::Path;

/// A ledger that is written, by nobody else for as long as this lives. It can be read like any [`Reader`].
#[derive(Debug)]
pub struct Ledger {
    /// first, so that SQLite is done before the lock goes
    pub(crate) reader: Reader,
    _lock: Lock,
}

impl Deref for Ledger {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Ledger {
    /// Opens the ledger to write it: makes one where there is none, and brings an earlier version up to date. Waits up to 10 seconds
    /// for another process that [writes](Lock).
    pub fn open(path: &Path) -> Result<Self> {
        let at = open::resolve(path)?;
        if at.exists() {
            // what is no ledger is left alone, without a lock beside it
            open::to_write(&at, path)?;
        }
        Self::open_locked(path, Lock::take_beside(&at, path, PATIENCE)?)
    }

    /// Like [`open`](Self::open), for a process that holds the lock already.
    pub fn open_locked(path: &Path, lock: Lock) -> Result<Self> {
        let at = open::resolve(path)?;
        if !at.exists() {
            schema::create(&at, path)?;
        }
        let (mut connection, found) = open::to_write(&at, path)?;
        let set = |connection: &Connection| {
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
        };
        set(&connection).map_err(Error::sqlite(path, "open it for writing"))?;
        schema::migrate(&mut connection, found, &at, path)?;
        Ok(Self { reader: Reader { connection, path: path.into() }, _lock: lock })
    }

    /// Opens the ledger to read it, also while somebody writes, and also where nothing may be written.
    pub fn read(path: &Path) -> Result<Reader> {
        Reader::open(path)
    }

    /// Changes who is on the list of a current plan.
    pub fn override_list(&mut self, change: &Override) -> Result<()> {
        let wrong = |what: &str| self.wrong(what.into());
        check::said(&change.who).map_err(wrong("who"))?;
        check::said(&change.why).map_err(wrong("why"))?;
        check::moment(&change.at).map_err(wrong("at"))?;
        let (path, plan, arm) = (self.path().to_path_buf(), change.plan.clone(), change.arm.clone());
        if self.plan(&plan)?.status == Status::Replaced {
            return Err(Error::Replaced { path, plan });
        }
        self.refuse_final(&plan)?;
        let number = self.number(&plan)?;
        let connection = &mut self.reader.connection;
        let failed = Error::sqlite(&self.reader.path, "override a list");
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let listed = transaction.query_row(IS_LISTED, params![number, arm], |row| row.get(0)).optional();
        match (listed.map_err(failed)?, change.kind) {
            (None, _) => return Err(Error::UnknownPerson { path, plan, arm }),
            (Some(true), Kind::Added) => return Err(Error::Listed { path, plan, arm }),
            (Some(false), Kind::Removed) => return Err(Error::NotListed { path, plan, arm }),
            (Some(_), _) => {}
        }
        let sql = "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let write = || {
            transaction.execute(sql, params![number, arm, change.kind, change.who, change.why, change.at])?;
            let told = Overridden {
                number: transaction.last_insert_rowid(),
                plan,
                arm,
                kind: change.kind.to_string(),
                who: change.who.clone(),
                why: change.why.clone(),
                at: change.at.clone(),
            };
            Chain::new(&transaction)?.tell(&change.at, Event::Override, told.subject(), &told)
        };
        write().and_then(|()| transaction.commit()).map_err(failed)
    }

    /// What is wrong with a part of what is to be recorded.
    pub(crate) fn wrong(&self, what: String) -> impl FnOnce(Wrong) -> Error {
        let path = self.path().to_path_buf();
        move |(found, expected)| Error::Content { path, what, found, expected }
    }

    /// What is wrong with what is to be recorded of a person.
    pub(crate) fn wrong_of(&self, arm: &str) -> impl FnOnce(Wrong) -> Error {
        move |wrong| self.wrong(format!("person {arm:?}"))(wrong)
    }
}

/// Whether somebody is on the list of a plan, overrides applied; no row where the plan did not choose from them.
pub(crate) const IS_LISTED: &str = "SELECT EXISTS (SELECT 1 FROM listed WHERE listed.plan = ?1 AND listed.arm = ?2) \
     FROM people WHERE plan = ?1 AND arm = ?2";
