//! Clusters of people: a column of the registry, such as the household, read in a pass of its own.
//!
//! The first cell of a person counts. A person without one is a cluster of their own, and the cell is listed. People of an earlier import
//! who are not in the registry any more keep the cluster that they had. Where ids are pseudonyms, so are the names of clusters.

use crate::accounts::{Accounts, RowAt};
use crate::columns::Wanted;
use crate::error::Result;
use crate::mapping::{At, Mapping};
use crate::programme::Previous;
use crate::pseudonym::Pseudonyms;
use crate::registry::{Registry, is_long_number};
use crate::source::{Input, Source};
use std::collections::HashMap;

/// Longest name of a cluster in bytes.
const LONGEST: usize = 4096;

/// The account of the registry, which is opened first.
const REGISTRY: u16 = 0;

/// Name of the cluster of each person, in the order of the registry; `column` is the column of clusters.
pub(crate) fn read(
    mapping: &Mapping,
    column: &At<String>,
    input: &Input<'_>,
    registry: &mut Registry,
    previous: Option<&Previous>,
    pseudonyms: Option<&Pseudonyms>,
    accounts: &mut Accounts,
) -> Result<Vec<String>> {
    let rule = &mapping.people;
    let mut source = Source::open(&rule.reading.value, input)
        .map_err(|error| mapping.text.fault(rule.reading.at, error.to_string()))?;
    let mut wanted = Wanted::new(mapping, &source);
    let (id, cluster) = (wanted.need(&rule.id)?, wanted.need(column)?);
    let mut names: Vec<Option<String>> = vec![None; registry.len()];
    // the first row of each person without a cluster, and the reason
    let mut without: HashMap<usize, (RowAt, String)> = HashMap::new();
    let directory = registry.directory(&rule.id.value, rule.form);
    source.rows(wanted.positions(), |row| -> Result<()> {
        let text = row.cell(id);
        if row.fault().is_some() || mapping.is_missing(text) {
            return Ok(());
        }
        // rows that name nobody are quarantined
        let person = directory.find(text) as usize;
        let Some(name) = names.get_mut(person).filter(|name| name.is_none()) else { return Ok(()) };
        let cell = row.cell(cluster);
        let is_missing = mapping.is_missing(cell) || cell.parse::<f64>().is_ok_and(f64::is_nan);
        let reason = match mapping.error_in(cell) {
            Some(error) => Some(error),
            None if is_missing => Some("no cluster".into()),
            None if cell.len() > LONGEST => Some(format!("a name of more than {LONGEST} letters")),
            None => None,
        };
        match reason {
            None => *name = Some(cell.to_string()),
            Some(reason) => {
                let at = RowAt { source: REGISTRY, file: row.file() as u16, line: row.line() as u32 };
                without.entry(person).or_insert((at, reason));
            }
        }
        Ok(())
    })?;
    if pseudonyms.is_none() {
        refuse_telephone_numbers(mapping, column, &names)?;
    }
    let before = previous.and_then(|previous| previous.study.instances.first());
    let known: HashMap<&str, &String> = before
        .and_then(|old| Some(old.arms.iter().map(String::as_str).zip(old.clusters.as_ref()?).collect()))
        .unwrap_or_default();
    let named = |(person, name): (usize, Option<String>)| {
        let arm = &registry.arms[person];
        match (name, without.remove(&person)) {
            (Some(name), _) => match pseudonyms {
                // a household with the name of a person must not have the pseudonym of that person
                Some(pseudonyms) => pseudonyms.of(&format!("cluster {name}")),
                None => name,
            },
            (None, None) if known.contains_key(arm.as_str()) => known[arm.as_str()].clone(),
            (None, reason) => {
                if let Some((at, reason)) = reason {
                    let column = &column.value;
                    accounts.leave_out(at, &format!("{reason} in {column}: a cluster of its own"));
                }
                format!("alone {arm}")
            }
        }
    };
    Ok(names.into_iter().enumerate().map(named).collect())
}

/// Refuses names of clusters that are telephone numbers, which must not be stored in a study in the clear.
fn refuse_telephone_numbers(mapping: &Mapping, column: &At<String>, names: &[Option<String>]) -> Result<()> {
    let known = names.iter().flatten().count();
    let numbers = names.iter().flatten().filter(|name| is_long_number(name)).count();
    if mapping.people.has_public_ids || known == 0 || 2 * numbers < known {
        return Ok(());
    }
    let found = format!(
        "cluster: found {numbers} of {known} cells that look like telephone numbers, expected names that may stand in a study: pseudonymise \
         ids and clusters, or say public_ids = true"
    );
    Err(mapping.text.fault(column.at, found))
}
