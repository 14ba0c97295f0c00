//! A small list of invented people, to try a writer out.

use super::data::{Cell, Column, Day, Direction, Kind, List, ListRow, OutcomeCode};
use super::words::Words;

/// Three invented people of two invented workers.
pub fn example() -> List {
    let day = |month, day| Day { year: 2026, month, day };
    let row = |id: &str, rank, worker: Option<&str>, cells| ListRow {
        id: id.into(),
        rank,
        sheet: worker.map(String::from),
        cells,
    };
    let outcome = |code: &str, words: &str| OutcomeCode { code: code.into(), words: words.into() };
    List {
        title: "Whom to call".into(),
        subtitle: "calls from Monday 16 March to Sunday 22 March 2026".into(),
        plan: "2026-w12".into(),
        start: day(3, 16),
        end: day(3, 22),
        columns: vec![
            Column::new("name", "name", Kind::Text),
            Column::new("weeks", "weeks in the programme", Kind::Whole),
            Column::new("chance", "listens next week if called", Kind::Percent),
            Column::new("since", "last listened", Kind::Day),
            Column::new("reason", "why", Kind::Reason),
        ],
        rows: vec![
            row(
                "m-17",
                1,
                Some("Asha"),
                vec![
                    Cell::text("Invented One"),
                    Cell::Whole(9),
                    Cell::Number(0.42),
                    Cell::Day(day(2, 3)),
                    Cell::text("Stopped listening five weeks ago; a call brought people like her back."),
                ],
            ),
            row("m-4", 2, Some("Bina"), vec![Cell::text("Invented Two"), Cell::Whole(3), Cell::Number(0.61)]),
            row("m-23", 3, None, vec![Cell::text("Invented Three"), Cell::None, Cell::Number(0.35)]),
        ],
        outcomes: vec![
            outcome("reached", "reached"),
            outcome("no-answer", "no answer"),
            outcome("wrong-number", "wrong number"),
        ],
        summary: vec![
            ("places".into(), "3 of 3 taken".into()),
            (
                "rules".into(),
                "Nobody is called twice in three weeks: this costs 0.4 people who listen.".into(),
            ),
        ],
        words: Words::default(),
        direction: Direction::LeftToRight,
    }
}
