//! The lines of a log: whom a record is about, when it was, what it counts.

use super::people::dated;
use super::profile::{Line, Role, first, words};
use super::sniff::{Dated, Looks};
use super::tables::{Found, link};
use super::write::{Text, list, quoted};

/// Whether records of a log have a value.
pub(super) fn has_value(found: &Found) -> bool {
    value(found).is_some()
        || found
            .profile
            .lines
            .iter()
            .any(|line| line.key == "value" && first(&line.columns, &found.header()).is_some())
}

/// Writes the section of a log.
pub(super) fn write(text: &mut Text, found: &Found, registry: Option<&Found>, all: &[Found]) {
    let profile = found.profile;
    text.comment(&profile.name);
    profile.notes.iter().for_each(|note| text.comment(note));
    text.reading(&found.reading);
    // the columns of the file that it is joined to are its own too
    let mut header = found.header();
    let mut joined = None;
    if let Some(via) = &profile.through {
        let is_it = |other: &&Found| {
            let folder = |found: &Found| found.reading.file.split('#').next().map(str::to_string);
            let is_own = !found.reading.file.contains('#') || folder(other) == folder(found);
            other.profile.name == via.profile && is_own
        };
        joined = all.iter().find(is_it);
        let file = joined.map_or("…".into(), |other| other.reading.file.clone());
        let there = joined.map(Found::header).unwrap_or_default();
        let on: Vec<&String> = via
            .on
            .iter()
            .enumerate()
            .map(|(k, names)| first(names, if k == 0 { &header } else { &there }).unwrap_or(&names[0]))
            .collect();
        let line = format!("through = {{ file = {}, on = {} }}", quoted(&file), list(&on));
        match joined {
            Some(_) => text.line(line),
            None => {
                text.decide(&format!("records name no person: which file ({}) does?", via.profile), &[line])
            }
        }
        header.extend(there);
    }
    let looks =
        |name: &str| found.table.column(name).or_else(|| joined.and_then(|other| other.table.column(name)));
    let mut written: Vec<&str> = Vec::new();
    let has_person =
        profile.lines.iter().any(|line| line.key == "person" && first(&line.columns, &header).is_some());
    if !has_person {
        person(text, found, joined, registry);
    }
    for line in &profile.lines {
        let Some(column) = first(&line.columns, &header) else { continue };
        if line.key == "person" {
            known_person(text, line, column, found, registry);
            continue;
        }
        text.needs_zone |= line.is_absolute;
        if !line.note.is_empty() {
            text.comment(&line.note);
        }
        if line.is_sniffed
            && let Some(looks) = looks(column)
        {
            dated(text, &line.key, looks, &[]);
        } else if line.decide.is_empty() {
            text.line(one(line, column, &header));
        } else {
            let words = looks(&line.lists).map(Looks::categories).unwrap_or_default();
            let shown =
                if words.is_empty() { String::new() } else { format!(". There are {}", list(&words)) };
            text.decide(&format!("{}{shown}", line.decide), &[one(line, column, &header)]);
        }
        written.push(&line.key);
    }
    if !written.contains(&"time") {
        time(text, found);
    }
    if !written.contains(&"value")
        && found.role == Role::Events
        && let Some(column) = value(found)
    {
        let decimal = if column.commas > column.pointed { ", decimal = \",\"" } else { "" };
        text.line(match decimal {
            "" => format!("value = {}", quoted(&column.name)),
            _ => format!("value = {{ column = {}{decimal} }}", quoted(&column.name)),
        });
    }
    if !written.contains(&"outcome") && found.role == Role::Actions {
        outcome(text, found);
    }
}

/// One line of a profile.
fn one(line: &Line, column: &str, header: &[String]) -> String {
    let more: Vec<&String> = line.with_columns.iter().filter(|name| header.contains(name)).collect();
    if !line.written.is_empty() {
        return format!("{} = {}", line.key, line.written);
    }
    if !more.is_empty() {
        let all: Vec<&str> = std::iter::once(column).chain(more.iter().map(|name| name.as_str())).collect();
        return format!("{} = {}", line.key, list(&all));
    }
    match &*line.with {
        "" => format!("{} = {}", line.key, quoted(column)),
        with => format!("{} = {{ column = {}, {with} }}", line.key, quoted(column)),
    }
}

