//! Tables: numbers under each other, intervals beside them.
//!
//! A column of numbers has one number of decimals, so that points align; an interval has a narrow column of its own beside its
//! value. The first cell of a row is its heading. A table wider than the screen scrolls in its own box.
//!
//! ```
//! use restive_report::table::{Cell, Column, Row, Table};
//!
//! let table = Table {
//!     caption: "Whom to call".into(),
//!     columns: vec![Column::text("arm"), Column::number("rank", 0), Column::number("index", 3)],
//!     rows: vec![Row::new(vec![Cell::text("A. <b>"), Cell::Number(1.0), Cell::Number(-0.1234)])],
//! };
//! assert!(table.html().contains("A. &lt;b&gt;") && table.html().contains("−0.123"));
//! ```

use crate::draw::escape;
use crate::number::{Interval, fixed};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Rows under named columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// what the table shows
    pub caption: String,
    /// from left to right
    pub columns: Vec<Column>,
    /// from top to bottom, a cell for each column
    pub rows: Vec<Row>,
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// what it shows, with its unit
    pub name: String,
    /// of its numbers; absent: text
    pub decimals: Option<usize>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// a cell for each column
    pub cells: Vec<Cell>,
    /// whether the reader should see it first
    pub is_highlighted: bool,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// words
    Text(String),
    /// a number; NaN is a dash
    Number(f64),
    /// a number with its interval
    Estimate(Interval),
}

impl Column {
    /// Words, at the left.
    pub fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), decimals: None }
    }

    /// Numbers with that many decimals, at the right.
    pub fn number(name: impl Into<String>, decimals: usize) -> Self {
        Self { name: name.into(), decimals: Some(decimals) }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }
}

impl Row {
    /// A row like the others.
    pub fn new(cells: Vec<Cell>) -> Self {
        Self { cells, is_highlighted: false }
    }

    /// A row that the reader should see first.
    pub fn highlighted(cells: Vec<Cell>) -> Self {
        Self { cells, is_highlighted: true }
    }
}

impl Table {
    /// In its own box.
    pub fn html(&self) -> String {
        let caption = escape(&self.caption);
        let mut out = format!(
            "<figure class=\"table\">\n<figcaption><strong>{caption}</strong></figcaption>\n\
             <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table aria-label=\"{caption}\">\n<thead><tr>"
        );
        for (k, column) in self.columns.iter().enumerate() {
            let class = if column.decimals.is_some() { " class=\"number\"" } else { "" };
            let span = if self.has_intervals(k) { " colspan=\"2\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}{span}>{}</th>", escape(&column.name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            assert_eq!(row.cells.len(), self.columns.len(), "a cell for each column");
            out.push_str(if row.is_highlighted { "<tr class=\"highlight\">" } else { "<tr>" });
            for (k, cell) in row.cells.iter().enumerate() {
                self.cell(&mut out, k, cell);
            }
            out.push_str("</tr>\n");
        }
        if self.rows.is_empty() {
            let width: usize = (0..self.columns.len()).map(|k| 1 + usize::from(self.has_intervals(k))).sum();
            let _ = writeln!(out, "<tr><td colspan=\"{}\">no data</td></tr>", width.max(1));
        }
        out + "</tbody></table></div>\n</figure>\n"
    }

    fn has_intervals(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row.cells.get(column), Some(Cell::Estimate(_))))
    }

    fn cell(&self, out: &mut String, k: usize, cell: &Cell) {
        let (tag, scope) = if k == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
        let decimals = self.columns[k].decimals.unwrap_or(3);
        let has_intervals = self.has_intervals(k);
        let _ = match cell {
            Cell::Text(text) => {
                let span = if has_intervals { " colspan=\"2\"" } else { "" };
                write!(out, "<{tag}{scope}{span}>{}</{tag}>", escape(text))
            }
            Cell::Number(x) => write!(out, "<{tag}{scope} class=\"number\">{}</{tag}>", fixed(*x, decimals)),
            Cell::Estimate(x) => {
                write!(out, "<{tag}{scope} class=\"number\">{}</{tag}>", fixed(x.value, decimals))
            }
        };
        let _ = match cell {
            Cell::Estimate(x) if x.has_ends() => {
                write!(
                    out,
                    "<td class=\"interval\">[{}, {}]</td>",
                    fixed(x.low, decimals),
                    fixed(x.high, decimals)
                )
            }
            Cell::Number(_) | Cell::Estimate(_) if has_intervals => write!(out, "<td></td>"),
            _ => Ok(()),
        };
    }
}
