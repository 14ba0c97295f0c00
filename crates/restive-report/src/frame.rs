//! What all panels share: a title, an axis below, the words "no data".

use crate::axis::Range;
use crate::draw::{Anchor, Drawing, width_of, wrap};
use crate::number::along_axis;

/// Titles are a little larger and bolder than what [`width_of`] measures.
const TITLE: f64 = 1.2;
/// Lines of a title at most.
const LINES: usize = 2;

/// What a panel has in common with those beside it.
pub(super) struct Shape {
    pub width: f64,
    /// the lines that titles have room for
    pub title: usize,
    /// how wide names are that stand left of the first panel; absent: every panel has its own
    pub names: Option<f64>,
}

/// The lines of a title.
pub(super) fn title_lines(text: &str, width: f64) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { wrap(text, width / TITLE, LINES) }
}

/// Writes the title, if there is one, and moves the pen below the titles of all panels of the row.
pub(super) fn title(drawing: &mut Drawing, text: &str, shape: &Shape) {
    let lines = title_lines(text, shape.width);
    let cut = lines.last().is_some_and(|line| line.ends_with('…'));
    drawing.open("", if cut { text } else { "" });
    for (k, line) in lines.iter().enumerate() {
        drawing.text("title", Anchor::Start, 0.0, 13.0 + 16.0 * k as f64, line);
    }
    drawing.close();
    if shape.title > 0 {
        drawing.height += 6.0 + 16.0 * shape.title as f64;
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
    let most = (((to - from) / 18.0) as usize).clamp(2, 9);
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
    let ends = |mut ticks: Vec<Tick>| {
        let last = ticks.pop();
        ticks.truncate(1);
        ticks.extend(last);
        ticks
    };
    let found = (2..=most).rev().map(lay).find(|ticks| ticks.len() > 1 && apart(ticks));
    // one tick tells no scale: the ends of finer ones
    let finer = || (3..=9).map(lay).map(ends).find(|ticks| ticks.len() > 1 && apart(ticks));
    found.or_else(finer).unwrap_or_else(|| lay(2).into_iter().take(1).collect())
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
    let lines = wrap(label, width, LINES);
    let widest = lines.iter().map(|line| width_of(line)).fold(0.0, f64::max);
    let start = from.min(width - widest).max(0.0);
    for (k, line) in lines.iter().enumerate() {
        drawing.text("muted", Anchor::Start, start, y + 32.0 + 15.0 * k as f64, line);
    }
    y + 23.0 + 15.0 * lines.len() as f64
}
