//! A list as plain data: who is on it, what is said of each, and what callers may answer.
//!
//! A column says how its cells are shown, a cell holds a value and its type. A row may have fewer cells than there are columns: the
//! others are empty. Nothing here is checked beyond that; every writer copes with any text, any number and any date.

use super::words::Words;

/// A list of people for one period, for every worker.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// what it is
    pub title: String,
    /// for when and where, in words
    pub subtitle: String,
    /// the id of the plan that it was made from
    pub plan: String,
    /// the first day of the period
    pub start: Day,
    /// the last day of the period
    pub end: Day,
    /// what is said of each person, besides the id
    pub columns: Vec<Column>,
    /// a person each
    pub rows: Vec<ListRow>,
    /// what callers may answer
    pub outcomes: Vec<OutcomeCode>,
    /// what a planner should know of the list, as name and value: places, budget, rules and what each costs, warnings
    pub summary: Vec<(String, String)>,
    /// all fixed words
    pub words: Words,
    /// how the words run
    pub direction: Direction,
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// for programs: in CSV and JSON
    pub name: String,
    /// for people: in workbooks and on pages
    pub heading: String,
    /// how its cells are shown
    pub kind: Kind,
    /// how wide it is in a workbook, in characters; absent: as wide as what it holds
    pub width: Option<f64>,
}

/// How the cells of a column are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// a few words
    Text,
    /// whole numbers
    Whole,
    /// numbers with that many decimals
    Number {
        /// after the point, at most 15
        decimals: u8,
    },
    /// shares: 0.4 is shown as 40 %
    Percent,
    /// dates
    Day,
    /// sentences, wrapped; the first such column says why a person is on the list
    Reason,
}

/// One person.
#[derive(Debug, Clone, PartialEq)]
pub struct ListRow {
    /// by which the person is found again
    pub id: String,
    /// 1 for whom to call first
    pub rank: usize,
    /// the worker or centre that calls; absent or blank: nobody in particular
    pub sheet: Option<String>,
    /// one for each column; those missing at the end are empty
    pub cells: Vec<Cell>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// words, never anything else
    Text(String),
    /// a whole number
    Whole(i64),
    /// a number; NaN and infinities are shown as nothing
    Number(f64),
    /// a date
    Day(Day),
    /// nothing
    None,
}

/// A date in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// such as 2026
    pub year: i16,
    /// from 1
    pub month: u8,
    /// from 1
    pub day: u8,
}

/// One answer that a caller may give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeCode {
    /// for programs
    pub code: String,
    /// for people
    pub words: String,
}

/// How words run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// as in English
    LeftToRight,
    /// as in Arabic and Urdu
    RightToLeft,
}

impl Column {
    /// A column that is as wide as what it holds.
    pub fn new(name: impl Into<String>, heading: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), heading: heading.into(), kind, width: None }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }
}

impl std::fmt::Display for Day {
    /// As ISO 8601 has it: 2026-03-16.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl List {
    /// The cells of a row, one for each column.
    pub(super) fn cells<'a>(&'a self, row: &'a ListRow) -> impl Iterator<Item = (&'a Column, &'a Cell)> {
        let (found, most) = (row.cells.len(), self.columns.len());
        assert!(found <= most, "{found} cells for {most} columns: at most one for each");
        self.columns.iter().zip(row.cells.iter().chain(std::iter::repeat(&Cell::None)))
    }

    /// Why a person is on the list, in words; empty where nothing says so.
    pub(super) fn reason<'a>(&'a self, row: &'a ListRow) -> &'a str {
        let why = self.cells(row).find(|(column, _)| column.kind == Kind::Reason);
        if let Some((_, Cell::Text(text))) = why { text } else { "" }
    }
}
