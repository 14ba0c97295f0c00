//! Bars: estimates with their intervals, in named rows and groups, beside reference lines.
//!
//! Bars start at `base`, a number that means something: no gain, nobody engaged. Without a base an estimate is a dot, for a bar
//! that starts at an arbitrary number exaggerates differences. References (random, oracle) are lines through a group, with a
//! shade where they have an interval. Names stand at the left on up to three lines, values at the right.
//!
//! ```
//! use restive::report::{Bars, Chart, Ink, Interval, bars::{Group, Panel, Reference, Row}};
//!
//! let row = |name: &str, ink, value: f64| Row { name: name.into(), ink, value: Interval::new(value, value - 1.4, value + 1.4) };
//! let line = |name: &str, value| Reference { name: name.into(), value: Interval::bare(value) };
//! let group = |name: &str, values: [f64; 2]| Group {
//!     name: name.into(),
//!     rows: vec![row("two-stage", Ink::Blue, values[0]), row("decision-focused", Ink::Orange, values[1])],
//!     references: vec![line("random", 322.0), line("oracle", 371.0)],
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

use super::axis::{Range, Scale, step};
use super::draw::{Anchor, Drawing, fit, path, spread, width_of, wrap};
use super::frame::{axis_below, no_data, ticks_below, title};
use super::ink::Ink;
use super::number::{Interval, decimals, fixed, short};

/// Panels of rows, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// what the chart shows
    pub title: String,
    /// one for each quantity
    pub panels: Vec<Panel>,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// empty: none
    pub name: String,
    /// from top to bottom
    pub rows: Vec<Row>,
    /// lines through all rows of the group
    pub references: Vec<Reference>,
}

/// One estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// of the method
    pub name: String,
    /// its ink
    pub ink: Ink,
    /// the estimate
    pub value: Interval,
}

/// What a group is measured against.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// of the method
    pub name: String,
    /// its estimate
    pub value: Interval,
}

/// Reference lines differ by their dashes.
const DASHES: [&str; 4] = ["2 3", "7 3", "8 3 2 3", "none"];

/// From one line of a name to the next.
const LINE: f64 = 14.0;

/// Where things stand in a panel.
struct Places {
    range: Range,
    left: f64,
    right: f64,
    width: f64,
    decimals: Option<usize>,
}

/// A value as it stands beside its row.
fn written(x: f64, decimals: Option<usize>) -> String {
    decimals.map_or_else(|| short(x), |decimals| fixed(x, decimals))
}

impl Bars {
    /// The least width of a panel.
    pub(super) const LEAST: f64 = 320.0;
}

impl Panel {
    fn places(&self, width: f64) -> Option<Places> {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let values = rows().map(|row| row.value);
        let all = values.chain(self.groups.iter().flat_map(|g| &g.references).map(|r| r.value));
        let bare = Range::of(Scale::Linear, all.flat_map(|v| [v.value, v.low, v.high]).chain(self.base))?;
        if !rows().any(|row| Scale::Linear.takes(row.value.value)) {
            return None;
        }
        let padded = bare.padded(0.04);
        // bars stand on the edge of the panel where all are on one side of their base
        let low = if self.base == Some(bare.low) { bare.low } else { padded.low };
        let high = if self.base == Some(bare.high) { bare.high } else { padded.high };
        let range = Range { low, high, ..bare };
        // one more than the axis has; very large and very small numbers have powers of ten
        let decimals =
            Some(decimals(step(high - low, 6)) + 1).filter(|d| *d <= 6 && high.abs().max(low.abs()) < 1e7);
        let widest =
            |texts: &mut dyn Iterator<Item = String>| texts.map(|t| width_of(&t)).fold(0.0, f64::max);
        let names = widest(&mut rows().map(|row| row.name.clone())).min(0.38 * width);
        let values = widest(&mut rows().map(|row| written(row.value.value, decimals)));
        Some(Places { range, left: names + 10.0, right: width - values - 10.0, width, decimals })
    }

