//! Curves: several lines over one quantity, each with its 95 % band.
//!
//! For learning curves (x: epochs) and for costs (both axes logarithmic). Lines differ by dash as well as by colour; where
//! points are few, each gets its shape, otherwise three along the line, not at the same places as those of the others. A line breaks where a number is missing. `continued` is what
//! a line would be if it went on: drawn with dots, it is never mistaken for a measurement. Points closer to the line than a
//! tenth of a unit are left out, so that a thousand epochs cost no more than fifty.
//!
//! ```
//! use restive_report::{Axis, Chart, Curves, Ink, Interval, curves::{Line, Panel}};
//!
//! let loss = |epoch: f64| 430.0 + 190.0 * (-epoch / 8.0).exp();
//! let points = (0..50).map(f64::from).map(|x| (x, Interval::new(loss(x), loss(x) - 4.0, loss(x) + 4.0))).collect();
//! let chart = Chart::Curves(Curves {
//!     title: "Learning curves".into(),
//!     panels: vec![Panel {
//!         title: "Predictive loss".into(),
//!         x: Axis::linear("epoch"),
//!         y: Axis::linear("nats per trajectory"),
//!         lines: vec![Line { name: "two-stage".into(), ink: Ink::Blue, points, continued: vec![] }],
//!     }],
//! });
//! assert!(chart.svg().contains("two-stage"));
//! ```

use crate::axis::{Axis, Range};
use crate::draw::{Anchor, Drawing, fit, path, simplified, width_of};
use crate::frame::{Shape, axis_below, no_data, ticks_below, title};
use crate::ink::Ink;
use crate::number::{Interval, along_axis, short};
use serde::{Deserialize, Serialize};

/// Panels of lines, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curves {
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
    /// what the lines run over
    pub x: Axis,
    /// the quantity and its unit
    pub y: Axis,
    /// drawn in this order
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// of the method
    pub name: String,
    /// its ink
    pub ink: Ink,
    /// x, rising, and what was measured there
    pub points: Vec<(f64, Interval)>,
    /// x and y of a continuation that was not measured
    pub continued: Vec<(f64, f64)>,
}

/// One line of a legend.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) ink: Ink,
    /// or else drawn with dots, as in the panels
    pub(super) is_measured: bool,
}

/// Points up to which each has its shape.
const FEW: usize = 20;

impl Curves {
    /// The least width of a panel.
    pub(super) const LEAST: f64 = 212.0;

    /// The lines by name and ink, each once, in the order of their first appearance.
    pub(super) fn legend(&self) -> Vec<Entry<'_>> {
        let mut seen: Vec<Entry<'_>> = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            let is_measured = !line.points.is_empty() || line.continued.is_empty();
            match seen.iter_mut().find(|entry| entry.name == line.name && entry.ink == line.ink) {
                Some(entry) => entry.is_measured |= is_measured,
                None => seen.push(Entry { name: &line.name, ink: line.ink, is_measured }),
            }
        }
        seen
    }
}

impl Panel {
    fn range_x(&self) -> Option<Range> {
        let measured = |line: &Line| line.points.iter().map(|p| p.0).collect::<Vec<_>>();
        let continued = |line: &Line| line.continued.iter().map(|p| p.0).collect::<Vec<_>>();
        Range::of(
            self.x.scale,
            self.lines.iter().flat_map(|line| measured(line).into_iter().chain(continued(line))),
        )
    }

    fn range_y(&self) -> Option<Range> {
        let scale = self.y.scale;
        let values = || self.lines.iter().flat_map(|line| &line.points).map(|p| p.1);
        values().find(|v| scale.takes(v.value))?;
        let continued = self.lines.iter().flat_map(|line| &line.continued).map(|p| p.1);
        Range::of(scale, values().flat_map(|v| [v.value, v.low, v.high]).chain(continued))
    }

