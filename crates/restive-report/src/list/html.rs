//! The list as a page to print: a sheet of paper for each worker, boxes to tick.
//!
//! One file without script or network, as all pages of restive are. First what a planner should know and who calls how many, then a section for
//! each worker, each on paper of its own: A4, landscape, the worker's name and the headings on top of every sheet, a box for each outcome, room for
//! the day and a note. Reasons are sentences, and stand across the page below the rest of their row. It needs no colour. On a screen it follows the reader's light or dark, and a table that is too wide scrolls in its own box.
//!
//! The page is well-formed XML as well as HTML. Where words run from right to left, so does the page; a name in another script is set in its own
//! direction.
//!
//! ```
//! let page = restive_report::list::html(&restive_report::list::example());
//! assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("://"));
//! ```

use super::data::{Cell, Column, Direction, Kind, List, ListRow};
use super::order::Sheet;
use super::words::{reading_columns, reading_outcomes};
use crate::draw::escape;
use crate::number::fixed;
use crate::page::{POLICY, colours};
use std::fmt::Write;

const STYLE: &str = include_str!("list.css");

/// With more outcomes than this there is one box to write into.
const TICKS: usize = 8;

/// Text of at most so many characters stands on one line.
const SHORT: usize = 24;

/// So many characters in all columns together have room on one line.
const ROOM: usize = 64;

/// The whole file.
pub fn html(list: &List) -> String {
    let words = &list.words;
    let sheets = list.sheets();
    let language: String =
        words.language.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(35).collect();
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\" dir=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{}</title>\n\
         <meta name=\"generator\" content=\"restive\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n<style>\n{}{STYLE}{}</style>\n</head>\n<body>\n<main>\n",
        if language.is_empty() { "en" } else { &language },
        if list.direction == Direction::RightToLeft { "rtl" } else { "ltr" },
        escape(&list.title),
        colours(),
        numbered(&words.page),
    );
    front(&mut out, list, &sheets);
    let head = Head::of(list);
    for (k, sheet) in sheets.iter().enumerate() {
        section(&mut out, list, sheet, k, &head);
    }
    out + "</main>\n</body>\n</html>\n"
}

/// The number of a page, on paper.
fn numbered(template: &str) -> String {
    let text = |text: &str| {
        // by their numbers: no character can end the string
        let codes: String = text.chars().map(|c| format!("\\{:06x}", u32::from(c))).collect();
        format!("\"{codes}\"")
    };
    let page = |part: &str| part.split("{page}").map(text).collect::<Vec<_>>().join(" counter(page) ");
    let content = template.split("{pages}").map(page).collect::<Vec<_>>().join(" counter(pages) ");
    format!("@page {{ @bottom-center {{ content: {content}; font: 8pt sans-serif; color: #555 }} }}\n")
}

/// What stands before the first worker.
fn front(out: &mut String, list: &List, sheets: &[Sheet]) {
    let words = &list.words;
    let _ = write!(
        out,
        "<header>\n<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n</header>\n<dl>\n",
        escape(&list.title),
        escape(&list.subtitle)
    );
    let plan = (words.plan.clone(), list.plan.clone());
    for (name, value) in std::iter::once(&plan).chain(&list.summary) {
        let _ = writeln!(out, "<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>", escape(name), escape(value));
    }
    let _ = write!(out, "</dl>\n<h2>{}</h2>\n<ol>\n", escape(&words.how));
    words.how_lines.iter().for_each(|line| out.push_str(&format!("<li>{}</li>\n", escape(line))));
    out.push_str("</ol>\n");
    if sheets.is_empty() {
        let _ = writeln!(out, "<p class=\"nobody\">{}</p>", escape(&words.nobody));
        return;
    }
    let _ = write!(out, "<h2>{}</h2>\n<ul class=\"workers\">\n", escape(&words.per_worker));
    for (k, sheet) in sheets.iter().enumerate() {
        let name = escape(list.worker(sheet));
        let _ = writeln!(out, "<li><a href=\"#w{k}\"><bdi>{name}</bdi></a> <b>{}</b></li>", sheet.rows.len());
    }
    let _ = writeln!(
        out,
        "<li class=\"all\"><span>{}</span> <b>{}</b></li>\n</ul>",
        escape(&words.all),
        list.rows.len()
    );
}

/// What is the same for every worker.
struct Head {
    /// the row of headings
    headings: String,
    /// the list's own columns: their headings, and where they stand
    columns: Vec<(String, Place)>,
    /// how many of these stand beside each other
    across: usize,
    /// the cells to fill in: beside one row, beside two
    to_fill: [String; 2],
    /// how many columns there are in all
    width: usize,
}

