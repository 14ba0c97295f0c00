//! The lines of a registry: who, since when, what is kept for the list, what is learnt from.

use super::profile::{first, words};
use super::sniff::{Dated, Looks};
use super::spelling::alike;
use super::tables::Found;
use super::write::{Text, key, list, quoted};
use crate::words::{listed, yes_and_no};

/// Writes the section of a registry.
pub(super) fn write(text: &mut Text, found: &Found) {
    let (profile, header) = (found.profile, found.header());
    text.comment(&profile.name);
    profile.notes.iter().for_each(|note| text.comment(note));
    text.reading(&found.reading);
    let mut used: Vec<&str> = profile.known.iter().map(String::as_str).collect();
    for line in &profile.lines {
        let Some(column) = first(&line.columns, &header) else { continue };
        used.push(column);
        if !line.note.is_empty() {
            text.comment(&line.note);
        }
        match (&*line.key, found.table.column(column)) {
            ("joined", Some(looks)) => dated(text, "joined", looks, &[]),
            ("left", Some(looks)) => left(text, looks, found.table.rows),
            _ => text.line(format!("{} = {}", line.key, quoted(column))),
        }
    }
    let is_written = |key: &str| {
        profile.lines.iter().any(|line| line.key == key && first(&line.columns, &header).is_some())
    };
    if !is_written("id") {
        match found.id() {
            Some(column) => {
                used.push(&column.name);
                text.line(format!("id = {}", quoted(&column.name)));
            }
            None => text.decide(
                "no column tells every row from the others: which is the id?",
                &[format!("id = {}", quoted("…"))],
            ),
        }
    }
    let mut dates: Vec<(&Looks, &str)> = Vec::new();
    let names = words();
    for (role, parts) in [("joined", &names.joined), ("left", &names.left)] {
        let is_it = |column: &&Looks| {
            let is_date = column.dated() != Dated::No && !column.is_called(&names.born);
            is_date && column.is_called(parts) && !used.contains(&&*column.name)
        };
        if !is_written(role)
            && let Some(column) = found.table.columns.iter().find(is_it)
        {
            used.push(&column.name);
            dates.push((column, role));
        }
    }
    for (column, role) in dates {
        match role {
            "left" => left(text, column, found.table.rows),
            role => dated(text, role, column, &[]),
        }
    }
    if let Some(column) = found.table.columns.iter().find(|column| column.is_called(&names.never)) {
        used.push(&column.name);
        let words = column.answers(found.table.rows);
        let shown = if words.is_empty() { "none that is repeated".into() } else { listed(&words) };
        let answers = yes_and_no(&[], &[], &words);
        let line = format!("do_not_call = {{ column = {}, {answers} }}", quoted(&column.name));
        text.decide(
            &format!("which words say that a person must not be called (yes), and which that a person may be (no)? An empty cell means no. There are {shown}"),
            &[line],
        );
    }
    let rest: Vec<&Looks> =
        found.table.columns.iter().filter(|column| !used.contains(&&*column.name)).collect();
    let is_kept = |column: &&&Looks| column.is_phone() || column.is_called(&names.kept);
    let kept: Vec<&str> = rest.iter().filter(is_kept).map(|column| &*column.name).collect();
    if !kept.is_empty() {
        text.comment("for the list; never learnt from");
        text.line(format!("keep = {}", list(&kept)));
    }
    if let Some(phone) = found.table.columns.iter().find(|column| column.is_phone()) {
        let line = format!("same = {{ column = {}, as = \"phone\" }}", quoted(&phone.name));
        let shared = phone.cells - (phone.tails.len() as u64).min(phone.cells);
        let question = match shared {
            0 => "should people with one number be one person?".into(),
            shared => format!(
                "{shared} rows repeat a number: are people with one number one person? Records by a shared number are not used otherwise"
            ),
        };
        text.decide(&question, &[line]);
    }
    text.line("\n[people.features]");
    for column in rest.iter().filter(|column| !is_kept(column)) {
        feature(text, column, profile.asks_apart.as_deref());
    }
}

/// The dates of leaving, and the words among them.
fn left(text: &mut Text, column: &Looks, rows: u64) {
    let words = column.undated(rows);
    let answers = yes_and_no(&[], &[], &words);
    if words.is_empty() {
        dated(text, "left", column, &[]);
    } else if answers.starts_with("yes = [], ") {
        dated(text, "left", column, &[answers.trim_start_matches("yes = [], ").into()]);
    } else {
        dated(text, "left", column, &[]);
        let mut line = Text::default();
        dated(&mut line, "left", column, &[answers]);
        let question = format!(
            "which words of this column say that a person has left (yes), and which that a person has not (no)? There are {}. In place of the line above",
            listed(&words)
        );
        text.decide(&question, &line.lines);
    }
}

