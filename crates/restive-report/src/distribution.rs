//! Distribution: histograms of several methods, one above the other, over one axis.
//!
//! All share their bins (a width of 1, 2 or 5 times a power of ten) and their height, the share of the numbers in a bin, so that
//! shapes and places can be compared at a glance. A tick below each histogram marks its median. Numbers that are not finite have
//! no place: they are left out and counted.
//!
//! ```
//! use restive_report::{Chart, Distribution, Ink, distribution::{Panel, Sample}};
//!
//! let numbers = |shift: f64| (0..200).map(|k| shift + (f64::from(k) * 0.7).sin()).collect();
//! let chart = Chart::Distribution(Distribution {
//!     title: "Whittle indices".into(),
//!     panels: vec![Panel {
//!         title: "not engaged".into(),
//!         label: "index".into(),
//!         samples: vec![
//!             Sample { name: "two-stage".into(), ink: Ink::Blue, numbers: numbers(0.0) },
//!             Sample { name: "oracle".into(), ink: Ink::Black, numbers: numbers(0.5) },
//!         ],
//!     }],
//! });
//! assert!(chart.svg().contains("median"));
//! ```

use crate::axis::{Range, Scale, step};
use crate::draw::{Anchor, Drawing, fit, path, width_of};
use crate::frame::{Shape, axis_below, no_data, ticks_below, title};
use crate::ink::Ink;
use crate::number::{fixed, short};
use serde::{Deserialize, Serialize};

/// Panels of histograms, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
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
    /// from top to bottom
    pub samples: Vec<Sample>,
}

/// The numbers of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// of the method
    pub name: String,
    /// its ink
    pub ink: Ink,
    /// in any order
    pub numbers: Vec<f64>,
}

/// Bins at most.
const BINS: usize = 32;
/// The height of one histogram.
const HEIGHT: f64 = 52.0;

impl Distribution {
    /// The least width of a panel.
    pub(super) const LEAST: f64 = 320.0;
}

/// Bins of equal width.
struct Bins {
    low: f64,
    width: f64,
    count: usize,
}

impl Bins {
    fn new(range: Range) -> Self {
        let width = step(range.high - range.low, BINS - 1);
        let low = (range.low / width + 1e-9).floor() * width;
        let count = ((range.high - low) / width + 1e-9).floor() as usize + 1;
        Self { low, width, count: count.min(BINS) }
    }

    /// The share of the known numbers in each bin.
    fn shares(&self, known: &[f64]) -> Vec<f64> {
        let mut shares = vec![0.0; self.count];
        for x in known {
            let bin = ((x - self.low) / self.width + 1e-9).floor().max(0.0) as usize;
            shares[bin.min(self.count - 1)] += 1.0 / known.len() as f64;
        }
        shares
    }
}

impl Sample {
    /// The numbers that have a place, sorted.
    fn known(&self) -> Vec<f64> {
        let mut known: Vec<f64> = self.numbers.iter().copied().filter(|x| Scale::Linear.takes(*x)).collect();
        known.sort_by(f64::total_cmp);
        known
    }

    fn count(&self, known: &[f64]) -> String {
        match known.len() == self.numbers.len() {
            true => format!("n = {}", fixed(known.len() as f64, 0)),
            false => {
                format!("n = {} of {}", fixed(known.len() as f64, 0), fixed(self.numbers.len() as f64, 0))
            }
        }
    }
}

/// The middle of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 { f64::NAN } else { (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0 }
}

impl Panel {
    pub(super) fn draw(&self, shape: &Shape) -> Drawing {
        let (mut drawing, width) = (Drawing::default(), shape.width);
        title(&mut drawing, &self.title, shape);
        drawing.height += 4.0;
        let known: Vec<Vec<f64>> = self.samples.iter().map(Sample::known).collect();
        let Some(range) = Range::of(Scale::Linear, known.iter().flatten().copied()) else {
            return no_data(drawing, width);
        };
        let bins = Bins::new(range);
        let range = Range { low: bins.low, high: bins.low + bins.width * bins.count as f64, ..range };
        let shares: Vec<Vec<f64>> = known.iter().map(|known| bins.shares(known)).collect();
        let highest = shares.iter().flatten().fold(0.0f64, |m, share| m.max(*share));
        let mark = step(highest, 3) * if step(highest, 3) > highest { 0.5 } else { 1.0 };
        let mark_label = format!("{} %", short(100.0 * mark));
        let (left, right) = (width_of(&mark_label) + 8.0, width - 6.0);
        let ticks = ticks_below(&range, left, right, width);
        for ((sample, known), shares) in self.samples.iter().zip(&known).zip(&shares) {
            let middle = median(known);
            let told = match known.is_empty() {
                true => "no data".into(),
                false => format!("{}, median {}", sample.count(known), short(middle)),
            };
            let bold = 1.1 * width_of(&sample.name) + 16.0;
            // beside the name, or below it where it is long
            let below = bold + width_of(&told) + 12.0 > width;
            let (name, words) = (drawing.height + 14.0, drawing.height + if below { 30.0 } else { 14.0 });
            drawing.height = words - 14.0;
            let (top, bottom) = (drawing.height + 24.0, drawing.height + 24.0 + HEIGHT);
            drawing.open(sample.ink.class(), &format!("{}: {told}", sample.name));
            drawing.mark(sample.ink, [6.0, name - 4.0]);
            drawing.text("strong", Anchor::Start, 16.0, name, &fit(&sample.name, (width - 16.0) / 1.1));
            drawing.text("muted", Anchor::End, width, words, &told);
            for tick in &ticks {
                drawing.line("grid", [tick.x, top], [tick.x, bottom]);
            }
            let height = |share: f64| bottom - HEIGHT * share / highest;
            drawing.line("grid", [left, height(mark)], [right, height(mark)]);
            drawing.text("muted", Anchor::End, left - 6.0, height(mark) + 4.0, &mark_label);
            let edge = |k: usize| range.place(bins.low + bins.width * k as f64, left, right);
            if let (Some(first), Some(last)) =
                (shares.iter().position(|s| *s > 0.0), shares.iter().rposition(|s| *s > 0.0))
            {
                let mut outline = vec![[edge(first), bottom]];
                for (k, share) in shares.iter().enumerate().take(last + 1).skip(first) {
                    outline.extend([[edge(k), height(*share)], [edge(k + 1), height(*share)]]);
                }
                outline.push([edge(last + 1), bottom]);
                drawing.path("area", &(path(&outline) + "Z"), "none");
                let x = range.place(middle, left, right);
                drawing.line("whisker", [x, bottom - 5.0], [x, bottom + 5.0]);
            }
            drawing.line("axis", [left, bottom], [right, bottom]);
            drawing.close();
            drawing.height = bottom + 12.0;
        }
        let bottom = drawing.height - 9.0;
        let label = format!("{} (bins of {})", self.label, short(bins.width));
        drawing.height = axis_below(&mut drawing, &ticks, &label, left, bottom, width);
        drawing
    }

    pub(super) fn words(&self) -> String {
        let one = |sample: &Sample| {
            let known = sample.known();
            match known.is_empty() {
                true => format!("{} without data", sample.name),
                false => format!(
                    "{}, {}, median {}, from {} to {}",
                    sample.name,
                    sample.count(&known),
                    short(median(&known)),
                    short(known[0]),
                    short(known[known.len() - 1])
                ),
            }
        };
        let samples: Vec<String> = self.samples.iter().map(one).collect();
        format!("{}, {}: {}.", self.title, self.label, samples.join("; "))
    }
}
