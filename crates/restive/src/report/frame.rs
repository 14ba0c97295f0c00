//! What all panels share: a title, an axis below, the words "no data".

use super::axis::Range;
use super::draw::{Anchor, Drawing, fit, width_of};
use super::number::along_axis;

/// Titles are a little larger and bolder than what [`width_of`] measures.
const TITLE: f64 = 1.2;

/// Writes the title, if there is one, and moves the pen below it.
pub(super) fn title(drawing: &mut Drawing, text: &str, width: f64) {
    if !text.is_empty() {
        drawing.open("", if width_of(text) * TITLE > width { text } else { "" });
        drawing.text("title", Anchor::Start, 0.0, 13.0, &fit(text, width / TITLE));
        drawing.close();
        drawing.height += 22.0;
    }
}

/// An empty panel that says so.
pub(super) fn no_data(mut drawing: Drawing, width: f64) -> Drawing {
    let top = drawing.height;
    drawing.line("grid", [0.0, top], [width, top]);
    drawing.line("grid", [0.0, top + 60.0], [width, top + 60.0]);
    drawing.text("muted", Anchor::Middle, width / 2.0, top + 34.0, "no data");
    drawing.height = top + 64.0;
    drawing
}

/// A tick of the axis below: where, its label, and the middle of the label.
pub(super) struct Tick {
    pub x: f64,
    label: String,
    middle: f64,
}

/// As many ticks as have room for their labels in a panel of that width, the axis reaching from `from` to `to`.
pub(super) fn ticks_below(range: &Range, from: f64, to: f64, width: f64) -> Vec<Tick> {
    let most = (((to - from) / 24.0) as usize).clamp(2, 9);
    let lay = |at_most: usize| -> Vec<Tick> {
        let numbers = range.ticks(at_most);
        let labels = along_axis(&numbers);
        let tick = |(x, label): (f64, String)| {
            let (x, half) = (range.place(x, from, to), width_of(&label) / 2.0);
            Tick { x, middle: x.min(width - half).max(half), label }
        };
        numbers.into_iter().zip(labels).map(tick).collect()
    };
    let apart = |ticks: &Vec<Tick>| {
        ticks
            .windows(2)
            .all(|w| w[1].middle - w[0].middle > (width_of(&w[0].label) + width_of(&w[1].label)) / 2.0 + 6.0)
    };
    (2..=most).rev().map(lay).find(apart).unwrap_or_else(|| lay(2).into_iter().take(1).collect())
}

/// Draws the labels of the ticks and of the axis below `y`; returns where it ends.
pub(super) fn axis_below(
    drawing: &mut Drawing,
    ticks: &[Tick],
    label: &str,
    from: f64,
    y: f64,
    width: f64,
) -> f64 {
    for tick in ticks {
        drawing.text("muted", Anchor::Middle, tick.middle, y + 15.0, &tick.label);
    }
    if label.is_empty() {
        return y + 20.0;
    }
    let label = fit(label, width);
    let start = from.min(width - width_of(&label)).max(0.0);
    drawing.text("muted", Anchor::Start, start, y + 32.0, &label);
    y + 38.0
}
