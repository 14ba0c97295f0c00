//! `bars`: what every method is worth, by the published metrics and as deployed, with paired tests and the published figures
//! beside ours.

use super::effect;
use super::published::{DIFFERENCES, FIGURES, METHODS};
use crate::experiment::page::{difference, ink, interval, p_value, paired, text, with_error};
use crate::experiment::rows::{Row, names, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown, page};
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Bars, Block, Chart, Interval, Section, bars};
use restive::statistics::{paired_t, wilcoxon};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bars",
    axis: None,
    units: effect::units_too,
    compute: effect::compute_too,
    owns: |row| row.at.is_nan() && METRICS.contains(&row.metric.as_str()),
    show,
};

const METRICS: [&str; 5] = ["loss", "is", "simulated", "strict_simulated", "strict_true"];
/// In figures: without what is a control or a bound of its own.
pub(crate) const SHOWN: [&str; 7] = [
    "random",
    "two-stage",
    "decision-focused",
    "two-stage-recommended",
    "decision-focused-recommended",
    effect::METHOD,
    "oracle",
];
/// Whose differences are tested.
const PAIRS: [[&str; 2]; 5] = [
    ["decision-focused", "two-stage"],
    ["decision-focused", "oracle"],
    ["decision-focused-shuffled", "two-stage"],
    ["decision-focused-recommended", "two-stage-recommended"],
    [effect::METHOD, "two-stage-recommended"],
];

/// What is known to make our figures others than the published ones.
const WHY_OTHER: &str = "\
    What differs from the published code: indices are exact, with exact gradients, where that code halves an interval ten times (a fifth \
    of its collapsing indices are off by more than 0.001); simulated K-subsets have exactly the policy's inclusion probabilities, where \
    that code's are off by up to 0.22; weights start from generators of our own; instances are other draws of the same domains. Random \
    is the random policy here and the untrained network there, but for the loss. Which of these moves which figure was not taken \
    apart.";

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let domains = names(rows, |row| &row.domain);
    let mut blocks = vec![text(about(settings, rows))];
    let chart = chart(rows, &domains);
    blocks.push(page::figure(&chart));
    for domain in &domains {
        blocks.extend([values_of(rows, domain), gains(rows, domain)].map(Block::Table));
    }
    blocks.extend(PAIRS.into_iter().filter_map(|pair| tests(rows, &domains, pair)).map(Block::Table));
    if settings.profile == "published" {
        blocks.push(Block::Table(beside(rows, &domains)));
        blocks.push(text(WHY_OTHER));
    }
    Shown {
        section: Section { heading: "What every method is worth".into(), blocks },
        figure: (chart, Some(METRICS.len())),
        text: words(rows, &domains),
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    let runs = runs(rows);
    format!(
        "{runs} runs with the profile {}. loss: predictive loss per trajectory. is and simulated: the soft policy, as published. \
         strict_simulated and strict_true: the strict top K, on transitions counted in the test log and on the true ones; the last is what a \
         programme would get. Intervals are 95 % over the runs, differences are paired by run.",
        settings.profile
    )
}

/// The share of the way from random to oracle of a method by a metric, by run.
fn shares(rows: &[Row], domain: &str, method: &str, metric: &str) -> Vec<f64> {
    let of = |method| paired(rows, domain, [method, "random"], metric);
    let [own, random] = of(method);
    let [oracle, _] = of("oracle");
    if random.iter().zip(&oracle).any(|(random, oracle)| oracle <= random) {
        return Vec::new(); // a way that leads nowhere has no shares
    }
    let all = own.iter().zip(&random).zip(&oracle);
    all.map(|((own, random), oracle)| 100.0 * (own - random) / (oracle - random)).collect()
}

fn chart(rows: &[Row], domains: &[&str]) -> Chart {
    let panel = |domain: &str, metric: &str| {
        let is_loss = metric == "loss";
        let row = |method: &&str| bars::Row {
            name: method.to_string(),
            ink: ink(method),
            value: match is_loss {
                true => interval(&values(rows, domain, method, metric)),
                false => difference(rows, domain, [method, "no-action"], metric),
            },
        };
        let there = SHOWN.iter().filter(|method| !values(rows, domain, method, metric).is_empty());
        bars::Panel {
            title: format!("{domain}: {metric}"),
            label: if is_loss { "nats per trajectory".into() } else { "more than no action".into() },
            base: (!is_loss).then_some(0.0),
            groups: vec![bars::Group {
                name: String::new(),
                rows: there.map(row).collect(),
                references: Vec::new(),
            }],
        }
    };
    let panels = domains.iter().flat_map(|domain| METRICS.map(|metric| panel(domain, metric))).collect();
    Chart::Bars(Bars { title: "Loss, and improvement over no action".into(), panels })
}

fn values_of(rows: &[Row], domain: &str) -> Table {
    let mut columns = vec![Column::text("method")];
    columns.extend(METRICS.map(|metric| Column::number(metric, 1)));
    let line = |method: &&str| {
        let mut cells = vec![Cell::text(*method)];
        cells.extend(METRICS.map(|metric| Cell::Estimate(interval(&values(rows, domain, method, metric)))));
        Line::new(cells)
    };
    let methods: Vec<&str> = names(rows, |row| &row.method);
    Table {
        caption: format!("{domain}: means over the runs"),
        columns,
        rows: methods.iter().filter(|method| is_there(rows, domain, method)).map(line).collect(),
    }
}

