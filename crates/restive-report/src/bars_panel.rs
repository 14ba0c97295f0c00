//! How a panel of bars is drawn: groups from top to bottom, each with its references above and its rows below them.

use crate::axis::{Range, Scale, step};
use crate::bars::{Group, Panel, Reference, Row};
use crate::draw::{Anchor, Drawing, fit, path, spread, width_of, wrap};
use crate::frame::{Shape, axis_below, no_data, ticks_below, title};
use crate::number::{decimals, fixed, short};

/// Reference lines differ by their dashes.
const DASHES: [&str; 4] = ["2 3", "7 3", "8 3 2 3", "none"];

/// From one line of a name to the next.
const LINE: f64 = 14.0;

/// Between labels of references.
const GAP: f64 = 8.0;

/// Where things stand in a panel.
struct Places {
    range: Range,
    left: f64,
    right: f64,
    width: f64,
    /// of the names at the left
    names: f64,
    decimals: Option<usize>,
}

/// A value as it stands beside its row.
fn written(x: f64, decimals: Option<usize>) -> String {
    decimals.map_or_else(|| short(x), |decimals| fixed(x, decimals))
}

impl Panel {
    /// How wide its names are, at most a share of the width.
    pub(super) fn width_of_names(&self, most: f64) -> f64 {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.map(|row| width_of(&row.name)).fold(0.0, f64::max).min(most)
    }

    /// The lines that the references of each group need above it.
    pub(super) fn heads(&self, width: f64, names: Option<f64>) -> Vec<usize> {
        let Some(places) = self.places(width, names) else { return Vec::new() };
        self.groups.iter().map(|group| group.head(&places)).collect()
    }

    /// The names alone, as high as the panels beside them.
    pub(super) fn draw_names(&self, width: f64, shape: &Shape) -> Drawing {
        let mut drawing = Drawing::default();
        title(&mut drawing, "", shape);
        for (k, group) in self.groups.iter().enumerate() {
            group.draw_name(&mut drawing, width);
            drawing.height += group.height_of_head(shape.head(k));
            for row in &group.rows {
                drawing.height += row.draw_name(&mut drawing, width);
            }
            drawing.height += 12.0;
        }
        drawing
    }

    fn places(&self, width: f64, names: Option<f64>) -> Option<Places> {
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
        // one more than the axis has, but no tenths of hundreds; very large and very small numbers have powers of ten
        let step = step(high - low, 6);
        let decimals = Some(decimals(step) + usize::from(step < 100.0))
            .filter(|d| *d <= 6 && high.abs().max(low.abs()) < 1e7);
        let widest =
            |texts: &mut dyn Iterator<Item = String>| texts.map(|t| width_of(&t)).fold(0.0, f64::max);
        let left = names.map_or_else(|| self.width_of_names(0.38 * width) + 10.0, |_| 6.0);
        let names = names.unwrap_or(left - 10.0);
        let values = widest(&mut rows().map(|row| written(row.value.value, decimals)));
        Some(Places { range, left, right: width - values - 10.0, width, names, decimals })
    }

