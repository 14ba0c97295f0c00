//! A chart: panels in a grid, with a legend above where lines need one.
//!
//! [`Chart::svg`] is a file of its own: on paper white, every colour spelt out, no variables, no outside resource. A
//! [page](crate::Page) draws the same panels for two widths. Panels flow into as many columns as have room, evenly: four panels
//! are two rows of two, not three and one. [`Chart::svg_in_columns`] says how many stand in a row, so that a row is a domain and a
//! column a metric: the sheet grows as wide as they need, and names that all panels share stand once, at the left.
//!
//! ```
//! use restive_report::{Bars, Chart};
//!
//! let nothing = Chart::Bars(Bars { title: "Nothing <yet>".into(), panels: vec![] });
//! let svg = nothing.svg();
//! assert!(svg.contains("no data") && svg.contains("Nothing &lt;yet&gt;"));
//! ```

use crate::bars::Bars;
use crate::curves::{Curves, Entry};
use crate::distribution::Distribution;
use crate::draw::{Anchor, Drawing, escape, fit, path, width_of};
use crate::frame::{Shape, no_data, title_lines};
use crate::ink::chart_css_on_paper;
use serde::{Deserialize, Serialize};

/// One chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Chart {
    /// lines with bands
    Curves(Curves),
    /// estimates with intervals
    Bars(Bars),
    /// histograms
    Distribution(Distribution),
}

/// The width of a chart on a desk and in a file.
pub(super) const WIDE: f64 = 720.0;
/// The width of a chart on a phone.
pub(super) const NARROW: f64 = 340.0;
/// Between panels.
const GAP: [f64; 2] = [28.0, 22.0];
/// Around a file.
const MARGIN: f64 = 16.0;
/// The most that names may take left of a grid.
const NAMES: f64 = 190.0;

/// How panels are laid out.
struct Layout {
    columns: usize,
    /// the width of a panel
    each: f64,
    /// the width of names that stand left of all panels
    names: Option<f64>,
    /// of everything
    width: f64,
}

impl Chart {
    /// What the chart shows.
    pub fn title(&self) -> &str {
        match self {
            Chart::Curves(chart) => &chart.title,
            Chart::Bars(chart) => &chart.title,
            Chart::Distribution(chart) => &chart.title,
        }
    }

    /// A file of its own, in light colours.
    pub fn svg(&self) -> String {
        self.sheet(&self.flow(WIDE))
    }

    /// A file of its own with that many panels in each row, all of the same width.
    pub fn svg_in_columns(&self, columns: usize) -> String {
        self.sheet(&self.grid(columns.max(1)))
    }

    fn sheet(&self, layout: &Layout) -> String {
        let drawn = self.draw(layout);
        let mut sheet = Drawing::default();
        let mut top = MARGIN;
        if !self.title().is_empty() {
            sheet.text("heading", Anchor::Start, MARGIN, top + 13.0, &fit(self.title(), layout.width / 1.4));
            top += 34.0;
        }
        sheet.place(MARGIN, top, &drawn);
        let (width, height) = ((layout.width + 2.0 * MARGIN).ceil(), (top + drawn.height + MARGIN).ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <style>\n{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}\n</svg>\n",
            escape(self.title()),
            escape(self.title()),
            escape(&self.words()),
            chart_css_on_paper(),
            sheet.body
        )
    }

    /// For a page that has the styles: once for each of two widths.
    pub(super) fn fragments(&self) -> String {
        let one = |class: &str, width: f64| {
            let drawn = self.draw(&self.flow(width));
            format!(
                "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"{}\"><desc>{}</desc>{}</svg>\n",
                drawn.height.ceil(),
                escape(self.title()),
                escape(&self.words()),
                drawn.body
            )
        };
        one("wide", WIDE) + &one("narrow", NARROW)
    }

    /// What the chart shows, to be changed.
    pub fn title_mut(&mut self) -> &mut String {
        match self {
            Chart::Curves(chart) => &mut chart.title,
            Chart::Bars(chart) => &mut chart.title,
            Chart::Distribution(chart) => &mut chart.title,
        }
    }

    /// Panels, the least width of one, and what a legend names.
    fn parts(&self) -> (usize, f64, Vec<Entry<'_>>) {
        match self {
            Chart::Curves(chart) => (chart.panels.len(), Curves::LEAST, chart.legend()),
            Chart::Bars(chart) => (chart.panels.len(), Bars::LEAST, Vec::new()),
            Chart::Distribution(chart) => (chart.panels.len(), Distribution::LEAST, Vec::new()),
        }
    }

