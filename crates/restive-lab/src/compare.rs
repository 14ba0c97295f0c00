//! Two-stage and decision-focused learning side by side, for one seed.
//!
//! A run trains both ways as its profile says and, where that is another, as recommended, on the same instances, and measures
//! all of them on the same [trials](crate::trial), beside no action, random pulls and the oracle. Numbers are means over the
//! trials. Published trainings are measured on their way too, and with a constant added to all of their indices. A control deals
//! the predictions of decision-focused training to the wrong arms.
//!
//! Nothing here reads, writes or prints; a run is the same for every number of threads.

use crate::learn::{self, Epoch, Trained};
use crate::problem::Problem;
use crate::trial::{Trial, mean, means, published_policy};
use crate::{Method, Metric, PUBLISHED_DISCOUNT};
use ndarray::Axis;
use restive::Instance;
use restive::policy::Policy;
use restive::training::Selected;
use restive_pipeline::Profile;

/// A published training on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurvePoint {
    pub(crate) method: Method,
    pub(crate) epoch: usize,
    /// by the metrics that were asked for
    pub(crate) values: [f64; 3],
}

/// What becomes of a published training when a constant is added to all of its indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shifted {
    pub(crate) method: Method,
    pub(crate) constant: f64,
    /// the published metric
    pub(crate) is: f64,
    /// pulls of the strict policy in the logged states that are not what they were
    pub(crate) changed: usize,
}

/// One seed.
pub(crate) struct Comparison {
    pub(crate) seed: u64,
    /// every method by [`Metric::WORTH`]
    pub(crate) worth: Vec<(Method, [f64; 5])>,
    /// `strict_true` of the oracle at the recommended index discount
    pub(crate) matched_oracle: f64,
    pub(crate) curve: Vec<CurvePoint>,
    pub(crate) shifted: Vec<Shifted>,
    pub(crate) trained: Vec<Trained>,
    /// the recommended training
    pub(crate) selected: Selected,
}

/// What is compared.
pub(crate) struct Compared<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    /// by what learning curves are drawn
    pub(crate) on_the_way: [Metric; 3],
}

impl Compared<'_> {
    /// Trains on instances to train on and to validate, and measures; `progress` hears the share that is done.
    pub(crate) fn run(
        &self,
        both: [&[Instance]; 2],
        trials: &[Trial<'_>],
        progress: impl Fn(f64),
    ) -> restive::Result<Comparison> {
        let &Self { problem, profile, seed, on_the_way } = self;
        let blind = |policy: Policy| means(trials, Metric::WORTH, |trial| trial.blind(policy.clone()));
        let oracle = means(trials, Metric::WORTH, |trial| trial.answer(trial.truth(), PUBLISHED_DISCOUNT));
        let mut worth = vec![
            (Method::NoAction, blind(Policy::NoAction)),
            (Method::Random, blind(Policy::Random)),
            (Method::Oracle, oracle),
        ];
        let matched = Method::OracleMatched.index_discount(problem.horizon());
        let matched_oracle = mean(trials, |trial| trial.deployed_by(trial.truth(), matched));

        let (mut curve, mut shifted) = (Vec::new(), Vec::new());
        let visit = |(method, epoch, epochs, predictor): Epoch<'_>| {
            if is_on_curve(epoch, epochs) {
                let answer =
                    |trial: &Trial<'_>| trial.answer(trial.predict(predictor).view(), PUBLISHED_DISCOUNT);
                curve.push(CurvePoint { method, epoch, values: means(trials, on_the_way, answer) });
            }
        };
        let (trained, selected) =
            learn::all(profile, problem, seed, both, |share| progress(0.02 + 0.95 * share), visit)?;
        for trained in &trained {
            let answer =
                |trial: &Trial<'_>| trial.answer(trial.predict(&trained.predictor).view(), trained.discount);
            worth.push((trained.method, means(trials, Metric::WORTH, answer)));
            if trained.is_published {
                shifted.extend(shift(trials, trained));
            }
            if trained.is_published && trained.method == Method::DecisionFocused {
                let shuffled = |trial: &Trial<'_>| {
                    let n = trial.instance.arms();
                    // everyone gets the prediction of someone half the group away
                    let others: Vec<usize> = (0..n).map(|i| (i + n / 2) % n).collect();
                    let dealt = trial.predict(&trained.predictor).select(Axis(0), &others);
                    trial.answer(dealt.view(), PUBLISHED_DISCOUNT)
                };
                worth.push((Method::DecisionFocusedShuffled, means(trials, Metric::WORTH, shuffled)));
            }
        }
        progress(1.0);
        Ok(Comparison { seed, worth, matched_oracle, curve, shifted, trained, selected })
    }
}

/// Whether a learning curve has a point at an epoch: at every one of the first ten, at every fourth from then on, and at the last.
fn is_on_curve(epoch: usize, epochs: usize) -> bool {
    epoch <= 10 || epoch.is_multiple_of(4) || epoch + 1 == epochs
}

/// Adds constants to all indices of a method, a quarter apart.
fn shift(trials: &[Trial<'_>], trained: &Trained) -> Vec<Shifted> {
    let tables: Vec<_> = (trials.iter())
        .map(|trial| {
            let table = trial.index(trial.predict(&trained.predictor).view(), PUBLISHED_DISCOUNT);
            let log_odds = trial.log_odds(&Policy::Strict(table.clone()));
            (trial, table, log_odds)
        })
        .collect();
    let by = |quarters: i32| {
        let constant = f64::from(quarters) / 4.0;
        let (mut is, mut changed) = (0.0, 0);
        for (trial, table, before) in &tables {
            let moved = table + constant;
            is += trial.is(&published_policy(moved.clone())) / tables.len() as f64;
            let log_odds = trial.log_odds(&Policy::Strict(moved));
            changed += log_odds.iter().zip(before).filter(|(now, was)| now != was).count();
        }
        Shifted { method: trained.method, constant, is, changed }
    };
    (-8..=8).map(by).collect()
}