    pub(super) fn draw(&self, shape: &Shape) -> Drawing {
        let (mut drawing, width) = (Drawing::default(), shape.width);
        title(&mut drawing, &self.title, shape);
        let Some(places) = self.places(width, shape.names) else { return no_data(drawing, width) };
        let ticks = ticks_below(&places.range, places.left, places.right, width);
        for (k, group) in self.groups.iter().enumerate() {
            match shape.names {
                None => group.draw_name(&mut drawing, width),
                Some(_) => drawing.height += group.height_of_name(),
            }
            drawing.height += group.height_of_head(shape.head(k));
            let top = drawing.height;
            let heights: Vec<f64> = group.rows.iter().map(|row| row.height(places.names)).collect();
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
                if shape.names.is_none() {
                    row.draw_name(&mut drawing, places.names);
                }
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
}

impl Group {
    fn height_of_name(&self) -> f64 {
        if self.name.is_empty() { 0.0 } else { 22.0 }
    }

    fn draw_name(&self, drawing: &mut Drawing, width: f64) {
        if !self.name.is_empty() {
            let shown = fit(&self.name, width / 1.1);
            drawing.open("", if shown == self.name { "" } else { &self.name });
            drawing.text("strong", Anchor::Start, 0.0, drawing.height + 14.0, &shown);
            drawing.close();
            drawing.height += self.height_of_name();
        }
    }

    /// The references that have a place, with their dashes, rising.
    fn known(&self) -> Vec<(&'static str, &Reference)> {
        let all = self.references.iter().enumerate().map(|(k, reference)| (DASHES[k % 4], reference));
        let mut known: Vec<_> = all.filter(|(_, r)| Scale::Linear.takes(r.value.value)).collect();
        known.sort_by(|a, b| a.1.value.value.total_cmp(&b.1.value.value));
        known
    }

    /// The lines that references need: one where they have room beside each other.
    fn head(&self, places: &Places) -> usize {
        let widths = self.known().into_iter().map(|(_, r)| width_of(&r.label(places)) + GAP);
        let (count, together) = widths.fold((0, 0.0), |(n, sum), width| (n + 1, sum + width));
        if together - GAP <= places.width { count.min(1) } else { count }
    }

    fn height_of_head(&self, lines: usize) -> f64 {
        if lines == 0 { 0.0 } else { 4.0 + LINE * lines as f64 }
    }

    /// Lines with their shades, and above them their names and values: at the lines, moved apart where they would touch, or
    /// one below the other, each beside its dash, where one line has no room for all.
    fn references(&self, drawing: &mut Drawing, places: &Places, top: f64, bottom: f64) {
        let at = |x: f64| places.range.place(x, places.left, places.right);
        let (known, lines) = (self.known(), self.head(places));
        let labels: Vec<String> = known
            .iter()
            .map(|(_, r)| fit(&r.label(places), places.width - if lines > 1 { 28.0 } else { 0.0 }))
            .collect();
        let widths: Vec<f64> = labels.iter().map(|l| width_of(l)).collect();
        let centres: Vec<f64> = known.iter().map(|(_, r)| at(r.value.value)).collect();
        let starts = spread(&centres, &widths, 0.0, places.width);
        for (k, (dash, reference)) in known.iter().enumerate() {
            let value = reference.value;
            drawing.open("", &format!("{}: {}", reference.name, value.words()));
            if value.has_ends() {
                drawing.rect("reach", [at(value.low), top], [at(value.high) - at(value.low), bottom - top]);
            }
            let x = at(value.value);
            drawing.path("reference", &path(&[[x, top + 1.0], [x, bottom]]), dash);
            if lines > 1 {
                let y = top - 7.0 - LINE * (lines - 1 - k) as f64;
                drawing.path("reference", &path(&[[0.0, y - 4.0], [22.0, y - 4.0]]), dash);
                drawing.text("muted", Anchor::Start, 28.0, y, &labels[k]);
            } else {
                let foot = x.max(starts[k]).min(starts[k] + widths[k]);
                drawing.line("lead", [foot, top - 4.0], [x, top + 1.0]);
                drawing.text("muted", Anchor::Middle, starts[k] + widths[k] / 2.0, top - 7.0, &labels[k]);
            }
            drawing.close();
        }
    }
}

impl Reference {
    fn label(&self, places: &Places) -> String {
        format!("{} {}", self.name, written(self.value.value, places.decimals))
    }
}

impl Row {
    fn lines(&self, width: f64) -> Vec<String> {
        wrap(&self.name, width, 3)
    }

    fn height(&self, width: f64) -> f64 {
        12.0 + LINE * self.lines(width).len() as f64
    }

    /// Draws the name and returns how high the row is; the pen stays.
    fn draw_name(&self, drawing: &mut Drawing, width: f64) -> f64 {
        for (k, line) in self.lines(width).iter().enumerate() {
            let y = drawing.height + 6.0 + LINE * (k as f64 + 0.8);
            drawing.text("", Anchor::Start, 0.0, y, line);
        }
        self.height(width)
    }

    fn draw(&self, drawing: &mut Drawing, places: &Places, base: Option<f64>, height: f64) {
        let middle = drawing.height + height / 2.0;
        let at = |x: f64| places.range.place(x, places.left, places.right);
        drawing.open(self.ink.class(), &format!("{}: {}", self.name, self.value.words()));
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
