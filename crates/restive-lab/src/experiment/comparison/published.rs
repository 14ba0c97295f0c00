//! The published figures: test means and standard errors over 50 seeds, from the stored results of the authors' public research
//! code. The paper's bar chart shows the same numbers.

use crate::{DomainName, Method, Metric};

/// A mean and its standard error.
pub(super) type Figure = (f64, f64);

/// (domain, metric, [random, two-stage, decision-focused]); "random" is the untrained network.
pub(super) const FIGURES: [(DomainName, Metric, [Figure; 3]); 12] = [
    (DomainName::TwoState, Metric::Loss, [(624.4, 2.5), (433.8, 1.0), (453.2, 1.1)]),
    (DomainName::TwoState, Metric::Is, [(320.0, 0.9), (334.7, 0.9), (345.9, 1.0)]),
    (DomainName::TwoState, Metric::Simulated, [(320.5, 0.9), (335.4, 0.9), (348.4, 0.9)]),
    (DomainName::FiveState, Metric::Loss, [(1450.5, 0.7), (1285.5, 0.9), (1306.4, 1.0)]),
    (DomainName::FiveState, Metric::Is, [(360.7, 0.5), (362.4, 0.5), (363.1, 0.5)]),
    (DomainName::FiveState, Metric::Simulated, [(360.5, 0.5), (362.4, 0.4), (363.5, 0.5)]),
    (DomainName::Collapsing, Metric::Loss, [(124.7, 0.5), (92.9, 0.2), (115.3, 1.0)]),
    (DomainName::Collapsing, Metric::Is, [(301.7, 1.1), (313.0, 1.2), (323.9, 1.2)]),
    (DomainName::Collapsing, Metric::Simulated, [(301.8, 1.1), (314.3, 1.2), (324.8, 1.2)]),
    (DomainName::Maternal, Metric::Loss, [(4384.0, 190.0), (1781.0, 4.0), (1889.0, 8.0)]),
    (DomainName::Maternal, Metric::Is, [(1681.5, 4.2), (1679.9, 4.1), (1718.9, 4.3)]),
    (DomainName::Maternal, Metric::Simulated, [(1716.6, 3.1), (1714.9, 3.0), (1733.8, 3.1)]),
];

/// (domain, metric, decision-focused less two-stage), paired by seed.
pub(super) const DIFFERENCES: [(DomainName, Metric, Figure); 8] = [
    (DomainName::TwoState, Metric::Is, (11.2, 0.35)),
    (DomainName::TwoState, Metric::Simulated, (13.0, 0.39)),
    (DomainName::FiveState, Metric::Is, (0.71, 0.11)),
    (DomainName::FiveState, Metric::Simulated, (0.97, 0.17)),
    (DomainName::Collapsing, Metric::Is, (10.9, 0.46)),
    (DomainName::Collapsing, Metric::Simulated, (10.5, 0.40)),
    (DomainName::Maternal, Metric::Is, (39.0, 0.9)),
    (DomainName::Maternal, Metric::Simulated, (18.9, 0.7)),
];

/// The methods of [`FIGURES`].
pub(super) const METHODS: [Method; 3] = [Method::Random, Method::TwoStage, Method::DecisionFocused];
