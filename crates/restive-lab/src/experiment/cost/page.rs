//! Costs as they are shown: the fastest steps in a double-logarithmic figure and a table, with the paper's theoretical line.

use super::{Contender, HORIZON, Race, TRAJECTORIES, fastest, limit};
use crate::experiment::Shown;
use crate::experiment::page::{self, text};
use crate::experiment::rows::{Key, Row, places, values};
use crate::experiment::units::Settings;
use crate::{Metric, Regime};
use restive::training::Value;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Axis, Block, Chart, Curves, Ink, Interval, Section, curves};

/// The exponent of matrix multiplication in the theoretical cost O(N·M^(ω+1)): that of elimination.
const OMEGA: f64 = 3.0;
const THEORY: &str = "theory";

/// The fastest steps of a contender, by rising size.
fn points(rows: &[Row], contender: Contender) -> Vec<(f64, Interval)> {
    let key = Key::new(Regime::Random, contender.method(), Metric::Seconds);
    let at = |size: f64| (size, Interval::bare(fastest(&values(rows, key.at(size)))));
    places(rows, key).into_iter().map(at).collect()
}

/// The slope of ln seconds by ln size over the last decade that was measured; none with fewer than two sizes.
fn exponent(points: &[(f64, Interval)]) -> Option<f64> {
    let last = points.last()?.0;
    // sizes are whole: a decade is a decade
    let (x, y): (Vec<f64>, Vec<f64>) = points
        .iter()
        .filter(|(size, _)| 10.0 * size >= last)
        .map(|(size, seconds)| (size.ln(), seconds.value.ln()))
        .unzip();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let (above, below) =
        x.iter().zip(&y).fold((0.0, 0.0), |(a, b), (x, y)| (a + (x - mx) * (y - my), b + (x - mx).powi(2)));
    (below > 0.0).then(|| above / below)
}

pub(crate) fn show(race: &Race, settings: &Settings, rows: &[Row]) -> Shown {
    let (sizes, limit) = ((race.sizes)(settings), limit(settings));
    let largest = sizes.last().copied().unwrap_or(0) as f64;
    let power = race.power + if race.has_omega { OMEGA } else { 0.0 };
    let mut lines: Vec<curves::Line> = (race.contenders.iter())
        .map(|contender| {
            let points = points(rows, *contender);
            let continued = match (points.last(), exponent(&points)) {
                (Some(&(from, seconds)), Some(exponent)) if seconds.value > limit && from < largest => {
                    vec![(from, seconds.value), (largest, seconds.value * (largest / from).powf(exponent))]
                }
                _ => Vec::new(),
            };
            let method = contender.method();
            curves::Line { name: method.name().into(), ink: method.ink(), points, continued }
        })
        .collect();
    if let Some(&(from, seconds)) = points(rows, Contender::Bisection).first() {
        let continued = vec![(from, seconds.value), (largest, seconds.value * (largest / from).powf(power))];
        lines.push(curves::Line { name: THEORY.into(), ink: Ink::Black, points: Vec::new(), continued });
    }
    let panel = curves::Panel {
        title: String::new(),
        x: Axis::log(race.label),
        y: Axis::log("seconds per gradient step"),
        lines,
    };
    let chart = Chart::Curves(Curves { title: race.heading.into(), panels: vec![panel] });
    let table = table(race, settings, rows);
    Shown {
        section: Section {
            heading: race.heading.into(),
            blocks: vec![text(about(race, limit, power)), page::figure(&chart), Block::Table(table)],
        },
        figure: (chart, None),
        text: words(race, rows),
    }
}

fn about(race: &Race, limit: f64, power: f64) -> String {
    let letter = if race.has_omega { "M" } else { "N" };
    format!(
        "One step of decision-focused training of the published network (forward, indices, soft policy, value, and back) on {TRAJECTORIES} \
         trajectories of {HORIZON} decisions of random arms, one thread of this machine; the fastest of up to 11 steps. fast: exact indices, the published objective; fast-fluid and fast-decomposed: the same with the other values; \
         bisection: the published objective with indices by bisection over value iteration, which stops as early as the published code (to 2/1024, at most 100 sweeps a halving), and one linear \
         system per state, as in the paper. A contender stops after the first step of more than {limit} s and is continued, dotted, by the \
         exponent of its last decade. theory: the paper's O(N·M^(ω+1)) with ω = {OMEGA}, here {letter}^{power}, through the first point of \
         bisection; not a measurement. Of bisection most time goes into value iteration, O(M³) a halving of all states, not into \
         the systems that the theory counts."
    )
}

fn table(race: &Race, settings: &Settings, rows: &[Row]) -> Table {
    let mut columns = vec![Column::text(race.label)];
    columns.extend(race.contenders.iter().map(|contender| Column::text(contender.method().name())));
    columns.push(Column::text("bisection / fast"));
    let all: Vec<Vec<(f64, Interval)>> =
        race.contenders.iter().map(|contender| points(rows, *contender)).collect();
    let at = |points: &[(f64, Interval)], size: usize| {
        points.iter().find(|point| point.0 == size as f64).map(|point| point.1.value)
    };
    let line = |&size: &usize| {
        let mut cells = vec![Cell::text(size.to_string())];
        cells.extend(all.iter().map(|points| Cell::text(at(points, size).map_or("–".into(), duration))));
        let taken = |wanted: Contender| at(&points(rows, wanted), size);
        let times = taken(Contender::Bisection)
            .zip(taken(Contender::Fast(Value::Is)))
            .map(|(slow, fast)| slow / fast);
        cells.push(Cell::text(times.map_or("–".into(), |times| format!("{times:.0}"))));
        Line::new(cells)
    };
    let mut lines: Vec<Line> = (race.sizes)(settings).iter().map(line).collect();
    let mut last = vec![Cell::text("exponent of the last decade")];
    let words = |points: &Vec<(f64, Interval)>| exponent(points).map_or("–".into(), |x| format!("{x:.2}"));
    last.extend(all.iter().map(|points| Cell::text(words(points))));
    last.push(Cell::text(""));
    lines.push(Line::highlighted(last));
    Table { caption: "Time of a gradient step".into(), columns, rows: lines }
}

/// Seconds in three digits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (1e6 * s, "µs"),
        s if s < 1.0 => (1e3 * s, "ms"),
        s => (s, "s"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

fn words(race: &Race, rows: &[Row]) -> String {
    let mut text = format!("{}\n", race.heading);
    for contender in race.contenders {
        let points = points(rows, *contender);
        let Some((size, seconds)) = points.last() else { continue };
        let grows = exponent(&points).map_or(String::new(), |x| format!(", growing with power {x:.2}"));
        text +=
            &format!("{:<18}{:>10} at {size}{grows}\n", contender.method().name(), duration(seconds.value));
    }
    text
}
