//! A chart: panels in a grid, with a legend above where lines need one.
//!
//! [`Chart::svg`] is a file of its own: on paper white, every colour spelt out, no variables, no outside resource. A
//! [page](super::Page) draws the same panels for two widths. Panels flow into as many columns as have room, evenly: four panels
//! are two rows of two, not three and one.
//!
//! ```
//! use restive::report::{Bars, Chart};
//!
//! let nothing = Chart::Bars(Bars { title: "Nothing <yet>".into(), panels: vec![] });
//! let svg = nothing.svg();
//! assert!(svg.contains("no data") && svg.contains("Nothing &lt;yet&gt;"));
//! ```

use super::bars::Bars;
use super::curves::Curves;
use super::distribution::Distribution;
use super::draw::{Anchor, Drawing, escape, fit, path, width_of};
use super::frame::no_data;
use super::ink::{Ink, chart_css_on_paper};

/// One chart.
#[derive(Debug, Clone, PartialEq)]
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
        let drawn = self.draw(WIDE);
        let mut sheet = Drawing::default();
        let mut top = MARGIN;
        if !self.title().is_empty() {
            sheet.text("title", Anchor::Start, MARGIN, top + 12.0, &fit(self.title(), WIDE / 1.2));
            top += 30.0;
        }
        sheet.place(MARGIN, top, &drawn);
        let (width, height) = (WIDE + 2.0 * MARGIN, (top + drawn.height + MARGIN).ceil());
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
            let drawn = self.draw(width);
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

    fn draw(&self, width: f64) -> Drawing {
        let (panels, least, entries) = match self {
            Chart::Curves(chart) => (chart.panels.len(), Curves::LEAST, chart.legend()),
            Chart::Bars(chart) => (chart.panels.len(), Bars::LEAST, Vec::new()),
            Chart::Distribution(chart) => (chart.panels.len(), Distribution::LEAST, Vec::new()),
        };
        let mut sheet = Drawing::default();
        if panels == 0 {
            return no_data(sheet, width);
        }
        legend(&mut sheet, &entries, width);
        let most = (((width + GAP[0]) / (least + GAP[0])) as usize).clamp(1, panels);
        let columns = panels.div_ceil(panels.div_ceil(most));
        let each = (width - GAP[0] * (columns - 1) as f64) / columns as f64;
        let panels: Vec<Drawing> = (0..panels).map(|k| self.panel(k, each)).collect();
        for (k, row) in panels.chunks(columns).enumerate() {
            let top = sheet.height + if k > 0 { GAP[1] } else { 0.0 };
            for (column, panel) in row.iter().enumerate() {
                sheet.place((each + GAP[0]) * column as f64, top, panel);
            }
            sheet.height = top + row.iter().map(|panel| panel.height).fold(0.0, f64::max);
        }
        sheet
    }

    fn panel(&self, k: usize, width: f64) -> Drawing {
        match self {
            Chart::Curves(chart) => chart.panels[k].draw(width),
            Chart::Bars(chart) => chart.panels[k].draw(width),
            Chart::Distribution(chart) => chart.panels[k].draw(width),
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

/// A line, a shape and a name each, in as many rows as they need.
fn legend(sheet: &mut Drawing, entries: &[(&str, Ink)], width: f64) {
    const SWATCH: f64 = 34.0;
    let (mut x, mut y) = (0.0, 0.0);
    for (name, ink) in entries {
        let label = fit(name, width - SWATCH);
        let wide = SWATCH + width_of(&label) + 20.0;
        if x > 0.0 && x + wide - 20.0 > width {
            (x, y) = (0.0, y + 20.0);
        }
        sheet.open(ink.class(), if label == *name { "" } else { name });
        sheet.path("line", &path(&[[x, y + 8.0], [x + 28.0, y + 8.0]]), ink.dash());
        sheet.mark(*ink, [x + 14.0, y + 8.0]);
        sheet.text("", Anchor::Start, x + SWATCH, y + 12.0, &label);
        sheet.close();
        x += wide;
    }
    if !entries.is_empty() {
        sheet.height += y + 30.0;
    }
}
