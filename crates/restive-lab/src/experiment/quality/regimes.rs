//! The regimes of `quality`: how much is logged, what is known of the arms, what the predictor can express, how many may be
//! pulled. All but the horizon-40 ones differ from the published domain in one or two numbers.
//!
//! Of the maternal programme there are variants that a programme may be, with the settings of `generate maternal`: effects of calls
//! that are half as large (effect 0.25, effect spread 0.4) or twice (1 and 1.6), a third of the people and calls, and other
//! [logs](super::logs).

use super::logs::Logging;
use crate::experiment::Asked;
use crate::problem::Problem;
use crate::{DomainName, Regime};
use restive::data::domain::Domain;
use restive::data::maternal::Maternal;
use restive::predictor::{Precision, PredictorKind};

/// A regime, its data, and the predictor that learns from them.
pub(crate) struct Setup {
    pub(crate) regime: Regime,
    pub(crate) problem: Problem,
    pub(crate) predictor: PredictorKind,
    /// how the log came about
    pub(crate) logging: Logging,
    /// how long a run takes beside others
    pub(crate) weight: u32,
}

/// The regimes of a quick look.
const QUICK: [Regime; 6] = [
    Regime::TwoState,
    Regime::LinearFeatures4,
    Regime::Noise1,
    Regime::FiveState,
    Regime::Collapsing,
    Regime::MaternalEffect,
];

/// The regimes of the domains that were asked for; a few of them for a quick look.
pub(crate) fn setups(asked: &Asked) -> Vec<Setup> {
    let mut all: Vec<Setup> = asked.problems.iter().flat_map(setups_of).collect();
    all.retain(|setup| !asked.settings.is_quick || QUICK.contains(&setup.regime));
    all
}

fn setups_of(problem: &Problem) -> Vec<Setup> {
    let network = || PredictorKind::Network { hidden: vec![64], dropout: 0.0 };
    let linear = || PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    let (name, whole) = match problem {
        Problem::Domain(name, domain) => (*name, domain),
        Problem::Maternal(maternal) => return maternal_setups(maternal, [network(), linear()]),
    };
    let setup = |(regime, domain, predictor, weight)| Setup {
        regime,
        problem: Problem::Domain(name, domain),
        predictor,
        logging: Logging::AsGenerated,
        weight,
    };
    let published = || whole.clone();
    let features_4 = || Domain { features_kept: 4, ..published() };
    let trajectories = |trajectories| Domain { trajectories, ..published() };
    let noise = |feature_noise| Domain { feature_noise, ..published() };
    // as large a share of the arms where there are fewer
    let budget = |of_100: usize| Domain { budget: (of_100 * whole.arms).div_ceil(100).max(1), ..published() };
    let horizon_40 = || Domain { horizon: 40, ..features_4() };
    let setups = match name {
        DomainName::TwoState => vec![
            (Regime::TwoState, published(), network(), 4),
            (Regime::Trajectories10, trajectories(10), network(), 3),
            (Regime::Trajectories3, trajectories(3), network(), 3),
            (Regime::Trajectories1, trajectories(1), network(), 3),
            (Regime::Linear, published(), linear(), 2),
            (Regime::Features4, features_4(), network(), 4),
            (Regime::Features4Trajectories3, Domain { trajectories: 3, ..features_4() }, network(), 3),
            (Regime::LinearFeatures4, features_4(), linear(), 2),
            (Regime::Noise1, noise(0.1), network(), 4),
            (Regime::Noise5, noise(0.5), network(), 4),
            (Regime::Budget5, budget(5), network(), 4),
            (Regime::Budget40, budget(40), network(), 4),
            (Regime::Horizon40Features4, horizon_40(), network(), 8),
            (Regime::Horizon40LinearFeatures4, horizon_40(), linear(), 6),
        ],
        DomainName::Collapsing => vec![
            (Regime::Collapsing, published(), network(), 14),
            (Regime::CollapsingLinearFeatures4, features_4(), linear(), 14),
        ],
        _ => vec![
            (Regime::FiveState, published(), network(), 14),
            (Regime::FiveStateTrajectories5, trajectories(5), network(), 12),
        ],
    };
    setups.into_iter().map(setup).collect()
}

fn maternal_setups(whole: &Maternal, [network, linear]: [PredictorKind; 2]) -> Vec<Setup> {
    let effect = PredictorKind::Effect { precision: Precision::DEFAULT };
    let times = |size: f64| {
        let Maternal { effect, effect_spread, .. } = *whole;
        Maternal { effect: size * effect, effect_spread: size * effect_spread, ..whole.clone() }
    };
    let third =
        || Maternal { people: whole.people.div_ceil(3), budget: whole.budget.div_ceil(3), ..whole.clone() };
    let setup = |(regime, maternal, predictor, logging, weight)| Setup {
        regime,
        problem: Problem::Maternal(maternal),
        predictor,
        logging,
        weight,
    };
    use Logging::{AsGenerated, ByHunch, PartlySeen};
    [
        (Regime::MaternalNetwork, whole.clone(), network.clone(), AsGenerated, 30),
        (Regime::MaternalLinear, whole.clone(), linear, AsGenerated, 26),
        (Regime::MaternalEffect, whole.clone(), effect, AsGenerated, 24),
        (Regime::MaternalWeak, times(0.5), network.clone(), AsGenerated, 30),
        (Regime::MaternalStrong, times(2.0), network.clone(), AsGenerated, 30),
        (Regime::MaternalThird, third(), network.clone(), AsGenerated, 12),
        (Regime::MaternalHunch, whole.clone(), network.clone(), ByHunch, 30),
        (Regime::MaternalPartlySeen, whole.clone(), network, PartlySeen, 30),
    ]
    .map(setup)
    .into()
}
