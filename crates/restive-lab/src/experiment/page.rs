//! The report: one page with a section for every experiment, and what sections share.

use super::rows::{Key, Row, paired, places, values};
use super::units::Settings;
use restive::statistics::{self, paired_t, wilcoxon};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column};
use restive_report::{Block, Chart, Interval, Page, Section, curves};
use std::path::Path;

pub(super) const REPORT: &str = "report.html";

/// Writes the report.
pub(super) fn write(folder: &Path, settings: &Settings, sections: Vec<Section>) -> anyhow::Result<()> {
    let quick = if settings.is_quick { "A quick look: few runs, no claims. " } else { "" };
    let page = Page {
        title: "The experiments of the paper, run again".into(),
        verdict: format!(
            "{quick}Everything below was computed on this machine from synthetic data. Soft values are the published metrics; strict \
             values are what a programme would get."
        ),
        sections,
        footer: settings.words(),
    };
    Ok(restive_tables::write_files(&[(folder.join(REPORT), page.html().as_bytes())], Some(recognise))?)
}

/// Refuses a file that is no page of restive.
pub(super) fn recognise(path: &Path) -> restive_tables::Result<()> {
    restive_tables::recognise_bytes(path, "another page", "a report of restive", Page::recognises)
}

/// A mean over runs with its 95 % interval; without one where there is a single run.
pub(super) fn interval(values: &[f64]) -> Interval {
    match (statistics::mean(values), values) {
        (Ok(mean), _) => Interval::new(mean.mean, mean.low, mean.high),
        (Err(_), [one]) => Interval::bare(*one),
        (Err(_), _) => Interval::bare(f64::NAN),
    }
}

/// The mean of a key over the runs.
pub(super) fn mean(rows: &[Row], key: Key) -> Interval {
    interval(&values(rows, key))
}

/// Differences, paired by run.
pub(super) fn differences(rows: &[Row], keys: [Key; 2]) -> Vec<f64> {
    let [first, second] = paired(rows, keys);
    first.iter().zip(&second).map(|(a, b)| a - b).collect()
}

/// The mean of paired differences with its interval.
pub(super) fn difference(rows: &[Row], keys: [Key; 2]) -> Interval {
    interval(&differences(rows, keys))
}

/// The share of the way between two others, in %, by run.
pub(super) fn shares(rows: &[Row], own: Key, [from, to]: [Key; 2]) -> Vec<f64> {
    let [own, from, to] = paired(rows, [own, from, to]);
    let all = own.iter().zip(&from).zip(&to);
    all.map(|((own, from), to)| 100.0 * (own - from) / (to - from)).collect()
}

/// The p-values of Student's and Wilcoxon's tests of paired values, as cells.
pub(super) fn p_values(first: &[f64], second: &[f64]) -> [Cell; 2] {
    let t = paired_t(first, second).ok().map(|test| test.p);
    let w = wilcoxon(first, second).ok().map(|test| test.p);
    [t, w].map(|p| Cell::text(p_value(p)))
}

/// A paired difference as cells: mean, and both tests; nothing where there is none.
pub(super) fn tested(rows: &[Row], keys: [Key; 2]) -> Option<[Cell; 3]> {
    let [first, second] = paired(rows, keys);
    let [t, w] = p_values(&first, &second);
    (!first.is_empty()).then(|| [Cell::Estimate(difference(rows, keys)), t, w])
}

/// The columns of [`tested`].
pub(super) fn tested_columns(mean: &str) -> [Column; 3] {
    [Column::number(mean, 2), Column::text("p (t)"), Column::text("p (Wilcoxon)")]
}

/// A p-value in few characters.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".into(),
        Some(p) if p < 1e-4 => "< 0.0001".into(),
        Some(p) => format!("{p:.4}"),
    }
}

/// A mean with its standard error; without one where there is a single run.
pub(super) fn with_error(values: &[f64], decimals: usize) -> String {
    match (statistics::mean(values), values) {
        (Ok(mean), _) => {
            format!("{} ± {}", fixed(mean.mean, decimals), fixed(mean.standard_error, decimals))
        }
        (Err(_), [one]) => fixed(*one, decimals),
        (Err(_), _) => "–".into(),
    }
}

/// A mean and how far its interval reaches.
pub(super) fn with_reach(interval: Interval) -> String {
    match interval.has_ends() {
        true => format!("{} ± {}", fixed(interval.value, 1), fixed(interval.high - interval.value, 1)),
        false => fixed(interval.value, 1),
    }
}

/// A line of a table for the terminal: a name to the left, cells to the right.
pub(super) fn aligned(
    name: &str,
    width: usize,
    cells: impl IntoIterator<Item = String>,
    cell_width: usize,
) -> String {
    let mut line = format!("{name:<width$}");
    cells.into_iter().for_each(|cell| line += &format!("{cell:>cell_width$}"));
    line
}

/// A method's metric against the axis, over the runs.
pub(super) fn line(rows: &[Row], key: Key) -> curves::Line {
    let points = places(rows, key).into_iter().map(|place| (place, mean(rows, key.at(place)))).collect();
    let (name, ink) = (key.method.name().into(), key.method.ink());
    curves::Line { name, ink, points, continued: Vec::new() }
}

pub(super) fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

/// A chart in a section; its title is the caption.
pub(super) fn figure(chart: &Chart) -> Block {
    Block::Figure { chart: chart.clone(), caption: String::new() }
}
