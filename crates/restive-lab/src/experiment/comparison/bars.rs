//! `bars`: what every method is worth, by the published metrics and as deployed, with paired tests and the published figures
//! beside ours.

use super::effect;
use super::published::{DIFFERENCES, FIGURES, METHODS};
use crate::experiment::page::{
    aligned, difference, differences, figure, interval, mean, shares, tested, tested_columns, text,
    with_error, with_reach,
};
use crate::experiment::rows::{Key, Row, distinct, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::{Method, Metric, Regime};
use restive_pipeline::Profile;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Bars, Block, Chart, Interval, Section, bars};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bars",
    axis: None,
    units: effect::units_too,
    compute: effect::compute_too,
    owns: |key| key.at.is_nan() && METRICS.contains(&key.metric),
    show,
};

const METRICS: [Metric; 5] = Metric::WORTH;
/// In figures: without what is a control or a bound of its own.
pub(super) const SHOWN: [Method; 7] = [
    Method::Random,
    Method::TwoStage,
    Method::DecisionFocused,
    Method::TwoStageRecommended,
    Method::DecisionFocusedRecommended,
    Method::TwoStageEffect,
    Method::Oracle,
];
/// Whose differences are tested.
const PAIRS: [[Method; 2]; 5] = [
    [Method::DecisionFocused, Method::TwoStage],
    [Method::DecisionFocused, Method::Oracle],
    [Method::DecisionFocusedShuffled, Method::TwoStage],
    [Method::DecisionFocusedRecommended, Method::TwoStageRecommended],
    [Method::TwoStageEffect, Method::TwoStageRecommended],
];

/// What is known to make our figures others than the published ones.
const WHY_OTHER: &str = "\
    What differs from the published code: indices are exact, with exact gradients, where that code halves an interval ten times (a fifth \
    of its collapsing indices are off by more than 0.001); simulated K-subsets have exactly the policy's inclusion probabilities, where \
    that code's are off by up to 0.22; weights start from generators of our own; instances are other draws of the same domains. Random \
    is the random policy here and the untrained network there, but for the loss. Which of these moves which figure was not taken \
    apart.";

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let mut blocks = vec![text(about(settings, rows))];
    let chart = chart(rows, &regimes);
    blocks.push(figure(&chart));
    for regime in &regimes {
        blocks.extend([values_of(rows, *regime), gains(rows, *regime)].map(Block::Table));
    }
    blocks.extend(PAIRS.into_iter().filter_map(|pair| tests(rows, &regimes, pair)).map(Block::Table));
    if settings.profile == Profile::Published {
        blocks.push(Block::Table(beside(rows, &regimes)));
        blocks.push(text(WHY_OTHER));
    }
    Shown {
        section: Section { heading: "What every method is worth".into(), blocks },
        figure: (chart, Some(METRICS.len())),
        text: words(rows, &regimes),
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    let runs = runs(rows);
    format!(
        "{runs} runs with the profile {}. loss: predictive loss per trajectory. is and simulated: the soft policy, as published. \
         strict_simulated and strict_true: the strict top K, on transitions counted in the test log and on the true ones; the last is what a \
         programme would get. Intervals are 95 % over the runs, differences are paired by run.",
        settings.profile.name()
    )
}

/// More than no action, which pulls nobody.
fn gain(rows: &[Row], key: Key) -> Interval {
    difference(rows, [key, key.method(Method::NoAction)])
}

/// The share of the way from random to oracle of a method by a metric.
fn share(rows: &[Row], key: Key) -> Interval {
    let way = [Method::Random, Method::Oracle].map(|method| key.method(method));
    // a way that leads nowhere has no shares
    let leads = differences(rows, [way[1], way[0]]).iter().all(|lead| *lead > 0.0);
    interval(&if leads { shares(rows, key, way) } else { Vec::new() })
}

fn chart(rows: &[Row], regimes: &[Regime]) -> Chart {
    let panel = |regime: Regime, metric: Metric| {
        let is_loss = metric == Metric::Loss;
        let row = |method: Method| {
            let key = Key::new(regime, method, metric);
            let value = if is_loss { mean(rows, key) } else { gain(rows, key) };
            bars::Row { name: method.name().into(), ink: method.ink(), value }
        };
        let is_there = |method: &Method| !values(rows, Key::new(regime, *method, metric)).is_empty();
        bars::Panel {
            title: format!("{}: {metric}", regime.name()),
            label: if is_loss { "nats per trajectory".into() } else { "more than no action".into() },
            base: (!is_loss).then_some(0.0),
            groups: vec![bars::Group {
                name: String::new(),
                rows: SHOWN.into_iter().filter(is_there).map(row).collect(),
            }],
        }
    };
    let panels = regimes.iter().flat_map(|regime| METRICS.map(|metric| panel(*regime, metric))).collect();
    Chart::Bars(Bars { title: "Loss, and improvement over no action".into(), panels })
}

/// Whether a method was run there.
fn is_there(rows: &[Row], regime: Regime, method: &Method) -> bool {
    !values(rows, Key::new(regime, *method, Metric::StrictTrue)).is_empty()
}

