//! `metric`: what the published metric measures. A constant is added to all indices of a method and nothing else changes: the
//! strict policy pulls whom it pulled, while the soft metric moves. Beside it stands how methods rank by either.

use super::bars::SHOWN;
use super::{SHIFTED, effect};
use crate::experiment::page::{figure, line, mean, text};
use crate::experiment::rows::{Key, Row, distinct, places, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::{Method, Metric, Regime};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Axis, Block, Chart, Curves, Section, curves};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "metric",
    axis: Some("constant"),
    units: effect::units_too,
    compute: effect::compute_too,
    owns: |key| SHIFTED.contains(&key.metric) || key.at.is_nan() && RANKED.contains(&key.metric),
    show,
};

/// The published metric, and what a programme would get.
const RANKED: [Metric; 2] = [Metric::Is, Metric::StrictTrue];

fn show(_: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let panel = |regime: &Regime| curves::Panel {
        title: regime.name().into(),
        x: Axis::linear("constant added to all indices"),
        y: Axis::linear("reward (is, soft)"),
        lines: Method::PROFILE.map(|method| line(rows, Key::new(*regime, method, SHIFTED[0]))).into(),
    };
    let panels = regimes.iter().map(panel).collect();
    let chart = Chart::Curves(Curves { title: "What the published metric measures".into(), panels });
    let changed: f64 = rows.iter().filter(|row| row.key.metric == SHIFTED[1]).map(|row| row.value).sum();
    let moved = |regime: Regime| {
        let key = Key::new(regime, Method::TwoStage, SHIFTED[0]);
        let at = |constant: f64| mean(rows, key.at(constant)).value;
        places(rows, key).into_iter().map(at).fold(f64::NEG_INFINITY, f64::max) - at(0.0)
    };
    let said: Vec<String> =
        regimes.iter().map(|regime| format!("{} {}", regime.name(), fixed(moved(*regime), 1))).collect();
    let about = format!(
        "A constant is added to all indices and nothing else changes. The ranking is the same: of all strict pulls in the logged states {changed:.0} \
         changed. The soft metric moves all the same, because its temperature is tied to the size of the indices: by the best constant \
         two-stage gains {}. A method can win this metric without ranking arms better.",
        said.join(", ")
    );
    Shown {
        section: Section {
            heading: "What the published metric measures".into(),
            blocks: vec![text(about), figure(&chart), Block::Table(ranks(rows, &regimes))],
        },
        figure: (chart, None),
        text: String::new(),
    }
}

/// The methods of every domain by the published metric and as deployed, the best first.
fn ranks(rows: &[Row], regimes: &[Regime]) -> Table {
    let ranked = |regime: Regime, metric: Metric| {
        let key = |method| Key::new(regime, method, metric);
        let there = SHOWN.into_iter().filter(|method| !values(rows, key(*method)).is_empty());
        let mut all: Vec<(Method, f64)> =
            there.map(|method| (method, mean(rows, key(method)).value)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    };
    let mut lines = Vec::new();
    for regime in regimes {
        let [soft, strict] = RANKED.map(|metric| ranked(*regime, metric));
        for (rank, ((first, is), (second, value))) in soft.into_iter().zip(strict).enumerate() {
            lines.push(Line::new(vec![
                Cell::text(regime.name()),
                Cell::text((rank + 1).to_string()),
                Cell::text(first.name()),
                Cell::Number(is),
                Cell::text(second.name()),
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