    pub(super) fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::default();
        title(&mut drawing, &self.title, width);
        let Some(places) = self.places(width) else { return no_data(drawing, width) };
        let ticks = ticks_below(&places.range, places.left, places.right, width);
        for group in &self.groups {
            if !group.name.is_empty() {
                drawing.open("", if width_of(&group.name) > width { &group.name } else { "" });
                drawing.text(
                    "strong",
                    Anchor::Start,
                    0.0,
                    drawing.height + 14.0,
                    &fit(&group.name, width / 1.1),
                );
                drawing.close();
                drawing.height += 22.0;
            }
            if !group.references.is_empty() {
                drawing.height += 18.0;
            }
            let top = drawing.height;
            let heights: Vec<f64> =
                group.rows.iter().map(|row| 12.0 + LINE * row.lines(&places).len() as f64).collect();
            let bottom = top + heights.iter().sum::<f64>();
            for tick in &ticks {
                drawing.line("grid", [tick.x, top], [tick.x, bottom]);
            }
            group.references(&mut drawing, &places, top, bottom);
            if let Some(base) = self.base {
                let x = places.range.place(base, places.left, places.right);
                drawing.line("axis", [x, top], [x, bottom]);
            }
            for (row, height) in group.rows.iter().zip(heights) {
                row.draw(&mut drawing, &places, self.base, height);
                drawing.height += height;
            }
            drawing.height += 12.0;
        }
        let axis = drawing.height - 12.0;
        drawing.line("axis", [places.left, axis], [places.right, axis]);
        drawing.height = axis_below(&mut drawing, &ticks, &self.label, places.left, axis, width);
        drawing
    }

    pub(super) fn words(&self) -> String {
        let row = |row: &Row| format!("{} {}", row.name, row.value.words());
        let group = |group: &Group| {
            let references = group.references.iter().map(|r| format!("{} {}", r.name, r.value.words()));
            let all: Vec<String> = group.rows.iter().map(row).chain(references).collect();
            format!("{}: {}", group.name, all.join("; "))
        };
        let groups: Vec<String> = self.groups.iter().map(group).collect();
        format!("{} {}. {}.", self.title, self.label, groups.join(". "))
    }
}

impl Group {
    /// Lines with their shades, and above them their names and values, moved apart where they would touch.
    fn references(&self, drawing: &mut Drawing, places: &Places, top: f64, bottom: f64) {
        let at = |x: f64| places.range.place(x, places.left, places.right);
        let mut known: Vec<(usize, &Reference)> =
            self.references.iter().enumerate().filter(|(_, r)| Scale::Linear.takes(r.value.value)).collect();
        known.sort_by(|a, b| a.1.value.value.total_cmp(&b.1.value.value));
        let most = (places.width - 8.0 * known.len() as f64) / known.len().max(1) as f64;
        let label =
            |r: &Reference| fit(&format!("{} {}", r.name, written(r.value.value, places.decimals)), most);
        let labels: Vec<String> = known.iter().map(|(_, r)| label(r)).collect();
        let widths: Vec<f64> = labels.iter().map(|l| width_of(l)).collect();
        let centres: Vec<f64> = known.iter().map(|(_, r)| at(r.value.value)).collect();
        let starts = spread(&centres, &widths, 0.0, places.width);
        for (((k, reference), label), (start, width)) in
            known.iter().zip(&labels).zip(starts.iter().zip(&widths))
        {
            let value = reference.value;
            drawing.open("", &format!("{}: {}", reference.name, value.words()));
            if value.has_ends() {
                drawing.rect("reach", [at(value.low), top], [at(value.high) - at(value.low), bottom - top]);
            }
            let x = at(value.value);
            let foot = x.max(*start).min(start + width);
            drawing.line("lead", [foot, top - 4.0], [x, top + 1.0]);
            drawing.path("reference", &path(&[[x, top + 1.0], [x, bottom]]), DASHES[k % 4]);
            drawing.text("muted", Anchor::Middle, start + width / 2.0, top - 7.0, label);
            drawing.close();
        }
    }
}

impl Row {
    fn lines(&self, places: &Places) -> Vec<String> {
        wrap(&self.name, places.left - 10.0, 3)
    }

    fn draw(&self, drawing: &mut Drawing, places: &Places, base: Option<f64>, height: f64) {
        let (top, middle) = (drawing.height, drawing.height + height / 2.0);
        let at = |x: f64| places.range.place(x, places.left, places.right);
        drawing.open(self.ink.class(), &format!("{}: {}", self.name, self.value.words()));
        for (k, line) in self.lines(places).iter().enumerate() {
            let y = top + 6.0 + LINE * (k as f64 + 0.8);
            drawing.text("", Anchor::Start, 0.0, y, line);
        }
        drawing.text(
            "",
            Anchor::End,
            places.width,
            middle + 4.0,
            &written(self.value.value, places.decimals),
        );
        if Scale::Linear.takes(self.value.value) {
            let x = at(self.value.value);
            if let Some(base) = base {
                let from = at(base);
                drawing.rect("bar", [from.min(x), middle - 7.0], [(x - from).abs(), 14.0]);
            }
            if self.value.has_ends() {
                let (low, high) = (at(self.value.low), at(self.value.high));
                drawing.line("whisker", [low, middle], [high, middle]);
                for end in [low, high] {
                    drawing.line("whisker", [end, middle - 4.0], [end, middle + 4.0]);
                }
            }
            drawing.mark(self.ink, [x, middle]);
        } else {
            drawing.text("muted", Anchor::Start, places.left + 4.0, middle + 4.0, "no data");
        }
        drawing.close();
    }
}