/// The column that a profile knows to name people.
fn known_person(text: &mut Text, line: &Line, column: &str, found: &Found, registry: Option<&Found>) {
    let mut parts = vec![format!("column = {}", quoted(column))];
    if line.with.contains("phone") {
        text.needs_country = true;
        let phone =
            registry.and_then(|registry| registry.table.columns.iter().find(|column| column.is_phone()));
        match phone {
            Some(phone) => parts.push(format!("is = {}", quoted(&phone.name))),
            None => {
                text.decide(
                    "which column of the registry has the numbers?",
                    &[format!("person = {{ column = {}, is = \"…\", {} }}", quoted(column), line.with)],
                );
                return;
            }
        }
    } else if let Some(link) = registry.and_then(|registry| link(&found.table, registry))
        && link.column == column
        && link.form != "exact"
    {
        parts.push(format!("as = {}", quoted(link.form)));
    }
    if !line.with.is_empty() {
        parts.push(line.with.clone());
    }
    text.line(match &parts[..] {
        [_] => format!("person = {}", quoted(column)),
        parts => format!("person = {{ {} }}", parts.join(", ")),
    });
}

/// The column that shares most cells with the registry.
fn person(text: &mut Text, found: &Found, joined: Option<&Found>, registry: Option<&Found>) {
    let linked = registry.and_then(|registry| {
        let own = link(&found.table, registry);
        let there = || joined.and_then(|other| link(&other.table, registry));
        own.or_else(there).map(|link| (link, registry))
    });
    let Some((link, registry)) = linked else {
        return text.decide(
            "no column names the people of the registry: whom is a record about?",
            &["person = \"…\"".into()],
        );
    };
    let is_id = registry.id().is_some_and(|id| id.name == link.is);
    text.needs_country |= link.form == "phone";
    let mut parts = vec![format!("column = {}", quoted(&link.column))];
    parts.extend((!is_id).then(|| format!("is = {}", quoted(&link.is))));
    parts.extend((link.form != "exact").then(|| format!("as = {}", quoted(link.form))));
    text.line(match &parts[..] {
        [_] => format!("person = {}", quoted(&link.column)),
        parts => format!("person = {{ {} }}", parts.join(", ")),
    });
}

/// The column of dates: one that is called so, or the only one.
fn time(text: &mut Text, found: &Found) {
    let dates: Vec<&Looks> = found
        .table
        .columns
        .iter()
        .filter(|c| c.dated() != Dated::No && !c.is_called(&words().born))
        .collect();
    let called = dates.iter().find(|column| column.is_called(&words().time));
    match called.or(dates.first()) {
        Some(column) => dated(text, "time", column, &[]),
        None => text.decide(
            "no column of dates was recognised: when was a record?",
            &["time = { column = \"…\", format = \"%d/%m/%Y\" }".into()],
        ),
    }
}

/// The column of numbers that a record may count by.
fn value(found: &Found) -> Option<&Looks> {
    let is_value = |column: &&Looks| column.is_number() && column.is_called(&words().value);
    found.table.columns.iter().find(is_value).filter(|_| found.profile.role == Role::Any)
}

/// What counts as a call, with the words that there are.
fn outcome(text: &mut Text, found: &Found) {
    let Some(column) = found.table.columns.iter().find(|column| column.is_called(&words().outcome)) else {
        return;
    };
    let shown = column.categories();
    let words = if shown.is_empty() { list(&["reached", "no answer"]) } else { list(&shown) };
    let line = format!(
        "outcome = {{ column = {}, made = {words}, not_made = [], unknown = [] }}",
        quoted(&column.name)
    );
    text.decide("which outcomes are calls? Is an unanswered one a call? Each word in one list", &[line]);
}
