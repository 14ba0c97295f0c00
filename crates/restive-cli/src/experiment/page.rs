//! The report: one page with a section for every experiment, and what sections share.

use super::rows::Row;
use super::units::Settings;
use restive::report::number::fixed;
use restive::report::{Block, Chart, Ink, Interval, Page, Section};
use restive::statistics;
use std::path::Path;

/// Writes report.html.
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
    Ok(restive_tables::write_files(&[(folder.join("report.html"), page.html().as_bytes())])?)
}

/// A mean over runs with its 95 % interval; without one where there is a single run.
pub(super) fn interval(values: &[f64]) -> Interval {
    match (statistics::mean(values), values) {
        (Ok(mean), _) => Interval::new(mean.mean, mean.low, mean.high),
        (Err(_), [one]) => Interval::bare(*one),
        (Err(_), _) => Interval::bare(f64::NAN),
    }
}

/// Values of two methods, paired by run.
pub(super) fn paired(rows: &[Row], domain: &str, methods: [&str; 2], metric: &str) -> [Vec<f64>; 2] {
    let mut pairs = [Vec::new(), Vec::new()];
    let find = |method: &str, run: usize| {
        let is_it = |row: &&Row| {
            row.run == run && row.domain == domain && row.method == method && row.metric == metric
        };
        rows.iter().find(is_it).map(|row| row.value)
    };
    let runs =
        rows.iter().filter(|row| row.domain == domain && row.method == methods[0] && row.metric == metric);
    for row in runs {
        if let Some(other) = find(methods[1], row.run) {
            pairs[0].push(row.value);
            pairs[1].push(other);
        }
    }
    pairs
}

/// The mean of paired differences with its interval.
pub(super) fn difference(rows: &[Row], domain: &str, methods: [&str; 2], metric: &str) -> Interval {
    let [first, second] = paired(rows, domain, methods, metric);
    interval(&first.iter().zip(&second).map(|(a, b)| a - b).collect::<Vec<_>>())
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

/// A p-value in few characters.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".into(),
        Some(p) if p < 1e-4 => "< 0.0001".into(),
        Some(p) => format!("{p:.4}"),
    }
}

/// A method keeps its ink through all figures.
pub(super) fn ink(method: &str) -> Ink {
    match method {
        "two-stage" => Ink::Blue,
        "decision-focused" => Ink::Orange,
        "two-stage-recommended" | "two-stage-effect" => Ink::Green,
        "decision-focused-recommended" => Ink::Purple,
        "oracle" => Ink::Black,
        _ => Ink::Grey,
    }
}

pub(super) fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

/// A chart in a section; its title is the caption.
pub(super) fn figure(chart: &Chart) -> Block {
    Block::Figure { chart: chart.clone(), caption: String::new() }
}
