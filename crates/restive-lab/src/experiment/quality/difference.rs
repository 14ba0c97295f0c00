//! Differences between trainings, and what they say in sentences.

use super::run::HISTORIES;
use crate::experiment::page::{p_values, shares as shares_of, with_error};
use crate::experiment::quality;
use crate::experiment::rows::{Key, Row, runs};
use crate::{Method, Metric, Regime};
use restive::statistics::paired_t;
use restive_report::number::fixed;
use restive_report::table::Cell;

/// What the others are held against: two-stage training at the same index discount.
const BASE: Method = Method::TwoStageRecommended;
const ANSWER: Method = Method::DecisionFocusedRecommended;
/// In the figure and its table: what is held against two-stage training, and its name.
pub(crate) const AGAINST: [(Method, &str); 4] = [
    (ANSWER, "recommended − two-stage"),
    (Method::DecisionFocusedFluid, "fluid − two-stage"),
    (Method::DecisionFocusedStrong, "strong − two-stage"),
    (Method::DecisionFocusedControl, "control − two-stage"),
];
const LEVEL: f64 = 0.05;

/// A difference of shares, paired by run.
pub(crate) struct Difference {
    pub(crate) name: String,
    pairs: [Vec<f64>; 2],
}

impl Difference {
    /// By how much a method leads two-stage training at the same index discount.
    pub(crate) fn of_method(rows: &[Row], regime: Regime, (method, name): (Method, &str)) -> Self {
        let pairs = [shares(rows, regime, method, 0), shares(rows, regime, BASE, 0)];
        Self { name: name.into(), pairs }
    }

    /// What a history adds to the recommended training.
    pub(crate) fn of_history(rows: &[Row], regime: Regime, steps: usize) -> Self {
        let pairs = [shares(rows, regime, ANSWER, steps), shares(rows, regime, ANSWER, 0)];
        Self { name: format!("history {steps} − 0"), pairs }
    }

    pub(crate) fn points(&self) -> Vec<f64> {
        self.pairs[0].iter().zip(&self.pairs[1]).map(|(a, b)| a - b).collect()
    }

    pub(crate) fn p(&self) -> [Cell; 2] {
        p_values(&self.pairs[0], &self.pairs[1])
    }

    /// Better, worse, or neither, by Student's test.
    pub(crate) fn direction(&self) -> i32 {
        let [first, second] = &self.pairs;
        match paired_t(first, second) {
            Ok(test) if test.p < LEVEL => test.difference.signum() as i32,
            _ => 0,
        }
    }
}

/// The share of the way from random to oracle of a method with so long a history, in %, by run.
pub(crate) fn shares(rows: &[Row], regime: Regime, method: Method, history: usize) -> Vec<f64> {
    let key = |method| Key::new(regime, method, Metric::StrictTrue).at(0.0);
    shares_of(rows, key(method).at(history as f64), [Method::Random, Method::Oracle].map(key))
}

/// What the numbers say.
pub(crate) fn sentences(rows: &[Row], regimes: &[Regime]) -> Vec<String> {
    let count = runs(rows);
    if count < 2 {
        return vec!["One run says nothing of noise: no differences were tested.".into()];
    }
    let found = |difference: &dyn Fn(Regime) -> Difference, direction: i32| -> Vec<String> {
        let there = regimes.iter().map(|regime| (regime.name(), difference(*regime)));
        let there = there.filter(|(_, difference)| difference.direction() == direction);
        there.map(|(name, found)| format!("{name} ({})", with_error(&found.points(), 2))).collect()
    };
    let both = |difference: &dyn Fn(Regime) -> Difference| {
        let [better, worse] = [1, -1].map(|direction| found(difference, direction));
        let list = |all: Vec<String>| if all.is_empty() { "nowhere".into() } else { all.join(", ") };
        (better.is_empty() && worse.is_empty(), list(better), list(worse))
    };
    let (_, better, worse) = both(&|regime| Difference::of_method(rows, regime, AGAINST[0]));
    let few = if count < quality::RUNS[0] {
        format!(" {count} runs are too few for a claim.")
    } else {
        String::new()
    };
    let mut said = vec![format!(
        "At the same index discount the recommended training is significantly better than two-stage training (p < {LEVEL}, paired t) {}; \
         significantly worse {}. Of {} regimes, {} would differ by chance alone.{few}",
        place(&better),
        place(&worse),
        regimes.len(),
        fixed(LEVEL * regimes.len() as f64, 1)
    )];
    for against in [AGAINST[1], AGAINST[2], AGAINST[3]] {
        let name = against.1.split_once(" −").map_or(against.1, |(name, _)| name);
        let (is_nothing, better, worse) = both(&|regime| Difference::of_method(rows, regime, against));
        said.push(if is_nothing {
            format!("{name} differs significantly from two-stage training in no regime.")
        } else {
            format!(
                "{name} is significantly better {}; significantly worse {}.",
                place(&better),
                place(&worse)
            )
        });
    }
    for steps in HISTORIES {
        let (_, better, worse) = both(&|regime| Difference::of_history(rows, regime, steps));
        said.push(format!(
            "A history of {steps} steps adds significantly {}; it costs significantly {}.",
            place(&better),
            place(&worse)
        ));
    }
    said
}

fn place(list: &str) -> String {
    if list == "nowhere" { list.into() } else { format!("in {list}") }
}
