//! `baselines`: seconds of one gradient step against N, of the two baselines on the joint problem and of ours.
//!
//! | method | |
//! |---|---|
//! | `implicit` | through the fixed point of the soft Bellman equation over M^N joint states (Wang et al. 2021) |
//! | `unrolled` | through ten unrolled sweeps of soft planning (POPCORN, Futoma et al. 2020) |
//! | `decision-focused` | ours: through Whittle indices, the published objective |
//!
//! One two-state instance with K = 1 and 100 trajectories of 9 decisions, predictor included, at the parameters of two-stage training. A
//! joint planner stops where a step passes [`SLOWEST`] seconds or does not fit; then it is continued by what one more arm costs.
//! What the learnt policies are worth is in [`self::value`].

mod show;
pub(crate) mod value;

use crate::experiment::page::{self, text};
use crate::experiment::rows::{Key, Row, Rows, places, values};
use crate::experiment::units::{Settings, Unit};
use crate::experiment::{Asked, Experiment, Shares, Shown};
use crate::{DomainName, Method, Metric, Regime};
use restive::Error;
use restive::data::domain::Domain;
use restive::joint::{Cost, JointSettings, JointTask, Limit, Planner};
use restive::training::{Config, Decision, DecisionFocused, fit};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Axis, Block, Chart, Curves, Section, curves};
use std::time::Instant;

pub(crate) const EXPERIMENT: Experiment =
    Experiment { name: "baselines", axis: Some("arms"), units, compute, owns: |_| true, show };

/// The domain of both experiments.
pub(crate) const REGIME: Regime = Regime::TwoState;
/// The planners, by their names.
pub(crate) const PLANNERS: [(Method, Planner); 2] =
    [(Method::Implicit, Planner::Implicit), (Method::Unrolled, Planner::Unrolled { sweeps: 10 })];
const OURS: Method = Method::DecisionFocused;
const TIMED: [Method; 3] = [Method::Implicit, Method::Unrolled, OURS];
/// Seconds, and in a quick look.
const SLOWEST: [f64; 2] = [10.0, 0.5];
/// Where the paper's baselines fail.
const MOST: usize = 30;
const BUDGET: usize = 1;

pub(crate) fn is_asked(asked: &Asked) -> bool {
    asked.problems.iter().any(|problem| problem.name() == DomainName::TwoState)
}

/// One unit, so that nothing runs beside it.
fn units(asked: &Asked) -> Vec<Unit> {
    Unit::runs("baselines", REGIME, usize::from(is_asked(asked)), 1).collect()
}

fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let Settings { seed, is_quick, arms, .. } = asked.settings;
    let (slowest, most) = (SLOWEST[usize::from(is_quick)], arms.unwrap_or(MOST).min(MOST));
    let mut rows = Rows::new(unit, seed);
    let mut push = |method, metric, arms: usize, value: f64| rows.push(method, metric, arms as f64, value);
    let mut is_open = [true; 2];
    for n in 2..=most {
        let domain = Domain { instances: 1, arms: n, budget: BUDGET, ..Domain::two_state() };
        let all = domain.generate(seed)?;
        let network = fit(Config::published(), &all, &[])?.predictor;
        for ((method, planner), is_open) in PLANNERS.into_iter().zip(&mut is_open) {
            if !*is_open {
                continue;
            }
            match JointTask::new(&all[0], &JointSettings::published(planner)) {
                Ok(task) => {
                    let taken = seconds(is_quick, || drop(task.objective(&network)));
                    push(method, Metric::Seconds, n, taken);
                    *is_open = taken <= slowest;
                }
                Err(Error::TooLarge { .. }) => *is_open = false,
                Err(error) => return Err(error.into()),
            }
        }
        let decision = Decision::published(domain.horizon);
        let ours = DecisionFocused::new(Config::published(), decision, None, &all, &[])?;
        push(OURS, Metric::Seconds, n, seconds(is_quick, || drop(ours.objective(&network, 0, 0))));
        shares(f64::from(1 << n.min(18)) / f64::from(1 << most.min(18)));
    }
    for (method, planner) in PLANNERS {
        let refused = (2..64).find_map(|n| refusal(n, planner).map(|error| (n, error)));
        if let Some((n, Error::TooLarge { needed, limit, .. })) = refused {
            push(method, Metric::Refused, n, needed / limit);
        }
    }
    Ok(rows.finish())
}

/// Why so many arms do not fit.
fn refusal(arms: usize, planner: Planner) -> Option<Error> {
    Cost::new(arms, 2, BUDGET).check_step(planner, &Limit::default()).err()
}

