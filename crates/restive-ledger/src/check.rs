//! What must hold of a record before it is one.

use jiff::Timestamp;
use jiff::civil::Date;

/// What was found, and what is expected.
pub(crate) type Wrong = (String, &'static str);

/// A civil day, spelt in the one way that sorts as days do.
pub(crate) fn day(text: &str) -> Result<(), Wrong> {
    match text.parse::<Date>() {
        Ok(day) if day.to_string() == text => Ok(()),
        _ => Err((format!("{text:?}"), "a day such as 2026-03-16")),
    }
}

/// A moment in UTC.
pub(crate) fn moment(text: &str) -> Result<(), Wrong> {
    match text.parse::<Timestamp>() {
        Ok(_) if text.ends_with('Z') => Ok(()),
        _ => Err((format!("{text:?}"), "a moment in UTC such as 2026-03-16T08:00:00Z")),
    }
}

/// A text that says something.
pub(crate) fn said(text: &str) -> Result<(), Wrong> {
    if text.trim().is_empty() { Err(("nothing".into(), "a text")) } else { Ok(()) }
}

/// A number, and no more than that: SQLite would store what is none as null.
pub(crate) fn finite(x: f64) -> Result<(), Wrong> {
    if x.is_finite() { Ok(()) } else { Err((x.to_string(), "a finite number")) }
}

/// A probability.
pub(crate) fn probability(p: f64) -> Result<(), Wrong> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err((p.to_string(), "a number from 0 to 1")) }
}

/// Some of something, in words.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("{n} {one}") } else { format!("{n} {many}") }
}
