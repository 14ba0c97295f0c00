//! Writing: a plan with all its people, and changes to its list.
//!
//! Every call is one transaction, which is on the disk when the call returns (`synchronous = FULL`): what it was to write is there
//! wholly or not at all, at whatever instant the process ends.

use crate::check::{self, Wrong};
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::open;
use crate::plan::{Kind, NewPlan, Override, Planned, Status};
use crate::reader::{Number, Reader};
use crate::schema;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::io;
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
    /// Opens the ledger to write it: makes one where there is none, and brings an earlier version up to date.
    pub fn open(path: &Path) -> Result<Self> {
        let at = open::resolve(path)?;
        if at.exists() {
            // what is no ledger is left alone, without a lock beside it
            open::to_write(&at, path)?;
        }
        let lock = Lock::take(&at, path)?;
        match open::private().create_new(true).open(&at) {
            Err(answer) if answer.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(path, "make it")(answer));
            }
            _ => {}
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

    /// Records a plan with everybody it chose from, and returns its name. With `replace`, the current plan of the same period gives
    /// way, unless outcomes of it are known.
    pub fn record(&mut self, plan: &NewPlan, people: &[Planned], replace: bool) -> Result<String> {
        let people = self.checked(plan, people)?;
        let Reader { connection, path } = &mut self.reader;
        let failed = Error::sqlite(path, "record a plan");
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        if let Some((number, id, outcomes)) = current(&transaction, plan.period).map_err(failed)? {
            let path = path.clone();
            if !replace {
                return Err(Error::Planned { path, plan: id, period_start: plan.period_start.clone() });
            }
            if outcomes > 0 {
                return Err(Error::HasOutcomes { path, plan: id, outcomes });
            }
            let sql = "UPDATE plans SET status = ?2 WHERE number = ?1";
            transaction.execute(sql, params![number, Status::Replaced]).map_err(failed)?;
        }
        let id = new_id(&transaction, &plan.period_start).map_err(failed)?;
        insert(&transaction, &id, plan, &people).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(id)
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
        transaction
            .execute(sql, params![number, arm, change.kind, change.who, change.why, change.at])
            .and_then(|_| transaction.commit())
            .map_err(failed)
    }

    /// What can be recorded, in the order in which the ledger keeps it: pages are filled one after the other.
    fn checked<'a>(&self, plan: &NewPlan, people: &'a [Planned]) -> Result<Vec<&'a Planned>> {
        let wrong = |what: &str| self.wrong(what.into());
        check::moment(&plan.made_at).map_err(wrong("made_at"))?;
        check::day(&plan.period_start).map_err(wrong("period_start"))?;
        check::day(&plan.period_end).map_err(wrong("period_end"))?;
        check::finite(plan.value).map_err(wrong("value"))?;
        if plan.period_end < plan.period_start {
            let found = format!("{} after {}", plan.period_start, plan.period_end);
            return Err(wrong("period")((found, "a first day and a last one")));
        }
        let mut ordered: Vec<&Planned> = people.iter().collect();
        ordered.sort_unstable_by(|a, b| a.arm.cmp(&b.arm));
        let mut before = None;
        for person in &ordered {
            let checked = match () {
                _ if person.arm.is_empty() => Err(("no id".into(), "the id of a person")),
                _ if before == Some(&person.arm) => Err(("this person twice".into(), "everybody once")),
                _ if person.rank == Some(0) => Err(("rank 0".into(), "a rank from 1")),
                _ if person.row.is_some() && !person.how.is_listed() => {
                    Err(("a row of the list".into(), "none, as the person is not listed"))
                }
                _ => check::probability(person.probability).and_then(|()| check::finite(person.value)),
            };
            checked.map_err(|wrong| self.wrong(format!("person {:?}", person.arm))(wrong))?;
            before = Some(&person.arm);
        }
        Ok(ordered)
    }

    fn wrong(&self, what: String) -> impl FnOnce(Wrong) -> Error {
        let path = self.path().to_path_buf();
        move |(found, expected)| Error::Content { path, what, found, expected }
    }
}

/// The current plan of a period: its number, its name, and how many outcomes of it are known.
fn current(connection: &Connection, period: i64) -> rusqlite::Result<Option<(Number, String, usize)>> {
    let sql = "SELECT number, id, (SELECT count(*) FROM outcomes WHERE outcomes.plan = number) FROM plans \
         WHERE period = ?1 AND status = 'current'";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, u32>(2)? as usize));
    connection.query_row(sql, [period], read).optional()
}

/// The first name that is free.
fn new_id(connection: &Connection, day: &str) -> rusqlite::Result<String> {
    let mut taken = connection.prepare("SELECT 1 FROM plans WHERE id = ?1")?;
    let mut id = day.to_string();
    let mut next = 2;
    while taken.exists([&id])? {
        id = format!("{day}-{next}");
        next += 1;
    }
    Ok(id)
}

fn insert(connection: &Connection, id: &str, plan: &NewPlan, people: &[&Planned]) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO plans (id, status, people, made_at, period, period_start, period_end, restive, model, model_fingerprint, \
         study_fingerprint, words_fingerprint, rules, policy, budget, places, explore_places, seed, steps, inclusion, value, summary) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
        params![
            id,
            Status::Current,
            people.len() as i64,
            plan.made_at,
            plan.period,
            plan.period_start,
            plan.period_end,
            plan.restive,
            plan.model,
            plan.model_fingerprint,
            plan.study_fingerprint,
            plan.words_fingerprint,
            plan.rules,
            plan.policy,
            plan.budget,
            plan.places,
            plan.explore_places,
            plan.seed.to_string(),
            plan.steps,
            plan.inclusion,
            plan.value,
            plan.summary,
        ],
    )?;
    let number = connection.last_insert_rowid();
    let mut add = connection.prepare(
        r#"INSERT INTO people (plan, arm, probability, how, rank, state, value, "group", "row")
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"#,
    )?;
    for one in people {
        let how = one.how.stored();
        add.execute(params![
            number,
            one.arm,
            one.probability,
            how,
            one.rank,
            one.state,
            one.value,
            one.group,
            one.row
        ])?;
    }
    Ok(())
}

/// Whether somebody is on the list of a plan, overrides applied; no row where the plan did not choose from them.
pub(crate) const IS_LISTED: &str = "SELECT EXISTS (SELECT 1 FROM listed WHERE listed.plan = ?1 AND listed.arm = ?2) \
     FROM people WHERE plan = ?1 AND arm = ?2";
