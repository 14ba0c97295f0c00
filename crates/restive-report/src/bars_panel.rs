//! How a panel of bars is drawn: groups from top to bottom, each with its rows.

use crate::axis::{Range, Scale, step};
use crate::bars::{Group, Panel, Row};
use crate::draw::{Anchor, Drawing, fit, width_of, wrap};
use crate::frame::{Shape, axis_below, no_data, ticks_below, title};
use crate::number::{decimals, fixed, short};

/// From one line of a name to the next.
const LINE: f64 = 14.0;

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

    /// The names alone, as high as the panels beside them.
    pub(super) fn draw_names(&self, width: f64, shape: &Shape) -> Drawing {
        let mut drawing = Drawing::default();
        title(&mut drawing, "", shape);
        for group in &self.groups {
            group.draw_name(&mut drawing, width);
            for row in &group.rows {
                drawing.height += row.draw_name(&mut drawing, width);
            }
            drawing.height += 12.0;
        }
        drawing
    }

    fn places(&self, width: f64, names: Option<f64>) -> Option<Places> {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let ends = rows().flat_map(|row| [row.value.value, row.value.low, row.value.high]);
        let bare = Range::of(Scale::Linear, ends.chain(self.base))?;
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
        for group in &self.groups {
            match shape.names {
                None => group.draw_name(&mut drawing, width),
                Some(_) => drawing.height += group.height_of_name(),
            }
            let top = drawing.height;
            let heights: Vec<f64> = group.rows.iter().map(|row| row.height(places.names)).collect();
            let bottom = top + heights.iter().sum::<f64>();
            for tick in &ticks {
                drawing.line("grid", [tick.x, top], [tick.x, bottom]);
            }
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
