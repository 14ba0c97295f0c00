//! Differences between methods, paired by run.

use crate::experiment::page::{p_values, shares as shares_of};
use crate::experiment::rows::{Key, Row};
use crate::{Method, Metric, Regime};
use restive::statistics::{holm, paired_t};
use restive_report::table::Cell;

/// What trainings are held against: two-stage training of the regime's own predictor at the same index discount.
const BASE: Method = Method::TwoStageRecommended;
const ANSWER: Method = Method::DecisionFocusedRecommended;
/// The default: trained and planned as it is where nothing else is asked for.
pub(super) const DEFAULT: Method = Method::AutoHorizon;
pub(super) const LEVEL: f64 = 0.05;

/// Two methods, each after so long a history, that are held against each other.
#[derive(Clone, Copy)]
pub(super) struct Comparison {
    pub(super) name: &'static str,
    /// the first less the second
    ends: [(Method, usize); 2],
}

const fn comparison(name: &'static str, first: (Method, usize), second: (Method, usize)) -> Comparison {
    Comparison { name, ends: [first, second] }
}

/// Trainings through the decision against two-stage training.
pub(super) const TRAININGS: [Comparison; 4] = [
    comparison("recommended − two-stage", (ANSWER, 0), (BASE, 0)),
    comparison("fluid − two-stage", (Method::DecisionFocusedFluid, 0), (BASE, 0)),
    comparison("strong − two-stage", (Method::DecisionFocusedStrong, 0), (BASE, 0)),
    comparison("control − two-stage", (Method::DecisionFocusedControl, 0), (BASE, 0)),
];

/// What a history adds to the recommended training, every row of a record smoothed by itself.
pub(super) const HISTORIES: [(usize, Comparison); 3] = [
    (3, comparison("history 3 − 0", (ANSWER, 3), (ANSWER, 0))),
    (9, comparison("history 9 − 0", (ANSWER, 9), (ANSWER, 0))),
    (27, comparison("history 27 − 0", (ANSWER, 27), (ANSWER, 0))),
];

/// What the parts of the default bring.
pub(super) const PARTS: [Comparison; 9] = [
    AUTO_GAIN,
    comparison("auto − effect model", (Method::Auto, 0), (Method::SingleEffect, 0)),
    comparison("oracle: horizon − index", (Method::OracleHorizon, 0), (Method::OracleMatched, 0)),
    comparison("two-stage: horizon − index", (Method::TwoStageHorizon, 0), (BASE, 0)),
    HORIZON_GAIN,
    comparison("auto, horizon: history 9 − 0", (DEFAULT, 9), (DEFAULT, 0)),
    HISTORY_GAIN,
    comparison("auto, horizon: forced history 27 − 0", (Method::AutoHistoryForced, 27), (DEFAULT, 0)),
    comparison(
        "horizon: recommended − two-stage",
        (Method::DecisionFocusedHorizon, 0),
        (Method::TwoStageHorizon, 0),
    ),
];
/// Those in the figure.
pub(super) const AUTO_GAIN: Comparison = comparison("auto − own predictor", (Method::Auto, 0), (BASE, 0));
pub(super) const HORIZON_GAIN: Comparison =
    comparison("auto: horizon − index", (DEFAULT, 0), (Method::Auto, 0));
pub(super) const HISTORY_GAIN: Comparison =
    comparison("auto, horizon: history 27 − 0", (DEFAULT, 27), (DEFAULT, 0));

/// The single predictors of a data set, with the index at the same discount.
pub(super) const SINGLES: [(Method, &str); 4] = [
    (BASE, "network"),
    (Method::SingleLinear, "linear"),
    (Method::SingleEffect, "effect"),
    (Method::SingleHierarchical, "hierarchical"),
];

/// A difference of shares in one regime.
pub(super) struct Difference {
    pub(super) regime: Regime,
    pairs: [Vec<f64>; 2],
    /// the p-value of Student's test, corrected for the regimes in which the same is asked
    pub(super) holm: f64,
}

impl Difference {
    /// None where one of the ends was not measured.
    fn new(rows: &[Row], regime: Regime, ends: [(Method, usize); 2]) -> Option<Self> {
        let pairs = ends.map(|(method, history)| shares(rows, regime, method, history));
        (!pairs[0].is_empty() && pairs[0].len() == pairs[1].len()).then_some(Self {
            regime,
            pairs,
            holm: 1.0,
        })
    }

    pub(super) fn points(&self) -> Vec<f64> {
        self.pairs[0].iter().zip(&self.pairs[1]).map(|(a, b)| a - b).collect()
    }

    pub(super) fn p(&self) -> [Cell; 2] {
        p_values(&self.pairs[0], &self.pairs[1])
    }

    /// Better, worse, or neither, by Student's test.
    pub(super) fn direction(&self) -> i32 {
        let [first, second] = &self.pairs;
        match paired_t(first, second) {
            Ok(test) if test.p < LEVEL => test.difference.signum() as i32,
            _ => 0,
        }
    }

    /// The same after the correction.
    pub(super) fn corrected_direction(&self) -> i32 {
        if self.holm < LEVEL { self.direction() } else { 0 }
    }
}

/// A comparison in every regime that has both ends, corrected for their number. What cannot be tested counts as one that shows nothing.
pub(super) fn over(rows: &[Row], regimes: &[Regime], comparison: Comparison) -> Vec<Difference> {
    let all = regimes.iter().filter_map(|regime| Difference::new(rows, *regime, comparison.ends));
    corrected(all.collect())
}

fn corrected(mut all: Vec<Difference>) -> Vec<Difference> {
    let p = |difference: &Difference| {
        let [first, second] = &difference.pairs;
        paired_t(first, second).map_or(1.0, |test| test.p)
    };
    let found = holm(&all.iter().map(p).collect::<Vec<_>>());
    all.iter_mut().zip(found).for_each(|(difference, p)| difference.holm = p);
    all
}

/// The default against the single predictor that is best, on the mean of the runs, with hindsight: in regimes with several.
pub(super) fn against_best(rows: &[Row], regimes: &[Regime]) -> Vec<(&'static str, Difference)> {
    let best = |regime: &Regime| {
        if shares(rows, *regime, Method::SingleLinear, 0).is_empty() {
            return None;
        }
        let mean = |method: Method| {
            let shares = shares(rows, *regime, method, 0);
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        let all = SINGLES.iter().filter_map(|(method, name)| Some((mean(*method)?, *method, *name)));
        let (_, method, name) = all.max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
        Some((name, Difference::new(rows, *regime, [(DEFAULT, 0), (method, 0)])?))
    };
    let (names, all): (Vec<_>, Vec<_>) = regimes.iter().filter_map(best).unzip();
    names.into_iter().zip(corrected(all)).collect()
}

/// The share of the way from random to oracle of a method with so long a history, in %, by run.
pub(super) fn shares(rows: &[Row], regime: Regime, method: Method, history: usize) -> Vec<f64> {
    let key = |method| Key::new(regime, method, Metric::StrictTrue).at(0.0);
    shares_of(rows, key(method).at(history as f64), [Method::Random, Method::Oracle].map(key))
}
