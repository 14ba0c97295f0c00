//! `curves`: how the published metrics move on the test instances while both methods train.

use super::{ON_THE_WAY, SHIFTED, compute, units};
use crate::experiment::page::{figure, line, text};
use crate::experiment::rows::{Key, Row, distinct};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::{Method, Regime};
use restive_report::{Axis, Chart, Curves, Section, curves};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "curves",
    axis: Some("epoch"),
    units,
    compute,
    owns: |key| !key.at.is_nan() && !SHIFTED.contains(&key.metric),
    show,
};

/// What is on the axes of the metrics.
const LABELS: [&str; 3] = ["nats per trajectory", "reward (is)", "reward (simulated)"];

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let panel = |regime: Regime, k: usize| curves::Panel {
        title: format!("{}: {}", regime.name(), ON_THE_WAY[k]),
        x: Axis::linear("epoch"),
        y: Axis::linear(LABELS[k]),
        lines: Method::PROFILE.map(|method| line(rows, Key::new(regime, method, ON_THE_WAY[k]))).into(),
    };
    let regimes = distinct(rows, |key| key.regime);
    let panels = regimes.iter().flat_map(|regime| [0, 1, 2].map(|k| panel(*regime, k))).collect();
    let chart = Chart::Curves(Curves { title: "Learning curves on the test instances".into(), panels });
    let about = format!(
        "Both trainings with the profile {}, means over the runs with 95 % intervals. Epoch 0 is the untrained network where the \
         profile measures it.",
        settings.profile.name()
    );
    Shown {
        section: Section { heading: "Learning curves".into(), blocks: vec![text(about), figure(&chart)] },
        figure: (chart, Some(3)),
        text: String::new(),
    }
}
