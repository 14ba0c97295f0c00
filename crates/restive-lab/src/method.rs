//! The methods that are compared.

use restive::training::Decision;
use restive_report::Ink;
use restive_tables::choices;

/// The index discount of the published experiments.
pub(crate) const PUBLISHED_DISCOUNT: f64 = 0.99;

choices! {
    /// Whose a number is.
    Method {
        /// Nobody is pulled
        NoAction = "no-action",
        /// K of N arms at random
        Random = "random",
        /// As the profile says
        TwoStage = "two-stage",
        /// As the profile says
        DecisionFocused = "decision-focused",
        /// As recommended, beside another profile
        TwoStageRecommended = "two-stage-recommended",
        /// As recommended, beside another profile
        DecisionFocusedRecommended = "decision-focused-recommended",
        /// A control: the predictions of decision-focused training, dealt to the wrong arms
        DecisionFocusedShuffled = "decision-focused-shuffled",
        /// The effect model
        TwoStageEffect = "two-stage-effect",
        /// To convergence, the published index discount
        TwoStageConverged = "two-stage-converged",
        /// From two-stage training: the mean-field value, preset weak
        DecisionFocusedFluid = "decision-focused-fluid",
        /// From two-stage training: preset strong, whatever the folds say
        DecisionFocusedStrong = "decision-focused-strong",
        /// A control: strong, in a world in which every two-stage prediction is true
        DecisionFocusedControl = "decision-focused-control",
        /// Knows the true transitions
        Oracle = "oracle",
        /// The same at the recommended index discount
        OracleMatched = "oracle-matched",
        /// The same with prices for the horizon
        OracleHorizon = "oracle-horizon",
        /// Two-stage training to convergence with a plan for the horizon
        TwoStageHorizon = "two-stage-horizon",
        /// The recommended training with a plan for the horizon
        DecisionFocusedHorizon = "decision-focused-horizon",
        /// Several predictors by likelihood, chosen by folds, with an index
        Auto = "auto",
        /// The same with a plan for the horizon: the default
        AutoHorizon = "auto-horizon",
        /// The same with the arms' own records, whether held-out arms say that they help or not
        AutoHistoryForced = "auto-history-forced",
        /// The linear predictor to convergence, beside the network
        SingleLinear = "single-linear",
        /// The network to convergence, beside the others
        SingleNetwork = "single-network",
        /// The effect model, beside the network
        SingleEffect = "single-effect",
        /// The hierarchical model, beside the network
        SingleHierarchical = "single-hierarchical",
        /// A control: the indices of the effect model, dealt to the wrong people
        WrongPeople = "wrong-people",
        /// Trained through the fixed point of a joint plan
        Implicit = "implicit",
        /// Trained through unrolled sweeps of a joint plan
        Unrolled = "unrolled",
        /// The joint plan of the true transitions
        JointOracle = "joint-oracle",
        /// The best that any policy can do
        Optimum = "optimum",
        /// A gradient step by exact indices, the published objective
        Fast = "fast",
        /// The same with the mean-field value
        FastFluid = "fast-fluid",
        /// The same with the decomposed value
        FastDecomposed = "fast-decomposed",
        /// A gradient step by bisection, as in the paper
        Bisection = "bisection",
        /// All people, as if a method called them
        Everyone = "everyone",
        /// The people of both, compared
        PublishedPair = "decision-focused and two-stage",
        /// The people of both, compared
        RecommendedPair = "decision-focused-recommended and two-stage-recommended",
        /// Of the row that ends a unit
        Unit = "unit",
    }
}

impl Method {
    /// The two that every profile has.
    pub(crate) const PROFILE: [Method; 2] = [Method::TwoStage, Method::DecisionFocused];
    /// The two of the recommended profile, where they stand beside those of another.
    pub(crate) const RECOMMENDED: [Method; 2] =
        [Method::TwoStageRecommended, Method::DecisionFocusedRecommended];

    /// For people, where the profile is the published one.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Method::TwoStage => "two-stage, as published",
            Method::DecisionFocused => "decision-focused, as published",
            Method::TwoStageRecommended => "two-stage, recommended",
            Method::DecisionFocusedRecommended => "decision-focused, recommended",
            other => other.name(),
        }
    }

    /// The discount of the index with which the method is deployed, where the profile is the published one.
    pub(crate) fn index_discount(self, horizon: usize) -> f64 {
        match self {
            Method::TwoStageRecommended | Method::DecisionFocusedRecommended | Method::OracleMatched => {
                Decision::recommended(horizon).index_discount
            }
            _ => PUBLISHED_DISCOUNT,
        }
    }

    /// A method keeps its ink through all figures.
    pub(crate) const fn ink(self) -> Ink {
        match self {
            Method::TwoStage | Method::Bisection => Ink::Blue,
            Method::DecisionFocused | Method::Fast => Ink::Orange,
            Method::TwoStageRecommended | Method::TwoStageEffect | Method::FastFluid => Ink::Green,
            Method::DecisionFocusedRecommended | Method::FastDecomposed => Ink::Purple,
            Method::Oracle | Method::Implicit => Ink::Black,
            _ => Ink::Grey,
        }
    }
}
