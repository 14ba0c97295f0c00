//! Report: what a run says of itself, as one page or as figures, and what a plan says to those who carry it out.
//!
//! Plain data in, a file's content out: a [`Page`] becomes a single HTML file that needs neither network nor script, a [`Chart`] an SVG
//! file of its own, a [`List`](list::List) one of seven files, a workbook among them. This package knows numbers and names only; it reads no
//! files, looks at no clock, and gives the same bytes for the same data.
//!
//! | room | shows |
//! |---|---|
//! | [`list`] | this week's people: a workbook, a page to print, tables, and what other systems import |
//! | [`curves`] | lines with 95 % bands: learning curves, cost against size |
//! | [`bars`] | estimates with intervals in named rows |
//! | [`distribution`] | histograms one above the other: the indices of several methods |
//!
//! Every chart is a grid of panels; as a file of its own the caller may say how many stand in a row. In a page each chart is drawn twice, for a desk and for a phone, and a media query shows one
//! of them: letters keep their size and nothing scrolls sideways. Methods differ by shape and dash as well as by colour
//! ([`Ink`]), so that a page printed in black and white can still be read.
//!
//! ```
//! use restive_report::{Block, Interval, Page, Section, table::{Cell, Column, Row, Table}};
//!
//! let table = Table {
//!     caption: "Value of nine steps".into(),
//!     columns: vec![Column::text("policy"), Column::number("value", 1)],
//!     rows: vec![
//!         Row::new(vec![Cell::text("random"), Cell::Estimate(Interval::new(322.04, 320.9, 323.2))]),
//!         Row::highlighted(vec![Cell::text("two-stage"), Cell::Estimate(Interval::new(369.1, 367.7, 370.5))]),
//!     ],
//! };
//! let page = Page {
//!     title: "Whom to call this week".into(),
//!     verdict: "Calling by index keeps 47 more people engaged than calling at random.".into(),
//!     sections: vec![Section { heading: "What each policy is worth".into(), blocks: vec![Block::Table(table)] }],
//!     footer: "restive 0.1.0, seed 0".into(),
//! };
//! let html = page.html();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.contains("[367.7, 370.5]"));
//! assert!(!html.contains("://")); // nothing is fetched from anywhere
//! ```

pub mod axis;
pub mod bars;
mod bars_panel;
pub mod chart;
pub mod curves;
pub mod distribution;
mod draw;
pub mod findings;
mod frame;
pub mod ink;
pub mod list;
pub mod number;
pub mod page;
pub mod table;

pub use axis::{Axis, Scale};
pub use bars::Bars;
pub use chart::Chart;
pub use curves::Curves;
pub use distribution::Distribution;
pub use ink::{Ink, chart_css as chart_style};
pub use number::Interval;
pub use page::{Block, Fact, Page, Section, colours};
pub use table::Table;
