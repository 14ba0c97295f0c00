//! From everybody, their lists and what is asked to tables and floors.

use super::FairnessAsked;
use super::columns::Everybody;
use super::floors::Deal;
use super::lists::Counted;
use super::said::{Fairness, Named, Table};
use crate::effects::not_stated_of_people;
use crate::error::{Error, Result};
use restive::fairness::{self as room, Crossing, Groups, cross, suppress};
use restive_pipeline::Effects;
use restive_tables::show;
use std::collections::BTreeSet;

/// All that an answer is made of.
pub(super) struct Looked<'a> {
    pub(super) everybody: Everybody<'a>,
    pub(super) now: Counted,
    pub(super) before: Option<Counted>,
    /// the last list alone, where there are several
    pub(super) last: Option<Counted>,
    /// Expected reward of each person without a call, or the reason why effects of calls are not stated. In the second case tables contain
    /// no benefits of calls either.
    pub(super) need: Effects<Vec<f64>>,
    /// or why it cannot be dealt anew
    pub(super) deal: std::result::Result<Deal, String>,
}

impl Looked<'_> {
    /// The tables and floors, put into an answer that has neither.
    pub(super) fn answer(&self, asked: &FairnessAsked, mut answer: Fairness) -> Result<Fairness> {
        let (columns, groups, crossings) = self.groupings(asked)?;
        answer.columns = self.everybody.grouping();
        answer.effects = self.need.identification().clone();
        answer
            .notes
            .extend(not_stated_of_people(&answer.effects).map(|said| format!("effects of calls: {said}")));
        let is_stated = self.need.identified().is_some();
        let unknown = vec![0.0; self.everybody.arms.len()];
        let need = self.need.identified().unwrap_or(&unknown);
        let made = |now: &Counted, before: Option<&Counted>| -> Result<Vec<Table>> {
            let period = now.period(need);
            let before = before.map(|before| before.period(need));
            let table = |groups: &Groups| room::table(groups, &period, before.as_ref());
            let tables = groups.iter().map(table).collect::<restive::Result<Vec<_>>>();
            let tables = tables.map_err(restive_pipeline::Error::from)?;
            let printed =
                suppress(&tables, &crossings, asked.least).map_err(restive_pipeline::Error::from)?;
            Ok(columns
                .iter()
                .cloned()
                .zip(printed.iter().zip(&tables))
                .map(|(column, (table, whole))| {
                    let found = Table::new(column, table, whole, asked.least);
                    if is_stated { found } else { found.without_effects() }
                })
                .collect())
        };
        answer.tables = made(&self.now, self.before.as_ref())?;
        for table in &answer.tables {
            for group in table.groups.iter().filter(|group| group.is_passed_over()) {
                answer.passed_over.push(Named { column: table.column.clone(), group: group.name.clone() });
            }
        }
        let last = match &self.last {
            None => answer.tables.clone(),
            Some(last) => made(last, None)?,
        };
        let wanted: Vec<[String; 2]> = match asked.floors.is_empty() {
            false => asked.floors.clone(),
            true => answer.passed_over.iter().map(|one| [one.column.clone(), one.group.clone()]).collect(),
        };
        for [column, value] in &wanted {
            let of = columns.iter().position(|known| known == column).unwrap_or_default();
            let names = groups[of].names();
            let Some(group) = names.iter().position(|name| name == value) else {
                let known: Vec<String> = names.iter().map(|name| show::name(name)).collect();
                return Err(Error::Refused(format!(
                    "floor {}={}: found nobody with that value, expected one of {}",
                    show::name(column),
                    show::name(value),
                    known.join(", ")
                )));
            };
            let said = |why: &str| {
                format!("a floor for {} {}: not priced, {why}", show::name(column), show::name(value))
            };
            match &self.deal {
                _ if last[of].groups[group].lists.is_none() => {
                    answer.notes.push(said("its places on this list are withheld"));
                }
                _ if !is_stated => answer.notes.push(said("effects of calls are not stated")),
                Err(why) => answer.notes.push(said(why)),
                Ok(deal) => {
                    answer.floors.push(deal.floor(&groups[of], group, &last[of], !asked.floors.is_empty())?)
                }
            }
        }
        Ok(answer)
    }

    /// The columns by name, everybody's groups in them, and which are crossings of which.
    fn groupings(&self, asked: &FairnessAsked) -> Result<(Vec<String>, Vec<Groups>, Vec<Crossing>)> {
        let mut columns = match asked.by.is_empty() && asked.cross.is_empty() && asked.floors.is_empty() {
            true => self.everybody.usual(),
            false => asked.by.clone(),
        };
        columns.extend(asked.cross.iter().flatten().cloned());
        columns.extend(asked.floors.iter().map(|[column, _]| column.clone()));
        let mut known = BTreeSet::new();
        columns.retain(|column| known.insert(column.clone()));
        let mut groups =
            columns.iter().map(|column| self.everybody.groups(column)).collect::<Result<Vec<_>>>()?;
        let mut crossings = Vec::new();
        let mut pairs = BTreeSet::new();
        let mut tied: Vec<usize> = (0..groups.len()).collect();
        for [a, b] in &asked.cross {
            if a == b {
                return Err(Error::Refused(format!(
                    "cross {0},{0}: found the same column twice, expected two",
                    show::name(a)
                )));
            }
            if !pairs.insert([a.min(b), a.max(b)]) {
                continue;
            }
            let of = [a, b].map(|name| columns.iter().position(|known| known == name).unwrap_or_default());
            // what three crossings in a circle tell of each other is more than their sums
            let [one, other] = of.map(|at| tied[at]);
            if one == other {
                return Err(Error::Refused(format!(
                    "cross {},{}: found two columns that other crossings tie together, expected no circle of crossings",
                    show::name(a),
                    show::name(b)
                )));
            }
            tied.iter_mut().filter(|tie| **tie == other).for_each(|tie| *tie = one);
            let crossed = cross(&groups[of[0]], &groups[of[1]]);
            crossings.push(Crossing { table: groups.len(), of });
            groups.push(crossed);
            columns.push(format!("{a} × {b}"));
        }
        Ok((columns, groups, crossings))
    }
}
