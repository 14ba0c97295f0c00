//! `identifiers`, `empty-columns`, `outliers`: columns that nothing can be learnt from, or from which the wrong thing would be.
//!
//! An outlier is further from the median than ten times the usual distance (1.4826 times the median of distances, a standard deviation
//! where numbers are normal), and where all numbers are positive also on their logarithms: incomes are skewed, and no mistake.

use super::finding::{Finding, Severity};
use super::log::Log;
use crate::columns::{Suspect, suspect};
use crate::error::Result;
use crate::message::{Message, Opt, message};
use crate::passing::Surveyed;
use crate::words::{counted, percent};
use restive::data::features::Column;
use restive::data::split::Part;
use restive::statistics::median;
use restive_tables::{Roll, show};

const IDENTIFIERS: &str = "identifiers";
const EMPTY: &str = "empty-columns";
const OUTLIERS: &str = "outliers";
/// Columns that are named.
const NAMED: usize = 5;
/// Usual distances from the median.
const FAR: f64 = 10.0;

/// What is said of some columns, cut where there are many.
pub(super) fn listed(said: &[String]) -> String {
    let more = said.len().saturating_sub(NAMED);
    let shown = said[..said.len().min(NAMED)].join("; ");
    if more > 0 { format!("{shown}; and {more} more") } else { shown }
}

fn columns<'a>(log: &'a Log<'_>) -> impl Iterator<Item = (&'a String, &'a Column)> {
    log.known.features.iter().flat_map(|all| all.names().iter().zip(all.columns()))
}

fn drop_them(names: &[&str]) -> Message {
    let names: Vec<String> = names.iter().take(NAMED).map(|name| show::name(name)).collect();
    message!("leave them out of training: ", Opt("drop"), format!(" {}", names.join(" ")))
}

pub(super) fn identifiers(log: &Log<'_>) -> Finding {
    let found = columns(log).filter_map(|(name, column)| Some((name.as_str(), suspect(column)?)));
    say_identifiers(&found.collect::<Vec<_>>())
}

/// The same of very many people, all of whom are counted: a sample has more values to a person.
pub(super) fn identifiers_of(roll: &Roll) -> Result<Finding> {
    let everybody = vec![Part::Train; roll.people()];
    let surveyed = Surveyed::new(roll, &everybody)?;
    Ok(say_identifiers(&surveyed.suspects(roll, &everybody, &[])?))
}

fn say_identifiers(found: &[(&str, Suspect)]) -> Finding {
    if found.is_empty() {
        return Finding::fine(
            IDENTIFIERS,
            "No column looks like an identifier or has more categories than its people can bear.",
        );
    }
    let say = |(name, suspect): &(&str, Suspect)| {
        let what = if suspect.is_identifier { "an identifier" } else { "too many categories" };
        format!(
            "{} ({what}: {} among {})",
            show::name(name),
            counted(suspect.values as u64, "value"),
            counted(suspect.arms as u64, "arm")
        )
    };
    let said: Vec<String> = found.iter().map(say).collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    Finding::new(
        IDENTIFIERS,
        Severity::Warning,
        format!("Columns that say nothing of other people: {}.", listed(&said)),
        drop_them(&names),
    )
}

pub(super) fn empty_columns(log: &Log<'_>) -> Finding {
    let (mut said, mut names, mut severity) = (Vec::new(), Vec::new(), Severity::Fine);
    for (name, column) in columns(log) {
        let missing = column.missing() as f64 / column.len().max(1) as f64;
        let is_constant = match column {
            Column::Number(values) => {
                let mut known = values.iter().filter(|x| !x.is_nan());
                let first = known.next();
                known.all(|x| Some(x) == first)
            }
            Column::Text(values) => {
                let mut known = values.iter().flatten();
                let first = known.next();
                known.all(|x| Some(x) == first)
            }
        };
        let (what, grave) = match () {
            () if missing == 1.0 => ("empty".into(), Severity::Warning),
            () if is_constant && missing == 0.0 => ("the same for everybody".into(), Severity::Warning),
            () if missing > 0.95 => (format!("missing for {}", percent(missing)), Severity::Warning),
            () if missing > 0.5 => (format!("missing for {}", percent(missing)), Severity::Note),
            () => continue,
        };
        severity = severity.max(grave);
        said.push(format!("{} ({what})", show::name(name)));
        names.push(name.as_str());
    }
    match said.is_empty() {
        true => Finding::fine(EMPTY, "No column is empty, nearly empty, or the same for everybody."),
        false => Finding::new(
            EMPTY,
            severity,
            format!("Columns that say little: {}.", listed(&said)),
            drop_them(&names),
        ),
    }
}

pub(super) fn outliers(log: &Log<'_>) -> Finding {
    let mut said = Vec::new();
    for (name, column) in columns(log) {
        let Column::Number(values) = column else { continue };
        let known: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
        let far = far(&known);
        let (all, logs) = match known.iter().all(|x| *x > 0.0) {
            true => (far, Some(self::far(&known.iter().map(|x| x.ln()).collect::<Vec<_>>()))),
            false => (far, None),
        };
        let count = (0..known.len()).filter(|k| all[*k] && logs.as_ref().is_none_or(|logs| logs[*k])).count();
        // what many have is no mistake of one
        if count > 0 && count * 20 <= known.len() && suspect(column).is_none() {
            said.push(format!("{} ({})", show::name(name), counted(count as u64, "arm")));
        }
    }
    match said.is_empty() {
        true => Finding::fine(OUTLIERS, "No number is far from all others."),
        false => Finding::new(
            OUTLIERS,
            Severity::Warning,
            format!("Numbers more than ten times the usual distance from the middle: {}.", listed(&said)),
            "look at them: codes for missing values such as 999 should be empty cells, and units should be the same",
        ),
    }
}

/// Which numbers are far from the middle; none where more than half are the same.
fn far(values: &[f64]) -> Vec<bool> {
    let nobody = || vec![false; values.len()];
    let Ok(middle) = median(values) else { return nobody() };
    let distances: Vec<f64> = values.iter().map(|x| (x - middle).abs()).collect();
    match median(&distances) {
        Ok(usual) if usual > 0.0 && values.len() >= 20 => {
            distances.iter().map(|d| *d > FAR * 1.4826 * usual).collect()
        }
        _ => nobody(),
    }
}
