//! The charts of `restive demo`: learning curves, values with intervals, indices, and what a constant does to the metric.

use super::findings::{Findings, METHODS, over_runs};
use crate::compare::Comparison;
use crate::{Method, Metric};
use restive_report::{Axis, Bars, Chart, Curves, Distribution, Interval, bars, curves, distribution};

/// Those whose indices are shown.
pub(crate) const WITH_INDICES: [Method; 4] =
    [Method::Oracle, Method::TwoStage, Method::DecisionFocused, Method::DecisionFocusedRecommended];

/// A line through points that all runs have: `points` are those of a run.
fn line(
    findings: &Findings<'_>,
    method: Method,
    points: impl Fn(&Comparison) -> Vec<(f64, f64)>,
) -> curves::Line {
    let runs: Vec<Vec<(f64, f64)>> = findings.runs.iter().map(points).collect();
    let shortest = runs.iter().map(Vec::len).min().unwrap_or(0);
    let at = |k: usize| (runs[0][k].0, over_runs(&runs.iter().map(|run| run[k].1).collect::<Vec<_>>()));
    let points = (0..shortest).map(at).collect();
    curves::Line { name: method.words().into(), ink: method.ink(), points, continued: vec![] }
}

/// By what learning curves are drawn.
pub(crate) const ON_THE_WAY: [Metric; 3] = [Metric::Loss, Metric::Is, Metric::StrictTrue];

/// Learning curves of the two trainings as published, on the test instances.
pub(crate) fn learning(findings: &Findings<'_>) -> Chart {
    let curve = |method: Method, k: usize| {
        line(findings, method, |run| {
            let own = run.curve.iter().filter(|point| point.method == method);
            own.map(|point| (point.epoch as f64, point.values[k])).collect()
        })
    };
    let panel = |(k, title, label): (usize, &str, &str)| curves::Panel {
        title: title.into(),
        x: Axis::linear("epoch"),
        y: Axis::linear(label),
        lines: Method::PROFILE.map(|method| curve(method, k)).into(),
    };
    let panels = [
        (0, "Predictive loss", "nats per trajectory"),
        (1, "Soft policy, as published", "reward (is)"),
        (2, "Strict policy, as deployed", "reward (true)"),
    ];
    let title = "Learning curves on the test instances".into();
    Chart::Curves(Curves { title, panels: panels.map(panel).into() })
}

/// What each method gains over random pulls, softly and strictly.
pub(crate) fn gains(findings: &Findings<'_>) -> Chart {
    let panel = |metric: Metric, title: &str| bars::Panel {
        title: title.into(),
        label: "reward gained over random pulls".into(),
        base: Some(0.0),
        groups: vec![bars::Group {
            name: String::new(),
            rows: METHODS[1..]
                .iter()
                .map(|method| bars::Row {
                    name: method.words().into(),
                    ink: method.ink(),
                    value: findings.difference(*method, Method::Random, metric),
                })
                .collect(),
        }],
    };
    Chart::Bars(Bars {
        title: format!("Gain over random pulls, {} domain", findings.name.name()),
        panels: vec![
            panel(Metric::Is, "Soft policy, as published (is)"),
            panel(Metric::StrictTrue, "Strict policy, as deployed"),
        ],
    })
}

/// All indices of the first test instance of the first run.
pub(crate) fn indices(findings: &Findings<'_>) -> Chart {
    let sample = |(method, numbers): &(Method, Vec<f64>)| {
        let name = match method {
            Method::Oracle => "true",
            Method::DecisionFocusedRecommended => "recommended",
            published => published.name(),
        };
        distribution::Sample { name: name.into(), ink: method.ink(), numbers: numbers.clone() }
    };
    Chart::Distribution(Distribution {
        title: "How the indices are distributed".into(),
        panels: vec![distribution::Panel {
            title: String::new(),
            label: "Whittle index, discount 0.99".into(),
            samples: findings.index.iter().map(sample).collect(),
        }],
    })
}

/// The published metric of a training as published when a constant is added to all of its indices.
fn shifted(findings: &Findings<'_>, method: Method) -> curves::Line {
    line(findings, method, |run| {
        let own = run.shifted.iter().filter(|shifted| shifted.method == method);
        own.map(|shifted| (shifted.constant, shifted.is)).collect()
    })
}

/// Of both trainings.
pub(crate) fn shifts(findings: &Findings<'_>) -> Chart {
    Chart::Curves(Curves {
        title: "The same decisions, other scores".into(),
        panels: vec![curves::Panel {
            title: String::new(),
            x: Axis::linear("constant added to all indices"),
            y: Axis::linear("soft policy, as published (is)"),
            lines: Method::PROFILE.map(|method| shifted(findings, method)).into(),
        }],
    })
}

/// From the lowest to the highest mean that constants lead to, of a training as published.
pub(crate) fn reach(findings: &Findings<'_>, method: Method) -> Interval {
    let means = shifted(findings, method).points;
    let all = || means.iter().map(|(_, mean)| mean.value);
    Interval::new(
        findings.worth(method, Metric::Is).value,
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    )
}
