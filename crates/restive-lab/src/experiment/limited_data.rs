//! `limited-data`: what training through the decision gains over two-stage training when few trajectories were logged.
//!
//! Training and validation instances keep their first J trajectories; the test log keeps all. Every number of trajectories of a
//! run meets the same instances, the same seed and the same noise. With one trajectory importance sampling becomes its
//! segmented variant.

use super::page::{aligned, difference, figure, mean, tested, tested_columns, text, with_reach};
use super::rows::{Key, Row, Rows, distinct, runs};
use super::units::{Settings, Unit};
use super::{Asked, Experiment, Shares, Shown};
use crate::learn;
use crate::trial::{Start, Trial, means};
use crate::{DomainName, Method, Metric, Regime};
use restive::Instance;
use restive::instance::Parts;
use restive_report::table::{Cell, Column, Row as Line, Table};
use restive_report::{Axis, Block, Chart, Curves, Ink, Section, curves};

pub(super) const EXPERIMENT: Experiment =
    Experiment { name: "limited-data", axis: Some("trajectories"), units, compute, owns: |_| true, show };

/// J
const TRAJECTORIES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Soft, as published; strict, on counted and on true transitions.
const METRICS: [Metric; 4] = [Metric::Is, Metric::Simulated, Metric::StrictSimulated, Metric::StrictTrue];

/// Two-state, or those of the synthetic domains that were asked for.
fn units(asked: &Asked) -> Vec<Unit> {
    let is_ours = |name: &DomainName| match asked.is_selected {
        true => *name != DomainName::Maternal,
        false => *name == DomainName::TwoState,
    };
    let runs = |name| asked.units_of("limited-data", name);
    asked.problems.iter().map(|problem| problem.name()).filter(is_ours).flat_map(runs).collect()
}

/// The instances with their first trajectories only.
fn with_first(instances: &[Instance], trajectories: usize) -> restive::Result<Vec<Instance>> {
    let shorter = |instance: &Instance| {
        let log = instance.trajectories();
        let first: Vec<usize> = (0..trajectories.min(log.trajectories())).collect();
        Instance::new(Parts { trajectories: log.select(&first), ..instance.parts().clone() })
    };
    instances.iter().map(shorter).collect()
}

fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(unit.regime);
    let seed = asked.settings.run_seed(unit.run);
    let [train, validation, test] = problem.parts(seed)?;
    let trials = Trial::all(problem, &test, Start::AsLogged, seed)?;
    let mut rows = Rows::new(unit, seed);
    for (k, j) in TRAJECTORIES.into_iter().enumerate() {
        let both = [with_first(&train, j)?, with_first(&validation, j)?];
        for trained in learn::profile(asked.settings.profile, problem, seed, [&both[0], &both[1]])? {
            let predict = |trial: &Trial<'_>| trial.predict(&trained.predictor);
            let worth =
                means(&trials, METRICS, |trial| trial.answer(predict(trial).view(), trained.discount));
            for (metric, value) in METRICS.into_iter().zip(worth) {
                rows.push(trained.method, metric, j as f64, value);
            }
        }
        shares((k + 1) as f64 / TRAJECTORIES.len() as f64);
    }
    Ok(rows.finish())
}

/// Decision-focused and two-stage training with so many trajectories.
fn pair(regime: Regime, metric: Metric, trajectories: usize) -> [Key; 2] {
    let [two_stage, focused] =
        Method::PROFILE.map(|method| Key::new(regime, method, metric).at(trajectories as f64));
    [focused, two_stage]
}

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let line = |regime, metric| curves::Line {
        name: "decision-focused − two-stage".into(),
        ink: Ink::Orange,
        points: TRAJECTORIES.map(|j| (j as f64, difference(rows, pair(regime, metric, j)))).into(),
        continued: Vec::new(),
    };
    let panel = |regime: Regime, metric: Metric| {
        let policy = match metric {
            Metric::StrictSimulated | Metric::StrictTrue => "strict",
            _ => "soft",
        };
        curves::Panel {
            title: format!("{}: {metric}, {policy}", regime.name()),
            x: Axis::log("trajectories"),
            y: Axis::linear("reward more than two-stage"),
            lines: vec![line(regime, metric)],
        }
    };
    let panels = regimes.iter().flat_map(|regime| METRICS.map(|metric| panel(*regime, metric))).collect();
    let title = "Decision-focused less two-stage, by trajectories to learn from";
    let chart = Chart::Curves(Curves { title: title.into(), panels });
    let mut blocks = vec![text(about(settings, rows)), figure(&chart)];
    blocks.extend(regimes.iter().map(|regime| Block::Table(tests(rows, *regime))));
    Shown {
        section: Section { heading: "Few trajectories to learn from".into(), blocks },
        figure: (chart, Some(2)),
        text: words(rows, &regimes),
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    let runs = runs(rows);
    format!(
        "{runs} runs with the profile {}. Training and validation instances keep their first 1 to 100 trajectories; the test log keeps \
         all. Differences are paired by run, bands are 95 %. is and simulated: the soft policy, as published; strict_simulated and \
         strict_true: the strict top K, on transitions counted in the test log and on the true ones. With one trajectory the \
         training's importance sampling is the segmented variant.",
        settings.profile.name()
    )
}

fn tests(rows: &[Row], regime: Regime) -> Table {
    let mut lines = Vec::new();
    for metric in METRICS {
        for j in TRAJECTORIES {
            let keys = pair(regime, metric, j);
            if let Some(cells) = tested(rows, keys) {
                let two_stage = Cell::Estimate(mean(rows, keys[1]));
                let names = [Cell::text(metric.to_string()), Cell::text(j.to_string()), two_stage];
                lines.push(Line::new(names.into_iter().chain(cells).collect()));
            }
        }
    }
    let mut columns =
        vec![Column::text("metric"), Column::text("trajectories"), Column::number("two-stage", 1)];
    columns.extend(tested_columns("difference, mean"));
    let caption = format!("{}: paired differences, with Student's and Wilcoxon's tests", regime.name());
    Table { caption, columns, rows: lines }
}

fn words(rows: &[Row], regimes: &[Regime]) -> String {
    let mut text = String::from("decision-focused less two-stage, by trajectories\n");
    for regime in regimes {
        text += &(aligned(regime.name(), 14, METRICS.map(|metric| metric.to_string()), 18) + "\n");
        for j in TRAJECTORIES {
            let gains = METRICS.map(|metric| with_reach(difference(rows, pair(*regime, metric, j))));
            text += &(aligned(&j.to_string(), 14, gains, 18) + "\n");
        }
    }
    text
}
