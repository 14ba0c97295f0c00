//! Lists, read back by programs that know nothing of restive: what is on them, whatever the names.

mod exchange;
mod page;
mod words;
mod workbook;

use restive_report::list::*;

/// Texts that would do harm where they are taken for something else.
const HOSTILE: [&str; 12] = [
    "=HYPERLINK(\"http://example.invalid\",\"x\")",
    "+1+1",
    "-1+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "{=1+1}",
    "'=1+1",
    "<script>alert(1)</script> & ]]> --> \" '",
    "a\0b\u{b}c\u{1f}d\u{ffff}",
    "&A&[Path]&Z \\ / [x]:*?",
    "_x0041_ {page} {} %s ${1}",
];

/// A list whose every text is that one.
fn hostile(text: &str) -> List {
    let words = || text.to_string();
    let column = |kind| Column { name: words(), heading: words(), kind, width: None };
    let kinds =
        [Kind::Text, Kind::Whole, Kind::Number { decimals: 2 }, Kind::Percent, Kind::Day, Kind::Reason];
    let row = |rank, sheet| ListRow {
        id: words(),
        rank,
        sheet,
        cells: kinds.iter().map(|_| Cell::Text(words())).collect(),
    };
    let outcome = || OutcomeCode { code: words(), words: words() };
    List {
        title: words(),
        subtitle: words(),
        plan: words(),
        columns: kinds.into_iter().map(column).collect(),
        rows: vec![row(1, Some(words())), row(2, None)],
        outcomes: vec![outcome(), outcome()],
        summary: vec![(words(), words())],
        words: Words {
            language: words(),
            summary: words(),
            worker: words(),
            without_worker: words(),
            people: words(),
            per_worker: words(),
            all: words(),
            nobody: words(),
            id: words(),
            plan: words(),
            outcome: words(),
            day: words(),
            note: words(),
            how: words(),
            how_lines: vec![words()],
            outcome_error: words(),
            day_error: words(),
            page: words(),
        },
        ..example()
    }
}

/// The example with so many people, all of one worker.
fn people(count: usize) -> List {
    let mut list = example();
    let row = |k: usize| ListRow {
        id: format!("p{}", k + 1),
        rank: k + 1,
        sheet: Some("Asha".into()),
        cells: vec![Cell::text("Invented")],
    };
    // from the last to the first: writers put them in order
    list.rows = (0..count).rev().map(row).collect();
    list
}

/// Values that no spreadsheet holds as what they are.
fn odd() -> List {
    let mut list = example();
    list.columns = vec![
        Column::new("a", "a", Kind::Number { decimals: 255 }),
        Column::new("b", "b", Kind::Whole),
        Column::new("c", "c", Kind::Day),
        Column { width: Some(f64::NAN), ..Column::new("d", "d", Kind::Text) },
        Column { width: Some(-1e9), ..Column::new("", "", Kind::Percent) },
    ];
    let day = |year, month, day| Cell::Day(Day { year, month, day });
    list.rows[0].cells = vec![
        Cell::Number(f64::NAN),
        Cell::Whole(i64::MAX),
        day(0, 0, 0),
        day(-5, 13, 40),
        Cell::Number(f64::INFINITY),
    ];
    list.rows[1].cells =
        vec![Cell::Whole(7), Cell::Whole(i64::MIN), day(1900, 1, 1), day(9999, 12, 31), day(2026, 2, 30)];
    list.rows[2].cells = vec![Cell::Number(-0.0), Cell::None, Cell::Number(45_000.0), Cell::Number(1e300)];
    list.start = Day { year: -1, month: 0, day: 0 };
    list
}
