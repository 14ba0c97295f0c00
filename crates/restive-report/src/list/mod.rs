//! Lists: the files that a planner gives to people, and to the systems that they work with.
//!
//! A [`List`] is plain data: who is to be called in a period, by whom, why, and what callers may answer. Each writer turns it into one file,
//! as bytes or as a string; none reads a file or looks at a clock, and the same list always gives the same bytes.
//!
//! | writer | for | gives |
//! |---|---|---|
//! | [`xlsx`](fn@xlsx) | planners and callers at a computer | a workbook: a summary, a sheet for each worker, outcomes to choose |
//! | [`html`](fn@html) | callers with paper and pen | a page to print, a worker on each sheet, boxes to tick |
//! | [`csv`](fn@csv) | any other table | one table, guarded against formulas |
//! | [`json`](fn@json) | any other program | one object, typed |
//! | [`commcare`](fn@commcare) | CommCare | a workbook for its import of cases |
//! | [`cht`](fn@cht) | the Community Health Toolkit | a priority for each contact |
//! | [`fhir`](fn@fhir) | whatever speaks FHIR R4 | a transaction with a Task for each person |
//!
//! Whatever is filled in can be read back: the workbook and the CSV have in every row the ids of the person and of the plan, and three columns
//! for outcome, day and note. [`reading_columns`] and
//! [`reading_outcomes`] say what these are called.
//!
//! Names, reasons and words come from other people's files, and no writer trusts them: text is escaped, cut and cleaned as each format asks,
//! and never becomes a formula, a tag or the name of something else. All fixed words are [`Words`], for programmes in other languages.
//!
//! ```
//! use restive_report::list::{Cell, Column, Day, Direction, Kind, List, ListRow, OutcomeCode, Words};
//! use restive_report::list::{csv, fhir, html, reading_columns, xlsx};
//!
//! let list = List {
//!     title: "Whom to call".into(),
//!     subtitle: "calls from Monday 16 March to Sunday 22 March 2026".into(),
//!     plan: "2026-w12".into(),
//!     start: Day { year: 2026, month: 3, day: 16 },
//!     end: Day { year: 2026, month: 3, day: 22 },
//!     columns: vec![
//!         Column::new("name", "name", Kind::Text),
//!         Column::new("chance", "listens if called", Kind::Percent),
//!         Column::new("reason", "why", Kind::Reason),
//!     ],
//!     rows: vec![ListRow {
//!         id: "m-17".into(),
//!         rank: 1,
//!         sheet: Some("Asha".into()),
//!         cells: vec![Cell::text("<Invented>"), Cell::Number(0.42), Cell::text("Has not listened for five weeks.")],
//!     }],
//!     outcomes: vec![OutcomeCode { code: "reached".into(), words: "reached".into() }],
//!     summary: vec![("places".into(), "1 of 1 taken".into())],
//!     words: Words::default(),
//!     direction: Direction::LeftToRight,
//! };
//! assert!(xlsx(&list)?.starts_with(b"PK"));
//! assert!(html(&list).contains("&lt;Invented&gt;"));
//! assert!(csv(&list).ends_with("m-17,1,Asha,<Invented>,0.42,Has not listened for five weeks.,,,,2026-w12\r\n"));
//! assert!(fhir(&list).contains("\"reference\":\"Patient/m-17\""));
//! assert_eq!(reading_columns(&list.words)[2], ("outcome", "outcome".into()));
//! # Ok::<(), restive_report::list::Error>(())
//! ```

pub mod cht;
pub mod commcare;
pub mod csv;
mod data;
mod error;
mod example;
pub mod fhir;
pub mod html;
pub mod json;
mod look;
mod names;
mod order;
mod sheet;
mod summary;
mod text;
mod words;
pub mod xlsx;

pub use cht::cht;
pub use commcare::commcare;
pub use csv::csv;
pub use data::{Cell, Column, Day, Direction, Kind, List, ListRow, OutcomeCode};
pub use error::{Error, Result};
pub use example::example;
pub use fhir::fhir;
pub use html::html;
pub use json::json;
pub use words::{Words, reading_columns, reading_outcomes};
pub use xlsx::xlsx;
