//! What the joint baselines are worth, as a figure, tables and tests.

use super::value::TEMPERATURES;
use super::{PLANNERS, REGIME};
use crate::experiment::Shown;
use crate::experiment::page::{
    aligned, difference, figure, interval, mean, shares, tested, tested_columns, text,
};
use crate::experiment::rows::{Key, Row, runs, values};
use crate::experiment::units::Settings;
use crate::{Method, Metric};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Bars, Block, Chart, Interval, Section, bars};

/// Whose differences to the joint baselines are tested.
const OURS: [Method; 2] = [Method::DecisionFocused, Method::DecisionFocusedRecommended];

pub(crate) fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let is_lost = |row: &&Row| row.key.metric == Metric::IsNotConverged && row.value > 0.0;
    let not_converged = rows.iter().filter(is_lost).count();
    let runs = runs(rows);
    let chart = chart(rows);
    let about = format!(
        "{runs} runs on the two-state domain with five arms of which one is pulled: 7 instances to train on, 2 to test. Values are exact: \
         dynamic programming over the 32 joint states on the true transitions, nine steps, uniform start. Indices are deployed strictly, \
         joint plans greedily. The joint baselines have the published network, epochs, learning rate and weights (0.9 value, 0.1 loss), \
         and a temperature of their own, of which the whole sweep is shown: the warmer the plan, the less its value says and the more the \
         loss decides, so that a warm one is close to two-stage training. Of the joint trainings {not_converged} met a plan or a gradient that \
         was not found. The other trainings have the profile {}. Intervals are 95 % over the runs.",
        settings.profile.name()
    );
    let blocks = vec![text(about), figure(&chart), Block::Table(values_of(rows)), Block::Table(tests(rows))];
    Shown {
        section: Section { heading: "What the joint baselines learn".into(), blocks },
        figure: (chart, Some(2)),
        text: words(rows),
    }
}

/// The exact value of a method, at a temperature where it has one.
fn exact(method: Method, temperature: f64) -> Key {
    Key::new(REGIME, method, Metric::Exact).at(temperature)
}

/// The same where there is none.
fn untempered(method: Method) -> Key {
    exact(method, f64::NAN)
}

/// Everything that has a value, in the order of the table: a joint baseline at a temperature is a method of its own.
fn entries(rows: &[Row]) -> Vec<Key> {
    let mut found: Vec<Key> = Vec::new();
    for key in rows.iter().map(|row| row.key).filter(|key| key.metric == Metric::Exact) {
        let is_same = |other: &Key| other.method == key.method && other.at.to_bits() == key.at.to_bits();
        if !found.iter().any(is_same) {
            found.push(key);
        }
    }
    found
}

fn name(key: &Key) -> String {
    let method = key.method.name();
    if key.at.is_nan() { method.into() } else { format!("{method} at {}", key.at) }
}

/// The share of the way from random to the optimum, by run.
fn share(rows: &[Row], key: Key) -> Vec<f64> {
    shares(rows, key, [Method::Random, Method::Optimum].map(untempered))
}

fn more_than_random(rows: &[Row], key: Key) -> Interval {
    difference(rows, [key, untempered(Method::Random)])
}

fn chart(rows: &[Row]) -> Chart {
    let [two_stage, focused] = Method::PROFILE;
    let [converged, recommended] = Method::RECOMMENDED;
    let indices = [two_stage, focused, converged, recommended].map(untempered).to_vec();
    let joint = |k: usize| TEMPERATURES.map(|temperature| exact(PLANNERS[k].0, temperature)).to_vec();
    let truth = [Method::Oracle, Method::OracleMatched, Method::JointOracle].map(untempered).to_vec();
    let groups = [
        ("Whittle indices, learnt", indices),
        ("joint plan, implicit", joint(0)),
        ("joint plan, unrolled", joint(1)),
        ("true transitions", truth),
    ];
    let panel = |is_share: bool| {
        let row = |key: &Key| bars::Row {
            // the group says which plan
            name: if key.at.is_nan() { name(key) } else { format!("temperature {}", key.at) },
            ink: key.method.ink(),
            value: if is_share { interval(&share(rows, *key)) } else { more_than_random(rows, *key) },
        };
        let is_there = |key: &&Key| !values(rows, **key).is_empty();
        bars::Panel {
            title: if is_share { "share of the way".into() } else { "exact value".into() },
            label: match is_share {
                true => "% of the way from random to the optimum".into(),
                false => "more than random, nine steps".into(),
            },
            base: Some(0.0),
            groups: (groups.iter())
                .map(|(name, keys)| bars::Group {
                    name: name.to_string(),
                    rows: keys.iter().filter(is_there).map(row).collect(),
                })
                .collect(),
        }
    };
    let title = "What the joint baselines learn, beside Whittle indices (N = 5, K = 1)";
    Chart::Bars(Bars { title: title.into(), panels: vec![panel(false), panel(true)] })
}

fn values_of(rows: &[Row]) -> Table {
    let line = |key: Key| {
        let numbers = [mean(rows, key), more_than_random(rows, key), interval(&share(rows, key))];
        Line::new(std::iter::once(Cell::text(name(&key))).chain(numbers.map(Cell::Estimate)).collect())
    };
    Table {
        caption: "Exact values of nine steps, means over the runs; joint baselines by temperature".into(),
        columns: vec![
            Column::text("method"),
            Column::number("value", 2),
            Column::number("more than random", 2),
            Column::number("% of the way from random to the optimum", 1),
        ],
        rows: entries(rows).into_iter().map(line).collect(),
    }
}

/// Ours against every temperature of both baselines.
fn tests(rows: &[Row]) -> Table {
    let mut lines = Vec::new();
    for ours in OURS {
        for (planner, _) in PLANNERS {
            for temperature in TEMPERATURES {
                let other = exact(planner, temperature);
                if let Some(cells) = tested(rows, [untempered(ours), other]) {
                    let names = Cell::text(format!("{} − {}", ours.name(), name(&other)));
                    lines.push(Line::new(std::iter::once(names).chain(cells).collect()));
                }
            }
        }
    }
    let mut columns = vec![Column::text("difference of exact values")];
    columns.extend(tested_columns("mean"));
    let caption = "Ours against the joint baselines, paired by run: one test for each temperature, not corrected for their number";
    Table { caption: caption.into(), columns, rows: lines }
}

fn words(rows: &[Row]) -> String {
    let mut out = format!("exact values, five arms\n{:<30}{:>10}{:>14}\n", "", "value", "% to optimum");
    for key in entries(rows) {
        let line = aligned(&name(&key), 30, [fixed(mean(rows, key).value, 2)], 10);
        out += &format!("{line}{:>14}\n", fixed(interval(&share(rows, key)).value, 1));
    }
    out
}
