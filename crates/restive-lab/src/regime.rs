//! Regimes: kinds of data. Every domain is one; the others differ from their domain in one or two numbers, or in the predictor.

use crate::DomainName;
use restive_tables::choices;

choices! {
    /// On what a number was measured: a domain, random arms of none, or a variant of a domain.
    Regime {
        /// The domain
        TwoState = "two-state",
        /// The domain
        FiveState = "five-state",
        /// The domain
        Collapsing = "collapsing",
        /// The domain
        Maternal = "maternal",
        /// Random arms of no domain
        Random = "random",
        /// Two states, so many trajectories
        Trajectories10 = "trajectories-10",
        /// Two states, so many trajectories
        Trajectories3 = "trajectories-3",
        /// Two states, so many trajectories
        Trajectories1 = "trajectories-1",
        /// Two states, a linear predictor
        Linear = "linear",
        /// Two states, so many of the features
        Features4 = "4-features",
        /// Both
        LinearFeatures4 = "linear-4-features",
        /// Two states, so many of the features, so many trajectories
        Features4Trajectories3 = "4-features-3-trajectories",
        /// Two states, features with noise of such a standard deviation
        Noise1 = "noise-0.1",
        /// Two states, features with noise of such a standard deviation
        Noise5 = "noise-0.5",
        /// Two states, so many of 100 pulled
        Budget5 = "budget-5",
        /// Two states, so many of 100 pulled
        Budget40 = "budget-40",
        /// Two states, so many steps, four of the features
        Horizon40Features4 = "horizon-40-4-features",
        /// The same with a linear predictor
        Horizon40LinearFeatures4 = "horizon-40-linear-4-features",
        /// Five states, so many trajectories
        FiveStateTrajectories5 = "five-state-5-trajectories",
        /// States seen at pulls only, a linear predictor, four of the features
        CollapsingLinearFeatures4 = "collapsing-linear-4-features",
        /// The programme with a network
        MaternalNetwork = "maternal-network",
        /// The programme with a linear predictor
        MaternalLinear = "maternal-linear",
        /// The programme with the effect model
        MaternalEffect = "maternal-effect",
        /// The programme, calls with half the effect
        MaternalWeak = "maternal-weak",
        /// The programme, calls with twice the effect
        MaternalStrong = "maternal-strong",
        /// A third of the people
        MaternalThird = "maternal-third",
        /// The programme, people called by a caseworker's hunch
        MaternalHunch = "maternal-hunch",
        /// The programme, three states in ten not seen
        MaternalPartlySeen = "maternal-partly-seen",
        /// The programme, people called in turn
        Rota = "rota",
        /// The programme, people called by lot
        Lot = "lot",
        /// By lot, a third of the people
        LotThird = "lot-third",
        /// By lot, three times the people
        LotTriple = "lot-triple",
        /// In turn, while everybody engages less from week to week
        Drift = "drift",
        /// By lot, with states that are lost and people who join later
        Missing = "missing",
        /// Calls without any effect
        NoEffect = "no-effect",
        /// Called are those who fare badly, and some kinds of people
        Chosen = "chosen",
        /// In turn, everybody judged by a model that never saw him
        RotaFolds = "rota-folds",
        /// By lot, everybody judged by a model that never saw him
        LotFolds = "lot-folds",
        /// Two states, one trajectory, by lot
        TwoStateLot = "two-state-lot",
        /// Five states, one trajectory, by lot
        FiveStateLot = "five-state-lot",
    }
}

impl Regime {
    /// Of which it is a variant.
    pub(crate) fn domain(self) -> DomainName {
        match self {
            Regime::FiveState | Regime::FiveStateTrajectories5 | Regime::FiveStateLot => {
                DomainName::FiveState
            }
            Regime::Collapsing | Regime::CollapsingLinearFeatures4 => DomainName::Collapsing,
            Regime::Maternal
            | Regime::MaternalNetwork
            | Regime::MaternalLinear
            | Regime::MaternalEffect
            | Regime::MaternalWeak
            | Regime::MaternalStrong
            | Regime::MaternalThird
            | Regime::MaternalHunch
            | Regime::MaternalPartlySeen
            | Regime::Rota
            | Regime::Lot
            | Regime::LotThird
            | Regime::LotTriple
            | Regime::Drift
            | Regime::Missing
            | Regime::NoEffect
            | Regime::Chosen
            | Regime::RotaFolds
            | Regime::LotFolds => DomainName::Maternal,
            _ => DomainName::TwoState,
        }
    }
}

impl From<DomainName> for Regime {
    fn from(domain: DomainName) -> Self {
        match domain {
            DomainName::TwoState => Regime::TwoState,
            DomainName::FiveState => Regime::FiveState,
            DomainName::Collapsing => Regime::Collapsing,
            DomainName::Maternal => Regime::Maternal,
        }
    }
}