/// Where a column stands.
enum Place {
    /// beside the others, in this class
    Across(&'static str),
    /// below the others
    Below,
}

/// Beside two rows.
const TALL: &str = " rowspan=\"2\"";

impl Head {
    fn of(list: &List) -> Self {
        let [(_, id), _, (_, outcome), (_, day), (_, note)] = reading_columns(&list.words);
        let mut headings = format!("<tr><th scope=\"col\" class=\"id\">{}</th>", escape(&id));
        let own = list.headings();
        let columns: Vec<(String, Place)> = own.iter().map(|h| escape(h)).zip(Place::all(list)).collect();
        for (heading, place) in &columns {
            if let Place::Across(class) = place {
                let _ = write!(headings, "<th scope=\"col\"{class}>{heading}</th>");
            }
        }
        let outcomes = reading_outcomes(&list.outcomes);
        let ticks = if (1..=TICKS).contains(&outcomes.len()) { outcomes.len() } else { 0 };
        for (_, words) in &outcomes[..ticks] {
            let _ = write!(headings, "<th scope=\"col\" class=\"tick\"><span>{}</span></th>", escape(words));
        }
        let across = columns.iter().filter(|c| matches!(c.1, Place::Across(_))).count();
        let mut to_fill = "<td class=\"tick\"{}></td>".repeat(ticks);
        if ticks == 0 {
            let _ = write!(headings, "<th scope=\"col\" class=\"outcome\">{}</th>", escape(&outcome));
            to_fill += "<td class=\"outcome\"{}></td>";
        }
        let (day, note) = (escape(&day), escape(&note));
        let _ = writeln!(
            headings,
            "<th scope=\"col\" class=\"day\">{day}</th><th scope=\"col\" class=\"note\">{note}</th></tr>"
        );
        to_fill += "<td class=\"day\"{}></td><td class=\"note\"{}></td>";
        let filled = |rows: &str| to_fill.replace("{}", rows);
        Self {
            headings,
            columns,
            across,
            to_fill: [filled(""), filled(TALL)],
            width: across + ticks.max(1) + 3,
        }
    }
}

impl Place {
    /// The places of all columns. Text that is short throughout is not broken, as far as there is room.
    fn all(list: &List) -> Vec<Self> {
        let mut room = ROOM;
        let mut is_short = |k: usize| {
            let length = |row: &ListRow| match row.cells.get(k) {
                Some(Cell::Text(text)) => text.chars().count(),
                _ => 0,
            };
            let longest = list.rows.iter().map(length).max().unwrap_or(0);
            let fits = longest <= SHORT && longest <= room;
            room -= if fits { longest } else { 0 };
            fits
        };
        // there must be something to stand below
        let below = list.columns.iter().any(|column| column.kind != Kind::Reason);
        let place = |(k, column): (usize, &Column)| match column.kind {
            Kind::Text if is_short(k) => Place::Across(" class=\"short\""),
            Kind::Whole | Kind::Number { .. } | Kind::Percent => Place::Across(" class=\"number\""),
            Kind::Day => Place::Across(" class=\"date\""),
            Kind::Reason if below => Place::Below,
            Kind::Text | Kind::Reason => Place::Across(""),
        };
        list.columns.iter().enumerate().map(place).collect()
    }
}

/// One worker.
fn section(out: &mut String, list: &List, sheet: &Sheet, k: usize, head: &Head) {
    let name = escape(list.worker(sheet));
    let count = format!("{}: {}", escape(&list.words.people), sheet.rows.len());
    let about = format!("{count} · {} · {}", escape(&list.subtitle), escape(&list.plan));
    let _ = write!(
        out,
        "<section id=\"w{k}\">\n<h2><bdi>{name}</bdi> <small>{count}</small></h2>\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{name}\"><table>\n<thead>\n\
         <tr class=\"who\"><th colspan=\"{}\"><bdi>{name}</bdi> <small>{about}</small></th></tr>\n{}</thead>\n",
        head.width, head.headings,
    );
    sheet.rows.iter().for_each(|row| person(out, list, row, head));
    out.push_str("</table></div>\n</section>\n");
}

/// One person.
fn person(out: &mut String, list: &List, row: &ListRow, head: &Head) {
    let mut below = String::new();
    let mut across = String::new();
    for ((heading, place), (column, cell)) in head.columns.iter().zip(list.cells(row)) {
        let text = match cell {
            Cell::Text(text) if text.is_empty() => String::new(),
            Cell::Text(text) => format!("<bdi>{}</bdi>", escape(text)),
            other => shown(column.kind, other),
        };
        let _ = match place {
            Place::Across(class) => write!(across, "<td{class}>{text}</td>"),
            Place::Below if text.is_empty() => Ok(()),
            Place::Below => write!(below, "<p><b>{heading}</b> {text}</p>"),
        };
    }
    let rows = if below.is_empty() { "" } else { TALL };
    let to_fill = &head.to_fill[usize::from(!below.is_empty())];
    let id = escape(&row.id);
    let _ = write!(
        out,
        "<tbody><tr><th scope=\"row\" class=\"id\"{rows}><bdi>{id}</bdi></th>{across}{to_fill}</tr>"
    );
    if !below.is_empty() {
        let _ = write!(out, "\n<tr class=\"why\"><td colspan=\"{}\">{below}</td></tr>", head.across);
    }
    out.push_str("</tbody>\n");
}

/// Whatever is not text.
fn shown(kind: Kind, cell: &Cell) -> String {
    let number = |x: f64| match kind {
        Kind::Percent if x.is_finite() => fixed(100.0 * x, 0) + "\u{a0}%",
        Kind::Number { decimals } => fixed(x, decimals.min(15).into()),
        Kind::Whole => fixed(x, 0),
        _ => crate::number::short(x),
    };
    match (kind, cell) {
        (Kind::Percent | Kind::Number { .. }, Cell::Whole(x)) => number(*x as f64),
        // without separators: it may be a year
        (_, Cell::Whole(x)) => x.to_string().replace('-', "−"),
        (_, Cell::Number(x)) => {
            if x.is_finite() {
                number(*x)
            } else {
                "–".into()
            }
        }
        (_, Cell::Day(day)) => day.to_string(),
        (_, Cell::Text(_) | Cell::None) => String::new(),
    }
}
