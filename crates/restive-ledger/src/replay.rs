//! The tables once more, from the chain: what each event did is done again, and the outcome is compared with what the tables hold.
//!
//! A row that differs is told with what was written. A row that no link knows was put there by hand; one that a link knows and that
//! is not there was removed.

use crate::chain::{Event, Link};
use crate::draft::{Final, MovedUp};
use crate::event::{AMENDED, Came, GaveWay, OUTCOMES, OVERRIDES, Over, Overridden, required};
use crate::narrow;
use crate::reader::Number;
use crate::seal::{PLAN, Seal, TRIAL, Whole};
use crate::verify::{Fault, verify_event};
use crate::withdraw::TakenBack;
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

/// A column and what stands in it.
type Field<'a> = (&'static str, Option<&'a str>);

/// A plan or a trial of which a link tells.
pub(crate) struct Sealed {
    pub(crate) link: i64,
    pub(crate) id: String,
    pub(crate) digest: String,
}

/// What the chain tells, so far.
#[derive(Default)]
pub(crate) struct Replay {
    plans: BTreeMap<Number, Sealed>,
    trials: BTreeMap<Number, Sealed>,
    /// plans that were replaced and trials that were ended, by name, with the link
    replaced: HashMap<String, i64>,
    ended: HashMap<String, i64>,
    finals: HashMap<String, i64>,
    overrides: BTreeMap<i64, (i64, Overridden)>,
    outcomes: BTreeMap<(String, String), (i64, Came)>,
    amended: BTreeMap<i64, (i64, Came)>,
}

impl Replay {
    /// Does once more what a link tells.
    pub(crate) fn take(&mut self, link: &Link, content: &str, faults: &mut Vec<Fault>) {
        if let Err(found) = self.try_take(link, content, faults) {
            let subject = format!("{} {}", link.event, link.subject);
            faults.push(Fault::new(Some(link.number), subject, found, "an event that can have happened"));
        }
    }

    fn try_take(&mut self, link: &Link, content: &str, faults: &mut Vec<Fault>) -> Result<(), String> {
        let event = Event::from_word(&link.event).ok_or("an event of a kind that is not known")?;
        if let Event::Plan | Event::SealedPlan | Event::Trial = event {
            let (whole, all) = match event {
                Event::Trial => (&TRIAL, &mut self.trials),
                _ => (&PLAN, &mut self.plans),
            };
            let seal: Seal = parse(content)?;
            if seal.digest(whole) != link.digest {
                let subject = format!("{} {}", link.event, link.subject);
                let expected = "those of the digest of its link";
                faults.push(Fault::new(Some(link.number), subject, "other digests in its content", expected));
            }
            let sealed = Sealed { link: link.number, id: link.subject.clone(), digest: link.digest.clone() };
            return new(all.insert(seal.number, sealed));
        }
        verify_event(link, content, faults);
        match event {
            Event::Plan | Event::SealedPlan | Event::Trial => Ok(()),
            Event::Replaced | Event::SealedReplaced => {
                new(self.replaced.insert(parse::<GaveWay>(content)?.plan, link.number))
            }
            Event::Ended => new(self.ended.insert(parse::<Over>(content)?.trial, link.number)),
            Event::MovedUp => parse::<MovedUp>(content).map(|_| ()),
            Event::Final => new(self.finals.insert(parse::<Final>(content)?.plan, link.number)),
            Event::Override | Event::SealedOverride => {
                let told: Overridden = parse(content)?;
                new(self.overrides.insert(told.number, (link.number, told)))
            }
            Event::Outcome | Event::SealedOutcome => {
                let told: Came = parse(content)?;
                new(self.outcomes.insert((told.plan.clone(), told.arm.clone()), (link.number, told)))
            }
            Event::SealedAmended => {
                let told: Came = parse(content)?;
                let number = told.amended.ok_or("no number of its row")?;
                new(self.amended.insert(number, (link.number, told)))
            }
            Event::Amended => {
                let told: Came = parse(content)?;
                let number = told.amended.ok_or("no number of the row with what was before")?;
                let key = (told.plan.clone(), told.arm.clone());
                let before = self.outcomes.insert(key, (link.number, told));
                let (_, before) = before.ok_or("an amendment of nothing")?;
                let before = Came { amended: Some(number), ..before };
                new(self.amended.insert(number, (link.number, before)))
            }
            Event::Withdrawn => {
                let TakenBack { plan, arm, amended, holds, .. } = parse(content)?;
                let key = (plan, arm);
                let (_, before) = self.outcomes.remove(&key).ok_or("a withdrawal of nothing")?;
                if let Some(again) = holds {
                    self.outcomes.insert(key, (link.number, again));
                }
                let before = Came { amended: Some(amended), ..before };
                new(self.amended.insert(amended, (link.number, before)))
            }
        }
    }

