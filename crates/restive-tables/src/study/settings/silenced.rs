//! Checks of `restive doctor` that do not count, each with its reason: `silenced = { drift = "the strike in May" }`.
//!
//! The names of checks stand here, where `study.toml` is read, so that one that nobody knows is refused with its place. What is
//! silenced says nothing of the data: the fingerprint of a study does not know of it.

use super::lines::Lines;
use crate::error::Result;
use crate::show;
use std::collections::BTreeMap;

/// The names of all checks, in the order in which a report has them.
pub const CHECKS: [&str; 21] = [
    "alignment",
    "ids-shuffled",
    "states-never-change",
    "revealed-by-calls",
    "behaviour",
    "chosen",
    "overlap",
    "availability",
    "clusters",
    "assignment",
    "few-calls",
    "memory",
    "drift",
    "coverage",
    "joining-and-leaving",
    "not-seen-for-long",
    "identifiers",
    "near-duplicates",
    "numbers-as-text",
    "empty-columns",
    "outliers",
];

pub(super) fn read(lines: &Lines<'_>) -> Result<BTreeMap<String, String>> {
    let pair = |(name, reason): (&String, &toml::Value)| Some((name.clone(), reason.as_str()?.to_owned()));
    let table = |value: &toml::Value| value.as_table()?.iter().map(pair).collect::<Option<BTreeMap<_, _>>>();
    let silenced = lines.take("silenced", table)?.unwrap_or_default();
    for (name, reason) in &silenced {
        if !CHECKS.contains(&name.as_str()) {
            let found = format!("found {}, expected one of {}", show::quoted_name(name), CHECKS.join(", "));
            return Err(lines.refuse_within("silenced", name, found));
        }
        if reason.trim().is_empty() {
            return Err(lines.refuse_within(
                "silenced",
                name,
                format!("{name}: found no reason, expected why it does not count"),
            ));
        }
    }
    Ok(silenced)
}
