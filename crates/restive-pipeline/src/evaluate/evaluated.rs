//! What an evaluation answers: scores by policy and estimator, the predictive loss, and what all of it rests on.
//!
//! Serialised it is `{"evidence", "policies": {POLICY: {ESTIMATOR: {"value", "low", "high", "ess", "gain_over_random", "gain_over_no_action"}}},
//! "loss", "about"}`; what does not apply is absent.

use super::answer::{Interval, Outcome};
use crate::identification::Identification;
use crate::loss::Loss;
use crate::message::Message;
use restive::evaluation::{Estimate, Estimator, Score};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The answer to an evaluation.
#[derive(Debug, Serialize)]
pub struct Evaluated {
    /// what comes first: the evidence, or why there is none; absent where the published estimators were asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Outcome>,
    /// Refusal that was found after models were fitted, under the declaration of the study. If the model has a folder, the caller writes
    /// it there with [`store_refusal`](crate::identification::store_refusal).
    #[serde(skip)]
    pub refusal: Option<Identification>,
    /// by name, in the order in which they are shown
    #[serde(serialize_with = "by_policy_and_estimator")]
    pub policies: Vec<(String, Vec<Score>)>,
    /// of the predictions
    pub loss: Loss,
    /// what the numbers rest on
    pub about: AboutEvaluation,
    /// the loss per transition of knowing nothing
    #[serde(skip)]
    pub uninformed_loss: f64,
    /// whether states are seen at pulls only
    #[serde(skip)]
    pub is_labelled: bool,
}

/// What the numbers rest on.
#[derive(Debug, Serialize)]
pub struct AboutEvaluation {
    /// what it was judged by
    pub judged_by: &'static str,
    /// where simulations begin
    pub start: &'static str,
    /// the arms that judge
    pub part: &'static str,
    /// how many instances they belong to
    pub instances: usize,
    /// how many they are
    pub arms: usize,
    /// the smallest and the largest of an instance
    pub budget: [usize; 2],
    /// of values
    pub discount: f64,
    /// Discount of the index; `None` for the index of one decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_discount: Option<f64>,
    /// of the soft policies
    pub temperature: String,
    /// decisions of a deployment: of simulated, true and fluid values
    pub horizon: usize,
    /// the most decisions of a log: of is and segmented
    pub logged_decisions: usize,
    /// simulated runs
    pub runs: usize,
    /// of the bootstrap
    pub resamples: usize,
    /// of all random numbers
    pub seed: u64,
    /// which decisions enter a ratio
    pub ratio: &'static str,
    /// where they come from
    pub propensities: &'static str,
    /// what study.toml asks to be taken for granted
    pub assumptions: Vec<&'static str>,
    /// those that apply, by name
    pub estimators: BTreeMap<&'static str, AboutEstimator>,
    /// what the scores must not be read without
    pub warnings: Vec<String>,
    /// what should be known besides
    pub notes: Vec<Message>,
}

/// What the numbers of an estimator rest on.
#[derive(Debug, Serialize)]
pub struct AboutEstimator {
    /// what it judges by
    pub judges_by: &'static str,
    /// what its intervals cover
    pub intervals_cover: &'static str,
}

/// One number of an evaluation.
#[derive(Debug, Clone, Copy)]
pub struct EvaluatedQuantity<'a> {
    /// by name
    pub policy: &'a str,
    /// the rule
    pub estimator: Estimator,
    /// value, gain_over_random or gain_over_no_action
    pub quantity: &'static str,
    /// the number and its interval
    pub estimate: Estimate,
}

impl Evaluated {
    /// All numbers, a row each, in the order in which they are shown.
    pub fn quantities(&self) -> Vec<EvaluatedQuantity<'_>> {
        let scores =
            self.policies.iter().flat_map(|(policy, scores)| scores.iter().map(move |s| (policy, s)));
        let quantities = scores.flat_map(|(policy, score)| {
            let estimates = [
                ("value", Some(score.value)),
                ("gain_over_random", score.gain_over_random),
                ("gain_over_no_action", score.gain_over_no_action),
            ];
            estimates.into_iter().filter_map(move |(quantity, estimate)| {
                let estimator = score.estimator;
                estimate.map(|estimate| EvaluatedQuantity { policy, estimator, quantity, estimate })
            })
        });
        quantities.collect()
    }

    /// What one estimator says, policy by policy.
    pub fn by_estimator(&self, estimator: Estimator) -> Vec<(&str, &Score)> {
        let found = |scores: &'_ [Score]| scores.iter().position(|score| score.estimator == estimator);
        let policies = self.policies.iter();
        policies.filter_map(|(name, scores)| Some((name.as_str(), &scores[found(scores)?]))).collect()
    }
}

#[derive(Serialize)]
struct ScoreNumbers {
    #[serde(flatten)]
    value: Interval,
    #[serde(skip_serializing_if = "Option::is_none")]
    ess: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_over_random: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_over_no_action: Option<Interval>,
}

fn by_policy_and_estimator<S: Serializer>(
    policies: &[(String, Vec<Score>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let numbers = |score: &Score| ScoreNumbers {
        value: score.value.into(),
        ess: score.value.effective_sample_size,
        gain_over_random: score.gain_over_random.map(Interval::from),
        gain_over_no_action: score.gain_over_no_action.map(Interval::from),
    };
    let by_estimator = |scores: &[Score]| -> BTreeMap<&'static str, ScoreNumbers> {
        scores.iter().map(|score| (score.estimator.name(), numbers(score))).collect()
    };
    let by_policy: BTreeMap<&str, _> =
        policies.iter().map(|(name, scores)| (name.as_str(), by_estimator(scores))).collect();
    by_policy.serialize(serializer)
}
