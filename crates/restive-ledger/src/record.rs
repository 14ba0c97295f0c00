//! Recording a plan: its own row, everybody it chose from, and everybody whom a rule kept out.

use crate::chain::{Chain, Event, json};
use crate::check;
use crate::error::{Error, Result};
use crate::event::GaveWay;
use crate::ledger::Ledger;
use crate::plan::{Excluded, NewPlan, Planned, Status};
use crate::reader::{Number, Reader};
use crate::seal::PLAN;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

impl Ledger {
    /// Records a plan with everybody it chose from and everybody whom a rule kept out, and returns its name. With `replace`, the
    /// current plan of the same period gives way, unless outcomes of it are known.
    pub fn record(
        &mut self,
        plan: &NewPlan,
        people: &[Planned],
        excluded: &[Excluded],
        replace: bool,
    ) -> Result<String> {
        self.check_plan(plan)?;
        let people = self.checked_people(plan, people)?;
        let excluded = self.checked_excluded(excluded)?;
        let final_since = match current(&self.connection, plan.period)
            .map_err(Error::sqlite(self.path(), "record a plan"))?
        {
            Some((_, id, _)) if replace => self.final_list(&id)?.map(|change| (id, change.at)),
            _ => None,
        };
        let Reader { connection, path } = &mut self.reader;
        let failed = Error::sqlite(path, "record a plan");
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut chain = Chain::new(&transaction).map_err(failed)?;
        let new = new_id(&transaction, &plan.period_start).map_err(failed)?;
        if let Some((number, id, outcomes)) = current(&transaction, plan.period).map_err(failed)? {
            let path = path.clone();
            if !replace {
                return Err(Error::Planned { path, plan: id, period_start: plan.period_start.clone() });
            }
            if outcomes > 0 {
                return Err(Error::HasOutcomes { path, plan: id, outcomes });
            }
            if let Some((plan, at)) = final_since {
                return Err(Error::FinalList { path, plan, at });
            }
            let sql = "UPDATE plans SET status = ?2 WHERE number = ?1";
            transaction.execute(sql, params![number, Status::Replaced]).map_err(failed)?;
            let gave_way = GaveWay { plan: id.clone(), to: Some(new.clone()) };
            chain.tell(&plan.made_at, Event::Replaced, id, &gave_way).map_err(failed)?;
        }
        let number = insert_plan(&transaction, &new, plan, people.len()).map_err(failed)?;
        insert_people(&transaction, number, &people, &excluded).map_err(failed)?;
        chain.seal(&plan.made_at, Event::Plan, &new, &PLAN, number).map_err(failed)?;
        drop(chain);
        transaction.commit().map_err(failed)?;
        Ok(new)
    }

    fn check_plan(&self, plan: &NewPlan) -> Result<()> {
        let wrong = |what: &str| self.wrong(what.into());
        check::moment(&plan.made_at).map_err(wrong("made_at"))?;
        check::day(&plan.period_start).map_err(wrong("period_start"))?;
        check::day(&plan.period_end).map_err(wrong("period_end"))?;
        check::finite(plan.value).map_err(wrong("value"))?;
        if plan.period_end < plan.period_start {
            let found = format!("{} after {}", plan.period_start, plan.period_end);
            return Err(wrong("period")((found, "a first day and a last one")));
        }
        plan.trial.as_deref().map_or(Ok(()), |trial| self.trial(trial).map(|_| ()))
    }

    /// The people that can be recorded, in the order in which the ledger keeps them: pages are filled one after the other.
    fn checked_people<'a>(&self, plan: &NewPlan, people: &'a [Planned]) -> Result<Vec<&'a Planned>> {
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
                _ if person.trial.is_some() && plan.trial.is_none() => {
                    Err(("a group of a trial".into(), "none, as the plan is of no trial"))
                }
                _ => check::probability(person.probability)
                    .and_then(|()| check::finite(person.value))
                    .and_then(|()| check::finite(person.score)),
            };
            checked.map_err(self.wrong_of(&person.arm))?;
            before = Some(&person.arm);
        }
        Ok(ordered)
    }

    /// Those kept out, in the same order.
    fn checked_excluded<'a>(&self, excluded: &'a [Excluded]) -> Result<Vec<&'a Excluded>> {
        let mut ordered: Vec<&Excluded> = excluded.iter().collect();
        ordered.sort_unstable_by(|a, b| a.arm.cmp(&b.arm));
        let mut before = None;
        for one in &ordered {
            let checked = match () {
                _ if one.arm.is_empty() => Err(("no id".into(), "the id of a person")),
                _ if before == Some(&one.arm) => Err(("this person excluded twice".into(), "everybody once")),
                _ => check::said(&one.why),
            };
            checked.map_err(self.wrong_of(&one.arm))?;
            before = Some(&one.arm);
        }
        Ok(ordered)
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

/// Writes the row of a plan, and returns its number.
fn insert_plan(connection: &Connection, id: &str, plan: &NewPlan, people: usize) -> rusqlite::Result<Number> {
    let inputs = json(&plan.inputs)?;
    connection.execute(
        "INSERT INTO plans (id, status, people, made_at, period, period_start, period_end, restive, model, model_fingerprint, \
         study_fingerprint, words_fingerprint, rules, policy, budget, places, explore_places, seed, steps, inclusion, value, summary, \
         asked, inputs, certificate, trial, cuts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
         ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)",
        params![
            id,
            Status::Current,
            people as i64,
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
            plan.asked,
            inputs,
            plan.certificate,
            plan.trial,
            plan.cuts,
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Writes everybody of a plan.
fn insert_people(
    connection: &Connection,
    plan: Number,
    people: &[&Planned],
    excluded: &[&Excluded],
) -> rusqlite::Result<()> {
    let mut add = connection.prepare(
        r#"INSERT INTO people (plan, arm, probability, how, rank, state, value, "group", "row", score, tie, trial)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"#,
    )?;
    for one in people {
        add.execute(params![
            plan,
            one.arm,
            one.probability,
            one.how.stored(),
            one.rank,
            one.state,
            one.value,
            one.group,
            one.row,
            one.score,
            one.tie.cast_signed(),
            one.trial,
        ])?;
    }
    let mut add = connection.prepare("INSERT INTO excluded (plan, arm, why) VALUES (?1, ?2, ?3)")?;
    for one in excluded {
        add.execute(params![plan, one.arm, one.why])?;
    }
    Ok(())
}