    pub(super) fn draw(&self, shape: &Shape) -> Drawing {
        let (mut drawing, width) = (Drawing::default(), shape.width);
        title(&mut drawing, &self.title, shape);
        let (Some(x), Some(y)) = (self.range_x(), self.range_y()) else { return no_data(drawing, width) };
        let y = y.to_ticks(7);
        if !self.y.label.is_empty() {
            drawing.text("muted", Anchor::Start, 0.0, drawing.height + 11.0, &fit(&self.y.label, width));
            drawing.height += 20.0;
        }
        let rows = y.ticks(7);
        let labels = along_axis(&rows);
        let (left, right) = (labels.iter().map(|l| width_of(l)).fold(0.0, f64::max) + 8.0, width - 6.0);
        let (top, bottom) = (drawing.height + 4.0, drawing.height + 4.0 + (0.5 * width).clamp(130.0, 220.0));
        for (row, label) in rows.iter().zip(&labels) {
            let at = y.place(*row, bottom, top);
            drawing.line("grid", [left, at], [right, at]);
            drawing.text("muted", Anchor::End, left - 6.0, at + 4.0, label);
        }
        let ticks = ticks_below(&x, left, right, width);
        drawing.line("axis", [left, bottom], [right, bottom]);
        for tick in &ticks {
            drawing.line("axis", [tick.x, bottom], [tick.x, bottom + 4.0]);
        }
        let spot = |at: f64, value: f64| [x.place(at, left, right), y.place(value, bottom, top)];
        for line in &self.lines {
            drawing.open(line.ink.class(), &line.name);
            for run in self.runs(line, |p| p.1.has_ends()) {
                let upper = simplified(&run.iter().map(|p| spot(p.0, p.1.high)).collect::<Vec<_>>());
                let mut lower = simplified(&run.iter().map(|p| spot(p.0, p.1.low)).collect::<Vec<_>>());
                lower.reverse();
                drawing.path("band", &(path(&[upper, lower].concat()) + "Z"), "none");
            }
            drawing.close();
        }
        for (nth, line) in self.lines.iter().enumerate() {
            drawing.open(line.ink.class(), &line.name);
            let takes = |p: &&(f64, f64)| x.scale.takes(p.0) && y.scale.takes(p.1);
            let more: Vec<_> = line.continued.iter().filter(takes).map(|p| spot(p.0, p.1)).collect();
            if more.len() > 1 {
                drawing.path("more", &path(&simplified(&more)), "none");
            }
            let runs = self.runs(line, |_| true);
            for run in &runs {
                let points: Vec<_> = run.iter().map(|p| spot(p.0, p.1.value)).collect();
                drawing.path("line", &path(&simplified(&points)), line.ink.dash());
            }
            let lonely = |run: &&(f64, Interval), alone: bool| {
                (alone || line.points.len() <= FEW).then(|| spot(run.0, run.1.value))
            };
            let mut marks: Vec<_> =
                runs.iter().flat_map(|run| run.iter().filter_map(|p| lonely(&p, run.len() == 1))).collect();
            if marks.is_empty() {
                let spots: Vec<_> = runs.concat().iter().map(|p| spot(p.0, p.1.value)).collect();
                let shift = (nth as f64 + 0.5) / self.lines.len() as f64;
                for third in [0.0, 1.0, 2.0] {
                    let wanted = left + (right - left) * (third + shift) / 3.0;
                    let off = |spot: &[f64; 2]| (spot[0] - wanted).abs();
                    marks.extend(spots.iter().copied().min_by(|a, b| off(a).total_cmp(&off(b))));
                }
                marks.dedup();
            }
            marks.into_iter().for_each(|spot| drawing.mark(line.ink, spot));
            drawing.close();
        }
        drawing.height = axis_below(&mut drawing, &ticks, &self.x.label, left, bottom, width);
        drawing
    }

    /// Stretches of a line in which every point has a place.
    fn runs<'a>(
        &self,
        line: &'a Line,
        wanted: impl Fn(&(f64, Interval)) -> bool,
    ) -> Vec<&'a [(f64, Interval)]> {
        let takes =
            |p: &(f64, Interval)| self.x.scale.takes(p.0) && self.y.scale.takes(p.1.value) && wanted(p);
        line.points.split(|p| !takes(p)).filter(|run| !run.is_empty()).collect()
    }

    pub(super) fn words(&self) -> String {
        let one = |line: &Line| {
            let known: Vec<_> = self.runs(line, |_| true).concat();
            match (known.first(), known.last()) {
                (Some(first), Some(last)) => format!(
                    "{} from {} at {} to {} at {}",
                    line.name,
                    first.1.words(),
                    short(first.0),
                    last.1.words(),
                    short(last.0)
                ),
                _ => format!("{} without data", line.name),
            }
        };
        let lines: Vec<String> = self.lines.iter().map(one).collect();
        format!("{}, {} against {}: {}.", self.title, self.y.label, self.x.label, lines.join("; "))
    }
}
