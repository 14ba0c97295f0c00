//! `curves`: how the published metrics move on the test instances while both methods train.

use crate::experiment::page::{ink, interval, text};
use crate::experiment::rows::{Row, names};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown, comparison, page};
use restive::report::{Axis, Chart, Curves, Section, curves};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "curves",
    axis: Some("epoch"),
    units: comparison::units,
    compute: comparison::compute,
    owns: |row| !row.at.is_nan() && !comparison::SHIFTED.contains(&row.metric.as_str()),
    show,
};

/// The metrics, and what is on their axes.
const METRICS: [(&str, &str); 3] =
    [("loss", "nats per trajectory"), ("is", "reward (is)"), ("simulated", "reward (simulated)")];

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let panel = |domain: &str, (metric, label): (&str, &str)| curves::Panel {
        title: format!("{domain}: {metric}"),
        x: Axis::linear("epoch"),
        y: Axis::linear(label),
        lines: ["two-stage", "decision-focused"]
            .iter()
            .map(|method| line(rows, domain, method, metric))
            .collect(),
    };
    let domains = names(rows, |row| &row.domain);
    let panels = domains.iter().flat_map(|domain| METRICS.map(|metric| panel(domain, metric))).collect();
    let chart = Chart::Curves(Curves { title: "Learning curves on the test instances".into(), panels });
    let about = format!(
        "Both trainings with the profile {}, means over the runs with 95 % intervals. Epoch 0 is the untrained network where the \
         profile measures it.",
        settings.profile
    );
    Shown {
        section: Section {
            heading: "Learning curves".into(),
            blocks: vec![text(about), page::figure(&chart)],
        },
        figure: (chart, Some(3)),
        text: String::new(),
    }
}

/// A method's metric against the axis, over the runs.
pub(crate) fn line(rows: &[Row], domain: &str, method: &str, metric: &str) -> curves::Line {
    let own: Vec<&Row> = (rows.iter())
        .filter(|row| row.domain == domain && row.method == method && row.metric == metric)
        .collect();
    let mut places: Vec<f64> = own.iter().map(|row| row.at).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let at = |place: f64| {
        let values: Vec<f64> = own.iter().filter(|row| row.at == place).map(|row| row.value).collect();
        (place, interval(&values))
    };
    let points = places.into_iter().map(at).collect();
    curves::Line { name: method.into(), ink: ink(method), points, continued: Vec::new() }
}
