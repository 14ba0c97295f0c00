//! What the joint baselines are worth, as a figure, tables and tests.

use super::value::{METRICS, TEMPERATURES};
use super::{DOMAIN, PLANNERS};
use crate::experiment::comparison::RECOMMENDED;
use crate::experiment::page::{difference, ink, interval, p_value, paired, text};
use crate::experiment::rows::{Row, names, runs, values};
use crate::experiment::units::Settings;
use crate::experiment::{Shown, page};
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Bars, Block, Chart, Ink, Section, bars};
use restive::statistics::{paired_t, wilcoxon};

const EXACT: &str = METRICS[0];
const OURS: [&str; 2] = ["decision-focused", RECOMMENDED[1]];

pub(crate) fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let not_converged = rows.iter().filter(|row| row.metric == METRICS[1] && row.value > 0.0).count();
    let runs = runs(rows);
    let rows = &named(rows);
    let chart = chart(rows);
    let about = format!(
        "{runs} runs on the two-state domain with five arms of which one is pulled: 7 instances to train on, 2 to test. Values are exact: \
         dynamic programming over the 32 joint states on the true transitions, nine steps, uniform start. Indices are deployed strictly, \
         joint plans greedily. The joint baselines have the published network, epochs, learning rate and weights (0.9 value, 0.1 loss), \
         and a temperature of their own, of which the whole sweep is shown: the warmer the plan, the less its value says and the more the \
         loss decides, so that a warm one is close to two-stage training. Of the joint trainings {not_converged} met a plan or a gradient that \
         was not found. The other trainings have the profile {}. Intervals are 95 % over the runs.",
        settings.profile
    );
    let blocks =
        vec![text(about), page::figure(&chart), Block::Table(values_of(rows)), Block::Table(tests(rows))];
    Shown {
        section: Section { heading: "What the joint baselines learn".into(), blocks },
        figure: (chart, Some(2)),
        text: words(rows),
    }
}

/// A joint baseline at a temperature is a method of its own here.
fn named(rows: &[Row]) -> Vec<Row> {
    let one = |row: &Row| match row.at.is_nan() {
        true => row.clone(),
        false => Row { method: at(&row.method, row.at), ..row.clone() },
    };
    rows.iter().filter(|row| row.metric == EXACT).map(one).collect()
}

fn at(method: &str, temperature: f64) -> String {
    format!("{method} at {temperature}")
}

/// The share of the way from random to the optimum, by run.
fn shares(rows: &[Row], method: &str) -> Vec<f64> {
    let [own, random] = paired(rows, DOMAIN, [method, "random"], EXACT);
    let [best, _] = paired(rows, DOMAIN, ["optimum", "random"], EXACT);
    let all = own.iter().zip(&random).zip(&best);
    all.map(|((own, random), best)| 100.0 * (own - random) / (best - random)).collect()
}

fn chart(rows: &[Row]) -> Chart {
    let indices: Vec<String> =
        ["two-stage", OURS[0], RECOMMENDED[0], RECOMMENDED[1]].map(String::from).into();
    let joint = |k: usize| TEMPERATURES.map(|temperature| at(PLANNERS[k].0, temperature)).to_vec();
    let truth: Vec<String> = ["oracle", "oracle-matched", "joint-oracle"].map(String::from).into();
    let groups = [
        ("Whittle indices, learnt", indices, None),
        ("joint plan, implicit", joint(0), Some(Ink::Black)),
        ("joint plan, unrolled", joint(1), Some(Ink::Grey)),
        ("true transitions", truth, None),
    ];
    let panel = |is_share: bool| {
        let row = |method: &String, of: Option<Ink>| bars::Row {
            // "implicit at 0.1" stands under "implicit"
            name: method.split_once(" at ").map_or(method.clone(), |(_, t)| format!("temperature {t}")),
            ink: of.unwrap_or(ink(method)),
            value: match is_share {
                true => interval(&shares(rows, method)),
                false => difference(rows, DOMAIN, [method, "random"], EXACT),
            },
        };
        let there = |method: &&String| !values(rows, DOMAIN, method, EXACT).is_empty();
        bars::Panel {
            title: if is_share { "share of the way".into() } else { "exact value".into() },
            label: match is_share {
                true => "% of the way from random to the optimum".into(),
                false => "more than random, nine steps".into(),
            },
            base: Some(0.0),
            groups: (groups.iter())
                .map(|(name, methods, ink)| bars::Group {
                    name: name.to_string(),
                    rows: methods.iter().filter(there).map(|method| row(method, *ink)).collect(),
                    references: Vec::new(),
                })
                .collect(),
        }
    };
    let title = "What the joint baselines learn, beside Whittle indices (N = 5, K = 1)";
    Chart::Bars(Bars { title: title.into(), panels: vec![panel(false), panel(true)] })
}

fn values_of(rows: &[Row]) -> Table {
    let line = |method: &&str| {
        Line::new(vec![
            Cell::text(*method),
            Cell::Estimate(interval(&values(rows, DOMAIN, method, EXACT))),
            Cell::Estimate(difference(rows, DOMAIN, [method, "random"], EXACT)),
            Cell::Estimate(interval(&shares(rows, method))),
        ])
    };
    Table {
        caption: "Exact values of nine steps, means over the runs; joint baselines by temperature".into(),
        columns: vec![
            Column::text("method"),
            Column::number("value", 2),
            Column::number("more than random", 2),
            Column::number("% of the way from random to the optimum", 1),
        ],
        rows: names(rows, |row| &row.method).iter().map(line).collect(),
    }
}

/// Ours against every temperature of both baselines.
fn tests(rows: &[Row]) -> Table {
    let mut lines = Vec::new();
    for ours in OURS {
        for (planner, _) in PLANNERS {
            for temperature in TEMPERATURES {
                let other = at(planner, temperature);
                let [first, second] = paired(rows, DOMAIN, [ours, &other], EXACT);
                if first.is_empty() {
                    continue;
                }
                lines.push(Line::new(vec![
                    Cell::text(format!("{ours} − {other}")),
                    Cell::Estimate(difference(rows, DOMAIN, [ours, &other], EXACT)),
                    Cell::text(p_value(paired_t(&first, &second).ok().map(|test| test.p))),
                    Cell::text(p_value(wilcoxon(&first, &second).ok().map(|test| test.p))),
                ]));
            }
        }
    }
    let columns = vec![
        Column::text("difference of exact values"),
        Column::number("mean", 2),
        Column::text("p (t)"),
        Column::text("p (Wilcoxon)"),
    ];
    let caption = "Ours against the joint baselines, paired by run: one test for each temperature, not corrected for their number";
    Table { caption: caption.into(), columns, rows: lines }
}

fn words(rows: &[Row]) -> String {
    let mut out = format!("exact values, five arms\n{:<30}{:>10}{:>14}\n", "", "value", "% to optimum");
    for method in names(rows, |row| &row.method) {
        let [value, share] =
            [&values(rows, DOMAIN, method, EXACT), &shares(rows, method)].map(|all| interval(all).value);
        out += &format!("{method:<30}{:>10}{:>14}\n", fixed(value, 2), fixed(share, 1));
    }
    out
}
