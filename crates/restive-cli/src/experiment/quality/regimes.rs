//! The regimes of `quality`: how much is logged, what is known of the arms, what the predictor can express, how many may be
//! pulled. All but the horizon-40 ones differ from the published domain in one or two numbers.

use crate::experiment::Asked;
use crate::lab::problem::Problem;
use restive::data::domain::Domain;
use restive::predictor::{Precision, PredictorKind};

/// One kind of data, and the predictor that learns from it.
pub(crate) struct Regime {
    pub(crate) name: &'static str,
    pub(crate) problem: Problem,
    pub(crate) predictor: PredictorKind,
    /// how long a run takes beside others
    pub(crate) weight: u32,
}

/// The domain of a regime, by its name.
pub(crate) fn domain(regime: &str) -> &'static str {
    let named = ["five-state", "collapsing", "maternal"];
    named.into_iter().find(|name| regime.starts_with(name)).unwrap_or("two-state")
}

/// The regimes of the domains that were asked for; a few of them for a quick look.
pub(crate) fn regimes(asked: &Asked) -> Vec<Regime> {
    let quick =
        ["two-state", "linear-4-features", "noise-0.1", "five-state", "collapsing", "maternal-effect"];
    let mut all: Vec<Regime> = asked.problems.iter().flat_map(of).collect();
    all.retain(|regime| !asked.settings.is_quick || quick.contains(&regime.name));
    all
}

fn of(problem: &Problem) -> Vec<Regime> {
    let network = || PredictorKind::Network { hidden: vec![64], dropout: 0.0 };
    let linear = || PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    match problem {
        Problem::Domain(name, whole) => {
            let regime = |name, domain, predictor, weight| Regime {
                name,
                problem: Problem::Domain(name, domain),
                predictor,
                weight,
            };
            let whole = || whole.clone();
            // as large a share of the arms where there are fewer
            let budget = |of_100: usize| (of_100 * whole().arms).div_ceil(100).max(1);
            match *name {
                "two-state" => vec![
                    regime("two-state", whole(), network(), 4),
                    regime("trajectories-10", Domain { trajectories: 10, ..whole() }, network(), 3),
                    regime("trajectories-3", Domain { trajectories: 3, ..whole() }, network(), 3),
                    regime("trajectories-1", Domain { trajectories: 1, ..whole() }, network(), 3),
                    regime("linear", whole(), linear(), 2),
                    regime("4-features", Domain { features_kept: 4, ..whole() }, network(), 4),
                    regime("linear-4-features", Domain { features_kept: 4, ..whole() }, linear(), 2),
                    regime("noise-0.1", Domain { feature_noise: 0.1, ..whole() }, network(), 4),
                    regime("noise-0.5", Domain { feature_noise: 0.5, ..whole() }, network(), 4),
                    regime("budget-5", Domain { budget: budget(5), ..whole() }, network(), 4),
                    regime("budget-40", Domain { budget: budget(40), ..whole() }, network(), 4),
                    regime(
                        "horizon-40-4-features",
                        Domain { horizon: 40, features_kept: 4, ..whole() },
                        network(),
                        8,
                    ),
                    regime(
                        "horizon-40-linear-4-features",
                        Domain { horizon: 40, features_kept: 4, ..whole() },
                        linear(),
                        6,
                    ),
                ],
                "collapsing" => vec![
                    regime("collapsing", whole(), network(), 14),
                    regime(
                        "collapsing-linear-4-features",
                        Domain { features_kept: 4, ..whole() },
                        linear(),
                        14,
                    ),
                ],
                _ => vec![regime("five-state", whole(), network(), 14)],
            }
        }
        Problem::Maternal(maternal) => {
            let regime = |name, predictor, weight| {
                let problem = Problem::Maternal(maternal.clone());
                Regime { name, problem, predictor, weight }
            };
            vec![
                regime("maternal-network", network(), 14),
                regime("maternal-linear", linear(), 10),
                regime("maternal-effect", PredictorKind::Effect { precision: Precision::DEFAULT }, 8),
            ]
        }
    }
}