/// The fastest of some repetitions.
fn seconds(is_quick: bool, mut step: impl FnMut()) -> f64 {
    let (mut best, begin) = (f64::INFINITY, Instant::now());
    loop {
        let start = Instant::now();
        step();
        best = best.min(start.elapsed().as_secs_f64());
        if begin.elapsed().as_secs_f64() > if is_quick { 0.02 } else { 0.5 } {
            return best;
        }
    }
}

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let most = arms(rows).into_iter().fold(0.0, f64::max);
    let mut said = Vec::new();
    let lines = TIMED.map(|method| {
        let mut line = page::line(rows, Key::new(REGIME, method, Metric::Seconds));
        line.name = match method {
            OURS => "decision-focused, by index (ours)".into(),
            _ => format!("joint, {}", method.name()),
        };
        let points: Vec<(f64, f64)> = line.points.iter().map(|(n, taken)| (*n, taken.value)).collect();
        if let Some((last, taken)) = points.last().copied().filter(|(n, _)| *n < most)
            && let Some(growth) = growth(&points)
        {
            let more = (0..=(most - last) as i32).map(|k| (last + f64::from(k), taken * growth.powi(k)));
            line.continued = more.collect();
            said.push(format!(
                "{} took {} s at {last} arms, and one more arm makes a step {} times as long",
                method.name(),
                fixed(taken, 1),
                fixed(growth, 2)
            ));
        }
        line
    });
    let panel = curves::Panel {
        title: String::new(),
        x: Axis::linear("arms"),
        y: Axis::log("seconds per gradient step"),
        lines: lines.into(),
    };
    let title = "Seconds per gradient step: the joint baselines and ours (two states, K = 1)";
    let chart = Chart::Curves(Curves { title: title.into(), panels: vec![panel] });
    let mut refused = Vec::new();
    for (method, planner) in PLANNERS {
        let arms = places(rows, Key::new(REGIME, method, Metric::Refused)).first().copied();
        let error = arms.and_then(|n| refusal(n as usize, planner));
        refused.extend(error.map(|error| format!("{}: {error}", method.name())));
    }
    let about = format!(
        "One gradient step on a two-state instance with 100 trajectories of 9 decisions, predictor included: the fastest of some \
         repetitions on this machine. implicit differentiates through the fixed point of the joint soft Bellman equation (Wang et al. 2021), \
         unrolled through ten sweeps of soft planning (POPCORN, Futoma et al. 2020), both over all joint states on one core; ours goes \
         through Whittle indices on all cores. A planner stops where a step passes {} s; dots continue it by its measured growth. {}.",
        SLOWEST[usize::from(settings.is_quick)],
        if said.is_empty() { "No planner stopped".into() } else { said.join("; ") },
    );
    let refused = format!("Joint problems that do not fit are refused. {}.", refused.join(". "));
    let text_lines = said.iter().chain([&refused]).map(|line| format!("{line}\n")).collect();
    Shown {
        section: Section {
            heading: "What the joint baselines cost".into(),
            blocks: vec![text(about), page::figure(&chart), text(refused), Block::Table(table(rows))],
        },
        figure: (chart, None),
        text: text_lines,
    }
}

/// How many times as long a step takes with one arm more, by least squares over the last five points.
fn growth(points: &[(f64, f64)]) -> Option<f64> {
    let last = &points[points.len().saturating_sub(5)..];
    let count = last.len() as f64;
    let mean = |part: &dyn Fn(&(f64, f64)) -> f64| last.iter().map(part).sum::<f64>() / count;
    let (n, log) = (mean(&|p| p.0), mean(&|p| p.1.ln()));
    let slope = mean(&|p| (p.0 - n) * (p.1.ln() - log)) / mean(&|p| (p.0 - n) * (p.0 - n));
    (last.len() > 1).then(|| slope.exp())
}

/// The numbers of arms with which steps were timed.
fn arms(rows: &[Row]) -> Vec<f64> {
    places(rows, Key::new(REGIME, OURS, Metric::Seconds))
}

fn table(rows: &[Row]) -> Table {
    let milliseconds = |method, n: f64| {
        let taken = values(rows, Key::new(REGIME, method, Metric::Seconds).at(n));
        taken.first().map_or(f64::NAN, |taken| 1000.0 * taken)
    };
    let line = |n: f64| {
        let cost = Cost::new(n as usize, 2, BUDGET);
        let mut cells = vec![Cell::text(n.to_string()), Cell::Number(cost.joint_states)];
        cells.extend(TIMED.map(|method| Cell::Number(milliseconds(method, n))));
        Line::new(cells)
    };
    let mut columns = vec![Column::text("arms"), Column::number("joint states", 0)];
    columns.extend(TIMED.map(|method| Column::number(format!("{}, ms", method.name()), 3)));
    let caption = "Milliseconds per gradient step".into();
    Table { caption, columns, rows: arms(rows).into_iter().map(line).collect() }
}