    /// As many columns as have room in that width.
    fn flow(&self, width: f64) -> Layout {
        let (panels, least, _) = self.parts();
        let most = (((width + GAP[0]) / (least + GAP[0])) as usize).clamp(1, panels.max(1));
        let columns = panels.div_ceil(panels.div_ceil(most).max(1)).max(1);
        Layout { columns, each: share(width, columns), names: None, width }
    }

    /// As much width as that many columns need, but no less than a file has anyway.
    fn grid(&self, columns: usize) -> Layout {
        let (_, least, _) = self.parts();
        let (names, least) = match self {
            Chart::Bars(chart) if columns > 1 && chart.have_the_same_rows(columns) => {
                let names = chart.panels.iter().map(|panel| panel.width_of_names(NAMES)).reduce(f64::max);
                (names, Bars::LEAST_WITHOUT_NAMES)
            }
            _ => (None, least),
        };
        let beside = names.map_or(0.0, |names| names + 10.0);
        let width = (beside + columns as f64 * (least + GAP[0]) - GAP[0]).max(WIDE);
        Layout { columns, each: share(width - beside, columns), names, width }
    }

    fn draw(&self, layout: &Layout) -> Drawing {
        let (panels, _, entries) = self.parts();
        let mut sheet = Drawing::default();
        if panels == 0 {
            return no_data(sheet, layout.width);
        }
        legend(&mut sheet, &entries, layout.width);
        let mut shape = Shape { width: layout.each, title: 0, names: layout.names };
        let left = layout.names.map_or(0.0, |names| names + 10.0);
        for first in (0..panels).step_by(layout.columns) {
            let row = first..panels.min(first + layout.columns);
            shape.title =
                row.clone().map(|k| title_lines(self.title_of(k), layout.each).len()).max().unwrap_or(0);
            let top = sheet.height + if first > 0 { GAP[1] } else { 0.0 };
            if let (Chart::Bars(chart), Some(names)) = (self, layout.names) {
                sheet.place(0.0, top, &chart.panels[first].draw_names(names, &shape));
            }
            for (column, k) in row.enumerate() {
                let panel = self.panel(k, &shape);
                sheet.place(left + (layout.each + GAP[0]) * column as f64, top, &panel);
                sheet.height = sheet.height.max(top + panel.height);
            }
        }
        sheet
    }

    fn title_of(&self, k: usize) -> &str {
        match self {
            Chart::Curves(chart) => &chart.panels[k].title,
            Chart::Bars(chart) => &chart.panels[k].title,
            Chart::Distribution(chart) => &chart.panels[k].title,
        }
    }

    fn panel(&self, k: usize, shape: &Shape) -> Drawing {
        match self {
            Chart::Curves(chart) => chart.panels[k].draw(shape),
            Chart::Bars(chart) => chart.panels[k].draw(shape),
            Chart::Distribution(chart) => chart.panels[k].draw(shape),
        }
    }

    /// For readers who do not see the drawing.
    fn words(&self) -> String {
        let words: Vec<String> = match self {
            Chart::Curves(chart) => chart.panels.iter().map(|panel| panel.words()).collect(),
            Chart::Bars(chart) => chart.panels.iter().map(|panel| panel.words()).collect(),
            Chart::Distribution(chart) => chart.panels.iter().map(|panel| panel.words()).collect(),
        };
        words.join(" ")
    }
}

/// What each of so many columns has of a width.
fn share(width: f64, columns: usize) -> f64 {
    (width - GAP[0] * (columns - 1) as f64) / columns as f64
}

/// A line, a shape and a name each, in as many rows as they need.
fn legend(sheet: &mut Drawing, entries: &[Entry<'_>], width: f64) {
    const SWATCH: f64 = 34.0;
    let (mut x, mut y) = (0.0, 0.0);
    for Entry { name, ink, is_measured } in entries {
        let label = fit(name, width - SWATCH);
        let wide = SWATCH + width_of(&label) + 20.0;
        if x > 0.0 && x + wide - 20.0 > width {
            (x, y) = (0.0, y + 20.0);
        }
        sheet.open(ink.class(), if label == *name { "" } else { name });
        let sample = path(&[[x, y + 8.0], [x + 28.0, y + 8.0]]);
        if *is_measured {
            sheet.path("line", &sample, ink.dash());
            sheet.mark(*ink, [x + 14.0, y + 8.0]);
        } else {
            sheet.path("more", &sample, "none");
        }
        sheet.text("", Anchor::Start, x + SWATCH, y + 12.0, &label);
        sheet.close();
        x += wide;
    }
    if !entries.is_empty() {
        sheet.height += y + 30.0;
    }
}
