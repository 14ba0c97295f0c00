//! The list for the Community Health Toolkit: a priority for each contact.
//!
//! Tasks of the toolkit are made on the worker's phone by a configuration, `tasks.js`, whose `priority` may be an object with a `level` and
//! a `label`. Since version 4.21 the level may be a number, and tasks of a higher number stand first (the toolkit's documentation, *tasks.js*
//! and *simple priority score*; issue 9957 of cht-core). No interface takes a list of priorities, so this file is for the configuration, which
//! looks a contact up in it: it is an array of objects, those to be called first at the top.
//!
//! | member | |
//! |---|---|
//! | `contact_id` | the id of the contact, as the list has it |
//! | `plan`, `start`, `end` | the plan, and the days for which it holds: a phone may be offline for longer |
//! | `priority.level` | a positive whole number: n for the first of n people, 1 for the last |
//! | `priority.label` | the reason in words; empty where there is none |
//!
//! ```
//! let cht = restive_report::list::cht(&restive_report::list::example());
//! let people: serde_json::Value = serde_json::from_str(&cht)?;
//! assert_eq!(people[0]["priority"]["level"], 3);
//! # Ok::<(), serde_json::Error>(())
//! ```

use super::data::List;
use super::json::{lines, object, text};
use super::text::line;

/// The whole file.
pub fn cht(list: &List) -> String {
    let people = list.people();
    let person = |p: &super::order::Placed| {
        let level = (people.len() - p.place).to_string();
        let priority = object(&[("level", level), ("label", text(line(list.reason(p.row))))]);
        object(&[
            ("contact_id", text(&p.row.id)),
            ("plan", text(&list.plan)),
            ("start", text(list.start.to_string())),
            ("end", text(list.end.to_string())),
            ("priority", priority),
        ])
    };
    lines(people.iter().map(person)) + "\n"
}