/// A column of dates under a key; more is what stands beside it.
pub(super) fn dated(text: &mut Text, key: &str, column: &Looks, more: &[String]) {
    let name = quoted(&column.name);
    let written = |column: &str, format: Option<&str>| {
        let mut parts = vec![column.to_string()];
        parts.extend(format.map(|format| format!("format = {}", quoted(format))));
        parts.extend(more.iter().cloned());
        parts.join(", ")
    };
    let own = if key.ends_with("age") { "born" } else { "column" };
    let line =
        |format: Option<&str>| format!("{key} = {{ {} }}", written(&format!("{own} = {name}"), format));
    match column.dated() {
        Dated::Is { format, is_absolute } => {
            text.needs_zone |= is_absolute;
            if column.is_mixed(&format) {
                text.comment(&format!("some cells do not read as {format:?}: they will not be used; are day and month in each other's place there?"));
            }
            match &*format {
                "iso" if more.is_empty() && own == "column" => text.line(format!("{key} = {name}")),
                "iso" => text.line(line(None)),
                format => text.line(line(Some(format))),
            }
        }
        Dated::Either { formats, example, days } => text.decide(
            &format!(
                "{example} is {} as {:?} and {} as {:?}; every cell can be read as either",
                days[0], formats[0], days[1], formats[1]
            ),
            &[line(Some(&formats[0])), line(Some(&formats[1]))],
        ),
        Dated::No if column.cells == 0 => {
            text.line(if more.is_empty() { format!("{key} = {name}") } else { line(None) })
        }
        Dated::No => text.decide("how are these dates written?", &[line(Some("%d/%m/%Y"))]),
    }
}

fn feature(text: &mut Text, column: &Looks, apart: Option<&str>) {
    let name = match &*column.name {
        "instance" | "arm" | "split" => format!("{}_", column.name),
        name => name.into(),
    };
    let (own, quoted_name) = (key(&name), quoted(&column.name));
    let is_plain = name == column.name;
    let names = words();
    if column.cells == 0 {
        text.comment(&format!("{own}: left out, there is nothing in it"));
    } else if column.dated() != Dated::No && !column.is_number() {
        if column.is_called(&names.born) {
            dated(text, "age", column, &[]);
        } else {
            text.comment(&format!("{own}: left out, dates are no features"));
        }
    } else if column.is_number() {
        let has_comma = column.commas > column.pointed;
        if column.either > 0 && column.pointed == column.commas {
            let line = format!("{own} = {{ number = {quoted_name}, decimal = \",\" }}");
            text.decide(&format!("{own}: is the comma the sign of decimals?"), &[line]);
        }
        text.line(match (has_comma, is_plain) {
            (true, _) => format!("{own} = {{ number = {quoted_name}, decimal = \",\" }}"),
            (false, true) => format!("{own} = \"number\""),
            (false, false) => format!("{own} = {{ number = {quoted_name} }}"),
        });
    } else if column.is_distinct() || column.keys.len() as u64 * 2 > column.cells {
        text.comment(&format!(
            "{own}: left out, it has another value for nearly everybody; keep has it on the list"
        ));
    } else {
        category(text, &own, column);
    }
    if let Some(word) = apart.filter(|word| column.missing.contains_key(*word)) {
        let kind = if column.is_number() { "number" } else { "text" };
        let line = format!("{own} = {{ {kind} = {quoted_name}, apart = [{}] }}", quoted(word));
        text.decide(&format!("{own}: does {word} (not asked) say something of its own?"), &[line]);
    }
}

/// A column of categories, with spellings that may be one.
fn category(text: &mut Text, own: &str, column: &Looks) {
    let name = quoted(&column.name);
    let categories = column.categories();
    let lower = categories.iter().any(|word| {
        categories.iter().any(|other| word != other && word.to_lowercase() == other.to_lowercase())
    });
    let case = if lower { ", case = \"lower\"" } else { "" };
    let is_plain = !lower && key(&column.name) == own;
    text.line(if is_plain {
        format!("{own} = \"text\"")
    } else {
        format!("{own} = {{ text = {name}{case} }}")
    });
    let mut synonyms = Vec::new();
    for mut group in alike(&categories) {
        // the spelling that is most in use is the word
        group.sort_by_key(|word| std::cmp::Reverse(column.count(word)));
        let word = group[0].to_lowercase();
        let mut spellings = Vec::new();
        for other in &group[1..] {
            // what differs in capitals alone is one word in small letters
            if other.to_lowercase() != word && !spellings.contains(&other.to_lowercase()) {
                spellings.push(other.to_lowercase());
            }
        }
        if !spellings.is_empty() {
            synonyms.push(format!("{} = {}", key(&word), list(&spellings)));
        }
    }
    if !synonyms.is_empty() {
        let line = format!(
            "{own} = {{ text = {name}, case = \"lower\", synonyms = {{ {} }} }}",
            synonyms.join(", ")
        );
        text.decide(&format!("{own}: are these spellings of the same?"), &[line]);
    }
}
