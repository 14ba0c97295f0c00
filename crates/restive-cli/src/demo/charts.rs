//! The charts of `restive demo`: learning curves, values with intervals, indices, and what a constant does to the metric.

use super::findings::{Findings, over_runs};
use crate::lab::compare::{CurvePoint, Method, Run};
use crate::lab::metrics::Metric;
use restive::report::{Axis, Bars, Chart, Curves, Distribution, Ink, Interval, bars, curves, distribution};

/// The two trainings as published, in the order of a run's curves.
const PUBLISHED: [Method; 2] = [Method::TwoStage, Method::DecisionFocused];

/// Those whose indices are shown.
pub(crate) const WITH_INDICES: [Method; 4] =
    [Method::Oracle, Method::TwoStage, Method::DecisionFocused, Method::DecisionFocusedRecommended];

/// A method keeps its ink through all charts.
fn ink(method: Method) -> Ink {
    match method {
        Method::Random => Ink::Grey,
        Method::TwoStage => Ink::Blue,
        Method::DecisionFocused => Ink::Orange,
        Method::TwoStageRecommended => Ink::Green,
        Method::DecisionFocusedRecommended => Ink::Purple,
        Method::Oracle => Ink::Black,
    }
}

/// A line through points that all runs have.
fn line<T>(
    findings: &Findings<'_>,
    method: Method,
    of: impl Fn(&Run) -> &Vec<T>,
    x: impl Fn(&T) -> f64,
    y: impl Fn(&T) -> f64,
) -> curves::Line {
    let shortest = findings.runs.iter().map(|run| of(run).len()).min().unwrap_or(0);
    let at = |k: usize| {
        let values: Vec<f64> = findings.runs.iter().map(|run| y(&of(run)[k])).collect();
        (x(&of(&findings.runs[0])[k]), over_runs(&values))
    };
    let points = (0..shortest).map(at).collect();
    curves::Line { name: method.words().into(), ink: ink(method), points, continued: vec![] }
}

/// Learning curves of the two trainings as published, on the test instances.
pub(crate) fn learning(findings: &Findings<'_>) -> Chart {
    let panel = |title: &str, label: &str, y: fn(&CurvePoint) -> f64| curves::Panel {
        title: title.into(),
        x: Axis::linear("epoch"),
        y: Axis::linear(label),
        lines: (0..2)
            .map(|k| line(findings, PUBLISHED[k], |run| &run.curves[k], |p| p.epoch as f64, y))
            .collect(),
    };
    Chart::Curves(Curves {
        title: "Learning curves on the test instances".into(),
        panels: vec![
            panel("Predictive loss", "nats per trajectory", |p| p.loss),
            panel("Soft policy, as published", "reward (is)", |p| p.is),
            panel("Strict policy, as deployed", "reward (true)", |p| p.strict_true),
        ],
    })
}

/// What each method gains over random pulls, softly and strictly.
pub(crate) fn gains(findings: &Findings<'_>) -> Chart {
    let panel = |metric: Metric, title: &str| bars::Panel {
        title: title.into(),
        label: "reward gained over random pulls".into(),
        base: Some(0.0),
        groups: vec![bars::Group {
            name: String::new(),
            rows: Method::ALL[1..]
                .iter()
                .map(|method| bars::Row {
                    name: method.words().into(),
                    ink: ink(*method),
                    value: findings.difference(*method, Method::Random, metric),
                })
                .collect(),
            references: vec![],
        }],
    };
    Chart::Bars(Bars {
        title: format!("Gain over random pulls, {} domain", findings.name),
        panels: vec![
            panel(Metric::Is, "Soft policy, as published (is)"),
            panel(Metric::StrictTrue, "Strict policy, as deployed"),
        ],
    })
}

/// All indices of the first test instance of the first run.
pub(crate) fn indices(findings: &Findings<'_>) -> Chart {
    let sample = |method: Method| {
        let numbers = findings.runs[0].index[method as usize - 1].clone();
        let name = match method {
            Method::Oracle => "true",
            Method::DecisionFocusedRecommended => "recommended",
            published => published.name(),
        };
        distribution::Sample { name: name.into(), ink: ink(method), numbers }
    };
    Chart::Distribution(Distribution {
        title: "How the indices are distributed".into(),
        panels: vec![distribution::Panel {
            title: String::new(),
            label: "Whittle index, discount 0.99".into(),
            samples: WITH_INDICES.map(sample).into(),
        }],
    })
}

/// The published metric when a constant is added to all indices.
pub(crate) fn shifts(findings: &Findings<'_>) -> Chart {
    let lines = (0..2).map(|k| line(findings, PUBLISHED[k], |run| &run.shifted[k], |p| p.constant, |p| p.is));
    Chart::Curves(Curves {
        title: "The same decisions, other scores".into(),
        panels: vec![curves::Panel {
            title: String::new(),
            x: Axis::linear("constant added to all indices"),
            y: Axis::linear("soft policy, as published (is)"),
            lines: lines.collect(),
        }],
    })
}

/// From the lowest to the highest mean that constants lead to, of a training as published.
pub(crate) fn reach(findings: &Findings<'_>, k: usize) -> Interval {
    let means = line(findings, PUBLISHED[k], |run| &run.shifted[k], |p| p.constant, |p| p.is).points;
    let all = || means.iter().map(|(_, mean)| mean.value);
    Interval::new(
        findings.of(PUBLISHED[k], Metric::Is).value,
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    )
}