/// Whether a method was run there.
fn is_there(rows: &[Row], domain: &str, method: &str) -> bool {
    !values(rows, domain, method, "strict_true").is_empty()
}

/// Improvements over no action, and shares of the way from random to oracle, by every metric of reward.
fn gains(rows: &[Row], domain: &str) -> Table {
    let of_reward = &METRICS[1..];
    let mut columns = vec![Column::text("method")];
    columns.extend(of_reward.iter().map(|metric| Column::number(*metric, 1)));
    columns.extend(of_reward.iter().map(|metric| Column::number(format!("{metric}, %"), 1)));
    let line = |method: &&str| {
        let mut cells = vec![Cell::text(*method)];
        let over = |metric: &&str| Cell::Estimate(difference(rows, domain, [method, "no-action"], metric));
        let share = |metric: &&str| Cell::Estimate(interval(&shares(rows, domain, method, metric)));
        cells.extend(of_reward.iter().map(over));
        cells.extend(of_reward.iter().map(share));
        Line::new(cells)
    };
    Table {
        caption: format!("{domain}: more than no action, and % of the way from random to oracle"),
        columns,
        rows: SHOWN.iter().filter(|method| is_there(rows, domain, method)).map(line).collect(),
    }
}

/// The paired differences of two methods; nothing where they were not run.
fn tests(rows: &[Row], domains: &[&str], pair: [&str; 2]) -> Option<Table> {
    let mut lines = Vec::new();
    for domain in domains {
        for metric in METRICS {
            let [first, second] = paired(rows, domain, pair, metric);
            if first.is_empty() {
                continue;
            }
            let t = paired_t(&first, &second).ok().map(|test| test.p);
            let w = wilcoxon(&first, &second).ok().map(|test| test.p);
            lines.push(Line::new(vec![
                Cell::text(*domain),
                Cell::text(metric),
                Cell::Estimate(difference(rows, domain, pair, metric)),
                Cell::text(p_value(t)),
                Cell::text(p_value(w)),
            ]));
        }
    }
    let columns = vec![
        Column::text("domain"),
        Column::text("metric"),
        Column::number("mean difference", 2),
        Column::text("p (t)"),
        Column::text("p (Wilcoxon)"),
    ];
    let [method, to] = pair;
    let caption = format!("{method} less {to}: paired by run, with Student's and Wilcoxon's tests");
    (!lines.is_empty()).then_some(Table { caption, columns, rows: lines })
}

/// Our figures beside the published ones.
fn beside(rows: &[Row], domains: &[&str]) -> Table {
    let mut lines = Vec::new();
    for (domain, metric, figures) in FIGURES.iter().filter(|(domain, ..)| domains.contains(domain)) {
        for (method, (mean, error)) in METHODS.iter().zip(figures) {
            lines.push(Line::new(vec![
                Cell::text(*domain),
                Cell::text(*metric),
                Cell::text(*method),
                Cell::text(format!("{mean} ± {error}")),
                Cell::text(with_error(&values(rows, domain, method, metric), 2)),
            ]));
        }
        if let Some((_, _, (mean, error))) = DIFFERENCES.iter().find(|(d, m, _)| d == domain && m == metric) {
            let [first, second] = paired(rows, domain, ["decision-focused", "two-stage"], metric);
            let ours: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
            lines.push(Line::highlighted(vec![
                Cell::text(*domain),
                Cell::text(*metric),
                Cell::text("decision-focused − two-stage"),
                Cell::text(format!("{mean:+} ± {error}")),
                Cell::text(with_error(&ours, 2)),
            ]));
        }
    }
    let columns = ["domain", "metric", "method", "published", "ours"].map(Column::text).into();
    let caption = "Beside the published figures (mean ± standard error). The maternal programme is synthetic here: its sizes can be \
                   compared, not its numbers";
    Table { caption: caption.into(), columns, rows: lines }
}

fn words(rows: &[Row], domains: &[&str]) -> String {
    let mut text = String::new();
    let shown = |interval: Interval| match interval.has_ends() {
        true => format!("{} ± {}", fixed(interval.value, 1), fixed(interval.high - interval.value, 1)),
        false => fixed(interval.value, 1),
    };
    for domain in domains {
        text += &format!("{domain}\n{:<30}", "");
        METRICS.iter().for_each(|metric| text += &format!("{metric:>18}"));
        text += &format!("{:>18}\n", "% to oracle");
        for method in SHOWN {
            if !is_there(rows, domain, method) {
                continue;
            }
            text += &format!("{method:<30}");
            for metric in METRICS {
                text += &format!("{:>18}", shown(interval(&values(rows, domain, method, metric))));
            }
            text += &format!("{:>18}\n", shown(interval(&shares(rows, domain, method, "strict_true"))));
        }
        text.push('\n');
    }
    text
}
