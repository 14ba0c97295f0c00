//! `metric`: what the published metric measures. A constant is added to all indices of a method and nothing else changes: the
//! strict policy pulls whom it pulled, while the soft metric moves. Beside it stands how methods rank by either.

use super::bars::SHOWN;
use super::curves::line;
use super::effect;
use crate::experiment::page::{interval, text};
use crate::experiment::rows::{Row, names, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown, comparison, page};
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Axis, Block, Chart, Curves, Section, curves};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "metric",
    axis: Some("constant"),
    units: effect::units_too,
    compute: effect::compute_too,
    owns: |row| {
        let is_final = row.at.is_nan() && RANKED.contains(&row.metric.as_str());
        comparison::SHIFTED.contains(&row.metric.as_str()) || is_final
    },
    show,
};

/// The published metric, and what a programme would get.
const RANKED: [&str; 2] = ["is", "strict_true"];

fn show(_: &Settings, rows: &[Row]) -> Shown {
    let methods = ["two-stage", "decision-focused"];
    let domains = names(rows, |row| &row.domain);
    let panel = |domain: &&str| curves::Panel {
        title: domain.to_string(),
        x: Axis::linear("constant added to all indices"),
        y: Axis::linear("reward (is, soft)"),
        lines: methods.map(|method| line(rows, domain, method, comparison::SHIFTED[0])).into(),
    };
    let panels = domains.iter().map(panel).collect();
    let chart = Chart::Curves(Curves { title: "What the published metric measures".into(), panels });
    let changed: f64 =
        rows.iter().filter(|row| row.metric == comparison::SHIFTED[1]).map(|row| row.value).sum();
    let moved = |domain: &str| {
        let at = |constant: f64| -> Vec<f64> {
            let is_it = |row: &&Row| {
                row.domain == domain
                    && row.method == "two-stage"
                    && row.metric == comparison::SHIFTED[0]
                    && row.at == constant
            };
            rows.iter().filter(is_it).map(|row| row.value).collect()
        };
        let places = names_of_constants(rows);
        let best = places.iter().map(|c| interval(&at(*c)).value).fold(f64::NEG_INFINITY, f64::max);
        best - interval(&at(0.0)).value
    };
    let said: Vec<String> =
        domains.iter().map(|domain| format!("{domain} {}", fixed(moved(domain), 1))).collect();
    let about = format!(
        "A constant is added to all indices and nothing else changes. The ranking is the same: of all strict pulls in the logged states {changed:.0} \
         changed. The soft metric moves all the same, because its temperature is tied to the size of the indices: by the best constant \
         two-stage gains {}. A method can win this metric without ranking arms better.",
        said.join(", ")
    );
    Shown {
        section: Section {
            heading: "What the published metric measures".into(),
            blocks: vec![text(about), page::figure(&chart), Block::Table(ranks(rows, &domains))],
        },
        figure: (chart, None),
        text: String::new(),
    }
}

fn names_of_constants(rows: &[Row]) -> Vec<f64> {
    let mut places: Vec<f64> = rows.iter().map(|row| row.at).filter(|at| !at.is_nan()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The methods of every domain by the published metric and as deployed, the best first.
fn ranks(rows: &[Row], domains: &[&str]) -> Table {
    let ranked = |domain: &str, metric: &str| {
        let mean = |method: &str| interval(&values(rows, domain, method, metric)).value;
        let there = SHOWN.iter().filter(|method| !values(rows, domain, method, metric).is_empty());
        let mut all: Vec<(&str, f64)> = there.map(|method| (*method, mean(method))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    };
    let mut lines = Vec::new();
    for domain in domains {
        let [soft, strict] = RANKED.map(|metric| ranked(domain, metric));
        for (rank, ((first, is), (second, value))) in soft.into_iter().zip(strict).enumerate() {
            lines.push(Line::new(vec![
                Cell::text(*domain),
                Cell::text((rank + 1).to_string()),
                Cell::text(first),
                Cell::Number(is),
                Cell::text(second),
                Cell::Number(value),
            ]));
        }
    }
    let columns = vec![
        Column::text("domain"),
        Column::text("rank"),
        Column::text("by the published metric (is, soft)"),
        Column::number("is", 1),
        Column::text("as deployed (strict, true transitions)"),
        Column::number("strict_true", 1),
    ];
    Table { caption: "How the methods rank by either: means over the runs".into(), columns, rows: lines }
}
