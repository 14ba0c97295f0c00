//! The list as JSON, for programs that would rather not read a workbook.
//!
//! An object: `title`, `subtitle`, `plan`, `start`, `end`, `columns` (each with `name`, `heading`, `kind`), `outcomes` (each with `code`,
//! `words`) and `rows`. A row is an object with `id`, `rank`, `worker`, a member for each column by its name, as in CSV, and `outcome`, `day`, `note` (to be filled in) and `plan`; numbers are
//! numbers, dates are texts such as `"2026-03-16"`, what is missing is `null`. Members always come in this order, a row on a line of its
//! own, so that two lists can be compared line by line.
//!
//! ```
//! let json = restive_report::list::json(&restive_report::list::example());
//! let list: serde_json::Value = serde_json::from_str(&json)?;
//! assert_eq!(list["rows"][0]["id"], "m-17");
//! assert_eq!(list["rows"][0]["chance"], 0.42);
//! # Ok::<(), serde_json::Error>(())
//! ```

use super::data::{Cell, Kind, List, ListRow, OutcomeCode};
use serde_json::Value;

/// A text as JSON.
pub(super) fn text(text: impl Into<String>) -> String {
    Value::String(text.into()).to_string()
}

/// An object with its members in this order.
pub(super) fn object(members: &[(&str, String)]) -> String {
    let one = |(name, value): &(&str, String)| format!("{}:{value}", text(*name));
    format!("{{{}}}", members.iter().map(one).collect::<Vec<_>>().join(","))
}

/// An array with an element on each line.
pub(super) fn lines(elements: impl Iterator<Item = String>) -> String {
    let elements: Vec<String> = elements.collect();
    if elements.is_empty() { "[]".into() } else { format!("[\n{}\n]", elements.join(",\n")) }
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => text(words),
        Cell::Whole(x) => x.to_string(),
        // of no number but a finite one
        Cell::Number(x) => Value::from(x + 0.0).to_string(),
        Cell::Day(day) => text(day.to_string()),
        Cell::None => "null".into(),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Whole => "whole",
        Kind::Number { .. } => "number",
        Kind::Percent => "percent",
        Kind::Day => "day",
        Kind::Reason => "reason",
    }
}

/// The whole file.
pub fn json(list: &List) -> String {
    let names = list.names();
    let has = |name: &str| names.iter().any(|own| own == name);
    let columns = list.columns.iter().zip(&names).map(|(column, name)| {
        object(&[("name", text(name)), ("heading", text(&column.heading)), ("kind", text(kind(column.kind)))])
    });
    let outcome = |o: &OutcomeCode| object(&[("code", text(&o.code)), ("words", text(&o.words))]);
    let row = |row: &ListRow| {
        let mut members = vec![("id", text(&row.id))];
        if !has("rank") {
            members.push(("rank", row.rank.to_string()));
        }
        if !has("worker") {
            members.push(("worker", row.sheet.as_ref().map_or("null".into(), text)));
        }
        members
            .extend(names.iter().zip(list.cells(row)).map(|(name, (_, cell))| (name.as_str(), value(cell))));
        // to be filled in, and to be read back by
        members.extend([("outcome", "null".into()), ("day", "null".into()), ("note", "null".into())]);
        members.push(("plan", text(&list.plan)));
        object(&members)
    };
    let all = [
        ("title", text(&list.title)),
        ("subtitle", text(&list.subtitle)),
        ("plan", text(&list.plan)),
        ("start", text(list.start.to_string())),
        ("end", text(list.end.to_string())),
        ("columns", lines(columns)),
        ("outcomes", lines(list.outcomes.iter().map(outcome))),
        ("rows", lines(list.by_rank().into_iter().map(row))),
    ];
    object(&all) + "\n"
}
