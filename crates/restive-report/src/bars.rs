//! Bars: estimates with their intervals, in named rows and groups.
//!
//! Bars start at `base`, a number that means something: no gain, nobody engaged. Without a base an estimate is a dot, for a bar
//! that starts at an arbitrary number exaggerates differences. Names stand at the left on up to three lines, values at the right;
//! in a [grid](crate::Chart::svg_in_columns) whose panels have the same rows, names stand once, left of the first panel.
//!
//! ```
//! use restive_report::{Bars, Chart, Ink, Interval, bars::{Group, Panel, Row}};
//!
//! let row = |name: &str, ink, value: f64| Row { name: name.into(), ink, value: Interval::new(value, value - 1.4, value + 1.4) };
//! let group = |name: &str, values: [f64; 2]| Group {
//!     name: name.into(),
//!     rows: vec![row("two-stage", Ink::Blue, values[0]), row("decision-focused", Ink::Orange, values[1])],
//! };
//! let chart = Chart::Bars(Bars {
//!     title: "Value of nine steps".into(),
//!     panels: vec![Panel {
//!         title: "".into(),
//!         label: "people engaged, summed over nine steps".into(),
//!         base: None,
//!         groups: vec![group("soft, as published", [335.4, 348.4]), group("strict, as deployed", [369.1, 368.8])],
//!     }],
//! });
//! assert!(chart.svg().contains("strict, as deployed"));
//! ```

use crate::ink::Ink;
use crate::number::Interval;
use serde::{Deserialize, Serialize};

/// Panels of rows, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// what the chart shows
    pub title: String,
    /// one for each quantity
    pub panels: Vec<Panel>,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// empty: none
    pub title: String,
    /// the quantity and its unit
    pub label: String,
    /// where bars start; absent: dots
    pub base: Option<f64>,
    /// from top to bottom
    pub groups: Vec<Group>,
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// empty: none
    pub name: String,
    /// from top to bottom
    pub rows: Vec<Row>,
}

/// One estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// of the method
    pub name: String,
    /// its ink
    pub ink: Ink,
    /// the estimate
    pub value: Interval,
}

impl Bars {
    /// The least width of a panel.
    pub(super) const LEAST: f64 = 320.0;
    /// The least width of a panel whose names stand elsewhere.
    pub(super) const LEAST_WITHOUT_NAMES: f64 = 190.0;

    /// Whether panels that stand beside each other have the same rows, so that names need to stand only once at their left.
    pub(super) fn have_the_same_rows(&self, columns: usize) -> bool {
        let names = |panel: &Panel| -> Vec<(String, Vec<String>)> {
            let rows = |group: &Group| group.rows.iter().map(|row| row.name.clone()).collect();
            panel.groups.iter().map(|group| (group.name.clone(), rows(group))).collect()
        };
        let beside = |panels: &[Panel]| panels.windows(2).all(|pair| names(&pair[0]) == names(&pair[1]));
        self.panels.chunks(columns).all(beside)
    }
}

impl Panel {
    pub(super) fn words(&self) -> String {
        let row = |row: &Row| format!("{} {}", row.name, row.value.words());
        let group = |group: &Group| {
            let all: Vec<String> = group.rows.iter().map(row).collect();
            format!("{}: {}", group.name, all.join("; "))
        };
        let groups: Vec<String> = self.groups.iter().map(group).collect();
        format!("{} {}. {}.", self.title, self.label, groups.join(". "))
    }
}