    /// Compares what the chain tells with what the tables hold.
    pub(crate) fn compare(self, connection: &Connection, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
        let (plans, trials) = (&self.plans, &self.trials);
        let words = ["current", "replaced"];
        wholes(connection, &PLAN, plans, |id| self.replaced.get(id).copied(), words, faults)?;
        let words = ["running", "ended"];
        wholes(connection, &TRIAL, trials, |id| self.ended.get(id).copied(), words, faults)?;
        let name = |number| plans.get(&number).map_or_else(|| format!("number {number}"), |p| p.id.clone());

        let mut rows = connection.prepare(OVERRIDES)?;
        let rows = rows.query_map([], |row| Overridden::read(row, name))?;
        let of = |one: &Overridden| format!("plan {}, override {} of {:?}", one.plan, one.number, one.arm);
        compare_rows(rows, |one| one.number, of, Overridden::fields, self.overrides, faults)?;

        let mut rows = connection.prepare(OUTCOMES)?;
        let rows = rows.query_map([], |row| Came::read(row, name))?;
        let key = |one: &Came| (one.plan.clone(), one.arm.clone());
        let of = |one: &Came| format!("plan {}, outcome of {:?}", one.plan, one.arm);
        compare_rows(rows, key, of, Came::fields, self.outcomes, faults)?;

        let mut rows = connection.prepare(AMENDED)?;
        let rows = rows.query_map([], |row| Came::read(row, name))?;
        let of = |one: &Came| {
            format!("plan {}, amended outcome {} of {:?}", one.plan, one.amended.unwrap_or(0), one.arm)
        };
        compare_rows(rows, |one| one.amended.unwrap_or(0), of, Came::fields, self.amended, faults)
    }
}

/// All plans, or all trials: whether each has its link and is what that says, and whether what may change of it did.
fn wholes(
    connection: &Connection,
    whole: &Whole,
    told: &BTreeMap<Number, Sealed>,
    changed: impl Fn(&str) -> Option<i64>,
    [before, after]: [&str; 2],
    faults: &mut Vec<Fault>,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare(&format!("SELECT number, id, status FROM {} ORDER BY number", whole.table))?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, required(row, 1)?, required(row, 2)?)))?;
    let rows: BTreeMap<Number, (String, String)> =
        rows.map(|row| row.map(|(number, id, status)| (number, (id, status)))).collect::<Result<_, _>>()?;
    for (number, sealed) in told {
        let subject = format!("{} {}", whole.name, sealed.id);
        let Some((_, status)) = rows.get(number) else {
            faults.push(gone(sealed.link, subject));
            continue;
        };
        let change = changed(&sealed.id);
        let expected = if change.is_some() { after } else { before };
        if status != expected {
            let link = Some(change.unwrap_or(sealed.link));
            let (found, expected) = (format!("the status {status:?}"), format!("{expected:?}"));
            faults.push(Fault::new(link, subject, found, expected));
        }
        narrow::differences(connection, whole, *number, sealed, faults)?;
    }
    for (_, (id, _)) in rows.iter().filter(|(number, _)| !told.contains_key(number)) {
        faults.push(unknown(format!("{} {id}", whole.name)));
    }
    for list in whole.lists {
        let (table, key) = (list.table, whole.name);
        let sql = format!("SELECT {key}, count(*) FROM {table} GROUP BY {key}");
        let mut statement = connection.prepare(&sql)?;
        for row in statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (number, count): (Number, u32) = row?;
            if !told.contains_key(&number) {
                let rows = crate::check::count(count as usize, "row", "rows");
                faults.push(unknown(format!("{key} number {number}, {rows} of {table}")));
            }
        }
    }
    Ok(())
}

/// All rows of a table: how each differs from what its link tells, which has none, and which is gone.
fn compare_rows<K: Ord, T, const N: usize>(
    rows: impl Iterator<Item = rusqlite::Result<T>>,
    key: impl Fn(&T) -> K,
    subject: impl Fn(&T) -> String,
    fields: impl for<'a> Fn(&'a T) -> [Field<'a>; N],
    mut told: BTreeMap<K, (i64, T)>,
    faults: &mut Vec<Fault>,
) -> rusqlite::Result<()> {
    let say = |(column, text): Field<'_>| match text {
        Some(text) => format!("{column} {text:?}"),
        None => format!("no {column}"),
    };
    for row in rows {
        let row = row?;
        let Some((link, told)) = told.remove(&key(&row)) else {
            faults.push(unknown(subject(&row)));
            continue;
        };
        let both = fields(&row).into_iter().zip(fields(&told));
        for (row, expected) in both.filter(|(row, told)| row != told) {
            faults.push(Fault::new(Some(link), subject(&told), say(row), say(expected)));
        }
    }
    faults.extend(told.into_values().map(|(link, told)| gone(link, subject(&told))));
    Ok(())
}

fn gone(link: i64, subject: String) -> Fault {
    Fault::new(Some(link), subject, "nothing", "the row that its link tells of")
}

fn unknown(subject: String) -> Fault {
    Fault::new(None, subject, "what no link tells of", "nothing")
}

/// What was not there before.
fn new<T>(before: Option<T>) -> Result<(), String> {
    if before.is_some() { Err("it for the second time".into()) } else { Ok(()) }
}

fn parse<T: DeserializeOwned>(content: &str) -> Result<T, String> {
    serde_json::from_str(content).map_err(|error| format!("a content that cannot be read ({error})"))
}