fn values_of(rows: &[Row], regime: Regime) -> Table {
    let mut columns = vec![Column::text("method")];
    columns.extend(METRICS.map(|metric| Column::number(metric.to_string(), 1)));
    let line = |method: &Method| {
        let mut cells = vec![Cell::text(method.name())];
        cells.extend(METRICS.map(|metric| Cell::Estimate(mean(rows, Key::new(regime, *method, metric)))));
        Line::new(cells)
    };
    let methods = distinct(rows, |key| key.method);
    Table {
        caption: format!("{}: means over the runs", regime.name()),
        columns,
        rows: methods.iter().filter(|method| is_there(rows, regime, method)).map(line).collect(),
    }
}

/// Improvements over no action, and shares of the way from random to oracle, by every metric of reward.
fn gains(rows: &[Row], regime: Regime) -> Table {
    let of_reward = &METRICS[1..];
    let mut columns = vec![Column::text("method")];
    columns.extend(of_reward.iter().map(|metric| Column::number(metric.to_string(), 1)));
    columns.extend(of_reward.iter().map(|metric| Column::number(format!("{metric}, %"), 1)));
    let line = |method: &Method| {
        let key = |metric: &Metric| Key::new(regime, *method, *metric);
        let mut cells = vec![Cell::text(method.name())];
        cells.extend(of_reward.iter().map(|metric| Cell::Estimate(gain(rows, key(metric)))));
        cells.extend(of_reward.iter().map(|metric| Cell::Estimate(share(rows, key(metric)))));
        Line::new(cells)
    };
    Table {
        caption: format!("{}: more than no action, and % of the way from random to oracle", regime.name()),
        columns,
        rows: SHOWN.iter().filter(|method| is_there(rows, regime, method)).map(line).collect(),
    }
}

/// The paired differences of two methods; nothing where they were not run.
fn tests(rows: &[Row], regimes: &[Regime], [method, to]: [Method; 2]) -> Option<Table> {
    let mut lines = Vec::new();
    for regime in regimes {
        for metric in METRICS {
            let key = Key::new(*regime, method, metric);
            if let Some(cells) = tested(rows, [key, key.method(to)]) {
                let names = [Cell::text(regime.name()), Cell::text(metric.to_string())];
                lines.push(Line::new(names.into_iter().chain(cells).collect()));
            }
        }
    }
    let mut columns = vec![Column::text("domain"), Column::text("metric")];
    columns.extend(tested_columns("mean difference"));
    let (method, to) = (method.name(), to.name());
    let caption = format!("{method} less {to}: paired by run, with Student's and Wilcoxon's tests");
    (!lines.is_empty()).then_some(Table { caption, columns, rows: lines })
}

/// Our figures beside the published ones.
fn beside(rows: &[Row], regimes: &[Regime]) -> Table {
    let mut lines = Vec::new();
    for (domain, metric, figures) in FIGURES {
        let regime = Regime::from(domain);
        if !regimes.contains(&regime) {
            continue;
        }
        let cells = |method: &str, published: String, ours: Vec<f64>| {
            let ours = with_error(&ours, 2);
            [domain.name(), &metric.to_string(), method, &published, &ours].map(Cell::text).to_vec()
        };
        for (method, (mean, error)) in METHODS.into_iter().zip(figures) {
            let ours = values(rows, Key::new(regime, method, metric));
            lines.push(Line::new(cells(method.name(), format!("{mean} ± {error}"), ours)));
        }
        if let Some((_, _, (mean, error))) = DIFFERENCES.iter().find(|(d, m, _)| (*d, *m) == (domain, metric))
        {
            let ours = PAIRS[0].map(|method| Key::new(regime, method, metric));
            let (name, published) = ("decision-focused − two-stage", format!("{mean:+} ± {error}"));
            lines.push(Line::highlighted(cells(name, published, differences(rows, ours))));
        }
    }
    let columns = ["domain", "metric", "method", "published", "ours"].map(Column::text).into();
    let caption = "Beside the published figures (mean ± standard error). The maternal programme is synthetic here: its sizes can be \
                   compared, not its numbers";
    Table { caption: caption.into(), columns, rows: lines }
}

fn words(rows: &[Row], regimes: &[Regime]) -> String {
    let mut text = String::new();
    for regime in regimes {
        let header = METRICS.map(|metric| metric.to_string()).into_iter().chain(["% to oracle".into()]);
        text += &format!("{}\n{}\n", regime.name(), aligned("", 30, header, 18));
        for method in SHOWN.iter().filter(|method| is_there(rows, *regime, method)) {
            let key = |metric| Key::new(*regime, *method, metric);
            let worth = METRICS.map(|metric| mean(rows, key(metric)));
            let cells = worth.into_iter().chain([share(rows, key(Metric::StrictTrue))]).map(with_reach);
            text += &(aligned(method.name(), 30, cells, 18) + "\n");
        }
        text.push('\n');
    }
    text
}
