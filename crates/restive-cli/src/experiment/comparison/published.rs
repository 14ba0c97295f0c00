//! The published figures: test means and standard errors over 50 seeds, from the stored results of the authors' public research
//! code. The paper's bar chart shows the same numbers.

/// A mean and its standard error.
pub(crate) type Figure = (f64, f64);

/// (domain, metric, [random, two-stage, decision-focused]); "random" is the untrained network.
pub(crate) const FIGURES: [(&str, &str, [Figure; 3]); 12] = [
    ("two-state", "loss", [(624.4, 2.5), (433.8, 1.0), (453.2, 1.1)]),
    ("two-state", "is", [(320.0, 0.9), (334.7, 0.9), (345.9, 1.0)]),
    ("two-state", "simulated", [(320.5, 0.9), (335.4, 0.9), (348.4, 0.9)]),
    ("five-state", "loss", [(1450.5, 0.7), (1285.5, 0.9), (1306.4, 1.0)]),
    ("five-state", "is", [(360.7, 0.5), (362.4, 0.5), (363.1, 0.5)]),
    ("five-state", "simulated", [(360.5, 0.5), (362.4, 0.4), (363.5, 0.5)]),
    ("collapsing", "loss", [(124.7, 0.5), (92.9, 0.2), (115.3, 1.0)]),
    ("collapsing", "is", [(301.7, 1.1), (313.0, 1.2), (323.9, 1.2)]),
    ("collapsing", "simulated", [(301.8, 1.1), (314.3, 1.2), (324.8, 1.2)]),
    ("maternal", "loss", [(4384.0, 190.0), (1781.0, 4.0), (1889.0, 8.0)]),
    ("maternal", "is", [(1681.5, 4.2), (1679.9, 4.1), (1718.9, 4.3)]),
    ("maternal", "simulated", [(1716.6, 3.1), (1714.9, 3.0), (1733.8, 3.1)]),
];

/// (domain, metric, decision-focused less two-stage), paired by seed.
pub(crate) const DIFFERENCES: [(&str, &str, Figure); 8] = [
    ("two-state", "is", (11.2, 0.35)),
    ("two-state", "simulated", (13.0, 0.39)),
    ("five-state", "is", (0.71, 0.11)),
    ("five-state", "simulated", (0.97, 0.17)),
    ("collapsing", "is", (10.9, 0.46)),
    ("collapsing", "simulated", (10.5, 0.40)),
    ("maternal", "is", (39.0, 0.9)),
    ("maternal", "simulated", (18.9, 0.7)),
];

/// The methods of [`FIGURES`].
pub(crate) const METHODS: [&str; 3] = ["random", "two-stage", "decision-focused"];
